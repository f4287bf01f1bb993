/* Multiple time steps: the mesh once a step, near pairs in shorter ones. */

#include "testing.h"

#include "kith/law_sum.h"
#include "mesh/pme.h"
#include "random_numbers.h"
#include "running.h"

enum { count = 216 };

/* In units of the diameter and the depth of Lennard-Jones. */
static kith_bodies *salt(void)
{
    return made("nacl", (kith_initial_options){
                            .count = count, .density = 0.7, .temperature = 3, .seed = 4});
}

static kith_law *parsed(const char *text, int64_t parameters, double k)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, parameters, &(kith_law_parameter){"k", k}, &law));
    return law;
}

static kith_law *ions(void)
{
    kith_law *law = parsed("coulomb", 1, 5);
    assert_ok(kith_law_add(law, parsed("lennard-jones", 0, 0)));
    return law;
}

/* Pairs i, i + 1 of even i, whose nearest images do not interact. */
static kith_array pairs(void)
{
    static int64_t rows[count / 2][2];
    for (int64_t k = 0; k < count / 2; k++) {
        rows[k][0] = 2 * k;
        rows[k][1] = 2 * k + 1;
    }
    return kith_array_matrix(rows, KITH_I64, count / 2, 2);
}

static const char *solver(void)
{
    return pme_is_there() ? "pme" : "ewald";
}

static kith_simulation_options options_of(const kith_law *law, double dt, int32_t substeps)
{
    return (kith_simulation_options){.dt = dt,
                                     .substeps = substeps,
                                     .forces = {.law = law,
                                                .solver = solver_named(solver()),
                                                .accuracy = {.error = 1e-6},
                                                .cutoff = 2,
                                                .shift = KITH_SHIFT_FORCE}};
}

static void take(const kith_simulation_options *options, const kith_bodies *from, int64_t steps,
                 kith_bodies *to)
{
    kith_context *context = cpu_context(2);
    kith_simulation *simulation = NULL;
    assert_ok(kith_simulation_create(context, options, from, &simulation));
    assert_ok(kith_simulation_step(simulation, steps));
    assert_ok(kith_simulation_get_bodies(simulation, to));
    kith_simulation_free(simulation);
    kith_context_free(context);
}

static kith_bodies *room(void)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY, &bodies));
    return bodies;
}

static double largest_difference(const double *a, const double *b)
{
    double largest = 0;
    for (int i = 0; i < 3 * count; i++)
        largest = worse_of(largest, fabs(a[i] - b[i]));
    return largest;
}

/* With steps so short that both methods follow the same path: near pairs and mesh are all there is,
 * of excluded pairs and the field of a dipole, too. */
static void test_both_parts_are_the_whole_force(void **state)
{
    (void)state;
    kith_bodies *bodies = salt(), *whole = room(), *parts = room();
    struct random_numbers numbers = random_numbers_begin("run_substeps");
    for (int i = 0; i < 3 * count; i++)
        bodies->position[i] += random_uniform(&numbers, -0.1, 0.1);
    for (int kind = 0; kind < 4; kind++) {
        kith_law *law = kind % 2 ? ions() : parsed("coulomb", 1, 5);
        kith_simulation_options options = options_of(law, 1e-5, 0);
        if (kind % 2 == 0) {
            options.forces.cutoff = 0;
            options.forces.shift = KITH_SHIFT_NONE;
        }
        if (kind >= 2) {
            options.forces.exclusions = pairs();
            options.forces.ewald.boundary = KITH_BOUNDARY_VACUUM;
            options.forces.solver = solver_named("ewald");
        }
        take(&options, bodies, 10, whole);
        options.substeps = 3;
        take(&options, bodies, 10, parts);
        double force = 0; /* over the mass: the change of a velocity */
        for (int i = 0; i < 3 * count; i++)
            force = fmax(force, fabs(whole->velocity[i] - bodies->velocity[i]));
        assert_true(force > 1e-4);
        assert_true(largest_difference(whole->velocity, parts->velocity) < 1e-6 * force);
        kith_law_free(law);
    }
    kith_bodies_free(bodies);
    kith_bodies_free(whole);
    kith_bodies_free(parts);
}

/* Back along the same path: what is left is the error of the mesh, whose setting is chosen again.
 */
static void test_steps_go_back_in_time(void **state)
{
    (void)state;
    kith_bodies *bodies = salt(), *there = room(), *back = room();
    kith_law *law = ions();
    const kith_simulation_options options = options_of(law, 0.004, 4);
    take(&options, bodies, 20, there);
    assert_true(largest_difference(there->position, bodies->position) > 0.05);
    kith_bodies *turned = salt();
    for (int i = 0; i < 3 * count; i++) {
        turned->position[i] = there->position[i];
        turned->velocity[i] = -there->velocity[i];
    }
    take(&options, turned, 20, back);
    const double off = largest_difference(back->position, bodies->position);
    assert_true(off < 1e-4);
    kith_law_free(law);
    kith_bodies_free(bodies);
    kith_bodies_free(turned);
    kith_bodies_free(there);
    kith_bodies_free(back);
}

