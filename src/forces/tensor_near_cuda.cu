/* Gravity between near tiles (tensor_cuda.cuh), one-sided. Half of a block's warps have
 * half of a tile's targets, four in each lane, and divide the sources of each near tile. */

#include "core/roots_cuda.cuh"
#include "core/status.h"
#include "forces/tensor_cuda.cuh"

constexpr int warps = tensor_tile / 32, threads = warps * 32;
constexpr int targets = 4, target_warps = tensor_tile / (targets * 32);
constexpr int shares = warps / target_warps, share = tensor_tile / shares; /* of the sources */
/* A float sum goes over this many tiles' sources at most, and such sums are added in double: after
 * a close pair, what is far and added later would be lost bit by bit. */
constexpr int flush_tiles = 4;
static_assert(threads == tensor_tile, "a thread loads a source");

struct near_targets {
    float x[targets], y[targets], z[targets];
    float sum[targets][3];
    double before[targets][3];
};

static __device__ inline void meet(struct near_targets *to, const float4 &source, float softening2)
{
#pragma unroll
    for (int k = 0; k < targets; k++) {
        const float dx = source.x - to->x[k], dy = source.y - to->y[k], dz = source.z - to->z[k];
        const float s2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, softening2)));
        const float weight = source.w * inverse_cube(s2);
        to->sum[k][0] = fmaf(weight, dx, to->sum[k][0]);
        to->sum[k][1] = fmaf(weight, dy, to->sum[k][1]);
        to->sum[k][2] = fmaf(weight, dz, to->sum[k][2]);
    }
}

static __device__ inline void put_aside(struct near_targets *to)
{
#pragma unroll
    for (int k = 0; k < targets; k++)
        for (int c = 0; c < 3; c++) {
            to->before[k][c] += (double)to->sum[k][c];
            to->sum[k][c] = 0;
        }
}

/* The sources of the near tiles on the list. */
static __device__ inline void visit(const struct tensor_bodies &bodies, const int *list, int count,
                                    float softening2, float4 (&source)[2][threads],
                                    struct near_targets *to)
{
    const int first = threadIdx.x / 32 / target_warps * share;
    float4 next = {};
    if (count > 0)
        next = bodies.body[(int64_t)list[0] * tensor_tile + threadIdx.x];
    for (int k = 0; k < count; k++) {
        source[k % 2][threadIdx.x] = next;
        __syncthreads();
        if (k + 1 < count)
            next = bodies.body[(int64_t)list[k + 1] * tensor_tile + threadIdx.x];
#pragma unroll 8
        for (int j = 0; j < share; j++)
            meet(to, source[k % 2][first + j], softening2);
        if (k % flush_tiles == flush_tiles - 1)
            put_aside(to);
    }
    put_aside(to);
}

/* Adds the sums of the warps. */
static __device__ inline void store(const struct tensor_bodies &bodies,
                                    const struct near_targets &from)
{
    __shared__ double sums[shares][tensor_tile];
    const int w = threadIdx.x / 32, first = w % target_warps * targets * 32 + threadIdx.x % 32;
    for (int c = 0; c < 3; c++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < targets; k++)
            sums[w / target_warps][first + k * 32] = from.before[k][c];
        __syncthreads();
        double sum = 0;
        for (int other = 0; other < shares; other++)
            sum += sums[other][threadIdx.x];
        bodies.near_sum[((int64_t)blockIdx.x * 3 + c) * tensor_tile + threadIdx.x] = sum;
    }
}

static __global__ void __launch_bounds__(threads, 2)
    near_kernel(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    __shared__ float4 source[2][threads];
    __shared__ int list[threads], counts[warps];
    const struct tensor_box own = bodies.box[blockIdx.x];
    const float softening2 = tensor_softening2(problem) + s2_floor<float>();
    struct near_targets to = {};
#pragma unroll
    for (int k = 0; k < targets; k++) {
        const int first = threadIdx.x / 32 % target_warps * targets * 32 + threadIdx.x % 32;
        const float4 body = bodies.body[(int64_t)blockIdx.x * tensor_tile + first + k * 32];
        to.x[k] = body.x;
        to.y[k] = body.y;
        to.z[k] = body.z;
    }
    for (int64_t first = 0; first < bodies.tiles; first += threads) {
        const int64_t partner = first + threadIdx.x;
        float gap2;
        int count;
        const bool is_near =
            partner < bodies.tiles && !tensor_is_far(own, bodies.box[partner], gap2);
        const int place = tensor_place<warps>(is_near, counts, &count);
        if (is_near)
            list[place] = (int)partner;
        __syncthreads();
        visit(bodies, list, count, softening2, source, &to);
    }
    store(bodies, to);
}

kith_status tensor_near(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies)
{
    near_kernel<<<(unsigned)bodies->tiles, threads, 0, cuda_stream(context)>>>(*problem, *bodies);
    return cuda_check_launch("starting the kernel of near forces");
}
