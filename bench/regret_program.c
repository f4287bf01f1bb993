/* bench_regret [cpu|cuda [seed [file [part]]]]: the time of the plan that kith chooses for a
 * product with a sparse matrix over that of the best of all plans, and of variants of their
 * parameters, on generated matrices in both precisions. Plans take turns in one process: the median
 * of seven rounds of 20 ms of those that two short rounds find near the best, on a CPU of its one
 * thread's time, without that of other processes. Of the matrices whose names have that part. The
 * file gets name, statistics, plans and times of each matrix as bytes, to evaluate other
 * predictions of the same times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "device/context.h"
#include "kith/kith.h"
#include "regret_matrices.h"
#include "sparse/backend.h"
#include "sparse/object.h"

enum { most_plans = 96, rounds = 7, most_near = 6, whole_window = INT32_MAX };
static const double seconds_a_round = 0.02, seconds_of_short = 2e-3, near_best = 1.25;

struct timed {
    struct sparse_matrix matrix;
    double seconds, each[rounds]; /* INFINITY: not converted */
    int measured;
};

struct trial {
    kith_context *context;
    struct sparse_statistics statistics;
    struct timed plan[most_plans];
    int32_t count;
    void *x, *y;
};

static void add(struct trial *trial, struct sparse_plan plan)
{
    for (int32_t k = 0; k < trial->count; k++) {
        const struct sparse_plan *other = &trial->plan[k].matrix.plan;
        if (other->format == plan.format && other->kernel == plan.kernel &&
            other->index_bytes == plan.index_bytes && other->block == plan.block &&
            other->lanes == plan.lanes && other->height == plan.height &&
            other->window == plan.window && other->symmetric == plan.symmetric)
            return;
    }
    if (trial->count < most_plans)
        trial->plan[trial->count++] = (struct timed){.matrix.plan = plan, .seconds = INFINITY};
}

/* The first is kith's choice. */
static kith_status find_plans(struct trial *trial)
{
    const kith_sparse_options options = {0};
    struct sparse_plan plans[48];
    int32_t count = 48;
    KITH_TRY(sparse_choose(trial->context, &options, &trial->statistics, &count, plans));
    for (int32_t k = 0; k < count; k++)
        add(trial, plans[k]);
    if (trial->context->device.kind == KITH_CPU)
        return KITH_OK;
    for (int32_t k = 0; k < count; k++) {
        struct sparse_plan plan = plans[k];
        if (plan.format == KITH_SPARSE_CSR && plan.kernel == KITH_SPARSE_ROW_VECTOR)
            for (plan.lanes = 2; plan.lanes <= 32; plan.lanes *= 2)
                add(trial, plan);
        plan = plans[k];
        if (plan.format != KITH_SPARSE_SELL)
            continue;
        plan.index_bytes = 4;
        plan.window = sparse_sell_window;
        add(trial, plan);
        plan.window = whole_window;
        add(trial, plan);
        plan.window = 1;
        if (trial->statistics.longest <= 128)
            add(trial, plan);
    }
    return KITH_OK;
}

