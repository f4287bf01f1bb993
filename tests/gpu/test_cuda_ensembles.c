/* Planetary systems on the GPU: whfast of one system and of ensembles, against the CPU's. */

#include "fields.h"
#include "gpu_simulating.h"

enum { most_systems = 64 };

struct planets_case {
    int64_t planets, systems;
    bool some_massless, some_leave;
    double most_e; /* eccentricity of the first planet */
};

static kith_simulation_options whfast(double dt, int32_t corrector, const char *kernel)
{
    return (kith_simulation_options){
        .dt = dt, .integrator = "whfast", .corrector = corrector, .kernel = kernel};
}

/* Every coordinates, corrector and kernel comes up for some k. */
static kith_simulation_options options_at(int64_t k)
{
    static const char *const kernels[] = {NULL, "lazy", "modified-kick", "composition"};
    static const int32_t correctors[] = {0, 3, 5, 7, 11, 17};
    kith_simulation_options options = whfast(0.1, correctors[k % 6], kernels[k % 4]);
    if (k % 5 == 4)
        options = (kith_simulation_options){
            .dt = 0.1, .integrator = "whfast", .coordinates = "democratic-heliocentric"};
    return options;
}

static void place(struct random_numbers *random, double star, double a, double e, double *x,
                  double *v)
{
    const kith_orbit orbit = {.a = a,
                              .e = e,
                              .i = random_uniform(random, 0, 0.1),
                              .Omega = random_uniform(random, 0, 6),
                              .omega = random_uniform(random, 0, 6),
                              .M = random_uniform(random, 0.5, 5.5)};
    assert_ok(kith_orbit_place(star, &orbit, x, v));
}

/* Planets on orbits that do not cross, the first on one of any eccentricity; where some leave, the
 * last is on a hyperbola. Many are light and close together, so that distances are of one size. */
static kith_bodies *random_planets(struct random_numbers *random, const struct planets_case *the)
{
    kith_bodies *bodies = NULL;
    const int64_t count = the->planets + 1;
    const bool are_many = count > 12;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    double a = 1;
    bodies->mass[0] = random_uniform(random, 0.5, 2);
    for (int c = 0; c < 3; c++) {
        bodies->position[c] = random_uniform(random, -1, 1);
        bodies->velocity[c] = random_uniform(random, -1, 1);
    }
    for (int64_t i = 1; i < count; i++) {
        const bool leaves = the->some_leave && i + 1 == count;
        const double e = leaves   ? random_uniform(random, 1.1, 2)
                         : i == 1 ? random_uniform(random, 0, the->most_e)
                                  : random_uniform(random, 0, are_many ? 0.02 : 0.1);
        double *x = bodies->position + 3 * i, *v = bodies->velocity + 3 * i;
        place(random, bodies->mass[0], leaves ? -3 * a : a, e, x, v);
        for (int c = 0; c < 3; c++) {
            x[c] += bodies->position[c];
            v[c] += bodies->velocity[c];
        }
        const double mass = random_uniform(random, 1e-6, 1e-4);
        bodies->mass[i] = the->some_massless && i % 3 == 2 ? 0 : are_many ? 1e-3 * mass : mass;
        a *= are_many ? random_uniform(random, 1.06, 1.1) : random_uniform(random, 1.4, 1.7);
        a *= i == 1 ? 1 + the->most_e : 1;
    }
    return bodies;
}

static kith_bodies *random_systems(struct random_numbers *random, const struct planets_case *the,
                                   kith_bodies **each)
{
    kith_bodies *all = NULL;
    for (int64_t s = 0; s < the->systems; s++)
        each[s] = random_planets(random, the);
    assert_ok(kith_ensemble_join(the->systems, (const kith_bodies *const *)each, &all));
    return all;
}

static kith_bodies *random_ensemble(struct random_numbers *random, const struct planets_case *the)
{
    kith_bodies *each[most_systems];
    kith_bodies *all = random_systems(random, the, each);
    for (int64_t s = 0; s < the->systems; s++)
        kith_bodies_free(each[s]);
    return all;
}

/* The largest difference of a coordinate, as a fraction of the body's distance from the origin or
 * of 1. */
