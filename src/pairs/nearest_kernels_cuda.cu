/* Kernels of the nearest points: a warp takes a chunk, and of each of its targets keeps the nearest
 * candidates so far in shared memory, sorted whenever that is full. */

#include "pairs/nearest_cuda.cuh"
#include "pairs/runs_cuda.cuh"

enum { threads = 256, block_warps = 4, block_threads = block_warps * warp_size };

template <typename real>
static __global__ void measure_extents(const struct pairs_cuda_search<real> search,
                                       const struct pairs_side<real> side,
                                       struct pairs_extent *extents)
{
    const uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    const bool there = row < side.count;
    const int32_t system = system_of(search, there ? row : side.count - 1, side.is_target);
    double x[3] = {0, 0, 0};
    if (there && !read_position(search, side, row, x))
        atomicMax(side.is_target ? &search.counters->worst_target : &search.counters->worst_point,
                  ~(unsigned long long)row);
    const int32_t first = __shfl_sync(whole_warp, system, 0);
    const bool together = __all_sync(whole_warp, there && system == first);
    for (int k = 0; k < 3; k++) {
        const double fraction = pairs_fraction(&search.grids[system].lattice, x, k);
        unsigned long long high =
            there ? pairs_ordered_bits((unsigned long long)__double_as_longlong(fraction)) : 0;
        unsigned long long low = there ? ~high : 0;
        if (together) {
            high = warp_largest(high);
            low = warp_largest(low);
        }
        if (there && (!together || threadIdx.x % warp_size == 0)) {
            atomicMax(&extents[system].highest[k], high);
            atomicMax(&extents[system].lowest[k], low);
        }
    }
}

template <typename real>
kith_status pairs_measure_extents(kith_context *context,
                                  const struct pairs_cuda_search<real> &search,
                                  const struct pairs_side<real> &side, struct pairs_extent *extents)
{
    if (side.count == 0)
        return KITH_OK;
    measure_extents<real>
        <<<(side.count + threads - 1) / threads, threads, 0, cuda_stream(context)>>>(search, side,
                                                                                     extents);
    return cuda_check_launch("measuring the points' extent");
}

template <typename real>
static __global__ void measure_crowding(const struct pairs_cuda_search<real> search)
{
    const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long here = 0;
    if (at < search.points.count) {
        const uint32_t place = search.points.sorted_key[at];
        here = search.place_first[place + 1] - search.place_first[place];
    }
    here = warp_sum(here);
    if (threadIdx.x % warp_size == 0 && here > 0)
        atomicAdd(&search.counters->neighbors, here);
}

template <typename real>
kith_status pairs_measure_crowding(kith_context *context,
                                   const struct pairs_cuda_search<real> &search)
{
    if (search.points.count == 0)
        return KITH_OK;
    measure_crowding<real>
        <<<(search.points.count + threads - 1) / threads, threads, 0, cuda_stream(context)>>>(
            search);
    return cuda_check_launch("measuring how crowded cells are");
}

/* What a warp keeps of candidates: by distance, then key. */
template <typename real> struct pairs_kept_nearest {
    real *distance;
    uint64_t *key;
    uint32_t count;
    real farthest; /* of the k nearest so far; infinite while there are fewer */
};

template <typename real>
static __device__ __forceinline__ void order(const struct pairs_kept_nearest<real> &kept,
                                             uint32_t a, uint32_t b, bool ascending)
{
    const real da = kept.distance[a], db = kept.distance[b];
    const uint64_t ka = kept.key[a], kb = kept.key[b];
    const bool less = da < db || (da == db && ka < kb);
    if (less == ascending)
        return;
    kept.distance[a] = db;
    kept.distance[b] = da;
    kept.key[a] = kb;
    kept.key[b] = ka;
}

