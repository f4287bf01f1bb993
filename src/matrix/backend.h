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

/* The result of reduce, in the backend's memory, until it is copied to the caller's vector. */
struct matrix_delivery {
    const double *found;
    const int64_t *at; /* NULL for sums */
    kith_array b, to;
    int sign;
    bool is_weighted; /* times the rows' weights */
    bool is_place;    /* at is requested, not the value */
};

/* The functions of a backend for the matrix; the contract of device/services.h applies. */
struct matrix_backend {
    kith_status (*fill)(kith_context *context, const struct matrix_task *task,
                        const struct matrix_rows *rows);

    /* found[i], one double per row, and for the minimum at[i]: NULL for sums. A diagonal that is
     * replaced is left out. */
    kith_status (*reduce)(kith_context *context, const struct matrix_task *task,
                          const struct matrix_reduction *reduction, double *found, int64_t *at);

    /* counts[k] of each bin, which need not be cleared before. */
    kith_status (*histogram)(kith_context *context, const struct matrix_task *task,
                             const struct matrix_histogram *range, int64_t *counts);

    /* For arrays in the backend's own memory. pack makes *problem of the caller's particles, and of
     * b (or none: ones) its coefficients, times the columns' weights; deliver writes what reduce
     * found to the caller's array, times the rows' weights if they are to be, or where it was
     * found, with a diagonal that is replaced (matrix/diagonal.h), times b (or 1) in sums. */
    kith_status (*pack)(const struct matrix_arguments *arguments, kith_array b,
                        struct matrix_problem *problem);
    kith_status (*deliver)(kith_context *context, const struct matrix_task *task,
                           const struct matrix_delivery *delivery);
};

kith_status matrix_pack_cpu(const struct matrix_arguments *arguments, kith_array b,
                            struct matrix_problem *problem);
kith_status matrix_deliver_cpu(kith_context *context, const struct matrix_task *task,
                               const struct matrix_delivery *delivery);

extern const struct matrix_backend matrix_cpu;
#ifdef KITH_HAS_CUDA
extern const struct matrix_backend matrix_cuda;
#endif

/* The context's. */
const struct matrix_backend *matrix_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
