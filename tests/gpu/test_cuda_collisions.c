/* Counting on the GPU: the numbers of the CPU, for every method and arrays in both places. */

#include "gpu_testing.h"

#include "beads.h"

static const kith_dtype dtypes[] = {KITH_I32, KITH_I64};

/* racecheck takes a thousand times as long where threads of a block share memory. */
static int64_t in_a_hurry(int64_t quick, int64_t otherwise)
{
    return test_is_quick() ? quick : otherwise;
}

/* The array on the device, with gaps if strides are to be followed. */
static kith_array beads_on_gpu(kith_array beads, bool gaps)
{
    kith_array there = beads;
    if (gaps)
        return gpu_array_of(beads, 2, 5);
    there.device = (kith_device){KITH_CUDA, 0};
    const size_t bytes = (size_t)(beads.shape[0] * beads.shape[1] * kith_dtype_bytes(beads.dtype));
    assert_cuda(cudaMalloc(&there.data, bytes + 1));
    assert_cuda(cudaMemcpy(there.data, beads.data, bytes, cudaMemcpyHostToDevice));
    return there;
}

static void fill_any(struct random_numbers *random, int64_t kind, kith_array beads)
{
    static const int64_t sides[] = {1, 3, 10, 1000, 1 << 30};
    if (kind % 7 == 0)
        fill_walk(random, beads);
    else if (kind % 7 == 6)
        fill_extremes(random, beads);
    else
        fill_cube(random, beads, kind % 2 ? -5 : INT32_MIN, sides[kind % 7 - 1]);
}

/* All methods of the GPU against sorting on the CPU. */
static void assert_gpu_counts(kith_context *gpu, kith_context *cpu, kith_array beads)
{
    int64_t methods = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&methods);
    const int64_t expected = count_by(cpu, KITH_COLLISIONS_SORT, beads);
    const kith_array there = beads_on_gpu(beads, beads.shape[0] % 3 == 1);
    for (int64_t method = 0; method < KITH_COLLISIONS_REFERENCE; method++)
        for (int64_t place = 0; place < 2; place++) {
            const int64_t count =
                count_by(gpu, (kith_collisions_method)method, place ? there : beads);
            if (count != expected)
                fail_msg("%s: %lld instead of %lld for %lld beads", list[method].name,
                         (long long)count, (long long)expected, (long long)beads.shape[0]);
        }
    cudaFree(there.data);
}

