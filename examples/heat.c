/* Heat flows out of a cube: the heat equation by conjugate gradients on kith's sparse matrix.
 *
 *     heat [N] [cpu|cuda] [OUTPUT.csv]
 *
 * ∂u/∂t = Δu in the unit cube with walls at 0, on N³ inner points, by Crank and Nicolson's scheme:
 *
 *     (1 + dt/2 A) u(t + dt) = (1 − dt/2 A) u(t),      A = −Δ by differences of seven points
 *
 * is a linear system a step. The start is a sum of two products of sines, whose decay on the grid
 * is known; the program prints how far it is from that. OUTPUT gets the temperature in a plane at
 * three times; heat.gp draws it. */

#include <math.h>

#include "conjugate_gradients.h"

static const double pi = 3.14159265358979323846, end = 0.02, dt = 0.0005, tolerance = 1e-12;

/* 1 + factor·A of rows, columns and values: 7 entries per point, fewer at the walls. */
static kith_sparse *make_matrix(kith_context *context, int64_t n, double factor)
{
    const int64_t points = n * n * n, step[3] = {1, n, n * n};
    const double off = -factor * (double)((n + 1) * (n + 1));
    int64_t *row = room_for(7 * points, sizeof *row), count = 0;
    int64_t *column = room_for(7 * points, sizeof *column);
    double *value = room_for(7 * points, sizeof *value);
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
    kith_sparse *matrix = NULL;
    must(kith_sparse_create_coo(context, NULL, points, points,
                                kith_array_vector(row, KITH_I64, count),
                                kith_array_vector(column, KITH_I64, count),
                                kith_array_vector(value, KITH_F64, count), &matrix));
    free(row);
    free(column);
    free(value);
    return matrix;
}

/* y = alpha·matrix·x + beta·y */
static void multiply(kith_sparse *matrix, double alpha, double *x, double beta, double *y,
                     int64_t n)
{
    must(kith_sparse_multiply(matrix, KITH_SPARSE_AS_IS, alpha, kith_array_vector(x, KITH_F64, n),
                              beta, kith_array_vector(y, KITH_F64, n)));
}

static void product_alone(void *matrix, double *in, double *out, int64_t n)
{
    multiply(matrix, 1, in, 0, out, n);
}

/* The mode k, sin(k π x) sin(k π y) sin(k π z), at point i after a number of steps of the scheme.
 */
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
    const int64_t n = argc > 1 ? atoll(argv[1]) : 40, points = n * n * n, steps = llround(end / dt);
    if (n < 2 || n > 400) {
        fprintf(stderr, "heat: N is %s; give 2 to 400\n", argv[1]);
        return 2;
    }
    kith_context *context = context_on(argc > 2 ? argv[2] : "cpu");
    kith_sparse *forward = make_matrix(context, n, -dt / 2);
    kith_sparse *backward = make_matrix(context, n, dt / 2);
    kith_sparse_info info;
    must(kith_sparse_describe(backward, KITH_SPARSE_AS_IS, &info));
    printf("%lld unknowns, %lld entries: %s\n", (long long)info.rows, (long long)info.nonzeros,
           info.reason);

    double *u = room_for(2 * points, sizeof *u), *b = u + points;
    FILE *file = argc > 3 ? fopen(argv[3], "w") : NULL;
    if (file)
        fprintf(file, "t,x,y,temperature\n");
    for (int64_t i = 0; i < points; i++)
        u[i] = mode(n, 1, i, 0) + mode(n, 3, i, 0);
    write_plane(file, u, n, 0);
    int64_t iterations = 0;
    for (int64_t step = 1; step <= steps; step++) {
        multiply(forward, 1, u, 0, b, points);
        const double goal = tolerance * tolerance * dot(b, b, points);
        multiply(backward, -1, u, 1, b, points); /* now the residual of u */
        iterations += conjugate_gradients(product_alone, backward, b, u, points, goal);
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
    kith_sparse_free(forward);
    kith_sparse_free(backward);
    kith_context_free(context);
    free(u);
    return file && fclose(file) ? 1 : 0;
}
