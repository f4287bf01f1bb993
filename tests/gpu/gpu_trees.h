#ifndef TESTS_GPU_TREES_H
#define TESTS_GPU_TREES_H

/* Trees on a GPU, and the CPU's to compare with. */

#include "gpu_testing.h"

#include "device/cuda_state.h"
#include "tree/accuracy.h"
#include "tree/solve.h"
#include "tree/solve_cuda.h"
#include "tree_errors.h"

static inline int64_t scene_count(int64_t usual)
{
    return test_is_quick() ? usual / 5 : usual;
}

/* Every fourth scene under the sanitizers. */
static inline int32_t scene_step(void)
{
    return test_is_quick() ? 4 : 1;
}

static inline void *to_device(const void *host, size_t bytes)
{
    void *memory = NULL;
    assert_cuda(cudaMalloc(&memory, bytes + 16));
    assert_cuda(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static inline void *to_host(const void *memory, size_t bytes)
{
    void *host = malloc(bytes + 16);
    assert_non_null(host);
    assert_cuda(cudaDeviceSynchronize());
    if (bytes > 0)
        assert_cuda(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost));
    return host;
}

/* The problem with its columns on the device. */
static inline struct tree_problem on_device(const struct tree_problem *problem)
{
    struct tree_problem moved = *problem;
    const size_t real = (size_t)kith_dtype_bytes(problem->dtype);
    for (int c = 0; c < problem->dimensions; c++) {
        moved.source_position[c] =
            to_device(problem->source_position[c], (size_t)problem->source_count * real);
        moved.target_position[c] = problem->self ? moved.source_position[c]
                                                 : to_device(problem->target_position[c],
                                                             (size_t)problem->target_count * real);
    }
    if (problem->weight)
        moved.weight = to_device(problem->weight, (size_t)problem->source_count * real);
    return moved;
}

static inline void free_problem(struct tree_problem *problem)
{
    for (int c = 0; c < problem->dimensions; c++) {
        cudaFree((void *)problem->source_position[c]);
        if (!problem->self)
            cudaFree((void *)problem->target_position[c]);
    }
    cudaFree((void *)problem->weight);
}

static inline struct sort_points points_of(const struct tree_problem *problem)
{
    const void *const *x = problem->source_position;
    return (struct sort_points){
        problem->dtype, problem->dimensions, problem->source_count, {x[0], x[1], x[2]}};
}

/* Lists of every target cell: a number per pair, target and source, far or near; sorted to compare.
 */
struct pairs {
    int64_t count, room;
    uint64_t *pair;
};

static inline void add_pairs(struct pairs *pairs, int64_t target, const int32_t *sources,
                             int64_t count)
{
    while (pairs->count + count > pairs->room) {
        pairs->room = 2 * pairs->room + 1024;
        pairs->pair = realloc(pairs->pair, (size_t)pairs->room * sizeof *pairs->pair);
        assert_non_null(pairs->pair);
    }
    for (int64_t k = 0; k < count; k++)
        pairs->pair[pairs->count++] = (uint64_t)target << 32 | (uint32_t)sources[k];
}

static inline int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

struct recorder {
    struct pairs far, near;
};

static inline void record_far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    add_pairs(&((struct recorder *)user)->far, target, sources, count);
}

static inline void record_nothing(void *user, int32_t target)
{
    (void)user;
    (void)target;
}

static inline void record_leaf(void *user, struct tree_walker *walker, int32_t target,
                               const struct cell_list *far, const struct cell_list *points,
                               const struct cell_list *near)
{
    (void)walker;
    (void)far;
    (void)points;
    add_pairs(&((struct recorder *)user)->near, target, near->cell, near->count);
}

static inline kith_status record_lists(kith_context *context, void *user,
                                       const struct tree_batch *batch)
{
    (void)context;
    struct recorder *recorder = user;
    const int32_t first = batch->first, end = batch->end;
    struct tree_lists *here = to_host(batch->lists + first, (size_t)(end - first) * sizeof *here);
    for (int32_t k = first; k < end; k++) {
        const struct tree_lists *of = &here[k - first];
        int32_t *cells = to_host(batch->far + of->far, (size_t)of->far_count * sizeof *cells);
        add_pairs(&recorder->far, k, cells, of->far_count);
        free(cells);
        cells = to_host(batch->near + of->near, (size_t)of->near_count * sizeof *cells);
        add_pairs(&recorder->near, k, cells, of->near_count);
        free(cells);
    }
    free(here);
    return KITH_OK;
}

static inline void compare_pairs(struct pairs *found, struct pairs *expected, const char *what)
{
    assert_int_equal(found->count, expected->count);
    if (found->count > 0) {
        qsort(found->pair, (size_t)found->count, sizeof *found->pair, by_number);
        qsort(expected->pair, (size_t)expected->count, sizeof *expected->pair, by_number);
        if (memcmp(found->pair, expected->pair, (size_t)found->count * sizeof *found->pair) != 0)
            fail_msg("the %s pairs differ from the CPU's", what);
    }
    free(found->pair);
    free(expected->pair);
}

