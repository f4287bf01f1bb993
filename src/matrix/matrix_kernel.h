#ifndef MATRIX_MATRIX_KERNEL_H
#define MATRIX_MATRIX_KERNEL_H

#include "core/isa.h"
#include "matrix/problem.h"

/* Columns that kernels take together: what they read of them stays in the first cache. Chunks begin
 * at multiples of it. */
enum { matrix_chunk = 2048 };

/* Rows that the reducing kernels take together. */
enum { matrix_rows_at_once = 4 };

/* to[k] = V[row][first + k], k < count, the diagonal as it is requested; writes whole vectors, at
 * most matrix_chunk elements. If out is not NULL, to is but a buffer, and the elements go to out
 * past the caches. */
typedef void matrix_fill_kernel(const struct matrix_problem *problem, long long row,
                                long long first, long long count, void *to, void *out);

/* sum[r] += Σ_k V[row + r][first + k] · coefficient / (weights), without a diagonal that is
 * replaced. Rows beyond the last are the last. */
typedef void matrix_sum_kernel(const struct matrix_problem *problem, long long row, long long first,
                               long long count, double *sum);

/* least[r] = the minimum of sign · V[row + r][first + k] if that is less than it was, and at[r]
 * where it was found, without a diagonal that is replaced. */
typedef void matrix_least_kernel(const struct matrix_problem *problem, int sign, long long row,
                                 long long first, long long count, double *least, long long *at);

/* The kernels of an instruction set and real type, by kind. */
struct matrix_kernels {
    matrix_fill_kernel *fill[law_built_in_count];
    matrix_sum_kernel *sum[law_built_in_count];
    matrix_least_kernel *least[law_built_in_count];
};

#define MATRIX_DECLARE(isa)                                                                        \
    extern const struct matrix_kernels matrix_double_##isa, matrix_float_##isa;
KITH_EACH_ISA(MATRIX_DECLARE)
#undef MATRIX_DECLARE

#endif
