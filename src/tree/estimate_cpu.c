/* The error of a solution, from a few targets. */

#include "tree/estimate.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/threads.h"
#include "ranks/ranks.h"
#include "tree/solve.h"

enum { sources_of_task = 1 << 12 };
_Static_assert((int)tree_samples_of_inverse >= (int)tree_strata, "each stratum has a sample");

/* Of one thread, a pair. */
static const double seconds_of_pair = 0.3e-9;

/* Columns of the samples: positions, and what a task finds. */
struct columns {
    double x[3][tree_samples], softening2[tree_samples], gradient[3][tree_samples],
        potential[tree_samples], magnitude[tree_samples];
};

static void count_strata(const struct tree_state *state, int64_t targets,
                         unsigned long long count[tree_strata])
{
    memset(count, 0, tree_strata * sizeof *count);
    for (int64_t i = 0; i < targets; i++)
        count[state->stratum[i]]++;
}

/* Where the samples are among `targets` targets of a part, before which there are this many of each
 * stratum; −1 for those that are elsewhere. */
static void place_samples(const struct tree_sampling *of, const struct tree_state *state,
                          int64_t targets, const int64_t before[tree_strata],
                          int64_t place[tree_samples])
{
    int64_t next[tree_strata], k[tree_strata] = {0}, found[tree_strata];
    for (int64_t j = 0; j < tree_samples; j++)
        place[j] = -1;
    for (int32_t l = 0; l < tree_strata; l++) {
        const int64_t samples = of->samples_of[l], all = of->targets_of[l];
        found[l] = before[l];
        while (k[l] < samples && tree_sample(k[l], samples, all) < before[l])
            k[l]++;
        next[l] = k[l] < samples ? tree_sample(k[l], samples, all) : -1;
    }
    for (int64_t i = 0; i < targets; i++) {
        const int32_t l = state->stratum[i];
        if (found[l]++ != next[l])
            continue;
        place[of->first_of[l] + k[l]++] = i;
        const int64_t samples = of->samples_of[l];
        next[l] = k[l] < samples ? tree_sample(k[l], samples, of->targets_of[l]) : -1;
    }
}

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
    const int64_t vector = run->near->lanes, offset = first * run->real;
    struct columns *to = &run->of_task[task];
    const char *weight = (const char *)tree->weight + offset;
    struct tree_near near = {.targets = run->samples,
                             .sources_padded = (count + vector - 1) / vector * vector,
                             .law = run->expansions->expansion.law,
                             .softening2 = run->softening2,
                             .absolute = true,
                             .weight = weight,
                             .potential = to->magnitude};
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
    by_law.magnitude = to->magnitude;
    for (int32_t c = 0; c < 3; c++) {
        near.target[c] = by_law.target[c] = run->at.x[c];
        near.source[c] = by_law.source[c] = (const char *)tree->position[c] + offset;
        near.gradient[c] = by_law.gradient[c] = to->gradient[c];
    }
    if (run->expansions->near_law)
        run->expansions->near_law(&by_law);
    else
        run->near->sum(&near);
}

/* What the sources, or those of a rank, sum up to at a sample. */
struct sample_sum {
    double exact[3], magnitude;
};

static struct sample_sum add_tasks(const struct estimate_run *run, int64_t tasks, int64_t k)
{
    const kith_dtype dtype = run->sources->dtype;
    struct sample_sum sum = {{0}, 0};
    for (int64_t task = 0; task < tasks; task++) {
        for (int32_t c = 0; c < 3; c++)
            sum.exact[c] += real_get(dtype, run->of_task[task].gradient[c], k);
        sum.magnitude += real_get(dtype, run->of_task[task].magnitude, k);
    }
    return sum;
}

static double compare(const struct estimate_run *run, const struct octree *tree, int64_t tasks,
                      const struct tree_state *state, const struct tree_sampling *sampling,
                      const int64_t *place)
{
    double errors2 = 0;
    for (int64_t k = 0; k < run->samples; k++) {
        const int64_t i = place[k];
        const struct sample_sum sum = add_tasks(run, tasks, k);
        double found[3];
        for (int32_t c = 0; c < 3; c++)
            found[c] = real_get(tree->dtype, state->gradient[c], i);
        errors2 += tree_part(sampling, (int32_t)k) *
                   tree_error2(tree->dtype, found, sum.exact, 0.1 * sum.magnitude);
    }
    return tree_estimate(errors2, sampling->targets);
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
    const int64_t before[tree_strata] = {0};
    unsigned long long count[tree_strata];
    int64_t place[tree_samples];
    count_strata(state, tree->count, count);
    struct tree_sampling sampling;
    tree_make_sampling(count, tree_samples_for(expansions->expansion.law), &sampling);
    struct estimate_run run = {.expansions = expansions,
                               .near = tree_near_kernels_of(context, problem->dtype),
                               .sources = sources,
                               .softening2 = problem->softening2,
                               .samples = sampling.samples,
                               .real = kith_dtype_bytes(problem->dtype)};
    place_samples(&sampling, state, tree->count, before, place);
    for (int64_t k = 0; k < run.samples; k++)
        for (int32_t c = 0; c < 3; c++)
            real_set(tree->dtype, run.at.x[c], k,
                     real_get(tree->dtype, tree->position[c], place[k]));
    const void *of_point = expansions->softenings[0]->of_point;
    for (int64_t k = 0; k < run.samples && of_point; k++)
        real_set(tree->dtype, run.at.softening2, k, real_get(tree->dtype, of_point, place[k]));
    const kith_status status = sum_sources(context, &run);
    if (status == KITH_OK)
        *error = compare(&run, tree, tasks_of(&run), state, &sampling, place);
    free(run.of_task);
    return status;
}

