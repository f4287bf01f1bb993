#ifndef TREE_WALK_CUDA_CUH
#define TREE_WALK_CUDA_CUH

/* The kernels of the walk on a GPU (walk_cuda.cu), compiled without fused operations. */

#include <cuda/atomic>

#include "device/resident.cuh"
#include "device/warp.cuh"
#include "tree/walk_pass_cuda.cuh"

/* A target cell is the work of a block: of few threads if there are many cells, of more if there
 * are few, as leaves of a sparse halo meet nearly all others. In the pass for the field they do
 * not, as it opens fewer. */
enum { threads = 128, small_team = 32, middle_team = 64, large_team = 128 };
enum { fewest_cells_of_small_teams = 200000 };

/* Entries of a target's lists that a block keeps in shared memory until it knows how many they are.
 * Near or waiting ones past them are kept at the end of its stack. */
template <int team> static constexpr int staged_entries = team == large_team ? 1024 : 512;

/* Resident blocks, each of which has a stack. */
template <int team>
static constexpr int blocks_per_multiprocessor = team == small_team    ? 20
                                                 : team == middle_team ? 12
                                                                       : 6;

/* Where a walk of few cells waits for its longest chain more than for room, it leaves some of that
 * to what is started meanwhile. */
enum { most_cells_of_sharing = 16384 };
template <int team>
static constexpr int blocks_of_sharing = team == small_team    ? 13
                                         : team == middle_team ? 8
                                                               : 4;

/* What a pass over the targets does. A target has its parent's waiting sources, so that finding
 * lists and summing pulls follow the tree; lists are filled in once all are counted. */
enum what { find_lists, sum_pulls, fill_lists };

/* The order of an instance: a constant one, whose loops are unrolled, that of the rule, or that of
 * the rule with a law of bins. */
enum { any_order = 0, order_of_law = -1 };

static __device__ inline struct tree_side load_side(const struct tree_side *sides, int32_t cell)
{
    const double2 *from = (const double2 *)(sides + cell);
    const double2 a = from[0], b = from[1], c = from[2], d = from[3];
    struct tree_side side;
    side.center[0] = a.x;
    side.center[1] = a.y;
    side.center[2] = b.x;
    side.radius = b.y;
    side.weight = c.x;
    side.size = c.y;
    side.field = d.x;
    side.potential = d.y;
    return side;
}

/* Over the block, in its first thread. */
template <int team, typename number> static __device__ inline number sum_of_team(number x)
{
    __shared__ number of_warp[team / 32];
    x = warp_sum(x);
    if (team == 32)
        return x;
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    for (int warp = 1; warp < team / 32 && threadIdx.x == 0; warp++)
        x += of_warp[warp];
    __syncthreads();
    return x;
}

/* How many a thread of the team puts into each list and onto the stack, of the threads before it
 * and of all. */
struct placed {
    int32_t far, near, waiting, open;
};

static __device__ inline void add_placed(struct placed *to, const struct placed &by)
{
    to->far += by.far;
    to->near += by.near;
    to->waiting += by.waiting;
    to->open += by.open;
}

static __device__ inline int32_t count_below(bool is, int lane, int32_t *all)
{
    const unsigned mask = __ballot_sync(whole_warp, is);
    *all = __popc(mask);
    return __popc(mask & ((1u << lane) - 1));
}

/* Waits for all threads: they have read their source. */
template <int team>
static __device__ inline struct placed place_team(enum tree_place place, bool is, int32_t children,
                                                  struct placed *all)
{
    __shared__ struct placed of_warp[team / 32];
    const int lane = threadIdx.x % 32;
    struct placed before;
    before.far = count_below(is && place == tree_far, lane, &all->far);
    before.near = count_below(is && place == tree_near_leaves, lane, &all->near);
    before.waiting = count_below(is && place == tree_left_to_children, lane, &all->waiting);
    const int32_t open = warp_sum_to(children);
    all->open = __shfl_sync(whole_warp, open, 31);
    before.open = open - children;
    if (team == 32) {
        __syncwarp();
        return before;
    }
    if (lane == 0)
        of_warp[threadIdx.x / 32] = *all;
    __syncthreads();
    *all = {0, 0, 0, 0};
    for (int warp = 0; warp < team / 32; warp++) {
        if (warp < (int)threadIdx.x / 32)
            add_placed(&before, of_warp[warp]);
        add_placed(all, of_warp[warp]);
    }
    return before;
}

