/* Simulations and runs under laws other than gravity. */

#include "running.h"

#include <stdlib.h>
#include <unistd.h>

#include "law_forces.h"

/* Eight bodies at the corners of a cube of side 1.1, nudged, with masses 1 … 2 and charges of
 * alternating signs. */
static kith_bodies *cube(struct random_numbers *random)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(8, 3, KITH_VELOCITY | KITH_MASS | KITH_CHARGE, &bodies));
    for (int k = 0; k < 8; k++) {
        bodies->mass[k] = 1 + k / 7.0;
        bodies->charge[k] = (k ^ k / 2 ^ k / 4) % 2 ? -1 : 1;
        for (int c = 0; c < 3; c++) {
            bodies->position[3 * k + c] = 1.1 * (k >> c & 1) + random_uniform(random, -0.02, 0.02);
            bodies->velocity[3 * k + c] = random_uniform(random, -0.1, 0.1);
        }
    }
    return bodies;
}

/* Runs with all integrators; energy and momentum stay. */
static void check_conservation(const char *text, double softening)
{
    struct random_numbers random = random_numbers_begin(text);
    kith_context *context = cpu_context(1);
    kith_law *law = new_law(text);
    kith_bodies *bodies = cube(&random);
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        if (list[k].central || strcmp(list[k].name, "hermite-block") == 0)
            continue; /* of gravity alone */
        const kith_simulation_options options = {.dt = 1e-3,
                                                 .integrator = list[k].name,
                                                 .forces.law = law,
                                                 .forces.softening = softening};
        kith_simulation *simulation = simulated(context, bodies, options);
        const kith_diagnostics before = diagnosed(simulation);
        assert_ok(kith_simulation_run(simulation, 1));
        const kith_diagnostics after = diagnosed(simulation);
        const double scale = before.kinetic_energy + fabs(before.potential_energy);
        const double bound = list[k].order == 1 ? 2e-2 : list[k].order == 2 ? 1e-3 : 1e-5;
        const double error = fabs(after.total_energy - before.total_energy) / scale;
        if (!(error < bound))
            fail_msg("%s, %s: energy is off by %g", text, list[k].name, error);
        if (fabs(after.kinetic_energy - before.kinetic_energy) < 1e-6 * scale)
            fail_msg("%s, %s: nothing moves", text, list[k].name);
        for (int c = 0; c < 3; c++)
            assert_near(after.momentum[c], before.momentum[c], 1e-12);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_law_free(law);
    kith_context_free(context);
}

static void test_simulations_under_laws_conserve_energy_and_momentum(void **state)
{
    (void)state;
    check_conservation("lennard-jones", 0);
    check_conservation("morse:1,2,1.1", 0);
    check_conservation("coulomb", 0.05);
    check_conservation("yukawa:0.7", 0.05);
    check_conservation("expr:q_i*q_j*exp(-r/0.7)/r + 0.1/pow(r, 9)", 0);
}

/* Two opposite charges on a circle: ω² d = k q² (1/m_1 + 1/m_2) / d². */
static void test_opposite_charges_go_round_each_other(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_law *law = new_law("coulomb");
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 2, KITH_VELOCITY | KITH_MASS | KITH_CHARGE, &bodies));
    const double omega = sqrt((1 + 1.0 / 3) / 8); /* d = 2 */
    bodies->position[0] = -1.5, bodies->position[2] = 0.5;
    bodies->velocity[1] = -1.5 * omega, bodies->velocity[3] = 0.5 * omega;
    bodies->mass[0] = 1, bodies->mass[1] = 3;
    bodies->charge[0] = 1, bodies->charge[1] = -1;
    kith_simulation *simulation = simulated(
        context, bodies,
        (kith_simulation_options){.dt = 0.01, .integrator = "yoshida4", .forces.law = law});
    assert_near(diagnosed(simulation).potential_energy, -0.5, 1e-15);
    assert_ok(kith_simulation_run(simulation, 2 * pi / omega));
    kith_bodies *after = state_of(simulation, bodies);
    for (int k = 0; k < 4; k++)
        assert_near(after->position[k], bodies->position[k], 1e-6);
    kith_bodies_free(after);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_law_free(law);
    kith_context_free(context);
}

