#ifndef PAIRS_LIST_CUDA_CUH
#define PAIRS_LIST_CUDA_CUH

/* How pairs get into the list's columns on the GPU. */

#include "pairs/accept_cuda.cuh"
#include "pairs/memory.h"
#include "pairs/search_cuda.cuh"

/* The list's columns; NULL for those not requested. */
template <typename real> struct pairs_cuda_columns {
    void *i, *j;
    bool narrow; /* 32 bits */
    bool sorted;
    int32_t *shifts;
    real *vectors, *distances;
    int32_t dimensions;
};

template <typename real>
struct pairs_cuda_columns<real> columns_of(const struct pairs_problem *problem,
                                           const kith_pairs *pairs) {
    struct pairs_cuda_columns<real> columns = {
    };
    columns.i = pairs->i.data;
    columns.j = pairs->j.data;
    columns.narrow = pairs->memory->request.narrow;
    columns.sorted = problem->sorted;
    columns.shifts = (int32_t *)pairs->shifts.data;
    columns.vectors = (real *)pairs->vectors.data;
    columns.distances = (real *)pairs->distances.data;
    columns.dimensions = problem->dimensions;
    return columns;
}

/* What of a pair is sorted and then written: j alone, or, where the pair's image matters too, j
 * above pairs_image_code. */
static __device__ __forceinline__ uint32_t
row_of_key(uint32_t key)
{
    return key;
}

static __device__ __forceinline__ uint32_t row_of_key(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

/* With or without an image, as a number of 64 bits. */
static __device__ __forceinline__ uint64_t wide_key(uint32_t key)
{
    return (uint64_t)key << 32;
}

static __device__ __forceinline__ uint64_t wide_key(uint64_t key)
{
    return key;
}

static __device__ __forceinline__ void store_index(void *column, bool narrow, int64_t at,
                                                   int64_t index)
{
    if (narrow)
        ((int32_t *)column)[at] = (int32_t)index;
    else
        ((int64_t *)column)[at] = index;
}

template <typename real>
static __device__ void store_shift(const struct pairs_cuda_search<real> &search,
                                   const struct pairs_cuda_columns<real> &columns, int64_t at,
                                   int64_t i, int64_t j, const int32_t image[3])
{
    const int3 away_i = search.targets.cells_away[i], away_j = search.points.cells_away[j];
    const int32_t shift[3] = {image[0] - away_j.x + away_i.x, image[1] - away_j.y + away_i.y,
                              image[2] - away_j.z + away_i.z};
    for (int32_t c = 0; c < columns.dimensions; c++)
        columns.shifts[at * columns.dimensions + c] = shift[c];
}

static __device__ __forceinline__ float square_root(float x)
{
    return __fsqrt_rn(x);
}

static __device__ __forceinline__ double square_root(double x)
{
    return __dsqrt_rn(x);
}

template <typename real>
static __device__ void store_geometry(const struct pairs_cuda_search<real> &search,
                                      const struct pairs_cuda_columns<real> &columns,
                                      const struct pairs_folded_grid &grid, int64_t at, int64_t i,
                                      int64_t j, const int32_t image[3])
{
    const pairs_point<real> target = search.targets.wrapped[i], point = search.points.wrapped[j];
    real translation[3], d[3] = {point.x, point.y, point.z};
    translation_of(grid, image, translation);
    const real r2 = pairs_r2<true>(target, translation, d);
    for (int32_t c = 0; c < columns.dimensions && columns.vectors; c++)
        columns.vectors[at * columns.dimensions + c] = multiply(d[c], search.unit);
    if (columns.distances)
        columns.distances[at] = multiply(square_root(r2), search.unit);
}

/* Writes pair number `at`. */
template <typename real, typename key_type>
static __device__ __forceinline__ void store_pair(const struct pairs_cuda_search<real> &search,
                                                  const struct pairs_cuda_columns<real> &columns,
                                                  const struct pairs_folded_grid &grid, int64_t at,
                                                  int64_t i, key_type key)
{
    const int64_t j = row_of_key(key);
    if (columns.i)
        store_index(columns.i, columns.narrow, at, i);
    if (columns.j)
        store_index(columns.j, columns.narrow, at, j);
    if (sizeof key == 8 && (columns.shifts || columns.vectors || columns.distances)) {
        int32_t image[3];
        pairs_image_of(&grid, (uint32_t)key, image);
        if (columns.shifts)
            store_shift(search, columns, at, i, j, image);
        if (columns.vectors || columns.distances)
            store_geometry(search, columns, grid, at, i, j, image);
    }
}

/* Rows that are sorted apart: keys of pairs, and which row is where. */
struct pairs_long_rows {
    uint64_t *keys, *sorted_keys; /* between which they go back and forth */
    int64_t *begin, *end;         /* of each row */
    uint32_t *row;
    int64_t room; /* keys; as many as there are */
    int64_t rows;
    bool wide; /* images matter */
};

/* What pairs_fill_long_rows needs; the pointers are not followed. */
int64_t pairs_long_rows_bytes(const struct pairs_long_rows &rows);

/* How a list is filled, which depends on what was counted. */
struct pairs_fill_shape {
    uint32_t chunks;     /* or more */
    uint32_t words, row; /* words of a mask and pairs of a row, at most, of chunks not long */
    bool wide;           /* images matter: keys of 64 bits */
    bool direct;         /* rows are not put together before they are written */
    bool guessed;        /* the count is not known yet: fills only if it fits, pairs_fits */
    uint64_t room;       /* pairs that the columns hold */
};

/* Whether a guessed shape is good for what was counted. */
static __host__ __device__ __forceinline__ bool pairs_fits(const struct pairs_counters &counters,
                                                           const struct pairs_fill_shape &shape,
                                                           uint64_t mask_room)
{
    return counters.pairs <= shape.room && counters.mask_bytes <= mask_room &&
           counters.long_rows == 0 && counters.most_words <= shape.words &&
           counters.most_of_row <= shape.row;
}

/* Fills the columns from the masks; offsets are in place. Long rows go to `rows` if the list is to
 * be sorted. */
template <typename real>
kith_status pairs_fill(kith_context *context, const struct pairs_cuda_search<real> &search,
                       const struct pairs_cuda_columns<real> &columns,
                       const struct pairs_fill_shape &shape, const struct pairs_long_rows &rows);

/* Sorts the long rows and writes their pairs. */
template <typename real>
kith_status
pairs_fill_long_rows(kith_context *context, const struct pairs_cuda_search<real> &search,
                     const struct pairs_cuda_columns<real> &columns,
                     const struct pairs_long_rows &rows, void *scratch, int64_t scratch_bytes);

#endif
