/* The solver ewald: periodic images, as users call it. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "random_numbers.h"

enum { most = 2048 };

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
    double x[most][3], q[most], m[most];
    kith_cell cell;
    kith_forces_options options;
    double a[most][3], potential[most];
    kith_forces_totals totals;
    kith_solver_report report;
};

static void set_cell(struct system *system, const double vectors[3][3])
{
    for (int k = 0; k < 3; k++) {
        memcpy(system->cell.vectors[k], vectors[k], sizeof system->cell.vectors[k]);
        system->cell.periodic[k] = true;
    }
}

static void set_cube(struct system *system, double edge)
{
    set_cell(system, (const double[3][3]){{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}});
}

static kith_status compute(struct system *system, const char *law_text)
{
    kith_law *law = NULL;
    const int64_t n = system->count;
    const kith_particles particles = {
        .positions = kith_array_matrix(system->x, KITH_F64, n, 3),
        .columns = {{"m", kith_array_vector(system->m, KITH_F64, n)},
                    {"q", kith_array_vector(system->q, KITH_F64, n)}}};
    if (law_text)
        assert_ok(kith_law_parse(law_text, 0, NULL, &law));
    system->options.law = law;
    system->options.cell = &system->cell;
    system->options.totals = &system->totals;
    system->options.report = &system->report;
    if (!system->options.solver)
        system->options.solver = solver_named("ewald");
    const kith_status status = kith_forces_compute(
        context, &system->options, NULL, &particles, kith_array_matrix(system->a, KITH_F64, n, 3),
        kith_array_vector(system->potential, KITH_F64, n));
    kith_law_free(law);
    return status;
}

static void fill(struct system *system, struct random_numbers *numbers, int64_t n, bool neutral)
{
    *system = (struct system){.count = n};
    double vectors[3][3], total = 0;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            vectors[k][c] = (k == c ? 4 : 0) + random_uniform(numbers, -1.2, 1.2);
    set_cell(system, (const double(*)[3])vectors);
    for (int64_t i = 0; i < n; i++) {
        double f[3];
        for (int c = 0; c < 3; c++)
            f[c] = random_uniform(numbers, -1, 2);
        for (int c = 0; c < 3; c++)
            system->x[i][c] = f[0] * vectors[0][c] + f[1] * vectors[1][c] + f[2] * vectors[2][c];
        system->q[i] = random_uniform(numbers, -1, 1);
        system->m[i] = random_uniform(numbers, 1, 2);
        total += system->q[i];
    }
    for (int64_t i = 0; neutral && i < n; i++)
        system->q[i] -= total / (double)n;
}

static struct system one, other;

/* rms of the forces' differences over the rms of the forces. */
static double difference(const struct system *a, const struct system *b)
{
    double wrong = 0, all = 0;
    for (int64_t i = 0; i < a->count; i++)
        for (int c = 0; c < 3; c++) {
            wrong += pow(a->m[i] * (a->a[i][c] - b->a[i][c]), 2);
            all += pow(a->m[i] * b->a[i][c], 2);
        }
    return sqrt(wrong / all);
}

/* Σ |w φ|: what energies are compared with. */
static double energy_scale(const struct system *system)
{
    double sum = 0;
    for (int64_t i = 0; i < system->count; i++)
        sum += fabs(system->potential[i]);
    return sum;
}

static void assert_close(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g and %.17g differ by %.3g, more than %.3g", a, b, fabs(a - b), tolerance);
}

struct site {
    double f[3], q;
};

static void set_crystal(struct system *system, double edge, int64_t count, const struct site *sites)
{
    *system = (struct system){.count = count};
    set_cube(system, edge);
    for (int64_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++)
            system->x[i][c] = edge * sites[i].f[c];
        system->q[i] = sites[i].q;
        system->m[i] = 1;
    }
}

static const struct site rock_salt[] = {{{0, 0, 0}, 1},   {{.5, .5, 0}, 1},  {{.5, 0, .5}, 1},
                                        {{0, .5, .5}, 1}, {{.5, 0, 0}, -1},  {{0, .5, 0}, -1},
                                        {{0, 0, .5}, -1}, {{.5, .5, .5}, -1}};