/* How far the bodies of a cube are, after a time of 1, from where steps eight times as fine take
 * them. */
static double error_after(kith_context *context, const kith_bodies *bodies, const kith_law *law,
                          int64_t steps)
{
    kith_bodies *end[2];
    for (int k = 0; k < 2; k++) {
        kith_simulation *simulation =
            simulated(context, bodies,
                      (kith_simulation_options){.dt = 1.0 / (double)(k ? 8 * steps : steps),
                                                .integrator = "hermite4",
                                                .forces.law = law,
                                                .forces.softening = 0.3});
        assert_ok(kith_simulation_run(simulation, 1));
        end[k] = state_of(simulation, bodies);
        kith_simulation_free(simulation);
    }
    const double error = distance_of_states(end[0], end[1]);
    kith_bodies_free(end[0]);
    kith_bodies_free(end[1]);
    return error;
}

/* A wrong jerk lowers the order to 2 or less. */
static void test_hermite_has_its_order_under_laws(void **state)
{
    (void)state;
    static const char *const laws[] = {"yukawa:0.7", "lennard-jones", "morse:1,2,1.1",
                                       "expr:q_i*q_j*exp(-r/0.7)/r + 0.1/pow(r, 9)",
                                       "expr:q_i*q_j*(1 + dx*dx - dy*dz)*exp(-r2)"};
    struct random_numbers random = random_numbers_begin("order");
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = cube(&random);
    for (int k = 0; k < 5; k++) {
        kith_law *law = new_law(laws[k]);
        const double coarse = error_after(context, bodies, law, 100);
        const double fine = error_after(context, bodies, law, 200);
        const double slope = log2(coarse / fine);
        print_message("%s: slope %.3f, error %.2g\n", laws[k], slope, fine);
        if (!(fabs(slope - 4) < 0.3))
            fail_msg("%s: hermite4 has the order %g", laws[k], slope);
        kith_law_free(law);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* So many cubes in one set of columns, all different. */
static kith_bodies *cubes(struct random_numbers *random, int64_t systems)
{
    const kith_bodies *each[64];
    kith_bodies *all = NULL;
    assert_true(systems <= 64);
    for (int64_t s = 0; s < systems; s++)
        each[s] = cube(random);
    assert_ok(kith_ensemble_join(systems, each, &all));
    for (int64_t s = 0; s < systems; s++)
        kith_bodies_free((kith_bodies *)each[s]);
    return all;
}

static kith_simulation *ensemble_of(kith_context *context, const kith_bodies *all, int64_t systems,
                                    kith_simulation_options options)
{
    kith_simulation *simulation = NULL;
    assert_ok(kith_simulation_create_ensemble(context, &options, systems, all, &simulation));
    return simulation;
}

/* Each goes as it goes alone, and has the energy that it has alone. */
static void check_ensemble(struct random_numbers *random, const char *text, const char *integrator,
                           kith_dtype precision)
{
    enum { systems = 19 };
    const double tolerance = precision == KITH_F64 ? 1e-12 : 2e-4;
    kith_context *context = cpu_context(2);
    kith_law *law = new_law(text);
    kith_bodies *all = cubes(random, systems);
    const kith_simulation_options options = {.dt = 0.01,
                                             .integrator = integrator,
                                             .forces.law = law,
                                             .forces.softening = 0.1,
                                             .precision = precision};
    kith_simulation *ensemble = ensemble_of(context, all, systems, options);
    assert_ok(kith_simulation_run(ensemble, 0.205));
    kith_bodies *end = state_of(ensemble, all);
    kith_diagnostics each[systems];
    assert_ok(kith_simulation_diagnose_systems(ensemble, 0, systems, each));
    for (int64_t s = 0; s < systems; s++) {
        const kith_bodies one = kith_ensemble_system(all, systems, s);
        const kith_bodies found = kith_ensemble_system(end, systems, s);
        kith_simulation *alone = simulated(context, &one, options);
        assert_ok(kith_simulation_run(alone, 0.205));
        kith_bodies *expected = state_of(alone, &one);
        assert_true(distance_of_states(&found, expected) < tolerance);
        const kith_diagnostics diagnostics = diagnosed(alone);
        assert_near(each[s].total_energy, diagnostics.total_energy,
                    100 * tolerance * (1 + fabs(diagnostics.total_energy)));
        kith_bodies_free(expected);
        kith_simulation_free(alone);
    }
    kith_bodies_free(end);
    kith_simulation_free(ensemble);
    kith_bodies_free(all);
    kith_law_free(law);
    kith_context_free(context);
}

static void test_systems_under_laws_move_as_if_they_were_alone(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("ensembles");
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (!list[k].adaptive && !list[k].central)
            check_ensemble(&random, "coulomb", list[k].name, KITH_F64);
    check_ensemble(&random, "lennard-jones", "leapfrog", KITH_F32);
    check_ensemble(&random, "yukawa:0.7", "hermite4", KITH_F32);
    check_ensemble(&random, "expr:m_i*m_j*(r2 + dx*dx)", "hermite4", KITH_F64);
}

/* With one thread and with many, and where a checkpoint is taken and restored on the way. */
static void test_ensembles_under_laws_have_the_same_bits_however_they_run(void **state)
{
    (void)state;
    enum { systems = 50 };
    struct random_numbers random = random_numbers_begin("ensemble's bits");
    kith_law *law = new_law("yukawa:0.7");
    kith_bodies *all = cubes(&random, systems);
    for (int hermite = 0; hermite < 2; hermite++) {
        const kith_simulation_options options = {
            .dt = 0.01, .integrator = hermite ? "hermite4" : "leapfrog", .forces.law = law};
        kith_bodies *end[3];
        for (int k = 0; k < 3; k++) {
            kith_context *context = cpu_context(k == 1 ? 7 : 1);
            kith_simulation *simulation = ensemble_of(context, all, systems, options);
            assert_ok(kith_simulation_step(simulation, 30));
            if (k == 2) {
                kith_checkpoint saved = {0};
                assert_ok(kith_simulation_save(simulation, &saved));
                kith_simulation_free(simulation);
                simulation = ensemble_of(context, all, systems, options);
                assert_ok(kith_simulation_restore(simulation, &saved));
                kith_checkpoint_free(&saved);
            }
            assert_ok(kith_simulation_step(simulation, 30));
            end[k] = state_of(simulation, all);
            kith_simulation_free(simulation);
            kith_context_free(context);
        }
        for (int k = 1; k < 3; k++)
            assert_same_state(end[0], end[k]);
        for (int k = 0; k < 3; k++)
            kith_bodies_free(end[k]);
    }
    kith_bodies_free(all);
    kith_law_free(law);
}

/* The law gravity is gravity without a law, bit for bit. */
static void test_simulations_under_the_law_gravity_have_the_same_bits(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_law *law = new_law("gravity");
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 40, .count_given = true});
    kith_bodies *end[2];
    for (int k = 0; k < 2; k++) {
        kith_simulation *simulation = simulated(
            context, bodies, (kith_simulation_options){.dt = 0.01, .forces.law = k ? law : NULL});
        assert_ok(kith_simulation_step(simulation, 20));
        end[k] = state_of(simulation, bodies);
        kith_simulation_free(simulation);
    }
    assert_same_state(end[0], end[1]);
    kith_bodies_free(end[0]);
    kith_bodies_free(end[1]);
    kith_bodies_free(bodies);
    kith_law_free(law);
    kith_context_free(context);
}

