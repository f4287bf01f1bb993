/* The steps of whfast with the arithmetic of a GPU's threads, compiled for the host. */

#define SIMD_SCALAR

#include "kepler_drifts.h"
#include "simulation/whfast.h"

/* simulation/whfast_kernel.c with numbers for vectors (tests/CMakeLists.txt). */
extern const struct whfast_kernels whfast_scalar;

static void test_roots_and_quotients_are_rounded_correctly(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    for (int k = 0; k < 1000000; k++) {
        const double x = exp(random_uniform(&random, -200, 200));
        const double a = exp(random_uniform(&random, -200, 200));
        double inverse;
        assert_true(simd_roots(x, &inverse) == sqrt(x));
        assert_true(inverse == 1 / sqrt(x));
        assert_true(simd_quotient(a, x) == a / x);
        assert_true(fabs(simd_rough_reciprocal(x) * x - 1) < 0x1p-37);
    }
}

/* Steps of a twentieth of an orbit need no second try. */
static void test_usual_steps_are_solved_at_once(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    int64_t rest = 0, count = 100000;
    for (int64_t k = 0; k < count; k++) {
        const kith_orbit orbit = {.a = 1,
                                  .e = random_uniform(&random, 0, 0.25),
                                  .omega = random_uniform(&random, 0, 6),
                                  .M = random_uniform(&random, 0, 6.28)};
        double x[3], v[3];
        assert_ok(kith_orbit_place(1, &orbit, x, v));
        vint64 is_found;
        whfast_try(1, 2 * pi / 20, x, v, &is_found);
        rest += is_found == 0;
    }
    print_message("%lld of %lld\n", (long long)rest, (long long)count);
    assert_true(rest == 0);
}

/* The mean of what many drifts do to the energies of planets: rounding alone has a mean of
 * 4·10⁻¹⁶, and 2^−62 per drift, of one place that is rounded with a bias, are seen. */
static void test_rounding_has_no_bias(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    enum { planets = 400, drifts = 20000 };
    double mean = 0;
    for (int k = 0; k < planets; k++) {
        const double mu = random_uniform(&random, 0.8, 1.3), h = random_uniform(&random, 0.25, 0.3);
        const kith_orbit orbit = {.a = 1,
                                  .e = 0.05,
                                  .i = random_uniform(&random, 0, 1),
                                  .omega = random_uniform(&random, 0, 6),
                                  .M = random_uniform(&random, 0, 6.28)};
        double q[3], v[3], lost_q[3] = {0}, lost_v[3] = {0};
        long double energy[2] = {0};
        assert_ok(kith_orbit_place(mu, &orbit, q, v));
        for (int at = 0; at < 2; at++) {
            for (int drift = 0; at == 1 && drift < drifts; drift++)
                whfast_kepler(mu, h, q, v, lost_q, lost_v);
            long double r2 = 0, v2 = 0;
            for (int c = 0; c < 3; c++) {
                const long double x = (long double)q[c] + lost_q[c],
                                  u = (long double)v[c] + lost_v[c];
                r2 += x * x;
                v2 += u * u;
            }
            energy[at] = v2 / 2 - mu / sqrtl(r2);
        }
        mean += (double)(energy[1] / energy[0] - 1) / planets;
    }
    print_message("mean error %.2g\n", mean);
    assert_true(fabs(mean) < drifts * 0x1.4p-63);
}

enum { systems = 5, stride = 16, most_planets = 12, steps = 40 };

/* The vectors of an ensemble, as simulations have them. */
struct ensemble {
    double position[3][(most_planets + 1) * stride], velocity[3][(most_planets + 1) * stride];
    double kept[4][3][(most_planets + 1) * stride], mass[(most_planets + 1) * stride];
};

static kith_bodies *random_systems(struct random_numbers *random, int64_t count)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(systems * count, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    for (int64_t row = 0; row < systems * count; row++) {
        const int64_t i = row % count;
        const kith_orbit orbit = {.a = pow(1.6, (double)i),
                                  .e = random_uniform(random, 0, i == 1 ? 0.4 : 0.1),
                                  .i = random_uniform(random, 0, 0.1),
                                  .omega = random_uniform(random, 0, 6),
                                  .M = random_uniform(random, 0, 6)};
        bodies->mass[row] = i == 0 ? 1 : i % 4 == 3 ? 0 : random_uniform(random, 1e-6, 1e-4);
        if (i > 0)
            assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * row,
                                       bodies->velocity + 3 * row));
    }
    return bodies;
}

