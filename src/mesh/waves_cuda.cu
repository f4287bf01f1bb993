/* The mesh of particle–mesh Ewald on a GPU: points gather weights from the particles near them,
 * waves are multiplied, and particles gather from points. */

#include "mesh/pme_cuda.h"
#include "mesh/sum_cuda.cuh"

enum {
    threads = 256,
    lanes = 8
}; /* lanes: of a particle, one for each point along the last axis */

static __device__ const double pi = 3.14159265358979323846;

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

/* Reals from a row of the grid to the next: rows are transformed in place. */
static __device__ int64_t pitch_of(const struct pme_cuda_problem &problem)
{
    return 2 * (problem.grid[2] / 2 + 1);
}

/* What the particles of slots first … end − 1 add to a point, i and j points after their first ones
 * along the other axes. */
template <typename real>
static __device__ real sum_of_slots(const struct pme_cuda_problem &problem, int i, int j, int z,
                                    int32_t first, int32_t end)
{
    const int64_t count = problem.count;
    const real *x = (const real *)problem.value[0] + i * count;
    const real *y = (const real *)problem.value[1] + j * count;
    real sum = 0;
    for (int32_t slot = first; slot < end; slot++) {
        const int k = z - problem.first[slot];
        const int64_t at = k < 0 ? k + problem.grid[2] : k;
        sum = fma(x[slot] * y[slot], ((const real *)problem.value[2])[at * count + slot], sum);
    }
    return sum;
}

/* A thread for a point, a warp for points along the last axis. */
template <typename real, int order>
static __global__ void __launch_bounds__(threads)
    spread(const struct pme_cuda_problem problem, int tiles)
{
    const int64_t warp = own_number() / 32;
    const int tile = (int)(warp % tiles), z = tile * 32 + (int)threadIdx.x % 32;
    const int64_t row = warp / tiles;
    const int *grid = problem.grid;
    const int x = (int)(row / grid[1]), y = (int)(row % grid[1]);
    if (x >= grid[0] || z >= grid[2])
        return;
    const int low = z - (order - 1);
    real sum = 0;
    for (int i = 0; i < order; i++) {
        const int at_x = x - i < 0 ? x - i + grid[0] : x - i;
        for (int j = 0; j < order; j++) {
            const int at_y = y - j < 0 ? y - j + grid[1] : y - j;
            const int32_t *begin = problem.begin[1] + ((int64_t)at_x * grid[1] + at_y) * grid[2];
            if (low < 0)
                sum += sum_of_slots<real>(problem, i, j, z, begin[low + grid[2]], begin[grid[2]]);
            sum += sum_of_slots<real>(problem, i, j, z, begin[low < 0 ? 0 : low], begin[z + 1]);
        }
    }
    ((real *)problem.mesh)[row * pitch_of(problem) + z] = sum;
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
    using kernel_of_tiles = void(const struct pme_cuda_problem, int);
    static kernel_of_tiles *const of_order[] = {spread<real, 4>, spread<real, 5>, spread<real, 6>,
                                                spread<real, 7>, spread<real, 8>};
    const int tiles = (problem.grid[2] + 31) / 32;
    const int64_t warps = (int64_t)problem.grid[0] * problem.grid[1] * tiles;
    of_order[problem.order - pme_least_order]<<<blocks_for(32 * warps), threads, 0, stream>>>(
        problem, tiles);
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
