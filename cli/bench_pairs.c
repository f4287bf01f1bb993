/* kith bench pairs: neighbor lists of several systems, beside vesin, SciPy, matscipy and freud. */

#include "bench_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "names.h"

enum { key_unsorted = 0x9000, key_narrow };

static const struct argp_option option_table[] = {
    {"number", 'n', "N,...", 0, "points of a system (default: 100,1000,10000,100000,1000000)", 0},
    {"unsorted", key_unsorted, 0, 0, "the pairs of one i in any order", 0},
    {"narrow", key_narrow, 0, 0, "i and j of 32 bits instead of 64", 0},
    {0}};

static const struct argp_child children[] = {
    {&bench_argp, 0, "Measuring:", 2}, {&bench_peers_argp, 0, "Other programs:", 3}, {0}};

static const char documentation[] =
    "Measure how long lists of neighbors take, in both precisions: on the CPU with one thread "
    "unless --threads says otherwise, on a GPU with points and lists in its memory.\v"
    "SYSTEM is a name of the list below; without any, all. Lists are full, with i and j, sorted "
    "unless told otherwise, and use their memory again.\n\n"
    "Examples:\n"
    "  kith bench pairs\n"
    "  kith bench pairs cube square -n 1000,10000 --threads 2\n"
    "  kith bench pairs --quick --json\n"
    "  kith bench pairs --device cuda -n 1000,10000,100000,1000000,10000000\n"
    "  kith bench pairs --device cuda --unsorted --narrow cube";

static void parse_case(struct pairs_bench_options *options, const char *name,
                       const struct argp_state *state)
{
    const struct pairs_case *kind = pairs_case_named(name);
    struct nearest nearest = nearest_to(name);
    int64_t count = 0;
    const struct pairs_case *all = pairs_cases(&count);
    for (int64_t k = 0; k < count; k++)
        nearest_offer(&nearest, all[k].name);
    if (!kind)
        cli_usage_error(state, "'%s' is no system; %s", name,
                        nearest_hint(&nearest, "kith bench pairs --help lists them"));
    if (options->case_count == pairs_most_cases)
        cli_usage_error(state, "there are more than %d systems", pairs_most_cases);
    options->cases[options->case_count++] = kind;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pairs_bench_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        bench_begin_children(state, 0, 2, &options->common);
        return 0;
    case 'n':
        bench_parse_counts(&options->common, argument, 1 << 28, state);
        return 0;
    case key_unsorted:
        options->unsorted = true;
        return 0;
    case key_narrow:
        options->narrow = true;
        return 0;
    case ARGP_KEY_ARG:
        parse_case(options, argument, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void help_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const struct pairs_case *kind = &pairs_cases(&count)[k];
    *name = kind->name;
    *description = kind->description;
}

static char *filter_help(int key, const char *text, void *input)
{
    int64_t count = 0;
    pairs_cases(&count);
    return key == ARGP_KEY_HELP_EXTRA ? cli_help_table("Systems:", count, help_row)
                                      : cli_filter_help(key, text, input);
}

static void take_defaults(struct pairs_bench_options *options)
{
    static const int64_t usual[] = {100, 1000, 10000, 100000, 1000000},
                         quick[] = {100, 1000, 10000};
    int64_t count = 0;
    const struct pairs_case *kinds = pairs_cases(&count);
    if (options->case_count == 0)
        for (int64_t k = 0; k < count; k++)
            options->cases[options->case_count++] = &kinds[k];
    bench_take_counts(&options->common, options->common.quick ? quick : usual,
                      options->common.quick ? sizeof quick / sizeof quick[0]
                                            : sizeof usual / sizeof usual[0]);
    bench_take_seconds(&options->common, 0.5);
}

static bool measure_row(struct pairs_report *report, kith_context *context,
                        const struct pairs_case *kind, int64_t count)
{
    struct pairs_row *row = &report->rows[report->row_count];
    struct pairs_points_of points;
    bool measured = pairs_points_make(kind, count, &points);
    if (!measured)
        cli_fail_with(report->options->common.command, "no memory for %lld points",
                      (long long)count);
    measured = measured && pairs_measure(report, context, &points, row);
    pairs_points_free(&points);
    if (measured && !report->options->common.json)
        pairs_bench_row(report, row);
    report->row_count += measured;
    return measured;
}

static int measure_all(struct pairs_report *report, kith_context *context)
{
    const struct pairs_bench_options *options = report->options;
    if (!options->common.json)
        pairs_bench_heading(report);
    for (int32_t k = 0; k < options->case_count; k++)
        for (int32_t n = 0; n < options->common.count_count; n++)
            if (!measure_row(report, context, options->cases[k], options->common.counts[n]))
                return exit_failed;
    if (!options->common.json)
        pairs_bench_end(report);
    return bench_hand_over(&options->common, "pairs", pairs_bench_json(report));
}

static void find_peers(struct pairs_report *report)
{
    static const char *const names[pairs_most_peers] = {"vesin", "scipy", "matscipy",
                                                        "freud-analysis"};
    for (int32_t k = 0; k < pairs_most_peers; k++) {
        const char *version = peers_version(report->peers, names[k]);
        if (!version)
            continue;
        report->peer_name[report->peer_count] = names[k];
        report->peer_version[report->peer_count++] = version;
    }
}

/* Measures beside the peers that there are: the exit code. */
static int measure_beside(struct pairs_report *report, kith_context *context)
{
    const struct bench_common *common = &report->options->common;
    if (common->with_peers) {
        report->peers =
            peers_start(common->command, common->python, bench_peers_pairs, common->quiet);
        if (!report->peers)
            return exit_failed;
        find_peers(report);
    }
    const int code = measure_all(report, context);
    peers_end(report->peers);
    return code;
}

int bench_pairs(int argc, char **argv, cJSON **result)
{
    struct pairs_bench_options options = {.common = bench_begin(argv[0], result)};
    const struct argp argp = {option_table, parse,       "[SYSTEM...]", documentation,
                              children,     filter_help, NULL};
    cli_parse(&argp, argc, argv, &options);

    kith_context *context = NULL;
    if (bench_open(&options.common, &context) != exit_ok)
        return exit_failed;
    take_defaults(&options);
    struct pairs_report *report = calloc(1, sizeof *report);
    int code = exit_failed;
    if (report) {
        report->options = &options;
        code = measure_beside(report, context);
    } else {
        cli_fail_with(options.common.command, "no memory");
    }
    free(report);
    kith_context_free(context);
    return code;
}