static double largest_difference(const kith_bodies *a, const kith_bodies *b)
{
    double largest = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const double size = fmax(1, length_of(b->position + 3 * i));
        for (int c = 0; c < 3; c++) {
            const double off = fabs(a->position[3 * i + c] - b->position[3 * i + c]) / size;
            largest = !(off <= largest) ? off : largest;
        }
    }
    return largest;
}

/* Rounding alone differs: after some steps in what a time of some periods makes of it. */
static void test_ensembles_agree_with_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    double largest = 0;
    const int64_t most = test_is_quick() ? 3 : 63;
    for (int64_t planets = 0; planets <= most; planets += planets < 12 ? 1 : 17)
        for (int k = 0; k < (test_is_quick() ? 5 : 12); k++) {
            const struct planets_case the = {.planets = planets,
                                             .systems =
                                                 1 + 2 * (int64_t)random_uniform(random, 0, 31),
                                             .some_massless = k % 2,
                                             .some_leave = k % 3 == 1,
                                             .most_e = k % 4 == 3 ? 0.9 : 0.3};
            const kith_simulation_options options = options_at(k);
            kith_bodies *bodies = random_ensemble(random, &the);
            kith_simulation *found = ensemble_of(gpu, the.systems, bodies, options);
            kith_simulation *expected = ensemble_of(cpu, the.systems, bodies, options);
            assert_ok(kith_simulation_step(found, 30));
            assert_ok(kith_simulation_step_by(found, -0.07));
            assert_ok(kith_simulation_step(found, 10));
            assert_ok(kith_simulation_step(expected, 30));
            assert_ok(kith_simulation_step_by(expected, -0.07));
            assert_ok(kith_simulation_step(expected, 10));
            kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
            const double off = largest_difference(a, b);
            largest = worse_of(largest, off);
            if (!(off < 1e-12))
                fail_msg("%lld systems of %lld planets, case %d: off by %g", (long long)the.systems,
                         (long long)planets, k, off);
            assert_true(a->time == b->time);
            free_both(found, expected, a, b);
            kith_bodies_free(bodies);
        }
    print_message("largest difference %.2g\n", largest);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_systems_have_the_bits_that_they_have_alone(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    for (int k = 0; k < (test_is_quick() ? 5 : 12); k++) {
        const struct planets_case the = {.planets = k < 10 ? k : 12 * k - 100,
                                         .systems = 7,
                                         .some_massless = k % 2,
                                         .most_e = 0.5};
        const kith_simulation_options options = options_at(k);
        kith_bodies *each[most_systems], *all = random_systems(random, &the, each);
        kith_simulation *many = ensemble_of(gpu, the.systems, all, options);
        assert_ok(kith_simulation_step(many, 25));
        kith_bodies *found = state_of(many, all);
        for (int64_t s = 0; s < the.systems; s++) {
            kith_simulation *alone = simulated(gpu, each[s], options);
            assert_ok(kith_simulation_step(alone, 25));
            kith_bodies *expected = state_of(alone, each[s]);
            const kith_bodies of_all = kith_ensemble_system(found, the.systems, s);
            const size_t bytes = (size_t)(3 * expected->count) * sizeof(double);
            assert_memory_equal(of_all.position, expected->position, bytes);
            assert_memory_equal(of_all.velocity, expected->velocity, bytes);
            kith_bodies_free(expected);
            kith_simulation_free(alone);
            kith_bodies_free(each[s]);
        }
        kith_bodies_free(found);
        kith_simulation_free(many);
        kith_bodies_free(all);
    }
    kith_context_free(gpu);
}

