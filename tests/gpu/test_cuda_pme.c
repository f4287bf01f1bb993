/* The solver pme on the GPU: errors against Ewald's plain sums on the CPU, and what the
 * documentation promises of bits, cells, laws and memory. */

#include "gpu_testing.h"

#include "mesh/cufft.h"
#include "random_numbers.h"

enum { most = 1500 };

static struct random_numbers numbers;
static kith_context *gpu, *cpu;

enum place { evenly, in_a_crystal, in_clusters, in_pairs, on_a_sheet, places };

static struct system_of_charges {
    int64_t n;
    bool is_gravity;
    double x[most][3], q[most];
    float narrow_x[most][3], narrow_q[most];
    kith_cell cell;
    kith_law *law;
    kith_boundary boundary;
    kith_array exclusions;
} now;

struct sums {
    double a[most][3], potential[most];
    kith_forces_totals totals;
    kith_solver_report report;
};
static struct sums of_gpu, again, exact;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

/* Vectors of lengths that differ up to fourfold, at angles of at least 30 degrees. */
static void make_cell(void)
{
    const double pi = 3.14159265358979323846;
    double(*v)[3] = now.cell.vectors;
    const bool is_skew = uniform(0, 1) < 0.7;
    const double angle = is_skew ? uniform(pi / 6, 5 * pi / 6) : pi / 2;
    const double up = is_skew ? uniform(pi / 6, pi / 2) : pi / 2, around = uniform(0, 2 * pi);
    const double length[3] = {uniform(0.5, 2), uniform(0.5, 2), uniform(0.5, 2)};
    memset(v, 0, sizeof now.cell.vectors);
    v[0][0] = length[0];
    v[1][0] = length[1] * cos(angle);
    v[1][1] = length[1] * sin(angle);
    v[2][0] = length[2] * cos(up) * cos(around);
    v[2][1] = length[2] * cos(up) * sin(around);
    v[2][2] = length[2] * sin(up);
    for (int k = 0; k < 3; k++)
        now.cell.periodic[k] = true;
}

static void make_particles(int64_t n, enum place place, bool is_neutral)
{
    const int64_t side = (int64_t)ceil(cbrt((double)n));
    now.n = n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / side / side};
        struct random_numbers of_cluster = {(uint64_t)(i % (1 + n / 50)) * 77 + 1};
        double f[3];
        for (int c = 0; c < 3; c++) {
            const double near = uniform(-1, 1) + uniform(-1, 1);
            f[c] = place == in_a_crystal  ? ((double)at[c] + uniform(0, 0.3)) / (double)side
                   : place == in_clusters ? random_uniform(&of_cluster, 0, 1) + 0.03 * near
                   : place == on_a_sheet && c == 2 ? 0.5 + 0.01 * near
                                                   : uniform(-1, 2);
        }
        for (int c = 0; c < 3; c++) {
            now.x[i][c] = 0;
            for (int k = 0; k < 3; k++)
                now.x[i][c] += f[k] * now.cell.vectors[k][c];
            if (place == in_pairs && i % 2 == 1)
                now.x[i][c] = now.x[i - 1][c] + 0.05 * uniform(-1, 1) / (double)side;
            now.narrow_x[i][c] = (float)now.x[i][c];
        }
        now.q[i] = is_neutral ? (i % 2 ? 1 : -1) : uniform(0.5, 1.5);
        now.narrow_q[i] = (float)now.q[i];
    }
}

/* Single precision begins at the same numbers. */
static void round_particles(void)
{
    for (int64_t i = 0; i < now.n; i++) {
        now.q[i] = (double)now.narrow_q[i];
        for (int c = 0; c < 3; c++)
            now.x[i][c] = (double)now.narrow_x[i][c];
    }
}

static kith_status compute(kith_context *context, const kith_forces_options *options, bool narrow,
                           struct sums *to)
{
    static float a[most][3], potential[most];
    const kith_dtype dtype = narrow ? KITH_F32 : KITH_F64;
    kith_forces_options with = *options;
    const kith_particles particles = {
        .positions =
            kith_array_matrix(narrow ? (void *)now.narrow_x : (void *)now.x, dtype, now.n, 3),
        .columns = {
            {now.is_gravity ? "m" : "q",
             kith_array_vector(narrow ? (void *)now.narrow_q : (void *)now.q, dtype, now.n)}}};
    memset(to, 0, sizeof *to);
    with.law = now.law;
    with.cell = &now.cell;
    with.totals = &to->totals;
    with.report = &to->report;
    const kith_status status = kith_forces_compute(
        context, &with, NULL, &particles,
        kith_array_matrix(narrow ? (void *)a : (void *)to->a, dtype, now.n, 3),
        kith_array_vector(narrow ? (void *)potential : (void *)to->potential, dtype, now.n));
    for (int64_t i = 0; narrow && i < now.n; i++) {
        to->potential[i] = (double)potential[i];
        for (int c = 0; c < 3; c++)
            to->a[i][c] = (double)a[i][c];
    }
    return status;
}

