/* The solvers tree, fmm and auto, as users call them. */

#include "testing.h"

#include <pthread.h>

#include "forces/advice.h"
#include "tree_scene.h"
#include "tree_weights.h"

static struct tree_scene scene;

/* Rows of places, and weights as masses and as charges. */
struct inputs {
    double position[scene_most][3], mass[scene_most];
    kith_particles particles;
};

static void fill(struct inputs *inputs, struct random_numbers *numbers, const char *kind, int64_t n)
{
    scene_fill(&scene, numbers, kind, 3, n);
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++)
            inputs->position[i][c] = scene.x[c][i];
        inputs->mass[i] = fabs(scene.weight[i]);
    }
    inputs->particles =
        (kith_particles){.positions = kith_array_matrix(inputs->position, KITH_F64, n, 3),
                         .columns = {{"m", kith_array_vector(inputs->mass, KITH_F64, n)},
                                     {"q", kith_array_vector(scene.weight, KITH_F64, n)}}};
}

struct outputs {
    double a[scene_most][3], potential[scene_most];
};

static kith_status compute(kith_context *context, const kith_forces_options *options,
                           const kith_particles *targets, const kith_particles *sources, int64_t n,
                           struct outputs *outputs)
{
    return kith_forces_compute(context, options, targets, sources,
                               kith_array_matrix(outputs->a, KITH_F64, n, 3),
                               kith_array_vector(outputs->potential, KITH_F64, n));
}

/* rms of the differences over the rms of what is expected. */
static double difference(const struct outputs *a, const struct outputs *expected, int64_t n)
{
    double wrong = 0, all = 0;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            wrong += pow(a->a[i][c] - expected->a[i][c], 2);
            all += pow(expected->a[i][c], 2);
        }
    return sqrt(wrong / all);
}

static struct inputs sources, targets;
static struct outputs found, expected;

static void check_law(kith_context *context, const char *law_text, const kith_particles *of,
                      int64_t n, double softening)
{
    static const char *const names[] = {"tree", "fmm"};
    kith_law *law = NULL;
    if (law_text)
        assert_ok(kith_law_parse(law_text, 0, NULL, &law));
    kith_forces_options options = {.law = law, .softening = softening};
    assert_ok(compute(context, &options, of, &sources.particles, n, &expected));
    for (int k = 0; k < 2; k++) {
        options.solver = solver_named(names[k]);
        options.accuracy.error = 1e-7;
        assert_ok(compute(context, &options, of, &sources.particles, n, &found));
        assert_true(difference(&found, &expected, n) < 1e-6);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(found.potential[i] - expected.potential[i]) <=
                        1e-6 * fmax(fabs(expected.potential[i]), 1e-3));
    }
    kith_law_free(law);
}

static void test_gravity_and_coulomb_agree_with_the_direct_sum(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_gravity_and_coulomb_agree");
    kith_context *context = new_context(NULL, 2);
    fill(&targets, &numbers, "cube", 500);
    fill(&sources, &numbers, "charges", 4000);
    check_law(context, NULL, NULL, 4000, 0);
    check_law(context, NULL, NULL, 4000, 0.01);
    check_law(context, "coulomb", NULL, 4000, 0);
    check_law(context, NULL, &targets.particles, 500, 0);
    kith_context_free(context);
}

