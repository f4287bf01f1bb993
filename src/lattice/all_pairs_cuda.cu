/* Every pair on a GPU: launches of all_pairs_cuda.cuh. */

#include "lattice/all_pairs_cuda.cuh"

#include "lattice/cuda_methods.h"

/* The keys, and how the seed's blocks share the beads. */
struct launch {
    struct pair_keys keys;
    unsigned segments;
    cudaStream_t stream;
};

static kith_status prepare(kith_context *context, const struct collisions_problem *problem,
                           struct counting *counting, struct launch *launch)
{
    const int multiprocessors = cuda_multiprocessors(context);
    const int64_t room = problem->count + segment;
    uint32_t *key = NULL;
    KITH_TRY(cuda_scratch(context, room * (int64_t)sizeof *key, (void **)&key));
    launch->stream = cuda_stream(context);
    launch->keys = {*problem, key, counting};
    launch->segments = (unsigned)((problem->count + segment - 1) / segment);
    KITH_TRY(start_counting(context, *problem, counting));
    const unsigned blocks = lattice_blocks(multiprocessors, room, lattice_block);
    if (problem->dtype == KITH_I32)
        make_keys<int32_t>
            <<<blocks, lattice_block, 0, launch->stream>>>(*problem, counting, key, room);
    else
        make_keys<int64_t>
            <<<blocks, lattice_block, 0, launch->stream>>>(*problem, counting, key, room);
    return KITH_OK;
}

static kith_status finish(void)
{
    return cuda_check_launch("comparing all pairs of beads");
}

kith_status collisions_n_steps_single_row_cuda(kith_context *context,
                                               const struct collisions_problem *problem,
                                               struct counting *counting)
{
    struct launch launch;
    KITH_TRY(prepare(context, problem, counting, &launch));
    n_steps_single_row<<<launch.segments, segment, 0, launch.stream>>>(launch.keys);
    return finish();
}

kith_status collisions_half_steps_cuda(kith_context *context,
                                       const struct collisions_problem *problem,
                                       struct counting *counting)
{
    struct launch launch;
    KITH_TRY(prepare(context, problem, counting, &launch));
    half_steps_single_row<<<launch.segments, segment, 0, launch.stream>>>(launch.keys);
    return finish();
}

kith_status collisions_n_steps_multi_row_cuda(kith_context *context,
                                              const struct collisions_problem *problem,
                                              struct counting *counting)
{
    struct launch launch;
    KITH_TRY(prepare(context, problem, counting, &launch));
    for (unsigned row = 0; row < launch.segments; row += most_rows) {
        const unsigned left = launch.segments - row;
        const dim3 grid(launch.segments, left < most_rows ? left : most_rows);
        n_steps_multi_row<<<grid, segment, 0, launch.stream>>>(launch.keys, row);
    }
    return finish();
}

/* Of which twice as many have numbers of 32 bits. */
static constexpr int64_t most_of_32_bits = (int64_t)1 << 30;

kith_status collisions_all_threads_cuda(kith_context *context,
                                        const struct collisions_problem *problem,
                                        struct counting *counting)
{
    struct launch launch;
    KITH_TRY(prepare(context, problem, counting, &launch));
    void (*const kernel)(const struct pair_keys, int64_t) = problem->count <= most_of_32_bits
                                                                ? single_steps_all_threads<uint32_t>
                                                                : single_steps_all_threads<int64_t>;
    const int64_t squares = (problem->count + square - 1) / square;
    const int64_t rows = (problem->count + square_rows - 1) / square_rows;
    for (int64_t row = 0; row < rows; row += most_rows) {
        const int64_t left = rows - row;
        const dim3 grid((unsigned)squares, left < most_rows ? (unsigned)left : most_rows);
        kernel<<<grid, dim3(square, square_rows), 0, launch.stream>>>(launch.keys, row);
    }
    return finish();
}

kith_status collisions_half_threads_cuda(kith_context *context,
                                         const struct collisions_problem *problem,
                                         struct counting *counting)
{
    struct launch launch;
    KITH_TRY(prepare(context, problem, counting, &launch));
    void (*const kernel)(const struct pair_keys, int64_t, double) =
        problem->count <= most_of_32_bits ? single_steps_half_threads<uint32_t>
                                          : single_steps_half_threads<int64_t>;
    const int64_t most_blocks = 1 << 30;
    const int64_t blocks = (collisions_of(problem->count) + half_block - 1) / half_block;
    for (int64_t first = 0; first < blocks; first += most_blocks) {
        const int64_t left = blocks - first;
        kernel<<<(unsigned)(left < most_blocks ? left : most_blocks), half_block, 0,
                 launch.stream>>>(launch.keys, first * half_block, 1.0 / (double)problem->count);
    }
    return finish();
}

/* Beads of a thread, and threads of a block. Measured on an H200, 262 144 beads, 10^12 pairs a
 * second: 8 and 128 8.0; 4 and 128 7.4; 4 and 256 7.6; 16 and 128 7.6. */
enum { ring_targets = 8, ring_threads = 128 };

kith_status collisions_all_pairs_cuda(kith_context *context,
                                      const struct collisions_problem *problem,
                                      struct counting *counting)
{
    struct launch launch;
    KITH_TRY(prepare(context, problem, counting, &launch));
    const int64_t tile = ring_targets * ring_threads;
    const int64_t tiles = (problem->count + tile - 1) / tile;
    const int64_t wanted = (int64_t)cuda_multiprocessors(context) * 512;
    int64_t steps = 1;
    while (tiles * (tiles / 2 + 1) / steps > wanted && steps < 8)
        steps *= 2;
    const dim3 grid((unsigned)tiles, (unsigned)((tiles / 2 + steps) / steps));
    ring_of_tiles<ring_targets, ring_threads>
        <<<grid, ring_threads, 0, launch.stream>>>(launch.keys, tiles, steps);
    return finish();
}
