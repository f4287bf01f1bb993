#ifndef FORCES_RING_SUM_CUDA_CUH
#define FORCES_RING_SUM_CUDA_CUH

/* Adds what ring_kernel stored, in double and in an order that depends on the sizes alone. */

#include "forces/ring_cuda.cuh"

enum { ring_sum_threads = 256 };

/* As many blocks inspect the masses as the kernels that choose by it have threads, at most. */
enum { choice_threads = 1024, most_choice_blocks = 64 };

/* The position of the chunk that is summed among the chunks of its group. */
struct ring_sum_place {
    int64_t blocks; /* that ring_kernel had */
    bool is_first, is_last;
    double
        *group; /* for the sums of the group; NULL: it is the only one, and these are the result */
};

/* Whether all masses allow sums of forces. */
template <typename pair>
__global__ void __launch_bounds__(choice_threads)
    inspect_masses(const typename pair::problem problem, const struct ring_choice choice)
{
    wait_for_kernel_before();
    if (!is_needed(choice))
        return;
    bool serve = true;
    const int64_t first = (int64_t)blockIdx.x * choice_threads + threadIdx.x;
#pragma unroll 8
    for (int64_t i = first; i < problem.target_count; i += choice_threads * choice.blocks)
        serve = serve & pair::serves(problem, i);
    serve = __syncthreads_and(serve);
    if (threadIdx.x == 0)
        choice.serve[blockIdx.x] = serve;
}

/* Blocks that had a share in a tile's steps. */
__device__ inline int64_t parts_of_tile(struct ring_chunk chunk, int64_t steps, int64_t blocks,
                                        int64_t tile)
{
    const int64_t begin = ring_first_meeting(chunk, tile) * steps;
    const int64_t end = ring_first_meeting(chunk, tile + 1) * steps;
    return begin < end ? ring_share_of(chunk, steps, blocks, end - 1) -
                             ring_share_of(chunk, steps, blocks, begin) + 1
                       : 0;
}

/* A thread adds one value of one body. */
template <typename variant>
__global__ void __launch_bounds__(ring_sum_threads)
    ring_sum_kernel(const typename variant::pair::problem problem, const struct ring_chunk chunk,
                    const struct ring_rows<typename variant::real> rows,
                    const struct ring_sum_place place, double *totals,
                    const struct ring_choice choice)
{
    wait_for_kernel_before();
    if (!is_needed(choice))
        return;
    static_assert(variant::tile % ring_sum_threads == 0, "a block's bodies are of one tile");
    __shared__ int64_t parts;
    const int64_t first_body = (int64_t)blockIdx.x * ring_sum_threads, i = first_body + threadIdx.x;
    const int value = blockIdx.y;
    const int64_t tile = first_body / variant::tile, row = variant::values * rows.padded;
    if (threadIdx.x == 0)
        parts = parts_of_tile(chunk, variant::steps, place.blocks, tile);
    const enum ring_form form = chosen_form(choice);
    if (i >= problem.target_count)
        return;
    const int64_t column = value * rows.padded + i;
    double sum = place.is_first ? 0 : totals[column];

#pragma unroll 8
    for (int64_t part = 0; part < parts; part++)
        sum += rows.by_target[part * row + column];

    const int64_t first = chunk.first_offset > 0 ? chunk.first_offset : 1;
    const int64_t end_visited = ring_end_visited(chunk, tile);
#pragma unroll 8
    for (int64_t offset = first; offset < end_visited; offset++)
        sum += (double)rows.by_source[(offset - chunk.first_offset) * row + column];

    if (!place.is_last)
        totals[column] = sum;
    else if (place.group)
        place.group[column] = sum;
    else
        variant::pair::result(problem, i, value, sum, choice.blocks > 0 && form == sums_are_forces);
}

/* Adds the sums of groups, which are rows as those of targets. */
template <typename variant>
__global__ void __launch_bounds__(ring_sum_threads)
    ring_groups_kernel(const typename variant::pair::problem problem, const double *sums,
                       int64_t groups, int64_t padded, const struct ring_choice choice)
{
    if (!is_needed(choice))
        return;
    const int64_t i = (int64_t)blockIdx.x * ring_sum_threads + threadIdx.x;
    const int value = blockIdx.y;
    const enum ring_form form = chosen_form(choice);
    if (i >= problem.target_count)
        return;
    double sum = 0;
    for (int64_t group = 0; group < groups; group++)
        sum += sums[(group * variant::values + value) * padded + i];
    variant::pair::result(problem, i, value, sum, choice.blocks > 0 && form == sums_are_forces);
}

#endif