static const struct site cesium_chloride[] = {{{0, 0, 0}, 1}, {{.5, .5, .5}, -1}};
static const struct site zinc_blende[] = {
    {{0, 0, 0}, 1},        {{.5, .5, 0}, 1},      {{.5, 0, .5}, 1},      {{0, .5, .5}, 1},
    {{.25, .25, .25}, -1}, {{.75, .75, .25}, -1}, {{.75, .25, .75}, -1}, {{.25, .75, .75}, -1}};

/* The potential at an ion is −M / (distance of neighbors). */
static void test_crystals_have_the_energies_of_madelung(void **state)
{
    (void)state;
    static const struct {
        const struct site *sites;
        int64_t count;
        double distance, madelung;
    } crystals[] = {{rock_salt, 8, 0.5, 1.747564594633182},
                    {cesium_chloride, 2, 0.8660254037844386, 1.762674773070988},
                    {zinc_blende, 8, 0.4330127018922193, 1.638055053388789}};
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < 3; e++) {
            const double edge = e == 0 ? 1 : e == 1 ? 5.64 : 1e-10;
            set_crystal(&one, edge, crystals[k].count, crystals[k].sites);
            assert_ok(compute(&one, "coulomb"));
            const double unit = 1 / (crystals[k].distance * edge);
            for (int64_t i = 0; i < one.count; i++) {
                assert_close(one.potential[i], -crystals[k].madelung * unit, 3e-12 * unit);
                for (int c = 0; c < 3; c++)
                    assert_close(one.a[i][c], 0, 1e-12 * unit * unit);
            }
            assert_close(one.totals.energy, -crystals[k].madelung * unit * (double)one.count / 2,
                         3e-12 * unit * (double)one.count);
            assert_close(one.totals.volume, edge * edge * edge, 1e-12 * edge * edge * edge);
        }
}

static void test_the_result_does_not_depend_on_alpha(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int turn = 0; turn < 3; turn++) {
        fill(&one, &numbers, 60, turn > 0);
        assert_ok(compute(&one, "coulomb"));
        other = one;
        other.options.ewald.alpha = one.report.alpha * random_uniform(&numbers, 1, 1.7);
        other.options.accuracy.error = 1e-14;
        assert_ok(compute(&other, "coulomb"));
        assert_true(difference(&other, &one) < 1e-11);
        assert_close(other.totals.energy, one.totals.energy, 1e-11 * energy_scale(&one));
        for (int k = 0; k < 9; k++)
            assert_close(other.totals.virial[k], one.totals.virial[k], 1e-11 * energy_scale(&one));
        for (int64_t i = 0; i < one.count; i++)
            assert_close(other.potential[i], one.potential[i], 1e-11 * energy_scale(&one));
    }
}

/* An energy of 1/r scales with 1 / length, whatever the background and the boundary. */
static void test_the_trace_of_the_virial_is_the_energy(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int vacuum = 0; vacuum < 2; vacuum++) {
        fill(&one, &numbers, 50, vacuum > 0);
        one.options.ewald.boundary = vacuum ? KITH_BOUNDARY_VACUUM : KITH_BOUNDARY_TIN_FOIL;
        assert_ok(compute(&one, "coulomb"));
        const double *w = one.totals.virial;
        assert_close(w[0] + w[4] + w[8], one.totals.energy, 1e-11 * energy_scale(&one));
        assert_close(w[1], w[3], 1e-11 * energy_scale(&one));
    }
}

/* Σ |q_i q_j| / r⁴ over the others and their images (the far ones weigh nothing): a third
   derivative of the energy by a coordinate of particle i is at most six times this. Positions lie
   up to two cells beyond the cell. */
static double third_derivative(const struct system *system, int64_t i)
{
    double sum = 0;
    for (int64_t j = 0; j < system->count; j++) {
        for (int image = 0; image < 729 && j != i; image++) {
            const int steps[3] = {image % 9 - 4, image / 9 % 9 - 4, image / 81 - 4};
            double square = 0;
            for (int c = 0; c < 3; c++) {
                double d = system->x[j][c] - system->x[i][c];
                for (int k = 0; k < 3; k++)
                    d += steps[k] * system->cell.vectors[k][c];
                square += d * d;
            }
            sum += fabs(system->q[i] * system->q[j]) / (square * square);
        }
    }
    return 6 * sum;
}

