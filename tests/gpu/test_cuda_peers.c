/* Several GPUs that share the work of one context: the bits of one. With one GPU it is its own
 * peer, so that all but the copies between devices is tested. */

#include "gpu_peers.h"
#include "gpu_simulating.h"
#include "liquid.h"

struct peers_case {
    int64_t n, dimensions;
    const char *law;
    double light; /* mass of one body, unless 0; tiny ones are summed in another unit */
    kith_dtype dtype;
    bool potential;
};

/* From 61 441 bodies in double and 122 881 in single precision on work is divided. */
static const struct peers_case cases[] = {
    {0, 3, NULL, 0, KITH_F64, false},          {1, 3, NULL, 0, KITH_F64, true},
    {2, 2, NULL, 0, KITH_F32, false},          {9001, 3, NULL, 0, KITH_F32, false},
    {65537, 3, NULL, 0, KITH_F64, false},      {65537, 2, NULL, 0, KITH_F64, true},
    {65537, 3, "yukawa:1", 0, KITH_F64, true}, {126979, 3, NULL, 0, KITH_F32, false},
    {126979, 3, NULL, 1e-20, KITH_F32, false}, {131072, 2, NULL, 0, KITH_F32, true},
    {270001, 3, NULL, 0, KITH_F64, false},     {270001, 3, "coulomb", 0, KITH_F32, false},
};
enum { case_count = sizeof cases / sizeof cases[0] };

/* A sanitizer takes most of a minute for one evaluation. */
static bool is_left_out(const struct peers_case *the)
{
    return test_is_quick() && (the->n > 65537 || (the->n > 9001 && the->potential));
}

static void compute(kith_context *context, const struct peers_case *the, struct system *s)
{
    kith_law *law = NULL;
    if (the->law)
        assert_ok(kith_law_parse(the->law, 0, NULL, &law));
    const kith_forces_options options = {.softening = 0.01, .law = law};
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES_OF(s), s->a,
                                  the->potential ? s->phi : kith_array_none()));
    assert_ok(kith_context_synchronize(context));
    kith_law_free(law);
}

static void clear(struct system *s)
{
    const size_t bytes = (size_t)kith_dtype_bytes(s->dtype), n = (size_t)s->n;
    memset(s->a.data, 0, n * (size_t)s->dimensions * bytes);
    memset(s->phi.data, 0, n * bytes);
}

static void test_forces_of_several_gpus_have_the_bits_of_one(void **state)
{
    for (int c = 0; c < case_count; c++) {
        if (is_left_out(&cases[c]))
            continue;
        struct system alone =
            system_random(*state, cases[c].dtype, cases[c].n, cases[c].dimensions);
        if (cases[c].light > 0)
            put(alone.m, cases[c].n / 2, cases[c].light);
        struct system shared = system_copy(&alone);
        kith_context *one = new_gpu_context(NULL);
        clear(&alone);
        compute(one, &cases[c], &alone);
        kith_context_free(one);
        for (int32_t peers = 1; peers <= (test_is_quick() ? 1 : most_peers);
             peers += peers < 3 ? 1 : 4) {
            kith_context *context = context_of(peers, NULL);
            for (int again = 0; again < (test_is_quick() ? 1 : 2); again++) {
                clear(&shared);
                compute(context, &cases[c], &shared);
                assert_same_forces(&shared, &alone);
            }
            kith_context_free(context);
        }
        system_free(&shared);
        system_free(&alone);
    }
}

/* Each target on its own, on one device. */
static void test_forces_of_several_gpus_are_those_of_one_sided_sums(void **state)
{
    for (int k = 0; k < 2; k++) {
        const kith_dtype dtype = k ? KITH_F32 : KITH_F64;
        struct system s = system_random(*state, dtype, k ? 126979 : 65537, 3);
        struct system split = system_copy(&s);
        kith_context *context = context_of(1, NULL);
        const kith_forces_options one_sided = {.softening = 0.01, .method = KITH_FORCES_SPLIT},
                                  options = {.softening = 0.01};
        system_compute(context, &options, &s);
        system_compute(context, &one_sided, &split);
        assert_less(relative_difference(s.a, split.a), 2 * promised_error(dtype, s.n));
        assert_less(relative_difference(s.phi, split.phi), 2 * promised_error(dtype, s.n));
        kith_context_free(context);
        system_free(&split);
        system_free(&s);
    }
}

