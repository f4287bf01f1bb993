/* Forces of arrays that are on the device already. */

#include "gpu_testing.h"

#include "device/context.h"

static const kith_dtype dtypes[] = {KITH_F64, KITH_F32};

static void compute_there(kith_context *context, const kith_forces_options *options,
                          struct system *on_device, bool softened)
{
    on_device->softened = softened;
    system_compute(context, options, on_device);
}

/* Computes s by way of the host into expected, by way of the device into s, and compares. */
static void assert_same_as_by_host(kith_context *context, const kith_forces_options *options,
                                   struct system *s, bool softened, bool gaps)
{
    struct system expected = system_copy(s), on_device = gpu_system(s, gaps);
    compute_there(context, options, &expected, softened);
    compute_there(context, options, &on_device, softened);
    assert_ok(kith_context_synchronize(context));
    gpu_fetch(&on_device, s);
    assert_same_forces(s, &expected);
    gpu_system_free(&on_device);
    system_free(&expected);
}

static void test_cuda_arrays_give_the_bits_of_arrays_on_the_host(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int64_t sizes[] = {0, 1, 2, 33, 127, 1000, 1025, 10007};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] - test_is_quick(); k++)
        for (int d = 0; d < 2; d++)
            for (int variant = 0; variant < 8; variant++) {
                const bool softened = variant & 1, gaps = variant & 2;
                struct system s = system_random(random, dtypes[d], sizes[k], variant & 4 ? 2 : 3);
                const kith_forces_options options = {.gravitational_constant = 0.7,
                                                     .softening = softened ? 0 : 0.03};
                assert_same_as_by_host(context, &options, &s, softened, gaps);
                system_free(&s);
            }
    kith_context_free(context);
}

static void test_cuda_arrays_of_any_magnitude(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const double scales[] = {1e-15, 1e15, 1e-30, 1e30};
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 4; k++)
            for (int softened = 0; softened < 2; softened++) {
                struct system s = system_random(random, dtypes[d], 300, 3);
                for (int64_t e = 0; e < 3 * s.n; e++)
                    put(s.x, e, get(s.x, e) * scales[k]);
                for (int64_t i = 0; i < s.n; i++) {
                    put(s.m, i, get(s.m, i) / scales[k]);
                    put(s.softening, i, get(s.softening, i) * scales[k]);
                }
                const kith_forces_options options = {.gravitational_constant = pow(scales[k], 2),
                                                     .softening = softened ? 0 : 0.03 * scales[k]};
                assert_same_as_by_host(context, &options, &s, softened, true);
                system_free(&s);
            }
    kith_context_free(context);
}

static void test_cuda_arrays_of_separate_targets(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (int softened = 0; softened < 2; softened++) {
            struct system t = system_random(random, dtypes[d], 77, 3);
            struct system s = system_random(random, dtypes[d], 1003, 3);
            struct system expected = system_copy(&t);
            struct system t_there = gpu_system(&t, true), s_there = gpu_system(&s, true);
            const kith_forces_options options = {.softening = softened ? 0 : 0.1};
            t.softened = s.softened = t_there.softened = s_there.softened = softened;
            assert_ok(kith_forces_compute(context, &options, PARTICLES_OF(&t), PARTICLES_OF(&s),
                                          expected.a, expected.phi));
            assert_ok(kith_forces_compute(context, &options, PARTICLES_OF(&t_there),
                                          PARTICLES_OF(&s_there), t_there.a, t_there.phi));
            assert_ok(kith_context_synchronize(context));
            gpu_fetch(&t_there, &t);
            assert_same_forces(&t, &expected);
            gpu_system_free(&t_there);
            gpu_system_free(&s_there);
            system_free(&t);
            system_free(&s);
            system_free(&expected);
        }
    kith_context_free(context);
}

static void test_cuda_arrays_without_masses_or_sources(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(random, KITH_F32, 50, 3), expected = system_copy(&s);
    struct system there = gpu_system(&s, false);
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(s.x), expected.a, expected.phi));
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(there.x), there.a, there.phi));
    gpu_fetch(&there, &s);
    assert_same_forces(&s, &expected);

    kith_array nobody = there.x;
    nobody.shape[0] = 0;
    assert_ok(
        kith_forces_compute(context, NULL, POINTS(there.x), POINTS(nobody), there.a, there.phi));
    assert_ok(kith_context_synchronize(context));
    gpu_fetch(&there, &s);
    for (int64_t i = 0; i < s.n; i++)
        assert_true(get(s.a, 3 * i) == 0 && get(s.a, 3 * i + 2) == 0 && get(s.phi, i) == 0);
    gpu_system_free(&there);
    system_free(&s);
    system_free(&expected);
    kith_context_free(context);
}

