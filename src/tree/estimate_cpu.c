/* The error of a solution, from a few targets. */

#include "tree/estimate.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/threads.h"
#include "tree/solve.h"

enum { sources_of_task = 1 << 13 };

/* Of one thread, a pair. */
static const double seconds_of_pair = 0.3e-9;

/* Columns of the samples: positions, and what a task finds. */
struct columns {
    double x[3][tree_samples], softening2[tree_samples], gradient[3][tree_samples],
        potential[tree_samples];
};

struct estimate_run {
    const struct tree_expansions *expansions;
    const struct tree_near_kernels *near;
    const struct octree *sources;
    double softening2;
    int64_t samples, real;
    struct columns at; /* positions, in the problem's precision */
    struct columns *of_task;
};

/* The sources of a task; a column of the samples has room for either precision. */
static void sum_task(void *argument, int64_t task)
{
    const struct estimate_run *run = argument;
    const struct octree *tree = run->sources;
    const int64_t first = task * sources_of_task, left = tree->count - first;
    const int64_t count = left < sources_of_task ? left : sources_of_task;
    const int64_t vector = run->near->bytes / run->real, offset = first * run->real;
    struct columns *to = &run->of_task[task];
    const char *weight = (const char *)tree->weight + offset;
    struct tree_near near = {.targets = run->samples,
                             .sources_padded = (count + vector - 1) / vector * vector,
                             .law = run->expansions->expansion.law,
                             .softening2 = run->softening2,
                             .weight = weight,
                             .potential = to->potential};
    const void *of_point = run->expansions->softenings[1]->of_point;
    if (of_point) {
        near.target_softening2 = run->at.softening2;
        near.source_softening2 = (const char *)of_point + offset;
    }
    struct tree_near_law by_law = run->expansions->near;
    by_law.targets = run->samples;
    by_law.sources = count;
    by_law.weight = weight;
    by_law.potential = to->potential;
    for (int32_t c = 0; c < 3; c++) {
        near.target[c] = by_law.target[c] = run->at.x[c];
        near.source[c] = by_law.source[c] = (const char *)tree->position[c] + offset;
        near.gradient[c] = by_law.gradient[c] = to->gradient[c];
    }
    if (run->expansions->near_law)
        run->expansions->near_law(&by_law);
    else
        (run->real == sizeof(double) ? run->near->in_double : run->near->in_float)(&near);
}

static double compare(const struct estimate_run *run, const struct tree_sides *targets,
                      int64_t tasks, const struct tree_state *state)
{
    const struct octree *tree = targets->tree;
    double errors2 = 0;
    for (int64_t k = 0; k < run->samples; k++) {
        const int64_t i = tree_sample(k, run->samples, tree->count);
        double found[3], exact[3] = {0, 0, 0};
        for (int32_t c = 0; c < 3; c++) {
            found[c] = real_get(tree->dtype, state->gradient[c], i);
            for (int64_t task = 0; task < tasks; task++)
                exact[c] += real_get(tree->dtype, run->of_task[task].gradient[c], k);
        }
        errors2 += tree_error2(found, exact, targets->side[tree_leaf_of(tree->cell, i)].field);
    }
    return tree_estimate(errors2, run->samples);
}

kith_status tree_estimate_cpu(kith_context *context, const struct tree_problem *problem,
                              const struct tree_sides *targets,
                              const struct tree_expansions *expansions,
                              const struct tree_state *state, double *error)
{
    const struct octree *tree = targets->tree, *sources = &state->sources;
    const int64_t tasks = (sources->count + sources_of_task - 1) / sources_of_task;
    struct estimate_run run = {.expansions = expansions,
                               .near = tree_near_kernels_of(context),
                               .sources = sources,
                               .softening2 = problem->softening2,
                               .samples = tree->count < tree_samples ? tree->count : tree_samples,
                               .real = kith_dtype_bytes(problem->dtype)};
    KITH_TRY(kith_allocate(tasks, sizeof *run.of_task, "the error of a tree", &run.of_task));
    for (int64_t k = 0; k < run.samples; k++)
        for (int32_t c = 0; c < 3; c++)
            real_set(
                tree->dtype, run.at.x[c], k,
                real_get(tree->dtype, tree->position[c], tree_sample(k, run.samples, tree->count)));
    const void *of_point = expansions->softenings[0]->of_point;
    for (int64_t k = 0; k < run.samples && of_point; k++)
        real_set(tree->dtype, run.at.softening2, k,
                 real_get(tree->dtype, of_point, tree_sample(k, run.samples, tree->count)));
    const double seconds = seconds_of_pair * (double)run.samples * (double)sources->count;
    const kith_status status =
        kith_for_each(context, kith_threads_for(context, seconds), tasks, sum_task, &run);
    if (status == KITH_OK)
        *error = compare(&run, targets, tasks, state);
    free(run.of_task);
    return status;
}
