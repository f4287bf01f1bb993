/* Test particles: bodies of mass 0 are targets and no sources. */

#include "random_numbers.h"
#include "simulating.h"

#include "simulation/massive.h"

static kith_bodies *some_massless(struct random_numbers *random, int64_t count, int64_t massive,
                                  int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(
        kith_bodies_create(count, dimensions, KITH_VELOCITY | KITH_MASS | KITH_SOFTENING, &bodies));
    for (int64_t k = 0; k < count * dimensions; k++) {
        bodies->position[k] = random_uniform(random, -1, 1);
        bodies->velocity[k] = random_uniform(random, -0.3, 0.3);
    }
    for (int64_t i = 0; i < count; i++) {
        bodies->mass[i] = 0;
        bodies->softening[i] = random_uniform(random, 0.1, 0.2);
    }
    for (int64_t left = massive; left > 0;) {
        const int64_t i = (int64_t)random_uniform(random, 0, (double)count);
        left -= bodies->mass[i] == 0;
        bodies->mass[i] = 1 / (double)massive;
    }
    return bodies;
}

static kith_bodies *after(kith_context *context, const kith_bodies *bodies,
                          kith_simulation_options options, double until)
{
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_ok(kith_simulation_run(simulation, until));
    kith_bodies *state = state_of(simulation, bodies);
    kith_simulation_free(simulation);
    return state;
}

/* The reference solver sums over all, in double precision. */
static void test_test_particles_move_as_the_sum_over_all_says(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(2);
    static const char *const integrators[] = {"leapfrog", "hermite4", "rk4", "ias15",
                                              "hermite-block"};
    for (int trial = 0; trial < 20; trial++) {
        const int64_t count = (int64_t)random_uniform(&random, 65, 300);
        const int64_t massive = (int64_t)random_uniform(&random, 1, (double)count / 2);
        kith_bodies *bodies = some_massless(&random, count, massive, trial % 2 ? 2 : 3);
        const bool is_single = trial % 5 < 3 && trial % 4 == 3;
        kith_simulation_options options = {.dt = 0.01,
                                           .integrator = integrators[trial % 5],
                                           .forces.softening = trial % 3 ? 0.1 : 0,
                                           .softening_of_bodies = trial % 3 == 0,
                                           .precision = is_single ? KITH_F32 : KITH_F64};
        kith_simulation *simulation = simulated(context, bodies, options);
        assert_non_null(simulation->massive);
        assert_int_equal(simulation->massive->count, massive);
        assert_ok(kith_simulation_run(simulation, 0.2));
        kith_bodies *found = state_of(simulation, bodies);
        assert_ok(kith_solver_find("reference", &options.forces.solver));
        options.precision = KITH_F64;
        kith_bodies *expected = after(context, bodies, options, 0.2);
        const double distance = distance_of_states(found, expected);
        if (!(distance < (is_single ? 1e-4 : 1e-11)))
            fail_msg("%s: %g", options.integrator, distance);
        kith_bodies_free(found);
        kith_bodies_free(expected);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void check_close(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance * fabs(expected)) &&
        !(isnan(found) && isnan(expected)))
        fail_msg("%s is %.17g, not %.17g", what, found, expected);
}

static kith_bodies *after_steps(kith_simulation *simulation, const kith_bodies *bodies)
{
    assert_ok(kith_simulation_step(simulation, 3));
    return state_of(simulation, bodies);
}

/* A body without mass has no potential energy, and adds none; diagnostics change no step. */
static void test_diagnostics_are_those_of_the_sum_over_all(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(2);
    static const char *const integrators[] = {"leapfrog",      "hermite4", "ias15",
                                              "hermite-block", "whfast",   "hybrid"};
    for (int trial = 0; trial < 24; trial++) {
        const int64_t count = (int64_t)random_uniform(&random, 65, 300);
        const int64_t massive = (int64_t)random_uniform(&random, 1, (double)count / 2);
        kith_bodies *bodies = some_massless(&random, count, massive, trial % 2 ? 2 : 3);
        const bool has_star = trial % 6 > 3;
        const bool is_single = trial % 12 < 2;
        kith_simulation_options options = {.dt = 0.01,
                                           .integrator = integrators[trial % 6],
                                           .forces.softening =
                                               trial % 3 == 1 && !has_star ? 0.1 : 0,
                                           .softening_of_bodies = trial % 3 == 0 && !has_star,
                                           .precision = is_single ? KITH_F32 : KITH_F64};
        const double tolerance = is_single ? 1e-5 : 1e-12;
        kith_diagnostics found, expected;
        if (has_star)
            bodies->mass[0] = 1;
        kith_simulation *simulation = simulated(context, bodies, options);
        assert_non_null(simulation->massive);
        assert_ok(kith_simulation_diagnose(simulation, &found));
        kith_bodies *seen = after_steps(simulation, bodies);
        kith_simulation_free(simulation);
        simulation = simulated(context, bodies, options);
        kith_bodies *unseen = after_steps(simulation, bodies);
        kith_simulation_free(simulation);
        assert_same_state(seen, unseen);
        kith_bodies_free(seen);
        kith_bodies_free(unseen);
        options.integrator = NULL;
        options.precision = KITH_F64;
        assert_ok(kith_solver_find("reference", &options.forces.solver));
        simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_diagnose(simulation, &expected));
        kith_simulation_free(simulation);
        check_close(found.total_energy, expected.total_energy, tolerance, "the energy");
        check_close(found.potential_energy, expected.potential_energy, tolerance,
                    "the potential energy");
        check_close(found.virial_ratio, expected.virial_ratio, tolerance, "the virial ratio");
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void test_masses_may_come_and_go(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = some_massless(&random, 100, 10, 3);
    const kith_simulation_options options = {.dt = 0.01, .forces.softening = 0.1};
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_int_equal(simulation->massive->count, 10);
    for (int64_t i = 0; i < 100; i++)
        bodies->mass[i] = 0.01;
    assert_ok(kith_simulation_set_bodies(simulation, bodies));
    assert_null(simulation->massive);
    assert_ok(kith_simulation_step(simulation, 20));
    kith_bodies *found = state_of(simulation, bodies);
    kith_bodies *expected = after(context, bodies, options, 0.2);
    assert_memory_equal(found->position, expected->position, 300 * sizeof(double));
    for (int64_t i = 0; i < 100; i++)
        bodies->mass[i] = i == 17 ? 1 : 0;
    assert_ok(kith_simulation_set_bodies(simulation, bodies));
    assert_int_equal(simulation->massive->count, 1);
    for (int64_t i = 0; i < 100; i++)
        bodies->mass[i] = 0;
    assert_ok(kith_simulation_set_bodies(simulation, bodies));
    assert_null(simulation->massive);
    kith_bodies_free(found);
    kith_bodies_free(expected);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_test_particles_move_as_the_sum_over_all_says),
        cmocka_unit_test(test_diagnostics_are_those_of_the_sum_over_all),
        cmocka_unit_test(test_masses_may_come_and_go),
    };
    return cmocka_run_group_tests_name("massive", tests, NULL, NULL);
}
