/* The solver pme with lennard-jones: all images of 1/r⁶ by the mesh. Compared with sums over
 * images one by one, with sums of lattices, and with differences of the energy. */

#include "testing.h"

#include <math.h>
#include <string.h>

#include "mesh/pme.h"
#include "random_numbers.h"

enum { most = 512 };
static const double epsilon = 1.3, sigma = 0.9;

static kith_context *context;

static int open_context(void **state)
{
    (void)state;
    return kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 2},
                               &context);
}

static int close_context(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

struct system {
    int64_t count;
    double x[most][3];
    kith_cell cell;
    kith_forces_options options;
    double a[most][3], potential[most];
    kith_forces_totals totals;
    kith_solver_report report;
};

static struct system one, other;

static kith_status compute_by(struct system *system, const char *solver, const char *of_charges,
                              const char *second)
{
    static double charge[most];
    kith_law *law = NULL, *near = NULL;
    const int64_t n = system->count;
    const kith_particles particles = {.positions = kith_array_matrix(system->x, KITH_F64, n, 3),
                                      .columns = {{"q", kith_array_vector(charge, KITH_F64, n)}}};
    for (int64_t i = 0; i < n; i++)
        charge[i] = i % 2 ? 3 : -3;
    assert_ok(kith_law_parse(of_charges ? of_charges : second, 0, NULL, &law));
    if (of_charges && second) {
        assert_ok(kith_law_parse(second, 0, NULL, &near));
        assert_ok(kith_law_add(law, near));
    }
    system->options.law = law;
    system->options.cell = &system->cell;
    system->options.totals = &system->totals;
    system->options.report = &system->report;
    system->options.solver = solver_named(solver);
    const kith_status status = kith_forces_compute(
        context, &system->options, NULL, &particles, kith_array_matrix(system->a, KITH_F64, n, 3),
        kith_array_vector(system->potential, KITH_F64, n));
    kith_law_free(law);
    return status;
}

static kith_status compute(struct system *system, const char *solver)
{
    return compute_by(system, solver, NULL, "lennard-jones:1.3,0.9");
}

enum kind { crystal, liquid_in_a_gap, gas, kinds };

/* About one particle a unit of volume, in a cell skewed by up to 30 degrees: on jittered sites,
 * in its lower half, or anywhere. */
static void fill(struct system *system, struct random_numbers *numbers, int64_t n, enum kind kind)
{
    *system = (struct system){.count = n};
    const int64_t side = (int64_t)ceil(cbrt((double)n));
    double(*v)[3] = system->cell.vectors;
    for (int k = 0; k < 3; k++) {
        system->cell.periodic[k] = true;
        for (int c = 0; c < k; c++)
            v[k][c] = v[c][c] * random_uniform(numbers, -0.5, 0.5);
        v[k][k] = (double)side * random_uniform(numbers, 1, 1.2);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / side / side};
        for (int c = 0; c < 3; c++) {
            const double any = random_uniform(numbers, 0, 1);
            const double part = c == 2 && kind == liquid_in_a_gap ? 0.6 : 1;
            const double f = kind == gas ? any : part * ((double)at[c] + 0.3 * any) / (double)side;
            for (int b = 0; b < 3; b++)
                system->x[i][b] += f * v[c][b];
        }
    }
}

/* Forces by all images within a distance. */
static void sum_images(struct system *system, double reach)
{
    double(*v)[3] = system->cell.vectors;
    const double four = 4 * epsilon, sixth = pow(sigma, 6);
    int64_t images[3];
    for (int k = 0; k < 3; k++) /* heights are at least 0.7 of the edges */
        images[k] = (int64_t)ceil(reach / (0.7 * v[k][k])) + 1;
    memset(system->a, 0, sizeof system->a);
    for (int64_t a = -images[0]; a <= images[0]; a++)
        for (int64_t b = -images[1]; b <= images[1]; b++)
            for (int64_t c = -images[2]; c <= images[2]; c++)
                for (int64_t i = 0; i < system->count; i++)
                    for (int64_t j = 0; j < system->count; j++) {
                        double d[3], r2 = 0;
                        for (int k = 0; k < 3; k++) {
                            d[k] = system->x[j][k] - system->x[i][k] + (double)a * v[0][k] +
                                   (double)b * v[1][k] + (double)c * v[2][k];
                            r2 += d[k] * d[k];
                        }
                        if (r2 == 0 || r2 > reach * reach)
                            continue;
                        const double s6 = sixth / (r2 * r2 * r2);
                        const double factor = four * (6 * s6 - 12 * s6 * s6) / r2;
                        for (int k = 0; k < 3; k++)
                            system->a[i][k] += factor * d[k];
                    }
}