/* The next sources to be decided about: of the stack, and then of what the parent left. −1: none.
 */
struct walk_state {
    const int32_t *in;
    int32_t in_count, next, open;
};

/* The roots of the sources. */
static __device__ inline int32_t root_of(const struct walk_pass &pass, int32_t k)
{
    return k == 0 ? 0 : pass.first_root + k - 1;
}

template <int team>
static __device__ inline int32_t take_source(const struct walk_pass &pass, struct walk_state *state,
                                             const int32_t *stack, int lane)
{
    const int32_t left = state->in_count - state->next;
    const int32_t opened = state->open < team ? state->open : team;
    const int32_t of_in = left < team - opened ? left : team - opened;
    int32_t source = -1;
    if (lane < opened)
        source = stack[state->open - opened + lane];
    else if (lane - opened < of_in)
        source = state->in ? state->in[state->next + lane - opened]
                           : root_of(pass, state->next + lane - opened);
    state->open -= opened;
    state->next += of_in;
    return source;
}

template <int order>
static __device__ inline void add_pull(const struct walk_pass &pass, const struct tree_side &a,
                                       const struct tree_side &b, int32_t source, bool is_near,
                                       struct tree_pull *pull)
{
    const double net = pass.sources.net_weight[source];
    if (order == order_of_law)
        tree_add_pull_of_law(&a, &b, net, pass.softening2, &pass.bins, is_near, pull);
    else
        tree_add_pull(&a, &b, net, pass.softening2, pass.law, is_near, pull);
}

/* The parent's sums and those of all threads. */
template <int team>
static __device__ void write_pull(const struct walk_pass &pass, int32_t target, int32_t parent,
                                  const struct tree_pull &mine)
{
    constexpr int numbers = sizeof mine / sizeof(double), warps = team / 32;
    __shared__ double of_warp[numbers][warps];
    const double *sums = (const double *)&mine;
#pragma unroll
    for (int k = 0; k < numbers; k++) {
        const double sum = warp_sum(sums[k]);
        if (threadIdx.x % 32 == 0)
            of_warp[k][threadIdx.x / 32] = sum;
    }
    __syncthreads();
    const int k = (int)threadIdx.x;
    if (k >= numbers)
        return;
    const double before = parent >= 0 ? ((const double *)&pass.pulls[parent])[k] : 0.0;
    double sum = of_warp[k][0];
    for (int warp = 1; warp < warps; warp++)
        sum += of_warp[k][warp];
    ((double *)&pass.pulls[target])[k] = before + sum;
}

struct walk_target {
    int32_t index;
    struct octree_cell cell;
    struct tree_side side;
    const int32_t *in; /* sources that the parent left; NULL: the roots */
    int32_t in_count;
};

/* The lists' elements, and whether all are kept, the same in all threads; the rest is the
 * thread's. */
struct walked {
    int32_t far, near, waiting;
    bool is_kept;
    int64_t near_points;
    struct tree_pull pull;
};

/* Of near or waiting entries in the order of the list: k of those past the staged ones. */
static __device__ inline int32_t *spilled_entry(const struct walk_pass &pass, int32_t *stack,
                                                int32_t k)
{
    return stack + (pass.stack_room - 1 - k);
}

/* put(place, k, source, is_kept) of element k of each list; is_kept: there is room for those past
 * the staged ones. */
