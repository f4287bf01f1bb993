#include "simulating.h"

#include "core/isa.h"
#include "core/memory.h"
#include "random_numbers.h"
#include "simulation/diagnostics.h"
#include "simulation/frame.h"

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", found, tolerance, expected);
}

static kith_bodies *bodies_of(int64_t count, int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, dimensions, KITH_VELOCITY | KITH_MASS, &bodies));
    return bodies;
}

/* The diagnostics of bodies at rest in time. */
static kith_diagnostics diagnostics_of(const kith_bodies *bodies, kith_simulation_options options)
{
    kith_context *context = cpu_context(1);
    options.dt = 1;
    kith_simulation *simulation = simulated(context, bodies, options);
    const kith_diagnostics diagnostics = diagnosed(simulation);
    kith_simulation_free(simulation);
    kith_context_free(context);
    return diagnostics;
}

static void test_two_bodies_have_the_energy_and_momenta_of_the_formulas(void **state)
{
    (void)state;
    kith_bodies *bodies = bodies_of(2, 3);
    bodies->mass[0] = 3, bodies->mass[1] = 5;
    bodies->position[0] = 1, bodies->position[4] = 4, bodies->position[5] = 12;
    bodies->velocity[1] = 2, bodies->velocity[5] = -1;
    const double g = 7, r2 = 1 + 16 + 144;
    const kith_diagnostics d =
        diagnostics_of(bodies, (kith_simulation_options){.forces.gravitational_constant = g});

    assert_near(d.kinetic_energy, 0.5 * 3 * 4 + 0.5 * 5 * 1, 1e-14);
    assert_near(d.potential_energy, -g * 3 * 5 / sqrt(r2), 1e-14);
    assert_near(d.total_energy, d.kinetic_energy + d.potential_energy, 0);
    assert_near(d.momentum[0], 0, 0);
    assert_near(d.momentum[1], 6, 1e-15);
    assert_near(d.momentum[2], -5, 1e-15);
    /* 3·(1,0,0)×(0,2,0) + 5·(0,4,12)×(0,0,−1) */
    assert_near(d.angular_momentum[0], -20, 1e-14);
    assert_near(d.angular_momentum[1], 0, 1e-14);
    assert_near(d.angular_momentum[2], 6, 1e-14);
    assert_near(d.center_of_mass[0], 3.0 / 8, 1e-15);
    assert_near(d.center_of_mass[1], 20.0 / 8, 1e-15);
    assert_near(d.center_of_mass[2], 60.0 / 8, 1e-15);
    kith_bodies_free(bodies);
}

static void test_softening_enters_the_potential_as_the_root_of_the_squares(void **state)
{
    (void)state;
    kith_bodies *bodies = bodies_of(2, 3);
    bodies->mass[0] = bodies->mass[1] = 1;
    bodies->position[3] = 4;
    assert_near(
        diagnostics_of(bodies, (kith_simulation_options){.forces.softening = 3}).potential_energy,
        -1.0 / 5, 1e-16);

    assert_ok(kith_bodies_add_columns(bodies, KITH_SOFTENING));
    bodies->softening[0] = sqrt(18);
    assert_near(diagnostics_of(bodies, (kith_simulation_options){.softening_of_bodies = true})
                    .potential_energy,
                -1.0 / 5, 1e-15);
    kith_bodies_free(bodies);
}

static void test_in_two_dimensions_the_angular_momentum_is_a_third_component(void **state)
{
    (void)state;
    kith_bodies *bodies = bodies_of(1, 2);
    bodies->mass[0] = 2;
    bodies->position[0] = 3, bodies->velocity[1] = 5;
    const kith_diagnostics d = diagnostics_of(bodies, (kith_simulation_options){0});
    assert_near(d.angular_momentum[0], 0, 0);
    assert_near(d.angular_momentum[1], 0, 0);
    assert_near(d.angular_momentum[2], 30, 1e-14);
    assert_near(d.momentum[1], 10, 1e-15);
    kith_bodies_free(bodies);
}

