/* The rows of a benchmark: measured in alternation, printed, and kept as JSON.
 *
 * They alternate, one repetition each per round, so that whatever else the machine does falls on
 * all of them alike. */

#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "json.h"

enum { least_rounds = 3 };

struct bench_row *bench_enter(const struct bench_part *part,
                              kith_status (*work)(void *state, int64_t calls), void *state,
                              const char *what, const char *item, double items)
{
    struct bench *bench = part->bench;
    struct bench_entry *entry = &bench->entries[bench->entry_count];
    bench->entry_count += bench->entry_count + 1 < bench_most_entries;
    *entry = (struct bench_entry){.row = {.work = work,
                                          .state = state,
                                          .on = part->on,
                                          .size = part->n,
                                          .item = item,
                                          .items = items}};
    if (bench->capability->precision_count > 0)
        entry->row.precision = cli_precision_name(part->dtype);
    snprintf(entry->row.what, sizeof entry->row.what, "%s", what);
    return &entry->row;
}

/* Seconds of a number of calls, or a negative number after an error. */
static double run(const struct bench *bench, const struct bench_entry *entry, int64_t calls)
{
    const double start = cli_clock();
    if (entry->row.work(entry->row.state, calls) == KITH_OK &&
        kith_context_synchronize(entry->row.on->context) == KITH_OK)
        return cli_clock() - start;
    cli_fail(bench->options->command);
    return -1;
}

/* Finds how many calls take this many seconds, undisturbed: what lasts no longer than the system
 * lets others run in between is tried three times. False after an error. */
static bool choose_calls(const struct bench *bench, struct bench_entry *entry, double seconds)
{
    for (entry->calls = 1;;) {
        double taken = run(bench, entry, entry->calls);
        for (int k = 1; k < 3 && taken >= 0 && taken < 0.05; k++)
            taken = fmin(taken, run(bench, entry, entry->calls));
        if (taken < 0 || taken >= seconds)
            return taken >= 0;
        /* Short times are inaccurate: increase the number of calls in steps. */
        const double factor = taken > 0 ? 1.1 * seconds / taken : 8;
        entry->calls = (int64_t)((double)entry->calls * fmin(factor, 8)) + 1;
    }
}

static bool repeat(const struct bench *bench, struct bench_entry *entry)
{
    /* A call that is not timed wakes the threads and brings the data back into the caches. */
    const bool warm = entry->calls == 1 || run(bench, entry, 1) >= 0;
    const double taken = warm ? run(bench, entry, entry->calls) : -1;
    entry->seconds[entry->rounds++] = taken / (double)entry->calls;
    return taken >= 0;
}

/* Threads that wait for their next work spin for a moment before they sleep, in the way of what is
 * measured next. Rounds run forwards and backwards alternately, so that no row always follows
 * the same one. */
static bool do_round(struct bench *bench, int64_t round)
{
    const struct timespec ten_milliseconds = {0, 10000000};
    bool rests = false;
    for (int64_t k = 0; k < bench->entry_count; k++)
        rests = rests || bench->entries[k].row.on->threads > 1;
    for (int64_t k = 0; k < bench->entry_count; k++) {
        if (!repeat(bench, &bench->entries[round % 2 ? bench->entry_count - 1 - k : k]))
            return false;
        if (rests)
            nanosleep(&ten_milliseconds, NULL);
    }
    return true;
}

static int compare(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Of the sorted repetitions. */
static double median(const struct bench_entry *entry)
{
    const int64_t middle = entry->rounds / 2;
    return entry->rounds % 2 ? entry->seconds[middle]
                             : 0.5 * (entry->seconds[middle - 1] + entry->seconds[middle]);
}

void bench_print_heading(const struct bench *bench)
{
    printf("\n%-17s %-17s %-6s %3s %8s %10s %10s %8s %6s %5s\n", bench->capability->name, "", "",
           "thr", bench->capability->size, "us/call", "best", "M/s", "G/s", "limit");
}

static void print_row(const struct bench_entry *entry)
{
    const struct bench_row *row = &entry->row;
    const double seconds = median(entry), each = row->flop > 0 ? row->flop : row->bytes;
    const double rate = 1e-6 * row->items / seconds;
    const int decimals = seconds < 0.1 ? 3 : 0;
    char threads[16] = "-", work[16] = "-", limit[16] = "-";
    if (row->on->threads)
        snprintf(threads, sizeof threads, "%d", (int)row->on->threads);
    if (each > 0)
        snprintf(work, sizeof work, "%.1f", 1e-9 * each * row->items / seconds);
    if (row->limit > 0)
        snprintf(limit, sizeof limit, "%.0f%%", 100 * row->limit / seconds);
    printf("%-17.17s %-17.17s %-6s %3s %8lld %10.*f %10.*f %8.*f %6s %5s\n", row->what,
           row->variant, row->precision ? row->precision : "", threads, (long long)row->size,
           decimals, 1e6 * seconds, decimals, 1e6 * entry->seconds[0], rate < 1e4 ? 2 : 0, rate,
           work, limit);
    fflush(stdout);
}

static void add_json(const struct bench *bench, const struct bench_entry *entry)
{
    const struct bench_row *row = &entry->row;
    const double seconds = median(entry);
    char rate[48];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(bench->rows, object);
    cJSON_AddStringToObject(object, "what", row->what);
    cJSON_AddStringToObject(object, "variant", row->variant);
    if (row->precision)
        cJSON_AddStringToObject(object, "precision", row->precision);
    if (row->on->threads)
        json_add_count(object, "threads", row->on->threads);
    json_add_count(object, bench->capability->size, row->size);
    if (row->systems)
        json_add_count(object, "systems", row->systems);
    json_add_real(object, "seconds", seconds);
    json_add_real(object, "best_seconds", entry->seconds[0]);
    json_add_count(object, "repetitions", entry->rounds);
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
    for (int64_t k = 0; k < bench->entry_count; k++)
        if (!choose_calls(bench, &bench->entries[k], seconds / bench_most_rounds))
            return false;
    const double start = cli_clock(), enough = seconds * (double)bench->entry_count;
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
    for (int64_t k = 0; done && k < bench->entry_count; k++) {
        struct bench_entry *entry = &bench->entries[k];
        qsort(entry->seconds, (size_t)entry->rounds, sizeof entry->seconds[0], compare);
        add_json(bench, entry);
        if (!bench->options->json)
            print_row(entry);
    }
    bench->entry_count = 0;
    return done;
}
