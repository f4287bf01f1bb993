/* Cutting long rows into segments of column blocks ("panels"), and these into tiles and slices
 * (own_cuda.h). Which of two segments of one length comes first is left to chance: no sum depends
 * on it. */

#include "device/cuda_state.h"
#include "sort/search.h"
#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"

enum { block_threads = 256, warps = block_threads / warp };
enum { least_tile_entries = 8192, tiles_wanted = 256 };

/* What the steps of the conversion hand on; all but `panels` goes when it is done. */
struct cutting {
    struct sparse_panels panels;
    int64_t entries_a_tile;
    const int64_t *row_start;
    const int32_t *column, *long_row;
    int64_t *begin;      /* (panels + 1) × rows: the first entry of a segment */
    int64_t *before;     /* panels × rows + 1: entries of all segments before, by panels */
    int64_t *first_tile; /* panels + 1 */
    int64_t *slices, *elements, *segments; /* tiles + 1 each: before each tile */
};

static __device__ int64_t thread_of_all()
{
    return (int64_t)blockIdx.x * block_threads + threadIdx.x;
}

static __global__ void find_segments_kernel(const cutting a)
{
    const int64_t place = thread_of_all(), panel = place / a.panels.rows;
    if (panel > a.panels.panels)
        return;
    const int64_t row = a.long_row[place % a.panels.rows];
    a.begin[place] =
        search_32(a.column, a.row_start[row], a.row_start[row + 1], panel * a.panels.width);
}

static __global__ void measure_segments_kernel(const cutting a)
{
    const int64_t place = thread_of_all(), all = a.panels.panels * a.panels.rows;
    if (place <= all)
        a.before[place] = place < all ? a.begin[place + a.panels.rows] - a.begin[place] : 0;
}

static __global__ void count_tiles_kernel(const cutting a)
{
    const int64_t p = thread_of_all(), rows = a.panels.rows;
    if (p > a.panels.panels)
        return;
    const int64_t entries = p < a.panels.panels ? a.before[(p + 1) * rows] - a.before[p * rows] : 0;
    a.first_tile[p] = (entries + a.entries_a_tile - 1) / a.entries_a_tile;
}

/* A tile has the segments that begin in its stretch of the panel's entries. */
static __global__ void cut_tiles_kernel(const cutting a)
{
    const int64_t t = thread_of_all(), rows = a.panels.rows;
    if (t >= a.panels.tiles)
        return;
    const int64_t p = search_64(a.first_tile, 0, a.panels.panels + 1, t + 1) - 1;
    const int64_t first = p * rows, end = first + rows;
    const int64_t begin = a.before[first] + (t - a.first_tile[p]) * a.entries_a_tile;
    struct sparse_panel_tile tile = {};
    tile.panel = (int32_t)p;
    tile.first_row = (int32_t)(search_64(a.before, first, end, begin) - first);
    tile.end_row = (int32_t)(search_64(a.before, first, end, begin + a.entries_a_tile) - first);
    a.panels.tile[t] = tile;
}

static __device__ int pieces_of(int length)
{
    return (length + sparse_segment_piece - 1) / sparse_segment_piece;
}

static __device__ int elements_of(int length)
{
    return (length + warp - 1) / warp * warp;
}

/* What a tile's segments are: how many of each length that is a lane's, and the long ones. Then
 * where the next of each goes. */
struct tile_memory {
    int next[sparse_lane_entries + 1];
    int pieces, long_segments;
    int elements; /* of the pieces */
};

static __device__ int length_of(const struct cutting &a, const struct sparse_panel_tile &tile,
                                int r)
{
    const int64_t place = tile.panel * a.panels.rows + r;
    return (int)(a.begin[place + a.panels.rows] - a.begin[place]);
}

static __device__ void measure_tile(const struct cutting &a, const struct sparse_panel_tile &tile,
                                    struct tile_memory &memory)
{
    for (int k = threadIdx.x; k <= sparse_lane_entries; k += block_threads)
        memory.next[k] = 0;
    if (threadIdx.x == 0)
        memory.pieces = memory.long_segments = memory.elements = 0;
    __syncthreads();
    for (int r = tile.first_row + threadIdx.x; r < tile.end_row; r += block_threads) {
        const int length = length_of(a, tile, r);
        if (length <= sparse_lane_entries) {
            atomicAdd(memory.next + length, 1);
            continue;
        }
        atomicAdd(&memory.pieces, pieces_of(length));
        atomicAdd(&memory.long_segments, 1);
        atomicAdd(&memory.elements, elements_of(length));
    }
    __syncthreads();
}

/* The slices after the pieces, the longest first, from element `at` on: puts them to `slice`
 * unless that is NULL, and the place of the first segment of each length to memory.next. The number
 * of slices; *end becomes the element after them. By one thread. */
static __device__ int lay_slices(struct tile_memory &memory, struct sparse_panel_slice *slice,
                                 int64_t at, int64_t *end)
{
    int place = 0, slices = 0;
    for (int length = sparse_lane_entries; length > 0; length--) {
        const int count = memory.next[length];
        memory.next[length] = place;
        place += count;
        for (; slices * warp < place; slices++, at += length * warp)
            if (slice)
                slice[slices] = {at, length};
    }
    *end = at;
    return slices;
}