static void test_no_bodies_have_no_energy(void **state)
{
    (void)state;
    kith_bodies *bodies = bodies_of(0, 3);
    const kith_diagnostics d = diagnostics_of(bodies, (kith_simulation_options){0});
    assert_true(d.kinetic_energy == 0 && d.potential_energy == 0 && d.total_energy == 0);
    for (int k = 0; k < 3; k++)
        assert_true(d.momentum[k] == 0 && d.angular_momentum[k] == 0 && d.center_of_mass[k] == 0);
    assert_true(isnan(d.virial_ratio) && isnan(d.temperature) && d.pressure == 0);
    kith_bodies_free(bodies);
}

static void test_massless_bodies_have_no_energy_and_a_center_at_zero(void **state)
{
    (void)state;
    kith_bodies *bodies = bodies_of(3, 3);
    for (int k = 0; k < 9; k++)
        bodies->position[k] = k, bodies->velocity[k] = 1;
    const kith_diagnostics d = diagnostics_of(bodies, (kith_simulation_options){0});
    assert_true(d.total_energy == 0 && d.center_of_mass[0] == 0);
    kith_bodies_free(bodies);
}

/* 1e16 + 1 − 1e16 is 0 in plain double precision, in whatever order the three are added but one. */
static void test_sums_keep_what_plain_addition_would_lose(void **state)
{
    (void)state;
    const double speed[] = {1, 1e16, 1, -1e16, 1};
    kith_bodies *bodies = bodies_of(5, 3);
    for (int i = 0; i < 5; i++) {
        bodies->mass[i] = 1;
        bodies->position[3 * i] = i;
        bodies->velocity[3 * i + 1] = speed[i];
    }
    assert_near(diagnostics_of(bodies, (kith_simulation_options){0}).momentum[1], 3, 0);
    kith_bodies_free(bodies);
}

static void test_a_plummer_sphere_in_motion_is_in_virial_equilibrium(void **state)
{
    (void)state;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 2000, .seed = 3});
    const double at_rest = diagnostics_of(bodies, (kith_simulation_options){0}).virial_ratio;
    for (int64_t i = 0; i < bodies->count; i++) {
        bodies->position[3 * i] += 1000;
        bodies->velocity[3 * i + 1] += 50;
    }
    const double moving = diagnostics_of(bodies, (kith_simulation_options){0}).virial_ratio;
    assert_near(at_rest, 1, 0.05);
    assert_near(moving, at_rest, 1e-9);
    kith_bodies_free(bodies);
}

static void test_diagnosing_changes_no_bit_of_a_simulation(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    const kith_simulation_options options = {.dt = 1e-3, .forces.softening = 0.1};
    kith_simulation *watched = simulated(context, bodies, options);
    kith_simulation *alone = simulated(context, bodies, options);
    for (int k = 0; k < 100; k++) {
        assert_ok(kith_simulation_step(watched, 1));
        diagnosed(watched);
    }
    assert_ok(kith_simulation_step(alone, 100));
    kith_bodies *a = state_of(watched, bodies), *b = state_of(alone, bodies);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(watched);
    kith_simulation_free(alone);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Bodies whose numbers are floats have the same energy in both precisions, to the last bit. */
static void test_a_simulation_in_float_is_diagnosed_in_double(void **state)
{
    (void)state;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 100, .seed = 5});
    for (int64_t k = 0; k < 300; k++) {
        bodies->position[k] = (double)(float)bodies->position[k];
        bodies->velocity[k] = (double)(float)bodies->velocity[k];
    }
    for (int64_t i = 0; i < 100; i++)
        bodies->mass[i] = (double)(float)bodies->mass[i];
    const kith_diagnostics wide = diagnostics_of(bodies, (kith_simulation_options){0});
    const kith_diagnostics narrow =
        diagnostics_of(bodies, (kith_simulation_options){.precision = KITH_F32});
    assert_memory_equal(&wide, &narrow, sizeof wide);
    kith_bodies_free(bodies);
}

