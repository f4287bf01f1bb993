#include "testing.h"

#include "testing_initial.h"

/* Random kinds against the distributions that they promise. */

enum { sample_size = 20000 };

static const double plummer_scale = 3 * 3.14159265358979323846 / 16;
static const double hernquist_mass = 201.0 * 201.0 / (200.0 * 200.0); /* uncut */

static kith_bodies *sample_of(const char *kind, uint64_t seed)
{
    return made(kind, (kith_initial_options){.count = sample_size, .seed = seed});
}

static double length3(const double *vector)
{
    return sqrt(dot3(vector, vector));
}

static void radii(const kith_bodies *bodies, double *radius)
{
    for (int64_t i = 0; i < bodies->count; i++)
        radius[i] = length3(bodies->position + 3 * i);
}

static void assert_weighted_sum_is_zero(const kith_bodies *bodies, const double *column,
                                        const char *what, uint64_t seed)
{
    for (int32_t k = 0; k < 3; k++) {
        double sum = 0;
        for (int64_t i = 0; i < bodies->count; i++)
            sum += bodies->mass[i] * column[3 * i + k];
        assert_near(sum, 0, 1e-13, what, seed);
    }
}

static void assert_at_rest(const kith_bodies *bodies, uint64_t seed)
{
    assert_weighted_sum_is_zero(bodies, bodies->velocity, "momentum", seed);
}

static void assert_at_rest_in_the_middle(const kith_bodies *bodies, uint64_t seed)
{
    assert_at_rest(bodies, seed);
    assert_weighted_sum_is_zero(bodies, bodies->position, "center of mass", seed);
}

static double total_mass(const kith_bodies *bodies)
{
    double total = 0;
    for (int64_t i = 0; i < bodies->count; i++)
        total += bodies->mass[i];
    return total;
}

static double plummer_cumulative(double r)
{
    const double x2 = r * r / (plummer_scale * plummer_scale);
    return x2 * sqrt(x2) / ((1 + x2) * sqrt(1 + x2)) / 0.999;
}

static void test_initial_plummer_has_its_mass_profile_and_half_mass_radius(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    kith_bodies *bodies = sample_of("plummer", seed);
    double *radius = malloc(sample_size * sizeof *radius);
    radii(bodies, radius);
    assert_near(total_mass(bodies), 1, 1e-12, "mass", seed);
    assert_at_rest_in_the_middle(bodies, seed);
    assert_distributed(radius, sample_size, plummer_cumulative, "Plummer's radius", seed);
    assert_near(radius[sample_size / 2], 1.305 * plummer_scale, 0.03, "half-mass radius", seed);
    free(radius);
    kith_bodies_free(bodies);
}

/* In the smooth potential: W = −Σ m r dφ/dr is −1/2, T is 1/4, and everywhere ⟨v²⟩ is
 * 1 / (2 √(r² + a²)). */
static void test_initial_plummer_is_in_virial_equilibrium(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    kith_bodies *bodies = sample_of("plummer", seed);
    double kinetic = 0;
    double virial = 0;
    double inner = 0;
    double outer = 0;
    int64_t inner_count = 0;
    for (int64_t i = 0; i < sample_size; i++) {
        const double *x = bodies->position + 3 * i;
        const double v2 = dot3(bodies->velocity + 3 * i, bodies->velocity + 3 * i);
        const double s = sqrt(dot3(x, x) + plummer_scale * plummer_scale);
        const bool within = s < 2 * plummer_scale;
        kinetic += 0.5 * v2 / sample_size;
        virial -= dot3(x, x) / (s * s * s) / sample_size;
        *(within ? &inner : &outer) += 2 * v2 * s;
        inner_count += within;
    }
    assert_near(kinetic, 0.25, 0.01, "kinetic energy", seed);
    assert_near(-2 * kinetic / virial, 1, 0.03, "virial ratio", seed);
    assert_near(inner / (double)inner_count, 1, 0.05, "inner speeds", seed);
    assert_near(outer / (double)(sample_size - inner_count), 1, 0.05, "outer speeds", seed);
    kith_bodies_free(bodies);
}

/* By the forces of all pairs, for the smaller sample that they allow. */
static void test_initial_plummer_has_energy_of_minus_a_quarter(void **state)
{
    (void)state;
    enum { count = 2000 };
    const uint64_t seed = fresh_seed();
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = count, .seed = seed});
    double *potential = malloc(count * sizeof *potential);
    kith_context *context = NULL;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &context));
    assert_ok(
        kith_forces_compute(context, NULL, NULL,
                            PARTICLES(kith_array_matrix(bodies->position, KITH_F64, count, 3),
                                      {"m", kith_array_vector(bodies->mass, KITH_F64, count)}),
                            kith_array_none(), kith_array_vector(potential, KITH_F64, count)));
    double energy = 0;
    for (int64_t i = 0; i < count; i++) {
        const double *v = bodies->velocity + 3 * i;
        energy += 0.5 * bodies->mass[i] * (dot3(v, v) + potential[i]);
    }
    assert_near(energy, -0.25, 0.03, "energy", seed);
    kith_context_free(context);
    free(potential);
    kith_bodies_free(bodies);
}

static double hernquist_cumulative(double r)
{
    return hernquist_mass * r * r / ((1 + r) * (1 + r));
}

static void test_initial_hernquist_has_its_mass_profile(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    kith_bodies *bodies = sample_of("hernquist", seed);
    double *radius = malloc(sample_size * sizeof *radius);
    radii(bodies, radius);
    assert_near(total_mass(bodies), 1, 1e-12, "mass", seed);
    assert_at_rest(bodies, seed);
    assert_distributed(radius, sample_size, hernquist_cumulative, "Hernquist's radius", seed);
    assert_true(radius[sample_size - 1] < 200.001);
    free(radius);
    kith_bodies_free(bodies);
}