static kith_run_options run_of(const kith_law *law, double dt, int32_t substeps, double until,
                               const char *output)
{
    kith_run_options options = run_options(dt, until, 5, output);
    options.simulation = options_of(law, dt, substeps);
    return options;
}

/* The repulsion limits the step: with it in substeps, a step of three times the length has about
 * the error of the short one, and without them a far larger one. */
static void test_a_melt_keeps_its_energy_with_long_steps(void **state)
{
    (void)state;
    kith_bodies *bodies = salt();
    kith_law *law = ions();
    double error[3];
    static const double dt[3] = {0.002, 0.006, 0.006};
    static const int32_t substeps[3] = {1, 3, 0};
    for (int k = 0; k < 3; k++) {
        const kith_run_summary summary =
            run(run_of(law, dt[k], substeps[k], 0.6, in_files("melt.h5")), bodies);
        error[k] = summary.max_relative_energy_error;
    }
    assert_true(error[1] < 3 * error[0]);
    assert_true(error[2] > 3 * error[1]);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void assert_same_ends(const char *name, const char *other)
{
    kith_bodies *last[2] = {NULL};
    const char *names[2] = {name, other};
    for (int k = 0; k < 2; k++)
        assert_ok(
            kith_bodies_read(in_files(names[k]), &(kith_read_options){.frame = -1}, &last[k]));
    assert_memory_equal(last[0]->position, last[1]->position, 3 * count * sizeof(double));
    assert_memory_equal(last[0]->velocity, last[1]->velocity, 3 * count * sizeof(double));
    kith_bodies_free(last[0]);
    kith_bodies_free(last[1]);
}

/* With a thermostat, whose numbers are those of the step, and with an odd and an even number. */
static void test_a_run_resumes_bit_for_bit(void **state)
{
    (void)state;
    kith_bodies *bodies = salt();
    kith_law *law = ions();
    for (int32_t substeps = 2; substeps <= 3; substeps++) {
        kith_run_options options = run_of(law, 0.004, substeps, 0.08, in_files("whole.h5"));
        options.simulation.thermostat =
            (kith_thermostat){.kind = KITH_THERMOSTAT_LANGEVIN, .temperature = 3, .time = 0.1};
        run(options, bodies);
        options.until = 0.028;
        options.output = in_files("pieces.h5");
        kith_context *context = cpu_context(3);
        assert_ok(kith_run(context, &options, bodies, NULL));
        kith_context_free(context);
        kith_run_options rest = {.output = in_files("pieces.h5"), .until = 0.08, .resume = true};
        run(rest, NULL);
        assert_same_ends("whole.h5", "pieces.h5");
        rest.until = 0.1;
        rest.simulation.substeps = 5;
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "substeps 5");
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void fails(const kith_simulation_options *options, const kith_bodies *bodies,
                  kith_status status, const char *fields)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = NULL;
    assert_fails(kith_simulation_create(context, options, bodies, &simulation), status, fields);
    kith_context_free(context);
}

static void test_what_has_no_substeps_is_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = salt();
    kith_law *law = ions(), *near = parsed("lennard-jones", 0, 0);
    kith_simulation_options options = options_of(law, 0.004, -1);
    fails(&options, bodies, KITH_INVALID_ARGUMENT, "substeps -1 1 1024");
    options.substeps = KITH_MOST_SUBSTEPS + 1;
    fails(&options, bodies, KITH_INVALID_ARGUMENT, "substeps 1025 1024");
    options.substeps = 2;
    options.integrator = "yoshida4";
    fails(&options, bodies, KITH_INVALID_ARGUMENT, "substeps 2 yoshida4 leapfrog");
    options.integrator = NULL;
    const double edge = bodies->cell[0];
    const kith_cell slab = {{{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}}, {true, true, false}};
    options.forces.cell = &slab;
    fails(&options, bodies, KITH_UNSUPPORTED, "substeps 2 slab");
    options.forces.cell = NULL;
    options.forces.law = near;
    options.forces.solver = NULL;
    options.forces.accuracy.error = 0;
    fails(&options, bodies, KITH_INVALID_ARGUMENT, "substeps 2 cutoff pme ewald");
    kith_law_free(law);
    kith_law_free(near);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_parts_are_the_whole_force),
        cmocka_unit_test(test_steps_go_back_in_time),
        cmocka_unit_test(test_a_melt_keeps_its_energy_with_long_steps),
        cmocka_unit_test(test_a_run_resumes_bit_for_bit),
        cmocka_unit_test(test_what_has_no_substeps_is_refused),
    };
    return cmocka_run_group_tests_name("run_substeps", tests, make_files_directory,
                                       remove_files_directory);
}