static void test_arrays_on_the_device_and_calls_one_after_another(void **state)
{
    struct system s = system_random(*state, KITH_F64, 65537, 3), first = system_copy(&s);
    struct system there = gpu_system(&s, true), others[2];
    kith_context *context = context_of(1, NULL), *one = new_gpu_context(NULL);
    const kith_forces_options options = {.softening = 0.01};
    system_compute(one, &options, &first);
    for (int k = 0; k < 2; k++)
        others[k] = gpu_system(&s, false);
    for (int k = 0; k < (test_is_quick() ? 2 : 6); k++) { /* nothing waits between them */
        system_compute(context, &options, &there);
        system_compute(context, &options, &others[k % 2]);
    }
    assert_ok(kith_context_synchronize(context));
    gpu_fetch(&there, &s);
    assert_same_forces(&s, &first);
    for (int k = 0; k < 2; k++) {
        gpu_fetch(&others[k], &s);
        assert_same_forces(&s, &first);
        gpu_system_free(&others[k]);
    }
    kith_context_free(context);
    kith_context_free(one);
    gpu_system_free(&there);
    system_free(&s);
    system_free(&first);
}

/* While the caller captures, one device computes. */
static void test_a_captured_call_has_the_same_bits(void **state)
{
    struct system s = system_random(*state, KITH_F64, 65537, 3), first = system_copy(&s);
    struct system there = gpu_system(&s, false);
    const kith_forces_options options = {.softening = 0.01};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    assert_cuda(cudaStreamCreate(&stream));
    kith_context *context = context_of(1, stream);
    system_compute(context, &options, &there);
    assert_ok(kith_context_synchronize(context));
    gpu_fetch(&there, &first);
    assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    system_compute(context, &options, &there);
    assert_cuda(cudaStreamEndCapture(stream, &graph));
    assert_cuda(cudaMemset(there.a.data, 0, 65537 * 3 * sizeof(double)));
    assert_cuda(cudaGraphInstantiate(&made, graph, 0));
    assert_cuda(cudaGraphLaunch(made, stream));
    assert_cuda(cudaStreamSynchronize(stream));
    gpu_fetch(&there, &s);
    assert_same_forces(&s, &first);
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
    kith_context_free(context);
    cudaStreamDestroy(stream);
    gpu_system_free(&there);
    system_free(&s);
    system_free(&first);
}

static void test_a_simulation_by_several_gpus_has_the_bits_of_one(void **state)
{
    static const struct simulated_case simulated[] = {
        {KITH_F64, 65537, 0, 3, common, "leapfrog"},
        {KITH_F64, 61441, 0, 3, common, "yoshida4"},
        {KITH_F32, 9001, 0, 3, common, "leapfrog"},
    };
    for (size_t c = 0; c < sizeof simulated / sizeof simulated[0]; c += test_is_quick() ? 2 : 1) {
        static const int32_t peers[] = {0, 1, 3};
        const int numbers = test_is_quick() ? 2 : 3;
        kith_bodies *bodies = random_bodies(*state, &simulated[c]), *ends[3];
        kith_diagnostics found[3];
        for (int k = 0; k < numbers; k++) {
            kith_context *context = context_of(peers[k], NULL);
            kith_simulation *simulation = begin(context, &simulated[c], bodies);
            assert_ok(kith_simulation_step(simulation, test_is_quick() ? 1 : 3));
            if (!test_is_quick())
                assert_ok(kith_simulation_step(simulation, 2));
            assert_ok(kith_simulation_diagnose(simulation, &found[k]));
            ends[k] = state_of(simulation, bodies);
            kith_simulation_free(simulation);
            kith_context_free(context);
            assert_same_state(ends[k], ends[0]);
            assert_memory_equal(&found[k], &found[0], sizeof found[0]);
        }
        for (int k = 0; k < numbers; k++)
            kith_bodies_free(ends[k]);
        kith_bodies_free(bodies);
    }
}

static void test_a_simulation_goes_on_with_another_number_of_gpus(void **state)
{
    const struct simulated_case the = {KITH_F64, 65537, 0, 3, common, "leapfrog"};
    const int64_t steps = test_is_quick() ? 1 : 2;
    const int32_t parts = test_is_quick() ? 2 : 3;
    kith_bodies *bodies = random_bodies(*state, &the);
    kith_context *one = new_gpu_context(NULL);
    kith_simulation *whole = begin(one, &the, bodies);
    assert_ok(kith_simulation_step(whole, parts * steps));
    kith_checkpoint checkpoint = {0};
    for (int32_t part = 0; part < parts; part++) {
        kith_context *context = context_of((part + 1) % 3, NULL);
        kith_simulation *simulation = begin(context, &the, bodies);
        if (part > 0)
            assert_ok(kith_simulation_restore(simulation, &checkpoint));
        assert_ok(kith_simulation_step(simulation, steps));
        assert_ok(kith_simulation_save(simulation, &checkpoint));
        if (part == parts - 1) {
            kith_bodies *a = state_of(simulation, bodies), *b = state_of(whole, bodies);
            assert_same_state(a, b);
            kith_bodies_free(a);
            kith_bodies_free(b);
        }
        kith_simulation_free(simulation);
        kith_context_free(context);
    }
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(whole);
    kith_context_free(one);
    kith_bodies_free(bodies);
}

