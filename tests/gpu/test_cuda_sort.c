/* Sorts on the GPU: the order of the CPU's at all lengths where another number of launches begins.
 * And trees of positions that are NaN or infinite, which are built before that is known. */

#include "gpu_trees.h"

#include <math.h>

#include "sort/sort.h"

enum { random_keys, few_keys, equal_keys, falling_keys, key_kinds };

static void fill_keys(struct random_numbers *numbers, int32_t kind, int32_t bits, int64_t count,
                      uint64_t *keys)
{
    const uint64_t most = (UINT64_C(1) << bits) - 1;
    for (int64_t k = 0; k < count; k++) {
        const uint64_t high = (uint64_t)random_uniform(numbers, 0, 4294967296.0);
        const uint64_t low = (uint64_t)random_uniform(numbers, 0, 4294967296.0);
        keys[k] = most & (kind == random_keys    ? high << 32 | low
                          : kind == few_keys     ? low % 3
                          : kind == falling_keys ? (uint64_t)(count - k)
                                                 : most);
    }
}

static void check_sort(kith_context *gpu, kith_context *cpu, int32_t bits, int64_t count,
                       uint64_t *keys)
{
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    void *scratch = malloc((size_t)sort_scratch_bytes(count) + 8);
    uint64_t *const there = to_device(keys, (size_t)count * sizeof *keys);
    uint32_t *const order_there = to_device(order, (size_t)count * sizeof *order);
    void *scratch_there = NULL;
    assert_cuda(cudaMalloc(&scratch_there, (size_t)sort_scratch_bytes_cuda(count) + 8));
    assert_ok(sort_keys_cuda(gpu, count, bits, there, order_there, scratch_there));
    assert_ok(sort_keys_cpu(cpu, count, bits, keys, order, scratch));
    uint64_t *const found = to_host(there, (size_t)count * sizeof *keys);
    uint32_t *const order_found = to_host(order_there, (size_t)count * sizeof *order);
    for (int64_t k = 0; k < count; k++)
        if (found[k] != keys[k] || order_found[k] != order[k])
            fail_msg("of %lld keys of %d bits, place %lld has key %u, not %u", (long long)count,
                     (int)bits, (long long)k, (unsigned)order_found[k], (unsigned)order[k]);
    free(found);
    free(order_found);
    cudaFree(there);
    cudaFree(order_there);
    cudaFree(scratch_there);
    free(scratch);
    free(order);
}

/* A tile has 512 keys, and a pass merges eight runs. */
static void test_cuda_keys_are_in_the_order_of_the_cpus(void **state)
{
    struct random_numbers *numbers = *state;
    static const int64_t sizes[] = {0,      1,      2,      511,    512,    513,   1023,   4095,
                                    4096,   4097,   8193,   32767,  32768,  32769, 131072, 131073,
                                    229377, 262143, 262144, 262145, 524287, 524289};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 2);
    uint64_t *keys = malloc(524289 * sizeof *keys);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int32_t kind = 0; kind < key_kinds; kind++)
            for (int32_t bits = 21; bits <= 63; bits += 42) {
                if (test_is_quick() && sizes[s] > 5000)
                    continue;
                fill_keys(numbers, kind, bits, sizes[s], keys);
                check_sort(gpu, cpu, bits, sizes[s], keys);
            }
    free(keys);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* In the grid around all ranks' points, of which these are some. */