static double rms(const struct system *a, const struct system *minus)
{
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++)
        for (int c = 0; c < 3; c++)
            sum += pow(a->a[i][c] - (minus ? minus->a[i][c] : 0), 2);
    return sqrt(sum / (double)a->count);
}

/* By the definition of kith/solver.h. */
static double scale_of(const struct system *system)
{
    const double(*v)[3] = system->cell.vectors;
    const double density = (double)system->count / (v[0][0] * v[1][1] * v[2][2]);
    return fmax(rms(system, NULL), 0.6 * 4 * epsilon * pow(sigma, 6) * pow(density, 7.0 / 3));
}

static void test_the_error_is_what_is_asked_for(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int k = 0; k < 24; k++) {
        const enum kind kind = (enum kind)(k % kinds);
        const int64_t n = (int64_t)pow(2, random_uniform(&numbers, 1, 6));
        const double error = pow(10, random_uniform(&numbers, -5, -2));
        fill(&one, &numbers, n, kind);
        other = one;
        sum_images(&one, 14);
        other.options.accuracy.error = error;
        assert_ok(compute(&other, "pme"));
        const double ratio = rms(&other, &one) / scale_of(&one) / error;
        if (!(ratio <= 1))
            printf("case %d, kind %d, %lld particles: %.3g times the error of %.3g\n", k, kind,
                   (long long)n, ratio, error);
        assert_true(ratio <= 1);
    }
}

static void test_small_errors_are_those_of_a_smaller_one(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    int larger = 0;
    for (int k = 0; k < 24; k++) {
        const int64_t n = (int64_t)pow(2, random_uniform(&numbers, 1, 9));
        const double error = pow(10, random_uniform(&numbers, -8, -2));
        fill(&one, &numbers, n, (enum kind)(k % kinds));
        one.options.accuracy.error = 1e-10;
        other = one;
        assert_ok(compute(&one, "pme"));
        other.options.accuracy.error = error;
        assert_ok(compute(&other, "pme"));
        const double ratio = rms(&other, &one) / scale_of(&one) / error;
        if (!(ratio <= 1))
            printf("case %d: %lld particles: %.3g times the error of %.3g\n", k, (long long)n,
                   ratio, error);
        assert_true(ratio <= 1);
        larger += ratio >= 1.0 / 20;
    }
    assert_true(larger >= 12); /* no time is wasted */
}

/* Σ' r^{−6} and Σ' r^{−12} of the simple cubic lattice: 8.40192397482754 and 6.20214904504752;
 * of the face-centered cubic one, of nearest distance 1: 14.45392104 and 12.13188020 (Hirschfelder,
 * Curtiss & Bird 1954, table 13.9-1). */
static void test_energies_of_lattices_are_those_published(void **state)
{
    (void)state;
    const double edge = sqrt(2), four = 4 * epsilon, sixth = pow(sigma, 6);
    one = (struct system){.count = 1};
    other = (struct system){.count = 4};
    for (int k = 0; k < 3; k++) {
        one.cell.vectors[k][k] = 1;
        other.cell.vectors[k][k] = edge;
        one.cell.periodic[k] = other.cell.periodic[k] = true;
        for (int c = 0; c < 3; c++)
            other.x[k + 1][c] = c == k ? 0 : edge / 2;
    }
    one.options.ewald.absolute_error = other.options.ewald.absolute_error = 1e-9;
    assert_ok(compute(&one, "pme"));
    assert_ok(compute(&other, "pme"));
    const double simple = four * sixth * (sixth * 6.20214904504752 - 8.40192397482754);
    const double face_centered = four * sixth * (sixth * 12.13188020 - 14.45392104);
    assert_true(fabs(one.potential[0] / simple - 1) < 1e-7);
    assert_true(fabs(other.potential[3] / face_centered - 1) < 1e-7);
    assert_true(fabs(one.totals.energy - simple / 2) < 1e-7 * fabs(simple));
}

/* Pairs beyond the cutoff all pull: energy and virial have them at the mean density. */
static void test_energy_and_virial_depend_little_on_the_error(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    double energy = 0, virial = 0, of_energy = 0, of_virial = 0;
    for (int k = 0; k < 8; k++) {
        fill(&one, &numbers, most, crystal);
        other = one;
        one.options.accuracy.error = 1e-9;
        assert_ok(compute(&one, "pme"));
        other.options.accuracy.error = 1e-3;
        assert_ok(compute(&other, "pme"));
        energy += fabs(other.totals.energy - one.totals.energy);
        of_energy += fabs(one.totals.energy);
        for (int c = 0; c < 9; c += 4) {
            virial += fabs(other.totals.virial[c] - one.totals.virial[c]);
            of_virial += fabs(one.totals.virial[c]);
        }
    }
    assert_true(energy < 1.5e-3 * of_energy && virial < 5e-3 * of_virial);
}

