#ifndef SPARSE_FORMATS_H
#define SPARSE_FORMATS_H

#include "kith/sparse.h"

/* The layout of matrices in a backend's memory. All arrays are aligned to 64, and may be read up to
 * sparse_slack elements past their end: zeros there, or more of the same arrays.
 *
 * Formats pad rows, blocks or diagonals with zeros in a column of the matrix. Such a zero times an
 * x that is infinite or NaN makes the sum NaN; a kernel of such a format therefore recomputes a row
 * whose sum is NaN from sparse_matrix.csr. */
enum { sparse_slack = 320 };

/* Rows and columns are 32-bit with room for padding and for sums of two. */
enum { sparse_most_rows = INT32_MAX - 64 };

/* Compressed rows as each matrix has them, whatever the format: columns ascend in a row, without
 * duplicates. */
struct sparse_csr {
    int64_t rows, columns, nonzeros;
    kith_dtype dtype;   /* KITH_F64 or KITH_F32 */
    int64_t *row_start; /* rows + 1 */
    int32_t *column;    /* nonzeros */
    void *value;        /* nonzeros */
};

/* Column indices, 32 bits or 16: of an entry in row i (a slice's, for sell) the column is
 * index[k] + base[i >> sparse_base_shift], with base NULL if bytes is 4. For sell, i >> … is the
 * slice. */
enum { sparse_base_shift = 6 };
struct sparse_index {
    int32_t bytes; /* 4: int32_t, 2: uint16_t */
    void *index;
    int32_t *base;
};

/* Bytes of a row's start in packed rows. */
static inline int32_t sparse_start_bytes(int64_t nonzeros)
{
    return nonzeros <= INT32_MAX ? 4 : 8;
}

/* The matrix' own rows; row_start is int32_t (start_bytes 4) unless there are 2^31 entries. */
struct sparse_packed_csr {
    int32_t start_bytes;
    void *row_start;
    struct sparse_index index;
    void *value;
};

struct sparse_coo {
    int64_t count; /* sorted by row, then column */
    int32_t *row, *column;
    void *value;
};

/* Rows padded to one width; entry k of row i is element k·stride + i. */
struct sparse_ell {
    int64_t width, stride; /* stride ≥ rows, a multiple of kith_padding */
    int32_t *column;
    void *value;
};

/* The first ell.width entries of each row, and what is longer in coo. */
struct sparse_hybrid {
    struct sparse_ell ell;
    struct sparse_coo coo;
};

/* SELL-C-σ (Kreutzer et al. 2014): slices of `height` rows, each padded to its longest; rows are
 * sorted by length in windows of `window` rows. Entry k of lane r of slice s is element
 * slice_start[s] + k·height + r, and its row is row[s·height + r] (−1: none), or s·height + r if
 * row is NULL. */
struct sparse_sell {
    int32_t height, window;
    int64_t slices;
    int64_t *slice_start; /* slices + 1 */
    int32_t *row;         /* slices · height */
    struct sparse_index index;
    void *value;
};

/* Blocks of size × size; block row i has blocks block_start[i] … block_start[i + 1] − 1, with the
 * first column size·block_column. Values of a block are row-major. At the lower and the right edge,
 * blocks may extend past the matrix. */
struct sparse_bsr {
    int32_t size;
    int64_t block_rows, blocks;
    int64_t *block_start;
    int32_t *block_column;
    void *value; /* blocks · size² */
};

/* Diagonals in tiles of rows: value of row i on diagonal d is element (i / tile · diagonals + d) ·
 * tile + i % tile, its column i + offset[d], with offsets ascending. tile = stride is one piece a
 * diagonal: element d·stride + i. If symmetric, tile is stride, only offsets ≥ 0 are stored, and
 * A(i, i − offset) is row i − offset of the diagonal. */
struct sparse_dia {
    bool symmetric;
    int64_t diagonals, tile;
    int64_t stride; /* ≥ rows, a multiple of kith_padding and of tile */
    int64_t *offset;
    void *value;
};

/* The format of a matrix, and its expected cost. */
struct sparse_plan {
    kith_sparse_format format; /* never AUTO */
    kith_sparse_kernel kernel;
    int32_t index_bytes;    /* csr, sell: 2 or 4 */
    int32_t block;          /* bsr: 2, 3, 4 */
    int32_t lanes;          /* row-vector on a GPU: threads per row; 0 elsewhere */
    int32_t height, window; /* sell */
    bool symmetric;         /* dia: half of the diagonals are stored */
    int64_t width;          /* hybrid: of its ell; 0: the seed's third of the rows */
    int64_t bytes;          /* of the matrix, that a product reads */
    double seconds;         /* predicted, of one product */
};

/* A piece of the work: rows and entries up to the next piece's. */
struct sparse_piece {
    int64_t row, entry;
};

/* A matrix in one format. `memory` are its allocations by the backend; arrays may also be those of
 * csr, which outlives it. `own` is the backend's: what its kernels need besides. */
enum { sparse_most_allocations = 20 };
struct sparse_matrix {
    struct sparse_csr csr;
    struct sparse_plan plan;
    union {
        struct sparse_packed_csr packed;
        struct sparse_coo coo;
        struct sparse_ell ell;
        struct sparse_hybrid hybrid;
        struct sparse_sell sell;
        struct sparse_bsr bsr;
        struct sparse_dia dia;
    };
    double lines_per_entry, near_lines_per_entry; /* of the statistics: how scattered columns are */
    int64_t pieces;             /* of the CPU's partition, the same for any number of threads */
    struct sparse_piece *piece; /* pieces + 1 */
    void *memory[sparse_most_allocations];
    int32_t allocations;
    void *own;
};

#endif