static void test_calls_and_checkpoints_do_not_change_bits(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    for (int k = 0; k < (test_is_quick() ? 5 : 12); k++) {
        const struct planets_case the = {
            .planets = 1 + k, .systems = 33, .some_massless = true, .most_e = 0.9};
        const kith_simulation_options options = options_at(k);
        kith_bodies *bodies = random_ensemble(random, &the);
        kith_simulation *through = ensemble_of(gpu, the.systems, bodies, options);
        kith_simulation *first = ensemble_of(gpu, the.systems, bodies, options);
        kith_simulation *second = ensemble_of(gpu, the.systems, bodies, options);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_step(through, 50));
        for (int step = 0; step < 20; step++)
            assert_ok(kith_simulation_step(first, 1));
        assert_ok(kith_simulation_save(first, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_step(second, 30));
        kith_bodies *a = state_of(through, bodies), *b = state_of(second, bodies);
        assert_same_state(a, b);
        kith_checkpoint_free(&checkpoint);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(through);
        kith_simulation_free(first);
        kith_simulation_free(second);
        kith_bodies_free(bodies);
    }
    kith_context_free(gpu);
}

static kith_simulation_options outer_planets(double dt, int32_t corrector, const char *kernel)
{
    kith_simulation_options options = whfast(dt, corrector, kernel);
    options.forces.gravitational_constant = g_of_gauss;
    return options;
}

