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

/* A warp has the points of a block of them: a thread a column along the first axis in each of two
 * rows. What the splines of some particles have at these points is staged in shared memory. */
enum {
    edge = blocks_edge,
    rows_of_thread = edge * edge / 32,
    batch = 4,
    backs = blocks_most_back + 1
};

template <typename real> struct alignas(4 * sizeof(real)) staged {
    real of[3 * edge];
};

/* Particles whose splines may reach a block of points: those of a block, and how far the first
 * point of that one is before the first of this, 8 bits for each axis. */
struct neighbor {
    int32_t begin, end, before;
};

/* The neighbor of a thread: none, one, or two blocks back along each axis. */
static __device__ struct neighbor find_neighbor(const struct pme_cuda_problem &problem,
                                                const int block[3])
{
    struct neighbor neighbor = {0, 0, 0};
    int back = (int)threadIdx.x % 32, before;
    bool is_there = back < backs * backs * backs;
    int64_t number = 0;
    for (int c = 0; c < 3; c++, back /= backs) {
        int from;
        is_there = blocks_find_back(problem.grid[c], problem.order, block[c], back % backs, &from,
                                    &before) &&
                   is_there;
        number = number * blocks_along(problem.grid[c]) + from;
        neighbor.before |= before << 8 * c;
    }
    if (is_there) {
        neighbor.begin = problem.begin[1][number];
        neighbor.end = problem.begin[1][number + 1];
    }
    return neighbor;
}

/* A particle that reaches a block: how far the first point of its splines is before the block's,
 * plus an edge, 8 bits for each axis. */
struct reaching {
    int32_t slot, before;
};

/* What a warp works with. */
template <typename real> struct spreading {
    struct staged<real> stage[batch];
    struct reaching queue[32 + batch];
};

/* Adds a batch of particles. */
template <typename real, int order>
static __device__ void add_batch(const struct pme_cuda_problem &problem,
                                 const struct reaching queue[batch],
                                 struct staged<real> stage[batch], real sums[edge][rows_of_thread])
{
    const int lane = (int)threadIdx.x % 32, axis = lane / edge, point = lane % edge;
    const real *own = (const real *)problem.value + axis * splines_most_order + point - edge;
    real values[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) {
        const struct reaching one = queue[k];
        const int before = (int)__byte_perm((unsigned)one.before, 0, 0x4440 + axis);
        const bool is_inside = (unsigned)(before + point - edge) < order;
        values[k] = is_inside && axis < 3
                        ? own[(int64_t)one.slot * (3 * splines_most_order) + before]
                        : (real)0;
    }
#pragma unroll
    for (int k = 0; k < batch; k++)
        if (axis < 3)
            stage[k].of[lane] = values[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < batch; k++) {
        const real *x = stage[k].of, *y = x + edge, *z = y + edge;
        real of_yz[rows_of_thread];
#pragma unroll
        for (int row = 0; row < rows_of_thread; row++)
            of_yz[row] = y[axis * rows_of_thread + row] * z[point];
#pragma unroll
        for (int plane = 0; plane < edge; plane++)
#pragma unroll
            for (int row = 0; row < rows_of_thread; row++)
                sums[plane][row] = fma(x[plane], of_yz[row], sums[plane][row]);
    }
    __syncwarp();
}