static void test_cuda_numbers_that_are_none_are_told_by_synchronize(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(random, KITH_F32, 5000, 3);
    struct system good = gpu_system(&s, true);
    put(s.x, 3 * 4321 + 1, NAN);
    put(s.x, 3 * 4567, INFINITY);
    put(s.m, 17, -INFINITY);
    put(s.softening, 99, -1);
    struct system bad = gpu_system(&s, true);

    compute_there(context, NULL, &bad, false);
    compute_there(context, NULL, &good, false); /* the first deferred error stays */
    assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT,
                 "row 4321 sources.positions nan");
    gpu_fetch(&bad, &s);
    for (int64_t i = 0; i < s.n; i++)
        assert_true(isnan(get(s.a, 3 * i)) && isnan(get(s.phi, i)));
    gpu_fetch(&good, &s);
    assert_true(isfinite(get(s.phi, 0)));
    assert_ok(kith_context_synchronize(context));

    const kith_array none = kith_array_none();
    assert_ok(
        kith_forces_compute(context, NULL, NULL, PARTICLES(good.x, {"m", bad.m}), good.a, none));
    assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT, "17 sources.m -inf");
    assert_ok(kith_forces_compute(context, NULL, NULL,
                                  PARTICLES(good.x, {"m", good.m}, {"softening", bad.softening}),
                                  good.a, none));
    assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT,
                 "row 99 sources.softening -1 0");
    gpu_fetch(&good, &s);
    for (int64_t i = 0; i < 3 * s.n; i++)
        assert_true(isnan(get(s.a, i)));
    gpu_system_free(&good);
    gpu_system_free(&bad);
    system_free(&s);
    kith_context_free(context);
}

/* The call itself reports them, and leaves the results as they were; what an earlier call found in
 * arrays on the device is still reported by synchronize. */
static void test_cuda_bad_numbers_of_arrays_on_the_host_are_errors_of_the_call(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(*state, KITH_F64, 3000, 3);
    put(s.m, 7, NAN);
    struct system there = gpu_system(&s, false);
    compute_there(context, NULL, &there, false);
    put(s.m, 7, 1);
    put(s.x, 3 * 2999, INFINITY);
    put(s.a, 5, 42);
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES_OF(&s), s.a, s.phi),
                 KITH_INVALID_ARGUMENT, "row 2999 sources.positions inf");
    assert_true(get(s.a, 5) == 42);
    put(s.x, 3 * 2999, 0);
    assert_ok(kith_forces_compute(context, NULL, NULL, PARTICLES_OF(&s), s.a, s.phi));
    assert_true(isfinite(get(s.a, 5)) && get(s.a, 5) != 42);
    assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT, "7 sources.m nan");
    assert_ok(kith_context_synchronize(context));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
}

static void test_cuda_an_array_without_dimensions_is_none_whatever_its_address(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(*state, KITH_F32, 300, 3), there = gpu_system(&s, false);
    kith_array phi = s.phi, phi_there = there.phi;
    phi.ndim = phi_there.ndim = 0;
    put(s.phi, 5, 42);
    assert_ok(kith_forces_compute(context, NULL, NULL, PARTICLES_OF(&s), s.a, phi));
    assert_true(get(s.phi, 5) == 42);
    assert_ok(kith_forces_compute(context, NULL, NULL, PARTICLES_OF(&there), there.a, phi_there));
    assert_ok(kith_context_synchronize(context));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
}