static void test_cuda_keys_in_a_grid_are_the_cpus(void **state)
{
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 2);
    for (int turn = 0; turn < 16; turn++) {
        const kith_dtype dtype = turn % 2 ? KITH_F32 : KITH_F64;
        const int32_t dimensions = 2 + turn / 2 % 2;
        const int64_t count = turn < 4 ? 1 : 1000 + 30011 * turn;
        struct sort_points points = {dtype, dimensions, count, {NULL}}, there = points;
        double low[3] = {0}, high[3] = {0}, found_low[3], found_high[3];
        for (int32_t c = 0; c < dimensions; c++) {
            const kith_array column = new_vector(dtype, count);
            for (int64_t k = 0; k < count; k++)
                put(column, k, random_uniform(numbers, -3, 5));
            points.position[c] = column.data;
            there.position[c] = to_device(column.data, (size_t)(count * kith_dtype_bytes(dtype)));
            sort_find_range_cpu(&points, c, &low[c], &high[c]);
        }
        assert_ok(sort_find_range_cuda(gpu, &there, found_low, found_high));
        assert_memory_equal(found_low, low, sizeof low);
        assert_memory_equal(found_high, high, sizeof high);
        for (int32_t c = 0; c < dimensions; c++) {
            low[c] -= random_uniform(numbers, 0, 4);
            high[c] += random_uniform(numbers, 0, 9);
        }
        const struct morton_grid grid = morton_grid_around(dimensions, low, high);
        uint64_t *keys = malloc((size_t)count * sizeof *keys);
        uint64_t *const keys_there = to_device(keys, (size_t)count * sizeof *keys);
        assert_ok(sort_keys_in_grid_cuda(gpu, &there, &grid, keys_there));
        assert_ok(sort_keys_in_grid_cpu(cpu, &points, &grid, keys));
        uint64_t *const found = to_host(keys_there, (size_t)count * sizeof *keys);
        assert_memory_equal(found, keys, (size_t)count * sizeof *keys);
        for (int32_t c = 0; c < dimensions; c++) {
            free((void *)points.position[c]);
            cudaFree((void *)there.position[c]);
        }
        cudaFree(keys_there);
        free(found);
        free(keys);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Some rows, or all, are bad, by one coordinate or by all. The weight of a row is never read. */
static struct sort_points make_bad_points(struct random_numbers *numbers, kith_dtype dtype,
                                          int32_t dimensions, int64_t count, int32_t turn)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    struct sort_points points = {dtype, dimensions, count, {NULL}};
    kith_array column = new_vector(dtype, count);
    for (int32_t c = 0; c < dimensions; c++) {
        for (int64_t i = 0; i < count; i++) {
            const bool is_bad = turn / 3 % 2 ? true : i % 97 == count / 2 % 97;
            put(column, i,
                is_bad && (c == 0 || turn / 6 % 2) ? bad[(turn + c * (turn / 12)) % 3]
                                                   : random_uniform(numbers, -1e3, c + 1));
        }
        points.position[c] = to_device(column.data, (size_t)(count * kith_dtype_bytes(dtype)));
    }
    free(column.data);
    return points;
}

static void test_cuda_trees_of_bad_positions_end(void **state)
{
    struct random_numbers *numbers = *state;
    static const int64_t sizes[] = {1, 2, 1000, 300000};
    kith_context *gpu = new_gpu_context(NULL);
    struct octree_cuda tree = {0};
    for (int32_t turn = 0; turn < 24; turn++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                if (test_is_quick() && (turn % 5 > 0 || sizes[s] > 1000))
                    continue;
                struct sort_points points = make_bad_points(numbers, turn % 2 ? KITH_F32 : KITH_F64,
                                                            dimensions, sizes[s], turn);
                assert_ok(octree_build_cuda(gpu, &points, NULL, 20, &tree));
                assert_ok(kith_context_synchronize(gpu));
                assert_true(tree.cell_count >= 1 && tree.cell_count <= 2 * sizes[s]);
                assert_true(tree.generations <= octree_most_generations);
                for (int32_t c = 0; c < dimensions; c++)
                    cudaFree((void *)points.position[c]);
            }
    octree_free_cuda(gpu, &tree);
    kith_context_free(gpu);
}

/* And the call after is right, with the memory of that one. */
static void test_cuda_a_call_after_bad_positions_is_right(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(random, KITH_F64, scene_count(30000), 3);
    struct system there = gpu_system(&s, false);
    kith_forces_options options = {
        .solver = solver_named("fmm"), .softening = 0.1, .accuracy = {.error = 1e-4}};
    const size_t bytes = (size_t)s.n * 3 * sizeof(double);
    double *expected = malloc(bytes);
    system_compute(context, &options, &there);
    gpu_fetch(&there, &s);
    memcpy(expected, s.a.data, bytes);
    for (int32_t turn = 0; turn < 3; turn++) {
        const double before = get(s.x, 5);
        put(s.x, 5, turn == 0 ? (double)NAN : turn == 1 ? INFINITY : -INFINITY);
        gpu_transfer(there.x, s.x, true);
        system_compute(context, &options, &there);
        assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT, "row 1");
        put(s.x, 5, before);
        gpu_transfer(there.x, s.x, true);
        system_compute(context, &options, &there);
        assert_ok(kith_context_synchronize(context));
        gpu_fetch(&there, &s);
        assert_memory_equal(s.a.data, expected, bytes);
    }
    free(expected);
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
}

int main(void)
{
    static struct random_numbers numbers;
    if (gpu_is_absent("test_cuda_sort"))
        return exit_skipped;
    numbers = random_numbers_begin("test_cuda_sort");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_keys_in_a_grid_are_the_cpus, &numbers),
        cmocka_unit_test_prestate(test_cuda_keys_are_in_the_order_of_the_cpus, &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_of_bad_positions_end, &numbers),
        cmocka_unit_test_prestate(test_cuda_a_call_after_bad_positions_is_right, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