/* Sorts all that is kept (Batcher's bitonic sort) and keeps the k nearest. */
template <typename real>
static __device__ void keep_nearest(const struct pairs_nearest &nearest,
                                    struct pairs_kept_nearest<real> *kept)
{
    const uint32_t lane = threadIdx.x % warp_size;
    uint32_t room = warp_size;
    while (room < kept->count)
        room *= 2;
    for (uint32_t k = kept->count + lane; k < room; k += warp_size) {
        kept->distance[k] = (real)INFINITY;
        kept->key[k] = ~0ull;
    }
    __syncwarp();
    for (uint32_t size = 2; size <= room; size *= 2)
        for (uint32_t distance = size / 2; distance > 0; distance /= 2) {
            for (uint32_t pair = lane; pair < room / 2; pair += warp_size) {
                const uint32_t a = 2 * pair - (pair & (distance - 1));
                order(*kept, a, a + distance, (a & size) == 0 || size == room);
            }
            __syncwarp();
        }
    kept->count = min(kept->count, nearest.k);
    kept->farthest = kept->count == nearest.k ? kept->distance[nearest.k - 1] : (real)INFINITY;
    __syncwarp();
}

/* The candidates of a batch against one target. */
template <typename real>
static __device__ void
look_through(const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
             const struct pairs_batch &batch, const struct pairs_runs &runs,
             const struct pairs_nearest &nearest, real limit, const pairs_point<real> &target,
             struct pairs_kept_nearest<real> *kept)
{
    uint32_t run = 0;
    for (uint32_t first = 0; first < batch.candidates; first += warp_size) {
        const uint32_t number = first + threadIdx.x % warp_size;
        real distance = 0;
        uint64_t key = 0;
        bool hit = false;
        if (number < batch.candidates) {
            while (runs.end[run] <= number)
                run++;
            const uint32_t at = number + runs.delta[run];
            const pairs_point<real> point = search.points.sorted[at];
            real d[3] = {point.x, point.y, point.z}, translation[3];
            int32_t image[3];
            bool itself = !search.two_sets && point.row == target.row;
            real r2 = 0;
            if (batch.translated) {
                pairs_image_of(&grid, runs.image[run], image);
                translation_of(grid, image, translation);
                r2 = pairs_r2<true>(target, translation, d);
                itself = itself && image[0] == 0 && image[1] == 0 && image[2] == 0;
            } else {
                r2 = pairs_r2<false>(target, translation, d);
            }
            const bool in_row = !grid.folded || (search.rows[at].x == runs.row[run].x &&
                                                 search.rows[at].y == runs.row[run].y);
            distance = square_root(r2);
            key = (uint64_t)point.row << 32 | runs.image[run];
            hit = in_row && !itself && r2 < limit && distance <= kept->farthest;
        }
        const uint32_t hits = __ballot_sync(whole_warp, hit);
        if (hit) {
            const uint32_t to = kept->count + __popc(hits & lanes_before());
            kept->distance[to] = distance;
            kept->key[to] = key;
        }
        kept->count += __popc(hits);
        __syncwarp();
        if (kept->count + warp_size > nearest.room)
            keep_nearest(nearest, kept);
    }
}

/* Whether the target has found what it can; then its row is kept. */
template <typename real>
static __device__ bool finish(const struct pairs_cuda_search<real> &search,
                              const struct pairs_nearest &nearest, bool last, uint32_t row,
                              const struct pairs_kept_nearest<real> &kept)
{
    const uint32_t lane = threadIdx.x % warp_size;
    if (kept.count < nearest.k && !last)
        return false;
    for (uint32_t k = lane; k < kept.count; k += warp_size)
        nearest.keys[(uint64_t)row * nearest.k + k] = kept.key[k];
    if (lane == 0) {
        search.offsets[row] = kept.count;
        nearest.done[row] = 1;
    }
    return true;
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    find_nearest(const struct pairs_cuda_search<real> search, const struct pairs_nearest nearest)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ struct pairs_runs rooms[block_warps];
    const uint32_t warp = threadIdx.x / warp_size;
    struct pairs_runs *runs = &rooms[warp];
    uint64_t *keys = (uint64_t *)memory + warp * nearest.room;
    real *distances =
        (real *)((uint64_t *)memory + block_warps * nearest.room) + warp * nearest.room;
    uint32_t left = 0;
    for (uint32_t c = blockIdx.x * block_warps + warp; c < search.counters->chunks;
         c += gridDim.x * block_warps) {
        const struct pairs_chunk chunk = search.chunks[c];
        const struct pairs_folded_grid &grid = search.grids[chunk.system];
        const struct pairs_window window = window_of(grid, chunk);
        const real limit = (real)grid.limit;
        struct pairs_batch batch;
        if (window.batches == 1)
            batch = find_batch(search.place_first, grid, chunk, window, 0, runs);
        for (uint32_t i = 0; i < chunk.count; i++) {
            const pairs_point<real> target = search.targets.sorted[chunk.first + i];
            if (nearest.done[target.row])
                continue;
            struct pairs_kept_nearest<real> kept = {
                distances, keys, 0, (real)INFINITY
            };
            for (int64_t b = 0; b < window.batches; b++) {
                if (window.batches > 1)
                    batch = find_batch(search.place_first, grid, chunk, window, b, runs);
                look_through(search, grid, batch, *runs, nearest, limit, target, &kept);
            }
            keep_nearest(nearest, &kept);
            left += !finish(search, nearest, grid.last, (uint32_t)target.row, kept);
            __syncwarp();
        }
    }
    if (threadIdx.x % warp_size == 0 && left > 0)
        atomicAdd(&search.counters->left, left);
}

