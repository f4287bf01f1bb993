/* Rows of the benchmark: who takes part for a number of bodies, and what was measured. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_forces.h"
#include "forces/law_limit.h"
#include "forces/limit.h"

struct bench_row *bench_rows_add(struct bench_rows *rows, const struct competitor *competitor,
                                 int64_t bodies)
{
    struct bench_row *row = &rows->at[rows->count++];
    *row = (struct bench_row){
        .competitor = competitor, .bodies = bodies, .limit = NAN, .difference = NAN};
    row->contestant.many_threads = competitor->threads > 1;
    return row;
}

/* Of the same on a GPU. */
static bool is_measured_alike(const struct competitor *a, const struct competitor *b)
{
    return a->measured ? b->measured && strcmp(a->measured, b->measured) == 0 : !b->measured;
}

/* kith's row with the same bodies, systems and precision as this one; NULL if there is none. */
static const struct bench_row *find_kith(const struct bench_rows *rows, int64_t first,
                                         const struct bench_row *like, const char *isa,
                                         int32_t threads)
{
    for (int64_t k = first; k < rows->count; k++) {
        const struct bench_row *row = &rows->at[k];
        const struct competitor *who = row->competitor;
        if (who->context && !row->left_out && row->systems == like->systems &&
            who->precision == like->competitor->precision && who->threads == threads &&
            is_measured_alike(who, like->competitor) && (!isa || strcmp(who->isa, isa) == 0))
            return row;
    }
    return NULL;
}

static void link_row(const struct bench_rows *rows, int64_t first, struct bench_row *row)
{
    const struct competitor *who = row->competitor;
    if (!who->context)
        row->kith = find_kith(rows, first, row, NULL, who->threads);
    else if (who->threads > 1)
        row->one_thread = find_kith(rows, first, row, who->isa, 1);
}

bool bench_rows_measure(const struct bench_options *options, struct bench_rows *rows, int64_t first)
{
    struct contestant **taking_part =
        calloc((size_t)(rows->count - first + 1), sizeof(struct contestant *));
    if (!taking_part) {
        cli_fail_with(options->common.command, "no memory");
        return false;
    }
    int64_t count = 0;
    for (int64_t k = first; k < rows->count; k++)
        if (!rows->at[k].left_out) {
            link_row(rows, first, &rows->at[k]);
            taking_part[count++] = &rows->at[k].contestant;
        }
    const bool done = bench_measure(count, taking_part, options->common.seconds);
    free(taking_part);
    return done;
}

/* Unless the user chose, instruction sets other than the best show at few numbers of bodies, and
 * other programs where the time is all in the pairs. */
static bool takes_part(const struct bench_options *options, const struct competitor *competitor,
                       int64_t n)
{
    if (options->common.counts_given || competitor->measured)
        return true;
    if (!competitor->context)
        return n >= 1000 && n <= 16384;
    return options->isas_given || strcmp(competitor->isa, options->isas[0]) == 0 || n == 64 ||
           n == 1024 || n == 16384;
}

/* Of the row's competitor in its configuration; NaN if it is not known. */
static double limit_of(const struct competitor *competitor)
{
    if (!competitor->context)
        return NAN;
    if (competitor->law)
        return competitor->measured
                   ? NAN
                   : competitor->threads * forces_law_limit(competitor->context, competitor->law,
                                                            competitor->precision);
    if (!competitor->measured)
        return competitor->threads * forces_limit(competitor->context, competitor->precision);
    return competitor->of_device_memory && competitor->way == gpu_forces_kernels
               ? gpu_forces_limit(competitor->context, competitor->precision)
               : NAN;
}

static void add_forces_rows(const struct bench_options *options,
                            const struct competitors *competitors,
                            const struct forces_system *system, struct forces_work *work,
                            struct bench_rows *rows)
{
    const int64_t n = system->bodies->count;
    const double most_seconds = (options->common.counts_given ? 100 : 10) * options->common.seconds;
    for (int64_t k = 0; k < competitors->count; k++) {
        const struct competitor *competitor = &competitors->all[k];
        if (!takes_part(options, competitor, n))
            continue;
        struct bench_row *row = bench_rows_add(rows, competitor, n);
        work[k] = (struct forces_work){options->common.command, competitor, system};
        row->contestant.run = forces_work_run;
        row->contestant.state = &work[k];
        row->left_out = (double)n * (double)n / competitor->rate > most_seconds;
        if (!row->left_out)
            row->limit = limit_of(competitor);
    }
}

/* Compares what the GPU Gems kernel has computed with the results of kith's. */
static bool compare_results(const struct bench_options *options, const struct forces_system *system,
                            struct bench_row *row)
{
    struct gpu_forces *forces = system->gpu[row->competitor->precision];
    if (!forces || !row->kith)
        return true;
    const kith_status status =
        gpu_forces_difference(forces, gpu_forces_kernels, gpu_forces_gems, &row->difference);
    if (status != KITH_OK)
        cli_fail(options->common.command);
    return status == KITH_OK;
}

bool bench_forces_of(const struct bench_options *options, const struct competitors *competitors,
                     int64_t n, struct bench_rows *rows)
{
    const int64_t first = rows->count;
    struct forces_work *work = calloc((size_t)competitors->count, sizeof *work);
    if (!work) {
        cli_fail_with(options->common.command, "no memory");
        return false;
    }
    struct forces_system system;
    bool done = forces_system_make(options->common.command, n, &system);
    if (done) {
        add_forces_rows(options, competitors, &system, work, rows);
        done = forces_system_share(options->common.command, competitors, &system) &&
               bench_rows_measure(options, rows, first);
        for (int64_t k = first; k < rows->count && done; k++)
            done = compare_results(options, &system, &rows->at[k]);
    }
    forces_system_free(&system);
    free(work);
    return done;
}
