/* The mesh of particle–mesh Ewald on a GPU: points gather weights from the particles near them,
 * waves are multiplied, and particles gather from points. */

#include "mesh/numbers_cuda.cuh"
#include "mesh/pme_cuda.h"
#include "mesh/sum_cuda.cuh"

enum { lanes = 8 }; /* of a particle, one for each point along the last axis */

static __device__ const double pi = 3.14159265358979323846;

/* Reals from a row of the grid to the next: rows are transformed in place. */
static __device__ int64_t pitch_of(const struct pme_cuda_problem &problem)
{
    return 2 * (problem.grid[2] / 2 + 1);
}

/* Points of a warp: some along the last axis, in each of some rows of some planes. A thread has
 * one along it, in every fourth row. */
enum { planes_of_warp = 8, rows_of_warp = 8, points_of_row = 8, rows_of_thread = 2 };
struct tile {
    int x, y, z; /* the first plane, row and point */
};

static __device__ int row_of_thread(int row)
{
    return (int)threadIdx.x % 32 / points_of_row + row * (32 / points_of_row);
}

/* Adds what a particle adds, whose splines begin this many points before the tile's first plane and
 * row, and at its first point plus the shift along z. */
template <typename real, int order>
static __device__ void add_slot(const struct pme_cuda_problem &problem, const struct tile &tile,
                                int64_t slot, int before_x, int before_y, int shift,
                                real sums[planes_of_warp][rows_of_thread])
{
    const real(*value)[splines_most_order] =
        (const real(*)[splines_most_order])problem.value + 3 * slot;
    const int k = tile.z + (int)threadIdx.x % points_of_row - (problem.first[slot] + shift);
    const real of_z = (unsigned)k < order ? value[2][k] : (real)0;
    real of_yz[rows_of_thread];
#pragma unroll
    for (int row = 0; row < rows_of_thread; row++) {
        const int j = before_y + row_of_thread(row);
        of_yz[row] = (unsigned)j < order ? value[1][j] * of_z : (real)0;
    }
#pragma unroll
    for (int plane = 0; plane < planes_of_warp; plane++) {
        const int i = before_x + plane;
        const real of_x = (unsigned)i < order ? value[0][i] : (real)0;
#pragma unroll
        for (int row = 0; row < rows_of_thread; row++)
            sums[plane][row] = fma(of_x, of_yz[row], sums[plane][row]);
    }
}

/* Each thread looks up which particles one of the rows around the tile has; all add them. Particles
 * before the beginning of the rows are those at their end: is_wrapped. */
template <typename real, int order>
static __device__ void add_rows(const struct pme_cuda_problem &problem, const struct tile &tile,
                                int number, bool is_wrapped,
                                real sums[planes_of_warp][rows_of_thread])
{
    enum { high = order - 1 + rows_of_warp, all = (order - 1 + planes_of_warp) * high };
    const unsigned every = 0xffffffffu;
    const int *grid = problem.grid, lane = (int)threadIdx.x % 32, own = number + lane;
    int32_t begin = 0, end = 0;
    if (own < all) {
        const int x = tile.x - (order - 1) + own / high, y = tile.y - (order - 1) + own % high;
        const int at_x = x < 0 ? x + grid[0] : x >= grid[0] ? x - grid[0] : x;
        const int at_y = y < 0 ? y + grid[1] : y >= grid[1] ? y - grid[1] : y;
        const int32_t *begins = problem.begin[1] + ((int64_t)at_x * grid[1] + at_y) * grid[2];
        const int low = tile.z - (order - 1), next = tile.z + points_of_row;
        begin = begins[is_wrapped ? low + grid[2] : low < 0 ? 0 : low];
        end = begins[is_wrapped || next > grid[2] ? grid[2] : next];
    }
    const int shift = is_wrapped ? -grid[2] : 0;
    for (unsigned left = __ballot_sync(every, begin < end); left; left &= left - 1) {
        const int from = __ffs((int)left) - 1, row = number + from;
        const int32_t first = __shfl_sync(every, begin, from), last = __shfl_sync(every, end, from);
        for (int32_t slot = first; slot < last; slot++)
            add_slot<real, order>(problem, tile, slot, order - 1 - row / high,
                                  order - 1 - row % high, shift, sums);
    }
}