/* Every target meets every source once. */
static inline void check_each_once(const struct octree *tree, const struct recorder *recorder)
{
    double *met = calloc((size_t)tree->count + 1, sizeof *met);
    assert_non_null(met);
    for (int k = 0; k < 2; k++) {
        const struct pairs *pairs = k == 0 ? &recorder->far : &recorder->near;
        for (int64_t j = 0; j < pairs->count; j++) {
            const struct octree_cell *target = &tree->cell[pairs->pair[j] >> 32];
            for (int32_t i = target->first; i < target->first + target->count; i++)
                met[i] += tree->cell[(uint32_t)pairs->pair[j]].count;
        }
    }
    for (int64_t i = 0; i < tree->count; i++)
        assert_true(met[i] == (double)tree->count);
    free(met);
}

/* The walks of both devices by the sides and powers of the GPU's solution, with so much room; the
 * rules differ by where their decay is. */
static inline void check_lists_by(kith_context *gpu, kith_context *cpu,
                                  const struct tree_rule *here, const struct tree_rule *rule,
                                  int64_t room, struct tree_state_cuda *solved,
                                  const struct octree *tree)
{
    const size_t cells = (size_t)tree->cell_count;
    struct tree_side *side = to_host(solved->source_sides.memory, cells * sizeof *side);
    double *power =
        to_host(solved->powers.memory, cells * (size_t)(rule->order + 1) * sizeof *power);
    const struct tree_sides sides = {tree, side, power};
    const struct tree_sides_cuda there = {&solved->sources,
                                          solved->source_sides.memory,
                                          solved->powers.memory,
                                          {0, (int32_t)solved->sources.count},
                                          0,
                                          0};
    struct recorder found = {0}, expected = {0};
    const struct tree_actions actions = {
        .far = record_far, .descend = record_nothing, .leaf = record_leaf, .user = &expected};
    struct tree_walker_cuda walker = {.list_room = room};
    struct tree_counts counts, counted;
    assert_ok(tree_walk_cpu(cpu, here, &sides, &sides, &actions, 0, &counts));
    assert_ok(
        tree_walk_cuda(gpu, rule, NULL, &there, &there, record_lists, &found, &walker, &counted));
    assert_int_equal(counted.near_pairs, counts.near_pairs);
    if (rule->walk != tree_walk_groups)
        assert_int_equal(counted.far, counts.far);
    check_each_once(tree, &found);
    compare_pairs(&found.far, &expected.far, "far");
    compare_pairs(&found.near, &expected.near, "near");
    tree_walker_free_cuda(gpu, &walker);
    free(side);
    free(power);
}

static inline struct errors solve(kith_context *gpu, const struct tree_problem *problem,
                                  const struct direct_sum *exact, const struct tree_request *wanted,
                                  struct tree_state_cuda *solved)
{
    static struct tree_results results;
    struct tree_problem moved = on_device(problem);
    const struct tree_request request = tree_choose_cuda(problem, wanted);
    const size_t n = (size_t)problem->target_count;
    assert_ok(tree_solve_cuda(gpu, &moved, &request, solved));
    if (request.estimates)
        assert_ok(tree_estimate_cuda(gpu, &moved, solved));
    uint32_t *order = to_host(solved->target_tree->order, n * sizeof *order);
    void *sums = to_host(solved->results.memory, 4 * n * (size_t)kith_dtype_bytes(problem->dtype));
    for (size_t k = 0; k < n; k++) {
        for (int c = 0; c < 3; c++)
            results.gradient[order[k]][c] =
                c < problem->dimensions ? at(problem->dtype, sums, (int64_t)(4 * k) + c) : 0;
        results.potential[order[k]] = at(problem->dtype, sums, (int64_t)(4 * k) + 3);
    }
    free(order);
    free(sums);
    free_problem(&moved);
    return errors_of(problem, exact, &results);
}

/* The sums of several calls; those of the last two are of batches of a target each, if has_batches:
 * sums of groups follow the batches. */
static inline void expect_same_bits(kith_context *gpu, const struct tree_problem *moved,
                                    const struct tree_request *request, int runs, bool has_batches,
                                    int kind)
{
    const size_t bytes = (size_t)(4 * kith_dtype_bytes(moved->dtype) * moved->target_count);
    void *first = NULL;
    for (int run = test_is_quick() ? runs - 3 : 0; run < runs; run++) {
        struct tree_state_cuda solved = {0};
        if (has_batches && run >= runs - 2)
            solved.walker.list_room = 1;
        assert_ok(tree_solve_cuda(gpu, moved, request, &solved));
        void *sums = to_host(solved.results.memory, bytes);
        if (!first)
            first = sums;
        else if (memcmp(sums, first, bytes) != 0)
            fail_msg("kind %d: run %d has other bits", kind, run);
        if (sums != first)
            free(sums);
        tree_free_cuda(gpu, &solved);
    }
    free(first);
}

#endif
