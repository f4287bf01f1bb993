#ifndef KITH_SPARSE_H
#define KITH_SPARSE_H

#include "kith/array.h"
#include "kith/context.h"
#include "kith/law.h"
#include "kith/pairs.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a sparse matrix is stored for multiplication; kith_sparse_format_list describes each. */
typedef enum kith_sparse_format {
    KITH_SPARSE_AUTO = 0,
    KITH_SPARSE_COO,
    KITH_SPARSE_CSR,
    KITH_SPARSE_ELL,
    KITH_SPARSE_HYBRID,
    KITH_SPARSE_SELL,
    KITH_SPARSE_BSR,
    KITH_SPARSE_DIA
} kith_sparse_format;

/* How the work is divided among threads; kith_sparse_kernel_list describes each kernel. */
typedef enum kith_sparse_kernel {
    KITH_SPARSE_KERNEL_AUTO = 0,
    KITH_SPARSE_ROW_THREAD,
    KITH_SPARSE_ROW_VECTOR,
    KITH_SPARSE_ELEMENT,
    KITH_SPARSE_MERGE
} kith_sparse_kernel;

typedef enum kith_sparse_operation {
    KITH_SPARSE_AS_IS = 0, /* op(A) = A */
    KITH_SPARSE_TRANSPOSED /* op(A) = Aᵀ */
} kith_sparse_operation;

/* A row of the tables of formats and kernels; its index is the enumerator's value. */
typedef struct kith_sparse_choice {
    const char *name;        /* "sell", "row-vector" */
    const char *description; /* one line */
} kith_sparse_choice;

/* The tables, static memory; *count rows. */
KITH_API const kith_sparse_choice *kith_sparse_format_list(int64_t *count);
KITH_API const kith_sparse_choice *kith_sparse_kernel_list(int64_t *count);

/* A sparse matrix, made for one context, which must outlive it. It copies its input.
 *
 * Like the context, it may be used by one thread at a time. */
typedef struct kith_sparse kith_sparse;

typedef struct kith_sparse_options {
    kith_sparse_format format; /* AUTO: by the statistics of the matrix, see kith_sparse_describe */
    kith_sparse_kernel kernel; /* AUTO: what suits the format and the matrix */
    int32_t block;             /* of bsr: 2, 3 or 4; 0: the one with the minimum padding */
    int32_t index_base;        /* index of the first row and column in arrays: 0 or 1 */
    bool tune;                 /* time the best few choices instead of trusting the prediction */
    kith_dtype dtype;          /* of a matrix from a file */
} kith_sparse_options;

/* Makes a matrix from its entries (COO): entry k is in row row[k] and column column[k].
 *
 *   context  where to compute
 *   options  NULL for the defaults
 *   rows     ≥ 0, at most 2^31 − 65, as columns
 *   row      nonzeros; int32 or int64, any order; duplicate entries are summed in their order
 *   column   nonzeros, as row
 *   values   nonzeros; float or double: the precision of the matrix; none: every value is 1, in
 *            double
 *   sparse   [out] owned by the caller; free with kith_sparse_free; NULL on failure
 *
 * All arrays are on the host or all on the context's device. An entry whose value is 0 is kept, as
 * 0 · NaN is NaN.
 *
 * Errors: KITH_INVALID_ARGUMENT (an index outside the matrix: the message names the entry; shapes,
 *         dtypes, devices), KITH_UNSUPPORTED (a kernel unavailable for the format or device; more
 *         rows or columns than 31 bits can count), KITH_OUT_OF_MEMORY (the message says how much),
 *         KITH_CANCELLED.
 * Cost:   O(rows + nonzeros log(longest row)) work; memory of 8 (rows + 1) bytes and 12 bytes per
 *         nonzero, 8 in float, and kith_sparse_info.bytes for the chosen format.
 * Bits:   the matrix is the same for every number of threads. */
KITH_API kith_status kith_sparse_create_coo(kith_context *context,
                                            const kith_sparse_options *options, int64_t rows,
                                            int64_t columns, kith_array row, kith_array column,
                                            kith_array values, kith_sparse **sparse);

/* Makes a matrix from compressed rows (CSR): the entries of row i are row_start[i] … row_start[i +
 * 1] − 1 (less index_base).
 *
 *   row_start  rows + 1; int32 or int64, nondecreasing from index_base to index_base + nonzeros
 *   column     nonzeros; int32 or int64, any order in a row; duplicates are summed
 *
 * Errors: as kith_sparse_create_coo; row_start that decreases or does not end at the number of
 *         columns. */
KITH_API kith_status kith_sparse_create_csr(kith_context *context,
                                            const kith_sparse_options *options, int64_t columns,
                                            kith_array row_start, kith_array column,
                                            kith_array values, kith_sparse **sparse);

/* Makes a matrix from a dense one, rows × columns with any strides; zeros are left out. */
KITH_API kith_status kith_sparse_create_dense(kith_context *context,
                                              const kith_sparse_options *options, kith_array matrix,
                                              kith_sparse **sparse);

/* The entries of a matrix of neighbor pairs. */
typedef struct kith_sparse_graph {
    const kith_law *law; /* of the weight of a pair, its value V(i, j); NULL: every pair weighs 1 */
    kith_array mass;     /* n, float or double on the host; none: 1 */
    kith_array charge;   /* n, likewise */
    double softening;    /* ε of the law */
    bool half;           /* the list has each pair once: its mirror image is added */
    bool laplacian;      /* D − W instead of W */
    int64_t column_count; /* number of points j, for a list with queries; 0: the number of rows */
} kith_sparse_graph;

