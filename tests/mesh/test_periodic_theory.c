/* The solvers ewald and pme compared with what theory has independently of Ewald's sum in three
 * dimensions: a slab by the sum of two dimensions, the field of one mass by planes, and a plane
 * wave of matter. */

#include "testing.h"

#include <math.h>

#include "mesh/pme.h"
#include "random_numbers.h"

static const double pi = 3.14159265358979323846;

enum { most = 4096 };

static struct {
    int64_t count;
    double x[most][3], q[most], a[most][3], potential[most];
} particles;

static void compute(const char *solver, const char *law_text, double error, const kith_cell *cell)
{
    kith_context *context = NULL;
    kith_law *law = NULL;
    const int64_t n = particles.count;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 2},
                                  &context));
    if (law_text)
        assert_ok(kith_law_parse(law_text, 0, NULL, &law));
    const kith_forces_options options = {
        .solver = solver_named(solver), .law = law, .cell = cell, .accuracy.error = error};
    const kith_particles all = {
        .positions = kith_array_matrix(particles.x, KITH_F64, n, 3),
        .columns = {{law ? "q" : "m", kith_array_vector(particles.q, KITH_F64, n)}}};
    assert_ok(kith_forces_compute(context, &options, NULL, &all,
                                  kith_array_matrix(particles.a, KITH_F64, n, 3),
                                  kith_array_vector(particles.potential, KITH_F64, n)));
    kith_law_free(law);
    kith_context_free(context);
}

/* Ewald's sum of two dimensions (Parry 1975, Surf. Sci. 49, 433; de Leeuw & Perram 1979, Mol. Phys.
 * 37, 1313) of a neutral slab with the cell (edge, 0), (skew, edge):
 *
 *     φ_i = Σ_S Σ_j q_j erfc(α r)/r − 2 α q_i/√π
 *         + π/A Σ_{k ≠ 0} Σ_j q_j cos(k·ρ)/k [e^{kz} erfc(k/2α + α z) + e^{−kz} erfc(k/2α − α z)]
 *         − 2√π/A Σ_j q_j (e^{−α²z²}/α + √π z erf(α z)) */
static double slab_potential(int64_t i, double edge, double skew)
{
    enum { images = 7, waves = 9 };
    const double alpha = 2.5 / edge, area = edge * edge;
    double potential = -2 * alpha * particles.q[i] / sqrt(pi);
    for (int64_t j = 0; j < particles.count; j++) {
        double d[3], sum = 0;
        for (int c = 0; c < 3; c++)
            d[c] = particles.x[j][c] - particles.x[i][c];
        for (int a = -images; a <= images; a++)
            for (int b = -images; b <= images; b++) {
                const double r = sqrt(pow(d[0] + a * edge + b * skew, 2) + pow(d[1] + b * edge, 2) +
                                      d[2] * d[2]);
                sum += r > 0 ? erfc(alpha * r) / r : 0;
            }
        for (int a = -waves; a <= waves; a++)
            for (int b = -waves; b <= waves; b++) {
                const double kx = 2 * pi * a / edge, ky = (2 * pi * b - kx * skew) / edge;
                const double k = sqrt(kx * kx + ky * ky);
                if (a == 0 && b == 0)
                    continue;
                sum += pi / area * cos(kx * d[0] + ky * d[1]) / k *
                       (exp(k * d[2]) * erfc(k / (2 * alpha) + alpha * d[2]) +
                        exp(-k * d[2]) * erfc(k / (2 * alpha) - alpha * d[2]));
            }
        sum -= 2 * sqrt(pi) / area *
               (exp(-alpha * alpha * d[2] * d[2]) / alpha + sqrt(pi) * d[2] * erf(alpha * d[2]));
        potential += particles.q[j] * sum;
    }
    return potential;
}

static void test_a_slab_has_the_potentials_of_the_sum_in_two_dimensions(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    const double edge = 2, skew = random_uniform(&numbers, -0.5, 0.5);
    const kith_cell cell = {.vectors = {{edge, 0, 0}, {skew, edge, 0}, {0, 0, 1}},
                            .periodic = {true, true, false}};
    double total = 0;
    particles.count = 12;
    for (int64_t i = 0; i < particles.count; i++) {
        for (int c = 0; c < 3; c++)
            particles.x[i][c] = random_uniform(&numbers, 0, c < 2 ? edge : 1.5);
        particles.q[i] = random_uniform(&numbers, -1, 1);
        total += particles.q[i];
    }
    for (int64_t i = 0; i < particles.count; i++)
        particles.q[i] -= total / (double)particles.count;
    compute("ewald", "coulomb", 0, &cell);
    double scale = 1;
    for (int64_t i = 0; i < particles.count; i++)
        scale += fabs(particles.potential[i]);
    for (int64_t i = 0; i < particles.count; i++) {
        const double expected = particles.q[i] * slab_potential(i, edge, skew);
        if (!(fabs(particles.potential[i] - expected) <= 1e-9 * scale))
            fail_msg("potential %.15g, expected %.15g", particles.potential[i], expected);
    }
}

