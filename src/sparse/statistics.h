#ifndef SPARSE_STATISTICS_H
#define SPARSE_STATISTICS_H

#include "core/status.h"
#include "kith/context.h"
#include "sparse/formats.h"

enum {
    sparse_most_lengths = 256, /* row lengths that are counted one by one */
    sparse_sell_heights = 3,
    sparse_most_diagonals = 512, /* that are counted */
};

/* Heights of slices for which the padding is counted: vectors of a CPU, a GPU's warp. */
static const int32_t sparse_sell_height[sparse_sell_heights] = {8, 16, 32};

/* The window in which sell sorts its rows. */
enum { sparse_sell_window = 1024 };

/* In the last of these rows a pattern of lengths is recognized. */
enum { sparse_remembered_rows = 192 };

/* The statistics of a matrix, from which time and bytes are predicted. */
struct sparse_statistics {
    int64_t rows, columns, nonzeros;
    kith_dtype dtype;
    int64_t longest, empty;                /* entries of the longest row; rows without any */
    int64_t at_least[sparse_most_lengths]; /* rows with at least k entries */
    /* Rows of another length than the row before, but where the rows before were as those before
     * them: a processor learns such a pattern. 0 from a GPU. */
    int64_t length_changes;
    int64_t lower, upper; /* bandwidth below and above the diagonal */
    int64_t diagonals;    /* that are not empty */
    double blocks[5]; /* [k]: of k × k that are not empty, k = 2, 3, 4, estimated from a sample */
    int64_t sell_slots[sparse_sell_heights]; /* entries with padding, rows sorted in windows */
    int64_t sell_slots_unsorted[sparse_sell_heights];
    bool index_fits_16;                     /* each 64 rows span fewer than 2^16 columns */
    bool sell_fits_16[sparse_sell_heights]; /* so do the slices, rows sorted */
    bool symmetric; /* A = Aᵀ, bit for bit; false if there are more than the maximum of diagonals */
    double lines_per_entry; /* of a sample: how many entries are the first to use their line of 64
                               bytes of x, in a stretch of some ten thousand entries */
    double near_lines_per_entry; /* the same, in a stretch of a thousand; 0 from a GPU */
};

/* Fills the statistics of a matrix in the host's memory. */
kith_status sparse_inspect_cpu(kith_context *context, const struct sparse_csr *csr,
                               struct sparse_statistics *statistics);

#endif