template <typename real, int order>
static __global__ void __launch_bounds__(threads)
    spread(const struct pme_cuda_problem problem, int tiles_of_row, int tiles_of_plane)
{
    enum { all = (order - 1 + planes_of_warp) * (order - 1 + rows_of_warp) };
    const int64_t warp = own_number() / 32;
    const int *grid = problem.grid;
    const int in_plane = (int)(warp % tiles_of_plane);
    const struct tile tile = {(int)(warp / tiles_of_plane) * planes_of_warp,
                              in_plane / tiles_of_row * rows_of_warp,
                              in_plane % tiles_of_row * points_of_row};
    real sums[planes_of_warp][rows_of_thread] = {};
    if (tile.x >= grid[0])
        return;
    for (int number = 0; number < all; number += 32) {
        if (tile.z == 0)
            add_rows<real, order>(problem, tile, number, true, sums);
        add_rows<real, order>(problem, tile, number, false, sums);
    }
#pragma unroll
    for (int plane = 0; plane < planes_of_warp; plane++)
#pragma unroll
        for (int row = 0; row < rows_of_thread; row++) {
            const int x = tile.x + plane, y = tile.y + row_of_thread(row);
            const int z = tile.z + (int)threadIdx.x % points_of_row;
            if (x < grid[0] && y < grid[1] && z < grid[2])
                ((real *)problem.mesh)[((int64_t)x * grid[1] + y) * pitch_of(problem) + z] =
                    sums[plane][row];
        }
}

/* The numbers of a wave, of which half are negative, and its vector. */
static __device__ int signed_number(int number, int count)
{
    return 2 * number > count ? number - count : number;
}

struct wave {
    int x, y, z;
    double k[3], k2;
};

static __device__ struct wave wave_of(const struct pme_cuda_problem &problem, int64_t number)
{
    const int half = problem.grid[2] / 2 + 1;
    struct wave wave;
    wave.z = (int)(number % half);
    wave.y = (int)(number / half % problem.grid[1]);
    wave.x = (int)(number / half / problem.grid[1]);
    const double index[3] = {(double)signed_number(wave.x, problem.grid[0]),
                             (double)signed_number(wave.y, problem.grid[1]), (double)wave.z};
    wave.k2 = 0;
    for (int a = 0; a < 3; a++) {
        wave.k[a] = 0;
        for (int c = 0; c < 3; c++)
            wave.k[a] += 2 * pi * problem.lattice.inverse[a][c] * index[c];
        wave.k2 += wave.k[a] * wave.k[a];
    }
    return wave;
}