/* The largest |a/(4π G ρ ξ) − 1| of a cubic lattice of side³ masses displaced by ξ = amplitude
 * sin(2πx/L): 0 in a fluid, about (spacing/L)² in a lattice. */
static double growth_error(const char *solver, double error, int side)
{
    const kith_cell cell = {.vectors = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            .periodic = {true, true, true}};
    const double amplitude = 1e-3 / side;
    double worst = 0;
    particles.count = (int64_t)side * side * side;
    for (int64_t i = 0; i < particles.count; i++) {
        const int64_t place[3] = {i / side / side, i / side % side, i % side};
        for (int c = 0; c < 3; c++)
            particles.x[i][c] = ((double)place[c] + 0.5) / side;
        particles.x[i][0] += amplitude * sin(2 * pi * particles.x[i][0]);
        particles.q[i] = 1 / (double)particles.count;
    }
    compute(solver, NULL, error, &cell);
    for (int64_t i = 0; i < particles.count; i++) {
        const int64_t plane = i / side / side;
        const double at = ((double)plane + 0.5) / side;
        const double expected = 4 * pi * amplitude * sin(2 * pi * at);
        const double wrong = fabs(particles.a[i][0] - expected) / (4 * pi * amplitude);
        worst = worse_of(worst, wrong);
    }
    return worst;
}

static void test_a_plane_wave_of_matter_grows_as_in_linear_theory(void **state)
{
    (void)state;
    const double coarse = growth_error("ewald", 0, 8), fine = growth_error("ewald", 0, 16);
    assert_true(coarse < 0.1);
    assert_true(fine < 0.3 * coarse);
    if (pme_is_there()) {
        const double of_mesh = growth_error("pme", 1e-9, 8);
        assert_true(fabs(of_mesh - coarse) < 1e-3);
    }
}

/* The potential per mass at d from one mass of a unit cube and all of its images, in their mean
 * density subtracted, and its gradient: Poisson's equation solved plane by plane,
 *
 *     −φ = 2π Σ_{k ≠ 0} cos(k·ρ)/k · cosh(k(½ − |z|))/sinh(k/2) + 2π((|z| − ½)² − 1/12)
 *
 * with k of the reciprocal lattice of the planes. */
static void field_of_one(const double d[3], double *potential, double gradient[3])
{
    enum { waves = 24 };
    const double z = fabs(d[2]), sign = d[2] < 0 ? -1 : 1;
    *potential = -2 * pi * ((z - 0.5) * (z - 0.5) - 1.0 / 12);
    gradient[0] = gradient[1] = 0;
    gradient[2] = -4 * pi * (z - 0.5) * sign;
    for (int a = -waves; a <= waves; a++)
        for (int b = -waves; b <= waves; b++) {
            const double kx = 2 * pi * a, ky = 2 * pi * b, k = sqrt(kx * kx + ky * ky);
            if (a == 0 && b == 0)
                continue;
            const double angle = kx * d[0] + ky * d[1], scale = 2 * pi / k / (1 - exp(-k));
            const double even = scale * (exp(-k * z) + exp(-k * (1 - z)));
            const double odd = scale * (exp(-k * z) - exp(-k * (1 - z)));
            *potential -= cos(angle) * even;
            gradient[0] += kx * sin(angle) * even;
            gradient[1] += ky * sin(angle) * even;
            gradient[2] += k * cos(angle) * odd * sign;
        }
}

/* A test particle without mass. */
static void test_one_mass_has_the_field_of_its_lattice(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    const kith_cell cell = {.vectors = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            .periodic = {true, true, true}};
    particles.count = 2;
    for (int turn = 0; turn < 8; turn++) {
        double d[3], potential, gradient[3];
        for (int c = 0; c < 3; c++) {
            d[c] = random_uniform(&numbers, c < 2 ? -0.5 : 0.25, c < 2 ? 0.5 : 0.75);
            particles.x[0][c] = random_uniform(&numbers, 0, 1);
            particles.x[1][c] = particles.x[0][c] + d[c];
        }
        particles.q[0] = 1;
        particles.q[1] = 0;
        field_of_one(d, &potential, gradient);
        compute("ewald", NULL, 0, &cell);
        assert_true(fabs(particles.potential[1] - potential) < 1e-10);
        for (int c = 0; c < 3; c++)
            assert_true(fabs(particles.a[1][c] + gradient[c]) < 1e-10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slab_has_the_potentials_of_the_sum_in_two_dimensions),
        cmocka_unit_test(test_one_mass_has_the_field_of_its_lattice),
        cmocka_unit_test(test_a_plane_wave_of_matter_grows_as_in_linear_theory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