static void give_setting(struct system *system)
{
    system->options.accuracy.error = 1e-9; /* in double precision */
    system->options.cutoff = 6;
    system->options.ewald.alpha = 1;
    system->options.accuracy.order = 8;
    for (int k = 0; k < 3; k++)
        system->options.ewald.grid[k] = 40;
}

static void test_forces_and_virial_are_derivatives_of_the_energy(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    const double h = 1e-5;
    fill(&one, &numbers, 27, crystal);
    give_setting(&one);
    other = one;
    assert_ok(compute(&one, "pme"));
    const double scale = rms(&one, NULL);
    for (int c = 0; c < 3; c++) {
        double energy[2];
        for (int side = 0; side < 2; side++) {
            other.x[5][c] = one.x[5][c] + (side ? h : -h);
            assert_ok(compute(&other, "pme"));
            energy[side] = other.totals.energy;
        }
        other.x[5][c] = one.x[5][c];
        assert_true(fabs(one.a[5][c] + (energy[1] - energy[0]) / (2 * h)) < 1e-5 * scale);
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                const double strain = side ? h : -h;
                other = one;
                for (int64_t i = 0; i < one.count; i++)
                    other.x[i][a] += strain * one.x[i][b];
                for (int k = 0; k < 3; k++)
                    other.cell.vectors[k][a] += strain * one.cell.vectors[k][b];
                assert_ok(compute(&other, "pme"));
                energy[side] = other.totals.energy;
            }
            const double expected = -(energy[1] - energy[0]) / (2 * h);
            assert_true(fabs(one.totals.virial[3 * a + b] - expected) <
                        2e-6 * (fabs(expected) + scale));
        }
}

static void test_excluded_pairs_do_not_interact(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    int64_t pair[1][2] = {{3, 4}};
    fill(&one, &numbers, 27, crystal);
    give_setting(&one);
    other = one;
    assert_ok(compute(&one, "pme"));
    other.options.exclusions = kith_array_matrix(pair, KITH_I64, 1, 2);
    assert_ok(compute(&other, "pme"));
    double r2 = 0;
    for (int c = 0; c < 3; c++)
        r2 += pow(one.x[4][c] - one.x[3][c], 2);
    const double s6 = pow(sigma * sigma / r2, 3), value = 4 * epsilon * (s6 * s6 - s6);
    const double factor = 4 * epsilon * (12 * s6 * s6 - 6 * s6) / r2;
    assert_true(fabs(one.totals.energy - other.totals.energy - value) < 1e-10 * fabs(value));
    for (int c = 0; c < 3; c++) {
        const double force = factor * (one.x[3][c] - one.x[4][c]);
        assert_true(fabs(one.a[3][c] - other.a[3][c] - force) < 1e-9 * (1 + fabs(factor)));
        assert_true(fabs(one.a[4][c] - other.a[4][c] + force) < 1e-9 * (1 + fabs(factor)));
    }
}

static struct system charged, both;

static void test_with_coulomb_both_laws_have_all_images(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    static const char second[] = "lennard-jones:1.3,0.9";
    fill(&one, &numbers, 216, crystal);
    one.options.accuracy.error = 1e-9;
    other = charged = both = one;
    assert_ok(compute(&one, "pme"));
    assert_ok(compute_by(&charged, "pme", "coulomb", NULL));
    assert_ok(compute_by(&both, "pme", "coulomb", second));
    const double scale = rms(&one, NULL) + rms(&charged, NULL);
    for (int64_t i = 0; i < one.count; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs(both.a[i][c] - one.a[i][c] - charged.a[i][c]) < 1e-6 * scale);
    for (int64_t i = 0; i < one.count; i++)
        assert_true(fabs(both.potential[i] - one.potential[i] - charged.potential[i]) <
                    1e-6 * scale);
    assert_true(fabs(both.totals.energy - one.totals.energy - charged.totals.energy) <
                1e-6 * scale);
    for (int k = 0; k < 9; k++)
        assert_true(fabs(both.totals.virial[k] - one.totals.virial[k] - charged.totals.virial[k]) <
                    1e-6 * scale);
    other.options.cutoff = 4; /* which lennard-jones then ends at */
    assert_ok(compute_by(&other, "pme", "coulomb", second));
    assert_true(fabs(other.totals.energy - both.totals.energy) > 1e-3 * fabs(one.totals.energy));
    other.options.cutoff = 0;
    assert_fails(compute_by(&other, "ewald", "coulomb", second), KITH_INVALID_ARGUMENT,
                 "cutoff 0 lennard-jones");
    assert_fails(compute_by(&other, "pme", "coulomb", "morse:1,1,1"), KITH_INVALID_ARGUMENT,
                 "cutoff 0 morse");
    other.options.shift = KITH_SHIFT_FORCE;
    assert_fails(compute_by(&other, "pme", "coulomb", second), KITH_INVALID_ARGUMENT,
                 "shift cutoff 0");
}