/* A sample of one system, its columns filled with random numbers of both signs. Velocities along x
 * cancel but for the rounding errors of their sum, whose order is then seen; masses are powers of
 * two, with which products are exact. */
static void fill_sample(struct random_numbers *random, int64_t count, struct sample *sample)
{
    double **const column[] = {&sample->position[0],
                               &sample->position[1],
                               &sample->position[2],
                               &sample->velocity[0],
                               &sample->velocity[1],
                               &sample->velocity[2],
                               &sample->acceleration[0],
                               &sample->acceleration[1],
                               &sample->acceleration[2],
                               &sample->potential,
                               &sample->mass};
    *sample = (struct sample){.dimensions = 3,
                              .count = count,
                              .bodies = count,
                              .range = {0, 1},
                              .layout = {.step = 1, .numbers = count}};
    assert_ok(kith_allocate(11 * count, sizeof(double), "sample", &sample->memory));
    for (int k = 0; k < 11; k++) {
        *column[k] = sample->memory + k * count;
        for (int64_t i = 0; i < count; i++)
            (*column[k])[i] =
                k < 10 ? random_uniform(random, -1, 1) : ldexp(1, (int)(i * (count - 1 - i) % 3));
    }
    for (int64_t i = 0; i < count / 2; i++)
        sample->velocity[0][count - 1 - i] = -(sample->velocity[0][i] *= ldexp(1, -(int)(i % 100)));
    if (count % 2 > 0)
        sample->velocity[0][count / 2] = 0;
}

/* Of this many terms of the size of 1, which are rounded to 2^-53 of it at random; the sum itself
 * is compensated. */
static void assert_sum(double found, long double expected, int64_t rounded_terms)
{
    const double rounding = 1e-15 * sqrt((double)rounded_terms);
    assert_near(found, (double)expected, 2.3e-16 * fabs((double)expected) + rounding + 1e-24);
}

static void assert_sums(const kith_diagnostics *found, const struct sample *s)
{
    long double twice_kinetic = 0, twice_potential = 0, momentum = 0, angular = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const long double m = s->mass[i];
        for (int k = 0; k < 3; k++)
            twice_kinetic += m * s->velocity[k][i] * s->velocity[k][i];
        twice_potential += m * s->potential[i];
        momentum += m * s->velocity[2][i];
        angular += m * ((long double)s->position[1][i] * s->velocity[2][i] -
                        (long double)s->position[2][i] * s->velocity[1][i]);
    }
    assert_sum(found->kinetic_energy, twice_kinetic / 2, 3 * s->count);
    assert_sum(found->potential_energy, twice_potential / 2, 0);
    assert_sum(found->momentum[2], momentum, 0);
    assert_sum(found->angular_momentum[0], angular, 2 * s->count);
}

static kith_diagnostics summed(const char *isa, int32_t threads, const struct sample *sample)
{
    kith_diagnostics found;
    assert_int_equal(setenv("KITH_ISA", isa, 1), 0);
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    kith_simulation *simulation = NULL;
    kith_bodies *one = bodies_of(1, 3);
    one->mass[0] = 1;
    const bool is_supported = kith_context_create(&options, &context) == KITH_OK;
    if (is_supported) {
        simulation = simulated(context, one, (kith_simulation_options){.dt = 1});
        assert_true(simulation->units.mass == 1 && simulation->units.length == 1);
        diagnose_sample(simulation, sample, &found);
    }
    kith_simulation_free(simulation);
    kith_context_free(context);
    kith_bodies_free(one);
    assert_int_equal(unsetenv("KITH_ISA"), 0);
    return is_supported ? found : summed("", 1, sample);
}