/* The smallest force that errors are relative to (kith/solver.h). */
static double least_force(void)
{
    double(*v)[3] = now.cell.vectors;
    const double volume = fabs(v[0][0] * v[1][1] * v[2][2]);
    double squares = 0;
    for (int64_t i = 0; i < now.n; i++)
        squares += now.q[i] * now.q[i];
    return 0.1 * squares / (double)now.n * pow((double)now.n / volume, 2.0 / 3);
}

static double error_of(const struct sums *sums)
{
    double of_errors = 0, of_forces = 0;
    const double n = (double)now.n;
    for (int64_t i = 0; i < now.n; i++)
        for (int c = 0; c < 3; c++) {
            const double w = now.is_gravity ? now.q[i] : 1;
            of_forces += pow(w * exact.a[i][c], 2);
            of_errors += pow(w * (sums->a[i][c] - exact.a[i][c]), 2);
        }
    return sqrt(of_errors / n) / fmax(sqrt(of_forces / n), least_force());
}

/* Potentials, energies and virials, relative to the sum of their terms' sizes: what a particle's
 * own aliases add has the same sign for all of them. */
static void assert_near_values(double error)
{
    const double n = (double)now.n;
    double scale = 0, of_potentials = 0;
    for (int64_t i = 0; i < now.n; i++) {
        scale += fabs(0.5 * (now.is_gravity ? now.q[i] : 1) * exact.potential[i]);
        of_potentials += pow(of_gpu.potential[i] - exact.potential[i], 2);
    }
    scale = fmax(scale, n * least_force());
    const double tolerance = 1000 * error * scale;
    if (!(sqrt(of_potentials / n) <= tolerance / n))
        fail_msg("potentials are off by %g, of %g", sqrt(of_potentials / n), scale / n);
    if (!(fabs(of_gpu.totals.energy - exact.totals.energy) <= tolerance))
        fail_msg("energy %.12g and %.12g, of %g", of_gpu.totals.energy, exact.totals.energy, scale);
    for (int k = 0; k < 9; k++)
        if (!(fabs(of_gpu.totals.virial[k] - exact.totals.virial[k]) <= tolerance))
            fail_msg("virial %d: %.12g and %.12g, of %g", k, of_gpu.totals.virial[k],
                     exact.totals.virial[k], scale);
}

static void use_law(const char *law)
{
    kith_law_free(now.law);
    now.law = NULL;
    now.is_gravity = law == NULL;
    if (law)
        assert_ok(kith_law_parse(law, 0, NULL, &now.law));
}

static void compare_forces(bool narrow, double error, double *ratio)
{
    kith_forces_options by_plain_sums = {.ewald = {.boundary = now.boundary},
                                         .exclusions = now.exclusions};
    kith_forces_options by_mesh = by_plain_sums;
    by_plain_sums.solver = solver_named("ewald");
    by_plain_sums.accuracy.error = 1e-12;
    by_mesh.solver = solver_named("pme");
    by_mesh.accuracy.error = error;
    if (narrow)
        round_particles();
    assert_ok(compute(cpu, &by_plain_sums, false, &exact));
    assert_ok(compute(gpu, &by_mesh, narrow, &of_gpu));
    *ratio = error_of(&of_gpu) / error;
    if (!(*ratio <= 1))
        fail_msg("%lld particles, %s: %.3g times the error of %.3g (cutoff %.3g, alpha %.3g, grid "
                 "%d x %d x %d, order %d)",
                 (long long)now.n, narrow ? "single" : "double", *ratio, error,
                 of_gpu.report.cutoff, of_gpu.report.alpha, (int)of_gpu.report.grid[0],
                 (int)of_gpu.report.grid[1], (int)of_gpu.report.grid[2], (int)of_gpu.report.order);
}

static void compare_system(bool narrow, double error, double *ratio)
{
    compare_forces(narrow, error, ratio);
    assert_near_values(error);
}