static __host__ __device__ int64_t wave_count(const struct pme_cuda_problem &problem)
{
    return (int64_t)problem.grid[0] * problem.grid[1] * (problem.grid[2] / 2 + 1);
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    fill_influence(const struct pme_cuda_problem problem)
{
    const int64_t number = own_number();
    if (number >= wave_count(problem))
        return;
    const struct wave wave = wave_of(problem, number);
    const double fall = 1 / (4 * problem.alpha * problem.alpha);
    const double all = 4 * pi / problem.volume * problem.flat[0][wave.x] * problem.flat[1][wave.y] *
                       problem.flat[2][wave.z] * exp(-wave.k2 * fall) / wave.k2;
    ((real *)problem.influence)[number] = wave.k2 > 0 ? (real)all : (real)0;
}

/* Multiplies; and of blocks the energy and Σ e b k_a k_b of its waves (waves_kernel.h). */
template <typename real, bool has_totals>
static __global__ void __launch_bounds__(threads) multiply(const struct pme_cuda_problem problem)
{
    const int64_t count = wave_count(problem);
    const double fall = 1 / (4 * problem.alpha * problem.alpha);
    real(*waves)[2] = (real(*)[2])problem.mesh;
    double sums[7] = {0, 0, 0, 0, 0, 0, 0};
    const int64_t step = (int64_t)gridDim.x * threads;
    for (int64_t number = own_number(); number < count; number += step) {
        const real factor = ((const real *)problem.influence)[number];
        const real re = waves[number][0], im = waves[number][1];
        waves[number][0] = re * factor;
        waves[number][1] = im * factor;
        if (!has_totals || factor == (real)0)
            continue;
        const struct wave wave = wave_of(problem, number);
        const double twice = wave.z == 0 || 2 * wave.z == problem.grid[2] ? 0.5 : 1;
        const double energy =
            twice * (double)factor * ((double)re * (double)re + (double)im * (double)im);
        const double bent = energy * 2 * (1 / wave.k2 + fall);
        sums[0] += energy;
        for (int c = 0; c < 3; c++) {
            sums[1 + c] += bent * wave.k[c] * wave.k[c];
            sums[4 + c] += bent * wave.k[(c + 1) % 3] * wave.k[(c + 2) % 3];
        }
    }
    for (int v = 0; v < 7 && has_totals; v++) {
        const double sum = sum_of_block<threads>(sums[v]);
        if (threadIdx.x == 0)
            problem.parts[blockIdx.x * 7 + v] = sum;
    }
}

/* Splines of a particle, or their slopes, at the point of a thread. */
template <typename real, int terms>
static __device__ real polynomial(const real (*table)[splines_most_order], int point, real t)
{
    real sum = table[terms - 1][point];
#pragma unroll
    for (int m = terms - 2; m >= 0; m--)
        sum = fma(sum, t, table[m][point]);
    return sum;
}

/* The potential at a particle, and its derivatives along the axes of the grid, per spacing, of the
 * points that a thread has. */
template <typename real, int order>
static __device__ void gather_points(const struct pme_cuda_problem &problem, int64_t slot, int lane,
                                     const real (*value)[splines_most_order],
                                     const real (*slope)[splines_most_order], real sums[4])
{
    const unsigned all = 0xffffffffu;
    const int *grid = problem.grid;
    const int64_t point = (int64_t)problem.keys[1][slot];
    const int first[3] = {(int)(point / grid[2] / grid[1]), (int)(point / grid[2] % grid[1]),
                          (int)(point % grid[2])};
    const int z = first[2] + lane < grid[2] ? first[2] + lane : first[2] + lane - grid[2];
    real of[3][2], y[order][2];
    for (int c = 0; c < 3; c++) {
        const real t = ((const real *)problem.offset[c])[slot];
        of[c][0] = polynomial<real, order>(value, lane, t);
        of[c][1] = polynomial<real, order - 1>(slope, lane, t);
    }
#pragma unroll
    for (int j = 0; j < order; j++)
        for (int k = 0; k < 2; k++)
            y[j][k] = __shfl_sync(all, of[1][k], j, lanes);
    real whole = 0, along_x = 0, along_y = 0;
    for (int i = 0; i < order; i++) {
        const int x = first[0] + i < grid[0] ? first[0] + i : first[0] + i - grid[0];
        real in_plane = 0, of_y = 0;
#pragma unroll
        for (int j = 0; j < order; j++) {
            const int at_y = first[1] + j < grid[1] ? first[1] + j : first[1] + j - grid[1];
            const int64_t row = (int64_t)x * grid[1] + at_y;
            const real at =
                lane < order ? ((const real *)problem.mesh)[row * pitch_of(problem) + z] : (real)0;
            in_plane = fma(at, y[j][0], in_plane);
            of_y = fma(at, y[j][1], of_y);
        }
        const real x_value = __shfl_sync(all, of[0][0], i, lanes);
        const real x_slope = __shfl_sync(all, of[0][1], i, lanes);
        whole = fma(in_plane, x_value, whole);
        along_x = fma(in_plane, x_slope, along_x);
        along_y = fma(of_y, x_value, along_y);
    }
    const bool is_one = lane < order;
    sums[0] = is_one ? whole * of[2][0] : (real)0;
    sums[1] = is_one ? along_x * of[2][0] : (real)0;
    sums[2] = is_one ? along_y * of[2][0] : (real)0;
    sums[3] = is_one ? whole * of[2][1] : (real)0;
}

template <typename real, int order>
static __global__ void __launch_bounds__(threads) gather(const struct pme_cuda_problem problem)
{
    __shared__ real table[2 * splines_most_order][splines_most_order];
    for (int k = (int)threadIdx.x; k < 2 * splines_most_order * splines_most_order; k += threads)
        table[k / splines_most_order][k % splines_most_order] = ((const real *)problem.tables)[k];
    __syncthreads();
    const int lane = (int)threadIdx.x % lanes;
    const int64_t own = own_number() / lanes, last = problem.count - 1;
    const int64_t slot = own < last ? own : last;
    real sums[4];
    gather_points<real, order>(problem, slot, lane, table, table + splines_most_order, sums);
#pragma unroll
    for (int k = 0; k < 4; k++)
        sums[k] = sum_of_lanes(sums[k], lanes);
    if (own > last || lane >= 4)
        return;
    double sum = (double)sums[0];
    if (lane > 0) {
        sum = 0;
        for (int c = 0; c < 3; c++)
            sum += problem.lattice.inverse[lane - 1][c] * problem.grid[c] * (double)sums[1 + c];
    }
    double *to = &problem.sums[problem.order_of[1][slot]][lane];
    *to = problem.has_near ? *to + sum : sum;
}

using kernel = void(const struct pme_cuda_problem);

template <typename real> static kernel *find_gather(int32_t order)
{
    static kernel *const of_order[] = {gather<real, 4>, gather<real, 5>, gather<real, 6>,
                                       gather<real, 7>, gather<real, 8>};
    return of_order[order - pme_least_order];
}

template <typename real>
static void start_spreading(cudaStream_t stream, const struct pme_cuda_problem &problem)
{
    using kernel_of_tiles = void(const struct pme_cuda_problem, int, int);
    static kernel_of_tiles *const of_order[] = {spread<real, 4>, spread<real, 5>, spread<real, 6>,
                                                spread<real, 7>, spread<real, 8>};
    const int of_row = (problem.grid[2] + points_of_row - 1) / points_of_row;
    const int of_plane = (problem.grid[1] + rows_of_warp - 1) / rows_of_warp * of_row;
    const int64_t of_planes = (problem.grid[0] + planes_of_warp - 1) / planes_of_warp;
    const int64_t warps = of_planes * of_plane;
    of_order[problem.order - pme_least_order]<<<blocks_for(32 * warps), threads, 0, stream>>>(
        problem, of_row, of_plane);
}

kith_status pme_cuda_fill_influence(kith_context *context, const struct pme_cuda_problem *problem)
{
    kernel *const fill =
        problem->mesh_dtype == KITH_F64 ? fill_influence<double> : fill_influence<float>;
    fill<<<blocks_for(wave_count(*problem)), threads, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("preparing the mesh");
}

kith_status pme_cuda_spread(kith_context *context, const struct pme_cuda_problem *problem)
{
    if (problem->mesh_dtype == KITH_F64)
        start_spreading<double>(cuda_stream(context), *problem);
    else
        start_spreading<float>(cuda_stream(context), *problem);
    return cuda_check_launch("spreading weights to the mesh");
}

kith_status pme_cuda_multiply(kith_context *context, const struct pme_cuda_problem *problem)
{
    const cudaStream_t stream = cuda_stream(context);
    const bool is_double = problem->mesh_dtype == KITH_F64;
    if (!problem->delivery.wants_totals) {
        kernel *const multiply_all = is_double ? multiply<double, false> : multiply<float, false>;
        multiply_all<<<blocks_for(wave_count(*problem)), threads, 0, stream>>>(*problem);
        return cuda_check_launch("multiplying waves");
    }
    kernel *const multiply_all = is_double ? multiply<double, true> : multiply<float, true>;
    multiply_all<<<pme_cuda_parts, threads, 0, stream>>>(*problem);
    KITH_TRY(cuda_check_launch("multiplying waves"));
    return pme_cuda_add_parts(context, pme_cuda_parts, 7, problem->parts,
                              problem->totals + pme_cuda_waves);
}

kith_status pme_cuda_gather(kith_context *context, const struct pme_cuda_problem *problem)
{
    kernel *const gather_all = problem->mesh_dtype == KITH_F64 ? find_gather<double>(problem->order)
                                                               : find_gather<float>(problem->order);
    gather_all<<<blocks_for(problem->count * lanes), threads, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("gathering from the mesh");
}