/* ε² of a pair is the mean of both. */
static void test_tree_takes_softening_lengths_of_bodies(void **state)
{
    (void)state;
    enum { n = 4000, n_targets = 500 };
    static double length[n], length_of_targets[n_targets];
    struct random_numbers numbers = random_numbers_begin("test_softening_lengths_of_bodies");
    kith_context *context = new_context(NULL, 2);
    fill(&targets, &numbers, "cube", n_targets);
    fill(&sources, &numbers, "charges", n);
    for (int64_t i = 0; i < n; i++)
        length[i] = length_of_targets[i % n_targets] = pow(10, random_uniform(&numbers, -3, -1));
    sources.particles.columns[2] =
        (kith_particle_column){"softening", kith_array_vector(length, KITH_F64, n)};
    targets.particles.columns[2] = (kith_particle_column){
        "softening", kith_array_vector(length_of_targets, KITH_F64, n_targets)};
    for (int apart = 0; apart < 2; apart++) {
        const kith_particles *of = apart ? &targets.particles : NULL;
        const int64_t count = apart ? n_targets : n;
        kith_forces_options options = {.solver = solver_named("reference")};
        assert_ok(compute(context, &options, of, &sources.particles, count, &expected));
        options.solver = solver_named("tree");
        options.accuracy.error = 1e-4;
        assert_ok(compute(context, &options, of, &sources.particles, count, &found));
        assert_true(difference(&found, &expected, count) < 1e-4);
        options.solver = NULL; /* auto */
        assert_ok(compute(context, &options, of, &sources.particles, count, &found));
        assert_true(difference(&found, &expected, count) < 1e-12);
    }
    kith_context_free(context);
}

static void test_auto_is_direct_for_few_bodies_and_reports_its_choice(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_auto_is_direct_for_few");
    kith_context *context = new_context(NULL, 2);
    kith_solver_report report = {0};
    kith_forces_options options = {.accuracy = {.error = 1e-3}, .report = &report};
    fill(&sources, &numbers, "cube", 100);
    assert_ok(compute(context, &options, NULL, &sources.particles, 100, &found));
    assert_string_equal(kith_solver_describe(report.solver).name, "direct");
    fill(&sources, &numbers, "cube", 100);
    options.solver = solver_named("fmm");
    assert_ok(compute(context, &options, NULL, &sources.particles, 100, &found));
    assert_string_equal(kith_solver_describe(report.solver).name, "fmm");
    assert_true(report.error_requested == 1e-3 && report.order > 0 && report.p2p_per_body > 0);
    kith_context_free(context);
}

/* k q_i q_j ln s with the force k q_i q_j d / s² on i. */
static void test_log2d_is_a_law_of_the_plane(void **state)
{
    (void)state;
    static const char *const solvers[] = {"reference", "tree", "fmm"};
    enum { n = 3000 };
    static double x[n][2], a[2][n][2], potential[2][n];
    const kith_law_parameter strength = {"k", 2};
    kith_context *context = new_context(NULL, 2);
    kith_law *law = NULL;
    assert_ok(kith_law_parse("log2d", 1, &strength, &law));
    struct random_numbers numbers = random_numbers_begin("test_log2d");
    scene_fill(&scene, &numbers, "charges", 2, n);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++)
            x[i][c] = scene.x[c][i];
    const kith_particles particles = {
        .positions = kith_array_matrix(x, KITH_F64, n, 2),
        .columns = {{"q", kith_array_vector(scene.weight, KITH_F64, n)}}};
    for (int k = -1; k < 3; k++) {
        const kith_forces_options options = {.law = law,
                                             .solver = k < 0 ? NULL : solver_named(solvers[k]),
                                             .accuracy.error = k < 0 ? 0 : 1e-6};
        const int to = k < 0 ? 0 : 1;
        assert_ok(kith_forces_compute(context, &options, NULL, &particles,
                                      kith_array_matrix(a[to], KITH_F64, n, 2),
                                      kith_array_vector(potential[to], KITH_F64, n)));
        double wrong = 0, all = 0, wrong_potential = 0, all_potential = 0;
        for (int64_t i = 0; i < n && to == 1; i++) {
            wrong += pow(a[1][i][0] - a[0][i][0], 2) + pow(a[1][i][1] - a[0][i][1], 2);
            all += pow(a[0][i][0], 2) + pow(a[0][i][1], 2);
            wrong_potential += pow(potential[1][i] - potential[0][i], 2);
            all_potential += pow(potential[0][i], 2);
        }
        assert_true(wrong <= 1e-11 * all && wrong_potential <= 1e-9 * all_potential);
    }
    kith_law_free(law);
    kith_context_free(context);
}

