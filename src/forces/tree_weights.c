/* The weights of trees in a unit: two passes over them. */

#include "forces/tree_weights.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/threads.h"
#include "forces/scale.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"

enum { weights_of_task = 1 << 13 };

/* Of one thread. */
static const double seconds_of_weight = 2e-9;

struct weighing {
    kith_dtype dtype;
    int64_t count;
    const void *weight;
    double *largest; /* of each task */
    double factor;
    void *scaled;
};

static int64_t tasks_for(int64_t count)
{
    return (count + weights_of_task - 1) / weights_of_task;
}

static void find_largest(void *argument, int64_t task)
{
    const struct weighing *run = argument;
    const int64_t begin = task * weights_of_task, left = run->count - begin;
    const int64_t end = begin + (left < weights_of_task ? left : weights_of_task);
    double largest = 0;
    for (int64_t i = begin; i < end; i++)
        largest = fmax(largest, fabs(real_get(run->dtype, run->weight, i)));
    run->largest[task] = largest;
}

static void scale(void *argument, int64_t task)
{
    const struct weighing *run = argument;
    const int64_t begin = task * weights_of_task, left = run->count - begin;
    const int64_t end = begin + (left < weights_of_task ? left : weights_of_task);
    for (int64_t i = begin; i < end; i++)
        real_set(run->dtype, run->scaled, i, run->factor * real_get(run->dtype, run->weight, i));
}

/* Of the weights that this process has. */
static kith_status find_largest_of_all(kith_context *context, int32_t threads, struct weighing *run,
                                       double *largest)
{
    const int64_t tasks = tasks_for(run->count);
    KITH_TRY(kith_allocate(tasks, sizeof *run->largest, "weights of a tree", &run->largest));
    const kith_status status = kith_for_each(context, threads, tasks, find_largest, run);
    for (int64_t k = 0; k < tasks; k++)
        *largest = fmax(*largest, run->largest[k]);
    free(run->largest);
    return status;
}

static kith_status reserve(int64_t bytes, struct forces_tree_weights *memory)
{
    if (bytes <= memory->bytes)
        return KITH_OK;
    free(memory->column);
    *memory = (struct forces_tree_weights){0};
    KITH_TRY(kith_allocate_unset(bytes, 1, "weights of a tree", &memory->column));
    memory->bytes = bytes;
    return KITH_OK;
}

/* Of all, or of this rank's slice. */
static int64_t weights_here(const kith_context *context, const struct tree_problem *problem)
{
    const struct ranks *ranks = context->ranks;
    const int64_t all = problem->source_count;
    return problem->is_slice ? ranks_first(all, ranks->size, ranks->rank + 1) -
                                   ranks_first(all, ranks->size, ranks->rank)
                             : all;
}

kith_status forces_scale_tree_weights(kith_context *context, const struct forces_tree_sums *sums,
                                      struct tree_problem *problem,
                                      struct forces_tree_weights *memory, double *unit)
{
    *unit = 1;
    if (!sums->problem->law || !problem->weight)
        return KITH_OK;
    const int64_t count = weights_here(context, problem);
    const int32_t threads = kith_threads_for(context, (double)count * seconds_of_weight);
    struct weighing run = {.dtype = problem->dtype, .count = count, .weight = problem->weight};
    double largest = 0;
    kith_status status = find_largest_of_all(context, threads, &run, &largest);
    ranks_maximum(context, &largest, 1);
    const int exponent = forces_packed_mass_exponent(largest);
    *unit = ldexp(1, exponent);
    if (status == KITH_OK && exponent != 0) {
        status = reserve(count * kith_dtype_bytes(problem->dtype), memory);
        problem->weight = run.scaled = memory->column;
        run.factor = ldexp(1, -exponent);
        if (status == KITH_OK)
            status = kith_for_each(context, threads, tasks_for(count), scale, &run);
    }
    return ranks_agree(context, status);
}