static double clock_of(const kith_context *context)
{
    struct timespec time;
    clock_gettime(context->device.kind == KITH_CPU ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static kith_status time_round(struct trial *trial, const struct timed *plan, int64_t calls,
                              double *seconds)
{
    const struct sparse_product product = {.matrix = &plan->matrix,
                                           .alpha = 1,
                                           .vectors = 1,
                                           .x = trial->x,
                                           .x_stride = {1, 0},
                                           .y = trial->y,
                                           .y_stride = {1, 0}};
    KITH_TRY(trial->context->services->synchronize(trial->context));
    const double begin = clock_of(trial->context);
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(sparse_backend_of(trial->context)->multiply(trial->context, &product));
    KITH_TRY(trial->context->services->synchronize(trial->context));
    *seconds = (clock_of(trial->context) - begin) / (double)calls;
    return KITH_OK;
}

static int64_t calls_in(double seconds, double once)
{
    return (int64_t)fmax(1, seconds / once);
}

static kith_status time_briefly(struct trial *trial)
{
    for (int32_t k = 0; k < trial->count; k++) {
        struct timed *plan = &trial->plan[k];
        double once = 0;
        KITH_TRY(time_round(trial, plan, 2, &once));
        KITH_TRY(time_round(trial, plan, 3, &once));
        const int64_t calls = calls_in(seconds_of_short, once);
        for (int round = 0; round < 2 && once < 0.1; round++) {
            KITH_TRY(time_round(trial, plan, calls, &once));
            plan->seconds = fmin(plan->seconds, once);
        }
        plan->seconds = fmin(plan->seconds, once);
    }
    return KITH_OK;
}

static int compare(const void *a, const void *b)
{
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static kith_status time_near(struct trial *trial)
{
    double sorted[most_plans] = {0};
    for (int32_t k = 0; k < trial->count; k++)
        sorted[k] = trial->plan[k].seconds;
    qsort(sorted, (size_t)trial->count, sizeof *sorted, compare);
    const int32_t last = trial->count < most_near ? trial->count - 1 : most_near - 1;
    const double limit = fmin(sorted[last], near_best * sorted[0]);
    for (int32_t k = 0; k < trial->count; k++)
        trial->plan[k].measured = k == 0 || trial->plan[k].seconds <= limit;
    for (int round = 0; round < rounds; round++)
        for (int32_t k = 0; k < trial->count; k++) {
            struct timed *plan = &trial->plan[(k + round * 5) % trial->count];
            if (plan->measured)
                KITH_TRY(time_round(trial, plan, calls_in(seconds_a_round, plan->seconds),
                                    &plan->each[round]));
        }
    for (int32_t k = 0; k < trial->count; k++)
        if (trial->plan[k].measured) {
            qsort(trial->plan[k].each, rounds, sizeof(double), compare);
            trial->plan[k].seconds = trial->plan[k].each[rounds / 2];
        }
    return KITH_OK;
}

static void write_plan(const struct timed *timed, char *text, size_t bytes)
{
    const struct sparse_plan *plan = &timed->matrix.plan;
    int64_t count = 0;
    snprintf(text, bytes, "%s %s %d%s lanes %d height %d window %d block %d",
             kith_sparse_format_list(&count)[plan->format].name,
             kith_sparse_kernel_list(&count)[plan->kernel].name, 8 * plan->index_bytes,
             plan->symmetric ? " half" : "", plan->lanes, plan->height, plan->window, plan->block);
}

static void write_bytes(const struct trial *trial, const char *name, FILE *file)
{
    char fixed[32] = {0};
    snprintf(fixed, sizeof fixed, "%s", name);
    fwrite(fixed, sizeof fixed, 1, file);
    fwrite(&trial->statistics, sizeof trial->statistics, 1, file);
    fwrite(&trial->count, sizeof trial->count, 1, file);
    for (int32_t k = 0; k < trial->count; k++) {
        fwrite(&trial->plan[k].matrix.plan, sizeof(struct sparse_plan), 1, file);
        fwrite(&trial->plan[k].seconds, sizeof(double), 1, file);
        fwrite(&trial->plan[k].measured, sizeof(int), 1, file);
    }
    fflush(file);
}

static double report(const struct trial *trial, const char *name)
{
    int32_t best = 0;
    char text[160], of_best[160];
    for (int32_t k = 0; k < trial->count; k++)
        best = trial->plan[k].seconds < trial->plan[best].seconds ? k : best;
    const struct timed *chosen = &trial->plan[0];
    const double regret = chosen->seconds / trial->plan[best].seconds;
    write_plan(chosen, text, sizeof text);
    write_plan(&trial->plan[best], of_best, sizeof of_best);
    printf("%-24s %s %8lld x %-8lld %9lld %9.2f us %5.3f +-%.2f %s%s%s\n", name,
           trial->statistics.dtype == KITH_F64 ? "double" : "single",
           (long long)trial->statistics.rows, (long long)trial->statistics.columns,
           (long long)trial->statistics.nonzeros, 1e6 * chosen->seconds, regret,
           (chosen->each[rounds - 1] - chosen->each[0]) / chosen->seconds, text,
           regret > 1.05 ? "; best: " : "", regret > 1.05 ? of_best : "");
    fflush(stdout);
    return regret;
}

static kith_status run(struct trial *trial, const struct sparse_csr *csr)
{
    kith_context *context = trial->context;
    const int64_t bytes = kith_dtype_bytes(csr->dtype);
    KITH_TRY(sparse_backend_of(context)->inspect(context, csr, &trial->statistics));
    KITH_TRY(find_plans(trial));
    KITH_TRY(
        context->services->allocate(context, csr->columns + sparse_slack, bytes, "x", &trial->x));
    KITH_TRY(context->services->allocate(context, csr->rows + sparse_slack, bytes, "y", &trial->y));
    for (int32_t k = 0; k < trial->count; k++) {
        trial->plan[k].matrix.csr = *csr;
        KITH_TRY(sparse_backend_of(context)->convert(context, &trial->statistics,
                                                     &trial->plan[k].matrix));
    }
    KITH_TRY(time_briefly(trial));
    return time_near(trial);
}

static kith_status measure(kith_context *context, const struct regret_matrix *made,
                           kith_dtype dtype, FILE *file, double *regret)
{
    const kith_sparse_options options = {.format = KITH_SPARSE_CSR, .dtype = dtype};
    kith_sparse *sparse = NULL;
    struct trial *trial = calloc(1, sizeof *trial);
    float *narrow = malloc((size_t)(made->nonzeros + 1) * sizeof *narrow);
    kith_status status = trial && narrow ? KITH_OK : KITH_OUT_OF_MEMORY;
    for (int64_t k = 0; k < made->nonzeros && narrow; k++)
        narrow[k] = (float)made->value[k];
    if (status == KITH_OK)
        status = kith_sparse_create_csr(context, &options, made->columns,
                                        kith_array_vector(made->start, KITH_I64, made->rows + 1),
                                        kith_array_vector(made->column, KITH_I32, made->nonzeros),
                                        dtype == KITH_F64
                                            ? kith_array_vector(made->value, dtype, made->nonzeros)
                                            : kith_array_vector(narrow, dtype, made->nonzeros),
                                        &sparse);
    if (status == KITH_OK) {
        trial->context = context;
        status = run(trial, &sparse->side[0].csr);
        if (status == KITH_OK)
            *regret = report(trial, made->name);
        if (status == KITH_OK && file)
            write_bytes(trial, made->name, file);
        for (int32_t k = 0; k < trial->count; k++)
            sparse_matrix_release(context, &trial->plan[k].matrix);
        context->services->release(context, trial->x);
        context->services->release(context, trial->y);
    }
    kith_sparse_free(sparse);
    free(narrow);
    free(trial);
    return status;
}

int main(int argc, char **argv)
{
    const bool on_gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const kith_context_options options = {.device = {on_gpu ? KITH_CUDA : KITH_CPU, 0},
                                          .threads = on_gpu ? 0 : 1};
    kith_context *context = NULL;
    kith_status status = kith_context_create(&options, &context);
    double worst = 0;
    int over = 0, all = 0;
    const double begin = kith_clock();
    FILE *file = argc > 3 ? fopen(argv[3], "wb") : NULL;
    for (int32_t k = 0; k < regret_matrices() && status == KITH_OK; k++) {
        struct regret_matrix made;
        if (argc > 4 && !strstr(regret_matrix_name(k), argv[4]))
            continue;
        status = regret_matrix_make(k, seed, &made) ? KITH_OK : KITH_OUT_OF_MEMORY;
        for (int single = 0; single < 2 && status == KITH_OK; single++) {
            double regret = 0;
            status = measure(context, &made, single ? KITH_F32 : KITH_F64, file, &regret);
            worst = fmax(worst, regret);
            over += regret > 1.2;
            all++;
        }
        regret_matrix_free(&made);
    }
    if (status != KITH_OK)
        fprintf(stderr, "bench_regret: %s\n", kith_error_message());
    else
        printf("%d matrices, %d above 1.2, worst %.3f; %.0f s\n", all, over, worst,
               kith_clock() - begin);
    kith_context_free(context);
    if (file)
        fclose(file);
    return status != KITH_OK;
}
