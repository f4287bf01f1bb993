/* The solvers tree and fmm on a GPU: the tree's results in the order and units of the problem. */

#include <math.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/cuda_meeting.h"
#include "device/cuda_peers.h"
#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "device/reals_cuda.cuh"
#include "forces/deliver_cuda.cuh"
#include "forces/ring.h"
#include "forces/tree_sums.h"
#include "forces/tree_weights_cuda.cuh"
#include "ranks/device_parts.h"
#include "tree/accuracy.h"
#include "tree/solve_cuda.h"

enum { threads = 256 };

/* With fewer targets what one device does alone, and the copies, take longer than what is saved. */
enum { least_shared = 1 << 19 };

enum { most_devices = tree_most_devices };

/* Memory is kept from call to call up to about this part of the device's: allocating and clearing
 * it again takes a tenth of the time of a call. bytes_of_point is that of 10^7 points; of up to
 * 10^6 points the lists alone take 256 bytes a point. */
enum { part_kept = 64, bytes_of_point = 200 };

/* Trees of the context's device and of its peers. Targets are divided so that all take the same
 * time, as measured in the calls before; results do not depend on that. */
struct trees {
    struct tree_state_cuda own, *of_peers;
    int32_t peers;
    struct cuda_meeting *meeting;
    struct tree_memory weights; /* of a law, in a unit */
    int64_t points;             /* of the last call; 0: it failed */
    int64_t most_kept;          /* points; 0: not yet known */
    double share[most_devices], seconds[most_devices];
    double shared_until; /* the time when the last device was ready; 0: there was one */
};

static kith_status prepare(void **state)
{
    return kith_allocate(1, sizeof(struct trees), "a tree", state);
}

static kith_status free_tree(const struct cuda_part *part, void *argument)
{
    struct trees *trees = (struct trees *)argument;
    if (part->index > 0)
        tree_free_cuda(part->context, &trees->of_peers[part->index - 1]);
    return KITH_OK;
}

static void forget(kith_context *context, void *state)
{
    struct trees *trees = (struct trees *)state;
    tree_free_cuda(context, &trees->own);
    if (trees->of_peers)
        (void)cuda_share(context, false, free_tree, trees);
    cuda_release(context, trees->weights.memory);
    cuda_meeting_free(trees->meeting);
    free(trees->of_peers);
    free(trees);
}

static bool may_keep(void *state)
{
    struct trees *trees = (struct trees *)state;
    size_t available = 0, total = 0;
    trees->own.walker.list_room = 0; /* the next problem's is chosen for it */
    for (int32_t k = 0; k < trees->peers; k++)
        trees->of_peers[k].walker.list_room = 0;
    if (trees->most_kept == 0 && cudaMemGetInfo(&available, &total) == cudaSuccess)
        trees->most_kept = (int64_t)total / part_kept / bytes_of_point;
    return trees->points > 0 && trees->points <= trees->most_kept;
}

/* Writes a sum to its output, or adds it. */
template <typename real>
static __device__ inline void put(const struct forces_problem &problem, int64_t i, int value,
                                  double sum)
{
    real *column = (real *)(value < 3 ? problem.acceleration[value] : problem.potential);
    const real before = column && problem.accumulate ? column[i] : (real)0;
    deliver<real>(problem, i, value, sum);
    if (column && problem.accumulate)
        column[i] += before;
}

/* Which of the targets has which result. Both NULL: there was nothing to sum. */
struct targets {
    int64_t count;
    const uint32_t *order; /* result k is of target order[k] */
    const uint32_t *place; /* or the result of target i is place[i] */
    const void *results;
};

