/* Verlet lists of arrays on a GPU: kept, brought up to date and rebuilt as those on the host. */

#include "gpu_testing.h"

#include "pairs_definition.h"

/* A list on the GPU and the same one on the host. */
struct twins {
    struct scene *scene;
    kith_context *cpu, *gpu;
    kith_pairs *on_cpu, *on_gpu;
};

static void assert_same_array(kith_array host, kith_array device, const char *what)
{
    assert_int_equal(host.ndim, device.ndim);
    if (host.ndim == 0)
        return;
    assert_int_equal(device.device.kind, KITH_CUDA);
    assert_int_equal(host.shape[0], device.shape[0]);
    const int64_t columns = host.ndim == 2 ? host.shape[1] : 1;
    const size_t bytes = (size_t)(host.shape[0] * columns) * (size_t)kith_dtype_bytes(host.dtype);
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    assert_cuda(cudaMemcpy(copy, device.data, bytes, cudaMemcpyDeviceToHost));
    if (memcmp(copy, host.data, bytes) != 0)
        fail_msg("%s are not the host's", what);
    free(copy);
}

/* Updates both; whether they were rebuilt. */
static bool update(struct twins *twins)
{
    struct scene *s = twins->scene;
    kith_pairs_options options = options_of(s), device_options = options;
    const kith_array positions = gpu_array_of(s->positions, 2, 3);
    bool host_rebuilt = false, rebuilt = false;
    if (s->m >= 0)
        device_options.queries = gpu_array_of(s->queries, 1, 1);
    assert_ok(kith_pairs_update(twins->cpu, &options, s->positions, s->cells, &twins->on_cpu,
                                &host_rebuilt));
    assert_ok(kith_pairs_update(twins->gpu, &device_options, positions, s->cells, &twins->on_gpu,
                                &rebuilt));
    assert_ok(kith_context_synchronize(twins->gpu));
    assert_int_equal(host_rebuilt, rebuilt);
    assert_int_equal(twins->on_cpu->count, twins->on_gpu->count);
    assert_same_array(twins->on_cpu->offsets, twins->on_gpu->offsets, "offsets");
    assert_same_array(twins->on_cpu->i, twins->on_gpu->i, "i");
    assert_same_array(twins->on_cpu->j, twins->on_gpu->j, "j");
    assert_same_array(twins->on_cpu->shifts, twins->on_gpu->shifts, "shifts");
    assert_same_array(twins->on_cpu->vectors, twins->on_gpu->vectors, "vectors");
    assert_same_array(twins->on_cpu->distances, twins->on_gpu->distances, "distances");
    cudaFree(positions.data);
    if (s->m >= 0)
        cudaFree(device_options.queries.data);
    return rebuilt;
}

/* Each coordinate by up to `most`. */
static void shake(struct random_numbers *random, kith_array points, double most)
{
    for (int64_t k = 0; k < points.shape[0] * points.shape[1]; k++)
        put(points, k, get(points, k) + random_uniform(random, -most, most));
}

static void test_cuda_pairs_update_as_on_the_host(void **state)
{
    struct random_numbers *random = *state;
    struct twins twins = {.cpu = new_context(NULL, 1), .gpu = new_gpu_context(NULL)};
    for (int k = 0; k < (test_is_quick() ? 12 : 120); k++) {
        struct scene s = random_scene(random, 2 + random_below(random, 300), 20);
        if (!kith_array_is_none(s.exclusions) || !kith_array_is_none(s.radii)) {
            scene_free(&s);
            continue;
        }
        twins.scene = &s;
        s.options.skin = 0.3 * s.options.cutoff;
        s.options.quantities = k % 4 == 0 ? 0 : all_quantities;
        update(&twins);
        shake(random, s.positions, s.options.skin / 16);
        assert_false(update(&twins));
        if (s.m > 0)
            shake(random, s.queries, s.options.skin / 16);
        shake(random, s.positions, s.options.skin / 16);
        assert_false(update(&twins));
        put(s.positions, 1, get(s.positions, 1) + s.options.skin);
        assert_true(update(&twins));
        scene_free(&s);
    }
    kith_pairs_free(twins.on_cpu);
    kith_pairs_free(twins.on_gpu);
    kith_context_free(twins.cpu);
    kith_context_free(twins.gpu);
}

static void test_cuda_pairs_update_tells_a_bad_number(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    kith_array points = vector_new(KITH_F32, 300);
    for (int64_t k = 0; k < 300; k++)
        put(points, k, random_uniform(random, 0, 5));
    const kith_array host = kith_array_matrix(points.data, KITH_F32, 100, 3);
    const kith_pairs_options options = {.cutoff = 1, .skin = 0.2};
    const kith_array positions = gpu_array_of(host, 1, 0);
    kith_pairs *pairs = NULL;
    bool rebuilt = false;
    assert_ok(kith_pairs_update(context, &options, positions, NULL, &pairs, &rebuilt));
    assert_true(rebuilt);
    put(points, 3 * 17 + 2, NAN);
    gpu_transfer(positions, host, true);
    assert_fails(kith_pairs_update(context, &options, positions, NULL, &pairs, &rebuilt),
                 KITH_INVALID_ARGUMENT, "row 17");
    put(points, 3 * 17 + 2, 1);
    gpu_transfer(positions, host, true);
    assert_ok(kith_pairs_update(context, &options, positions, NULL, &pairs, &rebuilt));
    assert_true(rebuilt);
    kith_pairs_free(pairs);
    cudaFree(positions.data);
    free(points.data);
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_pairs_update"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("test_cuda_pairs_update");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_pairs_update_as_on_the_host, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_update_tells_a_bad_number, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
