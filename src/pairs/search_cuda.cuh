#ifndef PAIRS_SEARCH_CUDA_CUH
#define PAIRS_SEARCH_CUDA_CUH

/* What the kernels of pairs on the GPU share.
 *
 * Points and targets are sorted by the places of their cells (folded_grid.h). Consecutive targets
 * of one cell make a chunk; a warp takes a chunk and looks through the cells around it, whose
 * points are its candidates. */

#include "device/cuda.h"
#include "device/warp.cuh"
#include "pairs/folded_grid.h"

enum { warp_size = 32 };

/* A wrapped point and its row in the caller's array. */
template <typename real> struct pairs_point;

template <> struct __align__(16) pairs_point<float>
{
    float x, y, z;
    uint32_t row;
};

template <> struct __align__(16) pairs_point<double>
{
    double x, y, z;
    uint64_t row;
};

/* Targets of one cell, or of cells side by side along x, from `first` on in sorted order: no more
 * than a warp has lanes. */
enum { chunk_most = 32 };

struct __align__(16) pairs_chunk
{
    uint32_t first, count;
    int32_t cell[3]; /* the first one */
    int32_t span;    /* cells along x after it */
    uint32_t system;
    uint32_t words; /* of a target's mask: bit l of word w is candidate 32 w + l */
    uint64_t masks; /* byte at which the masks begin, one target's after the other's */
    bool is_long;
};

/* What the kernels count; the host reads it once, between counting and filling. */
struct pairs_counters {
    unsigned long long pairs;
    unsigned long long mask_bytes;
    unsigned long long long_pairs, long_rows;     /* of chunks whose rows are too long for fill */
    unsigned long long worst_point, worst_target; /* ~row of the first bad one; 0: none */
    unsigned long long worst_radius, worst_target_radius;
    unsigned long long largest_radius, largest_target_radius; /* bits of doubles */
    unsigned long long long_used;
    unsigned long long neighbors;             /* for each point the points of its place */
    unsigned highest_cell[3], lowest_cell[3]; /* along open axes, in open_axes_cuda.cu's order */
    unsigned measured;                        /* blocks that have reported theirs */
    unsigned left;                            /* targets that have not found their nearest */
    unsigned chunks, most_words, most_of_row, long_rows_used;
};

/* Masks continue in steps of this many words: each batch of candidates begins at a multiple of it.
 */
enum { mask_step = 4 };

static __host__ __device__ __forceinline__ uint32_t words_of(uint32_t candidates)
{
    return (candidates + mask_step * warp_size - 1) / (mask_step * warp_size) * mask_step;
}

/* Chunks with more words of candidates, or a row of more pairs, are long: their rows are sorted
 * apart. */
enum { long_words = 96, long_row = 512 };

/* Points or targets. */
template <typename real> struct pairs_side {
    const real *data; /* the caller's */
    int64_t row_stride, column_stride;
    uint32_t count;
    bool is_target;
    pairs_point<real> *wrapped, *sorted; /* by rows; by places */
    int3 *cells_away;                    /* n of geometry.h; NULL if not needed */
    uint32_t *key, *row, *sorted_key, *sorted_row;
};

/* All that a search needs to know; passed to kernels by value. */
template <typename real> struct pairs_cuda_search {
    struct pairs_side<real> points, targets;
    struct pairs_folded_grid *grids;
    int32_t system_count, dimensions;
    bool two_sets, half;
    bool many_images; /* a point may be a target's partner at several translations */
    bool open;        /* a grid may have open axes of many cells */
    bool may_unfold;  /* the one grid, if its cells turn out to be few */
    double per_unit;  /* 1 / unit; a power of two in both types */
    real limit, unit, per_unit_real;
    uint32_t *place_first; /* of each place its first point in sorted order; one more at the end */
    uint32_t place_count;
    int2 *rows; /* y and z of each sorted point's cell; NULL where no grid is hashed */
    struct pairs_chunk *chunks;
    uint32_t chunk_size; /* maximum targets of one: a power of two, up to chunk_most */
    struct pairs_counters *counters;
    char *masks;
    uint64_t mask_room;
    const real *radii, *target_radii;
    int64_t radius_stride, target_radius_stride;
    real cutoff;
    const int64_t *exclusion_offsets, *exclusions;
    int64_t *offsets; /* the list's; counts at first */
};

/* The place of lane l's flag among the set ones. */
static __device__ __forceinline__ uint32_t lanes_before()
{
    return (1u << (threadIdx.x & 31)) - 1;
}

template <typename real>
static __device__ int32_t system_of(const struct pairs_cuda_search<real> &search, uint32_t row,
                                    bool is_target)
{
    int32_t low = 0, high = search.system_count - 1;
    while (low < high) {
        const int32_t middle = (low + high + 1) / 2;
        const struct pairs_folded_grid &grid = search.grids[middle];
        if ((is_target ? grid.first_target : grid.first_point) <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Coordinates in the problem's unit; a NaN or infinity becomes 0, and is reported. */
template <typename real>
static __device__ bool read_position(const struct pairs_cuda_search<real> &search,
                                     const struct pairs_side<real> &side, int64_t row, double x[3])
{
    bool finite = true;
    for (int c = 0; c < 3; c++) {
        x[c] = c < search.dimensions
                   ? (double)side.data[row * side.row_stride + c * side.column_stride] *
                         search.per_unit
                   : 0.0;
        finite = finite && isfinite(x[c]);
        if (!isfinite(x[c]))
            x[c] = 0;
    }
    return finite;
}

/* The cell of a wrapped point. */
template <typename real>
static __device__ int3 cell_of(const struct pairs_folded_grid &grid, const pairs_point<real> &point)
{
    const double x[3] = {point.x, point.y, point.z};
    return make_int3(pairs_folded_cell(&grid, x, 0), pairs_folded_cell(&grid, x, 1),
                     pairs_folded_cell(&grid, x, 2));
}

/* Sorts points and targets by places, fills in the table and makes the chunks.
 *
 *   scratch  of pairs_scratch_bytes */
template <typename real>
kith_status pairs_sort(kith_context *context, const struct pairs_cuda_search<real> &search,
                       void *scratch, int64_t scratch_bytes);

/* The same for points alone, and not for the nearest: a place's points are put in order by looking
 * at all pairs of them, which are candidates anyway. Nothing but tables is sorted, so that this is
 * a few short kernels. */
int64_t pairs_counting_bytes(uint32_t count, uint32_t places);
template <typename real>
bool pairs_sort_by_counting_is_apt(const struct pairs_cuda_search<real> &search);
template <typename real>
kith_status pairs_sort_by_counting(kith_context *context,
                                   const struct pairs_cuda_search<real> &search, void *scratch,
                                   int64_t scratch_bytes);

/* The scratch that is enough for both sorts and for adding up offsets. */
int64_t pairs_scratch_bytes(uint32_t points, uint32_t targets, uint32_t places);

/* Counts the pairs of each row into offsets, and keeps who hits whom in masks as far as there is
 * room. */
template <typename real>
kith_status pairs_count(kith_context *context, const struct pairs_cuda_search<real> &search);

#endif