static void test_forces_are_the_slopes_of_the_energy(void **state)
{
    (void)state;
    static const struct {
        bool slab, vacuum;
    } kinds[] = {{false, false}, {false, true}, {true, false}};
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int k = 0; k < 3; k++) {
        fill(&one, &numbers, 20, k == 1);
        one.cell.periodic[2] = !kinds[k].slab;
        one.options.ewald.boundary =
            kinds[k].vacuum ? KITH_BOUNDARY_VACUUM : KITH_BOUNDARY_TIN_FOIL;
        assert_ok(compute(&one, "coulomb"));
        const double h = 1e-4, error = h * h / 6 * third_derivative(&one, 7);
        for (int c = 0; c < 3; c++) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                other = one;
                other.x[7][c] += side ? h : -h;
                assert_ok(compute(&other, "coulomb"));
                energy[side] = other.totals.energy;
            }
            double size = 0;
            for (int b = 0; b < 3; b++)
                size += fabs(one.a[7][b]) * one.m[7];
            assert_close(-(energy[1] - energy[0]) / (2 * h), one.m[7] * one.a[7][c],
                         1e-8 * (energy_scale(&one) + size) + 2 * error);
        }
    }
}

/* Positions and cell under (1 + ε). */
static void strain(struct system *system, int row, int column, double epsilon)
{
    for (int64_t i = 0; i < system->count; i++)
        system->x[i][row] += epsilon * system->x[i][column];
    for (int k = 0; k < 3; k++)
        system->cell.vectors[k][row] += epsilon * system->cell.vectors[k][column];
}

static void test_the_virial_is_minus_the_slope_of_the_energy_with_strain(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int kind = 0; kind < 3; kind++) {
        fill(&one, &numbers, 12, false);
        for (int64_t i = 0; i < one.count; i++) { /* well apart: third derivatives are moderate */
            const int64_t third = i / 3, sixth = i / 6;
            for (int c = 0; c < 3; c++)
                one.x[i][c] = (double)(i % 3) * one.cell.vectors[0][c] / 3 +
                              (double)(third % 2) * one.cell.vectors[1][c] / 2 +
                              (double)sixth * one.cell.vectors[2][c] / 2 +
                              random_uniform(&numbers, 0, 0.2);
        }
        one.cell.periodic[2] = kind != 2;
        one.options.ewald.boundary = kind == 1 ? KITH_BOUNDARY_VACUUM : KITH_BOUNDARY_TIN_FOIL;
        assert_ok(compute(&one, "coulomb"));
        const double h = 1e-4;
        for (int k = 0; k < 9; k++) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                other = one;
                strain(&other, k / 3, k % 3, side ? h : -h);
                assert_ok(compute(&other, "coulomb"));
                energy[side] = other.totals.energy;
            }
            assert_close(-(energy[1] - energy[0]) / (2 * h), one.totals.virial[k],
                         2e-6 * energy_scale(&one));
        }
    }
}

/* Two cells beside each other are one cell. */
static void test_a_supercell_has_the_same_forces(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int net = 0; net < 2; net++) {
        fill(&one, &numbers, 30, !net);
        assert_ok(compute(&one, "coulomb"));
        other = one;
        other.count = 2 * one.count;
        for (int64_t i = 0; i < one.count; i++) {
            const int64_t j = one.count + i;
            for (int c = 0; c < 3; c++)
                other.x[j][c] = one.x[i][c] + one.cell.vectors[1][c];
            other.q[j] = one.q[i];
            other.m[j] = one.m[i];
        }
        for (int c = 0; c < 3; c++)
            other.cell.vectors[1][c] *= 2;
        assert_ok(compute(&other, "coulomb"));
        assert_close(other.totals.energy, 2 * one.totals.energy, 2e-11 * energy_scale(&one));
        other.count = one.count;
        assert_true(difference(&other, &one) < 2e-11);
    }
}

