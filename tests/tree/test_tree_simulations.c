/* Simulations by the solver fmm keep what those by the direct sum keep. KITH_TEST_LONG=1 takes
 * 20000 bodies for the energy. */

#include "simulating.h"

#include <stdlib.h>

static kith_simulation_options by(const char *solver, double error, double dt, double softening)
{
    return (kith_simulation_options){.dt = dt,
                                     .forces = {.softening = softening,
                                                .solver = solver_named(solver),
                                                .accuracy.error = error}};
}

/* The largest relative error of the energy over ten crossing times, of 2 √2 each (Heggie & Mathieu
 * 1986), from a state in each half of a time unit. */
static double energy_error(const kith_bodies *bodies, kith_simulation_options options)
{
    const int64_t states = 57;
    kith_context *context = cpu_context(2);
    kith_simulation *simulation = simulated(context, bodies, options);
    const double start = diagnosed(simulation).total_energy;
    double largest = 0;
    for (int64_t k = 0; k < states; k++) {
        assert_ok(kith_simulation_step(simulation, (int64_t)lround(0.5 / options.dt)));
        largest = worse_of(largest, fabs(diagnosed(simulation).total_energy / start - 1));
    }
    kith_simulation_free(simulation);
    kith_context_free(context);
    return largest;
}

/* Steps as short as these leave an error that does not hide that of the forces. */
static void test_fmm_keeps_the_energy_of_a_cluster_as_the_direct_sum_does(void **state)
{
    (void)state;
    const int64_t count = getenv("KITH_TEST_LONG") ? 20000 : 2000;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = count, .seed = 5});
    const double direct = energy_error(bodies, by("direct", 0, 0.02, 0.05));
    const double fmm = energy_error(bodies, by("fmm", 1e-3, 0.02, 0.05));
    print_message("%lld bodies: energy error of direct %.3g, of fmm %.3g\n", (long long)count,
                  direct, fmm);
    assert_true(direct > 0 && fmm < 2 * direct);
    kith_bodies_free(bodies);
}

/* Bodies 2 k and 2 k + 1 of the cluster become a circular pair: two equal bodies, or a planet. */
enum { pairs = 12 };

static const double separation = 1e-3;

static void make_pair(kith_bodies *bodies, int64_t k)
{
    const int64_t a = 2 * k, b = a + 1;
    const double mass = bodies->mass[a];
    bodies->mass[b] = k % 2 ? 1e-9 * mass : mass;
    const double all = bodies->mass[a] + bodies->mass[b], of_b = bodies->mass[a] / all;
    const double speed = sqrt(all / separation);
    const double place[3] = {separation, 0, 0}, velocity[3] = {0, speed, 0};
    for (int c = 0; c < 3; c++) {
        const int axis = (int)((c + k) % 3);
        bodies->position[3 * b + c] = bodies->position[3 * a + c] + of_b * place[axis];
        bodies->velocity[3 * b + c] = bodies->velocity[3 * a + c] + of_b * velocity[axis];
        bodies->position[3 * a + c] -= (1 - of_b) * place[axis];
        bodies->velocity[3 * a + c] -= (1 - of_b) * velocity[axis];
    }
}

/* The semi-major axis, negative if the pair is no longer bound. */
static double semi_major_axis(const kith_bodies *bodies, const kith_bodies *at, int64_t k)
{
    const int64_t a = 2 * k, b = a + 1;
    const double all = bodies->mass[a] + bodies->mass[b];
    double r2 = 0, v2 = 0;
    for (int c = 0; c < 3; c++) {
        r2 += pow(at->position[3 * b + c] - at->position[3 * a + c], 2);
        v2 += pow(at->velocity[3 * b + c] - at->velocity[3 * a + c], 2);
    }
    return 1 / (2 / sqrt(r2) - v2 / all);
}

/* The largest relative change of a pair's semi-major axis in ten periods of the slowest. */
static double change_of_orbits(const kith_bodies *bodies, const char *solver, double error)
{
    const double period = 2 * pi * sqrt(pow(separation, 3) * (double)bodies->count);
    kith_context *context = cpu_context(2);
    kith_simulation *simulation = simulated(context, bodies, by(solver, error, period / 200, 0));
    double largest = 0;
    for (int part = 0; part < 10; part++) {
        assert_ok(kith_simulation_step(simulation, 200));
        kith_bodies *now = state_of(simulation, bodies);
        for (int64_t k = 0; k < pairs; k++)
            largest = worse_of(largest, fabs(semi_major_axis(bodies, now, k) / separation - 1));
        kith_bodies_free(now);
    }
    kith_simulation_free(simulation);
    kith_context_free(context);
    return largest;
}

static void test_pairs_that_orbit_each_other_in_a_cluster_stay_as_they_are(void **state)
{
    (void)state;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 1000, .seed = 6});
    for (int64_t k = 0; k < pairs; k++)
        make_pair(bodies, k);
    const double direct = change_of_orbits(bodies, "direct", 0);
    static const char *const solvers[] = {"fmm", "tree"};
    for (int k = 0; k < 2; k++) {
        const double found = change_of_orbits(bodies, solvers[k], 1e-3);
        print_message("change of orbits by direct %.3g, by %s %.3g\n", direct, solvers[k], found);
        assert_true(direct < 0.01 && found < 2 * direct);
    }
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fmm_keeps_the_energy_of_a_cluster_as_the_direct_sum_does),
        cmocka_unit_test(test_pairs_that_orbit_each_other_in_a_cluster_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
