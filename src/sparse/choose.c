/* The plans that a matrix and a backend allow, by predicted time; and why the first of them. */
#include <stdio.h>

#include "device/context.h"
#include "sparse/backend.h"
#include "sparse/object.h"
#include "sparse/statistics.h"

enum { most_plans = 48 };

struct candidates {
    kith_context *context;
    const kith_sparse_options *options;
    const struct sparse_statistics *statistics;
    int32_t count;
    struct sparse_plan plans[most_plans];
};

static void consider(struct candidates *candidates, struct sparse_plan plan)
{
    const kith_sparse_options *options = candidates->options;
    if ((options->format != KITH_SPARSE_AUTO && options->format != plan.format) ||
        (options->kernel != KITH_SPARSE_KERNEL_AUTO && options->kernel != plan.kernel) ||
        candidates->count == most_plans)
        return;
    if (sparse_backend_of(candidates->context)
            ->predict(candidates->context, candidates->statistics, &plan))
        candidates->plans[candidates->count++] = plan;
}

static void consider_csr(struct candidates *candidates)
{
    static const kith_sparse_kernel kernels[] = {KITH_SPARSE_ROW_THREAD, KITH_SPARSE_ROW_VECTOR,
                                                 KITH_SPARSE_ELEMENT, KITH_SPARSE_MERGE};
    for (int k = 0; k < 4; k++) {
        struct sparse_plan plan = {
            .format = KITH_SPARSE_CSR, .kernel = kernels[k], .index_bytes = 4};
        consider(candidates, plan);
        plan.index_bytes = 2;
        if (candidates->statistics->index_fits_16)
            consider(candidates, plan);
    }
}

/* Rows sorted in windows need 16 bits for the columns of a whole window. */
static void consider_sell(struct candidates *candidates, int32_t window)
{
    const struct sparse_statistics *statistics = candidates->statistics;
    for (int32_t k = 0; k < sparse_sell_heights; k++) {
        struct sparse_plan plan = {.format = KITH_SPARSE_SELL,
                                   .kernel = KITH_SPARSE_ROW_THREAD,
                                   .index_bytes = 4,
                                   .height = sparse_sell_height[k],
                                   .window = window};
        consider(candidates, plan);
        plan.index_bytes = 2;
        if (window == 1 ? statistics->index_fits_16 : statistics->sell_fits_16[k])
            consider(candidates, plan);
    }
}

static void consider_bsr(struct candidates *candidates)
{
    for (int32_t block = 2; block <= 4; block++) {
        if (candidates->options->block != 0 && candidates->options->block != block)
            continue;
        consider(candidates, (struct sparse_plan){.format = KITH_SPARSE_BSR,
                                                  .kernel = KITH_SPARSE_ROW_THREAD,
                                                  .block = block});
        consider(candidates, (struct sparse_plan){.format = KITH_SPARSE_BSR,
                                                  .kernel = KITH_SPARSE_ROW_VECTOR,
                                                  .block = block});
    }
}

static void consider_all(struct candidates *candidates)
{
    consider_csr(candidates);
    consider(candidates,
             (struct sparse_plan){.format = KITH_SPARSE_COO, .kernel = KITH_SPARSE_ELEMENT});
    consider(candidates,
             (struct sparse_plan){.format = KITH_SPARSE_ELL, .kernel = KITH_SPARSE_ROW_THREAD});
    consider(candidates,
             (struct sparse_plan){.format = KITH_SPARSE_HYBRID, .kernel = KITH_SPARSE_ROW_THREAD});
    consider_sell(candidates, 1);
    consider_sell(candidates, sparse_sell_window);
    consider_bsr(candidates);
    struct sparse_plan dia = {.format = KITH_SPARSE_DIA, .kernel = KITH_SPARSE_ROW_THREAD};
    consider(candidates, dia);
    dia.symmetric = true;
    if (candidates->statistics->symmetric)
        consider(candidates, dia);
}

/* The first of equal plans stays in front. */
static void sort_by_time(struct candidates *candidates)
{
    for (int32_t k = 1; k < candidates->count; k++) {
        const struct sparse_plan plan = candidates->plans[k];
        int32_t at = k;
        for (; at > 0 && candidates->plans[at - 1].seconds > plan.seconds; at--)
            candidates->plans[at] = candidates->plans[at - 1];
        candidates->plans[at] = plan;
    }
}

static kith_status fail_without_plan(const kith_context *context,
                                     const kith_sparse_options *options)
{
    int64_t count = 0;
    return kith_fail(
        KITH_UNSUPPORTED,
        "format %s with kernel %s is not available on the %s, or would be mostly padding for this "
        "matrix; give auto for one of them",
        kith_sparse_format_list(&count)[options->format].name,
        kith_sparse_kernel_list(&count)[options->kernel].name,
        context->device.kind == KITH_CPU ? "CPU" : "GPU");
}

kith_status sparse_choose(kith_context *context, const kith_sparse_options *options,
                          const struct sparse_statistics *statistics, int32_t *count,
                          struct sparse_plan *plans)
{
    struct candidates candidates = {
        .context = context, .options = options, .statistics = statistics};
    consider_all(&candidates);
    sort_by_time(&candidates);
    if (candidates.count == 0)
        return fail_without_plan(context, options);
    *count = candidates.count < *count ? candidates.count : *count;
    for (int32_t k = 0; k < *count; k++)
        plans[k] = candidates.plans[k];
    return KITH_OK;
}

/* What of the matrix speaks for the format. */
static void describe_fit(const struct sparse_statistics *statistics, const struct sparse_plan *plan,
                         char *text, size_t bytes)
{
    const double rows = (double)(statistics->rows > 0 ? statistics->rows : 1);
    const double mean = (double)statistics->nonzeros / rows;
    switch (plan->format) {
    case KITH_SPARSE_DIA:
        snprintf(text, bytes, "%lld diagonals, %.0f %% full%s", (long long)statistics->diagonals,
                 100 * (double)statistics->nonzeros / ((double)statistics->diagonals * rows),
                 plan->symmetric ? ", half of them stored as the matrix is symmetric" : "");
        break;
    case KITH_SPARSE_BSR:
        snprintf(text, bytes, "blocks of %d x %d are %.0f %% full", (int)plan->block,
                 (int)plan->block,
                 100 * (double)statistics->nonzeros /
                     (statistics->blocks[plan->block] * plan->block * plan->block));
        break;
    default:
        snprintf(text, bytes, "rows have %.3g entries on average and %lld at most%s", mean,
                 (long long)statistics->longest,
                 plan->index_bytes == 2 ? ", columns fit in 16 bits" : "");
    }
}

void sparse_explain(const kith_sparse_options *options, const struct sparse_statistics *statistics,
                    const struct sparse_plan *plan, char *reason, int64_t bytes)
{
    char fit[160];
    describe_fit(statistics, plan, fit, sizeof fit);
    const bool free_choice = options->format == KITH_SPARSE_AUTO;
    const int64_t each = 4 + kith_dtype_bytes(statistics->dtype);
    const int64_t csr = 4 * statistics->rows + each * statistics->nonzeros;
    snprintf(reason, (size_t)bytes, "%s: %s; %.3g bytes per entry, plain csr has %.3g",
             !free_choice    ? "requested"
             : options->tune ? "measured fastest"
                             : "predicted fastest",
             fit, (double)plan->bytes / (double)(statistics->nonzeros ? statistics->nonzeros : 1),
             (double)csr / (double)(statistics->nonzeros ? statistics->nonzeros : 1));
}