static void test_simulations_under_laws_refuse_what_they_cannot(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("refuse");
    kith_context *context = cpu_context(1);
    kith_law *law = new_law("coulomb");
    kith_bodies *bodies = cube(&random);
    kith_simulation *simulation = NULL;
    kith_simulation_options options = {
        .dt = 0.1, .forces.law = law, .forces.gravitational_constant = 2};
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "");
    options.forces.gravitational_constant = 0;
    bodies->mass[5] = 0;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "body 5 0");
    assert_fails(kith_simulation_create_ensemble(context, &options, 2, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "system body 1 1 0");
    bodies->mass[5] = 1;
    bodies->position[3 * 7 + 1] = -1e200;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "row 7 positions -1e+200 1e153 double");
    options.precision = KITH_F32;
    bodies->position[3 * 7 + 1] = 1e25;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "row 7 positions 1e+25 1e18 single");
    bodies->position[3 * 7 + 1] = 1;
    bodies->charge[3] = 1e30;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "row 3 charges 1e+30 single double");
    options.forces.law = NULL; /* gravity has units of its own */
    bodies->position[3 * 7 + 1] = 1e25;
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_law_free(law);
    kith_context_free(context);
}

/* A run that is resumed, with and without its law being given again, ends with the same bits as one
 * that was never stopped; with another law it is refused. */