/* The same lattice by other vectors, and particles at other images of themselves. */
static void test_skewed_cells_are_their_reduced_ones(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 40, false);
    assert_ok(compute(&one, "coulomb"));
    other = one;
    for (int c = 0; c < 3; c++) {
        other.cell.vectors[1][c] += 2 * one.cell.vectors[0][c];
        other.cell.vectors[2][c] -= one.cell.vectors[0][c] + one.cell.vectors[1][c];
    }
    for (int64_t i = 0; i < one.count; i++)
        for (int c = 0; c < 3; c++)
            other.x[i][c] += (double)(i % 5) * one.cell.vectors[0][c] -
                             (double)(double)(i % 3) * one.cell.vectors[2][c] + 0.3;
    assert_ok(compute(&other, "coulomb"));
    assert_true(difference(&other, &one) < 2e-11);
    assert_close(other.totals.energy, one.totals.energy, 2e-11 * energy_scale(&one));
    for (int k = 0; k < 9; k++)
        assert_close(other.totals.virial[k], one.totals.virial[k], 2e-11 * energy_scale(&one));
}

/* Of a slab in waves of its plane (Parry 1975; Heyes, Barber & Clarke 1977): an independent sum, as
 * a plain lattice sum over pairs of lines. Here: images far away along c, with the dipole's
 * correction, must not change when the height of the cell does. */
static void test_a_slab_does_not_know_its_third_vector(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int net = 0; net < 2; net++) {
        fill(&one, &numbers, 20, !net);
        one.cell.periodic[2] = false;
        assert_ok(compute(&one, "coulomb"));
        other = one;
        for (int c = 0; c < 3; c++)
            other.cell.vectors[2][c] = 0;
        assert_ok(compute(&other, "coulomb"));
        assert_true(difference(&other, &one) < 1e-12);
        /* One particle further away makes the slab thicker, and its third vector longer. */
        other = one;
        other.count++;
        memcpy(other.x[20], (const double[3]){0.3, 0.2, 40}, sizeof other.x[20]);
        other.q[20] = 0;
        other.m[20] = 1;
        assert_ok(compute(&other, "coulomb"));
        other.count = one.count;
        assert_true(difference(&other, &one) < 1e-10);
        assert_close(other.totals.energy, one.totals.energy, 1e-10 * energy_scale(&one));
        assert_true(one.totals.volume == 0);
    }
}

/* Two opposite charges on top of each other's lattices: 2π/A Σ q z outside waves of the plane. The
 * force between a plane of charges and a charge far above is 2π q²/A. */
static void test_planes_of_charges_are_plate_capacitors(void **state)
{
    (void)state;
    const double pi = acos(-1);
    one = (struct system){.count = 2, .x = {{0, 0, 0}, {0.4, 0.1, 9}}, .q = {1, -1}, .m = {1, 1}};
    set_cube(&one, 2);
    one.cell.periodic[2] = false;
    assert_ok(compute(&one, "coulomb"));
    assert_close(one.a[0][2], 2 * pi / 4, 1e-9); /* e^{−2π 9/2} is left */
    assert_close(one.a[1][2], -2 * pi / 4, 1e-9);
    assert_close(one.a[0][0], 0, 1e-9);
    one.q[1] = 1; /* net charged: it repels as well */
    assert_ok(compute(&one, "coulomb"));
    assert_close(one.a[0][2], -2 * pi / 4, 1e-9);
}

/* A single mass feels no force, and has the potential of the simple cubic lattice in its background
 * (Nijboer & de Wette 1957): −2.837297479480620 / L. */
static void test_gravity_has_the_mean_density_subtracted(void **state)
{
    (void)state;
    one = (struct system){.count = 1, .x = {{0.3, 5.1, -2}}, .q = {1}, .m = {3}};
    set_cube(&one, 2.5);
    one.options.gravitational_constant = 7;
    assert_ok(compute(&one, NULL));
    assert_close(one.potential[0], 7 * 3 * 2.837297479480620 / 2.5, 1e-11 * 21);
    assert_close(one.totals.energy, 0.5 * 3 * one.potential[0], 1e-11 * 63);
    for (int c = 0; c < 3; c++)
        assert_close(one.a[0][c], 0, 1e-12);
    /* Two lattices of masses half a diagonal apart feel none either, by symmetry. */
    one.count = 2;
    memcpy(one.x[1], (const double[3]){0.3 + 1.25, 5.1 + 1.25, -2 + 1.25}, sizeof one.x[1]);
    one.m[1] = 3;
    assert_ok(compute(&one, NULL));
    for (int c = 0; c < 3; c++)
        assert_close(one.a[0][c], 0, 1e-10);
}