static void test_gpu_methods_count_every_size_alike(void **state)
{
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int64_t n = 0; n <= 300; n += in_a_hurry(149, 1)) {
        kith_array beads = new_beads(dtypes[n % 2], n, 2 + n / 2 % 2);
        fill_any(*state, n, beads);
        assert_gpu_counts(gpu, cpu, beads);
        free(beads.data);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_gpu_methods_count_odd_sizes_alike(void **state)
{
    static const int64_t sizes[] = {1023, 1025, 2047, 2049, 4095, 4097, 65537};
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int64_t k = 0; k < in_a_hurry(1, 7); k++)
        for (int64_t kind = 0; kind < 7; kind += in_a_hurry(7, 1)) {
            const int64_t n = in_a_hurry(259, sizes[k]);
            kith_array beads = new_beads(dtypes[(k + kind) % 2], n, 2 + kind % 2);
            fill_any(*state, kind, beads);
            assert_gpu_counts(gpu, cpu, beads);
            free(beads.data);
        }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_gpu_counts_many_beads(void **state)
{
    static const kith_collisions_method fast[] = {KITH_COLLISIONS_AUTO, KITH_COLLISIONS_LINEAR,
                                                  KITH_COLLISIONS_HASH, KITH_COLLISIONS_SORT};
    const int64_t n = in_a_hurry(5001, 3000001);
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int64_t kind = 0; kind < 7; kind += in_a_hurry(3, 1)) {
        kith_array beads = new_beads(dtypes[kind % 2], n, 3);
        fill_any(*state, kind, beads);
        const int64_t expected = count_by(cpu, KITH_COLLISIONS_SORT, beads);
        for (int64_t k = 0; k < 4; k++)
            assert_int_equal(count_by(gpu, fast[k], beads), expected);
        free(beads.data);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void assert_hash_counts(kith_context *gpu, kith_context *cpu, kith_array beads)
{
    const int64_t expected = count_by(cpu, KITH_COLLISIONS_SORT, beads);
    assert_int_equal(count_by(gpu, KITH_COLLISIONS_HASH, beads), expected);
}

/* Few sites a bead, where each site of a piece has a counter, and more beads at one site than that
 * can count. */
static void test_gpu_counts_dense_boxes(void **state)
{
    const int64_t n = in_a_hurry(9001, 1000001), side = in_a_hurry(30, 150);
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int64_t kind = 0; kind < in_a_hurry(1, 4); kind++) {
        kith_array beads = new_beads(dtypes[kind % 2], n, 3 - kind / 2);
        fill_cube(*state, beads, -3, beads.shape[1] == 3 ? side : side * side / 5);
        assert_hash_counts(gpu, cpu, beads);
        for (int64_t i = 0; i < 255; i++)
            for (int64_t c = 0; c < beads.shape[1]; c++)
                put_bead(beads, 20 * i, c, 7);
        assert_hash_counts(gpu, cpu, beads);
        for (int64_t i = 0; i < 400; i++)
            for (int64_t c = 0; c < beads.shape[1]; c++)
                put_bead(beads, 20 * i + 1, c, 7);
        assert_hash_counts(gpu, cpu, beads);
        free(beads.data);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Of many beads the extent is guessed from some: here one that is not among those is far away. */
static void test_gpu_counts_beads_outside_of_a_guess(void **state)
{
    const int64_t n = in_a_hurry(9001, 4500001);
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int64_t kind = 0; kind < 2; kind++) {
        const kith_dtype dtype = dtypes[kind];
        const int64_t highest = dtype == KITH_I32 ? INT32_MAX : INT64_MAX;
        kith_array beads = new_beads(dtype, n, 3 - kind);
        fill_walk(*state, beads);
        assert_hash_counts(gpu, cpu, beads);
        put_bead(beads, n - 2, 1, 5000);
        assert_hash_counts(gpu, cpu, beads);
        put_bead(beads, 77, 0, highest);
        put_bead(beads, n - 3, 1, -highest - 1);
        assert_hash_counts(gpu, cpu, beads);
        /* Here what was guessed ends where the numbers end. */
        fill_cube(*state, beads, highest - 299, 300);
        assert_hash_counts(gpu, cpu, beads);
        put_bead(beads, 77, 0, -highest - 1);
        put_bead(beads, 79, 1, -highest);
        assert_hash_counts(gpu, cpu, beads);
        free(beads.data);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_gpu_counts_all_beads_at_one_site(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(NULL);
    const int64_t n = in_a_hurry(260, 100000);
    kith_array beads = new_beads(KITH_I32, n, 3);
    for (int64_t method = 0; method < KITH_COLLISIONS_REFERENCE; method++)
        assert_int_equal(count_by(gpu, (kith_collisions_method)method, beads), n * (n - 1) / 2);
    put_bead(beads, 0, 0, INT32_MAX);
    put_bead(beads, 7, 1, INT32_MIN);
    for (int64_t method = 0; method < KITH_COLLISIONS_REFERENCE; method++)
        assert_int_equal(count_by(gpu, (kith_collisions_method)method, beads),
                         (n - 2) * (n - 3) / 2);
    free(beads.data);
    kith_context_free(gpu);
}

static void test_gpu_batches_are_the_cpus(void **state)
{
    enum { most_conformations = 300 };
    static const int64_t lengths[] = {0, 1, 2, 20, 31, 32, 33, 64, 65, 128, 200, 255, 256, 700};
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int64_t k = 0; k < (int64_t)(sizeof lengths / sizeof lengths[0]); k += in_a_hurry(3, 1))
        for (int64_t kind = 0; kind < 6; kind += in_a_hurry(3, 1)) {
            const int64_t length = lengths[k], b = in_a_hurry(10, most_conformations);
            const int64_t d = 2 + kind % 2;
            kith_array rows = new_beads(dtypes[kind / 2 % 2], b * length, d);
            fill_any(*state, kind < 3 ? 0 : kind + k, rows);
            kith_array beads = {rows.data,  rows.device,    3,
                                rows.dtype, {b, length, d}, {length * d, d, 1}};
            char *sequence = calloc((size_t)length + 1, 1);
            for (int64_t i = 0; i < length; i++)
                sequence[i] = "HP"[random_below(*state, 2)];
            int64_t results[4][most_conformations];
            kith_array out[4];
            for (int64_t r = 0; r < 4; r++)
                out[r] = kith_array_vector(results[r], KITH_I64, b);
            const char *given = kind % 2 ? sequence : NULL;
            assert_ok(kith_collisions_batch(cpu, beads, kith_array_none(), given, out[0], out[1]));
            assert_ok(kith_collisions_batch(gpu, beads, kith_array_none(), given, out[2], out[3]));
            for (int64_t c = 0; c < b; c++) {
                assert_int_equal(results[0][c], results[2][c]);
                assert_int_equal(results[1][c], results[3][c]);
            }
            free(sequence);
            free(rows.data);
        }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_gpu_batches_may_be_ragged(void **state)
{
    enum { most_conformations = 200 };
    const int64_t conformations = in_a_hurry(20, most_conformations);
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    int64_t offsets[most_conformations + 1] = {0}, results[4][most_conformations];
    for (int64_t b = 0; b < conformations; b++)
        offsets[b + 1] =
            offsets[b] + (b == 7 ? in_a_hurry(1500, 65535) : random_below(*state, 400));
    kith_array beads = new_beads(KITH_I32, offsets[conformations], 3);
    fill_walk(*state, beads);
    kith_array given = kith_array_vector(offsets, KITH_I64, conformations + 1), out[4];
    for (int64_t r = 0; r < 4; r++)
        out[r] = kith_array_vector(results[r], KITH_I64, conformations);
    assert_ok(kith_collisions_batch(cpu, beads, given, NULL, out[0], out[1]));
    assert_ok(kith_collisions_batch(gpu, beads, given, NULL, out[2], out[3]));
    const size_t bytes = (size_t)conformations * sizeof(int64_t);
    assert_memory_equal(results[0], results[2], bytes);
    assert_memory_equal(results[1], results[3], bytes);

    /* All of it on the device, where nobody checks the offsets. */
    kith_array there = beads_on_gpu(beads, false), offsets_there = given, out_there = out[2];
    offsets_there.device = out_there.device = there.device;
    assert_cuda(cudaMalloc(&offsets_there.data, sizeof offsets));
    assert_cuda(cudaMalloc(&out_there.data, bytes));
    assert_cuda(cudaMemcpy(offsets_there.data, offsets, sizeof offsets, cudaMemcpyHostToDevice));
    assert_ok(kith_collisions_batch(gpu, there, offsets_there, NULL, kith_array_none(), out_there));
    assert_ok(kith_context_synchronize(gpu));
    assert_cuda(cudaMemcpy(results[2], out_there.data, bytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(results[1], results[2], bytes);
    cudaFree(there.data);
    cudaFree(offsets_there.data);
    cudaFree(out_there.data);
    free(beads.data);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_gpu_promises_are_kept_in_any_order(void **state)
{
    enum { most_promises = 20 };
    const int64_t promises = in_a_hurry(8, most_promises);
    kith_context *contexts[] = {new_gpu_context(NULL), new_gpu_context(NULL)};
    kith_context *cpu = cpu_context(1);
    kith_collisions_promise *promise[most_promises];
    int64_t expected[most_promises], count = 0;
    for (int64_t k = 0; k < promises; k++) {
        kith_array beads = new_beads(dtypes[k % 2], k * k * 50, 3);
        fill_any(*state, k, beads);
        expected[k] = count_by(cpu, KITH_COLLISIONS_SORT, beads);
        assert_ok(kith_collisions_launch(contexts[k % 2], NULL, beads, &promise[k]));
        free(beads.data);
    }
    for (int64_t k = 0; k < promises; k++) {
        const int64_t other = k * 7 % promises;
        if (other % 5 != 3) {
            assert_ok(kith_collisions_fetch(promise[other], &count));
            assert_int_equal(count, expected[other]);
        }
        kith_collisions_promise_free(promise[other]);
    }
    kith_context_free(contexts[0]);
    kith_context_free(contexts[1]);
    kith_context_free(cpu);
}

static void test_gpu_refuses_what_is_elsewhere(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(NULL);
    int32_t numbers[6] = {0};
    int64_t count = 0;
    kith_array beads = kith_array_matrix(numbers, KITH_I32, 2, 3);
    kith_array there = beads_on_gpu(beads, false);
    assert_fails(kith_collisions_count(gpu, &(kith_collisions_options){KITH_COLLISIONS_REFERENCE},
                                       there, &count),
                 KITH_UNSUPPORTED, "reference");
    assert_fails(kith_contacts_count(gpu, there, NULL, &count), KITH_UNSUPPORTED, "host");
    there.device.index = 7;
    assert_fails(kith_collisions_count(gpu, NULL, there, &count), KITH_INVALID_ARGUMENT, "cuda:7");
    cudaFree(there.data);
    kith_context_free(gpu);
}

static int set_up(void **state)
{
    static struct random_numbers random;
    random = random_numbers_begin("test_cuda_collisions");
    *state = &random;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_methods_count_every_size_alike),
        cmocka_unit_test(test_gpu_methods_count_odd_sizes_alike),
        cmocka_unit_test(test_gpu_counts_many_beads),
        cmocka_unit_test(test_gpu_counts_dense_boxes),
        cmocka_unit_test(test_gpu_counts_beads_outside_of_a_guess),
        cmocka_unit_test(test_gpu_counts_all_beads_at_one_site),
        cmocka_unit_test(test_gpu_batches_are_the_cpus),
        cmocka_unit_test(test_gpu_batches_may_be_ragged),
        cmocka_unit_test(test_gpu_promises_are_kept_in_any_order),
        cmocka_unit_test(test_gpu_refuses_what_is_elsewhere),
    };
    if (gpu_is_absent("test_cuda_collisions"))
        return exit_skipped;
    return cmocka_run_group_tests_name("cuda_collisions", tests, set_up, NULL);
}