static void test_steps_undo_themselves_backwards(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation_options options[] = {outer_planets(200, 0, NULL), outer_planets(200, 7, "lazy"),
                                         outer_planets(200, 11, "composition"),
                                         outer_planets(200, 0, NULL)};
    options[3].coordinates = "democratic-heliocentric";
    for (int k = 0; k < 4; k++) {
        kith_simulation *simulation = simulated(gpu, bodies, options[k]);
        const int steps = test_is_quick() ? 20 : 500;
        assert_ok(kith_simulation_step(simulation, steps));
        kith_bodies *there = state_of(simulation, bodies);
        for (int step = 0; step < steps; step++)
            assert_ok(kith_simulation_step_by(simulation, -200));
        kith_bodies *back = state_of(simulation, bodies);
        assert_true(distance_of_states(there, bodies) > 1);
        if (!(distance_of_states(back, bodies) < 1e-10))
            fail_msg("%d: %g from the start", k, distance_of_states(back, bodies));
        kith_bodies_free(there);
        kith_bodies_free(back);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

/* Rounding alone is left of the errors. */
static void test_the_outer_planets_keep_energy_and_angular_momentum(void **state)
{
    (void)state;
    const double years = test_is_quick() ? 100 : 20000;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation *simulation = simulated(gpu, bodies, outer_planets(10, 17, "lazy"));
    const kith_diagnostics before = diagnosed(simulation);
    double largest = 0, turned = 0;
    for (int k = 0; k < 20; k++) {
        assert_ok(kith_simulation_step(simulation, (int64_t)(years * 365.25 / 10 / 20)));
        const kith_diagnostics now = diagnosed(simulation);
        largest = worse_of(largest, fabs(now.total_energy / before.total_energy - 1));
        turned = worse_of(
            turned, fabs(length_of(now.angular_momentum) / length_of(before.angular_momentum) - 1));
    }
    print_message("errors of energy %.2g and angular momentum %.2g after %g years\n", largest,
                  turned, years);
    assert_true(largest < 1e-14);
    assert_true(turned < 1e-14);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

static void assert_cannot(kith_context *context, const kith_bodies *bodies,
                          kith_simulation_options options, kith_status expected, const char *fields)
{
    kith_simulation *simulation = NULL;
    assert_int_equal(kith_simulation_create(context, &options, bodies, &simulation), expected);
    assert_null(simulation);
    if (!has_fields(kith_error_message(), fields))
        fail_msg("'%s' has not '%s'", kith_error_message(), fields);
}

/* Planets, and many bodies without mass beyond them. */
static kith_bodies *random_swarm(struct random_numbers *random, int64_t planets, int64_t count)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    bodies->mass[0] = random_uniform(random, 0.5, 2);
    for (int c = 0; c < 3; c++)
        bodies->velocity[c] = random_uniform(random, -1, 1);
    for (int64_t i = 1; i < count; i++) {
        bodies->mass[i] = i <= planets ? random_uniform(random, 1e-9, 1e-7) : 0;
        place(random, bodies->mass[0], random_uniform(random, 1, 50),
              random_uniform(random, 0, 0.3), bodies->position + 3 * i, bodies->velocity + 3 * i);
        for (int c = 0; c < 3; c++)
            bodies->velocity[3 * i + c] += bodies->velocity[c];
    }
    return bodies;
}

/* In parts that all planets with mass lead: also of one, of none, of the most, and with some
 * without mass between them; the last part is not full. */
static void test_swarms_agree_with_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    static const int64_t planets[] = {4, 0, 1, 32, 7, 13, 2, 20, 3, 9};
    static const int64_t counts[] = {66, 1000, 65, 4097, 777, 1234, 10001, 300, 8193, 2049};
    for (int64_t k = 0; k < 20; k++) {
        const int64_t count = counts[(k + k / 10) % 10];
        const kith_simulation_options options = options_at(k);
        kith_bodies *bodies = random_swarm(random, planets[k % 10], count);
        if (planets[k % 10] > 4)
            bodies->mass[3] = 0;
        kith_simulation *found = simulated(gpu, bodies, options);
        kith_simulation *again = simulated(gpu, bodies, options);
        kith_simulation *expected = simulated(cpu, bodies, options);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_step(found, 17));
        assert_ok(kith_simulation_step(found, 3));
        assert_ok(kith_simulation_step(again, 11));
        assert_ok(kith_simulation_save(again, &checkpoint));
        kith_simulation_free(again);
        again = simulated(gpu, bodies, options);
        assert_ok(kith_simulation_restore(again, &checkpoint));
        assert_ok(kith_simulation_step(again, 9));
        assert_ok(kith_simulation_step(expected, 20));
        assert_ok(kith_simulation_step_by(found, 0.03));
        assert_ok(kith_simulation_step_by(again, 0.03));
        assert_ok(kith_simulation_step_by(expected, 0.03));
        kith_bodies *a = state_of(found, bodies), *b = state_of(again, bodies);
        kith_bodies *c = state_of(expected, bodies);
        assert_same_state(a, b);
        const double off = largest_difference(a, c);
        if (!(off < 1e-9))
            fail_msg("%d planets, %d bodies: off by %g", (int)planets[k % 10], (int)count, off);
        kith_bodies *const all[] = {bodies, a, b, c};
        for (int m = 0; m < 4; m++)
            kith_bodies_free(all[m]);
        kith_checkpoint_free(&checkpoint);
        kith_simulation_free(found);
        kith_simulation_free(again);
        kith_simulation_free(expected);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_what_a_gpu_cannot_do_is_said(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    const struct planets_case few = {.planets = 3}, many = {.planets = 64};
    kith_bodies *bodies = random_planets(random, &few), *crowd = random_planets(random, &many);
    kith_simulation_options options = whfast(0.1, 0, NULL);
    assert_cannot(gpu, crowd, options, KITH_UNSUPPORTED, "whfast 65 64 33");
    options.precision = KITH_F32;
    assert_cannot(gpu, bodies, options, KITH_UNSUPPORTED, "whfast precision");
    options = whfast(0.1, 0, NULL);
    options.forces.softening = 0.1;
    assert_cannot(gpu, bodies, options, KITH_UNSUPPORTED, "softening 0.1");
    options = (kith_simulation_options){.dt = 0.1, .integrator = "hybrid"};
    assert_cannot(gpu, bodies, options, KITH_UNSUPPORTED, "hybrid GPU");
    options = whfast(0.1, 0, NULL);
    memcpy(bodies->position + 6, bodies->position, 3 * sizeof(double));
    assert_cannot(gpu, bodies, options, KITH_INVALID_ARGUMENT, "body 2 0");
    kith_bodies_free(bodies);
    kith_bodies_free(crowd);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_ensembles"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_ensembles");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_ensembles_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_systems_have_the_bits_that_they_have_alone, &random),
        cmocka_unit_test_prestate(test_calls_and_checkpoints_do_not_change_bits, &random),
        cmocka_unit_test(test_steps_undo_themselves_backwards),
        cmocka_unit_test(test_the_outer_planets_keep_energy_and_angular_momentum),
        cmocka_unit_test_prestate(test_swarms_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_what_a_gpu_cannot_do_is_said, &random),
    };
    return cmocka_run_group_tests_name("cuda_ensembles", tests, NULL, NULL);
}
