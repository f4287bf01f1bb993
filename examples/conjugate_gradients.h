/* Conjugate gradients (Hestenes & Stiefel 1952, J. Res. NBS 49, 409): solves A x = b for a
 * symmetric positive definite A, of which they need nothing but its products with vectors. */

#ifndef CONJUGATE_GRADIENTS_H
#define CONJUGATE_GRADIENTS_H

#include <stdlib.h>
#include <string.h>

#include "example.h"

/* out = A in, vectors of n numbers; the matrix is whatever multiplies. */
typedef void multiply_function(void *matrix, double *in, double *out, int64_t n);

static inline double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Improves x until r = b − A x has no more than |r|² = goal; r is given for the x that is there,
 * and kept up to date. The number of products that it took. */
static inline int64_t conjugate_gradients(multiply_function *multiply, void *matrix, double *r,
                                          double *x, int64_t n, double goal)
{
    double *p = room_for(2 * n, sizeof *p), *q = p + n, rr = dot(r, r, n);
    int64_t products = 0;
    memcpy(p, r, (size_t)n * sizeof *p);
    for (; rr > goal; products++) {
        multiply(matrix, p, q, n);
        const double alpha = rr / dot(p, q, n), before = rr;
        for (int64_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rr = dot(r, r, n);
        for (int64_t i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
    free(p);
    return products;
}

#endif
