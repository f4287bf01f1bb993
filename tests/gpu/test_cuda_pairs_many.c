/* More pairs than 2³¹ on the GPU, against the CPU's counts and its rows of the last points. */

#include "gpu_testing.h"

#include "pairs_definition.h"

enum { points = 1000000, last = 100 };

static const kith_cell unit_cube = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
static const double cutoff = 0.0807; /* about 2200 neighbours each */

static bool memory_is_short(int64_t pairs)
{
    size_t available = 0, all = 0;
    assert_cuda(cudaMemGetInfo(&available, &all));
    return available < (size_t)pairs * 24 + ((size_t)1 << 32);
}

/* The rows of the last points as a search of its own finds them: with the points themselves. */
static void assert_last_rows(kith_context *cpu, kith_array positions, const kith_pairs *found)
{
    kith_pairs *rows = NULL;
    float *const from = (float *)positions.data + 3 * (points - last);
    const kith_pairs_options options = {
        .cutoff = cutoff, .narrow = true, .queries = kith_array_matrix(from, KITH_F32, last, 3)};
    assert_ok(kith_pairs_compute(cpu, &options, positions, &unit_cube, &rows));
    const int64_t count = rows->count - last;
    int32_t *const i = malloc((size_t)count * 4), *const j = malloc((size_t)count * 4);
    assert_non_null(i);
    assert_non_null(j);
    const int64_t first = found->count - count;
    assert_cuda(
        cudaMemcpy(i, (int32_t *)found->i.data + first, (size_t)count * 4, cudaMemcpyDeviceToHost));
    assert_cuda(
        cudaMemcpy(j, (int32_t *)found->j.data + first, (size_t)count * 4, cudaMemcpyDeviceToHost));
    int64_t at = 0;
    for (int64_t k = 0; k < rows->count; k++) {
        const int32_t row = ((int32_t *)rows->i.data)[k] + points - last;
        const int32_t partner = ((int32_t *)rows->j.data)[k];
        if (row == partner)
            continue;
        assert_int_equal(i[at], row);
        assert_int_equal(j[at], partner);
        at++;
    }
    assert_int_equal(at, count);
    free(i);
    free(j);
    kith_pairs_free(rows);
}

static void test_cuda_pairs_beyond_31_bits(void **state)
{
    struct random_numbers *random = *state;
    const kith_array numbers = vector_new(KITH_F32, 3 * points);
    const kith_array positions = kith_array_matrix(numbers.data, KITH_F32, points, 3);
    for (int64_t k = 0; k < 3 * points; k++)
        put(numbers, k, (double)(float)random_uniform(random, 0, 0.9999999));
    kith_context *cpu = new_context(NULL, 0), *gpu = new_gpu_context(NULL);
    kith_pairs *expected = NULL, *found = NULL;
    kith_pairs_options options = {.cutoff = cutoff, .quantities = KITH_PAIRS_COUNTS};
    assert_ok(kith_pairs_compute(cpu, &options, positions, &unit_cube, &expected));
    assert_true(expected->count > (int64_t)1 << 31);
    if (memory_is_short(expected->count)) {
        printf("the device has no room for %lld pairs\n", (long long)expected->count);
        skip();
    }
    const kith_array on_device = gpu_array_of(positions, 1, 0);
    options.quantities = KITH_PAIRS_I | KITH_PAIRS_J;
    options.narrow = true;
    assert_ok(kith_pairs_compute(gpu, &options, on_device, &unit_cube, &found));
    assert_ok(kith_context_synchronize(gpu));
    assert_int_equal(found->count, expected->count);
    int64_t *offsets = malloc((points + 1) * sizeof *offsets);
    assert_non_null(offsets);
    assert_cuda(cudaMemcpy(offsets, found->offsets.data, (points + 1) * sizeof *offsets,
                           cudaMemcpyDeviceToHost));
    assert_memory_equal(offsets, expected->offsets.data, (points + 1) * sizeof *offsets);
    assert_last_rows(cpu, positions, found);
    free(offsets);
    free(numbers.data);
    cudaFree(on_device.data);
    kith_pairs_free(expected);
    kith_pairs_free(found);
    kith_context_free(cpu);
    kith_context_free(gpu);
}

/* Rows of 14 million pairs, which are sorted in turns that end within one: its keys must not be put
 * where something else is. */
static void test_cuda_rows_longer_than_what_is_left_of_a_turn(void **state)
{
    enum { few = 80 };
    const double reach = 35; /* images on all sides */
    const kith_array numbers = vector_new(KITH_F32, 3 * few);
    const kith_array positions = kith_array_matrix(numbers.data, KITH_F32, few, 3);
    for (int64_t k = 0; k < 3 * few; k++)
        put(numbers, k, (double)(float)random_uniform(*state, 0, 0.9999999));
    kith_context *cpu = new_context(NULL, 0), *gpu = new_gpu_context(NULL);
    kith_pairs *expected = NULL, *found = NULL;
    kith_pairs_options options = {.cutoff = reach, .quantities = KITH_PAIRS_COUNTS};
    assert_ok(kith_pairs_compute(cpu, &options, positions, &unit_cube, &expected));
    assert_true(expected->count > (int64_t)1 << 30);
    if (memory_is_short(expected->count)) {
        printf("the device has no room for %lld pairs\n", (long long)expected->count);
        skip();
    }
    const kith_array on_device = gpu_array_of(positions, 1, 0);
    options.quantities = KITH_PAIRS_J;
    options.narrow = true;
    assert_ok(kith_pairs_compute(gpu, &options, on_device, &unit_cube, &found));
    assert_ok(kith_context_synchronize(gpu));
    assert_int_equal(found->count, expected->count);
    const size_t bytes = (size_t)found->count * sizeof(int32_t);
    int32_t *const j = malloc(bytes);
    int64_t offsets[few + 1];
    assert_non_null(j);
    assert_cuda(cudaMemcpy(j, found->j.data, bytes, cudaMemcpyDeviceToHost));
    assert_cuda(cudaMemcpy(offsets, found->offsets.data, sizeof offsets, cudaMemcpyDeviceToHost));
    assert_memory_equal(offsets, expected->offsets.data, sizeof offsets);
    for (int i = 0; i < few; i++)
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            if (j[k] < (k > offsets[i] ? j[k - 1] : 0) || j[k] >= few)
                fail_msg("row %d, pair %lld: %d", i, (long long)k, (int)j[k]);
    free(j);
    free(numbers.data);
    cudaFree(on_device.data);
    kith_pairs_free(expected);
    kith_pairs_free(found);
    kith_context_free(cpu);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_pairs_many"))
        return exit_skipped;
    if (test_is_quick()) {
        printf("test_cuda_pairs_many: skipped: it is large\n");
        return exit_skipped;
    }
    struct random_numbers random = random_numbers_begin("test_cuda_pairs_many");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_pairs_beyond_31_bits, &random),
        cmocka_unit_test_prestate(test_cuda_rows_longer_than_what_is_left_of_a_turn, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
