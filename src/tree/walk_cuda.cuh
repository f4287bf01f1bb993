#ifndef TREE_WALK_CUDA_CUH
#define TREE_WALK_CUDA_CUH

/* The kernels of the walk on a GPU (walk_cuda.cu), compiled without fused operations. */

#include "tree/walk_cuda.h"

/* A target cell is the work of a warp or, in generations of few cells, of a block: leaves of a
 * sparse halo meet nearly all others, and are in early generations. */
enum { threads = 128, warp_team = 32, block_team = 256, fewest_cells_of_warps = 4096 };

/* Resident teams, each of which has a stack. */
enum { warps_per_multiprocessor = 32, blocks_per_multiprocessor = 4 };

/* What a pass over a generation does. */
enum what { count_lists, fill_lists, count_waiting, sum_pulls };

/* Of a target cell: elements of its lists, and work. */
struct walk_counts {
    int64_t far, near, waiting;
    int64_t expansions, pairs; /* tree_counts */
};

struct add_counts {
    __host__ __device__ struct walk_counts operator()(const struct walk_counts &a,
                                                      const struct walk_counts &b) const
    {
        return {a.far + b.far, a.near + b.near, a.waiting + b.waiting, a.expansions + b.expansions,
                a.pairs + b.pairs};
    }
};

struct walk_cells {
    const struct octree_cell *cell;
    const struct tree_side *side;
    const double *power, *net_weight;
};

struct walk_pass {
    struct tree_rule rule;
    double softening2;
    enum expansion_law law;
    bool self;
    struct octree_range range; /* of targets */
    struct walk_cells targets, sources;
    int32_t generation, first, end; /* its first cell, and the cells of this launch */
    struct walk_counts *counts;
    const struct walk_counts *before; /* sums of the counts of the cells before */
    int64_t far_base, near_base;      /* what of these sums is not in the lists */
    struct tree_lists *lists;
    const int32_t *waiting_in;
    int32_t *waiting_out, *far, *near;
    struct tree_pull *pulls;
    int32_t *stack; /* of each warp */
    int32_t stack_room;
    int32_t *failed;
};

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

template <int team> static __device__ inline void wait_for_team()
{
    if (team == warp_team)
        __syncwarp();
    else
        __syncthreads();
}

/* Over the team, in its first thread. */
template <int team, typename number> static __device__ inline number sum_of_team(number x)
{
    __shared__ number of_warp[block_team / 32];
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    if (team == warp_team)
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
    const unsigned mask = __ballot_sync(0xffffffffu, is);
    *all = __popc(mask);
    return __popc(mask & ((1u << lane) - 1));
}