/* A block a tile: how much room it needs. */
static __global__ void measure_tiles_kernel(const cutting a)
{
    __shared__ struct tile_memory memory;
    const int64_t t = blockIdx.x;
    if (t == a.panels.tiles) {
        if (threadIdx.x == 0)
            a.slices[t] = a.elements[t] = a.segments[t] = 0;
        return;
    }
    struct sparse_panel_tile *tile = a.panels.tile + t;
    measure_tile(a, *tile, memory);
    if (threadIdx.x > 0)
        return;
    tile->pieces = memory.pieces;
    tile->long_segments = memory.long_segments;
    tile->slices = memory.pieces + lay_slices(memory, NULL, memory.elements, a.elements + t);
    a.slices[t] = tile->slices;
    a.segments[t] = tile->long_segments;
}

/* Of a warp: where its segment goes. */
struct segment_place {
    int piece;       /* −1: it is a lane's */
    int64_t element; /* the first one */
};

/* By one lane. */
static __device__ struct segment_place place_segment(const struct cutting &a,
                                                     const struct sparse_panel_tile &tile, int r,
                                                     int length, int64_t first_element,
                                                     struct tile_memory &memory)
{
    const int64_t part = tile.panel * a.panels.rows + r;
    if (length <= sparse_lane_entries) {
        const int place = atomicAdd(memory.next + length, 1);
        const int64_t slice = tile.first_slice + tile.pieces + place / warp;
        a.panels.place[slice * warp + place % warp] = part;
        return {-1, a.panels.slice[slice].first + place % warp};
    }
    const int pieces = pieces_of(length), piece = atomicAdd(&memory.pieces, pieces);
    const int64_t element = first_element + atomicAdd(&memory.elements, elements_of(length));
    a.panels.segment[tile.first_segment + atomicAdd(&memory.long_segments, 1)] = {part, piece,
                                                                                  pieces};
    for (int p = 0; p < pieces; p++) {
        const int begin = p * sparse_segment_piece;
        a.panels.slice[tile.first_slice + piece + p] = {
            element + begin, elements_of(min(length - begin, (int)sparse_segment_piece)) / warp};
    }
    return {piece, element};
}

template <typename real>
static __device__ void fill_segment(const struct cutting &a, const struct sparse_panel_tile &tile,
                                    int r, int length, const real *value,
                                    const struct segment_place &to)
{
    const int64_t from = a.begin[tile.panel * a.panels.rows + r];
    const int step = to.piece < 0 ? warp : 1;
    const int32_t base = (int32_t)(tile.panel * a.panels.width) - sparse_panel_offset;
    for (int k = threadIdx.x % warp; k < length; k += warp) {
        a.panels.column[to.element + k * step] = (uint16_t)(a.column[from + k] - base);
        ((real *)a.panels.value)[to.element + k * step] = value[from + k];
    }
}

/* A block a tile, a warp a segment. */
template <typename real>
static __global__ void fill_tiles_kernel(const cutting a, const real *value)
{
    __shared__ struct tile_memory memory;
    const int64_t t = blockIdx.x;
    struct sparse_panel_tile tile = a.panels.tile[t];
    tile.first_slice = a.slices[t];
    tile.first_segment = a.segments[t];
    measure_tile(a, tile, memory);
    for (int64_t k = threadIdx.x; k < (int64_t)tile.slices * warp; k += block_threads)
        a.panels.place[tile.first_slice * warp + k] = -1;
    __syncthreads();
    if (threadIdx.x == 0) {
        int64_t end = 0;
        lay_slices(memory, a.panels.slice + tile.first_slice + tile.pieces,
                   a.elements[t] + memory.elements, &end);
        memory.pieces = memory.long_segments = memory.elements = 0;
        a.panels.tile[t] = tile;
    }
    __syncthreads();
    for (int r = tile.first_row + threadIdx.x / warp; r < tile.end_row; r += warps) {
        const int length = length_of(a, tile, r), lane = threadIdx.x % warp;
        struct segment_place to = {};
        if (length > 0 && lane == 0)
            to = place_segment(a, tile, r, length, a.elements[t], memory);
        to.piece = __shfl_sync(whole_warp, to.piece, 0);
        to.element = __shfl_sync(whole_warp, to.element, 0);
        fill_segment(a, tile, r, length, value, to);
    }
}

