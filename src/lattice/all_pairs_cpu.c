/* Every pair: with vectors, and by the maps of thread_maps.h. */

#include <stdatomic.h>
#include <stddef.h>

#include "core/status.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "lattice/collisions_kernel.h"
#include "lattice/cpu_methods.h"
#include "lattice/thread_maps.h"

/* Threads of one of the seed's blocks. */
enum { segment = 1024 };

/* Of a pair, with vectors and one by one. */
static const double seconds_of_vector_pair = 0.05e-9, seconds_of_pair = 1e-9;

struct run {
    const kith_context *context;
    int64_t n, segments;
    const uint64_t *site;
    int64_t (*count_task)(const struct run *run, int64_t task);
    const struct collisions_kernels *kernels;
    const void *keys; /* of the kernels: the sites, of 32 bits where that is enough */
    atomic_llong collisions;
};

static void do_task(void *argument, int64_t task)
{
    struct run *run = argument;
    atomic_fetch_add(&run->collisions, run->count_task(run, task));
}

static void shorten(int64_t n, const uint64_t *site, uint32_t *short_site)
{
    for (int64_t i = 0; i < n; i++)
        short_site[i] = (uint32_t)site[i];
}

/* Finds the sites and does all tasks. */
static kith_status run_tasks(kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, double seconds, int64_t tasks,
                             struct run *run, int64_t *count)
{
    const int64_t n = problem->count;
    uint64_t *site = NULL;
    KITH_TRY(cpu_scratch(context, n * (int64_t)(sizeof *site + sizeof(uint32_t)), (void **)&site));
    KITH_TRY(collisions_identify(context, problem, box, site));
    run->context = context;
    run->n = n;
    run->site = site;
    run->keys = site;
    const bool are_short = collisions_sites_are_short(problem, box);
    run->kernels = collisions_kernels_of(context, are_short ? KITH_I32 : KITH_I64);
    if (are_short) {
        uint32_t *short_site = (uint32_t *)(site + n);
        shorten(n, site, short_site);
        run->keys = short_site;
    }
    KITH_TRY(kith_for_each(context, kith_threads_for(context, seconds), tasks, do_task, run));
    *count = atomic_load(&run->collisions);
    return KITH_OK;
}

static double pairs_of(int64_t n)
{
    return 0.5 * (double)n * (double)n;
}

static int64_t count_targets(const struct run *run, int64_t task)
{
    return run->kernels->equal_pairs(run->keys, run->n, task * collisions_targets);
}

kith_status collisions_all_pairs_cpu(kith_context *context,
                                     const struct collisions_problem *problem,
                                     const struct collisions_box *box, int64_t *count)
{
    const int64_t n = problem->count;
    struct run run = {.count_task = count_targets};
    return run_tasks(context, problem, box, pairs_of(n) * seconds_of_vector_pair,
                     (n + collisions_targets - 1) / collisions_targets, &run, count);
}

/* Rows of a block of the seed's threads: begin … end − 1. */
static int64_t segment_begin(int64_t block)
{
    return block * segment;
}

static int64_t segment_end(const struct run *run, int64_t block)
{
    const int64_t end = (block + 1) * segment;
    return end < run->n ? end : run->n;
}

/* Whether row i is one of the block, which may take seconds, and the call was not cancelled. */
static bool has_next(const struct run *run, int64_t i, int64_t block)
{
    return i < segment_end(run, block) && !kith_context_stops(run->context);
}

static int64_t count_single_row(const struct run *run, int64_t block)
{
    int64_t collisions = 0;
    for (int64_t i = segment_begin(block); has_next(run, i, block); i++)
        for (int64_t step = 1; step <= collisions_n_steps(run->n, i); step++)
            collisions += run->site[i] == run->site[i + step];
    return collisions;
}

static int64_t count_multi_row(const struct run *run, int64_t block)
{
    const int64_t of_rows = block / run->segments, of_columns = block % run->segments;
    int64_t collisions = 0;
    for (int64_t i = segment_begin(of_rows); of_rows <= of_columns && i < segment_end(run, of_rows);
         i++) {
        const int64_t first = of_rows == of_columns ? i + 1 : segment_begin(of_columns);
        for (int64_t j = first; j < segment_end(run, of_columns); j++)
            collisions += run->site[i] == run->site[j];
    }
    return collisions;
}

static int64_t count_half_steps(const struct run *run, int64_t block)
{
    int64_t collisions = 0;
    for (int64_t i = segment_begin(block); has_next(run, i, block); i++)
        for (int64_t step = 1; step <= collisions_half_steps(run->n, i); step++)
            collisions += run->site[i] == run->site[collisions_on_ring(run->n, i, step)];
    return collisions;
}

static int64_t count_all_threads(const struct run *run, int64_t row)
{
    int64_t collisions = 0;
    for (int64_t thread = row * run->n; thread < (row + 1) * run->n; thread++) {
        const struct collisions_pair pair = collisions_all_threads(run->n, thread);
        collisions += pair.i < pair.j && run->site[pair.i] == run->site[pair.j];
    }
    return collisions;
}

/* The threads that would be a row of the matrix. */
static int64_t count_half_threads(const struct run *run, int64_t row)
{
    const int64_t threads = collisions_of(run->n), end = (row + 1) * run->n;
    int64_t collisions = 0;
    for (int64_t thread = row * run->n; thread < (end < threads ? end : threads); thread++) {
        const struct collisions_pair pair = collisions_half_threads(run->n, thread);
        collisions += run->site[pair.i] == run->site[pair.j];
    }
    return collisions;
}

static kith_status run_blocks(kith_context *context, const struct collisions_problem *problem,
                              const struct collisions_box *box, bool by_pairs_of_segments,
                              struct run *run, int64_t *count)
{
    run->segments = (problem->count + segment - 1) / segment;
    return run_tasks(context, problem, box, pairs_of(problem->count) * seconds_of_pair,
                     by_pairs_of_segments ? run->segments * run->segments : run->segments, run,
                     count);
}

kith_status collisions_n_steps_single_row_cpu(kith_context *context,
                                              const struct collisions_problem *problem,
                                              const struct collisions_box *box, int64_t *count)
{
    struct run run = {.count_task = count_single_row};
    return run_blocks(context, problem, box, false, &run, count);
}

kith_status collisions_n_steps_multi_row_cpu(kith_context *context,
                                             const struct collisions_problem *problem,
                                             const struct collisions_box *box, int64_t *count)
{
    struct run run = {.count_task = count_multi_row};
    return run_blocks(context, problem, box, true, &run, count);
}

kith_status collisions_half_steps_cpu(kith_context *context,
                                      const struct collisions_problem *problem,
                                      const struct collisions_box *box, int64_t *count)
{
    struct run run = {.count_task = count_half_steps};
    return run_blocks(context, problem, box, false, &run, count);
}

kith_status collisions_all_threads_cpu(kith_context *context,
                                       const struct collisions_problem *problem,
                                       const struct collisions_box *box, int64_t *count)
{
    struct run run = {.count_task = count_all_threads};
    return run_tasks(context, problem, box, 2 * pairs_of(problem->count) * seconds_of_pair,
                     problem->count, &run, count);
}

kith_status collisions_half_threads_cpu(kith_context *context,
                                        const struct collisions_problem *problem,
                                        const struct collisions_box *box, int64_t *count)
{
    struct run run = {.count_task = count_half_threads};
    return run_tasks(context, problem, box, pairs_of(problem->count) * seconds_of_pair,
                     (problem->count + 1) / 2, &run, count);
}
