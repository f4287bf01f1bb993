/* Heat flows out of a cube: the heat equation by conjugate gradients on kith's sparse matrix.
 *
 *     heat [N] [cpu|cuda]
 *
 * ∂u/∂t = Δu in the unit cube with walls at 0, on N³ inner points. Crank and Nicolson's scheme
 *
 *     (1 + dt/2 A) u(t + dt) = (1 − dt/2 A) u(t),      A = −Δ by differences of seven points
 *
 * is a linear system a step, which conjugate gradients solve (Hestenes & Stiefel 1952). The start
 * is a sum of two products of sines, whose decay is known for the continuous equation and for the
 * grid; the program prints how far it is from both. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

static const double pi = 3.14159265358979323846;
static const double end = 0.02, dt = 0.0005, tolerance = 1e-12;

struct grid {
    int64_t n, points;
    double spacing;
};

static int fail(void)
{
    fprintf(stderr, "heat: %s\n", kith_error_message());
    return 1;
}

/* 1 + factor·A as rows, columns and values: 7 entries a point, fewer at the walls. */
static int64_t fill(const struct grid *grid, double factor, int64_t *row, int64_t *column,
                    double *value)
{
    const int64_t n = grid->n, step[3] = {1, n, n * n};
    const double off = -factor / (grid->spacing * grid->spacing);
    int64_t count = 0;
    for (int64_t i = 0; i < grid->points; i++) {
        row[count] = column[count] = i;
        value[count++] = 1 - 6 * off;
        for (int c = 0; c < 3; c++) {
            const int64_t place = i / step[c] % n;
            for (int64_t side = -1; side <= 1; side += 2) {
                if (place + side < 0 || place + side >= n)
                    continue;
                row[count] = i;
                column[count] = i + side * step[c];
                value[count++] = off;
            }
        }
    }
    return count;
}

/* In two steps: row, column, value; then the matrix, which keeps copies. */
static kith_status make_matrix(kith_context *context, const struct grid *grid, double factor,
                               kith_sparse **matrix)
{
    const size_t room = (size_t)(7 * grid->points);
    int64_t *row = malloc(room * sizeof *row), *column = malloc(room * sizeof *column);
    double *value = malloc(room * sizeof *value);
    kith_status status = KITH_OUT_OF_MEMORY;
    if (row && column && value) {
        const int64_t count = fill(grid, factor, row, column, value);
        status = kith_sparse_create_coo(context, NULL, grid->points, grid->points,
                                        kith_array_vector(row, KITH_I64, count),
                                        kith_array_vector(column, KITH_I64, count),
                                        kith_array_vector(value, KITH_F64, count), matrix);
    }
    free(row);
    free(column);
    free(value);
    return status;
}

/* The mode sin(k π x) sin(k π y) sin(k π z) at a point. */
static double mode(const struct grid *grid, int k, int64_t i)
{
    double product = 1;
    for (int c = 0; c < 3; c++, i /= grid->n)
        product *= sin(k * pi * grid->spacing * (double)(i % grid->n + 1));
    return product;
}

/* How a mode has decayed after so many steps: of the equation, and of the scheme on the grid. */
static double decay(int k, int64_t steps)
{
    return exp(-3 * k * k * pi * pi * dt * (double)steps);
}

