/* kith bench pairs: neighbour lists of several systems, beside vesin, SciPy, matscipy and freud. */

#include "bench_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { key_device = 0xa000, key_threads, key_seconds, key_peers, key_python, key_json };

static const struct argp_option option_table[] = {
    {"device", key_device, "DEVICE", 0, "cpu, cuda or cuda:K (default: cpu)", 0},
    {"number", 'n', "N,...", 0, "points of a system (default: 100,1000,10000,100000,1000000)", 0},
    {"threads", key_threads, "P", 0,
     "threads of kith, and of those peers that have any "
     "(default: 1)",
     0},
    {"seconds", key_seconds, "S", 0,
     "measure each program for S seconds a system (default: 0.5), and three times at least unless "
     "that takes ten times as long",
     0},
    {"peers", key_peers, NULL, 0, "measure other programs too, in turns with kith", 0},
    {"python", key_python, "PROGRAM", 0,
     "the Python that has them (default: KITH_PYTHON or python3)", 0},
    {"json", key_json, NULL, 0, "print one JSON object on standard output, nothing else there", 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {0}};

static const char documentation[] =
    "Measure how long lists of neighbours take, in both precisions; on a GPU with points and lists "
    "in its memory.\v"
    "SYSTEM is a name of the list below; without any, all. Lists are full, with i and j, sorted, "
    "and use their memory again.\n\n"
    "Examples:\n"
    "  kith bench pairs\n"
    "  kith bench pairs cube square -n 1000,1000000 --threads 2\n"
    "  kith bench pairs --peers --python venv/bin/python\n"
    "  kith bench pairs --device cuda -n 1000,10000,100000,1000000,10000000";

static void parse_counts(struct pairs_bench_options *options, const char *text,
                         const struct argp_state *state)
{
    char *copy = strdup(text), *rest = copy;
    for (const char *word; copy && (word = strsep(&rest, ","));) {
        const int64_t n = cli_parse_count("-n", word, state);
        if (n < 1 || n > 1 << 28)
            cli_usage_error(state, "-n is %s; give 1 to %d", word, 1 << 28);
        if (options->count_count == pairs_most_counts)
            cli_usage_error(state, "-n has more than %d numbers", pairs_most_counts);
        options->counts[options->count_count++] = n;
    }
    free(copy);
}

static void parse_case(struct pairs_bench_options *options, const char *name,
                       const struct argp_state *state)
{
    const struct pairs_case *kind = pairs_case_named(name);
    if (!kind)
        cli_usage_error(state, "'%s' is no system; kith bench pairs --help lists them", name);
    if (options->case_count == pairs_most_cases)
        cli_usage_error(state, "there are more than %d systems", pairs_most_cases);
    options->cases[options->case_count++] = kind;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pairs_bench_options *options = state->input;
    switch (key) {
    case key_device:
        options->device = cli_parse_device(argument, state);
        return 0;
    case 'n':
        parse_counts(options, argument, state);
        return 0;
    case key_threads:
        options->threads = (int32_t)cli_parse_count("--threads", argument, state);
        if (options->threads < 1 || options->threads > 4096)
            cli_usage_error(state, "--threads is %s; give 1 to 4096", argument);
        return 0;
    case key_seconds:
        options->seconds = cli_parse_positive("--seconds", argument, state);
        return 0;
    case key_peers:
        options->with_peers = true;
        return 0;
    case key_python:
        options->python = argument;
        return 0;
    case key_json:
        options->json = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        parse_case(options, argument, state);
        return 0;
    case ARGP_KEY_END:
        if (options->with_peers && options->device.kind != KITH_CPU)
            cli_usage_error(state, "--peers are programs of the CPU; leave out --device");
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
    if (key != ARGP_KEY_HELP_POST_DOC)
        return cli_filter_help(key, text, input);
    char *table = cli_help_table("\n\nSystems:", count, help_row), *all = NULL;
    if (table && asprintf(&all, "%s%s", text, table) < 0)
        all = NULL;
    free(table);
    return all ? all : (char *)text;
}

static void take_defaults(struct pairs_bench_options *options)
{
    static const int64_t usual[] = {100, 1000, 10000, 100000, 1000000};
    int64_t count = 0;
    const struct pairs_case *kinds = pairs_cases(&count);
    if (options->case_count == 0)
        for (int64_t k = 0; k < count; k++)
            options->cases[options->case_count++] = &kinds[k];
    if (options->count_count > 0)
        return;
    memcpy(options->counts, usual, sizeof usual);
    options->count_count = sizeof usual / sizeof usual[0];
}

static bool measure_row(struct pairs_report *report, kith_context *context,
                        const struct pairs_case *kind, int64_t count)
{
    struct pairs_row *row = &report->rows[report->row_count];
    struct pairs_points_of points;
    bool measured = pairs_points_make(kind, count, &points);
    if (!measured)
        cli_fail_with(report->options->command, "no memory for %lld points", (long long)count);
    measured = measured && pairs_measure(report, context, &points, row);
    pairs_points_free(&points);
    if (measured && !report->options->json)
        pairs_bench_row(report, row);
    report->row_count += measured;
    return measured;
}

static int measure_all(struct pairs_report *report, kith_context *context)
{
    const struct pairs_bench_options *options = report->options;
    if (!options->json)
        pairs_bench_heading(report);
    for (int32_t k = 0; k < options->case_count; k++)
        for (int32_t n = 0; n < options->count_count; n++)
            if (!measure_row(report, context, options->cases[k], options->counts[n]))
                return exit_failed;
    if (options->json)
        return pairs_bench_json(report);
    pairs_bench_end(report);
    return exit_ok;
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

int bench_pairs(int argc, char **argv)
{
    const char *python = getenv("KITH_PYTHON");
    struct pairs_bench_options options = {.command = argv[0],
                                          .device = {KITH_CPU, 0},
                                          .threads = 1,
                                          .seconds = 0.5,
                                          .python = python && *python ? python : "python3"};
    const struct argp argp = {option_table, parse,       "[SYSTEM...]", documentation,
                              NULL,         filter_help, NULL};
    cli_parse(&argp, argc, argv, &options);
    take_defaults(&options);

    const kith_context_options on = {.device = options.device, .threads = options.threads};
    kith_context *context = NULL;
    if (kith_context_create(&on, &context) != KITH_OK)
        return cli_fail(options.command);
    struct pairs_report *report = calloc(1, sizeof *report);
    int code = exit_failed;
    if (report) {
        report->options = &options;
        if (options.with_peers)
            report->peers =
                peers_start(options.command, options.python, bench_peers_pairs, options.quiet);
        if (report->peers)
            find_peers(report);
        if (report->peers || !options.with_peers)
            code = measure_all(report, context);
        peers_end(report->peers);
    } else
        cli_fail_with(options.command, "no memory");
    free(report);
    kith_context_free(context);
    return code;
}