static void test_errors_are_at_most_what_is_requested(void **state)
{
    (void)state;
    const int cases = test_is_quick() ? 6 : 60;
    double largest = 0;
    for (int k = 0; k < cases; k++) {
        const bool narrow = k % 2;
        double ratio = 0;
        use_law(uniform(0, 1) < 0.75 ? "coulomb" : NULL);
        make_cell();
        make_particles((int64_t)pow(2, uniform(1, log2(most))), (enum place)uniform(0, places),
                       uniform(0, 1) < 0.6);
        compare_system(narrow, pow(10, uniform(narrow ? -5.5 : -10, -2)), &ratio);
        largest = worse_of(largest, ratio);
    }
    printf("%d systems: error over the requested one at most %.3g\n", cases, largest);
}

static void test_one_and_no_particle(void **state)
{
    (void)state;
    const kith_forces_options options = {.solver = solver_named("pme"),
                                         .accuracy = {.error = 1e-6}};
    use_law("coulomb");
    make_cell();
    make_particles(0, evenly, true);
    assert_ok(compute(gpu, &options, false, &of_gpu));
    make_particles(1, evenly, false);
    assert_ok(compute(gpu, &options, false, &of_gpu));
    const kith_forces_options by_plain_sums = {.solver = solver_named("ewald")};
    assert_ok(compute(cpu, &by_plain_sums, false, &exact));
    assert_true(fabs(of_gpu.potential[0] - exact.potential[0]) <= 1e-5 * fabs(exact.potential[0]));
}

/* Rock salt: each ion has the energy −1.747564594633182/2 of Madelung (1918), in units of the
 * distance of neighbors. */
static void test_madelung_of_rock_salt(void **state)
{
    (void)state;
    const kith_forces_options options = {.solver = solver_named("pme"),
                                         .accuracy = {.error = 1e-10}};
    use_law("coulomb");
    now.cell = (kith_cell){{{8, 0, 0}, {0, 8, 0}, {0, 0, 8}}, {true, true, true}};
    now.n = 512;
    for (int64_t i = 0; i < now.n; i++) {
        const int64_t at[3] = {i % 8, i / 8 % 8, i / 64};
        for (int c = 0; c < 3; c++)
            now.x[i][c] = (double)at[c];
        now.q[i] = (at[0] + at[1] + at[2]) % 2 ? -1 : 1;
    }
    assert_ok(compute(gpu, &options, false, &of_gpu));
    for (int64_t i = 0; i < now.n; i++)
        if (!(fabs(of_gpu.potential[i] + 1.747564594633182) <= 1e-9))
            fail_msg("ion %lld: %.15g", (long long)i, of_gpu.potential[i]);
    assert_true(fabs(of_gpu.totals.energy + 256 * 1.747564594633182) <= 1e-8);
    /* The virial of 1/r is the energy. */
    const double *w = of_gpu.totals.virial;
    assert_true(fabs(w[0] + w[4] + w[8] - of_gpu.totals.energy) <= 1e-6);
}

static void test_bits_are_the_same_on_every_run(void **state)
{
    (void)state;
    use_law("coulomb");
    make_cell();
    make_particles(most, in_clusters, false);
    round_particles();
    for (int narrow = 0; narrow < 2; narrow++) {
        const kith_forces_options options = {.solver = solver_named("pme"),
                                             .accuracy = {.error = 1e-4}};
        assert_ok(compute(gpu, &options, narrow, &of_gpu));
        for (int run = 0; run < 5; run++) {
            kith_context *other = new_gpu_context(NULL);
            assert_ok(compute(run < 3 ? gpu : other, &options, narrow, &again));
            assert_memory_equal(again.a, of_gpu.a, sizeof of_gpu.a);
            assert_memory_equal(again.potential, of_gpu.potential, sizeof of_gpu.potential);
            assert_memory_equal(&again.totals, &of_gpu.totals, sizeof of_gpu.totals);
            kith_context_free(other);
        }
    }
}

