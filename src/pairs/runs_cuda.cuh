#ifndef PAIRS_RUNS_CUDA_CUH
#define PAIRS_RUNS_CUDA_CUH

/* The candidates of a chunk, as a warp sees them.
 *
 * The cells around the chunk's cell are looked through row by row: cells of one y and z, at one
 * translation, side by side along x, have their points in one run of the sorted points. A lane
 * finds a run; up to 32 runs at a time are a batch, whose candidates are numbered from 0 without
 * gaps. */

#include "device/architecture_80.cuh"
#include "pairs/search_cuda.cuh"

/* The runs of a batch that have points, in shared memory. */
struct pairs_runs {
    uint32_t end[warp_size];   /* number of the first candidate after the run's last */
    uint32_t delta[warp_size]; /* place in sorted order less number of candidate */
    uint32_t image[warp_size]; /* pairs_image_code of the translation */
    int2 row[warp_size];       /* y and z of the run's cells, if hashed */
};

/* What all lanes know of a batch. */
struct pairs_batch {
    uint32_t runs, candidates;
    bool translated; /* not all runs have T = 0 */
    uint32_t home;   /* target's place in sorted order less its number as a candidate */
    bool has_home;
};

/* How the runs of a chunk are numbered. */
struct pairs_window {
    int32_t first_image, images; /* T_x of the rows */
    int32_t rows[2];             /* along y and z */
    int64_t runs, batches;
};

