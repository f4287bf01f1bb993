/* The rows of a benchmark: measured in alternation, printed, and kept as JSON.
 *
 * They alternate, one repetition each per round, so that whatever else the machine does falls on
 * all of them alike. */

#include <stdarg.h>
#include <time.h>

#include "bench.h"
#include "json.h"

enum { least_rounds = 3 };

struct bench_row *bench_enter(const struct bench_part *part, bench_work *work, int64_t which,
                              double items, const char *item, const char *what, const char *variant,
                              ...)
{
    struct bench *bench = part->bench;
    struct bench_row *row = &bench->rows[bench->row_count];
    va_list arguments;
    *row = (struct bench_row){
        .part = part, .work = work, .which = which, .size = part->n, .item = item, .items = items};
    bench->row_count += bench->row_count + 1 < bench_most_rows;
    snprintf(row->what, sizeof row->what, "%s", what);
    va_start(arguments, variant);
    vsnprintf(row->variant, sizeof row->variant, variant, arguments);
    va_end(arguments);
    return row;
}

/* Seconds of a number of calls, or a negative number after an error. */
static double run(const struct bench *bench, const struct bench_row *row, int64_t calls)
{
    const double start = cli_clock();
    kith_status status = KITH_OK;
    if (!row->work)
        status = kith_simulation_step(row->simulation, calls);
    for (int64_t k = 0; row->work && k < calls && status == KITH_OK; k++)
        status = row->work(row->part, row->which);
    if (status == KITH_OK && kith_context_synchronize(row->part->context) == KITH_OK)
        return cli_clock() - start;
    cli_fail(bench->options->command);
    return -1;
}

/* Finds how many calls take this many seconds, undisturbed: what lasts no longer than the system
 * lets others run in between is tried three times. False after an error. */
static bool choose_calls(const struct bench *bench, struct bench_row *row, double seconds)
{
    for (row->calls = 1;;) {
        double taken = run(bench, row, row->calls);
        for (int k = 1; k < 3 && taken >= 0 && taken < 0.05; k++)
            taken = fmin(taken, run(bench, row, row->calls));
        if (taken < 0 || taken >= seconds)
            return taken >= 0;
        /* Short times are inaccurate: increase the number of calls in steps. */
        const double factor = taken > 0 ? 1.1 * seconds / taken : 8;
        row->calls = (int64_t)((double)row->calls * fmin(factor, 8)) + 1;
    }
}

static bool repeat(const struct bench *bench, struct bench_row *row)
{
    /* A call that is not timed wakes the threads and brings the data back into the caches. */
    const bool warm = row->calls == 1 || run(bench, row, 1) >= 0;
    const double taken = warm ? run(bench, row, row->calls) : -1;
    row->seconds[row->rounds++] = taken / (double)row->calls;
    return taken >= 0;
}

/* Threads that wait for their next work spin for a moment before they sleep, in the way of what is
 * measured next. Rounds run forwards and backwards alternately, so that no row always follows
 * the same one. */
static bool do_round(struct bench *bench, int64_t round)
{
    const struct timespec ten_milliseconds = {0, 10000000};
    bool rests = false;
    for (int64_t k = 0; k < bench->row_count; k++)
        rests = rests || bench->rows[k].part->on->threads > 1;
    for (int64_t k = 0; k < bench->row_count; k++) {
        if (!repeat(bench, &bench->rows[round % 2 ? bench->row_count - 1 - k : k]))
            return false;
        if (rests)
            nanosleep(&ten_milliseconds, NULL);
    }
    return true;
}

void bench_print_heading(const struct bench *bench)
{
    printf("\n%-17s %-17s %-6s %3s %8s %10s %10s %8s %6s %5s\n", bench->capability->name, "", "",
           "thr", bench->capability->size, "us/call", "best", "M/s", "G/s", "limit");
}

static const char *precision_of(const struct bench_row *row)
{
    const bool has_one = row->part->bench->capability->precision_count > 0;
    return has_one ? cli_precision_name(row->part->dtype) : "";
}

static void print_row(const struct bench_row *row, double seconds)
{
    const double each = row->flop > 0 ? row->flop : row->bytes;
    const double rate = 1e-6 * row->items / seconds;
    const int decimals = seconds < 0.1 ? 3 : 0;
    char threads[16] = "-", work[16] = "-", limit[16] = "-";
    if (row->part->on->threads)
        snprintf(threads, sizeof threads, "%d", (int)row->part->on->threads);
    if (each > 0)
        snprintf(work, sizeof work, "%.1f", 1e-9 * each * row->items / seconds);
    if (row->limit > 0)
        snprintf(limit, sizeof limit, "%.0f%%", 100 * row->limit / seconds);
    printf("%-17.17s %-17.17s %-6s %3s %8lld %10.*f %10.*f %8.*f %6s %5s\n", row->what,
           row->variant, precision_of(row), threads, (long long)row->size, decimals, 1e6 * seconds,
           decimals, 1e6 * row->seconds[0], rate < 1e4 ? 2 : 0, rate, work, limit);
    fflush(stdout);
}

static void add_json(const struct bench *bench, const struct bench_row *row, double seconds)
{
    char rate[48];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(bench->report, object);
    cJSON_AddStringToObject(object, "what", row->what);
    cJSON_AddStringToObject(object, "variant", row->variant);
    if (*precision_of(row))
        cJSON_AddStringToObject(object, "precision", precision_of(row));
    if (row->part->on->threads)
        json_add_count(object, "threads", row->part->on->threads);
    json_add_count(object, bench->capability->size, row->size);
    if (row->systems)
        json_add_count(object, "systems", row->systems);
    json_add_real(object, "seconds", seconds);
    json_add_real(object, "best_seconds", row->seconds[0]);
    json_add_count(object, "repetitions", row->rounds);
    snprintf(rate, sizeof rate, "%s_per_second", row->item);
    json_add_real(object, rate, row->items / seconds);
    if (row->flop > 0)
        json_add_real(object, "gflops", 1e-9 * row->flop * row->items / seconds);
    if (row->bytes > 0)
        json_add_real(object, "gbytes_per_second", 1e-9 * row->bytes * row->items / seconds);
    json_add_real(object, "percent_of_limit", row->limit > 0 ? 100 * row->limit / seconds : NAN);
}

/* For about this many seconds a row, and ten times that at most. */
static bool measure_in_turns(struct bench *bench, double seconds)
{
    for (int64_t k = 0; k < bench->row_count; k++)
        if (!choose_calls(bench, &bench->rows[k], seconds / bench_most_rounds))
            return false;
    const double start = cli_clock(), enough = seconds * (double)bench->row_count;
    for (int64_t round = 0; round < bench_most_rounds; round++) {
        const double taken = cli_clock() - start;
        const double a_round = round > 0 ? taken / (double)round : 0;
        if (round > 0 && taken + a_round > (round < least_rounds ? 10 * enough : enough))
            break;
        if (!do_round(bench, round))
            return false;
    }
    return true;
}

bool bench_measure(struct bench *bench)
{
    const bool done = measure_in_turns(bench, bench->options->seconds);
    for (int64_t k = 0; done && k < bench->row_count; k++) {
        const double seconds = cli_sort(bench->rows[k].seconds, bench->rows[k].rounds);
        add_json(bench, &bench->rows[k], seconds);
        if (!bench->options->json)
            print_row(&bench->rows[k], seconds);
    }
    bench->row_count = 0;
    return done;
}
