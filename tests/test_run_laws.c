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

/* Runs with all integrators that know the law; energy and momentum stay. */
static void check_conservation(const char *text, double softening)
{
    struct random_numbers random = random_numbers_begin(text);
    kith_context *context = cpu_context(1);
    kith_law *law = new_law(text);
    kith_bodies *bodies = cube(&random);
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        const kith_simulation_options options = {
            .dt = 1e-3, .integrator = list[k].name, .law = law, .softening = softening};
        kith_simulation *simulation = NULL;
        if (strcmp(list[k].name, "hermite4") == 0) {
            assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                         KITH_INVALID_ARGUMENT, "needs the jerk");
            continue;
        }
        simulation = simulated(context, bodies, options);
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
    kith_simulation *simulation =
        simulated(context, bodies,
                  (kith_simulation_options){.dt = 0.01, .integrator = "yoshida4", .law = law});
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
            context, bodies, (kith_simulation_options){.dt = 0.01, .law = k ? law : NULL});
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
    kith_simulation_options options = {.dt = 0.1, .law = law, .gravitational_constant = 2};
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "which has none");
    options.gravitational_constant = 0;
    assert_fails(kith_simulation_create_ensemble(context, &options, 2, bodies, &simulation),
                 KITH_UNSUPPORTED, "ensembles are for gravity");
    bodies->mass[3] = 0;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "mass of body 3 (from 0) is 0");
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
    options.simulation.law = law;
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
    options.simulation.law = other;
    run_fails(options, NULL, KITH_INVALID_ARGUMENT, "law is yukawa; L=0.7; k=1, and ");
    bodies->charge[2] = 0.25;
    options.simulation = (kith_simulation_options){.dt = 0.01, .law = law};
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "charge of body 2");
    remove(whole);
    remove(parts);
    rmdir(folder);
    kith_law_free(law);
    kith_law_free(other);
    kith_bodies_free(bodies);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulations_under_laws_conserve_energy_and_momentum),
        cmocka_unit_test(test_opposite_charges_go_round_each_other),
        cmocka_unit_test(test_simulations_under_the_law_gravity_have_the_same_bits),
        cmocka_unit_test(test_simulations_under_laws_refuse_what_they_cannot),
        cmocka_unit_test(test_runs_record_their_law_and_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
