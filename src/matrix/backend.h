#ifndef MATRIX_BACKEND_H
#define MATRIX_BACKEND_H

#include "core/status.h"
#include "kith/matrix.h"
#include "law/law.h"
#include "matrix/arguments.h"
#include "matrix/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix to be computed, its columns in the backend's memory. */
struct matrix_task {
    const kith_law *law;
    enum law_kind kind;
    kith_dtype dtype;
    struct matrix_problem problem;
};

/* Where rows first … first + count go, in the backend's memory, and how they are computed. */
struct matrix_rows {
    void *values; /* of element (first, 0) */
    int64_t first, count;
    int64_t row_stride, column_stride; /* in elements */
    bool symmetric;                    /* all rows; each pair once */
    kith_matrix_method method;         /* not the reference */
    int32_t block;
};

/* A backend's part of the matrix; the contract is that of core/backend.h. */
struct matrix_backend {
    kith_status (*fill)(kith_context *context, const struct matrix_task *task,
                        const struct matrix_rows *rows);

    /* found[i], a double a row, and for the least value at[i]: NULL for sums. The diagonal is left
     * out if the rows are the columns. */
    kith_status (*reduce)(kith_context *context, const struct matrix_task *task,
                          const struct matrix_reduction *reduction, double *found, int64_t *at);

    /* counts[k] of each bin, which need not be cleared before. */
    kith_status (*histogram)(kith_context *context, const struct matrix_task *task,
                             const struct matrix_histogram *range, int64_t *counts);

    /* For arrays in the backend's own memory; NULL where that is the host's. pack makes *problem of
     * the caller's particles, and of b (or none) its coefficients; deliver writes what reduce found
     * to the caller's array, times the rows' weights if they are to be, or at if that is not NULL.
     */
    kith_status (*pack)(const struct matrix_arguments *arguments, kith_array b,
                        struct matrix_problem *problem);
    kith_status (*deliver)(kith_context *context, const struct matrix_task *task, bool weighted,
                           double sign, const double *found, const int64_t *at, kith_array to);
};

extern const struct matrix_backend matrix_cpu;
#ifdef KITH_HAS_CUDA
extern const struct matrix_backend matrix_cuda;
#endif

#ifdef __cplusplus
}
#endif

#endif