template <int what, int order, int team, typename function>
static __device__ __forceinline__ struct walked walk_sources(const struct walk_pass &pass,
                                                             const struct walk_target &target,
                                                             int32_t *stack, function put)
{
    struct tree_rule rule = pass.rule;
    if (order > 0)
        rule.order = order; /* loops over it are unrolled */
    rule.decay =
        order == order_of_law && rule.decay ? &pass.bins.decay : (const struct tree_decay *)NULL;
    const struct tree_side &a = target.side;
    const int32_t terms = rule.order > 0 ? rule.order + 1 : 0;
    const double *power_a = pass.targets.power + (int64_t)target.index * terms;
    struct walk_state state = {target.in, target.in_count, 0, 0};
    struct walked all_of = {0, 0, 0, what != fill_lists, 0, {{0, 0, 0}, 0, 0, 0}};
    while (state.open > 0 || state.next < state.in_count) {
        const int32_t source = take_source<team>(pass, &state, stack, threadIdx.x);
        const bool is = source >= 0;
        enum tree_place place = tree_far;
        struct octree_cell cell_b = {};
        if (is) {
            const struct tree_side b = load_side(pass.sources.side, source);
            const double *power_b = pass.sources.power + (int64_t)source * terms;
            cell_b = pass.sources.cell[source];
            const int32_t number = cell_b.around == octree_of_lower_rank ? -1 : source;
            place = tree_place_pair(
                &a, target.index, target.cell.children, &b, number, cell_b.children,
                tree_accepts(&rule, &a, power_a, &b, power_b) ? tree_is_far : tree_is_open);
            if (what == sum_pulls && place == tree_far)
                add_pull<order>(pass, a, b, source, false, &all_of.pull);
            else if (what == sum_pulls && place == tree_near_leaves &&
                     !(pass.self && source == target.index)) /* how near its own are is not known */
                add_pull<order>(pass, a, b, source, true, &all_of.pull);
            all_of.near_points += place == tree_near_leaves ? cell_b.count : 0;
        }
        int32_t children = is && place == tree_split_source ? cell_b.children : 0;
        if (children > 0 && cell_b.child == octree_absent) { /* never: all that is split has come */
            pass.totals->stack_failed = 1;
            children = 0;
        }
        struct placed all, before = place_team<team>(place, is, children, &all);
        const int32_t near = what == sum_pulls ? 0 : all_of.near + all.near;
        const int32_t spilled = near + all_of.waiting + all.waiting - staged_entries<team>;
        if (spilled > 0 && spilled + state.open + all.open > pass.stack_room)
            all_of.is_kept = false;
        if (is && place == tree_far)
            put(place, all_of.far + before.far, source, all_of.is_kept);
        if (is && place == tree_near_leaves)
            put(place, all_of.near + before.near, source, all_of.is_kept);
        if (is && place == tree_left_to_children)
            put(place, all_of.waiting + before.waiting, source, all_of.is_kept);
        all_of.far += all.far;
        all_of.near += all.near;
        all_of.waiting += all.waiting;
        if (state.open + all.open > pass.stack_room) {
            pass.totals->stack_failed = 1;
            all.open = 0;
        }
        for (int32_t j = 0; j < children && all.open > 0; j++)
            stack[state.open + before.open + j] = cell_b.child + j;
        state.open += all.open;
        __syncthreads();
    }
    return all_of;
}

/* A target's waiting sources in one number, which one load reads. */
enum { bits_of_count = 31 };

static __device__ inline unsigned long long pack_waiting(int64_t first, int32_t count)
{
    return ((unsigned long long)first << bits_of_count | (unsigned)count) + 1;
}

/* Waits until the parent's block, which took it earlier and waits for none that were taken later,
 * has found them. */
static __device__ inline unsigned long long wait_for_waiting(unsigned long long *ready)
{
    __shared__ unsigned long long found;
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> there(*ready);
        unsigned long long packed = there.load(cuda::memory_order_acquire);
        while (packed == 0)
            packed = there.load(cuda::memory_order_acquire);
        found = packed;
    }
    __syncthreads();
    return found;
}