/* A target a thread; strength is −1 for gravity, as deliver knows G and turns the sign of
 * potentials. unit: of the sources' weights; NULL: 1. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    deliver_sums(const struct forces_problem problem, double strength, const void *weights,
                 const double *unit, const struct targets targets)
{
    const real4_of<real> *results = (const real4_of<real> *)targets.results;
    const int64_t at = (int64_t)blockIdx.x * threads + threadIdx.x;
    wait_for_kernel_before();
    if (at >= targets.count)
        return;
    const int64_t i = targets.order ? targets.order[at] : at;
    const int64_t k = targets.place ? targets.place[at] : at;
    const bool is_solved = targets.order || targets.place;
    const real4_of<real> result = is_solved ? results[k] : real4_of<real>{0, 0, 0, 0};
    const double of_sources = unit ? *unit : 1.0;
    const double weight = weights ? (double)((const real *)weights)[i] : 1.0;
    const double of_potential = -strength * weight;
    const double of_gradient =
        problem.law ? of_potential / (double)((const real *)problem.target_mass)[i] : of_potential;
    put<real>(problem, i, 0, of_gradient * (of_sources * (double)result.x));
    put<real>(problem, i, 1, of_gradient * (of_sources * (double)result.y));
    if (problem.dimensions == 3)
        put<real>(problem, i, 2, of_gradient * (of_sources * (double)result.z));
    put<real>(problem, i, 3, of_potential * (of_sources * (double)result.w));
}

static kith_status deliver_targets(kith_context *context, const struct forces_tree_sums *sums,
                                   const double *unit, const struct targets &targets)
{
    static const char what[] = "bringing results to their places";
    const struct forces_problem *problem = sums->problem;
    const double strength = problem->law ? sums->weights.strength : -1;
    const dim3 blocks((unsigned)((targets.count + threads - 1) / threads));
    if (targets.count == 0)
        return KITH_OK;
    return problem->dtype == KITH_F64
               ? launch_overlapped(context, what, blocks, threads, deliver_sums<double>, *problem,
                                   strength, sums->weights.target, unit, targets)
               : launch_overlapped(context, what, blocks, threads, deliver_sums<float>, *problem,
                                   strength, sums->weights.target, unit, targets);
}

static kith_status deliver_all(kith_context *context, const struct forces_tree_sums *sums,
                               const double *unit, const struct tree_state_cuda *tree)
{
    const struct forces_problem *problem = sums->problem;
    const bool is_solved = problem->source_count > 0 && tree->target_tree;
    struct targets targets = {problem->target_count, NULL, NULL, tree->results.memory};
    if (is_solved && tree->finds_places)
        targets.place = (const uint32_t *)tree->places.memory;
    else if (is_solved)
        targets.order = tree->target_tree->order;
    return deliver_targets(context, sums, unit, targets);
}

/* What the host needs of the device before it sums: whether the numbers are good, and ε². */
struct known {
    struct forces_measured measured;
    double softening2;
};

/* The *count readings of what is in the device's memory. */
static void find_readings(const struct forces_problem *problem, struct known *known,
                          struct cuda_reading readings[2], int *count)
{
    const struct forces_measured *measured = problem->delivery.measured;
    const bool is_measured = measured && problem->softening2_at == &measured->softening2;
    *count = 0;
    *known = {};
    known->softening2 = problem->softening2;
    if (measured)
        readings[(*count)++] = {&known->measured, measured, sizeof *measured};
    if (problem->softening2_at && !is_measured)
        readings[(*count)++] = {&known->softening2, problem->softening2_at,
                                sizeof known->softening2};
}

/* After the readings. */
static void use_known(const struct forces_problem *problem, const struct known *known,
                      double *softening2, bool *good)
{
    const struct forces_measured *measured = problem->delivery.measured;
    const bool is_measured = measured && problem->softening2_at == &measured->softening2;
    *softening2 = is_measured ? known->measured.softening2 : known->softening2;
    *good = !known->measured.bad;
}

struct shared_tree {
    struct trees *trees;
    const struct tree_problem *problem;
    const struct tree_request *request;
    int32_t rank, ranks;
};

static kith_status solve_with_others(const struct cuda_part *part, const struct shared_tree *shared,
                                     struct tree_state_cuda *tree)
{
    struct tree_request request = *shared->request;
    if (part->is_alone)
        return kith_fail(KITH_OUT_OF_MEMORY, "no thread for the part of a device in a tree");
    if (part->index > 0)
        request.estimates = false; /* by the context's device, of all results */
    KITH_TRY(tree_solve_cuda(part->context, shared->problem, &request, tree));
    return cuda_wait(part->context, "solving a part of a tree");
}

static kith_status solve_part(const struct cuda_part *part, void *argument)
{
    const struct shared_tree *shared = (const struct shared_tree *)argument;
    struct trees *trees = shared->trees;
    struct tree_state_cuda *tree =
        part->index == 0 ? &trees->own : &trees->of_peers[part->index - 1];
    const struct tree_share_cuda share = {
        trees->meeting,    part, &trees->own, trees->of_peers, cuda_peers_are_direct(part->leader),
        shared->ranks == 1};
    const double begin = kith_clock();
    tree->share = &share;
    const kith_status status =
        cuda_meeting_leave(trees->meeting, solve_with_others(part, shared, tree));
    tree->share = NULL;
    trees->seconds[part->index] = kith_clock() - begin;
    return status;
}

