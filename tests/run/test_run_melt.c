/* Molten salt: coulomb with all images and a second law within a cutoff. */

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

static kith_law *ions(const char *near)
{
    kith_law *law = parsed("coulomb", 1, 5);
    assert_ok(kith_law_add(law, parsed(near, 0, 0)));
    assert_string_equal(kith_law_text(kith_law_added(law)), near);
    return law;
}

static const char *solver(void)
{
    return pme_is_there() ? "pme" : "ewald";
}

static kith_run_options options_of(const kith_law *law, double until, const char *output)
{
    kith_run_options options = run_options(0.001, until, 20, output);
    options.simulation.forces.law = law;
    options.simulation.forces.solver = solver_named(solver());
    options.simulation.forces.accuracy.error = 1e-5;
    options.simulation.forces.cutoff = 2;
    options.simulation.forces.shift = KITH_SHIFT_FORCE;
    return options;
}

/* The forces of each law by itself, in a random state. */
static void test_forces_and_totals_add_up(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_melt");
    kith_bodies *bodies = salt();
    for (int i = 0; i < 3 * count; i++)
        bodies->position[i] += random_uniform(&numbers, -0.2, 0.2);
    const double edge = bodies->cell[0];
    const kith_cell cell = {{{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}}, {true, true, true}};
    kith_law *laws[3] = {parsed("coulomb", 1, 5), parsed("lennard-jones", 0, 0),
                         ions("lennard-jones")};
    static double a[3][count][3], potential[3][count];
    kith_forces_totals totals[3];
    kith_context *context = cpu_context(2);
    for (int tail = 0; tail < 2; tail++) {
        for (int k = 0; k < 3; k++) {
            const kith_forces_options options = {.law = laws[k],
                                                 .solver =
                                                     solver_named(k == 1 ? "cutoff" : solver()),
                                                 .accuracy = {.error = k == 1 ? 0 : 1e-6},
                                                 .cutoff = k == 0 ? 0 : 1.9,
                                                 .tail = k > 0 && tail,
                                                 .cell = &cell,
                                                 .totals = &totals[k]};
            const kith_particles particles = {
                .positions = kith_array_matrix(bodies->position, KITH_F64, count, 3),
                .columns = {{"q", kith_array_vector(bodies->charge, KITH_F64, count)}}};
            assert_ok(kith_forces_compute(context, &options, NULL, &particles,
                                          kith_array_matrix(a[k], KITH_F64, count, 3),
                                          kith_array_vector(potential[k], KITH_F64, count)));
        }
        for (int i = 0; i < count; i++) {
            assert_true(fabs(potential[0][i] + potential[1][i] - potential[2][i]) <
                        1e-12 * (fabs(potential[0][i]) + fabs(potential[1][i])));
            for (int c = 0; c < 3; c++)
                assert_true(fabs(a[0][i][c] + a[1][i][c] - a[2][i][c]) <
                            1e-12 * (fabs(a[0][i][c]) + fabs(a[1][i][c])) + 1e-12);
        }
        assert_true(fabs(totals[0].energy + totals[1].energy - totals[2].energy) <
                    1e-12 * (fabs(totals[0].energy) + fabs(totals[1].energy)));
        for (int k = 0; k < 9; k++)
            assert_true(fabs(totals[0].virial[k] + totals[1].virial[k] - totals[2].virial[k]) <
                        1e-9 * fabs(totals[0].energy));
    }
    kith_context_free(context);
    for (int k = 0; k < 3; k++)
        kith_law_free(laws[k]);
    kith_bodies_free(bodies);
}

/* The melting is in the first half; a drift would go on. */
static void test_a_melt_keeps_its_energy(void **state)
{
    (void)state;
    kith_bodies *bodies = salt();
    kith_law *law = ions("lennard-jones");
    const kith_run_summary summary = run(options_of(law, 0.5, in_files("melt.h5")), bodies);
    assert_string_equal(summary.solver, solver());
    assert_true(fabs(summary.energy_final - summary.energy_initial) < 2e-3 * count);
    assert_true(summary.max_relative_energy_error < 1e-3);
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
    assert_memory_equal(last->position, of_other->position, 3 * count * sizeof(double));
    assert_memory_equal(last->velocity, of_other->velocity, 3 * count * sizeof(double));
    kith_bodies_free(last);
    kith_bodies_free(of_other);
}

