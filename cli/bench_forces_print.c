/* What was measured, as a table and as JSON. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_forces.h"
#include "bench_machine.h"
#include "json.h"

double bench_rate(const struct bench_row *row, double seconds)
{
    return (row->systems ? (double)row->systems : (double)row->bodies * (double)row->bodies) /
           seconds;
}

static double percent_of_limit(const struct bench_row *row)
{
    return 100 * bench_rate(row, contestant_median(&row->contestant)) / row->limit;
}

static const char *program_name(const struct competitor *competitor)
{
    static char name[64];
    const char *more = competitor->isa ? competitor->isa : competitor->version;
    snprintf(name, sizeof name, "%s %s", competitor->name, more);
    return name;
}

/* How a row compares with another; "" if there is none. */
static const char *comparison(const struct bench_row *row)
{
    static char text[32];
    text[0] = 0;
    if (row->one_thread) { /* three digits, also where a busy machine makes it a hundred */
        const double ratio = contestant_ratio(&row->one_thread->contestant, &row->contestant);
        snprintf(text, sizeof text, "  %.*fx of 1",
                 ratio < 9.995   ? 2
                 : ratio < 99.95 ? 1
                                 : 0,
                 ratio);
    }
    if (row->kith)
        snprintf(text, sizeof text, "  kith %.3gx",
                 contestant_ratio(&row->contestant, &row->kith->contestant));
    return text;
}

void bench_print_heading(const struct bench_options *options, bool steps)
{
    if (options->common.device.kind == KITH_CUDA)
        bench_print_gpu_heading(options, steps);
    else if (steps)
        printf("\nSteps of %s, of each system\n"
               "     N  systems  program           precis. threads  ns/step     best  M steps/s"
               "  speed\n",
               options->integrator);
    else
        printf("\nAll-pairs forces, through kith_forces_compute\n"
               "     N  program           precis. threads   us/call      best  Ginter./s  Gflop/s"
               "  limit  speed\n");
}

static void print_who(const struct competitor *who)
{
    printf("  %-16s  %-7s %7d", program_name(who), cli_precision_name(who->precision),
           (int)who->threads);
}

static void print_forces(const struct bench_row *row)
{
    const double seconds = contestant_median(&row->contestant), percent = percent_of_limit(row);
    const int decimals = seconds < 1e-3 ? 3 : 0;
    char limit[16] = "-";
    if (isfinite(percent))
        snprintf(limit, sizeof limit, "%.0f%%", percent);
    printf("%6lld", (long long)row->bodies);
    print_who(row->competitor);
    printf("  %8.*f  %8.*f  %9.3f  %7.1f  %5s%s\n", decimals, 1e6 * seconds, decimals,
           1e6 * contestant_best(&row->contestant), bench_rate(row, seconds) / 1e9,
           bench_rate(row, seconds) * flop_per_interaction / 1e9, limit, comparison(row));
}

static void print_steps(const struct bench_row *row)
{
    const double seconds = contestant_median(&row->contestant);
    printf("%6lld  %7lld", (long long)row->bodies, (long long)row->systems);
    print_who(row->competitor);
    printf("  %7.1f  %7.1f  %9.2f%s\n", 1e9 / bench_rate(row, seconds),
           1e9 / bench_rate(row, contestant_best(&row->contestant)), bench_rate(row, seconds) / 1e6,
           comparison(row));
}

static void print_left_out(const struct bench_row *row)
{
    printf("%6lld", (long long)row->bodies);
    print_who(row->competitor);
    printf("  left out: too long for --seconds\n");
}

void bench_print_rows(const struct bench_rows *rows, int64_t first)
{
    if (first < rows->count && rows->at[first].competitor->measured) {
        bench_print_gpu_rows(rows, first);
        return;
    }
    for (int64_t k = first; k < rows->count; k++) {
        const struct bench_row *row = &rows->at[k];
        if (row->left_out)
            print_left_out(row);
        else if (row->systems)
            print_steps(row);
        else
            print_forces(row);
    }
    fflush(stdout);
}

/* The time of forces with several threads over that with one: by the medians, or by the best
 * repetitions, which other work on the machine disturbs least. */
static double time_ratio(const struct bench_row *row, bool of_best)
{
    const struct contestant *several = &row->contestant, *one = &row->one_thread->contestant;
    return of_best ? contestant_best(several) / contestant_best(one)
                   : contestant_ratio(several, one);
}