template <int what>
static __device__ inline struct walk_target begin_target(const struct walk_pass &pass,
                                                         int32_t index)
{
    struct walk_target target;
    target.index = index;
    target.cell = pass.targets.cell[index];
    target.side = load_side(pass.targets.side, index);
    target.in = NULL;
    const bool is_inside = target.cell.first < pass.range.end &&
                           target.cell.first + target.cell.count > pass.range.first;
    target.in_count = is_inside ? 1 + pass.roots : 0;
    if (target.cell.parent >= 0) {
        unsigned long long *ready = &pass.ready[target.cell.parent];
        const unsigned long long packed =
            (what == fill_lists ? *ready : wait_for_waiting(ready)) - 1;
        target.in = pass.waiting + (packed >> bits_of_count);
        target.in_count = target.in_count ? (int32_t)(packed & ((1u << bits_of_count) - 1)) : 0;
    }
    return target;
}

/* Room for the lists of a target; in all threads. If they do not fit, an element beyond. */
static __device__ inline struct tree_lists take_room(const struct walk_pass &pass,
                                                     const struct walked &found)
{
    __shared__ struct tree_lists shared;
    if (threadIdx.x == 0) {
        struct tree_lists lists = {0, 0, 0, found.far, found.near, found.waiting};
        if (found.far > 0)
            lists.far = (int64_t)atomicAdd(&pass.totals->far, (unsigned long long)found.far);
        if (found.near > 0)
            lists.near = (int64_t)atomicAdd(&pass.totals->near, (unsigned long long)found.near);
        if (found.waiting > 0)
            lists.waiting =
                (int64_t)atomicAdd(&pass.totals->waiting, (unsigned long long)found.waiting);
        if (lists.waiting + found.waiting > pass.waiting_room) {
            pass.totals->waiting_failed = 1;
            lists.waiting = lists.waiting_count = 0;
        }
        shared = lists;
    }
    __syncthreads();
    return shared;
}

/* Sums of what a block has walked, in its first thread. */
struct walk_work {
    unsigned long long expansions, pairs;
};

template <int team>
static __device__ inline void add_work(const struct walk_pass &pass, const struct octree_cell &cell,
                                       const struct walked &found, struct walk_work *work)
{
    const int64_t near_points = sum_of_team<team>(found.near_points);
    const int64_t is_counted = cell.first >= pass.range.first;
    const int64_t of_far = pass.rule.walk == tree_walk_groups ? cell.count : 1;
    work->expansions += (unsigned long long)(is_counted * found.far * of_far);
    work->pairs += (unsigned long long)(is_counted * near_points * cell.count);
}

/* Finds the lists of a target: a block keeps them until it knows how much room they take, or walks
 * again. A leaf has near sources, other cells waiting ones, for which the children's blocks wait.
 */
