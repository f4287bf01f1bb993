#include "simulating.h"

#include "cells/geometry.h"
#include "forces/solver.h"
#include "laid_out.h"
#include "toy_solver.h"

/* The toy, whose calls are counted, and which keeps what it has prepared. */
static int64_t evaluations, prepared_now;

static kith_status counted_prepare(kith_context *context, const struct forces_problem *problem,
                                   void **prepared)
{
    (void)context;
    (void)problem;
    if (!*prepared) {
        *prepared = &prepared_now;
        prepared_now++;
    }
    return KITH_OK;
}

static kith_status counted_evaluate(kith_context *context, void *prepared,
                                    const struct forces_problem *problem)
{
    assert_ptr_equal(prepared, &prepared_now);
    evaluations++;
    return toy.evaluate(context, NULL, problem);
}

static void counted_free(kith_context *context, void *prepared)
{
    (void)context;
    assert_ptr_equal(prepared, &prepared_now);
    prepared_now--;
}

static const struct kith_solver counted = {.name = "counted",
                                           .summary = "the toy, counted",
                                           .on_host = true,
                                           .suits = toy_suits,
                                           .prepare = counted_prepare,
                                           .evaluate = counted_evaluate,
                                           .free = counted_free};

static kith_context *context;

static int make_context(void **state)
{
    (void)state;
    context = cpu_context(2);
    return 0;
}

static int free_context(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

static kith_bodies *some_bodies(int64_t n)
{
    return made("plummer", (kith_initial_options){.count = n, .seed = 3});
}

static void test_forces_are_a_solvers_of_ones_own(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(70);
    const kith_array x = kith_array_matrix(bodies->position, KITH_F64, 70, 3);
    const kith_array m = kith_array_vector(bodies->mass, KITH_F64, 70);
    double a[2][70 * 3], phi[2][70];
    for (int k = 0; k < 2; k++) {
        const kith_forces_options options = {
            .gravitational_constant = 2, .softening = 0.1, .solver = k ? &toy : NULL};
        assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(x, {"m", m}),
                                      kith_array_matrix(a[k], KITH_F64, 70, 3),
                                      kith_array_vector(phi[k], KITH_F64, 70)));
    }
    for (int64_t i = 0; i < 210; i++)
        assert_near(a[1][i], a[0][i], 1e-12);
    for (int64_t i = 0; i < 70; i++)
        assert_near(phi[1][i], phi[0][i], 1e-12);
    kith_bodies_free(bodies);
}

static void test_simulations_and_diagnostics_are_a_solvers_of_ones_own(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(20), *end[2];
    double energy[2];
    for (int k = 0; k < 2; k++) {
        evaluations = 0;
        kith_simulation *simulation = simulated(
            context, bodies,
            (kith_simulation_options){
                .dt = 1e-3, .forces.softening = 0.1, .forces.solver = k ? &counted : NULL});
        assert_ok(kith_simulation_step(simulation, 50));
        end[k] = state_of(simulation, bodies);
        assert_int_equal(evaluations, k * 51); /* one at the start */
        assert_int_equal(prepared_now, k);     /* kept from step to step */
        energy[k] = diagnosed(simulation).total_energy;
        assert_int_equal(evaluations, k * 52);
        kith_simulation_free(simulation);
        assert_int_equal(prepared_now, 0);
    }
    assert_true(distance_of_states(end[0], end[1]) < 1e-12);
    assert_near(energy[1], energy[0], 1e-12);
    for (int k = 0; k < 2; k++)
        kith_bodies_free(end[k]);
    kith_bodies_free(bodies);
}

static void refused(kith_simulation_options options, int64_t systems, kith_status expected,
                    const char *words)
{
    kith_bodies *bodies = some_bodies(8);
    kith_simulation *simulation = NULL;
    const kith_status status =
        systems > 0
            ? kith_simulation_create_ensemble(context, &options, systems, bodies, &simulation)
            : kith_simulation_create(context, &options, bodies, &simulation);
    assert_int_equal(status, expected);
    assert_true(has_fields(kith_error_message(), words));
    assert_null(simulation);
    kith_bodies_free(bodies);
}

static void test_what_a_solver_cannot_do_is_refused_before_the_first_step(void **state)
{
    (void)state;
    kith_simulation_options options = {.dt = 1, .forces.solver = &toy};
    refused(options, 2, KITH_UNSUPPORTED, "toy");
    options.integrator = "hermite4";
    refused(options, 0, KITH_UNSUPPORTED, "toy");
    options.integrator = NULL;
    options.precision = KITH_F32;
    refused(options, 0, KITH_UNSUPPORTED, "precision");
    options = (kith_simulation_options){.dt = 1, .forces.method = KITH_FORCES_TILE_P};
    refused(options, 0, KITH_UNSUPPORTED, "tile-p");
    options.forces.method = KITH_FORCES_SPLIT;
    refused(options, 4, KITH_UNSUPPORTED, "method");
    options.forces.solver = &toy;
    refused(options, 0, KITH_INVALID_ARGUMENT, "method");
    options = (kith_simulation_options){.dt = 1, .forces.sum = KITH_FORCES_SUM_VALUE};
    refused(options, 0, KITH_INVALID_ARGUMENT, "sum");
}