/* A sample, of which its rank knows all but the exact gradient. */
struct sample {
    double x[3], half_softening2, found[3];
};

/* What a rank adds to the counts of the strata of those before it. */
struct turn {
    unsigned long long own[tree_strata];
    int64_t before[tree_strata];
};

static void take_turn(void *argument, void *state)
{
    struct turn *turn = argument;
    int64_t *count = state;
    for (int32_t k = 0; k < tree_strata; k++) {
        turn->before[k] = count[k];
        count[k] += (int64_t)turn->own[k];
    }
}

/* Collective: every sample comes to all. A rank has zeros for those of others. */
static void share_samples(const struct tree_essential *essential, /* of the targets */
                          const struct tree_expansions *expansions, const struct tree_state *state,
                          struct tree_sampling *sampling, struct sample sample[tree_samples])
{
    const struct tree_division *division = essential->division;
    const struct ranks *ranks = division->context->ranks;
    const struct octree *own = &essential->own;
    const int64_t here = division->point[ranks->rank + 1] - division->point[ranks->rank];
    unsigned long long count[tree_strata];
    int64_t place[tree_samples], all[tree_strata] = {0};
    struct turn turn;
    count_strata(state, here, turn.own);
    memcpy(count, turn.own, sizeof count);
    ranks_add(division->context, count, tree_strata);
    tree_make_sampling(count, tree_samples_for(expansions->expansion.law), sampling);
    ranks_in_turn(division->context, take_turn, &turn, all, sizeof all);
    place_samples(sampling, state, here, turn.before, place);
    memset(sample, 0, tree_samples * sizeof *sample);
    for (int64_t k = 0; k < sampling->samples; k++) {
        const int64_t i = place[k];
        if (i < 0)
            continue;
        for (int32_t c = 0; c < 3; c++) {
            sample[k].x[c] = real_get(own->dtype, own->position[c], i);
            sample[k].found[c] = real_get(own->dtype, state->gradient[c], i);
        }
        if (essential->softenings.of_point)
            sample[k].half_softening2 = real_get(own->dtype, essential->softenings.of_point, i);
    }
    ranks_add(division->context, (unsigned long long *)(void *)sample,
              tree_samples * (int64_t)(sizeof *sample / sizeof(unsigned long long)));
}

static double compare_ranks(const struct ranks *ranks, kith_dtype dtype,
                            const struct tree_sampling *sampling, const struct sample *sample,
                            const struct sample_sum *sums)
{
    double errors2 = 0;
    for (int64_t k = 0; k < sampling->samples; k++) {
        struct sample_sum all = {{0}, 0};
        for (int32_t rank = 0; rank < ranks->size; rank++) {
            const struct sample_sum *sum = &sums[rank * tree_samples + k];
            for (int32_t c = 0; c < 3; c++)
                all.exact[c] += sum->exact[c];
            all.magnitude += sum->magnitude;
        }
        errors2 += tree_part(sampling, (int32_t)k) *
                   tree_error2(dtype, sample[k].found, all.exact, 0.1 * all.magnitude);
    }
    return tree_estimate(errors2, sampling->targets);
}

kith_status tree_estimate_ranks(kith_context *context, const struct tree_problem *problem,
                                const struct tree_essential *of_targets,
                                const struct tree_essential *of_sources,
                                const struct tree_expansions *expansions,
                                const struct tree_state *state, double *error)
{
    struct ranks *ranks = context->ranks;
    struct sample sample[tree_samples];
    struct tree_sampling sampling;
    share_samples(of_targets, expansions, state, &sampling, sample);
    struct estimate_run run = {.expansions = expansions,
                               .near = tree_near_kernels_of(context, problem->dtype),
                               .sources = &of_sources->own,
                               .softening2 = problem->softening2,
                               .samples = sampling.samples,
                               .real = kith_dtype_bytes(problem->dtype)};
    struct sample_sum *sums = NULL;
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
        sums[ranks->rank * tree_samples + k] = add_tasks(&run, tasks_of(&run), k);
    if (status == KITH_OK) {
        for (int32_t rank = 0; rank <= ranks->size; rank++)
            ranks->first[rank] = rank;
        ranks_gather_parts(context, sums, tree_samples * (int64_t)sizeof *sums, ranks->first);
        *error = compare_ranks(ranks, problem->dtype, &sampling, sample, sums);
    }
    free(sums);
    free(run.of_task);
    return status;
}
