/* More pairs than 2³¹ on the GPU, against the CPU's counts and its rows of the last points. */

#include "gpu_testing.h"

#include "pairs_definition.h"

enum { points = 1000000, last = 100 };

static const kith_cell unit_cube = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
static const double cutoff = 0.0807; /* about 2200 neighbors each */

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

/* A list too long for 32 bits, of random points, and its counts by the CPU. */
struct long_list {
    kith_context *cpu, *gpu;
    kith_array numbers, positions, on_device;
    kith_pairs *expected, *found;
    int64_t *offsets;
};

/* The test is skipped where the device has no room for it. */
static struct long_list make_list(struct random_numbers *random, int64_t n, double distance,
                                  uint32_t quantities)
{
    struct long_list list = {.cpu = new_context(NULL, 0), .gpu = new_gpu_context(NULL)};
    list.numbers = vector_new(KITH_F32, 3 * n);
    list.positions = kith_array_matrix(list.numbers.data, KITH_F32, n, 3);
    for (int64_t k = 0; k < 3 * n; k++)
        put(list.numbers, k, (double)(float)random_uniform(random, 0, 0.9999999));
    kith_pairs_options options = {.cutoff = distance, .quantities = KITH_PAIRS_COUNTS};
    assert_ok(kith_pairs_compute(list.cpu, &options, list.positions, &unit_cube, &list.expected));
    if (memory_is_short(list.expected->count)) {
        printf("the device has no room for %lld pairs\n", (long long)list.expected->count);
        skip();
    }
    list.on_device = gpu_array_of(list.positions, 1, 0);
    options.quantities = quantities;
    options.narrow = true;
    assert_ok(kith_pairs_compute(list.gpu, &options, list.on_device, &unit_cube, &list.found));
    assert_ok(kith_context_synchronize(list.gpu));
    assert_int_equal(list.found->count, list.expected->count);
    const size_t bytes = (size_t)(n + 1) * sizeof *list.offsets;
    list.offsets = malloc(bytes);
    assert_non_null(list.offsets);
    assert_cuda(cudaMemcpy(list.offsets, list.found->offsets.data, bytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(list.offsets, list.expected->offsets.data, bytes);
    return list;
}

static void free_list(struct long_list *list)
{
    free(list->offsets);
    free(list->numbers.data);
    cudaFree(list->on_device.data);
    kith_pairs_free(list->expected);
    kith_pairs_free(list->found);
    kith_context_free(list->cpu);
    kith_context_free(list->gpu);
}

static void test_cuda_pairs_beyond_31_bits(void **state)
{
    struct long_list list = make_list(*state, points, cutoff, KITH_PAIRS_I | KITH_PAIRS_J);
    assert_true(list.found->count > (int64_t)1 << 31);
    assert_last_rows(list.cpu, list.positions, list.found);
    free_list(&list);
}

/* Rows of 14 million pairs, which are sorted in turns that end within one: its keys must not be put
 * where something else is. */
static void test_cuda_rows_longer_than_what_is_left_of_a_turn(void **state)
{
    enum { few = 80 };
    const double reach = 35; /* images on all sides */
    struct long_list list = make_list(*state, few, reach, KITH_PAIRS_J);
    assert_true(list.found->count > (int64_t)1 << 30);
    const size_t bytes = (size_t)list.found->count * sizeof(int32_t);
    int32_t *const j = malloc(bytes);
    assert_non_null(j);
    assert_cuda(cudaMemcpy(j, list.found->j.data, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < few; i++)
        for (int64_t k = list.offsets[i]; k < list.offsets[i + 1]; k++)
            if (j[k] < (k > list.offsets[i] ? j[k - 1] : 0) || j[k] >= few)
                fail_msg("row %d, pair %lld: %d", i, (long long)k, (int)j[k]);
    free(j);
    free_list(&list);
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