static void test_runs_record_their_law_and_resume(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("resume");
    char folder[] = "/tmp/kith-test-XXXXXX", whole[64], parts[64];
    assert_non_null(mkdtemp(folder));
    snprintf(whole, sizeof whole, "%s/whole.h5", folder);
    snprintf(parts, sizeof parts, "%s/parts.h5", folder);
    kith_bodies *bodies = cube(&random);
    const kith_law_parameter k = {"k", 0.5};
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.7", 1, &k, &law));
    kith_run_options options = run_options(0.01, 1, 10, whole);
    options.simulation.forces.law = law;
    const kith_run_summary once = run(options, bodies);
    options.output = parts;
    options.until = 0.5;
    run(options, bodies);
    options.resume = true;
    options.until = 0.7;
    run(options, NULL);
    options.simulation = (kith_simulation_options){0};
    options.until = 1;
    const kith_run_summary resumed = run(options, NULL);
    assert_true(once.energy_final == resumed.energy_final);
    assert_int_equal(once.steps, resumed.steps);

    options.until = 2;
    kith_law *other = new_law("yukawa:0.7");
    options.simulation.forces.law = other;
    run_fails(options, NULL, KITH_INVALID_ARGUMENT, "law L=0.7 k=1 yukawa");
    bodies->charge[2] = 0.25;
    options.simulation = (kith_simulation_options){.dt = 0.01, .forces.law = law};
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "body 2");
    remove(whole);
    remove(parts);
    rmdir(folder);
    kith_law_free(law);
    kith_law_free(other);
    kith_bodies_free(bodies);
}

/* The same of an ensemble by an integrator with jerk. */
static void test_runs_of_ensembles_under_laws_resume(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("resume ensemble");
    char folder[] = "/tmp/kith-test-XXXXXX", path[2][64];
    assert_non_null(mkdtemp(folder));
    kith_bodies *all = cubes(&random, 5), *end[2] = {NULL, NULL};
    kith_law *law = new_law("lennard-jones:0.5,1");
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/%d.h5", folder, k);
        kith_run_options options = run_options(0.01, k ? 0.4 : 1, 10, path[k]);
        options.is_ensemble = true;
        options.systems = 5;
        options.simulation.forces.law = law;
        options.simulation.integrator = "hermite4";
        run(options, all);
        options.resume = true;
        options.until = 1;
        if (k)
            run(options, NULL);
        const kith_read_options of_system = {.system = 3, .system_given = true};
        assert_ok(kith_bodies_read(path[k], &of_system, &end[k]));
        remove(path[k]);
    }
    assert_int_equal(end[0]->count, 8);
    assert_same_state(end[0], end[1]);
    rmdir(folder);
    kith_bodies_free(end[0]);
    kith_bodies_free(end[1]);
    kith_bodies_free(all);
    kith_law_free(law);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulations_under_laws_conserve_energy_and_momentum),
        cmocka_unit_test(test_opposite_charges_go_round_each_other),
        cmocka_unit_test(test_hermite_has_its_order_under_laws),
        cmocka_unit_test(test_systems_under_laws_move_as_if_they_were_alone),
        cmocka_unit_test(test_ensembles_under_laws_have_the_same_bits_however_they_run),
        cmocka_unit_test(test_simulations_under_the_law_gravity_have_the_same_bits),
        cmocka_unit_test(test_simulations_under_laws_refuse_what_they_cannot),
        cmocka_unit_test(test_runs_record_their_law_and_resume),
        cmocka_unit_test(test_runs_of_ensembles_under_laws_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