/* ⟨v²⟩ = 3 σ_r², Hernquist (1990), eq. 10. */
static double hernquist_mean_square_speed(double r)
{
    const double s = 1 + r;
    const double polynomial = 25 + r * (52 + r * (42 + 12 * r));
    return hernquist_mass / 4 * (12 * r * s * s * s * log(s / r) - r / s * polynomial);
}

static void test_initial_hernquist_speeds_solve_the_jeans_equation_at_every_radius(void **state)
{
    (void)state;
    const double edges[] = {0.05, 0.3, 1, 3, 10, 60};
    const uint64_t seed = fresh_seed();
    kith_bodies *bodies = sample_of("hernquist", seed);
    for (int bin = 0; bin < 5; bin++) {
        double sum = 0;
        double count = 0;
        for (int64_t i = 0; i < sample_size; i++) {
            const double *v = bodies->velocity + 3 * i;
            const double r = length3(bodies->position + 3 * i);
            if (r < edges[bin] || r >= edges[bin + 1])
                continue;
            sum += dot3(v, v) / hernquist_mean_square_speed(r);
            count += 1;
        }
        assert_near(sum / count, 1, 6 / sqrt(count), "squared speed", seed);
    }
    kith_bodies_free(bodies);
}

static double uniform_cumulative(double x)
{
    return x;
}

static void test_initial_uniform_cube_is_uniform_along_each_axis_and_at_rest(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    kith_bodies *bodies = sample_of("uniform-cube", seed);
    double *column = malloc(sample_size * sizeof *column);
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < sample_size; i++) {
            column[i] = bodies->position[3 * i + k];
            assert_true(bodies->velocity[3 * i + k] == 0);
        }
        assert_distributed(column, sample_size, uniform_cumulative, "coordinate", seed);
    }
    assert_near(total_mass(bodies), 1, 1e-12, "mass", seed);
    free(column);
    kith_bodies_free(bodies);
}

static void test_initial_uniform_sphere_has_constant_density(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    for (int32_t d = 2; d <= 3; d++) {
        kith_bodies *bodies =
            made("uniform-sphere",
                 (kith_initial_options){.count = sample_size, .seed = seed, .dimensions = d});
        double *volume = malloc(sample_size * sizeof *volume);
        for (int64_t i = 0; i < sample_size; i++) {
            double r2 = 0;
            for (int32_t k = 0; k < d; k++)
                r2 += bodies->position[i * d + k] * bodies->position[i * d + k];
            volume[i] = pow(r2, 0.5 * d);
        }
        assert_distributed(volume, sample_size, uniform_cumulative, "volume within", seed);
        free(volume);
        kith_bodies_free(bodies);
    }
}

static void test_initial_lattice_sites_are_distinct_and_fill_the_smallest_cube(void **state)
{
    (void)state;
    const int64_t counts[] = {1, 7, 8, 9, 27, 100, 1000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int32_t d = 2; d <= 3; d++) {
            const int64_t n = counts[c];
            const int64_t edge = (int64_t)ceil(pow((double)n, 1.0 / d) - 1e-9);
            kith_bodies *bodies =
                made("lattice", (kith_initial_options){.count = n, .dimensions = d});
            assert_null(bodies->mass);
            assert_null(bodies->velocity);
            for (int64_t i = 0; i < n; i++) {
                const double *site = bodies->position + i * d;
                const double z = d == 3 ? site[2] : 0;
                assert_true(site[0] < (double)edge && site[1] < (double)edge && z < (double)edge);
                assert_true(site[0] + (double)edge * (site[1] + (double)edge * z) == (double)i);
            }
            kith_bodies_free(bodies);
        }
}

static void test_initial_lattice_walk_takes_unit_steps_every_way(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    for (int32_t d = 2; d <= 3; d++) {
        kith_bodies *bodies =
            made("lattice-walk",
                 (kith_initial_options){.count = sample_size, .seed = seed, .dimensions = d});
        int64_t ways[6] = {0};
        for (int32_t k = 0; k < d; k++)
            assert_true(bodies->position[k] == 0);
        for (int64_t i = 1; i < sample_size; i++) {
            double length = 0;
            for (int32_t k = 0; k < d; k++) {
                const double step = bodies->position[i * d + k] - bodies->position[(i - 1) * d + k];
                length += fabs(step);
                ways[2 * k + (step < 0)] += step != 0;
            }
            assert_true(length == 1);
        }
        for (int32_t way = 0; way < 2 * d; way++)
            assert_near((double)ways[way], sample_size / (2.0 * d), 6 * sqrt(sample_size), "steps",
                        seed);
        kith_bodies_free(bodies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_plummer_has_its_mass_profile_and_half_mass_radius),
        cmocka_unit_test(test_initial_plummer_is_in_virial_equilibrium),
        cmocka_unit_test(test_initial_plummer_has_energy_of_minus_a_quarter),
        cmocka_unit_test(test_initial_hernquist_has_its_mass_profile),
        cmocka_unit_test(test_initial_hernquist_speeds_solve_the_jeans_equation_at_every_radius),
        cmocka_unit_test(test_initial_uniform_cube_is_uniform_along_each_axis_and_at_rest),
        cmocka_unit_test(test_initial_uniform_sphere_has_constant_density),
        cmocka_unit_test(test_initial_lattice_sites_are_distinct_and_fill_the_smallest_cube),
        cmocka_unit_test(test_initial_lattice_walk_takes_unit_steps_every_way),
    };
    return cmocka_run_group_tests_name("initial samples", tests, NULL, NULL);
}