/* The targets of this rank, to its devices. */
static void divide(struct trees *trees, struct octree_range all)
{
    const double targets = (double)(all.end - all.first);
    double before = 0;
    for (int32_t k = 0; k <= trees->peers; k++) {
        struct tree_state_cuda *tree = k == 0 ? &trees->own : &trees->of_peers[k - 1];
        tree->is_shared = true;
        tree->range.first = all.first + (int32_t)(targets * fmin(before, 1.0));
        before += trees->share[k];
        tree->range.end =
            k == trees->peers ? all.end : all.first + (int32_t)(targets * fmin(before, 1.0));
    }
}

/* Shares of the next call: what the first device alone does at the end counts as its time. The root
 * lets them settle where the tree takes much of the time. */
static void balance(struct trees *trees)
{
    double total = 0;
    if (trees->shared_until == 0)
        return;
    trees->seconds[0] += kith_clock() - trees->shared_until;
    for (int32_t k = 0; k <= trees->peers; k++) {
        trees->share[k] /= sqrt(fmax(trees->seconds[k], 1e-6));
        total += trees->share[k];
    }
    for (int32_t k = 0; k <= trees->peers; k++)
        trees->share[k] /= total;
}

/* The results of the peers' targets, to those of the context's own tree unless they are there, and
 * their counts. */
static kith_status fetch_results(kith_context *context, int64_t each, struct trees *trees)
{
    for (int32_t k = 0; k < trees->peers; k++) {
        const struct tree_state_cuda *tree = &trees->of_peers[k];
        const int64_t first = tree->range.first * each, bytes = tree->range.end * each - first;
        trees->own.counts.far += tree->counts.far;
        trees->own.counts.near_pairs += tree->counts.near_pairs;
        if (!tree->has_delivered)
            KITH_TRY(cuda_copy_from_peer(context, k, (char *)trees->own.results.memory + first,
                                         (const char *)tree->results.memory + first, bytes));
    }
    return KITH_OK;
}

static kith_status begin_sharing(struct trees *trees, int32_t peers)
{
    trees->peers = peers;
    for (int32_t k = 0; k <= peers; k++)
        trees->share[k] = 1.0 / (peers + 1);
    if (!trees->meeting)
        KITH_TRY(cuda_meeting_create(peers + 1, &trees->meeting));
    return kith_allocate(peers, sizeof *trees->of_peers, "a tree", &trees->of_peers);
}

/* The targets of this process, by all of its devices. */
static kith_status solve_shared(kith_context *context, const struct shared_tree *shared,
                                int32_t peers)
{
    struct trees *trees = shared->trees;
    struct tree_state_cuda *own = &trees->own;
    const int64_t count = shared->problem->target_count;
    const struct octree_range all = {(int32_t)share_begin(count, shared->ranks, shared->rank),
                                     (int32_t)share_begin(count, shared->ranks, shared->rank + 1)};
    if (peers > 0) {
        if (!trees->of_peers)
            KITH_TRY(begin_sharing(trees, peers));
        divide(trees, all);
        cuda_meeting_begin(trees->meeting);
        KITH_TRY(cuda_share(context, true, solve_part, (void *)shared));
        trees->shared_until = kith_clock();
        return fetch_results(context, 4 * kith_dtype_bytes(shared->problem->dtype), trees);
    }
    own->is_shared = shared->ranks > 1;
    own->range = all;
    return tree_solve_cuda(context, shared->problem, shared->request, own);
}

/* Targets are divided among the ranks of a job, and those of a rank among its devices. */
static kith_status solve(kith_context *context, const struct tree_problem *problem,
                         const struct tree_request *request, struct trees *trees)
{
    struct shared_tree shared = {trees, problem, request, 0, 1};
    struct tree_state_cuda *own = &trees->own;
    int32_t peers = 0;
    bool is_divided = false;
    if (problem->target_count >= least_shared && problem->source_count > 0) {
        KITH_TRY(cuda_count_peers(context, &peers));
        is_divided = ranks_device_share(context, &shared.rank, &shared.ranks);
    }
    kith_status status = solve_shared(context, &shared, peers);
    if (is_divided) {
        status = ranks_gather_on_device(context, status, own->results.memory, problem->target_count,
                                        4 * kith_dtype_bytes(problem->dtype));
        if (status == KITH_OK)
            ranks_add_counts(context, &own->counts.far, &own->counts.near_pairs);
    }
    KITH_TRY(status);
    own->report = tree_report_of(problem, request, &own->counts, own->sources.cell_count);
    return KITH_OK;
}

/* On one device alone. The tree is built before the host knows whether all numbers are finite,
 * since positions that are not finite only get the keys of others, and before it knows the
 * softening, on which the size of leaves seldom depends. */