static void test_log2d_is_refused_in_space(void **state)
{
    (void)state;
    static const char words[] = "law log2d 3 log2d";
    kith_context *context = new_context(NULL, 2);
    kith_law *law = NULL;
    kith_bodies *bodies = NULL;
    kith_simulation *simulation = NULL;
    double matrix[9], x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    struct outputs *out = &found;
    assert_ok(kith_law_parse("log2d", 0, NULL, &law));
    assert_ok(kith_initial_make("plummer", &(kith_initial_options){.count = 3}, &bodies));
    const kith_particles rows = {.positions = kith_array_matrix(x, KITH_F64, 3, 3)};
    assert_fails(compute(context, &(kith_forces_options){.law = law}, NULL, &rows, 3, out),
                 KITH_INVALID_ARGUMENT, words);
    assert_fails(kith_matrix_compute(context, law, NULL, &rows, NULL,
                                     kith_array_matrix(matrix, KITH_F64, 3, 3)),
                 KITH_INVALID_ARGUMENT, words);
    const kith_simulation_options options = {.dt = 0.1, .forces.law = law};
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, words);
    kith_bodies_free(bodies);
    kith_law_free(law);
    kith_context_free(context);
}

static kith_status attempt(kith_context *context, kith_forces_options options, const char *solver)
{
    options.solver = solver_named(solver);
    return compute(context, &options, NULL, &sources.particles, 100, &found);
}

static void test_what_a_tree_cannot_do_is_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_what_a_tree_cannot_do");
    kith_context *context = new_context(NULL, 2);
    kith_law *law = NULL, *yukawa = NULL;
    assert_ok(kith_law_parse("expr:(m_i + m_j) / r", 0, NULL, &law));
    assert_ok(kith_law_parse("yukawa:1", 0, NULL, &yukawa));
    fill(&sources, &numbers, "cube", 100);
    assert_fails(attempt(context, (kith_forces_options){.law = law}, "fmm"), KITH_UNSUPPORTED,
                 "solver fmm");
    assert_fails(attempt(context, (kith_forces_options){.accuracy = {.error = 1e-15}}, "tree"),
                 KITH_INVALID_ARGUMENT, "error 1e-15 1e-13");
    assert_fails(attempt(context, (kith_forces_options){.accuracy = {.error = -1}}, "fmm"),
                 KITH_INVALID_ARGUMENT, "error -1 0");
    assert_fails(attempt(context, (kith_forces_options){.accuracy = {.theta = 1}}, "fmm"),
                 KITH_INVALID_ARGUMENT, "theta 1 0 1");
    assert_fails(
        attempt(context, (kith_forces_options){.accuracy = {.error = 1e-3, .theta = 0.5}}, "fmm"),
        KITH_INVALID_ARGUMENT, "");
    assert_fails(attempt(context, (kith_forces_options){.accuracy = {.order = 21}}, "fmm"),
                 KITH_INVALID_ARGUMENT, "order 21 1 20");
    sources.particles.columns[2] =
        (kith_particle_column){"softening", kith_array_vector(sources.mass, KITH_F64, 100)};
    assert_fails(attempt(context, (kith_forces_options){0}, "fmm"), KITH_UNSUPPORTED,
                 "fmm softening");
    assert_fails(attempt(context, (kith_forces_options){.accuracy.order = 4}, "tree"),
                 KITH_UNSUPPORTED, "order 4 softening");
    assert_fails(attempt(context, (kith_forces_options){.law = yukawa}, "tree"), KITH_UNSUPPORTED,
                 "tree softening");
    sources.particles.columns[2] = (kith_particle_column){0};
    sources.position[3][1] = NAN;
    assert_fails(attempt(context, (kith_forces_options){0}, "fmm"), KITH_INVALID_ARGUMENT, "3");
    kith_law_free(yukawa);
    kith_law_free(law);
    kith_context_free(context);
}

static void note_advice(void *user, const kith_solver_advice *advice)
{
    kith_solver_advice *last = user;
    *last = *advice;
}

/* What is advised for gravity of n bodies, or none. */
static kith_solver_advice advice_for(const kith_context *context, int64_t n,
                                     kith_forces_options options, struct forces_problem problem)
{
    kith_solver_advice advice = {0};
    double place = 0;
    options.advise = note_advice;
    options.advise_user = &advice;
    problem.dtype = KITH_F64;
    problem.dimensions = 3;
    problem.self = true;
    problem.target_count = problem.source_count = n;
    problem.source_mass = problem.potential = &place;
    forces_advise(context, &options, &problem);
    return advice;
}