/* Every row runs every integrator that it does not refuse, and ends where direct does. */
static void test_every_solver_of_the_table_moves_bodies_alike(void **state)
{
    (void)state;
    const char *const integrators[] = {"leapfrog", "rk4", "hermite4"};
    assert_non_null(kith_solver_at(1));
    kith_bodies *bodies = some_bodies(30);
    for (int k = 0; k < 3; k++) {
        kith_bodies *expected = NULL;
        for (int64_t row = 0; kith_solver_at(row); row++) {
            const kith_solver *solver = kith_solver_at(row);
            const kith_simulation_options options = {.dt = 1e-3,
                                                     .integrator = integrators[k],
                                                     .forces.softening = 0.1,
                                                     .forces.cutoff = solver->has_cutoff ? 1e3 : 0,
                                                     .forces.solver = solver};
            kith_simulation *simulation = NULL;
            const kith_status status =
                kith_simulation_create(context, &options, bodies, &simulation);
            if (row > 0 && status == KITH_UNSUPPORTED)
                continue;
            assert_ok(status);
            assert_ok(kith_simulation_step(simulation, 10));
            kith_bodies *end = state_of(simulation, bodies);
            kith_simulation_free(simulation);
            if (!expected) {
                expected = end;
                continue;
            }
            assert_true(distance_of_states(expected, end) < 1e-12);
            kith_bodies_free(end);
        }
        kith_bodies_free(expected);
    }
    kith_bodies_free(bodies);
}

static void test_solvers_are_found_by_name(void **state)
{
    (void)state;
    const kith_solver *found = &toy, *solver = NULL;
    for (int64_t k = 0; (solver = kith_solver_at(k)); k++) {
        assert_ok(kith_solver_find(kith_solver_describe(solver).name, &found));
        assert_ptr_equal(found, solver);
    }
    assert_null(kith_solver_at(-1));
    assert_ok(kith_solver_find("auto", &found));
    assert_null(found);
    assert_string_equal(kith_solver_describe(NULL).name, "direct");
    found = &toy;
    assert_int_equal(kith_solver_find("tee", &found), KITH_INVALID_ARGUMENT);
    assert_null(found);
}

/* Near and far parts of a force add up. */
static void test_results_are_added_to_what_is_there(void **state)
{
    (void)state;
    const kith_solver *solver = NULL;
    for (int64_t row = 0; (solver = kith_solver_at(row)); row++)
        for (int64_t systems = 0; systems < (solver->on_host ? 1 : 4); systems += 3) {
            struct random_numbers random = (struct random_numbers){9};
            struct laid_out once = laid_out_create(KITH_F64, 9, systems, 3);
            laid_out_fill(&once, &random);
            const struct pairs_lattice open = {.periodic = {false}};
            once.problem.space.cutoff = solver->has_cutoff ? 1e3 : 0;
            once.problem.space.lattice = &open;
            void *prepared = NULL;
            if (solver->suits(context, &once.problem) != KITH_OK)
                for (int c = 0; c < 3; c++)
                    once.problem.jerk[c] = NULL;
            if (row > 0 && solver->suits(context, &once.problem) != KITH_OK) {
                laid_out_free(&once);
                continue;
            }
            assert_ok(forces_evaluate(context, solver, &once.problem, &prepared));
            const double a = laid_out_get(&once, A + 1, 8, systems / 2),
                         jerk = laid_out_get(&once, JERK_OF + 2, 8, systems / 2),
                         phi = laid_out_get(&once, PHI, 8, systems / 2);
            once.problem.accumulate = true;
            assert_ok(forces_evaluate(context, solver, &once.problem, &prepared));
            assert_true(a != 0 && laid_out_get(&once, A + 1, 8, systems / 2) == 2 * a);
            assert_true(laid_out_get(&once, JERK_OF + 2, 8, systems / 2) == 2 * jerk);
            assert_true(laid_out_get(&once, PHI, 8, systems / 2) == 2 * phi);
            forces_forget(context, solver, &prepared);
            laid_out_free(&once);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_a_solvers_of_ones_own),
        cmocka_unit_test(test_simulations_and_diagnostics_are_a_solvers_of_ones_own),
        cmocka_unit_test(test_what_a_solver_cannot_do_is_refused_before_the_first_step),
        cmocka_unit_test(test_every_solver_of_the_table_moves_bodies_alike),
        cmocka_unit_test(test_solvers_are_found_by_name),
        cmocka_unit_test(test_results_are_added_to_what_is_there),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