static void test_cuda_arrays_in_mixed_places_are_refused(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL), *cpu = new_context(NULL, 1);
    struct system s = system_random(random, KITH_F64, 10, 3), there = gpu_system(&s, false);
    const kith_array none = kith_array_none();
    assert_fails(
        kith_forces_compute(context, NULL, NULL, PARTICLES(there.x, {"m", s.m}), there.a, none),
        KITH_INVALID_ARGUMENT, "sources.m host's sources.positions cuda:0");
    assert_fails(
        kith_forces_compute(context, NULL, NULL, PARTICLES(s.x, {"m", s.m}), there.a, none),
        KITH_INVALID_ARGUMENT, "acceleration cuda:0");
    assert_fails(
        kith_forces_compute(cpu, NULL, NULL, PARTICLES(there.x, {"m", there.m}), there.a, none),
        KITH_UNSUPPORTED, "CPU");
    const kith_forces_options reference = {.solver = solver_named("reference")};
    assert_fails(kith_forces_compute(context, &reference, NULL, PARTICLES(there.x, {"m", there.m}),
                                     there.a, none),
                 KITH_UNSUPPORTED, "reference");

    struct system elsewhere = there;
    elsewhere.x.device.index = 5;
    assert_fails(kith_forces_compute(context, NULL, NULL, POINTS(elsewhere.x), there.a, none),
                 KITH_INVALID_ARGUMENT, "sources.positions cuda:5");
    kith_array wrong = s.m;
    wrong.device = there.m.device;
    assert_fails(
        kith_forces_compute(context, NULL, NULL, PARTICLES(there.x, {"m", wrong}), there.a, none),
        KITH_INVALID_ARGUMENT, "sources.m cuda:0");
    wrong = there.m;
    wrong.data = (char *)wrong.data + 4;
    assert_fails(
        kith_forces_compute(context, NULL, NULL, PARTICLES(there.x, {"m", wrong}), there.a, none),
        KITH_INVALID_ARGUMENT, "sources.m");

    compute_there(context, NULL, &there, false);
    assert_ok(kith_context_synchronize(context));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
    kith_context_free(cpu);
}

static cudaGraphExec_t record(kith_context *context, const kith_forces_options *options,
                              struct system *there)
{
    cudaStream_t stream = kith_context_stream(context);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    compute_there(context, options, there, false);
    assert_cuda(cudaStreamEndCapture(stream, &graph));
    assert_cuda(cudaGraphInstantiate(&instance, graph, 0));
    assert_cuda(cudaGraphDestroy(graph));
    return instance;
}

/* After a first call, a call can be recorded; replayed, it computes what the arrays then hold, in
 * their units then. */
static void record_and_replay(struct random_numbers *random, kith_context *context, int64_t n,
                              kith_dtype dtype)
{
    const kith_forces_options options = {.softening = 0.02};
    struct system s = system_random(random, dtype, n, 3), there = gpu_system(&s, true);
    compute_there(context, &options, &there, false);
    cudaGraphExec_t instance = record(context, &options, &there);
    for (int round = 0; round < 3; round++) {
        struct system next = system_random(random, dtype, n, 3), expected = system_copy(&next);
        for (int64_t k = 0; k < 3 * n; k++) {
            put(next.x, k, get(next.x, k) * pow(100, round));
            put(expected.x, k, get(next.x, k));
        }
        gpu_transfer(there.x, next.x, true);
        gpu_transfer(there.m, next.m, true);
        assert_cuda(cudaGraphLaunch(instance, kith_context_stream(context)));
        assert_ok(kith_context_synchronize(context));
        gpu_fetch(&there, &next);
        compute_there(context, &options, &expected, false);
        assert_same_forces(&next, &expected);

        /* A larger call between, which must not take the graph's memory away. */
        struct system larger = system_random(random, dtype, (round + 2) * n, 3);
        struct system larger_there = gpu_system(&larger, false);
        compute_there(context, &options, &larger_there, false);
        assert_ok(kith_context_synchronize(context));
        gpu_system_free(&larger_there);
        system_free(&larger);
        system_free(&next);
        system_free(&expected);
    }
    assert_cuda(cudaGraphExecDestroy(instance));
    gpu_system_free(&there);
    system_free(&s);
}

static void test_cuda_forces_can_be_recorded_in_a_graph(void **state)
{
    struct random_numbers *random = *state;
    for (int d = 0; d < 2; d++) {
        const int64_t sizes[] = {5, 1000, 9999};
        for (int k = 0; k < (test_is_quick() ? 2 : 3); k++) {
            kith_context *context = new_gpu_context(NULL);
            record_and_replay(random, context, sizes[k], dtypes[d]);
            kith_context_free(context);
        }
    }
}