/* Makes a matrix from neighbor pairs, one row per point: the weighted adjacency matrix
 *
 *     W_ij = Σ V(i, j) over the listed pairs of i and j (several, where j has several images),
 *
 * or the graph's Laplacian L = D − W, with D the diagonal matrix of the row sums of W: L u is
 * Σ_j W_ij (u_i − u_j), and L is symmetric and, for weights ≥ 0, positive semidefinite.
 *
 *   options  NULL for the defaults; dtype is that of the matrix; index_base is ignored
 *   pairs    with j, and with vectors if the law depends on their direction, or vectors or
 *            distances if there is a law; on the host
 *   graph    NULL for the plain adjacency matrix of a full list
 *
 * Errors: KITH_INVALID_ARGUMENT (a quantity that the law needs was not listed; shapes and dtypes; a
 *         Laplacian whose rows are not its columns; softening negative or not finite; a point
 *         beyond the columns), KITH_UNSUPPORTED (a list on a device), and those of
 *         kith_sparse_create_coo.
 * Cost:   O(n + pairs), with the law evaluated by its reference in double precision; temporarily 16
 *         bytes per entry besides the matrix.
 * Bits:   the matrix is the same for every number of threads. */
KITH_API kith_status kith_sparse_create_pairs(kith_context *context,
                                              const kith_sparse_options *options,
                                              const kith_pairs *pairs,
                                              const kith_sparse_graph *graph, kith_sparse **sparse);

/* Reads a matrix from a Matrix Market file: real, integer or pattern; general, symmetric or
 * skew-symmetric (expanded); coordinate or array; .gz if this build has zlib.
 *
 * Numbers are converted exactly as strtod does; nan, inf and infinity, in any case and with a sign,
 * are values of a real matrix. Blank lines and comments may appear anywhere, and a byte-order mark
 * (UTF-8) at the start.
 *
 * Errors: KITH_IO_ERROR, KITH_BAD_FORMAT (the message names path, line and error: more or fewer
 *         entries than the size line says, an index outside it, an entry above the diagonal of a
 *         symmetric matrix, an invalid number, a zero byte), KITH_UNSUPPORTED (complex, hermitian),
 *         and those of kith_sparse_create_coo.
 * Cost:   the whole file in memory once, one pass by all threads. */
KITH_API kith_status kith_sparse_read(kith_context *context, const kith_sparse_options *options,
                                      const char *path, kith_sparse **sparse);

/* Writes the matrix as a Matrix Market file (coordinate real general) under a temporary name, then
 * renames it. Numbers have as many digits as reproduce their bits when read.
 *
 * Errors: KITH_IO_ERROR, KITH_UNSUPPORTED (path ends in .gz), KITH_CANCELLED. */
KITH_API kith_status kith_sparse_write(const kith_sparse *sparse, const char *path);

/* Frees a matrix; NULL is fine. */
KITH_API void kith_sparse_free(kith_sparse *sparse);

/* What a matrix is and how it is stored for an operation. */
typedef struct kith_sparse_info {
    int64_t rows, columns, nonzeros; /* of A itself */
    kith_dtype dtype;
    kith_sparse_format format; /* never AUTO */
    kith_sparse_kernel kernel;
    const char *reason;     /* the reason of the choice, one line; valid as long as the matrix */
    int64_t bytes;          /* of the stored matrix that a product reads */
    double convert_seconds; /* time to inspect and convert the matrix */
} kith_sparse_info;

/* Describes how op(A) is stored. Computes Aᵀ if no product with it was computed before.
 *
 * Errors: of computing Aᵀ only: KITH_OUT_OF_MEMORY, KITH_UNSUPPORTED, KITH_CANCELLED. */
KITH_API kith_status kith_sparse_describe(kith_sparse *sparse, kith_sparse_operation operation,
                                          kith_sparse_info *info);

/* Copies A's compressed rows to the host: columns ascend in a row, without duplicates.
 *
 *   row_start  [out] rows + 1, or NULL
 *   column     [out] nonzeros, or NULL
 *   values     [out] nonzeros of the matrix's dtype, or NULL */
KITH_API kith_status kith_sparse_copy_csr(const kith_sparse *sparse, int64_t *row_start,
                                          int32_t *column, void *values);

/* y = α op(A) x + β y.
 *
 *   operation  AS_IS or TRANSPOSED: the first product with Aᵀ computes it, in its own format
 *              (kith_sparse_describe does that beforehand)
 *   x          columns of op(A), or columns × k for k right-hand sides; any strides, row-major and
 *              column-major among them; of the matrix's dtype
 *   beta       0: y is not read and may have NaN
 *   y          [in, out] rows of op(A), or rows × k
 *
 * x and y are both on the host or both on the context's device; they must not overlap. Arrays on
 * the host can be used with every context. NaN and infinity propagate by IEEE 754 as for the stored
 * entries alone, independently of the padding of the format.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices, x overlaps y), KITH_UNSUPPORTED (arrays
 *         on a device and a context on the CPU), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   2 · nonzeros · k operations; kith_sparse_info.bytes and the vectors are read once.
 * Bits:   the same on every run and for every number of threads, for one format and kernel; AUTO
 *         without tune chooses the same ones each time. */
KITH_API kith_status kith_sparse_multiply(kith_sparse *sparse, kith_sparse_operation operation,
                                          double alpha, kith_array x, double beta, kith_array y);

#ifdef __cplusplus
}
#endif

#endif
