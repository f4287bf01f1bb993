/* kith bench collisions: every way to count, against the number of beads. */

#include "bench_collisions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_machine.h"
#include "json.h"

enum { key_device = 0x9000, key_threads, key_seconds, key_peers, key_python, key_plot, key_json };

static const struct argp_option options[] = {
    {"number", 'n', "N,...", 0, "numbers of beads (default: 100 to 10^7; GPU: 10^8)", 0},
    {"device", key_device, "DEVICE", 0, "auto, cpu, cuda or cuda:K (default: cpu)", 0},
    {"threads", key_threads, "P", 0, "CPU threads (default: 1)", 0},
    {"seconds", key_seconds, "S", 0, "measure a row for S seconds (default: 0.3)", 0},
    {"peers", key_peers, NULL, 0, "measure qsort, NumPy's unique and the plain double loop too", 0},
    {"python", key_python, "PROGRAM", 0,
     "the Python that has numpy (default: KITH_PYTHON, or python3)", 0},
    {"plot", key_plot, "PICTURE", 0, "draw time against beads: a .png, .svg or .gif file", 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {"json", key_json, NULL, 0, "print one JSON object on standard output, nothing else there", 0},
    {0}};

static const char documentation[] =
    "Measure how fast collisions are counted: of random walks and of beads scattered over a cube of "
    "four sites a bead, and of batches of walks of 64 beads.\v"
    "Times are the best of repetitions that take turns. Methods that compare all pairs are left out "
    "where they would take long. On a GPU the beads are there, and counts follow each other without "
    "waiting; sort is CUB's radix sort of 64-bit keys.\n\n"
    "Examples:\n"
    "  kith bench collisions --peers --python venv/bin/python --plot collisions.png\n"
    "  kith bench collisions -n 1000000 --threads 2\n"
    "  kith bench collisions --device cuda --json";

static void parse_counts(char *text, struct argp_state *state)
{
    struct collisions_bench *bench = state->input;
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const int64_t n = cli_parse_count("-n", word, state);
        if (n < 2 || n > 1000000000)
            cli_usage_error(state, "-n is %s; give 2 to 1000000000", word);
        if (bench->count_count == bench_most_counts)
            cli_usage_error(state, "-n has more than %d numbers", bench_most_counts);
        bench->counts[bench->count_count++] = n;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct collisions_bench *bench = state->input;
    switch (key) {
    case 'n':
        parse_counts(argument, state);
        return 0;
    case key_device:
        bench->context.device = cli_parse_device(argument, state);
        return 0;
    case key_threads:
        bench->context.threads = (int32_t)cli_parse_count("--threads", argument, state);
        if (bench->context.threads < 1 || bench->context.threads > 4096)
            cli_usage_error(state, "--threads is %s; give 1 to 4096", argument);
        return 0;
    case key_seconds:
        bench->seconds = cli_parse_positive("--seconds", argument, state);
        return 0;
    case key_peers:
        bench->with_peers = true;
        return 0;
    case key_python:
        bench->python = argument;
        return 0;
    case key_plot:
        bench->plot = argument;
        bench->format = picture_format_of(argument);
        if (!bench->format)
            cli_usage_error(state, "--plot is '%s'; give a name that ends in .png, .svg or .gif",
                            argument);
        return 0;
    case 'q':
        bench->quiet = true;
        return 0;
    case key_json:
        bench->json = true;
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

static int print_json(const struct collisions_bench *bench, const struct collisions_rows *rows)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, bench->context.device);
    json_add_count(object, "threads", bench->context.threads);
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
    return json_print(bench->command, object);
}

static bool bench_all(const struct collisions_bench *bench, kith_context *context,
                      struct collisions_rows *rows)
{
    static const char *const kinds[] = {"walk", "scattered"};
    if (!bench->json)
        printf("%-26s %-9s %10s %12s %10s %12s %7s\n", "method", "", "beads", "ms", "Mbeads/s",
               "Gpairs/s", "limit");
    for (int32_t k = 0; k < bench->count_count; k++)
        for (int32_t kind = 0; kind < 2; kind++) {
            const int64_t first = rows->count;
            if (!bench_collisions_of(bench, context, kinds[kind], bench->counts[k], rows))
                return false;
            if (!bench->json)
                print_rows(rows, first);
        }
    const int64_t first = rows->count;
    if (!bench_collisions_batch(bench, context, rows))
        return false;
    if (!bench->json)
        print_rows(rows, first);
    return true;
}

static void choose_counts(struct collisions_bench *bench)
{
    static const int64_t counts[] = {100, 1000, 10000, 65536, 262144, 1000000, 10000000, 100000000};
    const int32_t all = sizeof counts / sizeof counts[0];
    bench->count_count = bench->context.device.kind == KITH_CUDA ? all : all - 1;
    memcpy(bench->counts, counts, (size_t)bench->count_count * sizeof counts[0]);
}

static bool start_numpy(struct collisions_bench *bench)
{
    if (!bench->with_peers)
        return true;
    bench->peers = peers_start(bench->command, bench->python, bench_peers_collisions, bench->quiet);
    if (!bench->peers)
        return false;
    const char *version = peers_version(bench->peers, "numpy");
    if (version && !bench->json)
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
    if (bench->plot && !picture_can_write(bench->command, bench->plot))
        return exit_failed;
    if (!bench->json)
        machine_print(bench->context.device);
    const bool done = start_numpy(bench) && bench_all(bench, context, rows);
    peers_end(bench->peers);
    if (!done || (bench->plot && !bench_collisions_plot(bench, rows)))
        return exit_failed;
    return bench->json ? print_json(bench, rows) : exit_ok;
}

int bench_collisions(int argc, char **argv)
{
    const char *python = getenv("KITH_PYTHON");
    struct collisions_bench bench = {.command = argv[0],
                                     .context = {.device = {KITH_CPU, 0}, .threads = 1},
                                     .seconds = 0.3,
                                     .python = python && *python ? python : "python3"};
    const struct argp argp = {options, parse, "", documentation, NULL, cli_filter_help, NULL};
    cli_parse(&argp, argc, argv, &bench);

    kith_context *context = NULL;
    struct collisions_rows *rows = calloc(1, sizeof *rows);
    int code = exit_failed;
    if (!rows)
        return cli_fail_with(argv[0], "no memory for the rows");
    if (kith_context_create(&bench.context, &context) != KITH_OK) {
        code = cli_fail(argv[0]);
    } else {
        bench.context.device = kith_context_device(context);
        if (bench.count_count == 0)
            choose_counts(&bench);
        code = bench_and_tell(&bench, context, rows);
    }
    free(rows);
    kith_context_free(context);
    return code;
}
