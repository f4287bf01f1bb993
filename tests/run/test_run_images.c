/* Runs with the images of a periodic cell: ions and masses, by the solvers ewald and pme. */

#include "testing.h"

#include "mesh/pme.h"
#include "random_numbers.h"
#include "running.h"

enum { count = 64 };

/* Ions near their places in a crystal, some of them moving. */
static kith_bodies *salt(struct random_numbers *numbers)
{
    kith_bodies *bodies =
        made("nacl", (kith_initial_options){.count = count, .density = 1, .temperature = 0.01});
    for (int k = 0; k < 3 * count; k++)
        bodies->position[k] += random_uniform(numbers, -0.05, 0.05);
    return bodies;
}

static kith_law *coulomb(void)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    return law;
}

static const char *const solvers[] = {"ewald", "pme"};

static int solver_count(void)
{
    return pme_is_there() ? 2 : 1;
}

static kith_run_options options_of(const char *solver, const kith_law *law, double until,
                                   const char *output)
{
    kith_run_options options = run_options(0.005, until, 10, output);
    options.simulation.forces.law = law;
    options.simulation.forces.solver = solver_named(solver);
    options.simulation.forces.accuracy.error = 1e-6;
    return options;
}

static void test_ions_keep_energy_and_momentum(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_images");
    kith_bodies *bodies = salt(&numbers);
    kith_law *law = coulomb();
    for (int k = 0; k < solver_count(); k++) {
        const kith_run_summary summary =
            run(options_of(solvers[k], law, 0.5, in_files("salt.h5")), bodies);
        assert_string_equal(summary.solver, solvers[k]);
        assert_true(summary.max_relative_energy_error < 3e-5);
        assert_true(summary.momentum_error < 1e-5);
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static kith_bodies *last_of(const char *name)
{
    kith_bodies *last = NULL;
    assert_ok(kith_bodies_read(in_files(name), &(kith_read_options){.frame = -1}, &last));
    return last;
}

static void assert_same_ends(const char *name, const char *other)
{
    kith_bodies *last = last_of(name), *of_other = last_of(other);
    assert_true(last->has_cell && last->periodic[0] && last->periodic[2]);
    assert_memory_equal(last->position, of_other->position, 3 * count * sizeof(double));
    assert_memory_equal(last->velocity, of_other->velocity, 3 * count * sizeof(double));
    kith_bodies_free(last);
    kith_bodies_free(of_other);
}

/* A resumed run has all that was given from its file: the setting too, which was chosen for
 * positions that are past. */
static void test_a_run_resumes_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_images");
    kith_bodies *bodies = salt(&numbers);
    kith_law *law = coulomb();
    static int64_t excluded[3][2] = {{0, 1}, {7, 5}, {63, 2}};
    for (int k = 0; k < 2 * solver_count(); k++) {
        kith_run_options options = options_of(solvers[k / 2], law, 0.5, in_files("whole.h5"));
        kith_ewald *ewald = &options.simulation.forces.ewald;
        if (k % 2 == 1) {
            ewald->alpha = 0.9;
            ewald->boundary = KITH_BOUNDARY_VACUUM;
            options.simulation.forces.exclusions = kith_array_matrix(excluded, KITH_I64, 3, 2);
            options.simulation.thermostat =
                (kith_thermostat){KITH_THERMOSTAT_LANGEVIN, 0.01, 0.5, 5};
        }
        run(options, bodies);
        options.until = 0.2;
        options.output = in_files("pieces.h5");
        run(options, bodies);
        kith_run_options rest = {.output = in_files("pieces.h5"), .until = 0.5, .resume = true};
        run(rest, NULL);
        assert_same_ends("whole.h5", "pieces.h5");
        rest.until = 0.6;
        rest.simulation.forces.ewald.alpha = 0.8;
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "alpha 0.8");
        rest.simulation.forces.ewald = (kith_ewald){0};
        rest.simulation.forces.exclusions = kith_array_matrix(excluded, KITH_I64, 2, 2);
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "excluded pairs 2");
        rest.simulation.forces.exclusions = kith_array_none();
        rest.simulation.forces.ewald = (kith_ewald){.absolute_error = 1};
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "absolute_error 1");
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_images");
    kith_bodies *bodies = salt(&numbers);
    kith_law *law = coulomb();
    static const char *const names[] = {"one.h5", "three.h5"};
    for (int k = 0; k < solver_count(); k++) {
        for (int t = 0; t < 2; t++) {
            kith_context *context = cpu_context(1 + 2 * t);
            kith_run_options options = options_of(solvers[k], law, 0.2, in_files(names[t]));
            assert_ok(kith_run(context, &options, bodies, NULL));
            kith_context_free(context);
        }
        assert_same_ends("one.h5", "three.h5");
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* Against kith_forces_compute, to the error that was requested. */
static void test_frames_have_the_virial_and_the_pressure(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_images");
    kith_bodies *bodies = salt(&numbers);
    kith_law *law = coulomb();
    const double edge = bodies->cell[0];
    const kith_cell cell = {{{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}}, {true, true, true}};
    for (int k = 0; k < solver_count(); k++) {
        run(options_of(solvers[k], law, 0.2, in_files("observed.h5")), bodies);
        kith_bodies *last = last_of("observed.h5");
        kith_forces_totals totals;
        const kith_forces_options forces = {
            .law = law, .solver = solver_named("ewald"), .cell = &cell, .totals = &totals};
        const kith_particles particles = {
            .positions = kith_array_matrix(last->position, KITH_F64, count, 3),
            .columns = {{"q", kith_array_vector(bodies->charge, KITH_F64, count)}}};
        double potential[count], twice_kinetic = 0;
        kith_context *context = cpu_context(1);
        assert_ok(kith_forces_compute(context, &forces, NULL, &particles, kith_array_none(),
                                      kith_array_vector(potential, KITH_F64, count)));
        kith_context_free(context);
        for (int i = 0; i < 3 * count; i++)
            twice_kinetic += last->velocity[i] * last->velocity[i];
        kith_trajectory *trajectory = NULL;
        assert_ok(kith_trajectory_open(in_files("observed.h5"), &trajectory));
        const struct {
            const char *name;
            double expected;
        } observed[] = {{"potential_energy", totals.energy},
                        {"pressure", (twice_kinetic + totals.energy) / (3 * edge * edge * edge)},
                        {"virial", totals.virial[0]}};
        for (int o = 0; o < 3; o++) {
            int64_t components = 0;
            double *values = NULL, *times = NULL;
            assert_ok(kith_trajectory_observable(trajectory, observed[o].name, &components, &values,
                                                 &times));
            const double *of_last = values + components * (kith_trajectory_frames(trajectory) - 1);
            assert_true(fabs(*of_last / observed[o].expected - 1) < 1e-5);
            free(values);
            free(times);
        }
        kith_trajectory_close(trajectory);
        kith_bodies_free(last);
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* A cold lattice of masses, displaced by a sine along x, in units where 4 π G ρ is 1: amplitudes
 * grow as cosh t (Jeans 1902, of long waves). A wave of 8 points feels the lattice by some
 * percent. */
static void test_a_sine_grows_as_linear_theory_says(void **state)
{
    (void)state;
    enum { side = 8, points = side * side * side };
    const double amplitude = 1e-3;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(points, 3, KITH_MASS, &bodies));
    for (int i = 0; i < points; i++) {
        const int cell[3] = {i % side, i / side % side, i / side / side};
        const double q[3] = {cell[0], cell[1], cell[2]};
        for (int c = 0; c < 3; c++)
            bodies->position[3 * i + c] = q[c];
        bodies->position[3 * i] += amplitude * sin(2 * pi / side * q[0]);
        bodies->mass[i] = 1 / (4 * pi);
    }
    for (int c = 0; c < 3; c++) {
        bodies->cell[4 * c] = side;
        bodies->periodic[c] = true;
    }
    bodies->has_cell = true;
    for (int k = 0; k < solver_count(); k++) {
        kith_run_options options = run_options(0.02, 1.5, 25, in_files("sine.h5"));
        options.simulation.forces.solver = solver_named(solvers[k]);
        options.simulation.forces.ewald.absolute_error = 1e-7;
        run(options, bodies);
        kith_bodies *last = last_of("sine.h5");
        double grown = 0;
        for (int i = 0; i < points; i++)
            grown +=
                2.0 / points * sin(2 * pi / side * (i % side)) * (last->position[3 * i] - i % side);
        assert_true(fabs(grown / (amplitude * cosh(1.5)) - 1) < 0.05);
        kith_bodies_free(last);
    }
    kith_bodies_free(bodies);
}

static void test_mistakes_are_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_images");
    kith_bodies *bodies = salt(&numbers);
    kith_law *law = coulomb();
    kith_run_options options = options_of("ewald", law, 0.1, NULL);
    options.simulation.skin = 0.3;
    options.simulation.forces.cutoff = 1;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "skin 0.3 solver ewald");
    options.simulation.skin = 0;
    options.simulation.forces.softening = 0.1;
    run_fails(options, bodies, KITH_UNSUPPORTED, "softening ewald");
    options.simulation.forces.softening = 0;
    options.simulation.integrator = "hermite4";
    run_fails(options, bodies, KITH_UNSUPPORTED, "derivatives");
    options.simulation.integrator = NULL;
    double wrong[3] = {0, 1, 2};
    options.simulation.forces.exclusions = kith_array_matrix(wrong, KITH_F64, 1, 2);
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "exclusions int64");
    int64_t far[2] = {0, count};
    options.simulation.forces.exclusions = kith_array_matrix(far, KITH_I64, 1, 2);
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "0 64");
    options.simulation.forces.exclusions = kith_array_none();
    bodies->periodic[1] = false;
    run_fails(options, bodies, KITH_UNSUPPORTED, "cell periodic");
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* Bodies that are set choose a setting of their own. */
static void test_a_setting_is_of_the_bodies_of_the_start(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_images");
    kith_bodies *bodies = salt(&numbers);
    kith_law *law = coulomb();
    kith_context *context = cpu_context(1);
    const kith_run_options options = options_of("ewald", law, 0.1, NULL);
    kith_simulation *moved = NULL, *fresh = NULL;
    assert_ok(kith_simulation_create(context, &options.simulation, bodies, &moved));
    assert_ok(kith_simulation_step(moved, 20));
    kith_bodies *now = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_MASS | KITH_CHARGE | KITH_VELOCITY, &now));
    memcpy(now->mass, bodies->mass, count * sizeof *now->mass);
    memcpy(now->charge, bodies->charge, count * sizeof *now->charge);
    memcpy(now->cell, bodies->cell, sizeof now->cell);
    memcpy(now->periodic, bodies->periodic, sizeof now->periodic);
    now->has_cell = true;
    assert_ok(kith_simulation_get_bodies(moved, now));
    assert_ok(kith_simulation_set_bodies(moved, now));
    assert_ok(kith_simulation_create(context, &options.simulation, now, &fresh));
    kith_diagnostics of_moved, of_fresh;
    assert_ok(kith_simulation_diagnose(moved, &of_moved));
    assert_ok(kith_simulation_diagnose(fresh, &of_fresh));
    assert_true(of_moved.total_energy == of_fresh.total_energy);
    kith_simulation_free(moved);
    kith_simulation_free(fresh);
    kith_bodies_free(now);
    kith_context_free(context);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ions_keep_energy_and_momentum),
        cmocka_unit_test(test_a_run_resumes_bit_for_bit),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_frames_have_the_virial_and_the_pressure),
        cmocka_unit_test(test_a_sine_grows_as_linear_theory_says),
        cmocka_unit_test(test_mistakes_are_refused),
        cmocka_unit_test(test_a_setting_is_of_the_bodies_of_the_start),
    };
    return cmocka_run_group_tests_name("run_images", tests, make_files_directory,
                                       remove_files_directory);
}