template <typename real>
kith_status pairs_find_nearest(kith_context *context, const struct pairs_cuda_search<real> &search,
                               const struct pairs_nearest &nearest)
{
    const size_t bytes = (size_t)block_warps * nearest.room * (sizeof(uint64_t) + sizeof(real));
    int resident = 1;
    KITH_TRY(cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, find_nearest<real>,
                                                                      block_threads, bytes),
                        "finding the nearest points"));
    const int64_t needed = ((int64_t)search.targets.count + block_warps - 1) / block_warps;
    const int64_t most = (int64_t)cuda_multiprocessors(context) * resident;
    find_nearest<real>
        <<<(int)(needed < most ? needed : most), block_threads, bytes, cuda_stream(context)>>>(
            search, nearest);
    return cuda_check_launch("finding the nearest points");
}

/* A warp a row. */
template <typename real>
static __global__ void store_nearest(const struct pairs_cuda_search<real> search,
                                     const struct pairs_cuda_columns<real> columns,
                                     const struct pairs_nearest nearest)
{
    const uint32_t row = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size;
    if (row >= search.targets.count)
        return;
    const struct pairs_folded_grid &grid = search.grids[system_of(search, row, search.two_sets)];
    const int64_t begin = search.offsets[row], end = search.offsets[row + 1];
    for (int64_t at = begin + threadIdx.x % warp_size; at < end; at += warp_size)
        store_pair(search, columns, grid, at, row,
                   nearest.keys[(uint64_t)row * nearest.k + (uint64_t)(at - begin)]);
}

template <typename real>
kith_status pairs_store_nearest(kith_context *context, const struct pairs_cuda_search<real> &search,
                                const struct pairs_cuda_columns<real> &columns,
                                const struct pairs_nearest &nearest)
{
    const uint64_t lanes = (uint64_t)search.targets.count * warp_size;
    store_nearest<real>
        <<<(unsigned)((lanes + threads - 1) / threads), threads, 0, cuda_stream(context)>>>(
            search, columns, nearest);
    return cuda_check_launch("writing the nearest points");
}

#define PAIRS_INSTANTIATE(real)                                                                    \
    template kith_status pairs_measure_extents(                                                    \
        kith_context *, const struct pairs_cuda_search<real> &, const struct pairs_side<real> &,   \
        struct pairs_extent *);                                                                    \
    template kith_status pairs_measure_crowding(kith_context *,                                    \
                                                const struct pairs_cuda_search<real> &);           \
    template kith_status pairs_find_nearest(                                                       \
        kith_context *, const struct pairs_cuda_search<real> &, const struct pairs_nearest &);     \
    template kith_status pairs_store_nearest(                                                      \
        kith_context *, const struct pairs_cuda_search<real> &,                                    \
        const struct pairs_cuda_columns<real> &, const struct pairs_nearest &);
PAIRS_INSTANTIATE(float)
PAIRS_INSTANTIATE(double)