/* Both laws are in the file; and neither the skin nor the threads change the bits. */
static void test_a_melt_resumes_bit_for_bit(void **state)
{
    (void)state;
    static const char *const near[] = {"lennard-jones:0.9,1.05",
                                       "expr: exp(-8*(r-1)) - 1/pow(r,6)"};
    kith_bodies *bodies = salt();
    for (int k = 0; k < 2; k++) {
        kith_law *law = ions(near[k]);
        kith_run_options options = options_of(law, 0.06, in_files("whole.h5"));
        if (k == 1)
            options.simulation.forces.shift = KITH_SHIFT_NONE;
        run(options, bodies);
        options.until = 0.02;
        options.output = in_files("pieces.h5");
        options.simulation.skin = 0.3;
        kith_context *context = cpu_context(3);
        assert_ok(kith_run(context, &options, bodies, NULL));
        kith_context_free(context);
        kith_run_options rest = {.output = in_files("pieces.h5"), .until = 0.06, .resume = true};
        run(rest, NULL);
        assert_same_ends("whole.h5", "pieces.h5");
        kith_law *other = ions("lennard-jones:0.8,1.05");
        rest.until = 0.1;
        rest.simulation.forces.law = other;
        rest.simulation.forces.solver = solver_named(solver());
        rest.simulation.forces.cutoff = 2;
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "coulomb 5 lennard-jones");
        kith_law_free(other);
        kith_law_free(law);
    }
    kith_bodies_free(bodies);
}

/* Pairs that are excluded are in the file too, and apply to both laws in forces and energies. */
static void test_a_melt_with_excluded_pairs_resumes_bit_for_bit(void **state)
{
    (void)state;
    static int64_t pairs[count][2];
    kith_bodies *bodies = salt();
    kith_law *law = ions("lennard-jones:0.9,1.05");
    kith_run_options options = options_of(law, 0.06, in_files("free.h5"));
    run(options, bodies);
    for (int64_t i = 0; i < count; i++) {
        pairs[i][0] = i;
        pairs[i][1] = i ^ 1;
    }
    options.simulation.forces.exclusions = kith_array_matrix(pairs, KITH_I64, count, 2);
    options.output = in_files("whole.h5");
    const kith_run_summary summary = run(options, bodies);
    assert_true(summary.max_relative_energy_error < 1e-3);
    options.until = 0.02;
    options.output = in_files("pieces.h5");
    kith_context *context = cpu_context(3);
    assert_ok(kith_run(context, &options, bodies, NULL));
    kith_context_free(context);
    run((kith_run_options){.output = in_files("pieces.h5"), .until = 0.06, .resume = true}, NULL);
    assert_same_ends("whole.h5", "pieces.h5");
    kith_bodies *last = last_of("whole.h5"), *other = last_of("free.h5");
    assert_memory_not_equal(last->position, other->position, 3 * count * sizeof(double));
    kith_bodies_free(last);
    kith_bodies_free(other);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void test_sums_that_are_none_are_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = salt();
    kith_law *law = ions("lennard-jones"), *single = parsed("sum", 0, 0);
    kith_law *gravity = parsed("gravity", 0, 0);
    assert_fails(kith_law_add(law, single), KITH_INVALID_ARGUMENT, "sum");
    assert_fails(kith_law_add(single, single), KITH_INVALID_ARGUMENT, "");
    assert_fails(kith_law_add(gravity, single), KITH_INVALID_ARGUMENT, "coulomb");
    assert_fails(kith_law_add(single, NULL), KITH_INVALID_ARGUMENT, "near NULL");
    assert_null(kith_law_added(single));
    double value = 0;
    assert_fails(kith_law_evaluate(law, &(kith_law_pair){.d = {1, 0, 0}}, &value, NULL),
                 KITH_UNSUPPORTED, "law coulomb lennard-jones");
    kith_law *with_morse = ions("morse:1,1,1");
    kith_run_options options = options_of(with_morse, 0.1, NULL);
    options.simulation.forces.cutoff = 0;
    options.simulation.forces.shift = KITH_SHIFT_NONE;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "cutoff 0 morse");
    options.simulation.forces.law = law;
    options.simulation.forces.cutoff = 2;
    options.simulation.forces.solver = NULL;
    run_fails(options, bodies, KITH_UNSUPPORTED, "solver cutoff law");
    kith_law_free(law);
    kith_law_free(with_morse);
    kith_law_free(single);
    kith_law_free(gravity);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_and_totals_add_up),
        cmocka_unit_test(test_a_melt_keeps_its_energy),
        cmocka_unit_test(test_a_melt_resumes_bit_for_bit),
        cmocka_unit_test(test_a_melt_with_excluded_pairs_resumes_bit_for_bit),
        cmocka_unit_test(test_sums_that_are_none_are_refused),
    };
    return cmocka_run_group_tests_name("run_melt", tests, make_files_directory,
                                       remove_files_directory);
}