/* From 524 288 targets on. */
static void test_trees_of_several_gpus_have_the_bits_of_one(void **state)
{
    static const struct {
        kith_dtype dtype;
        int64_t n, targets, dimensions;
        const char *solver;
        double error, softening;
    } trees[] = {
        {KITH_F32, 524289, 0, 3, "fmm", 1e-3, 0},    {KITH_F64, 600001, 0, 3, "fmm", 1e-6, 0.01},
        {KITH_F32, 700003, 0, 3, "tree", 1e-2, 0},   {KITH_F32, 550001, 0, 2, "fmm", 1e-4, 0},
        {KITH_F32, 5003, 524289, 3, "fmm", 1e-4, 0}, {KITH_F32, 9001, 0, 3, "fmm", 1e-4, 0},
    };
    for (size_t c = 0; c < sizeof trees / sizeof trees[0] && !test_is_quick(); c++) {
        const int64_t targets = trees[c].targets;
        struct system sources =
            system_random(*state, trees[c].dtype, trees[c].n, trees[c].dimensions);
        struct system alone =
            targets > 0 ? system_random(*state, trees[c].dtype, targets, trees[c].dimensions)
                        : system_copy(&sources);
        struct system shared = system_copy(&alone);
        kith_solver_report reports[2];
        kith_forces_options options = {.softening = trees[c].softening,
                                       .solver = solver_named(trees[c].solver),
                                       .accuracy.error = trees[c].error};
        for (int32_t peers = 0; peers <= 3; peers++) {
            kith_context *context = context_of(peers, NULL);
            struct system *s = peers == 0 ? &alone : &shared;
            options.report = &reports[peers > 0];
            for (int again = 0; again < 2; again++) {
                clear(s);
                assert_ok(kith_forces_compute(context, &options, targets > 0 ? POINTS(s->x) : NULL,
                                              PARTICLES_OF(&sources), s->a, s->phi));
                assert_same_forces(s, &alone);
                assert_true(reports[peers > 0].p2p_per_body == reports[0].p2p_per_body);
                assert_true(reports[peers > 0].m2l_per_body == reports[0].m2l_per_body);
            }
            kith_context_free(context);
        }
        system_free(&shared);
        system_free(&alone);
        system_free(&sources);
    }
}

/* Targets are divided again in each step. */
static void test_steps_by_trees_have_the_bits_of_one(void **state)
{
    const struct simulated_case the = {KITH_F32, 600001, 0, 3, common, "leapfrog"};
    kith_bodies *bodies = random_bodies(*state, &the), *ends[3] = {NULL};
    const kith_simulation_options options = {
        .dt = 1e-3,
        .precision = KITH_F32,
        .forces = {.softening = 0.01, .solver = solver_named("fmm"), .accuracy.error = 1e-3}};
    for (int32_t peers = 0; peers < 3 && !test_is_quick(); peers++) {
        kith_context *context = context_of(peers, NULL);
        kith_simulation *simulation = NULL;
        assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
        assert_ok(kith_simulation_step(simulation, 5));
        ends[peers] = state_of(simulation, bodies);
        assert_same_state(ends[peers], ends[0]);
        kith_simulation_free(simulation);
        kith_context_free(context);
    }
    for (int k = 0; k < 3; k++)
        kith_bodies_free(ends[k]);
    kith_bodies_free(bodies);
}

/* Before they begin; the context computes afterwards. */
static void test_trees_that_are_cancelled(void **state)
{
    struct system s = system_random(*state, KITH_F32, 600001, 3);
    kith_context *context = context_of(2, NULL);
    const kith_forces_options options = {.solver = solver_named("fmm"), .accuracy.error = 1e-3};
    kith_context_cancel(context);
    assert_int_equal(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&s), s.a, s.phi),
                     KITH_CANCELLED);
    kith_context_clear_cancel(context);
    system_compute(context, &options, &s);
    kith_context_free(context);
    system_free(&s);
}

