/* kith bench collisions: every way to count, against the number of beads. */

#include "bench_collisions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_machine.h"
#include "json.h"

enum { key_plot = 0x9000 };

static const struct argp_option options[] = {
    {"number", 'n', "N,...", 0, "numbers of beads (default: 100 to 10^7; GPU: 10^8)", 0},
    {"plot", key_plot, "PICTURE", 0, "draw time against beads: a .png, .svg or .gif file", 0},
    {0}};

static const struct argp_child children[] = {
    {&bench_argp, 0, "Measuring:", 2}, {&bench_peers_argp, 0, "Other programs:", 3}, {0}};

static const char documentation[] =
    "Measure how fast collisions are counted, on the CPU with one thread unless --threads says "
    "otherwise: of random walks and of beads scattered over a cube of "
    "four sites a bead, and of batches of walks of 64 beads.\v"
    "Times are the best of repetitions that take turns. Methods that compare all pairs are left out "
    "where they would take long. On a GPU the beads are there, and counts follow each other without "
    "waiting; sort is CUB's radix sort of 64-bit keys.\n\n"
    "Examples:\n"
    "  kith bench collisions -n 100,1000 --plot collisions.png\n"
    "  kith bench collisions -n 1000 --threads 2\n"
    "  kith bench collisions --device cuda --json";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct collisions_bench *bench = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        bench_begin_children(state, 0, 2, &bench->common);
        return 0;
    case 'n':
        bench_parse_counts(&bench->common, argument, 1000000000, state);
        return 0;
    case key_plot:
        bench->plot = argument;
        bench->format = picture_format_of(argument);
        if (!bench->format)
            cli_usage_error(state, "--plot is '%s'; give a name that ends in .png, .svg or .gif",
                            argument);
        return 0;
    case ARGP_KEY_ARG:
        cli_usage_error(state, "'%s' is too much; bench collisions takes no file", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static double pairs_of(const struct collisions_row *row)
{
    return 0.5 * (double)row->count * ((double)row->count - 1);
}

static void print_rows(const struct collisions_rows *rows, int64_t first)
{
    for (int64_t k = first; k < rows->count; k++) {
        const struct collisions_row *row = &rows->row[k];
        printf("%-26s %-9s %10lld %12.6f %10.2f %12.4g", row->name, row->beads,
               (long long)row->count, 1e3 * row->seconds, 1e-6 * (double)row->count / row->seconds,
               1e-9 * pairs_of(row) / row->seconds);
        if (isfinite(row->of_limit))
            printf(" %5.0f %%", 100 * row->of_limit);
        printf("\n");
    }
    fflush(stdout);
}

static cJSON *as_json(const struct collisions_bench *bench, const struct collisions_rows *rows)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, bench->common.device);
    json_add_count(object, "threads", bench->common.threads[0]);
    cJSON *list = cJSON_AddArrayToObject(object, "rows");
    for (int64_t k = 0; k < rows->count; k++) {
        const struct collisions_row *row = &rows->row[k];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "method", row->name);
        cJSON_AddStringToObject(one, "kind", row->beads);
        json_add_count(one, "beads", row->count);
        json_add_real(one, "seconds", row->seconds);
        json_add_real(one, "beads_per_second", (double)row->count / row->seconds);
        json_add_real(one, "pairs_per_second", pairs_of(row) / row->seconds);
        json_add_real(one, "of_limit", row->of_limit);
        cJSON_AddItemToArray(list, one);
    }
    return object;
}

static bool bench_all(const struct collisions_bench *bench, kith_context *context,
                      struct collisions_rows *rows)
{
    static const char *const kinds[] = {"walk", "scattered"};
    if (!bench->common.json)
        printf("%-26s %-9s %10s %12s %10s %12s %7s\n", "method", "", "beads", "ms", "Mbeads/s",
               "Gpairs/s", "limit");
    for (int32_t k = 0; k < bench->common.count_count; k++)
        for (int32_t kind = 0; kind < 2; kind++) {
            const int64_t first = rows->count;
            if (!bench_collisions_of(bench, context, kinds[kind], bench->common.counts[k], rows))
                return false;
            if (!bench->common.json)
                print_rows(rows, first);
        }
    const int64_t first = rows->count;
    if (!bench_collisions_batch(bench, context, rows))
        return false;
    if (!bench->common.json)
        print_rows(rows, first);
    return true;
}

static void choose_counts(struct bench_common *common)
{
    static const int64_t counts[] = {100, 1000, 10000, 65536, 262144, 1000000, 10000000, 100000000};
    const int32_t all = sizeof counts / sizeof counts[0], quick = 2;
    bench_take_counts(common, counts,
                      common->quick                      ? quick
                      : common->device.kind == KITH_CUDA ? all
                                                         : all - 1);
    bench_take_seconds(common, 0.3);
}

static bool start_numpy(struct collisions_bench *bench)
{
    if (!bench->common.with_peers)
        return true;
    bench->peers = peers_start(bench->common.command, bench->common.python, bench_peers_collisions,
                               bench->common.quiet);
    if (!bench->peers)
        return false;
    const char *version = peers_version(bench->peers, "numpy");
    if (version && !bench->common.json)
        printf("NumPy %s\n", version);
    if (!version) {
        peers_end(bench->peers);
        bench->peers = NULL;
    }
    return true;
}

/* Measures, prints, draws: the exit code. */
static int bench_and_tell(struct collisions_bench *bench, kith_context *context,
                          struct collisions_rows *rows)
{
    if (bench->plot && !picture_can_write(bench->common.command, bench->plot))
        return exit_failed;
    if (!bench->common.json && !bench->common.result)
        machine_print(bench->common.device);
    const bool done = start_numpy(bench) && bench_all(bench, context, rows);
    peers_end(bench->peers);
    if (!done || (bench->plot && !bench_collisions_plot(bench, rows)))
        return exit_failed;
    return bench_hand_over(&bench->common, "collisions", as_json(bench, rows));
}

int bench_collisions(int argc, char **argv, cJSON **result)
{
    struct collisions_bench bench = {.common = bench_begin(argv[0], result)};
    const struct argp argp = {options, parse, NULL, documentation, children, cli_filter_help, NULL};
    cli_parse(&argp, argc, argv, &bench);

    kith_context *context = NULL;
    struct collisions_rows *rows = calloc(1, sizeof *rows);
    int code = exit_failed;
    if (!rows)
        return cli_fail_with(argv[0], "no memory for the rows");
    if (bench_open(&bench.common, &context) == exit_ok) {
        choose_counts(&bench.common);
        code = bench_and_tell(&bench, context, rows);
    }
    free(rows);
    kith_context_free(context);
    return code;
}
