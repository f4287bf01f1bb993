#ifndef MATRIX_MATRIX_KERNEL_H
#define MATRIX_MATRIX_KERNEL_H

#include "core/isa.h"
#include "matrix/problem.h"

/* Columns that kernels take at once: what they read of them stays in the first cache. Chunks begin
 * at multiples of it. */
enum { matrix_chunk = 2048 };

/* Rows that the reducing kernels take at once. */
enum { matrix_rows_at_once = 4 };

/* to[k] = V[row][first + k], k < count; writes whole vectors, at most matrix_chunk elements. */
typedef void matrix_fill_kernel(const struct matrix_problem *problem, long long row,
                                long long first, long long count, void *to);

/* sum[r] += Σ_k V[row + r][first + k] · coefficient / (weights), without the diagonal. Rows beyond
 * the last are the last. */
typedef void matrix_sum_kernel(const struct matrix_problem *problem, long long row, long long first,
                               long long count, double *sum);

/* least[r] = the least of sign · V[row + r][first + k] if that is less than it was, and at[r] where
 * it was found, without the diagonal. */
typedef void matrix_least_kernel(const struct matrix_problem *problem, int sign, long long row,
                                 long long first, long long count, double *least, long long *at);

/* Copies bytes to memory that nobody reads soon, past the caches. */
typedef void matrix_stream_kernel(void *to, const void *from, long long bytes);

struct matrix_kernels_of_law {
    matrix_fill_kernel *fill[law_built_in_count];
    matrix_sum_kernel *sum[law_built_in_count];
    matrix_least_kernel *least[law_built_in_count];
};

/* The kernels of an instruction set. */
struct matrix_kernels {
    struct matrix_kernels_of_law in_float, in_double;
    matrix_stream_kernel *stream;
};

#define MATRIX_DECLARE(isa) extern const struct matrix_kernels matrix_##isa;
KITH_EACH_ISA(MATRIX_DECLARE)
#undef MATRIX_DECLARE

#endif
