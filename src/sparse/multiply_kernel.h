#ifndef SPARSE_MULTIPLY_KERNEL_H
#define SPARSE_MULTIPLY_KERNEL_H

#include "core/isa.h"
#include "sparse/product.h"

/* A product cut into tasks, each with rows of its own. */
struct sparse_work {
    const struct sparse_product *product;
    const void *x;  /* contiguous; multiple right-hand sides are row-major, a multiple of a chunk */
    int64_t stride; /* elements from a row of x to the next */
    int64_t rows_a_task; /* where the matrix has no pieces: a multiple of kith_padding */
    /* Where a row may be shared by pieces: the sum of a piece's entries in its first row, and in
     * the row that it leaves to the next piece. */
    double *head, *tail;
    bool adds;      /* to y, that other entries of the row are in already: coo of hybrid */
    bool scattered; /* x is large and used all over */
    bool streams;   /* multiple right-hand sides: rows of y are written past the caches */
    void *packed;   /* x as the kernels take it, to be made of the caller's */
};

typedef void sparse_kernel(const struct sparse_work *work, int64_t task);

/* Bytes of the vectors' elements that are computed together. */
enum { sparse_chunk_bytes = 64 };

/* One kernel a row; the tables of an instruction set have them in this order. */
enum sparse_kernel_name {
    sparse_csr_rows,
    sparse_csr_rows_16,
    sparse_csr_lanes,
    sparse_csr_lanes_16,
    sparse_csr_merge,
    sparse_csr_merge_16,
    sparse_coo_entries,
    sparse_ell_rows,
    sparse_sell_slices,
    sparse_sell_slices_16,
    sparse_bsr_2,
    sparse_bsr_3,
    sparse_bsr_4,
    sparse_dia_tiles,
    sparse_dia_symmetric,
    sparse_csr_vectors,
    sparse_csr_vectors_16,
    sparse_bsr_vectors_2,
    sparse_bsr_vectors_3,
    sparse_bsr_vectors_4,
    sparse_dia_vectors,
    sparse_pack_vectors, /* task: this many rows of x */
    sparse_finish_piece, /* y of the row that piece `task` begins in: head is the whole sum */
    sparse_kernel_count
};

/* The kernels of an instruction set and real type. */
#define SPARSE_DECLARE_KERNELS(isa)                                                                \
    extern sparse_kernel *const sparse_kernels_double_##isa[sparse_kernel_count],                  \
        *const sparse_kernels_float_##isa[sparse_kernel_count];
KITH_EACH_ISA(SPARSE_DECLARE_KERNELS)
#undef SPARSE_DECLARE_KERNELS

#endif