static void test_no_particles_and_one_are_fine(void **state)
{
    (void)state;
    one = (struct system){.q = {1}, .m = {1}};
    set_cube(&one, 3);
    assert_ok(compute(&one, "coulomb"));
    assert_true(one.totals.energy == 0 && one.totals.virial[0] == 0);
    one.count = 1;
    assert_ok(compute(&one, "coulomb"));
    assert_close(one.potential[0], -2.837297479480620 / 3, 1e-12);
    one.q[0] = 0;
    assert_ok(compute(&one, "coulomb"));
    assert_true(one.potential[0] == 0 && one.a[0][0] == 0);
}

/* Particles at one place do not interact, as with the direct sum. */
static void test_coincident_particles_contribute_nothing(void **state)
{
    (void)state;
    one = (struct system){.count = 2, .x = {{1, 1, 1}, {1, 1, 1}}, .q = {1, 1}, .m = {1, 1}};
    set_cube(&one, 3);
    assert_ok(compute(&one, "coulomb"));
    assert_close(one.a[0][0], 0, 1e-13);
    /* Each feels the lattices of both, without the particle there. */
    assert_close(one.potential[0], -2 * 2.837297479480620 / 3, 1e-11);
}

/* At any distance forces are finite: those of a pair, or of particles at one place where 1/r³ would
 * overflow in the precision of the near sum. */
static void test_forces_of_near_particles_are_finite(void **state)
{
    (void)state;
    const char *const solvers[] = {"ewald", "pme"};
    for (int k = 0; k < 2; k++)
        for (int exponent = 1; exponent < 320; exponent++) {
            const double r = pow(10, -exponent);
            one = (struct system){.count = 2, .x = {{0}, {r, 0, 0}}, .q = {1, -1}, .m = {1, 1}};
            set_cube(&one, 3);
            one.options.solver = solver_named(solvers[k]);
            if (k == 1)
                one.options.accuracy.error = 1e-3;
            assert_ok(compute(&one, "coulomb"));
            const double expected = exponent < 12 ? 1 / (r * r) : one.a[0][0];
            assert_close(one.a[0][0] / expected, 1, 1e-3);
            for (int c = 0; c < 3; c++)
                assert_true(isfinite(one.a[0][c]) && isfinite(one.a[1][c]));
            assert_true(isfinite(one.totals.energy));
        }
}

static void test_excluded_pairs_do_not_interact_where_they_are_nearest(void **state)
{
    (void)state;
    int64_t pairs[3][2] = {{0, 1}, {3, 2}, {1, 0}};
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 6, true);
    memcpy(one.x[1], one.x[0], sizeof one.x[1]);
    one.x[1][0] += 0.5;
    for (int c = 0; c < 3; c++) /* by another image */
        one.x[3][c] = one.x[2][c] + 2 * one.cell.vectors[1][c] + (c == 2 ? 0.25 : 0);
    assert_ok(compute(&one, "coulomb"));
    other = one;
    other.options.exclusions = kith_array_matrix(pairs, KITH_I64, 3, 2);
    assert_ok(compute(&other, "coulomb"));
    assert_close(other.totals.energy,
                 one.totals.energy - one.q[0] * one.q[1] / 0.5 - one.q[2] * one.q[3] / 0.25,
                 1e-11 * energy_scale(&one));
    assert_close(other.m[0] * (other.a[0][0] - one.a[0][0]), one.q[0] * one.q[1] / 0.25,
                 1e-11 * energy_scale(&one));
    pairs[1][1] = 6;
    assert_fails(compute(&other, "coulomb"), KITH_INVALID_ARGUMENT, "pairs row 1 3 6 0 5");
}

static void test_single_precision_is_that_of_its_numbers(void **state)
{
    (void)state;
    static float x[64][3], q[64], a[64][3];
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 64, true);
    for (int i = 0; i < 64; i++) {
        q[i] = (float)one.q[i];
        one.q[i] = q[i];
        one.m[i] = 1;
        for (int c = 0; c < 3; c++) {
            x[i][c] = (float)one.x[i][c];
            one.x[i][c] = x[i][c];
        }
    }
    assert_ok(compute(&one, "coulomb"));
    kith_law *law = NULL;
    assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F32, 64, 3),
                                      .columns = {{"q", kith_array_vector(q, KITH_F32, 64)}}};
    assert_ok(kith_forces_compute(
        context,
        &(kith_forces_options){.law = law, .cell = &one.cell, .solver = solver_named("ewald")},
        NULL, &particles, kith_array_matrix(a, KITH_F32, 64, 3), kith_array_none()));
    kith_law_free(law);
    other = one;
    for (int i = 0; i < 64; i++)
        for (int c = 0; c < 3; c++)
            other.a[i][c] = a[i][c];
    assert_true(difference(&other, &one) < 1e-6);
}