static kith_status solve_alone(kith_context *context, const struct forces_tree_sums *sums,
                               struct tree_problem *problem, struct trees *trees, bool *good)
{
    struct tree_state_cuda *tree = &trees->own;
    struct known known;
    struct cuda_reading readings[2];
    int count = 0;
    struct tree_request request = tree_choose_cuda(problem, &sums->wanted);
    const int32_t leaf = request.leaf;
    find_readings(sums->problem, &known, readings, &count);
    tree->is_shared = false;
    KITH_TRY(tree_build_cuda(context, problem, leaf, readings, count, tree));
    use_known(sums->problem, &known, &problem->softening2, good);
    if (!*good) {
        tree->target_tree = NULL;
        return KITH_OK;
    }
    request = tree_choose_cuda(problem, &sums->wanted);
    if (request.leaf != leaf)
        KITH_TRY(tree_build_cuda(context, problem, request.leaf, NULL, 0, tree));
    return tree_sum_cuda(context, problem, &request, tree);
}

static kith_status solve_all(kith_context *context, const struct forces_tree_sums *sums,
                             struct tree_problem *problem, struct trees *trees, bool *good)
{
    struct known known;
    struct cuda_reading readings[2];
    int count = 0;
    if (problem->target_count < least_shared)
        return solve_alone(context, sums, problem, trees, good);
    find_readings(sums->problem, &known, readings, &count);
    if (count > 0)
        KITH_TRY(cuda_read(context, readings, count));
    use_known(sums->problem, &known, &problem->softening2, good);
    const struct tree_request request = tree_choose_cuda(problem, &sums->wanted);
    return *good ? solve(context, problem, &request, trees) : KITH_OK;
}

/* Results that do not fit into the cache are read out of order, a target's at once, rather than
 * written, each of its numbers alone: it takes half as long. */
static kith_status choose_places(const struct tree_problem *problem, struct tree_state_cuda *tree)
{
    return tree_exceeds_cache_cuda(4 * problem->target_count * kith_dtype_bytes(problem->dtype),
                                   &tree->finds_places);
}

/* Of this rank's slice, by gravity. */
static kith_status evaluate_slice(kith_context *context, const struct forces_tree_sums *sums,
                                  struct tree_problem *problem, struct trees *trees)
{
    struct known known;
    struct cuda_reading readings[2];
    struct tree_home_cuda home = {};
    int count = 0;
    bool good = true;
    find_readings(sums->problem, &known, readings, &count);
    KITH_TRY(ranks_agree(context, count > 0 ? cuda_read(context, readings, count) : KITH_OK));
    use_known(sums->problem, &known, &problem->softening2, &good);
    const struct tree_request request = tree_choose_cuda(problem, &sums->wanted);
    KITH_TRY(tree_solve_slices_cuda(context, problem, &request, &trees->own, &home));
    trees->points = trees->own.sources.count;
    const struct targets targets = {home.count, home.order, NULL, home.results};
    return ranks_agree(context, deliver_targets(context, sums, NULL, targets));
}

static kith_status evaluate(kith_context *context, const struct forces_tree_sums *sums, void *state,
                            struct tree_report *report)
{
    struct trees *trees = (struct trees *)state;
    struct tree_state_cuda *tree = &trees->own;
    struct tree_problem problem = sums->sums;
    const double *unit = NULL;
    bool good = true;
    KITH_TRY(tree_check_stream_cuda(context));
    tree->target_tree = NULL; /* of a solution that does not come about */
    tree->report = {};
    trees->points = 0;
    trees->shared_until = 0;
    if (problem.is_slice) {
        KITH_TRY(evaluate_slice(context, sums, &problem, trees));
        *report = tree->report;
        return KITH_OK;
    }
    KITH_TRY(choose_places(&problem, tree));
    if (sums->problem->law && problem.weight && problem.source_count > 0)
        KITH_TRY(forces_scale_tree_weights_cuda(context, &problem, &trees->weights, &unit));
    KITH_TRY(solve_all(context, sums, &problem, trees, &good));
    trees->points = problem.source_count + (problem.self ? 0 : problem.target_count);
    KITH_TRY(deliver_all(context, sums, unit, tree));
    if (good && sums->wanted.estimates) /* the delivery need not wait for it */
        KITH_TRY(tree_estimate_cuda(context, &problem, tree));
    balance(trees);
    *report = tree->report;
    return KITH_OK;
}

extern "C" const struct forces_tree_backend forces_tree_cuda = {prepare, evaluate, forget,
                                                                may_keep};
