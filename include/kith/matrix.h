#ifndef KITH_MATRIX_H
#define KITH_MATRIX_H

#include "kith/array.h"
#include "kith/context.h"
#include "kith/law.h"
#include "kith/particles.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The interaction matrix of two sets of particles, V[i][j] = V(i, j) of a law (kith/law.h), stored
 * or reduced as it is computed.
 *
 * Positions have 1 to 16 dimensions, r² = Σ_c (x_jc − x_ic)². With more than three, each further
 * dimension costs a subtraction and a multiplication per pair, formulas may use r and r2 only (not
 * dx, dy, dz), and the matrix is computed on the CPU; GPUs compute kith_matrix_multiply and sums by
 * the law gaussian in float. */

/* V[i][i], if the rows are the columns. */
typedef enum kith_matrix_diagonal {
    KITH_DIAGONAL_ZERO =
        0,              /* 0 in the matrix; reductions, histograms and products leave j = i out */
    KITH_DIAGONAL_KEEP, /* the law's value of a particle with itself, at s = ε */
    KITH_DIAGONAL_VALUE /* kith_matrix_options.diagonal_value */
} kith_matrix_diagonal;

typedef enum kith_matrix_method {
    KITH_MATRIX_AUTO = 0,
    KITH_MATRIX_REFERENCE, /* the formula as a loop, double precision; one thread, host arrays */
    KITH_MATRIX_DIRECT,    /* the kernels of the CPU's vectors, or the GPU's */
    KITH_MATRIX_TILE_P,    /* GPU: p threads per tile of p × p, one per row */
    KITH_MATRIX_TILE_P2    /* GPU: p² threads per tile, one per element */
} kith_matrix_method;

typedef struct kith_matrix_options {
    double softening; /* ε ≥ 0: s² = r² + ε² */
    double diagonal_value;
    kith_matrix_diagonal diagonal;
    kith_matrix_method method;
    int32_t block;  /* threads of a tile of TILE_P (1 to 1024), side of a tile of TILE_P2 (1 to 32);
                       0: the best */
    bool symmetric; /* compute V[i][j] for i ≤ j and store it twice: the rows are the columns, and
                       the caller asserts that V(i, j) = V(j, i). Faster only for formulas that take
                       longer to compute than to write. The last digit of laws with a logarithm may
                       differ */
} kith_matrix_options;

/* The matrix itself.
 *
 *     V[i][j] = V(i, j),  d = x_j − x_i
 *
 *   context  where to compute
 *   law      NULL for gravity, −m_i m_j / s
 *   options  NULL for ε = 0 and a diagonal of zeros
 *   rows     n particles, with columns m and q
 *   columns  m particles; NULL: the rows themselves
 *   matrix   [out] n × m, any strides; the dtype of the positions
 *
 * All arrays have one dtype and are on one device; the matrix must not overlap the others. Arrays
 * on the host can be used with every context; a GPU copies blocks of rows to the host while it
 * computes the next. Arrays on a CUDA device need a context on that device; the call returns when
 * its work is enqueued on the context's stream.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices, names of columns, ε < 0, a number that is
 *         not finite: the message names the row; symmetric with two sets), KITH_OUT_OF_MEMORY,
 *         KITH_UNSUPPORTED (a method that the device does not support, a column softening, more
 *         than three dimensions on a GPU), KITH_CANCELLED; those of kith_law_compile.
 * Cost:   n·m pairs (half of that if symmetric), O(n + m) memory besides the matrix.
 * Error:  a few units in the last place of each element, as stated in kith/law.h.
 * Bits:   the same on every run and for every number of threads, of blocks and of rows per call.
 * Source: tiles as in Nyland, Harris & Prins 2007 (GPU Gems 3, chapter 31). */
KITH_API kith_status kith_matrix_compute(kith_context *context, const kith_law *law,
                                         const kith_matrix_options *options,
                                         const kith_particles *rows, const kith_particles *columns,
                                         kith_array matrix);

/* Writes the matrix to an NPY file, n × m in C order, row by row: it need not fit in memory.
 *
 *   memory   maximum bytes of buffered rows; 0: 256 MiB. At least two rows are buffered
 *   path     NULL: the rows are computed and discarded, for measurements
 *   seconds  [out] time of the computation without writing, or NULL
 *
 * The file is written under a temporary name and renamed at the end; the progress callback counts
 * rows. Arrays are on the host; symmetric is ignored. Errors: as kith_matrix_compute, and
 * KITH_IO_ERROR, at once if the disk has too few free bytes. */
KITH_API kith_status kith_matrix_write(kith_context *context, const kith_law *law,
                                       const kith_matrix_options *options,
                                       const kith_particles *rows, const kith_particles *columns,
                                       int64_t memory, const char *path, double *seconds);

typedef enum kith_matrix_reduction {
    KITH_REDUCE_SUM = 0,
    KITH_REDUCE_MIN,
    KITH_REDUCE_MAX,
    KITH_REDUCE_ARGMIN /* the smallest j with the minimum: of distances, the nearest */
} kith_matrix_reduction;

/* One value per row, out[i] = Σ_j, min_j, max_j or argmin_j of V[i][j], without storing the matrix.
 *
 * If the rows are the columns, j = i is left out, unless options->diagonal is KITH_DIAGONAL_KEEP or
 * KITH_DIAGONAL_VALUE: then V[i][i] is treated as every other element. All but the sum ignore NaN.
 * Without elements the minimum is +∞, the maximum −∞ and argmin −1.
 *
 *   out  [out] n; the positions' dtype, int64 for argmin
 *
 * Errors, bits: as kith_matrix_compute. Error: of sums 1e-6 (float), 1e-14·√m (double) of Σ|V|. */
KITH_API kith_status kith_matrix_reduce(kith_context *context, const kith_law *law,
                                        const kith_matrix_options *options,
                                        const kith_particles *rows, const kith_particles *columns,
                                        kith_matrix_reduction reduction, kith_array out);

/* Counts the values in each of `bins` bins of equal width between low and high.
 *
 * Bin k has low + k w ≤ V < low + (k + 1) w, and the last bin includes its end, as in NumPy's
 * histogram; values outside and NaN are not counted. If the rows are the columns, a pair counts
 * once (i < j), and V[i][i] with KITH_DIAGONAL_KEEP and KITH_DIAGONAL_VALUE (i ≤ j: NumPy's
 * histogram of the upper triangle with its diagonal).
 *
 *   counts  [out] one element per bin, int64, contiguous
 *
 * Errors: as kith_matrix_compute; bins < 1, low ≥ high. */
KITH_API kith_status kith_matrix_histogram(kith_context *context, const kith_law *law,
                                           const kith_matrix_options *options,
                                           const kith_particles *rows,
                                           const kith_particles *columns, double low, double high,
                                           kith_array counts);

/* y = V b without the matrix: y_i = Σ_j V[i][j] b_j. If the rows are the columns, j = i is left
 * out, unless options->diagonal is KITH_DIAGONAL_KEEP or KITH_DIAGONAL_VALUE: a kernel matrix K
 * with its own K[i][i], or with a given one.
 *
 *   b  m, or m × k for k vectors
 *   y  [out] n, or n × k
 *
 * Errors, bits: as kith_matrix_compute. Error: of sums. */
KITH_API kith_status kith_matrix_multiply(kith_context *context, const kith_law *law,
                                          const kith_matrix_options *options,
                                          const kith_particles *rows, const kith_particles *columns,
                                          kith_array b, kith_array y);

#ifdef __cplusplus
}
#endif

#endif
