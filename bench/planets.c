/* Times steps of an ensemble of planetary systems.
 *
 *     bench_planets DEVICE SYSTEMS PLANETS STEPS INTEGRATOR [COORDINATES [CORRECTOR [KERNEL]]]
 *
 * prints a line of JSON for each of five calls of STEPS steps, after one that is not counted:
 * nanoseconds of a step of a system, and the largest relative error of an energy since the start.
 * DEVICE is cpu or cuda. The systems are a star of mass 1 and planets of 10⁻⁵ on orbits of
 * eccentricity 0.05 from 0.4 on, each 1.6 times as large as the one before; a step is 1/20 of the
 * first's period. With ias15, STEPS are such steps. */

#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kith/kith.h"

static const double first_orbit = 0.4, apart = 1.6, two_pi = 6.28318530717958648;

enum { rounds = 5, most_diagnosed = 1000 };

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A number in [0, 1) that k chooses (SplitMix64). */
static double number_of(uint64_t k)
{
    uint64_t z = (k + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static kith_status fill(kith_bodies *bodies, int64_t systems)
{
    const int64_t count = bodies->count / systems;
    for (int64_t s = 0; s < systems; s++) {
        double a = first_orbit;
        bodies->mass[s * count] = 1;
        for (int64_t i = 1; i < count; i++) {
            const int64_t row = s * count + i;
            const uint64_t k = (uint64_t)row * 3;
            const kith_orbit orbit = {.a = a,
                                      .e = 0.05,
                                      .i = 0.05 * number_of(k),
                                      .omega = two_pi * number_of(k + 1),
                                      .M = two_pi * number_of(k + 2)};
            bodies->mass[row] = 1e-5;
            a *= apart;
            const kith_status status =
                kith_orbit_place(1, &orbit, bodies->position + 3 * row, bodies->velocity + 3 * row);
            if (status != KITH_OK)
                return status;
        }
    }
    return KITH_OK;
}

/* The energies of the first systems. */
struct energies {
    int64_t systems;
    kith_diagnostics before[most_diagnosed], now[most_diagnosed];
};

static double energy_error(const struct energies *energies)
{
    double largest = 0;
    for (int64_t s = 0; s < energies->systems; s++) {
        const double off =
            fabs(energies->now[s].total_energy / energies->before[s].total_energy - 1);
        largest = !(off <= largest) ? off : largest;
    }
    return largest;
}

static kith_status measure(kith_context *context, kith_simulation *simulation, int64_t systems,
                           int64_t steps, double dt)
{
    static struct energies energies;
    energies.systems = systems < most_diagnosed ? systems : most_diagnosed;
    kith_status status =
        kith_simulation_diagnose_systems(simulation, 0, energies.systems, energies.before);
    for (int round = 0; round <= rounds && status == KITH_OK; round++) {
        const double start = clock_now();
        status =
            kith_simulation_run(simulation, kith_simulation_time(simulation) + (double)steps * dt);
        if (status == KITH_OK)
            status = kith_context_synchronize(context);
        const double seconds = clock_now() - start;
        if (status == KITH_OK && round > 0)
            printf("{\"systems\": %" PRId64 ", \"steps\": %" PRId64
                   ", \"seconds\": %.6f, \"ns_per_system_step\": %.5f}\n",
                   systems, steps, seconds, 1e9 * seconds / (double)systems / (double)steps);
    }
    if (status == KITH_OK)
        status = kith_simulation_diagnose_systems(simulation, 0, energies.systems, energies.now);
    if (status == KITH_OK)
        printf("{\"energy_error\": %.3g}\n", energy_error(&energies));
    return status;
}

static int fail(const char *what)
{
    fprintf(stderr, "bench_planets: %s\n", what);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return fail("give DEVICE SYSTEMS PLANETS STEPS INTEGRATOR [COORDINATES [CORRECTOR "
                    "[KERNEL]]]");
    const int64_t systems = strtoll(argv[2], NULL, 10), planets = strtoll(argv[3], NULL, 10);
    const int64_t steps = strtoll(argv[4], NULL, 10);
    if (systems < 1 || planets < 1 || steps < 1)
        return fail("SYSTEMS, PLANETS and STEPS are numbers greater than 0");
    const double dt = two_pi * pow(first_orbit, 1.5) / 20;
    const kith_simulation_options options = {.dt = dt,
                                             .integrator = argv[5],
                                             .coordinates = argc > 6 ? argv[6] : NULL,
                                             .corrector =
                                                 argc > 7 ? (int32_t)strtol(argv[7], NULL, 10) : 0,
                                             .kernel = argc > 8 ? argv[8] : NULL};
    const kith_context_options where = {
        .device = {strcmp(argv[1], "cuda") == 0 ? KITH_CUDA : KITH_CPU, 0}};
    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    kith_simulation *simulation = NULL;
    kith_status status = kith_context_create(&where, &context);
    if (status == KITH_OK)
        status = kith_bodies_create(systems * (planets + 1), 3, KITH_VELOCITY | KITH_MASS, &bodies);
    if (status == KITH_OK)
        status = fill(bodies, systems);
    if (status == KITH_OK)
        status = kith_simulation_create_ensemble(context, &options, systems, bodies, &simulation);
    if (status == KITH_OK)
        status = measure(context, simulation, systems, steps, dt);
    if (status != KITH_OK)
        fail(kith_error_message());
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return status != KITH_OK;
}
