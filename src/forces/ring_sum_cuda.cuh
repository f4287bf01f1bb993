#ifndef FORCES_RING_SUM_CUDA_CUH
#define FORCES_RING_SUM_CUDA_CUH

/* Adds what ring_kernel stored, in double and in an order that depends on the sizes alone. */

#include "forces/deliver_cuda.cuh"
#include "forces/ring_cuda.cuh"

enum { ring_sum_threads = 256, choose_form_threads = 1024 };

/* How the chunk that is summed stands among the chunks of the ring. */
struct ring_sum_place {
    int64_t blocks; /* that ring_kernel had */
    bool is_first, is_last;
};

/* Chooses the form for these masses. By one block. */
static __global__ void __launch_bounds__(choose_form_threads)
    choose_form(const struct forces_problem problem, enum ring_form *form)
{
    wait_for_kernel_before();
    bool serve = true;
#pragma unroll 8
    for (int64_t i = threadIdx.x; i < problem.target_count; i += choose_form_threads) {
        const float mass = ((const float *)problem.source_mass)[i];
        serve = serve & (mass >= least_mass_of_forces) & (mass < end_mass_of_forces);
    }
    serve = __syncthreads_and(serve);
    if (threadIdx.x == 0)
        *form = serve ? sums_are_forces : sums_are_accelerations;
}

/* A thread adds one value of one body. */
template <typename variant>
__global__ void __launch_bounds__(ring_sum_threads)
    ring_sum_kernel(const struct forces_problem problem, const struct ring_chunk chunk,
                    const struct ring_rows<typename variant::real> rows,
                    const struct ring_sum_place place, double *totals, const enum ring_form *form)
{
    wait_for_kernel_before();
    typedef typename variant::real real;
    const int64_t i = (int64_t)blockIdx.x * ring_sum_threads + threadIdx.x;
    const int value = blockIdx.y;
    if (i >= problem.target_count)
        return;
    const int64_t tile = i / variant::tile, row = variant::values * rows.padded;
    const int64_t column = value * rows.padded + i;
    double sum = place.is_first ? 0 : totals[column];

    const int64_t steps = ring_meetings(chunk) * variant::steps;
    const int64_t begin = ring_first_meeting(chunk, tile) * variant::steps;
    const int64_t end = ring_first_meeting(chunk, tile + 1) * variant::steps;
    if (begin < end) {
        const int64_t parts =
            share_of(steps, place.blocks, end - 1) - share_of(steps, place.blocks, begin) + 1;
#pragma unroll 8
        for (int64_t part = 0; part < parts; part++)
            sum += (double)rows.by_target[part * row + column];
    }

    const int64_t first = chunk.first_offset > 0 ? chunk.first_offset : 1;
    const int64_t end_visited = ring_end_visited(chunk, tile);
#pragma unroll 8
    for (int64_t offset = first; offset < end_visited; offset++)
        sum += (double)rows.by_source[(offset - chunk.first_offset) * row + column];

    if (!place.is_last)
        totals[column] = sum;
    else if (form && *form == sums_are_forces)
        deliver<real>(problem, i, value, sum / (double)((const real *)problem.source_mass)[i]);
    else
        deliver<real>(problem, i, value, sum);
}

#endif
