/* The error of trees over ranks that each have a part of the points on a GPU, from a few of them:
 * samples of tree/estimate.h, whose strata are those of the leaves of all ranks. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "ranks/ranks.h"
#include "tree/essential_ranks.h"
#include "tree/estimate.h"
#include "tree/solve_cuda.h"

struct estimate_run {
    kith_context *context;
    const struct tree_problem *own; /* this rank's points */
    const struct tree_essential *essential;
    struct tree_state_cuda *state;
    struct tree_sampling sampling; /* of all points */
    int64_t before[tree_strata];   /* points of lower ranks */
};

/* Of others zeros. */
struct sample {
    double x[3], found[3];
    struct tree_sample_sum sum;
};

static int32_t stratum_of(const struct octree_cell *cell)
{
    return cell->children == 0 ? cell->level + 1 : -1;
}

/* Collective: elements of every rank, of `each` each, that come to all. */
static kith_status gather(const struct estimate_run *of, int64_t each, int64_t bytes,
                          const void *own, char **all)
{
    const struct ranks *ranks = of->context->ranks;
    KITH_TRY(ranks_agree(of->context,
                         kith_allocate(ranks->size * each, bytes, "samples of a tree", all)));
    memcpy(*all + ranks->rank * each * bytes, own, (size_t)(each * bytes));
    ranks_gather(of->context, *all, each * bytes, ranks->size, 1);
    return KITH_OK;
}

/* Collective. */
static kith_status make_sampling(struct estimate_run *of)
{
    const struct tree_essential *e = of->essential;
    const struct ranks *ranks = of->context->ranks;
    unsigned long long own[tree_strata] = {0}, all[tree_strata] = {0};
    char *gathered = NULL;
    for (int32_t k = 0; k < e->base; k++)
        if (stratum_of(&e->tree.cell[k]) >= 0)
            own[stratum_of(&e->tree.cell[k])] += (unsigned long long)e->tree.cell[k].count;
    KITH_TRY(gather(of, tree_strata, (int64_t)sizeof *own, own, &gathered));
    for (int32_t rank = 0; rank < ranks->size; rank++)
        for (int32_t k = 0; k < tree_strata; k++) {
            unsigned long long count = 0;
            memcpy(&count, gathered + (rank * tree_strata + k) * (int64_t)sizeof count,
                   sizeof count);
            of->before[k] += rank < ranks->rank ? (int64_t)count : 0;
            all[k] += count;
        }
    free(gathered);
    tree_make_sampling(all, tree_samples_for(of->own->law), &of->sampling);
    return KITH_OK;
}

/* The own point of a sample, or −1 of another rank's. */
static int64_t find_point(const struct estimate_run *of, int32_t sample)
{
    const struct tree_essential *e = of->essential;
    const struct tree_sampling *sampling = &of->sampling;
    const int32_t stratum = tree_stratum_of(sampling, sample);
    int64_t left = tree_sample(sample - sampling->first_of[stratum], sampling->samples_of[stratum],
                               sampling->targets_of[stratum]) -
                   of->before[stratum];
    for (int32_t k = 0; k < e->base && left >= 0; k++) {
        const struct octree_cell *cell = &e->tree.cell[k];
        if (stratum_of(cell) != stratum)
            continue;
        if (left < cell->count)
            return cell->first + left;
        left -= cell->count;
    }
    return -1;
}

static kith_status read_row(const struct estimate_run *of, const void *rows, int64_t k,
                            double to[3])
{
    const int64_t bytes = 4 * kith_dtype_bytes(of->own->dtype);
    double row[4];
    KITH_TRY(cuda_copy_out(of->context, row, (const char *)rows + k * bytes, bytes));
    for (int32_t c = 0; c < 3; c++)
        to[c] = real_get(of->own->dtype, row, c);
    return KITH_OK;
}

static kith_status read_samples(const struct estimate_run *of, struct sample *sample)
{
    for (int32_t k = 0; k < of->sampling.samples; k++) {
        const int64_t i = find_point(of, k);
        if (i < 0)
            continue;
        KITH_TRY(read_row(of, of->state->sources.point, i, sample[k].x));
        KITH_TRY(read_row(of, of->state->results.memory, i, sample[k].found));
    }
    return KITH_OK;
}

/* The sums of this rank's points. */
static kith_status sum_own(const struct estimate_run *of, const struct sample *sample,
                           struct tree_sample_sum *sums)
{
    double points[4 * tree_samples] = {0};
    for (int32_t k = 0; k < of->sampling.samples; k++)
        for (int32_t c = 0; c < 3; c++)
            real_set(of->own->dtype, points, 4 * k + c, sample[k].x[c]);
    return of->state->sources.count == 0
               ? KITH_OK
               : tree_sum_samples_at_cuda(of->context, of->own, of->state, of->sampling.samples,
                                          points, sums);
}

/* Collective: the sums of all ranks, in their order. */
static kith_status add_sums(const struct estimate_run *of, const struct tree_sample_sum *own,
                            struct sample *sample)
{
    const int64_t samples = of->sampling.samples, bytes = (int64_t)sizeof *own;
    char *gathered = NULL;
    KITH_TRY(gather(of, samples, bytes, own, &gathered));
    for (int64_t k = 0; k < of->context->ranks->size * samples; k++) {
        struct tree_sample_sum *sum = &sample[k % samples].sum, of_rank;
        memcpy(&of_rank, gathered + k * bytes, sizeof of_rank);
        for (int32_t c = 0; c < 3; c++)
            sum->gradient[c] += of_rank.gradient[c];
        sum->magnitude += of_rank.magnitude;
    }
    free(gathered);
    return KITH_OK;
}

kith_status tree_estimate_slices_cuda(kith_context *context, const struct tree_problem *own_problem,
                                      const struct tree_essential *essential,
                                      struct tree_state_cuda *state, double *error)
{
    struct estimate_run of = {
        .context = context, .own = own_problem, .essential = essential, .state = state};
    struct sample sample[tree_samples];
    struct tree_sample_sum own[tree_samples];
    double errors2 = 0;
    memset(sample, 0, sizeof sample);
    memset(own, 0, sizeof own);
    KITH_TRY(make_sampling(&of));
    KITH_TRY(ranks_agree(context, read_samples(&of, sample)));
    ranks_add(context, (unsigned long long *)(void *)sample,
              of.sampling.samples * (int64_t)(sizeof *sample / sizeof(unsigned long long)));
    KITH_TRY(ranks_agree(context, sum_own(&of, sample, own)));
    KITH_TRY(add_sums(&of, own, sample));
    for (int32_t k = 0; k < of.sampling.samples; k++)
        errors2 += tree_part(&of.sampling, k) * tree_error2(own_problem->dtype, sample[k].found,
                                                            sample[k].sum.gradient,
                                                            0.1 * sample[k].sum.magnitude);
    *error = tree_estimate(errors2, of.sampling.targets);
    return KITH_OK;
}