static void test_what_is_five_times_as_fast_is_advised(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 2);
    kith_law *law = NULL;
    double rate = 0;
    assert_ok(kith_law_parse("sum", 0, NULL, &law));
    const kith_forces_options open = {0}, accurate = {.accuracy.error = 1e-3},
                              chosen = {.solver = solver_named("direct")}, within = {.cutoff = 1},
                              by_method = {.method = KITH_FORCES_SYMMETRIC};
    const struct forces_problem plain = {0}, of_law = {.law = law},
                                derived = {.potential_rate = &rate};
    const kith_solver_advice advice = advice_for(context, 1000000, open, plain);
    assert_ptr_equal(advice.solver, solver_named("fmm"));
    assert_true(advice.error == 1e-4);
    assert_true(advice.seconds > 0 && advice.direct_seconds >= 5 * advice.seconds);
    assert_null(advice_for(context, 1000, open, plain).solver);
    assert_null(advice_for(context, 1000000, accurate, plain).solver);
    assert_null(advice_for(context, 1000000, chosen, plain).solver);
    assert_null(advice_for(context, 1000000, by_method, plain).solver);
    assert_null(advice_for(context, 1000000, within, plain).solver);
    assert_null(advice_for(context, 1000000, open, of_law).solver);
    assert_null(advice_for(context, 1000000, open, derived).solver);
    kith_law_free(law);
    kith_context_free(context);
}

struct stopping {
    kith_context *context;
    kith_solver_advice advice;
    int calls;
};

static void note_and_stop(void *user, const kith_solver_advice *advice)
{
    struct stopping *stopping = user;
    stopping->advice = *advice;
    stopping->calls++;
    kith_context_cancel(stopping->context);
}

static void test_a_simulation_advises_once_before_it_evaluates(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    kith_simulation *simulation = NULL;
    struct stopping stopping = {.context = new_context(NULL, 2)};
    const kith_simulation_options options = {
        .dt = 0.01, .forces = {.advise = note_and_stop, .advise_user = &stopping}};
    assert_ok(kith_initial_make("uniform-cube", &(kith_initial_options){.count = 200000, .seed = 1},
                                &bodies));
    assert_fails(kith_simulation_create(stopping.context, &options, bodies, &simulation),
                 KITH_CANCELLED, "cancelled");
    assert_ptr_equal(stopping.advice.solver, solver_named("fmm"));
    assert_int_equal(stopping.calls, 1);
    kith_bodies_free(bodies);
    kith_context_free(stopping.context);
}

/* Particles of either precision, in 2D or 3D. */
struct numbers_of {
    double position[3 * scene_most], mass[scene_most], result[4 * scene_most];
    float position_float[3 * scene_most], mass_float[scene_most], result_float[4 * scene_most];
};

static kith_particles particles_of(struct numbers_of *of, struct random_numbers *numbers,
                                   kith_dtype dtype, int64_t n, int64_t width)
{
    const bool is_double = dtype == KITH_F64;
    for (int64_t i = 0; i < width * n; i++)
        of->position_float[i] = (float)(of->position[i] = random_uniform(numbers, -1, 1));
    for (int64_t i = 0; i < n; i++)
        of->mass_float[i] = (float)(of->mass[i] = random_uniform(numbers, 0, 1));
    return (kith_particles){
        .positions = kith_array_matrix(
            is_double ? (void *)of->position : (void *)of->position_float, dtype, n, width),
        .columns = {{"m", kith_array_vector(is_double ? (void *)of->mass : (void *)of->mass_float,
                                            dtype, n)}}};
}