/* The forces that gain least by threads; NULL if none were measured with several and with one. */
static const struct bench_row *worst_row(const struct bench_rows *rows, bool of_best)
{
    const struct bench_row *worst = NULL;
    for (int64_t k = 0; k < rows->count; k++)
        if (!rows->at[k].systems && rows->at[k].one_thread &&
            (!worst || time_ratio(&rows->at[k], of_best) > time_ratio(worst, of_best)))
            worst = &rows->at[k];
    return worst;
}

static void print_worst(const struct bench_rows *rows, const char *by, bool of_best)
{
    const struct bench_row *worst = worst_row(rows, of_best);
    if (worst)
        printf("  %-24s %.2f times (N = %lld, %s, %s, %d threads)\n", by,
               time_ratio(worst, of_best), (long long)worst->bodies, worst->competitor->isa,
               cli_precision_name(worst->competitor->precision), (int)worst->competitor->threads);
}

void bench_print_summary(const struct bench_rows *rows)
{
    /* A thread that waits for one that has lost its core waits for milliseconds. */
    if (rows->busy_cores > 0.1)
        printf("\nOther programs kept %.1f cores busy meanwhile: times by several threads on a "
               "busy\nmachine are the system's more than the program's.\n",
               rows->busy_cores);
    if (!worst_row(rows, false))
        return;
    printf("\nForces by several threads take at most so many times as long as by one:\n");
    print_worst(rows, "by the medians", false);
    print_worst(rows, "by the best repetitions", true);
}

static cJSON *add_row(cJSON *list, const struct bench_row *row)
{
    const struct competitor *competitor = row->competitor;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    json_add_count(object, "bodies", row->bodies);
    if (row->systems)
        json_add_count(object, "systems", row->systems);
    cJSON_AddStringToObject(object, "program", competitor->name);
    cJSON_AddStringToObject(object, "version", competitor->version);
    cJSON_AddStringToObject(object, "precision", cli_precision_name(competitor->precision));
    if (competitor->isa)
        cJSON_AddStringToObject(object, "instruction_set", competitor->isa);
    if (competitor->measured)
        cJSON_AddStringToObject(object, "measured", row->systems ? "steps" : competitor->measured);
    else
        json_add_count(object, "threads", competitor->threads);
    return object;
}

static void add_measured_row(cJSON *list, const struct bench_row *row)
{
    const double seconds = contestant_median(&row->contestant);
    cJSON *object = add_row(list, row);
    json_add_real(object, "seconds", seconds);
    json_add_real(object, "best_seconds", contestant_best(&row->contestant));
    json_add_count(object, "repetitions", row->contestant.rounds);
    if (row->systems) {
        json_add_real(object, "steps_per_second", bench_rate(row, seconds));
    } else {
        json_add_real(object, "interactions_per_second", bench_rate(row, seconds));
        json_add_real(object, "gflops", flop_per_interaction * 1e-9 * bench_rate(row, seconds));
        json_add_real(object, "percent_of_limit", percent_of_limit(row));
    }
    if (row->one_thread)
        json_add_real(object, "time_ratio_to_one_thread", time_ratio(row, false));
    if (row->kith)
        json_add_real(object, "time_ratio_to_kith",
                      contestant_ratio(&row->contestant, &row->kith->contestant));
    if (isfinite(row->difference))
        json_add_real(object, "relative_difference_to_kith", row->difference);
}

static void add_worst(cJSON *object, const char *key, const struct bench_rows *rows, bool of_best)
{
    const struct bench_row *worst = worst_row(rows, of_best);
    json_add_real(object, key, worst ? time_ratio(worst, of_best) : NAN);
}

cJSON *bench_as_json(const struct bench_options *options, const struct bench_rows *rows)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, options->common.device);
    cJSON_AddStringToObject(object, "integrator", options->integrator);
    cJSON *forces = cJSON_AddArrayToObject(object, "forces");
    cJSON *steps = cJSON_AddArrayToObject(object, "steps");
    cJSON *left_out = cJSON_AddArrayToObject(object, "left_out");
    for (int64_t k = 0; k < rows->count; k++)
        if (rows->at[k].left_out)
            add_row(left_out, &rows->at[k]);
        else
            add_measured_row(rows->at[k].systems ? steps : forces, &rows->at[k]);
    json_add_real(object, "cores_busy_with_other_programs", rows->busy_cores);
    add_worst(object, "worst_time_ratio_to_one_thread", rows, false);
    add_worst(object, "worst_best_time_ratio_to_one_thread", rows, true);
    return object;
}