/* Arrays on the device, with gaps, have the bits of arrays on the host. */
static void test_arrays_on_the_device(void **state)
{
    (void)state;
    use_law("coulomb");
    make_cell();
    make_particles(777, evenly, false);
    kith_forces_options options = {.solver = solver_named("pme"), .accuracy = {.error = 1e-5}};
    assert_ok(compute(gpu, &options, false, &of_gpu));
    const kith_array a = kith_array_matrix(again.a, KITH_F64, now.n, 3);
    const kith_array potential = kith_array_vector(again.potential, KITH_F64, now.n);
    const kith_particles particles = {
        .positions = gpu_array_of(kith_array_matrix(now.x, KITH_F64, now.n, 3), 2, 3),
        .columns = {{"q", gpu_array_of(kith_array_vector(now.q, KITH_F64, now.n), 1, 4)}}};
    const kith_array on_device[] = {gpu_array_like(a, 3, 1), gpu_array_like(potential, 1, 2)};
    options.law = now.law;
    options.cell = &now.cell;
    options.totals = &again.totals;
    options.report = &again.report;
    assert_ok(kith_forces_compute(gpu, &options, NULL, &particles, on_device[0], on_device[1]));
    assert_ok(kith_context_synchronize(gpu));
    gpu_transfer(on_device[0], a, false);
    gpu_transfer(on_device[1], potential, false);
    assert_memory_equal(again.a, of_gpu.a, (size_t)now.n * sizeof again.a[0]);
    assert_memory_equal(again.potential, of_gpu.potential, (size_t)now.n * sizeof(double));
    assert_memory_equal(&again.totals, &of_gpu.totals, sizeof again.totals);
    cudaFree(particles.positions.data);
    cudaFree(particles.columns[0].values.data);
    cudaFree(on_device[0].data);
    cudaFree(on_device[1].data);
}

/* Settings that are given are taken, of odd grids too, and with more images of a pair than one. */
static void test_given_settings(void **state)
{
    (void)state;
    use_law("coulomb");
    now.cell = (kith_cell){{{1, 0, 0}, {0.3, 1.1, 0}, {-0.2, 0.1, 0.9}}, {true, true, true}};
    make_particles(301, evenly, true);
    for (int order = 4; order <= 8; order++) {
        const kith_forces_options given = {
            .solver = solver_named("pme"),
            .cutoff = 1.4,
            .accuracy = {.order = order, .error = 1e-8},
            .ewald = {.alpha = 3, .grid = {15 + 2 * order, 31, 27 + order}}};
        const kith_forces_options by_plain_sums = {.solver = solver_named("ewald"),
                                                   .accuracy = {.error = 1e-12}};
        assert_ok(compute(cpu, &by_plain_sums, false, &exact));
        assert_ok(compute(gpu, &given, false, &of_gpu));
        assert_int_equal(of_gpu.report.grid[0], 15 + 2 * order);
        assert_true(error_of(&of_gpu) <= 3 * of_gpu.report.error_estimated);
        assert_near_values(3 * of_gpu.report.error_estimated);
        /* Without a report the setting is taken as it is. */
        kith_forces_options alone = given;
        double a[3];
        memcpy(a, of_gpu.a[7], sizeof a);
        const kith_particles particles = {
            .positions = kith_array_matrix(now.x, KITH_F64, now.n, 3),
            .columns = {{"q", kith_array_vector(now.q, KITH_F64, now.n)}}};
        alone.law = now.law;
        alone.cell = &now.cell;
        assert_ok(kith_forces_compute(gpu, &alone, NULL, &particles,
                                      kith_array_matrix(again.a, KITH_F64, now.n, 3),
                                      kith_array_none()));
        assert_memory_equal(again.a[7], a, sizeof a);
    }
}

/* Two particles nearer to each other than floats of their positions can tell, at images of each
 * other's cell too. */
static void test_the_error_holds_for_a_close_pair(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        double ratio = 0;
        const double distance = pow(10, -1.5 - k); /* to 3e-9: coordinates have 48 bits */
        use_law("coulomb");
        make_cell();
        make_particles(600, in_a_crystal, true);
        for (int c = 0; c < 3; c++) {
            now.x[5][c] = k % 2 ? 1e-9 * now.cell.vectors[c][c] : now.x[5][c];
            now.x[77][c] = now.x[5][c] + distance * uniform(-1, 1);
        }
        compare_forces(false, pow(10, uniform(-4.5, -2)), &ratio);
    }
}

/* Bonds of particles to later ones, some of them twice and either way round. */
static kith_array some_bonds(int64_t (*bonds)[2], int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = (int64_t)uniform(0, (double)now.n), step = k % 3 == 0 ? 1 : 2 + k % 5;
        const bool is_again = k % 7 == 6;
        bonds[k][0] = is_again ? bonds[k - 1][1] : i;
        bonds[k][1] = is_again ? bonds[k - 1][0] : (i + step) % now.n;
    }
    return kith_array_matrix(bonds, KITH_I64, count, 2);
}

