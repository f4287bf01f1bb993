/* A surface through scattered points, without the matrix of all pairs: kriging, or Gaussian-process
 * regression.
 *
 *     kriging [POINTS] [OUTPUT.csv]
 *
 * Of heights h_i at n random places, the surface is Σ_j w_j k(x, x_j) with (K + σ² 1) w = h and
 * K_ij = k(x_i, x_j) = e^{−r²/(2S²)}: n² numbers, 80 GB for 100 000 points. Conjugate gradients
 * want K times a vector only, and kith_matrix_multiply computes that without K. The heights are
 * Franke's function (1979, Naval Postgraduate School NPS-53-79-003); kriging.gp draws what comes of
 * them. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

enum { grid = 101 };

static const char kernel[] = "gaussian:0.1";
static const double sigma2 = 1e-2, tolerance = 1e-4;

static int fail(void)
{
    fprintf(stderr, "kriging: %s\n", kith_error_message());
    return 1;
}

static double franke(const double x[2])
{
    const double u = 9 * x[0], v = 9 * x[1];
    return 0.75 * exp(-((u - 2) * (u - 2) + (v - 2) * (v - 2)) / 4) +
           0.75 * exp(-(u + 1) * (u + 1) / 49 - (v + 1) / 10) +
           0.5 * exp(-((u - 7) * (u - 7) + (v - 3) * (v - 3)) / 4) -
           0.2 * exp(-(u - 4) * (u - 4) - (v - 7) * (v - 7));
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Solves (K + σ² 1) w = h. The product leaves i = j out, where k is 1. */
static kith_status solve(kith_context *context, const kith_law *law, const kith_particles *points,
                         const double *h, double *w, int64_t n, int *iterations)
{
    double *r = malloc(3 * (size_t)n * sizeof *r);
    if (!r)
        return KITH_OUT_OF_MEMORY;
    double *p = r + n, *q = r + 2 * n;
    memcpy(r, h, (size_t)n * sizeof *r);
    memcpy(p, h, (size_t)n * sizeof *p);
    memset(w, 0, (size_t)n * sizeof *w);
    kith_status status = KITH_OK;
    double rr = dot(r, r, n);
    const double goal = tolerance * tolerance * rr;
    for (*iterations = 0; rr > goal && status == KITH_OK; ++*iterations) {
        status = kith_matrix_multiply(context, law, NULL, points, NULL,
                                      kith_array_vector(p, KITH_F64, n),
                                      kith_array_vector(q, KITH_F64, n));
        for (int64_t i = 0; i < n; i++)
            q[i] += (1 + sigma2) * p[i];
        const double alpha = rr / dot(p, q, n), before = rr;
        for (int64_t i = 0; i < n; i++) {
            w[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rr = dot(r, r, n);
        for (int64_t i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
    free(r);
    return status;
}

int main(int argc, char **argv)
{
    const kith_initial_options square = {.count = argc > 1 ? atoll(argv[1]) : 2000,
                                         .dimensions = 2};
    static double at[grid * grid][2], surface[grid * grid];
    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    kith_law *law = NULL;
    if (kith_context_create(NULL, &context) || kith_law_parse(kernel, 0, NULL, &law) ||
        kith_initial_make("uniform-cube", &square, &bodies))
        return fail();
    const int64_t n = bodies->count;
    double *h = malloc(2 * (size_t)n * sizeof *h);
    if (!h)
        return 1;
    double *w = h + n;
    for (int64_t i = 0; i < n; i++)
        h[i] = franke(bodies->position + 2 * i);
    for (int k = 0; k < grid * grid; k++) {
        const int column = k % grid, row = k / grid;
        at[k][0] = (double)column / (grid - 1);
        at[k][1] = (double)row / (grid - 1);
    }

    int iterations = 0;
    const kith_particles points = {.positions =
                                       kith_array_matrix(bodies->position, KITH_F64, n, 2)};
    const kith_particles places = {.positions = kith_array_matrix(at, KITH_F64, grid * grid, 2)};
    if (solve(context, law, &points, h, w, n, &iterations) ||
        kith_matrix_multiply(context, law, NULL, &places, &points,
                             kith_array_vector(w, KITH_F64, n),
                             kith_array_vector(surface, KITH_F64, grid * grid)))
        return fail();

    double error2 = 0;
    for (int k = 0; k < grid * grid; k++)
        error2 += pow(surface[k] - franke(at[k]), 2) / (grid * grid);
    printf("%lld points, a matrix of %.3g GB: %d products; error of the surface %.1e\n",
           (long long)n, 8e-9 * (double)n * (double)n, iterations, sqrt(error2));
    const kith_array x = {at[0], {KITH_CPU, 0}, 1, KITH_F64, {grid * grid}, {2}};
    const kith_array y = {at[0] + 1, {KITH_CPU, 0}, 1, KITH_F64, {grid * grid}, {2}};
    const kith_table_column columns[] = {
        {"x", x}, {"y", y}, {"height", kith_array_vector(surface, KITH_F64, grid * grid)}};
    if (argc > 2 && kith_table_write(argv[2], NULL, 3, columns))
        return fail();
    free(h);
    kith_law_free(law);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return 0;
}