static kith_status find_segments(kith_context *context, struct cutting *a)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t segments = a->panels.panels * a->panels.rows;
    int64_t entries = 0;
    find_segments_kernel<<<blocks_for(segments + a->panels.rows, block_threads), block_threads, 0,
                           stream>>>(*a);
    measure_segments_kernel<<<blocks_for(segments + 1, block_threads), block_threads, 0, stream>>>(
        *a);
    KITH_TRY(cuda_check_launch("cutting long rows into segments"));
    KITH_TRY(sparse_starts_cuda(context, a->before, segments, a->before, &entries));
    a->entries_a_tile = entries / tiles_wanted;
    a->entries_a_tile = a->entries_a_tile < least_tile_entries ? (int64_t)least_tile_entries
                        : a->entries_a_tile > sparse_most_tile_entries
                            ? (int64_t)sparse_most_tile_entries
                            : a->entries_a_tile;
    count_tiles_kernel<<<blocks_for(a->panels.panels + 1, block_threads), block_threads, 0,
                         stream>>>(*a);
    KITH_TRY(cuda_check_launch("counting tiles of column blocks"));
    return sparse_starts_cuda(context, a->first_tile, a->panels.panels, a->first_tile,
                              &a->panels.tiles);
}

static kith_status fill_tiles(kith_context *context, const struct sparse_matrix *matrix,
                              const struct cutting *a)
{
    const unsigned tiles = (unsigned)a->panels.tiles;
    const cudaStream_t stream = cuda_stream(context);
    if (matrix->csr.dtype == KITH_F64)
        fill_tiles_kernel<double>
            <<<tiles, block_threads, 0, stream>>>(*a, (const double *)matrix->csr.value);
    else
        fill_tiles_kernel<float>
            <<<tiles, block_threads, 0, stream>>>(*a, (const float *)matrix->csr.value);
    return cuda_check_launch("padding column blocks");
}

/* Tiles, and room for all that is in them. */
static kith_status make_tiles(kith_context *context, struct sparse_matrix *matrix,
                              struct cutting *a)
{
    const char *what = "column blocks";
    struct sparse_panels *to = &a->panels;
    const int64_t each = kith_dtype_bytes(matrix->csr.dtype), tiles = to->tiles;
    int64_t slices = 0, elements = 0, segments = 0;
    KITH_TRY(sparse_matrix_allocate(context, matrix, tiles, sizeof *to->tile, what, &to->tile));
    cut_tiles_kernel<<<blocks_for(tiles, block_threads), block_threads, 0, cuda_stream(context)>>>(
        *a);
    measure_tiles_kernel<<<(unsigned)tiles + 1, block_threads, 0, cuda_stream(context)>>>(*a);
    KITH_TRY(cuda_check_launch("measuring tiles of column blocks"));
    KITH_TRY(sparse_starts_cuda(context, a->slices, tiles, a->slices, &slices));
    KITH_TRY(sparse_starts_cuda(context, a->elements, tiles, a->elements, &elements));
    KITH_TRY(sparse_starts_cuda(context, a->segments, tiles, a->segments, &segments));
    KITH_TRY(sparse_matrix_allocate(context, matrix, slices, sizeof *to->slice, what, &to->slice));
    KITH_TRY(sparse_matrix_allocate(context, matrix, slices * warp, sizeof *to->place, what,
                                    &to->place));
    KITH_TRY(
        sparse_matrix_allocate(context, matrix, segments, sizeof *to->segment, what, &to->segment));
    KITH_TRY(
        sparse_matrix_allocate(context, matrix, elements, sizeof *to->column, what, &to->column));
    KITH_TRY(sparse_matrix_allocate(context, matrix, elements, each, what, &to->value));
    KITH_TRY(sparse_matrix_allocate(context, matrix, to->panels * to->rows, each, what, &to->part));
    return fill_tiles(context, matrix, a);
}

/* With memory for what comes before the tiles, and then for what there is one of for each. */
static kith_status cut(kith_context *context, struct sparse_matrix *matrix, struct cutting *a)
{
    const int64_t segments = a->panels.panels * a->panels.rows, rows = a->panels.rows;
    int64_t *memory = NULL;
    KITH_TRY(cuda_allocate(context, 2 * segments + rows + a->panels.panels + 2, sizeof *memory,
                           "cutting long rows", &memory));
    a->begin = memory;
    a->before = a->begin + segments + rows;
    a->first_tile = a->before + segments + 1;
    kith_status status = find_segments(context, a);
    int64_t *of_tiles = NULL;
    const int64_t count = a->panels.tiles + 1;
    if (status == KITH_OK)
        status =
            cuda_allocate(context, 3 * count, sizeof *of_tiles, "cutting long rows", &of_tiles);
    if (status == KITH_OK) {
        a->slices = of_tiles;
        a->elements = of_tiles + count;
        a->segments = of_tiles + 2 * count;
        status = make_tiles(context, matrix, a);
    }
    cuda_release(context, of_tiles);
    cuda_release(context, memory);
    return status;
}

kith_status sparse_to_panels_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    struct sparse_own *own = (struct sparse_own *)matrix->own;
    const struct sparse_csr *csr = &matrix->csr;
    struct cutting a = {};
    a.panels.rows = own->long_rows.rows;
    a.panels.width = sparse_panel_width(csr->dtype);
    a.panels.panels = (csr->columns + a.panels.width - 1) / a.panels.width;
    a.row_start = csr->row_start;
    a.column = csr->column;
    a.long_row = own->long_rows.row;
    KITH_TRY(cut(context, matrix, &a));
    own->panels = a.panels;
    return KITH_OK;
}
