/* The error of a solution, from a few targets. */

#include "tree/estimate.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/threads.h"
#include "ranks/ranks.h"
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

/* The gradient at sample k. */
static void add_tasks(const struct estimate_run *run, int64_t tasks, int64_t k, double exact[3])
{
    for (int32_t c = 0; c < 3; c++) {
        exact[c] = 0;
        for (int64_t task = 0; task < tasks; task++)
            exact[c] += real_get(run->sources->dtype, run->of_task[task].gradient[c], k);
    }
}

static double compare(const struct estimate_run *run, const struct tree_sides *targets,
                      int64_t tasks, const struct tree_state *state)
{
    const struct octree *tree = targets->tree;
    double errors2 = 0;
    for (int64_t k = 0; k < run->samples; k++) {
        const int64_t i = tree_sample(k, run->samples, tree->count);
        double found[3], exact[3];
        add_tasks(run, tasks, k, exact);
        for (int32_t c = 0; c < 3; c++)
            found[c] = real_get(tree->dtype, state->gradient[c], i);
        errors2 += tree_error2(found, exact, targets->side[tree_leaf_of(tree->cell, i)].field);
    }
    return tree_estimate(errors2, run->samples);
}

static int64_t tasks_of(const struct estimate_run *run)
{
    return (run->sources->count + sources_of_task - 1) / sources_of_task;
}

/* The sums of all sources at the samples. */
static kith_status sum_sources(kith_context *context, struct estimate_run *run)
{
    const double seconds = seconds_of_pair * (double)run->samples * (double)run->sources->count;
    KITH_TRY(
        kith_allocate(tasks_of(run), sizeof *run->of_task, "the error of a tree", &run->of_task));
    return kith_for_each(context, kith_threads_for(context, seconds), tasks_of(run), sum_task, run);
}

kith_status tree_estimate_cpu(kith_context *context, const struct tree_problem *problem,
                              const struct tree_sides *targets,
                              const struct tree_expansions *expansions,
                              const struct tree_state *state, double *error)
{
    const struct octree *tree = targets->tree, *sources = &state->sources;
    struct estimate_run run = {.expansions = expansions,
                               .near = tree_near_kernels_of(context),
                               .sources = sources,
                               .softening2 = problem->softening2,
                               .samples = tree->count < tree_samples ? tree->count : tree_samples,
                               .real = kith_dtype_bytes(problem->dtype)};
    for (int64_t k = 0; k < run.samples; k++)
        for (int32_t c = 0; c < 3; c++)
            real_set(
                tree->dtype, run.at.x[c], k,
                real_get(tree->dtype, tree->position[c], tree_sample(k, run.samples, tree->count)));
    const void *of_point = expansions->softenings[0]->of_point;
    for (int64_t k = 0; k < run.samples && of_point; k++)
        real_set(tree->dtype, run.at.softening2, k,
                 real_get(tree->dtype, of_point, tree_sample(k, run.samples, tree->count)));
    const kith_status status = sum_sources(context, &run);
    if (status == KITH_OK)
        *error = compare(&run, targets, tasks_of(&run), state);
    free(run.of_task);
    return status;
}

/* A sample, of which its rank knows all but the exact gradient; sums of other ranks. */
struct sample {
    double x[3], half_softening2, found[3], field;
};
struct sample_sum {
    double exact[3];
};

/* Collective: every sample comes to all. */
static void share_samples(const struct tree_essential *essential, /* of the targets */
                          const struct tree_state *state, int64_t samples, struct sample *sample)
{
    const struct tree_division *division = essential->division;
    struct ranks *ranks = division->context->ranks;
    const struct octree *own = &essential->own;
    int64_t rank = 0;
    ranks->first[0] = 0;
    for (int64_t k = 0; k < samples; k++) {
        const int64_t i = tree_sample(k, samples, division->points);
        while (i >= division->point[rank + 1])
            ranks->first[++rank] = k;
        if (rank != ranks->rank)
            continue;
        const int64_t here = i - division->point[rank];
        const int32_t branch = tree_leaf_of(division->cell, i);
        for (int32_t c = 0; c < 3; c++) {
            sample[k].x[c] = real_get(own->dtype, own->position[c], here);
            sample[k].found[c] = real_get(own->dtype, state->gradient[c], here);
        }
        if (essential->softenings.of_point)
            sample[k].half_softening2 = real_get(own->dtype, essential->softenings.of_point, here);
        sample[k].field = essential->side[tree_leaf_below(own->cell, branch, here)].field;
    }
    while (rank < ranks->size)
        ranks->first[++rank] = samples;
    ranks_gather_parts(division->context, sample, sizeof *sample, ranks->first);
}

static double compare_ranks(const struct ranks *ranks, int64_t samples, const struct sample *sample,
                            const struct sample_sum *sums)
{
    double errors2 = 0;
    for (int64_t k = 0; k < samples; k++) {
        double exact[3] = {0, 0, 0};
        for (int32_t rank = 0; rank < ranks->size; rank++)
            for (int32_t c = 0; c < 3; c++)
                exact[c] += sums[rank * tree_samples + k].exact[c];
        errors2 += tree_error2(sample[k].found, exact, sample[k].field);
    }
    return tree_estimate(errors2, samples);
}

kith_status tree_estimate_ranks(kith_context *context, const struct tree_problem *problem,
                                const struct tree_essential *of_targets,
                                const struct tree_essential *of_sources,
                                const struct tree_expansions *expansions,
                                const struct tree_state *state, double *error)
{
    const int64_t points = of_targets->division->points;
    struct ranks *ranks = context->ranks;
    struct estimate_run run = {.expansions = expansions,
                               .near = tree_near_kernels_of(context),
                               .sources = &of_sources->own,
                               .softening2 = problem->softening2,
                               .samples = points < tree_samples ? points : tree_samples,
                               .real = kith_dtype_bytes(problem->dtype)};
    struct sample sample[tree_samples] = {0};
    struct sample_sum *sums = NULL;
    share_samples(of_targets, state, run.samples, sample);
    for (int64_t k = 0; k < run.samples; k++) {
        for (int32_t c = 0; c < 3; c++)
            real_set(problem->dtype, run.at.x[c], k, sample[k].x[c]);
        real_set(problem->dtype, run.at.softening2, k, sample[k].half_softening2);
    }
    kith_status status = sum_sources(context, &run);
    if (status == KITH_OK)
        status = kith_allocate((int64_t)ranks->size * tree_samples, sizeof *sums,
                               "the error of a tree", &sums);
    status = ranks_agree(context, status);
    for (int64_t k = 0; k < run.samples && status == KITH_OK && sums; k++)
        add_tasks(&run, tasks_of(&run), k, sums[ranks->rank * tree_samples + k].exact);
    if (status == KITH_OK) {
        for (int32_t rank = 0; rank <= ranks->size; rank++)
            ranks->first[rank] = rank;
        ranks_gather_parts(context, sums, tree_samples * (int64_t)sizeof *sums, ranks->first);
        *error = compare_ranks(ranks, run.samples, sample, sums);
    }
    free(sums);
    free(run.of_task);
    return status;
}