static void take_steps(const kith_bodies *bodies, const struct whfast_choice *choice,
                       struct ensemble *ensemble)
{
    const int64_t count = bodies->count / systems;
    struct forces_problem forces = {.dtype = KITH_F64,
                                    .dimensions = 3,
                                    .self = true,
                                    .target_count = count,
                                    .source_count = count,
                                    .system_count = systems,
                                    .system_stride = stride,
                                    .gravitational_constant = 1,
                                    .source_mass = ensemble->mass};
    struct whfast_problem problem = {.forces = &forces,
                                     .choice = *choice,
                                     .begins = true,
                                     .ends = true,
                                     .h = 0.1,
                                     .steps = steps};
    for (int64_t row = 0; row < bodies->count; row++) {
        const int64_t at = row % count * stride + row / count;
        ensemble->mass[at] = bodies->mass[row];
        for (int c = 0; c < 3; c++) {
            ensemble->position[c][at] = bodies->position[3 * row + c];
            ensemble->velocity[c][at] = bodies->velocity[3 * row + c];
        }
    }
    for (int c = 0; c < 3; c++) {
        problem.all.position[c] = ensemble->position[c];
        problem.all.velocity[c] = ensemble->velocity[c];
        problem.all.kept_position[c] = ensemble->kept[0][c];
        problem.all.kept_velocity[c] = ensemble->kept[1][c];
        problem.all.lost_position[c] = ensemble->kept[2][c];
        problem.all.lost_velocity[c] = ensemble->kept[3][c];
    }
    problem.lead = problem.all;
    problem.mass = ensemble->mass;
    problem.center = count - 1;
    whfast_scalar.systems(&problem, 0, systems);
}

/* Rounding alone differs. */
static void test_ensembles_agree_with_vectors(void **state)
{
    (void)state;
    static const char *const kernels[] = {"default", "lazy", "modified-kick", "composition"};
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    double largest = 0;
    for (int k = 0; k < 24; k++) {
        const bool is_jacobi = k % 5 < 4;
        const int kernel = is_jacobi ? k % 4 : 0, corrector = is_jacobi ? k % whfast_correctors : 0;
        const int64_t count = 1 + k % (most_planets + 1);
        const struct whfast_choice choice = {
            is_jacobi ? whfast_jacobi : whfast_democratic_heliocentric, (enum whfast_kernel)kernel,
            &whfast_corrector[corrector]};
        const kith_simulation_options options = {
            .dt = 0.1,
            .integrator = "whfast",
            .coordinates = is_jacobi ? "jacobi" : "democratic-heliocentric",
            .kernel = kernels[kernel],
            .corrector = whfast_corrector[corrector].order};
        kith_bodies *bodies = random_systems(&random, count);
        struct ensemble *ensemble = calloc(1, sizeof *ensemble);
        kith_simulation *simulation = NULL;
        assert_non_null(ensemble);
        take_steps(bodies, &choice, ensemble);
        assert_ok(kith_simulation_create_ensemble(context, &options, systems, bodies, &simulation));
        assert_ok(kith_simulation_step(simulation, steps));
        kith_bodies *expected = state_of(simulation, bodies);
        for (int64_t row = 0; row < bodies->count; row++)
            for (int c = 0; c < 3; c++) {
                const double x = expected->position[3 * row + c];
                const double off =
                    fabs(ensemble->position[c][row % count * stride + row / count] - x);
                largest = !(off / fmax(1, fabs(x)) <= largest) ? off / fmax(1, fabs(x)) : largest;
            }
        if (!(largest < 1e-13))
            fail_msg("case %d: off by %g", k, largest);
        free(ensemble);
        kith_bodies_free(expected);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    print_message("largest difference %.2g\n", largest);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_and_quotients_are_rounded_correctly),
        cmocka_unit_test(test_usual_steps_are_solved_at_once),
        cmocka_unit_test(test_rounding_has_no_bias),
        cmocka_unit_test(test_ensembles_agree_with_vectors),
        cmocka_unit_test(test_drifts_follow_kepler_to_rounding_at_any_eccentricity),
    };
    return cmocka_run_group_tests_name("whfast_scalar", tests, NULL, NULL);
}