/* The first wait_for_team of two of each round: all have read their source. */
template <int team>
static __device__ inline struct placed place_team(enum tree_place place, bool is, int32_t children,
                                                  struct placed *all)
{
    __shared__ struct placed of_warp[block_team / 32];
    const int lane = threadIdx.x % 32;
    struct placed before;
    before.far = count_below(is && place == tree_far, lane, &all->far);
    before.near = count_below(is && place == tree_near_leaves, lane, &all->near);
    before.waiting = count_below(is && place == tree_left_to_children, lane, &all->waiting);
    before.open = children;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int32_t other = __shfl_up_sync(0xffffffffu, before.open, offset);
        before.open += lane >= offset ? other : 0;
    }
    all->open = __shfl_sync(0xffffffffu, before.open, 31);
    before.open -= children;
    if (team == warp_team) {
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

/* The next sources to be decided about: of the stack, or of what the parent left. −1: none. */
struct walk_state {
    const int32_t *in;
    int32_t in_count, next, open;
};

template <int team>
static __device__ inline int32_t take_source(struct walk_state *state, const int32_t *stack,
                                             int lane)
{
    const int32_t *from = state->open > 0 ? stack : state->in;
    const int32_t there = state->open > 0 ? state->open : state->in_count - state->next;
    const int32_t count = there < team ? there : team;
    const int32_t at = state->open > 0 ? state->open - count : state->next;
    const int32_t source = lane >= count ? -1 : from ? from[at + lane] : 0;
    if (state->open > 0)
        state->open -= count;
    else
        state->next += count;
    return source;
}

static __device__ inline void add_pull(const struct walk_pass &pass, const struct tree_side &a,
                                       const struct tree_side &b, int32_t source, bool is_near,
                                       struct tree_pull *pull)
{
    tree_add_pull(&a, &b, pass.sources.net_weight[source], pass.softening2, pass.law, is_near,
                  pull);
}

template <int team>
static __device__ void write_pull(const struct walk_pass &pass, int32_t target, int32_t parent,
                                  struct tree_pull mine, int lane)
{
    double *const sums = (double *)&mine;
    for (int k = 0; k < (int)(sizeof mine / sizeof *sums); k++) {
        const double sum = sum_of_team<team>(sums[k]);
        if (lane == 0)
            ((double *)&pass.pulls[target])[k] =
                (parent >= 0 ? ((const double *)&pass.pulls[parent])[k] : 0.0) + sum;
    }
}

template <int what, int team>
static __device__ void walk_target(const struct walk_pass &pass, int32_t target, int lane,
                                   int32_t *stack)
{
    constexpr bool fills = what == fill_lists || what == sum_pulls;
    constexpr bool pulls = what == sum_pulls;
    const struct octree_cell cell = pass.targets.cell[target];
    const struct tree_side a = load_side(pass.targets.side, target);
    const int32_t terms = pass.rule.order > 0 ? pass.rule.order + 1 : 0;
    const double *power_a = pass.targets.power + (int64_t)target * terms;
    const bool is_here = cell.first < pass.range.end && cell.first + cell.count > pass.range.first;
    struct walk_state state = {NULL, is_here, 0, 0}; /* the root has the root */
    if (cell.parent >= 0 && is_here) {
        const struct tree_lists *from = &pass.lists[cell.parent];
        state.in = pass.waiting_in + from->waiting;
        state.in_count = from->waiting_count;
    }
    const struct walk_counts begin =
        fills ? pass.before[target - pass.generation] : walk_counts{0, 0, 0, 0, 0};
    int64_t far = begin.far - pass.far_base, near = begin.near - pass.near_base;
    int64_t waiting = begin.waiting, near_points = 0;
    struct tree_lists lists = {far, near, waiting, 0, 0, 0};
    struct tree_pull pull = {{0, 0, 0}, 0, 0, 0};

    while (state.open > 0 || state.next < state.in_count) {
        const int32_t source = take_source<team>(&state, stack, lane);
        const bool is = source >= 0;
        enum tree_place place = tree_far;
        struct octree_cell cell_b = {};
        if (is) {
            const struct tree_side b = load_side(pass.sources.side, source);
            const double *power_b = pass.sources.power + (int64_t)source * terms;
            cell_b = pass.sources.cell[source];
            place = tree_place_pair(&a, target, cell.children, &b, source, cell_b.children,
                                    tree_accepts(&pass.rule, &a, power_a, &b, power_b));
            if (pulls && place == tree_far)
                add_pull(pass, a, b, source, false, &pull);
            else if (pulls && place == tree_near_leaves && !(pass.self && source == target))
                add_pull(pass, a, b, source, true, &pull); /* how near its own are is not known */
            near_points += place == tree_near_leaves ? cell_b.count : 0;
        }
        const int32_t children = is && place == tree_split_source ? cell_b.children : 0;
        struct placed all, before = place_team<team>(place, is, children, &all);
        if (what == fill_lists && is && place == tree_far)
            pass.far[far + before.far] = source;
        if (what == fill_lists && is && place == tree_near_leaves)
            pass.near[near + before.near] = source;
        if (fills && is && place == tree_left_to_children)
            pass.waiting_out[waiting + before.waiting] = source;
        far += all.far;
        near += all.near;
        waiting += all.waiting;
        if (state.open + all.open > pass.stack_room) {
            *pass.failed = 1;
            all.open = 0;
        }
        for (int32_t j = 0; j < children && all.open > 0; j++)
            stack[state.open + before.open + j] = cell_b.child + j;
        state.open += all.open;
        wait_for_team<team>();
    }

    if (pulls)
        write_pull<team>(pass, target, cell.parent, pull, lane);
    if (what == count_lists)
        near_points = sum_of_team<team>(near_points);
    if (lane == 0 && !fills) {
        const int64_t is_counted = cell.first >= pass.range.first;
        const int64_t of_far = pass.rule.walk == tree_walk_groups ? cell.count : 1;
        pass.counts[target - pass.generation] = {far, near, waiting, is_counted * far * of_far,
                                                 is_counted * near_points * cell.count};
    }
    if (lane == 0 && fills) {
        lists.far_count = (int32_t)(far - lists.far);
        lists.near_count = (int32_t)(near - lists.near);
        lists.waiting_count = (int32_t)(waiting - lists.waiting);
        pass.lists[target] = lists;
    }
}

template <int what, int team>
static __global__ void __launch_bounds__(team == warp_team ? threads : block_team)
    walk_generation(const struct walk_pass pass)
{
    const int32_t teams = (int32_t)(gridDim.x * blockDim.x / team);
    const int32_t mine = (int32_t)((blockIdx.x * blockDim.x + threadIdx.x) / team);
    int32_t *stack = pass.stack + (int64_t)mine * pass.stack_room;
    for (int32_t target = pass.first + mine; target < pass.end; target += teams)
        walk_target<what, team>(pass, target, threadIdx.x % team, stack);
}

/* A cell's scale is that of its weakest leaf. */
static __global__ void __launch_bounds__(threads)
    gather_scales(const struct octree_cell *cells, const struct tree_pull *pulls, int32_t first,
                  int32_t end, struct tree_side *side)
{
    const int32_t k = first + (int32_t)(blockIdx.x * threads + threadIdx.x);
    if (k >= end)
        return;
    const struct octree_cell cell = cells[k];
    if (cell.children == 0) {
        tree_scales_of_leaf(&pulls[k], &side[k]);
        return;
    }
    double field = INFINITY, potential = INFINITY;
    for (int32_t j = cell.child; j < cell.child + cell.children; j++) {
        field = fmin(field, side[j].field);
        potential = fmin(potential, side[j].potential);
    }
    side[k].field = field;
    side[k].potential = potential;
}

/* A cell's unit of length follows from its ancestors' radii. */
static __global__ void __launch_bounds__(threads)
    make_sides(const struct octree_cell *cells, const struct octree_sphere *spheres,
               const double *weight_sum, int32_t count, struct tree_side *sides)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x);
    int32_t path[octree_most_generations], length = 0;
    if (k >= count)
        return;
    for (int32_t j = k; j >= 0 && length < octree_most_generations; j = cells[j].parent)
        path[length++] = j;
    double size = 0;
    while (length > 0)
        size = expansion_size(spheres[path[--length]].radius, size);
    const struct octree_sphere sphere = spheres[k];
    struct tree_side side;
    for (int c = 0; c < 3; c++)
        side.center[c] = sphere.center[c];
    side.radius = sphere.radius;
    side.weight = weight_sum[k];
    side.size = size;
    side.field = side.potential = 0;
    sides[k] = side;
}

#endif