/* Runs by a neighbor list of 524 288 particles or more; lists are made several times. */
static void test_steps_within_a_cutoff_have_the_bits_of_one(void **state)
{
    static const struct liquid_case runs[] = {
        {KITH_F32, "lennard-jones", 0, 81, 3, 1, 0, 0},
        {KITH_F64, "lennard-jones", 0, 81, 3, 1, 0, 0},
        {KITH_F32, "lennard-jones", 1, 82, 3, 1, 0, 0},
        {KITH_F32, "lennard-jones", 0, 725, 2, 1, 5, 0},
        {KITH_F32, "lennard-jones", 0, 81, 3, 1.7, 20, 0}, /* slabs are cut again */
        {KITH_F32, "yukawa:1", 0, 83, 3, 1, 0, 6000},      /* across more than a slab in a step */
        {KITH_F32, "lennard-jones", 0, 20, 3, 1, 0, 0},
    };
    for (size_t c = 0; c < sizeof runs / sizeof runs[0] && !test_is_quick(); c++) {
        /* Of nine devices ghosts are copied; of fewer, kernels write them. */
        static const int32_t peers[] = {0, 1, 2, 3, 8};
        enum { contexts = sizeof peers / sizeof peers[0] };
        kith_bodies *bodies = liquid(*state, &runs[c]), *ends[contexts];
        kith_law *law = NULL;
        assert_ok(kith_law_parse(runs[c].law, 0, NULL, &law));
        const kith_simulation_options options = liquid_options(&runs[c], law);
        for (int k = 0; k < contexts; k++) {
            kith_context *context = context_of(peers[k], NULL);
            kith_simulation *simulation = NULL;
            assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
            assert_ok(kith_simulation_step(simulation, 1));
            assert_ok(kith_simulation_step(simulation, 40));
            assert_ok(kith_simulation_step(simulation, 9));
            ends[k] = state_of(simulation, bodies);
            assert_same_state(ends[k], ends[0]);
            kith_simulation_free(simulation);
            kith_context_free(context);
        }
        for (int k = 0; k < contexts; k++)
            kith_bodies_free(ends[k]);
        kith_bodies_free(bodies);
        kith_law_free(law);
    }
}

static void test_invalid_numbers_are_reported_once(void **state)
{
    struct system s = system_random(*state, KITH_F64, 65537, 3), good = system_copy(&s);
    kith_context *context = context_of(1, NULL);
    const kith_forces_options options = {.softening = 0.01};
    put(s.x, 3 * 4711, (double)NAN);
    assert_fails(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&s), s.a, s.phi),
                 KITH_INVALID_ARGUMENT, "4711 nan");
    assert_ok(kith_context_synchronize(context));
    system_compute(context, &options, &good);
    kith_context_free(context);
    system_free(&good);
    system_free(&s);
}

static void test_peers_that_do_not_suit_are_refused(void **state)
{
    (void)state;
    const int32_t peers[] = {0, 1000};
    kith_context *context = new_gpu_context(NULL), *cpu = new_context(NULL, 1);
    assert_fails(kith_context_add_peers(context, peers, 2), KITH_NO_DEVICE, "cuda:1000");
    assert_fails(kith_context_add_peers(context, peers, -1), KITH_INVALID_ARGUMENT, "count -1");
    assert_fails(kith_context_add_peers(context, peers, 64), KITH_INVALID_ARGUMENT, "count 64");
    assert_fails(kith_context_add_peers(context, NULL, 1), KITH_INVALID_ARGUMENT, "peers NULL");
    assert_fails(kith_context_add_peers(NULL, peers, 1), KITH_INVALID_ARGUMENT, "context NULL");
    assert_fails(kith_context_add_peers(cpu, peers, 1), KITH_UNSUPPORTED, "context cpu");
    assert_ok(kith_context_add_peers(cpu, NULL, 0));
    assert_ok(kith_context_add_peers(context, peers, 1));
    assert_fails(kith_context_add_peers(context, peers, 1), KITH_INVALID_ARGUMENT, "context peers");
    kith_context_free(context);
    kith_context_free(cpu);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_peers"))
        return exit_skipped;
    struct random_numbers numbers = random_numbers_begin("several GPUs");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_forces_of_several_gpus_have_the_bits_of_one, &numbers),
        cmocka_unit_test_prestate(test_forces_of_several_gpus_are_those_of_one_sided_sums,
                                  &numbers),
        cmocka_unit_test_prestate(test_arrays_on_the_device_and_calls_one_after_another, &numbers),
        cmocka_unit_test_prestate(test_a_captured_call_has_the_same_bits, &numbers),
        cmocka_unit_test_prestate(test_a_simulation_by_several_gpus_has_the_bits_of_one, &numbers),
        cmocka_unit_test_prestate(test_a_simulation_goes_on_with_another_number_of_gpus, &numbers),
        cmocka_unit_test_prestate(test_trees_of_several_gpus_have_the_bits_of_one, &numbers),
        cmocka_unit_test_prestate(test_steps_by_trees_have_the_bits_of_one, &numbers),
        cmocka_unit_test_prestate(test_trees_that_are_cancelled, &numbers),
        cmocka_unit_test_prestate(test_steps_within_a_cutoff_have_the_bits_of_one, &numbers),
        cmocka_unit_test_prestate(test_invalid_numbers_are_reported_once, &numbers),
        cmocka_unit_test(test_peers_that_do_not_suit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
