/* The plain double loop over all pairs, compiled as well as the compiler can: what bench/forces.py
 * compares kith with. The input is
 *
 *     N SOFTENING         then N lines: m x y z
 *     CALLS               as often as wanted; each is answered by the seconds that CALLS calls
 * took
 */

#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void plain_forces(int64_t n, const double *restrict position, const double *restrict mass,
                         double softening, double *restrict acceleration)
{
    for (int64_t i = 0; i < n; i++) {
        double ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n; j++) {
            const double dx = position[3 * j] - position[3 * i];
            const double dy = position[3 * j + 1] - position[3 * i + 1];
            const double dz = position[3 * j + 2] - position[3 * i + 2];
            const double s2 = dx * dx + dy * dy + dz * dz + softening * softening;
            const double factor = mass[j] / (s2 * sqrt(s2));
            ax += factor * dx;
            ay += factor * dy;
            az += factor * dz;
        }
        acceleration[3 * i] = ax;
        acceleration[3 * i + 1] = ay;
        acceleration[3 * i + 2] = az;
    }
}

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "bench_plain_forces: %s\n", what);
    return 1;
}

static int answer(int64_t n, double softening, double *numbers)
{
    double *mass = numbers, *position = numbers + n, *acceleration = numbers + 4 * n;
    int64_t calls = 0;
    for (int64_t i = 0; i < n; i++)
        if (scanf("%lf %lf %lf %lf", &mass[i], &position[3 * i], &position[3 * i + 1],
                  &position[3 * i + 2]) != 4)
            return fail("a body is missing on standard input; give m x y z of each");
    while (scanf("%" SCNd64, &calls) == 1) {
        const double start = clock_now();
        for (int64_t k = 0; k < calls; k++)
            plain_forces(n, position, mass, softening, acceleration);
        printf("%.9g\n", clock_now() - start);
        fflush(stdout);
    }
    return 0;
}

int main(void)
{
    int64_t n = 0;
    double softening = 0;
    if (scanf("%" SCNd64 " %lf", &n, &softening) != 2 || n < 1 || n > 1 << 24)
        return fail("standard input must begin with N, from 1 to 16777216, and the softening");
    double *numbers = malloc(7 * (size_t)n * sizeof *numbers);
    if (!numbers)
        return fail("no memory for the bodies");
    const int code = answer(n, softening, numbers);
    free(numbers);
    return code;
}