static void test_boundaries_slabs_and_excluded_pairs(void **state)
{
    (void)state;
    static int64_t bonds[most][2];
    const int cases = test_is_quick() ? 6 : 30;
    double largest = 0;
    for (int k = 0; k < cases; k++) {
        const bool is_slab = k % 3 == 0, narrow = k % 2;
        double ratio = 0;
        use_law(uniform(0, 1) < 0.75 ? "coulomb" : NULL);
        make_cell();
        if (is_slab) {
            now.cell.periodic[2] = false;
            now.cell.vectors[2][0] = now.cell.vectors[2][1] = 0;
            now.cell.vectors[2][2] = 0.5;
        }
        make_particles(20 + (int64_t)uniform(0, most - 20), narrow ? in_a_crystal : evenly,
                       uniform(0, 1) < 0.6);
        now.boundary = k % 3 == 1 ? KITH_BOUNDARY_VACUUM : KITH_BOUNDARY_TIN_FOIL;
        now.exclusions = k % 3 == 2 || k % 4 == 0 ? some_bonds(bonds, now.n) : kith_array_none();
        compare_system(narrow, pow(10, uniform(narrow ? -4 : -9, -2)), &ratio);
        largest = worse_of(largest, ratio);
    }
    now.boundary = KITH_BOUNDARY_TIN_FOIL;
    now.exclusions = kith_array_none();
    printf("%d systems: error over the requested one at most %.3g\n", cases, largest);
}

static void test_what_is_not_there_is_refused(void **state)
{
    (void)state;
    const int64_t pair[2] = {0, 10};
    kith_forces_options options = {.solver = solver_named("pme")};
    use_law("coulomb");
    make_cell();
    make_particles(10, evenly, true);
    options.exclusions = kith_array_matrix((void *)pair, KITH_I64, 1, 2);
    assert_int_equal(compute(gpu, &options, false, &of_gpu), KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "excluded pairs is 0, 10"));
    options.exclusions = kith_array_none();
    now.x[3][1] = NAN;
    assert_int_equal(compute(gpu, &options, false, &of_gpu), KITH_INVALID_ARGUMENT);
    options.solver = solver_named("ewald");
    now.x[3][1] = 0;
    assert_int_equal(compute(gpu, &options, false, &of_gpu), KITH_UNSUPPORTED);
}

/* Ions that repel each other at short range too, in one call; bonds count for both laws. */
static void test_two_laws(void **state)
{
    (void)state;
    static int64_t bonds[300][2];
    kith_law *near = NULL;
    kith_forces_options options = {.cutoff = 0.2};
    use_law("coulomb");
    now.cell = (kith_cell){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    make_particles(1000, in_a_crystal, true);
    assert_ok(kith_law_parse("lennard-jones:1,0.07", 0, NULL, &near));
    assert_ok(kith_law_add(now.law, near));
    options.exclusions = some_bonds(bonds, 300);
    options.solver = solver_named("ewald");
    assert_ok(compute(cpu, &options, false, &exact));
    options.solver = solver_named("pme");
    options.accuracy.error = 1e-9;
    assert_ok(compute(gpu, &options, false, &of_gpu));
    assert_true(error_of(&of_gpu) <= 1e-8);
    assert_near_values(1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_madelung_of_rock_salt),
        cmocka_unit_test(test_given_settings),
        cmocka_unit_test(test_errors_are_at_most_what_is_requested),
        cmocka_unit_test(test_the_error_holds_for_a_close_pair),
        cmocka_unit_test(test_boundaries_slabs_and_excluded_pairs),
        cmocka_unit_test(test_one_and_no_particle),
        cmocka_unit_test(test_arrays_on_the_device),
        cmocka_unit_test(test_bits_are_the_same_on_every_run),
        cmocka_unit_test(test_what_is_not_there_is_refused),
        cmocka_unit_test(test_two_laws),
    };
    if (gpu_is_absent("test_cuda_pme"))
        return exit_skipped;
    if (cufft_is_there() != KITH_OK) {
        printf("test_cuda_pme: skipped: %s\n", kith_error_message());
        return exit_skipped;
    }
    numbers = random_numbers_begin("test_cuda_pme");
    gpu = new_gpu_context(NULL);
    cpu = new_context(NULL, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    use_law(NULL);
    kith_context_free(cpu);
    kith_context_free(gpu);
    return failed;
}