static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    kith_context *several = context;
    fill(&one, &numbers, 1500, false);
    one.options.accuracy.error = 1e-6;
    other = one;
    assert_ok(compute(&one, "coulomb"));
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    assert_ok(compute(&other, "coulomb"));
    kith_context_free(context);
    context = several;
    assert_memory_equal(one.a, other.a, sizeof one.a);
    assert_memory_equal(one.potential, other.potential, sizeof one.potential);
    assert_memory_equal(&one.totals, &other.totals, sizeof one.totals);
}

static void test_errors_say_what_to_give(void **state)
{
    (void)state;
    one = (struct system){.count = 2, .x = {{0, 0, 0}, {1, 0, 0}}, .q = {1, -1}, .m = {1, 1}};
    assert_fails(compute(&one, "coulomb"), KITH_UNSUPPORTED, "cell solver ewald");
    set_cell(&one, (const double[3][3]){{1, 0, 0}, {2, 0, 0}, {0, 0, 1}});
    assert_fails(compute(&one, "coulomb"), KITH_INVALID_ARGUMENT, "dependent");
    set_cube(&one, 3);
    assert_fails(compute(&one, "yukawa:1"), KITH_UNSUPPORTED, "gravity");
    one.options.softening = 0.1;
    assert_fails(compute(&one, "coulomb"), KITH_UNSUPPORTED, "softening");
    one.options.softening = 0;
    one.options.cutoff = -1;
    assert_fails(compute(&one, "coulomb"), KITH_INVALID_ARGUMENT, "cutoff -1");
    one.options.cutoff = 0;
    one.options.ewald.alpha = -2;
    assert_fails(compute(&one, "coulomb"), KITH_INVALID_ARGUMENT, "alpha -2");
    one.options.ewald.alpha = 1e9;
    assert_fails(compute(&one, "coulomb"), KITH_UNSUPPORTED, "1e+09");
    one.options.ewald.alpha = 0;
    one.options.ewald.grid[0] = 8;
    assert_fails(compute(&one, "coulomb"), KITH_INVALID_ARGUMENT, "grid");
    one.options.ewald.grid[0] = 0;
    one.options.ewald.absolute_error = 1;
    one.options.accuracy.error = 1;
    assert_fails(compute(&one, "coulomb"), KITH_INVALID_ARGUMENT, "");
    one.options.ewald.absolute_error = one.options.accuracy.error = 0;
    one.cell.periodic[2] = false;
    one.options.ewald.boundary = KITH_BOUNDARY_VACUUM;
    assert_fails(compute(&one, "coulomb"), KITH_INVALID_ARGUMENT, "boundary vacuum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crystals_have_the_energies_of_madelung),
        cmocka_unit_test(test_the_result_does_not_depend_on_alpha),
        cmocka_unit_test(test_the_trace_of_the_virial_is_the_energy),
        cmocka_unit_test(test_forces_are_the_slopes_of_the_energy),
        cmocka_unit_test(test_the_virial_is_minus_the_slope_of_the_energy_with_strain),
        cmocka_unit_test(test_a_supercell_has_the_same_forces),
        cmocka_unit_test(test_skewed_cells_are_their_reduced_ones),
        cmocka_unit_test(test_a_slab_does_not_know_its_third_vector),
        cmocka_unit_test(test_planes_of_charges_are_plate_capacitors),
        cmocka_unit_test(test_gravity_has_the_mean_density_subtracted),
        cmocka_unit_test(test_no_particles_and_one_are_fine),
        cmocka_unit_test(test_coincident_particles_contribute_nothing),
        cmocka_unit_test(test_forces_of_near_particles_are_finite),
        cmocka_unit_test(test_excluded_pairs_do_not_interact_where_they_are_nearest),
        cmocka_unit_test(test_single_precision_is_that_of_its_numbers),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_errors_say_what_to_give),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
