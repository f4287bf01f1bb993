#ifndef SIMULATION_HERMITE_BLOCK_CUDA_CUH
#define SIMULATION_HERMITE_BLOCK_CUDA_CUH

/* A block step as it lies on the device, and its pairs: accelerations and jerks of some bodies by
 * all, which are predicted as they are loaded. A thread has a target, and the block's sources are
 * in shared memory; where targets are few, several threads share the sources of each. */

#include "forces/pair_cuda.cuh"
#include "simulation/blocks.h"
#include "simulation/blocks_plan.h"

enum {
    block_threads = blocks_threads,
    blocks_per_multiprocessor = 3,
    block_values = 6,  /* acceleration and jerk */
    source_columns = 8 /* x, v, mass, softening */
};

/* What changes from step to step, on the device. Each field is written by one kernel only, and read
 * by others. */
struct blocks_control {
    double until, pause; /* of the leg */
    int64_t most_steps;
    double time, previous_time, block_time; /* of the step: list_kernel */
    int64_t steps, body_steps, count;
    struct blocks_plan plan;
    bool has_ended;
    bool goes;                      /* a step is to be taken: ends_kernel */
    unsigned long long least, most; /* the bits of positive numbers: correct_kernel */
    unsigned long long stuck;       /* the first body, or ~0 */
};

struct blocks_device {
    const double *mass, *half_softening2; /* NULL: softening2 of all */
    double *array[BLOCK_KEPT][3];
    int64_t bodies;
    int32_t dimensions;
    double g, softening2, dt, eta, origin;
    int32_t grid; /* blocks of threads that the device has room for */
    int32_t segments;
    /* Scratch memory: a number for each segment or body, and sums [group][part][value][target]. */
    struct blocks_control *control;
    double *segment_end;
    int64_t *segment_count, *active;
    double *sums;
};

/* Body i at the time of the step. */
static __device__ void predict_body(const struct blocks_device &blocks, double time, int64_t i,
                                    double (&x)[3], double (&v)[3])
{
    const double s = (time - blocks.array[BLOCK_TIMES][0][i]) * blocks.dt;
    for (int c = 0; c < 3; c++) {
        x[c] = v[c] = 0;
        if (c >= blocks.dimensions)
            continue;
        const double start[4] = {
            blocks.array[BLOCK_START][c][i], blocks.array[BLOCK_START_VELOCITY][c][i],
            blocks.array[BLOCK_ACCELERATION][c][i], blocks.array[BLOCK_JERK][c][i]};
        blocks_predict(s, start, &x[c], &v[c]);
    }
}

/* Source j of a thread into its element of the tile; from end on one without mass. */
template <bool per_body>
static __device__ void load_source(const struct blocks_device &blocks, double time, int64_t j,
                                   int64_t end, double (&tile)[source_columns][block_threads])
{
    double x[3] = {}, v[3] = {};
    if (j < end)
        predict_body(blocks, time, j, x, v);
    for (int c = 0; c < 3; c++) {
        tile[c][threadIdx.x] = x[c];
        tile[3 + c][threadIdx.x] = v[c];
    }
    tile[6][threadIdx.x] = j < end ? blocks.mass[j] : 0;
    if (per_body)
        tile[7][threadIdx.x] = j < end ? blocks.half_softening2[j] : 0;
}

/* Adds the sums of the lanes of each target, which are `targets` threads apart, into those of the
 * first lane. */
static __device__ void add_lanes(int targets, double (&tile)[source_columns][block_threads],
                                 double (&value)[block_values])
{
    const int lanes = block_threads / targets, lane = (int)threadIdx.x / targets;
    if (lanes == 1)
        return;
    __syncthreads();
    for (int k = 0; k < block_values; k++)
        tile[k][threadIdx.x] = value[k];
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int k = 0; k < block_values && lane < half; k++) {
            value[k] += tile[k][threadIdx.x + half * targets];
            tile[k][threadIdx.x] = value[k];
        }
    }
}

/* The pairs of an item. Lanes of a target take the sources of a tile in turn. */
template <bool per_body>
static __device__ void sum_item(const struct blocks_device &blocks, int64_t item,
                                double (&tile)[source_columns][block_threads])
{
    const struct blocks_plan plan = blocks.control->plan;
    const double time = blocks.control->block_time;
    const int targets = plan.targets, lanes = block_threads / targets;
    const int lane = (int)threadIdx.x / targets, own = (int)threadIdx.x % targets;
    const int64_t slot = item / plan.parts * targets + own;
    const int64_t begin = item % plan.parts * plan.part_sources;
    const int64_t end = min(begin + plan.part_sources, blocks.bodies);
    double x[3] = {}, v[3] = {}, softening2 = blocks.softening2 + s2_floor<double>();
    if (slot < blocks.control->count) {
        const int64_t i = blocks.active[slot];
        predict_body(blocks, time, i, x, v);
        if (per_body)
            softening2 = blocks.half_softening2[i] + s2_floor<double>();
    }
    double sums[pair_values(forces_jerk)] = {};
    for (int64_t first = begin; first < end; first += block_threads) {
        __syncthreads();
        load_source<per_body>(blocks, time, first + threadIdx.x, end, tile);
        __syncthreads();
        const int some = (int)min((int64_t)block_threads, end - first);
#pragma unroll 4
        for (int k = lane; k < some; k += lanes) {
            const struct pair_body<double> source = {
                {tile[0][k], tile[1][k], tile[2][k]}, {tile[3][k], tile[4][k], tile[5][k]},
                    tile[6][k], 0
            };
            const double s2 = per_body ? softening2 + tile[7][k] : softening2;
            add_pair<double, forces_jerk>(x, v, s2, source, false, sums);
        }
    }
    double value[block_values] = {sums[0], sums[1], sums[2], sums[4], sums[5], sums[6]};
    add_lanes(targets, tile, value);
    if (lane == 0)
        for (int k = 0; k < block_values; k++)
            blocks.sums[(item * block_values + k) * targets + own] = value[k];
}

#endif