/* Adds all particles that reach the block of a warp, in the order of their neighbors and slots. */
template <typename real, int order>
static __device__ void add_neighbors(const struct pme_cuda_problem &problem, const int block[3],
                                     struct spreading<real> &working,
                                     real sums[edge][rows_of_thread])
{
    const unsigned all = 0xffffffffu;
    const int lane = (int)threadIdx.x % 32;
    const struct neighbor own = find_neighbor(problem, block);
    const uint32_t up_to = warp_sum_to((uint32_t)(own.end - own.begin));
    const uint32_t shift = (uint32_t)own.end - up_to, count = __shfl_sync(all, up_to, 31);
    for (uint32_t first = 0; first < count; first += 32) {
        const uint32_t number = first + (uint32_t)lane;
        int from = 0; /* the thread that has the neighbor with it */
        for (int step = 16; step > 0; step /= 2)
            if (__shfl_sync(all, up_to, from + step - 1) <= number)
                from += step;
        const int32_t slot = (int32_t)(number + __shfl_sync(all, shift, from));
        const int before = __shfl_sync(all, own.before, from);
        const int32_t in_block = number < count ? problem.first[slot] : 0;
        int packed = 0;
        bool reaches = number < count;
        for (int c = 0; c < 3; c++) {
            const int distance = (before >> 8 * c & 255) - (in_block >> 8 * c & 255);
            reaches = reaches && distance < order;
            packed |= (distance + edge) << 8 * c;
        }
        const unsigned bits = __ballot_sync(all, reaches);
        const int queued = __popc(bits);
        if (reaches)
            working.queue[__popc(bits & ((1u << lane) - 1))] = {slot, packed};
        if (lane < batch)
            working.queue[queued + lane] = {0, 0xffffff}; /* reaches nothing */
        __syncwarp();
        for (int k = 0; k < queued; k += batch)
            add_batch<real, order>(problem, working.queue + k, working.stage, sums);
    }
}