static void test_threads_do_not_change_a_bit_and_single_precision_is_near(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    kith_context *several = context;
    fill(&one, &numbers, 500, crystal);
    one.options.accuracy.error = 1e-4;
    other = one;
    assert_ok(compute(&one, "pme"));
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    assert_ok(compute(&other, "pme"));
    assert_memory_equal(one.a, other.a, sizeof one.a);
    assert_memory_equal(&one.totals, &other.totals, sizeof one.totals);
    static float x[most][3], a[most][3];
    kith_law *law = NULL;
    for (int64_t i = 0; i < one.count; i++)
        for (int c = 0; c < 3; c++)
            x[i][c] = (float)one.x[i][c];
    assert_ok(kith_law_parse("lennard-jones:1.3,0.9", 0, NULL, &law));
    const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F32, one.count, 3)};
    const kith_forces_options options = {
        .law = law, .cell = &one.cell, .solver = solver_named("pme"), .accuracy = {.error = 1e-4}};
    assert_ok(kith_forces_compute(context, &options, NULL, &particles,
                                  kith_array_matrix(a, KITH_F32, one.count, 3), kith_array_none()));
    kith_law_free(law);
    for (int64_t i = 0; i < one.count; i++)
        for (int c = 0; c < 3; c++)
            other.a[i][c] = a[i][c];
    assert_true(rms(&other, &one) < 2e-4 * rms(&one, NULL));
    kith_context_free(context);
    context = several;
}

static void test_few_particles_are_fine_and_others_are_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int64_t n = 0; n <= 2; n++) {
        fill(&one, &numbers, n, crystal);
        for (int k = 0; k < 3; k++)
            one.cell.vectors[k][k] = 3;
        assert_ok(compute(&one, "pme"));
        assert_true(isfinite(one.totals.energy) && (n > 0 || one.totals.energy == 0));
    }
    memcpy(one.x[1], one.x[0], sizeof one.x[1]); /* at the same place: no interaction */
    assert_ok(compute(&one, "pme"));
    assert_true(fabs(one.a[0][0]) < 1e-3 && one.potential[0] < 0);
    assert_fails(compute(&one, "ewald"), KITH_UNSUPPORTED, "ewald coulomb");
    one.options.ewald.boundary = KITH_BOUNDARY_VACUUM;
    assert_fails(compute(&one, "pme"), KITH_UNSUPPORTED, "lennard-jones boundary");
    one.options.ewald.boundary = KITH_BOUNDARY_TIN_FOIL;
    one.cell.periodic[2] = false;
    assert_fails(compute(&one, "pme"), KITH_UNSUPPORTED, "lennard-jones three");
}

static void test_without_the_library_a_sentence_says_so(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 27, crystal);
    assert_fails(compute(&one, "pme"), KITH_UNSUPPORTED, "FFTW cutoff");
    assert_fails(compute_by(&one, "pme", "coulomb", "lennard-jones:1.3,0.9"), KITH_UNSUPPORTED,
                 "FFTW cutoff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_error_is_what_is_asked_for),
        cmocka_unit_test(test_small_errors_are_those_of_a_smaller_one),
        cmocka_unit_test(test_energies_of_lattices_are_those_published),
        cmocka_unit_test(test_energy_and_virial_depend_little_on_the_error),
        cmocka_unit_test(test_forces_and_virial_are_derivatives_of_the_energy),
        cmocka_unit_test(test_excluded_pairs_do_not_interact),
        cmocka_unit_test(test_with_coulomb_both_laws_have_all_images),
        cmocka_unit_test(test_threads_do_not_change_a_bit_and_single_precision_is_near),
        cmocka_unit_test(test_few_particles_are_fine_and_others_are_refused),
    };
    const struct CMUnitTest without[] = {
        cmocka_unit_test(test_without_the_library_a_sentence_says_so)};
    return pme_is_there() ? cmocka_run_group_tests(tests, open_context, close_context)
                          : cmocka_run_group_tests(without, open_context, close_context);
}