static void compute_either(kith_context *context, const kith_forces_options *options,
                           const kith_particles *targets_of, const kith_particles *sources_of,
                           struct numbers_of *to)
{
    const kith_array *x = targets_of ? &targets_of->positions : &sources_of->positions;
    void *result = x->dtype == KITH_F64 ? (void *)to->result : (void *)to->result_float;
    memset(to->result, 0, sizeof to->result);
    memset(to->result_float, 0, sizeof to->result_float);
    assert_ok(kith_forces_compute(
        context, options, targets_of, sources_of,
        kith_array_matrix(result, x->dtype, x->shape[0], x->shape[1]),
        kith_array_vector((char *)result + 3 * x->shape[0] * kith_dtype_bytes(x->dtype), x->dtype,
                          x->shape[0])));
}

/* A context keeps the memory of small trees for the next call, of any other problem. */
static void test_the_calls_before_change_no_bit(void **state)
{
    (void)state;
    static struct numbers_of of_sources, of_targets, kept, fresh;
    struct random_numbers numbers = random_numbers_begin("test_the_calls_before_change_no_bit");
    kith_context *context = new_context(NULL, 2);
    for (int turn = 0; turn < 80; turn++) {
        const kith_dtype dtype = random_uniform(&numbers, 0, 1) < 0.5 ? KITH_F32 : KITH_F64;
        const int64_t width = random_uniform(&numbers, 0, 1) < 0.3 ? 2 : 3;
        const int64_t n = (int64_t)pow(10, random_uniform(&numbers, 0, 3.5));
        const int64_t m = (int64_t)pow(10, random_uniform(&numbers, 0, 3.5));
        const bool self = random_uniform(&numbers, 0, 1) < 0.6;
        const kith_particles sources_of = particles_of(&of_sources, &numbers, dtype, n, width);
        const kith_particles targets_of = particles_of(&of_targets, &numbers, dtype, m, width);
        const kith_forces_options options = {
            .solver = solver_named(random_uniform(&numbers, 0, 1) < 0.3 ? "tree" : "fmm"),
            .softening = random_uniform(&numbers, 0, 1) < 0.3 ? 0.01 : 0,
            .accuracy.error = pow(10, random_uniform(&numbers, dtype == KITH_F64 ? -9 : -5, -1))};
        kith_context *other = new_context(NULL, 2);
        compute_either(context, &options, self ? NULL : &targets_of, &sources_of, &kept);
        compute_either(other, &options, self ? NULL : &targets_of, &sources_of, &fresh);
        assert_memory_equal(kept.result, fresh.result, sizeof kept.result);
        assert_memory_equal(kept.result_float, fresh.result_float, sizeof kept.result_float);
        kith_context_free(other);
    }
    kith_context_free(context);
}

static void test_weights_may_have_any_size(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_weights_may_have_any_size");
    kith_context *context = new_context(NULL, 2);
    check_weights_of_any_size(context, &numbers);
    kith_context_free(context);
}

/* At high orders, whose tables are larger than what is left of a stack of 512 kB, as threads of
 * macOS have. */
static void *compute_here(void *unused)
{
    kith_context *context = new_context(NULL, 1);
    const kith_forces_options options = {.solver = solver_named("fmm"), .accuracy.error = 1e-12};
    assert_ok(compute(context, &options, NULL, &sources.particles, 3000, &found));
    kith_context_free(context);
    return unused;
}

static void test_a_thread_with_a_small_stack_is_enough(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    struct random_numbers numbers = random_numbers_begin("test_a_thread_with_a_small_stack");
    (void)state;
    fill(&sources, &numbers, "plummer", 3000);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attributes, compute_here, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravity_and_coulomb_agree_with_the_direct_sum),
        cmocka_unit_test(test_tree_takes_softening_lengths_of_bodies),
        cmocka_unit_test(test_auto_is_direct_for_few_bodies_and_reports_its_choice),
        cmocka_unit_test(test_what_a_tree_cannot_do_is_refused),
        cmocka_unit_test(test_log2d_is_a_law_of_the_plane),
        cmocka_unit_test(test_log2d_is_refused_in_space),
        cmocka_unit_test(test_what_is_five_times_as_fast_is_advised),
        cmocka_unit_test(test_a_simulation_advises_once_before_it_evaluates),
        cmocka_unit_test(test_the_calls_before_change_no_bit),
        cmocka_unit_test(test_weights_may_have_any_size),
        cmocka_unit_test(test_a_thread_with_a_small_stack_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
