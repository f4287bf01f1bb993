/* Heat flows out of a cube: the heat equation by conjugate gradients on kith's sparse matrix.
 *
 *     heat [N] [cpu|cuda] [OUTPUT.csv]
 *
 * ∂u/∂t = Δu in the unit cube with walls at 0, on N³ inner points, by Crank and Nicolson's scheme:
 *
 *     (1 + dt/2 A) u(t + dt) = (1 − dt/2 A) u(t),      A = −Δ by differences of seven points
 *
 * is a linear system a step, which conjugate gradients solve (Hestenes & Stiefel 1952). The start
 * is a sum of two products of sines, whose decay on the grid is known; the program prints how far
 * it is from that. OUTPUT gets the temperature in a plane at three times; heat.gp draws it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

static const double pi = 3.14159265358979323846, end = 0.02, dt = 0.0005, tolerance = 1e-12;

static int fail(void)
{
    fprintf(stderr, "heat: %s\n", kith_error_message());
    return 1;
}

/* 1 + factor·A of rows, columns and values: 7 entries a point, fewer at the walls. */
static kith_status make_matrix(kith_context *context, int64_t n, double factor,
                               kith_sparse **matrix)
{
    const int64_t points = n * n * n, step[3] = {1, n, n * n};
    const double off = -factor * (double)((n + 1) * (n + 1));
    int64_t *row = malloc(7 * (size_t)points * sizeof *row);
    int64_t *column = malloc(7 * (size_t)points * sizeof *column);
    double *value = malloc(7 * (size_t)points * sizeof *value);
    int64_t count = 0;
    if (!row || !column || !value) {
        free(row);
        free(column);
        free(value);
        return KITH_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < points; i++) {
        row[count] = column[count] = i;
        value[count++] = 1 - 6 * off;
        for (int c = 0; c < 6; c++) {
            const int64_t side = c % 2 ? 1 : -1, place = i / step[c / 2] % n + side;
            if (place < 0 || place >= n)
                continue;
            row[count] = i;
            column[count] = i + side * step[c / 2];
            value[count++] = off;
        }
    }
    const kith_status status = kith_sparse_create_coo(
        context, NULL, points, points, kith_array_vector(row, KITH_I64, count),
        kith_array_vector(column, KITH_I64, count), kith_array_vector(value, KITH_F64, count),
        matrix);
    free(row);
    free(column);
    free(value);
    return status;
}

/* y = alpha·matrix·x + beta·y */
static kith_status multiply(kith_sparse *matrix, double alpha, double *x, double beta, double *y,
                            int64_t n)
{
    return kith_sparse_multiply(matrix, KITH_SPARSE_AS_IS, alpha, kith_array_vector(x, KITH_F64, n),
                                beta, kith_array_vector(y, KITH_F64, n));
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Solves matrix·x = b from the x that is there; work has room for 3 n numbers. */
static kith_status solve(kith_sparse *matrix, const double *b, double *x, int64_t n, double *work,
                         int64_t *iterations)
{
    double *r = work, *p = work + n, *q = work + 2 * n;
    memcpy(r, b, (size_t)n * sizeof *r);
    kith_status status = multiply(matrix, -1, x, 1, r, n);
    memcpy(p, r, (size_t)n * sizeof *p);
    double rr = dot(r, r, n);
    const double goal = tolerance * tolerance * dot(b, b, n);
    for (; !status && rr > goal; ++*iterations) {
        status = multiply(matrix, 1, p, 0, q, n);
        const double alpha = rr / dot(p, q, n), before = rr;
        for (int64_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rr = dot(r, r, n);
        for (int64_t i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
    return status;
}

/* The mode k, sin(k π x) sin(k π y) sin(k π z), at point i after so many steps of the scheme. */
static double mode(int64_t n, int k, int64_t i, int64_t steps)
{
    const double s = sin(0.5 * k * pi / (double)(n + 1)) * (double)(n + 1), h = 6 * dt * s * s;
    double product = pow((1 - h) / (1 + h), (double)steps);
    for (int c = 0; c < 3; c++, i /= n)
        product *= sin(k * pi * (double)(i % n + 1) / (double)(n + 1));
    return product;
}

static void write_plane(FILE *file, const double *u, int64_t n, double t)
{
    const double spacing = 1 / (double)(n + 1);
    for (int64_t i = 0; file && i < n * n; i++) {
        const int64_t x = i % n + 1, y = i / n + 1;
        fprintf(file, "%g,%g,%g,%.6g\n", t, spacing * (double)x, spacing * (double)y,
                u[n / 2 * n * n + i]);
    }
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 40, points = n * n * n;
    if (n < 2 || n > 400) {
        fprintf(stderr, "heat: N is %s; give 2 to 400\n", argv[1]);
        return 2;
    }
    const bool on_gpu = argc > 2 && strcmp(argv[2], "cuda") == 0;
    const kith_context_options place = {.device = {on_gpu ? KITH_CUDA : KITH_CPU, 0}};
    kith_context *context = NULL;
    kith_sparse *forward = NULL, *backward = NULL;
    kith_sparse_info info;
    if (kith_context_create(&place, &context) || make_matrix(context, n, -dt / 2, &forward) ||
        make_matrix(context, n, dt / 2, &backward) ||
        kith_sparse_describe(backward, KITH_SPARSE_AS_IS, &info))
        return fail();
    printf("%lld unknowns, %lld entries: %s\n", (long long)info.rows, (long long)info.nonzeros,
           info.reason);

    double *u = calloc((size_t)points, 5 * sizeof *u);
    if (!u)
        return 1;
    double *b = u + points, *work = u + 2 * points;
    FILE *file = argc > 3 ? fopen(argv[3], "w") : NULL;
    if (file)
        fprintf(file, "t,x,y,temperature\n");
    for (int64_t i = 0; i < points; i++)
        u[i] = mode(n, 1, i, 0) + mode(n, 3, i, 0);
    write_plane(file, u, n, 0);
    int64_t iterations = 0, steps = llround(end / dt);
    for (int64_t step = 1; step <= steps; step++) {
        if (multiply(forward, 1, u, 0, b, points) ||
            solve(backward, b, u, points, work, &iterations)) {
            free(u);
            return fail();
        }
        if (step == steps / 4 || step == steps)
            write_plane(file, u, n, dt * (double)step);
    }
    double largest = 0, error = 0;
    for (int64_t i = 0; i < points; i++) {
        const double exact = mode(n, 1, i, steps) + mode(n, 3, i, steps);
        largest = fmax(largest, fabs(exact));
        error = fmax(error, fabs(u[i] - exact));
    }
    printf("%lld steps, %.1f iterations each; hottest %.6f, off the grid's solution by %.1e\n",
           (long long)steps, (double)iterations / (double)steps, largest, error / largest);
    const bool failed = file && fclose(file);
    kith_sparse_free(forward);
    kith_sparse_free(backward);
    kith_context_free(context);
    free(u);
    return failed ? 1 : 0;
}