template <typename real, int order>
static __global__ void __launch_bounds__(threads) spread(const struct pme_cuda_problem problem)
{
    __shared__ struct spreading<real> working[threads / 32];
    const uint32_t warp = (uint32_t)(own_number() / 32);
    const uint32_t across = (uint32_t)blocks_along(problem.grid[1]);
    const uint32_t along = (uint32_t)blocks_along(problem.grid[2]), row = warp / along;
    const int block[3] = {(int)(row / across), (int)(row % across), (int)(warp % along)};
    const int *grid = problem.grid, lane = (int)threadIdx.x % 32;
    real sums[edge][rows_of_thread] = {};
    if (edge * block[0] >= grid[0])
        return;
    add_neighbors<real, order>(problem, block, working[threadIdx.x / 32], sums);
    const int y = edge * block[1] + lane / edge * rows_of_thread;
    const int z = edge * block[2] + lane % edge;
    const int64_t pitch = pitch_of(problem), plane_pitch = grid[1] * pitch;
    real *to = (real *)problem.mesh + edge * block[0] * plane_pitch + y * pitch + z;
#pragma unroll
    for (int plane = 0; plane < edge; plane++, to += plane_pitch)
#pragma unroll
        for (int k = 0; k < rows_of_thread; k++)
            if (edge * block[0] + plane < grid[0] && y + k < grid[1] && z < grid[2])
                to[k * pitch] = sums[plane][k];
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
            problem.parts_of_mesh[blockIdx.x * 7 + v] = sum;
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
    const int *grid = problem.grid, pitch = (int)pitch_of(problem), in_block = problem.first[slot];
    const uint32_t block = (uint32_t)problem.keys[1][slot];
    const uint32_t across = (uint32_t)blocks_along(problem.grid[1]);
    const uint32_t along = (uint32_t)blocks_along(problem.grid[2]), in_row = block / along;
    const int first[3] = {(int)(in_row / across) * edge + (in_block & 255),
                          (int)(in_row % across) * edge + (in_block >> 8 & 255),
                          (int)(block % along) * edge + (in_block >> 16 & 255)};
    const int z = first[2] + lane < grid[2] ? first[2] + lane : first[2] + lane - grid[2];
    real of[3][2], y[order][2];
    int row[order]; /* where rows begin in a plane; a mesh has fewer than 2^31 reals */
    for (int c = 0; c < 3; c++) {
        const real t = ((const real *)problem.offset[c])[slot];
        of[c][0] = polynomial<real, order>(value, lane, t);
        of[c][1] = polynomial<real, order - 1>(slope, lane, t);
    }
#pragma unroll
    for (int j = 0; j < order; j++) {
        const int at_y = first[1] + j < grid[1] ? first[1] + j : first[1] + j - grid[1];
        row[j] = at_y * pitch + z;
        for (int k = 0; k < 2; k++)
            y[j][k] = __shfl_sync(all, of[1][k], j, lanes);
    }
    real whole = 0, along_x = 0, along_y = 0;
#pragma unroll 2
    for (int i = 0; i < order; i++) {
        const int x = first[0] + i < grid[0] ? first[0] + i : first[0] + i - grid[0];
        const real *plane = (const real *)problem.mesh + (int64_t)x * grid[1] * pitch;
        real in_plane = 0, of_y = 0;
#pragma unroll
        for (int j = 0; j < order; j++) {
            const real at = lane < order ? plane[row[j]] : (real)0;
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
        sums[k] = warp_sum(sums[k], lanes);
    if (own > last || lane >= 4)
        return;
    double sum = (double)sums[0];
    if (lane > 0) {
        sum = 0;
        for (int c = 0; c < 3; c++)
            sum += problem.lattice.inverse[lane - 1][c] * problem.grid[c] * (double)sums[1 + c];
    }
    problem.of_mesh[problem.order_of[1][slot]][lane] = sum;
}

using kernel = void(const struct pme_cuda_problem);

template <typename real> static kernel *find_gather(int32_t order)
{
    static kernel *const of_order[] = {gather<real, 4>, gather<real, 5>, gather<real, 6>,
                                       gather<real, 7>, gather<real, 8>};
    return of_order[order - pme_least_order];
}

template <typename real> static kernel *find_spread(int32_t order)
{
    static kernel *const of_order[] = {spread<real, 4>, spread<real, 5>, spread<real, 6>,
                                       spread<real, 7>, spread<real, 8>};
    return of_order[order - pme_least_order];
}

kith_status pme_cuda_fill_influence(kith_context *context, const struct pme_cuda_problem *problem)
{
    kernel *const fill =
        problem->mesh_dtype == KITH_F64 ? fill_influence<double> : fill_influence<float>;
    fill<<<blocks_for(wave_count(*problem)), threads, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("preparing the mesh");
}

kith_status pme_cuda_spread(const struct pme_cuda_problem *problem)
{
    kernel *const spread_all = problem->mesh_dtype == KITH_F64 ? find_spread<double>(problem->order)
                                                               : find_spread<float>(problem->order);
    const unsigned blocks = blocks_for(32 * pme_cuda_block_count(problem));
    spread_all<<<blocks, threads, 0, problem->stream>>>(*problem);
    return cuda_check_launch("spreading weights to the mesh");
}

kith_status pme_cuda_multiply(const struct pme_cuda_problem *problem)
{
    const bool is_double = problem->mesh_dtype == KITH_F64;
    if (!problem->delivery.wants_totals) {
        kernel *const multiply_all = is_double ? multiply<double, false> : multiply<float, false>;
        multiply_all<<<blocks_for(wave_count(*problem)), threads, 0, problem->stream>>>(*problem);
        return cuda_check_launch("multiplying waves");
    }
    kernel *const multiply_all = is_double ? multiply<double, true> : multiply<float, true>;
    multiply_all<<<pme_cuda_parts, threads, 0, problem->stream>>>(*problem);
    KITH_TRY(cuda_check_launch("multiplying waves"));
    return pme_cuda_add_parts(problem->stream, pme_cuda_parts, 7, problem->parts_of_mesh,
                              problem->totals + pme_cuda_waves);
}

kith_status pme_cuda_gather(const struct pme_cuda_problem *problem)
{
    kernel *const gather_all = problem->mesh_dtype == KITH_F64 ? find_gather<double>(problem->order)
                                                               : find_gather<float>(problem->order);
    gather_all<<<blocks_for(problem->count * lanes), threads, 0, problem->stream>>>(*problem);
    return cuda_check_launch("gathering from the mesh");
}