static double decay_on_grid(const struct grid *grid, int k, int64_t steps)
{
    const double s = sin(0.5 * k * pi * grid->spacing) / grid->spacing;
    const double eigenvalue = 12 * s * s;
    return pow((1 - 0.5 * dt * eigenvalue) / (1 + 0.5 * dt * eigenvalue), (double)steps);
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Vectors of the solver, n elements each. */
struct work {
    double *residual, *direction, *image;
};

/* Solves matrix · x = b from the x that is there, until |b − matrix·x| ≤ tolerance |b|. */
static kith_status solve(kith_sparse *matrix, const double *b, double *x, int64_t n,
                         const struct work *work, int64_t *iterations)
{
    double *r = work->residual, *p = work->direction, *q = work->image;
    memcpy(r, b, (size_t)n * sizeof *r);
    kith_status status =
        kith_sparse_multiply(matrix, KITH_SPARSE_AS_IS, -1, kith_array_vector(x, KITH_F64, n), 1,
                             kith_array_vector(r, KITH_F64, n));
    memcpy(p, r, (size_t)n * sizeof *p);
    double rr = dot(r, r, n);
    const double goal = tolerance * tolerance * dot(b, b, n);
    for (; !status && rr > goal; (*iterations)++) {
        status =
            kith_sparse_multiply(matrix, KITH_SPARSE_AS_IS, 1, kith_array_vector(p, KITH_F64, n), 0,
                                 kith_array_vector(q, KITH_F64, n));
        const double alpha = rr / dot(p, q, n);
        for (int64_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double before = rr;
        rr = dot(r, r, n);
        for (int64_t i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
    return status;
}

/* The largest differences from the exact solutions of the equation and of the scheme. */
static void compare(const struct grid *grid, const double *u, int64_t steps)
{
    double largest = 0, from_equation = 0, from_scheme = 0;
    for (int64_t i = 0; i < grid->points; i++) {
        const double one = mode(grid, 1, i), three = mode(grid, 3, i);
        const double exact = decay(1, steps) * one + decay(3, steps) * three;
        const double scheme =
            decay_on_grid(grid, 1, steps) * one + decay_on_grid(grid, 3, steps) * three;
        largest = fmax(largest, fabs(exact));
        from_equation = fmax(from_equation, fabs(u[i] - exact));
        from_scheme = fmax(from_scheme, fabs(u[i] - scheme));
    }
    printf("hottest %.6f; off the equation's by %.1e, off the grid's by %.1e\n", largest,
           from_equation / largest, from_scheme / largest);
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 40;
    const bool on_gpu = argc > 2 && strcmp(argv[2], "cuda") == 0;
    if (n < 2 || n > 400) {
        fprintf(stderr, "heat: N is %s; give 2 to 400\n", argv[1]);
        return 2;
    }
    const struct grid grid = {n, n * n * n, 1 / ((double)n + 1)};
    double *room = calloc((size_t)grid.points, 5 * sizeof *room);
    if (!room) {
        fprintf(stderr, "heat: no memory for %lld points\n", (long long)grid.points);
        return 1;
    }
    double *u = room, *b = room + grid.points;
    const struct work work = {b + grid.points, b + 2 * grid.points, b + 3 * grid.points};

    const kith_context_options place = {.device = {on_gpu ? KITH_CUDA : KITH_CPU, 0}};
    kith_context *context = NULL;
    kith_sparse *forward = NULL, *backward = NULL;
    if (kith_context_create(&place, &context) || make_matrix(context, &grid, -dt / 2, &forward) ||
        make_matrix(context, &grid, dt / 2, &backward)) {
        free(room);
        return fail();
    }

    kith_sparse_info info;
    if (kith_sparse_describe(backward, KITH_SPARSE_AS_IS, &info)) {
        free(room);
        return fail();
    }
    printf("%lld unknowns, %lld entries: %s\n", (long long)info.rows, (long long)info.nonzeros,
           info.reason);

    for (int64_t i = 0; i < grid.points; i++)
        u[i] = mode(&grid, 1, i) + mode(&grid, 3, i);
    int64_t iterations = 0, steps = llround(end / dt);
    for (int64_t step = 0; step < steps; step++)
        if (kith_sparse_multiply(forward, KITH_SPARSE_AS_IS, 1,
                                 kith_array_vector(u, KITH_F64, grid.points), 0,
                                 kith_array_vector(b, KITH_F64, grid.points)) ||
            solve(backward, b, u, grid.points, &work, &iterations)) {
            free(room);
            return fail();
        }

    printf("%lld steps, %.1f iterations each\n", (long long)steps,
           (double)iterations / (double)steps);
    compare(&grid, u, steps);
    kith_sparse_free(forward);
    kith_sparse_free(backward);
    kith_context_free(context);
    free(room);
    return 0;
}