static void test_sums_are_exact_to_rounding_and_the_same_bits_everywhere(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t counts[] = {1, 7, 8, 9, 1023, 1024, 1025, 5000, 262144 + 1024 + 3};
#define NAME(isa) #isa,
    static const char *const isas[] = {KITH_EACH_ISA(NAME)};
#undef NAME
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct sample sample;
        fill_sample(random, counts[k], &sample);
        const kith_diagnostics expected = summed("", 1, &sample);
        assert_sums(&expected, &sample);
        for (size_t isa = 0; isa < sizeof isas / sizeof *isas; isa++)
            for (int32_t threads = 1; threads <= 3; threads++) {
                const kith_diagnostics found = summed(isas[isa], threads, &sample);
                assert_memory_equal(&found, &expected, sizeof found);
            }
        free(sample.memory);
    }
}

static kith_simulation *begun(kith_context *context, int64_t systems, const kith_bodies *bodies)
{
    const kith_simulation_options options = {
        .dt = 1e-3,
        .forces = {.softening = 0.05,
                   .solver = systems > 1 ? NULL : solver_named("fmm"),
                   .accuracy.error = systems > 1 ? 0 : 1e-2}};
    kith_simulation *simulation = NULL;
    if (systems > 1)
        assert_ok(kith_simulation_create_ensemble(context, &options, systems, bodies, &simulation));
    else
        assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    return simulation;
}

/* More rows than a thread puts at a time, which end within systems. */
static void test_a_frame_is_the_state_from_which_a_simulation_goes_on(void **state)
{
    (void)state;
    static const struct {
        int64_t systems, bodies;
        int32_t dimensions;
    } cases[] = {{1, 0, 3}, {1, 1, 2}, {1, 40001, 3}, {3001, 11, 3}, {6007, 6, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t systems = cases[k].systems, rows = systems * cases[k].bodies;
        kith_context *context = cpu_context(1 + (int32_t)k % 3);
        kith_bodies *bodies =
            made("uniform-sphere", (kith_initial_options){.count = rows,
                                                          .count_given = true,
                                                          .dimensions = cases[k].dimensions});
        kith_simulation *simulation = begun(context, systems, bodies);
        kith_diagnostics *found = malloc(sizeof *found * (size_t)systems);
        kith_diagnostics *expected = malloc(sizeof *expected * (size_t)systems);
        assert_true(found && expected);
        kith_bodies *frame_bodies = state_of(simulation, bodies);
        struct frame frame = {0};
        assert_ok(frame_allocate(simulation, &frame));
        for (int time = 0; time < 2; time++) {
            kith_bodies *now = state_of(simulation, bodies);
            assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, expected));
            assert_ok(frame_begin(&frame, frame_bodies, found));
            assert_ok(kith_simulation_step(simulation, 1));
            assert_ok(frame_finish(&frame, frame_bodies, found));
            assert_same_state(frame_bodies, now);
            assert_memory_equal(found, expected, sizeof *found * (size_t)systems);
            kith_bodies_free(now);
        }
        frame_free(&frame);
        free(found);
        free(expected);
        kith_bodies_free(frame_bodies);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
        kith_context_free(context);
    }
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("diagnostics");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_bodies_have_the_energy_and_momenta_of_the_formulas),
        cmocka_unit_test(test_softening_enters_the_potential_as_the_root_of_the_squares),
        cmocka_unit_test(test_in_two_dimensions_the_angular_momentum_is_a_third_component),
        cmocka_unit_test(test_no_bodies_have_no_energy),
        cmocka_unit_test(test_massless_bodies_have_no_energy_and_a_center_at_zero),
        cmocka_unit_test(test_sums_keep_what_plain_addition_would_lose),
        cmocka_unit_test(test_a_plummer_sphere_in_motion_is_in_virial_equilibrium),
        cmocka_unit_test(test_diagnosing_changes_no_bit_of_a_simulation),
        cmocka_unit_test(test_a_simulation_in_float_is_diagnosed_in_double),
        cmocka_unit_test(test_a_frame_is_the_state_from_which_a_simulation_goes_on),
        cmocka_unit_test_prestate(test_sums_are_exact_to_rounding_and_the_same_bits_everywhere,
                                  &random),
    };
    return cmocka_run_group_tests_name("diagnostics", tests, NULL, NULL);
}