static __device__ __forceinline__ int32_t floor_divide(int32_t a, int32_t b)
{
    if (a >= 0 && a < b)
        return 0;
    if (a < 0 && a >= -b)
        return -1;
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Few runs, and mostly one or three of a kind. */
static __device__ __forceinline__ uint32_t divide_few(uint32_t a, uint32_t b)
{
    return b == 1 ? a : b == 3 ? a / 3 : a / b;
}

static __device__ __forceinline__ struct pairs_window
window_of(const struct pairs_folded_grid &grid, const struct pairs_chunk &chunk)
{
    struct pairs_window window = {0, 1, {2 * grid.reach[1] + 1, 2 * grid.reach[2] + 1}, 0, 0};
    if (grid.lattice.periodic[0]) {
        window.first_image = floor_divide(chunk.cell[0] - grid.reach[0], grid.count[0]);
        window.images = floor_divide(chunk.cell[0] + chunk.span + grid.reach[0], grid.count[0]) -
                        window.first_image + 1;
    }
    /* A row of a hashed cell list may go over the end of the table: two runs. */
    window.runs = (int64_t)window.images * window.rows[0] * window.rows[1] * (grid.folded ? 2 : 1);
    window.batches = (window.runs + warp_size - 1) / warp_size;
    return window;
}

/* A run as its lane found it. */
struct pairs_cuda_run {
    uint32_t begin, end; /* in sorted order */
    int32_t image[3];
    int2 row;
    bool is_home;
};

/* The cell along an axis, brought into the grid; the image it came from. */
static __device__ __forceinline__ int32_t enter_axis(const struct pairs_folded_grid &grid, int k,
                                                     int32_t cell, int32_t *image)
{
    *image = grid.lattice.periodic[k] ? floor_divide(cell, grid.count[k]) : 0;
    return cell - *image * grid.count[k];
}

/* The sorted points of a row's cells from `first` to `last` along x; the half that lies before the
 * table's end, or the other. */
static __device__ __forceinline__ void find_points(const uint32_t *place_first,
                                                   const struct pairs_folded_grid &grid,
                                                   int32_t first, int32_t last, int half,
                                                   struct pairs_cuda_run *run)
{
    const uint64_t places = grid.places;
    uint64_t begin = pairs_folded_place(&grid, first, run->row.x, run->row.y);
    uint64_t end = begin + (uint64_t)((int64_t)last - first + 1);
    if (grid.folded && end > begin + places)
        end = begin + places;
    if (half == 1) {
        begin = 0;
        end = end > places ? end - places : 0;
    } else if (end > places) {
        end = places;
    }
    run->begin = place_first[grid.first_place + begin];
    run->end = place_first[grid.first_place + end];
}

static __device__ __forceinline__ struct pairs_cuda_run
find_run(const uint32_t *place_first, const struct pairs_folded_grid &grid,
         const struct pairs_chunk &chunk, const struct pairs_window &window, int64_t number)
{
    struct pairs_cuda_run run = {};
    if (number >= window.runs)
        return run;
    const int half = grid.folded ? (int)(number & 1) : 0;
    const uint32_t rest = (uint32_t)(number >> (grid.folded ? 1 : 0));
    const uint32_t row = divide_few(rest, (uint32_t)window.images);
    const uint32_t z = divide_few(row, (uint32_t)window.rows[0]);
    run.image[0] = window.first_image + (int32_t)(rest - row * (uint32_t)window.images);
    const int32_t dy = (int32_t)(row - z * (uint32_t)window.rows[0]) - grid.reach[1];
    const int32_t dz = (int32_t)z - grid.reach[2];
    run.row.x = enter_axis(grid, 1, chunk.cell[1] + dy, &run.image[1]);
    run.row.y = enter_axis(grid, 2, chunk.cell[2] + dz, &run.image[2]);

    int32_t first = chunk.cell[0] - grid.reach[0];
    int32_t last = chunk.cell[0] + chunk.span + grid.reach[0];
    if (grid.lattice.periodic[0]) {
        const int32_t period = run.image[0] * grid.count[0];
        first -= period;
        last -= period;
    }
    if (!grid.folded) {
        first = max(first, 0);
        last = min(last, grid.count[0] - 1);
        if ((uint32_t)run.row.x >= (uint32_t)grid.count[1] ||
            (uint32_t)run.row.y >= (uint32_t)grid.count[2])
            last = -1;
    } else if (grid.lattice.periodic[0]) {
        first = max(first, 0);
        last = min(last, grid.count[0] - 1);
    }
    if (first <= last)
        find_points(place_first, grid, first, last, half, &run);
    run.is_home = run.image[0] == 0 && dy == 0 && dz == 0 && run.begin <= chunk.first &&
                  chunk.first < run.end;
    return run;
}

/* Finds batch `number` of the chunk's runs. All lanes; the runs are free to be overwritten. */
static __device__ __forceinline__ struct pairs_batch
find_batch(const uint32_t *place_first, const struct pairs_folded_grid &grid,
           const struct pairs_chunk &chunk, const struct pairs_window &window, int64_t number,
           struct pairs_runs *runs)
{
    const uint32_t lane = threadIdx.x % warp_size;
    const struct pairs_cuda_run run =
        find_run(place_first, grid, chunk, window, number * warp_size + lane);
    const uint32_t count = run.end - run.begin;
    const uint32_t up_to = warp_sum_to(count);
    const uint32_t with_points = __ballot_sync(whole_warp, count > 0);
    const bool translated = run.image[0] != 0 || run.image[1] != 0 || run.image[2] != 0;
    const uint32_t delta = run.begin - (up_to - count);
    __syncwarp();
    if (count > 0) {
        const uint32_t at = __popc(with_points & lanes_before());
        runs->end[at] = up_to;
        runs->delta[at] = delta;
        runs->image[at] = pairs_image_code(&grid, run.image);
        runs->row[at] = run.row;
    }
    __syncwarp();
    const uint32_t home = __ballot_sync(whole_warp, run.is_home);
    struct pairs_batch batch;
    batch.runs = __popc(with_points);
    batch.candidates = __shfl_sync(whole_warp, up_to, warp_size - 1);
    batch.translated = __any_sync(whole_warp, count > 0 && translated);
    batch.has_home = home != 0;
    batch.home = __shfl_sync(whole_warp, delta, home ? __ffs(home) - 1 : 0);
    return batch;
}

/* Runs of a batch by lanes: of run l in lane l. */
struct pairs_lane_runs {
    uint32_t end, delta;
};

static __device__ __forceinline__ struct pairs_lane_runs lane_runs(const struct pairs_runs &runs,
                                                                   const struct pairs_batch &batch)
{
    const uint32_t lane = threadIdx.x % warp_size;
    struct pairs_lane_runs mine = {~0u, 0};
    if (lane < batch.runs)
        mine = {runs.end[lane], runs.delta[lane]};
    return mine;
}

static __device__ __forceinline__ uint32_t or_of_lanes(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(whole_warp, value);
#else
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
        value |= __shfl_xor_sync(whole_warp, value, distance);
    return value;
#endif
}

/* The run of each lane's candidate, number first + lane: how many runs have ended before it. */
static __device__ __forceinline__ uint32_t run_of_lane(const struct pairs_lane_runs &mine,
                                                       uint32_t first)
{
    const uint32_t left = mine.end - first;
    const bool ended = mine.end <= first;
    const uint32_t before = __popc(__ballot_sync(whole_warp, ended));
    const uint32_t ends = or_of_lanes(!ended && left < warp_size ? 1u << left : 0);
    return before + __popc(ends & (2u << threadIdx.x % warp_size) - 1);
}

/* Its index among the sorted points. */
static __device__ __forceinline__ uint32_t place_of_lane(const struct pairs_lane_runs &mine,
                                                         uint32_t first, uint32_t run)
{
    return first + threadIdx.x % warp_size + __shfl_sync(whole_warp, mine.delta, run % warp_size);
}

#endif
