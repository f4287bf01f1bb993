/* Grids of open axes, on the GPU: where they are, and whether their cells are few enough for a
 * place each, so that a search of a row need not compare the cells of its points. */

#include "pairs/sort_cuda.cuh"

enum { threads = 256 };

enum { sample_size = 5 };

static __device__ double median(double (&sample)[sample_size])
{
    for (int k = 1; k < sample_size; k++)
        for (int l = k; l > 0 && sample[l] < sample[l - 1]; l--) {
            const double larger = sample[l - 1];
            sample[l - 1] = sample[l];
            sample[l] = larger;
        }
    return sample[sample_size / 2];
}

/* An origin for each system's open axes: the median of a few of its points, as some may lie far
 * from all others. */
template <typename real>
static __global__ void find_origins(const struct pairs_cuda_search<real> search)
{
    wait_for_kernel_before();
    const int32_t system = blockIdx.x * blockDim.x + threadIdx.x;
    if (system >= search.system_count || search.grids[system].point_count == 0)
        return;
    struct pairs_folded_grid &grid = search.grids[system];
    double sample[3][sample_size];
    for (int k = 0; k < sample_size; k++) {
        double x[3];
        read_position(search, search.points,
                      grid.first_point + (grid.point_count - 1) * k / (sample_size - 1), x);
        for (int axis = 0; axis < 3; axis++)
            sample[axis][k] = pairs_fraction(&grid.lattice, x, axis);
    }
    for (int axis = 0; axis < 3; axis++)
        grid.origin[axis] = median(sample[axis]);
}

/* A cell's coordinate as a number that is ordered like it, and more than 0. */
static __device__ __forceinline__ unsigned ordered_cell(int32_t cell)
{
    return (unsigned)cell ^ 1u << 31;
}

/* Gives each cell a place if they are no more than the table has. */
static __device__ void unfold(const volatile struct pairs_counters &counters, uint32_t most,
                              struct pairs_folded_grid *grid)
{
    double all = 1;
    int32_t first[3], count[3];
    for (int k = 0; k < 3; k++) {
        const bool measured = !grid->lattice.periodic[k] && grid->per_basis[k] > 0;
        const int32_t lowest = (int32_t)(~counters.lowest_cell[k] ^ 1u << 31);
        const int32_t highest = (int32_t)(counters.highest_cell[k] ^ 1u << 31);
        first[k] = measured ? lowest : 0;
        const double cells = measured ? (double)highest - lowest + 1 : grid->count[k];
        count[k] = (int32_t)fmin(cells, PAIRS_FARTHEST_CELL);
        all *= cells;
    }
    if (all > most)
        return;
    for (int k = 0; k < 3; k++) {
        grid->first[k] = first[k];
        grid->count[k] = count[k];
    }
    grid->stride[0] = count[0];
    grid->stride[1] = (int64_t)count[0] * count[1];
    grid->places = (uint32_t)all;
    grid->folded = false;
    grid->chunk_cells = pairs_cells_of_chunk(grid);
}

/* The extents of the points' cells; the last block to know its own then has them all. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    measure_cells(const struct pairs_cuda_search<real> search)
{
    __shared__ unsigned extent[6];
    wait_for_kernel_before();
    const uint32_t row = blockIdx.x * threads + threadIdx.x;
    if (threadIdx.x < 6)
        extent[threadIdx.x] = 0;
    __syncthreads();
    int32_t away[3];
    pairs_point<real> point;
    struct pairs_folded_grid &grid = search.grids[0];
    wrap(search, grid, search.points, min(row, search.points.count - 1), &point, away);
    const int3 cell = cell_of(grid, point);
    const int32_t cells[3] = {cell.x, cell.y, cell.z};
    for (int k = 0; k < 3; k++) {
        const unsigned highest = warp_largest(ordered_cell(cells[k]));
        const unsigned lowest = warp_largest(~ordered_cell(cells[k]));
        if (threadIdx.x % warp_size == 0) {
            atomicMax(&extent[k], highest);
            atomicMax(&extent[3 + k], lowest);
        }
    }
    __syncthreads();
    struct pairs_counters *counters = search.counters;
    if (threadIdx.x < 6)
        atomicMax(threadIdx.x < 3 ? &counters->highest_cell[threadIdx.x]
                                  : &counters->lowest_cell[threadIdx.x - 3],
                  extent[threadIdx.x]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&counters->measured, 1u) == gridDim.x - 1) {
        __threadfence();
        unfold(*counters, search.place_count, &grid);
    }
}

template <typename real>
kith_status pairs_measure_open_axes(kith_context *context,
                                    const struct pairs_cuda_search<real> &search)
{
    if (!search.open)
        return KITH_OK;
    KITH_TRY(launch_overlapped(context, "finding the middle of the points",
                               dim3((unsigned)(search.system_count + threads - 1) / threads),
                               threads, find_origins<real>, search));
    if (!search.may_unfold)
        return KITH_OK;
    return launch_overlapped(context, "measuring the points' extent",
                             dim3((search.points.count + threads - 1) / threads), threads,
                             measure_cells<real>, search);
}

template kith_status pairs_measure_open_axes(kith_context *,
                                             const struct pairs_cuda_search<float> &);
template kith_status pairs_measure_open_axes(kith_context *,
                                             const struct pairs_cuda_search<double> &);
