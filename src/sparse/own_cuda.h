#ifndef SPARSE_OWN_CUDA_H
#define SPARSE_OWN_CUDA_H

#include "sparse/formats.h"

/* What kernels on a GPU need of a matrix besides its format: its `own`.
 *
 * Partial sums of a row from several warps or blocks are added by the last one to finish, always
 * in the same order. `ticket` counts those that have finished; it is all zeros between two
 * products. */

/* Entries of a long row, for a warp. */
struct sparse_row_piece {
    int64_t first, end; /* entries of csr */
    int32_t long_row;
    int32_t place; /* 0 … pieces of that row − 1 */
};

/* Rows too long for slices, by pieces. */
struct sparse_long_rows {
    int64_t rows, pieces;
    int32_t *row;                   /* rows */
    int32_t *pieces_before;         /* rows + 1 */
    struct sparse_row_piece *piece; /* pieces */
    void *part;                     /* pieces × sparse_vectors_together: their sums */
    unsigned *ticket;               /* rows */
};

/* Long rows, cut at the edges of column blocks ("panels") into segments (panels_cuda.cu). The sum
 * of the segment of the r-th long row in panel p is part[p·rows + r], which stays 0 where it has no
 * segment.
 *
 * A tile has segments of one panel. Those of up to sparse_lane_entries are a lane's each, 32 of
 * nearly one length a slice; a longer one is cut into pieces, of which each is a slice too, shared
 * by the lanes of a warp. Columns are counted from the panel's first, plus sparse_panel_offset;
 * slices are padded with column 0, where x is treated as 0. */
struct sparse_panel_tile {
    int32_t panel, first_row, end_row; /* of the long rows */
    int32_t pieces, slices;            /* the pieces are its first slices */
    int32_t long_segments;
    int64_t first_slice, first_segment;
};
struct sparse_panel_slice {
    int64_t first; /* element of lane 0; the next one of a lane is a warp further */
    int32_t length;
};
struct sparse_long_segment {
    int64_t part;
    int32_t first_piece, pieces;
};
struct sparse_panels {
    int64_t rows, panels, width, tiles; /* rows: of long_rows; panels are this many columns wide */
    struct sparse_panel_tile *tile;
    struct sparse_panel_slice *slice;
    int64_t *place; /* slices × 32: in part, −1 for none and in pieces */
    struct sparse_long_segment *segment;
    uint16_t *column;
    void *value, *part;
};

/* Equal pieces of the path through row ends and entries. */
struct sparse_merge_tiles {
    int64_t tiles;
    int64_t *row; /* tiles + 1: where the path is at their edges */
    void *part;   /* 2 · tiles: sums of the row cut at the begin and of the one cut at the end */
    unsigned *ticket; /* tiles */
};

/* Tiles of entries; of the rows cut by an edge, the sums before and after it. */
struct sparse_element_tiles {
    int64_t tiles;
    void *part; /* 2 · tiles */
};

/* Blocks in slices of 32 block rows: element (k·size + j)·32·size + r, counted from the begin of
 * the slice, is row r of the slice and column j of the k-th blocks. Block columns are those of
 * elements k·32 + r / size. */
struct sparse_block_slices {
    int64_t slices;
    int64_t *start; /* slices + 1: in units of 32 blocks */
    int32_t *block_column;
    void *value;
};

/* Offsets of diagonals, on the host: kernels get them as an argument if they are few. */
enum { sparse_few_diagonals = 64 };
struct sparse_few_offsets {
    int32_t offset[sparse_few_diagonals];
};

struct sparse_own {
    struct sparse_few_offsets few;
    struct sparse_long_rows long_rows;
    struct sparse_panels panels; /* no tiles: long rows go by pieces */
    struct sparse_merge_tiles merge;
    struct sparse_element_tiles element;
    struct sparse_block_slices blocks;
};

/* Rows with more entries than this are long. Pieces of them, on an H200 in double: of R-MAT of
 * scale 20 with 4096 entries 0.131 ms, with 2048 0.138, with 8192 0.141; of a single row of a
 * million (arrow) with 512 0.0179, with 256 0.0193, with 2048 0.0236. */
enum {
    sparse_longest_in_slices = 128,
    sparse_least_piece = 512,
    sparse_most_piece = 4096,
    sparse_pieces_wanted = 2048,
    sparse_vectors_together = 8
};

/* The window of slices whose rows are sorted all together. */
enum { sparse_whole_window = INT32_MAX };

/* Of panels: 96 KB of x; entries per tile, before the last segment; of a lane's segment, of a
 * piece.
 */
enum {
    sparse_panel_bytes = 97792,
    sparse_panel_offset = 4,
    sparse_most_tile_entries = 65536,
    sparse_lane_entries = 128,
    sparse_segment_piece = 1024,
    sparse_most_tile_pieces = 576,
    sparse_panel_memory = 103424 /* of a block, at most */
};

/* Row ends and entries a tile of the merge path; entries of a tile of the element kernel. */
enum {
    sparse_merge_threads = 256,
    sparse_merge_items = 9,
    sparse_merge_tile = sparse_merge_threads * sparse_merge_items,
    sparse_element_threads = 128,
    sparse_element_items = 8,
    sparse_element_tile = sparse_element_threads * sparse_element_items
};

static inline int64_t sparse_panel_width(kith_dtype dtype)
{
    return sparse_panel_bytes / kith_dtype_bytes(dtype);
}

static inline const struct sparse_own *sparse_own_of(const struct sparse_matrix *matrix)
{
    return (const struct sparse_own *)matrix->own;
}

#endif