static void test_cuda_first_call_in_a_capture_is_refused_and_changes_nothing(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    cudaStream_t stream = kith_context_stream(context);
    struct system s = system_random(random, KITH_F32, 1000, 3), there = gpu_system(&s, false);
    cudaGraph_t graph = NULL;
    assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES(there.x, {"m", there.m}),
                                     there.a, there.phi),
                 KITH_INVALID_ARGUMENT, "capture");
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
                 KITH_INVALID_ARGUMENT, "captured");
    assert_cuda(cudaStreamEndCapture(stream, &graph));
    assert_cuda(cudaGraphDestroy(graph));
    compute_there(context, NULL, &there, false);
    assert_ok(kith_context_synchronize(context));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
}

/* Work that the caller put on the stream before is seen, without waiting in between. */
static void test_cuda_forces_follow_what_the_caller_put_on_the_stream(void **state)
{
    struct random_numbers *random = *state;
    cudaStream_t stream = NULL;
    assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    kith_context *context = new_gpu_context(stream);
    for (int d = 0; d < 2; d++) {
        struct system s = system_random(random, dtypes[d], 4000, 3), expected = system_copy(&s);
        struct system there = gpu_system(&s, false), scratch = gpu_system(&s, false);
        const size_t bytes = (size_t)(3 * s.n * kith_dtype_bytes(s.dtype));
        assert_cuda(cudaMemset(there.x.data, 0, bytes));
        assert_cuda(cudaDeviceSynchronize());
        for (int k = 0; k < 20; k++) /* keeps the stream busy */
            compute_there(context, NULL, &scratch, false);
        assert_cuda(
            cudaMemcpyAsync(there.x.data, scratch.x.data, bytes, cudaMemcpyDeviceToDevice, stream));
        compute_there(context, NULL, &there, false);
        assert_ok(kith_context_synchronize(context));
        gpu_fetch(&there, &s);
        compute_there(context, NULL, &expected, false);
        assert_same_forces(&s, &expected);
        gpu_system_free(&there);
        gpu_system_free(&scratch);
        system_free(&s);
        system_free(&expected);
    }
    kith_context_free(context);
    assert_cuda(cudaStreamDestroy(stream));
}

/* A view of more rows than the device has room for, all the same one. */
static void test_cuda_more_bodies_than_memory_are_refused(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_create(KITH_F64, 1, 3), there = gpu_system(&s, false);
    there.x.shape[0] = (int64_t)1 << 40;
    there.x.strides[0] = 0;
    kith_array target = there.x;
    target.shape[0] = 1;
    const kith_array none = kith_array_none();
    assert_fails(kith_forces_compute(context, NULL, POINTS(target), POINTS(there.x), there.a, none),
                 KITH_OUT_OF_MEMORY, "arrays");
    there.x.shape[0] = INT64_MAX;
    assert_fails(kith_forces_compute(context, NULL, POINTS(target), POINTS(there.x), there.a, none),
                 KITH_INVALID_ARGUMENT, "memory");
    there.x.shape[0] = 1;
    assert_ok(kith_forces_compute(context, NULL, POINTS(target), POINTS(there.x), there.a, none));
    assert_ok(kith_context_synchronize(context));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("cuda_arrays"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_arrays");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_arrays_give_the_bits_of_arrays_on_the_host, &random),
        cmocka_unit_test_prestate(test_cuda_arrays_of_any_magnitude, &random),
        cmocka_unit_test_prestate(test_cuda_arrays_of_separate_targets, &random),
        cmocka_unit_test_prestate(test_cuda_arrays_without_masses_or_sources, &random),
        cmocka_unit_test_prestate(test_cuda_numbers_that_are_none_are_told_by_synchronize, &random),
        cmocka_unit_test_prestate(
            test_cuda_bad_numbers_of_arrays_on_the_host_are_errors_of_the_call, &random),
        cmocka_unit_test_prestate(
            test_cuda_an_array_without_dimensions_is_none_whatever_its_address, &random),
        cmocka_unit_test_prestate(test_cuda_arrays_in_mixed_places_are_refused, &random),
        cmocka_unit_test_prestate(test_cuda_forces_can_be_recorded_in_a_graph, &random),
        cmocka_unit_test_prestate(test_cuda_first_call_in_a_capture_is_refused_and_changes_nothing,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_forces_follow_what_the_caller_put_on_the_stream,
                                  &random),
        cmocka_unit_test(test_cuda_more_bodies_than_memory_are_refused),
    };
    return cmocka_run_group_tests_name("cuda_arrays", tests, NULL, NULL);
}