template <int what, int order, int team>
static __device__ void find_target(const struct walk_pass &pass, int32_t index, int32_t *stack,
                                   struct walk_work *work)
{
    constexpr int room = staged_entries<team>;
    constexpr bool has_lists = what == find_lists;
    __shared__ int32_t staged_far[has_lists ? room : 1], staged_other[room];
    const struct walk_target target = begin_target<what>(pass, index);
    const struct walked found = walk_sources<what, order, team>(
        pass, target, stack, [&](enum tree_place place, int32_t k, int32_t source, bool is_kept) {
            const bool is_far = place == tree_far;
            if (is_far ? has_lists && k < room : k < room)
                (is_far ? staged_far : staged_other)[k] = source;
            else if (!is_far && is_kept && (has_lists || place == tree_left_to_children))
                *spilled_entry(pass, stack, k - room) = source;
        });
    if (what == sum_pulls)
        write_pull<team>(pass, index, target.cell.parent, found.pull);
    struct walked kept = found;
    if (!has_lists)
        kept.far = kept.near = 0;
    const struct tree_lists lists = take_room(pass, kept);
    const bool has_far = has_lists && lists.far + lists.far_count <= pass.list_room;
    const bool has_near = has_lists && lists.near + lists.near_count <= pass.list_room;
    const bool has_waiting = lists.waiting_count > 0;
    int32_t *far = pass.far + lists.far, *near = pass.near + lists.near;
    int32_t *waiting = pass.waiting + lists.waiting;
    const bool is_staged =
        kept.far <= room && ((kept.near <= room && kept.waiting <= room) || found.is_kept);
    const auto other = [&](int32_t k) {
        return k < room ? staged_other[k] : *spilled_entry(pass, stack, k - room);
    };
    if (is_staged) {
        for (int32_t k = threadIdx.x; k < kept.waiting && has_waiting; k += team)
            waiting[k] = other(k);
    } else {
        walk_sources<fill_lists, order, team>(
            pass, target, stack, [&](enum tree_place place, int32_t k, int32_t source, bool) {
                if (place == tree_far && has_far)
                    far[k] = source;
                if (place == tree_near_leaves && has_near)
                    near[k] = source;
                if (place == tree_left_to_children && has_waiting)
                    waiting[k] = source;
            });
    }
    __syncthreads();
    if (threadIdx.x == 0 && target.cell.children > 0)
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(pass.ready[index])
            .store(pack_waiting(lists.waiting, lists.waiting_count), cuda::memory_order_release);
    if constexpr (has_lists) {
        for (int32_t k = threadIdx.x; k < kept.far && has_far && is_staged; k += team)
            far[k] = staged_far[k];
        for (int32_t k = threadIdx.x; k < kept.near && has_near && is_staged; k += team)
            near[k] = other(k);
        add_work<team>(pass, target.cell, found, work);
        if (threadIdx.x == 0)
            pass.lists[index] = lists;
    }
}

/* Fills in the lists of a target of a batch, which begins with pass.first. */
template <int order, int team>
static __device__ void fill_target(const struct walk_pass &pass, int32_t index, int32_t *stack)
{
    const struct list_counts begin = pass.before[pass.first], at = pass.before[index];
    const struct walk_target target = begin_target<fill_lists>(pass, index);
    int32_t *far = pass.far + (at.far - begin.far), *near = pass.near + (at.near - begin.near);
    walk_sources<fill_lists, order, team>(
        pass, target, stack, [&](enum tree_place place, int32_t k, int32_t source, bool) {
            if (place == tree_far)
                far[k] = source;
            if (place == tree_near_leaves)
                near[k] = source;
        });
    if (threadIdx.x > 0)
        return;
    pass.lists[index].far = at.far - begin.far;
    pass.lists[index].near = at.near - begin.near;
}

/* The next target that no block has taken; parents are before their children. */
static __device__ inline int32_t next_target(const struct walk_pass &pass, int32_t taken)
{
    __shared__ int32_t shared;
    __syncthreads();
    if (threadIdx.x == 0)
        shared = taken;
    __syncthreads();
    return shared;
}

template <int what, int order, int team>
static __global__ void __launch_bounds__(team, resident(team, blocks_per_multiprocessor<team>))
    walk_targets(const struct walk_pass pass)
{
    int32_t *stack = pass.stack + (int64_t)blockIdx.x * pass.stack_room, ahead = 0;
    struct walk_work work = {0, 0};
    if (pass.field && (pass.field->waiting_failed || pass.field->stack_failed))
        return;                       /* without scales the lists have no end */
    __shared__ struct walk_span span; /* of the first thread */
    const auto take = [&] {
        return target_of_number(pass.spans, pass.first, pass.end, atomicAdd(&pass.totals->next, 1),
                                &span);
    };
    if (threadIdx.x == 0) {
        span = {0, 0, 0};
        ahead = take();
    }
    for (int32_t index = next_target(pass, ahead); index < pass.end;
         index = next_target(pass, ahead)) {
        if (threadIdx.x == 0)
            ahead = take(); /* in flight during the walk */
        if constexpr (what == fill_lists)
            fill_target<order, team>(pass, index, stack);
        else
            find_target<what, order, team>(pass, index, stack, &work);
    }
    if (threadIdx.x > 0 || what != find_lists)
        return;
    atomicAdd(&pass.totals->expansions, work.expansions);
    atomicAdd(&pass.totals->pairs, work.pairs);
}

#endif
