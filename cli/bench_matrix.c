/* kith bench matrix: how fast interaction matrices are filled, and multiplied without being. */

#include "bench_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "bench_machine.h"
#include "json.h"

enum { key_device = 0xa000, key_threads, key_precision, key_seconds, key_blocks, key_json };

static const struct argp_option options[] = {
    {"number", 'n', "N,...", 0, "particles (default: 1000 to 16384; GPU: 4096 to 10^6)", 0},
    {"device", key_device, "DEVICE", 0, "auto, cpu, cuda or cuda:K (default: cpu)", 0},
    {"threads", key_threads, "P", 0, "CPU threads (default: 1)", 0},
    {"precision", key_precision, "P", 0, "single or double (default: single)", 0},
    {"seconds", key_seconds, "S", 0, "measure a row for S seconds (default: 0.5)", 0},
    {"blocks", key_blocks, NULL, 0, "on a GPU, the seeds' tiles of 1 to 1024 threads too", 0},
    {"json", key_json, NULL, 0, "print one JSON object on standard output, nothing else there", 0},
    {0}};

static const char documentation[] =
    "Measure how fast interaction matrices are filled, beside memset of as many bytes in the same "
    "run, and how fast V b is computed without storing V, beside the limit of its instructions.\v"
    "Times are the best of repetitions; on a GPU the arrays are there. Matrices of more than 4 GB "
    "(64 GB on a GPU) are not stored.\n\n"
    "Examples:\n"
    "  kith bench matrix\n"
    "  kith bench matrix -n 65536 --device cuda --blocks\n"
    "  kith bench matrix -n 1000000 --device cuda --json";

static void parse_sizes(char *text, struct argp_state *state)
{
    struct matrix_bench *bench = state->input;
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const int64_t n = cli_parse_count("-n", word, state);
        if (n < 1 || n > 100000000)
            cli_usage_error(state, "-n is %s; give 1 to 100000000", word);
        if (bench->size_count == matrix_most_sizes)
            cli_usage_error(state, "-n has more than %d numbers", (int)matrix_most_sizes);
        bench->sizes[bench->size_count++] = n;
    }
}

static void parse_precision(const char *text, struct matrix_bench *bench,
                            const struct argp_state *state)
{
    if (strcmp(text, "single") != 0 && strcmp(text, "double") != 0)
        cli_usage_error(state, "--precision is '%s'; give single or double", text);
    bench->precision = strcmp(text, "single") == 0 ? KITH_F32 : KITH_F64;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct matrix_bench *bench = state->input;
    switch (key) {
    case 'n':
        parse_sizes(argument, state);
        return 0;
    case key_device:
        bench->context.device = cli_parse_device(argument, state);
        return 0;
    case key_threads:
        bench->context.threads = (int32_t)cli_parse_count("--threads", argument, state);
        if (bench->context.threads < 1 || bench->context.threads > 4096)
            cli_usage_error(state, "--threads is %s; give 1 to 4096", argument);
        return 0;
    case key_precision:
        parse_precision(argument, bench, state);
        return 0;
    case key_seconds:
        bench->seconds = cli_parse_positive("--seconds", argument, state);
        return 0;
    case key_blocks:
        bench->blocks = true;
        return 0;
    case key_json:
        bench->json = true;
        return 0;
    case ARGP_KEY_ARG:
        cli_usage_error(state, "'%s' is too much; bench matrix takes no file", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_rows(const struct matrix_rows_measured *rows, int64_t first)
{
    for (int64_t k = first; k < rows->count; k++) {
        const struct matrix_row *row = &rows->row[k];
        printf("%-20s %-14s %9lld %12.4f %12.2f", row->name, row->law ? row->law : "",
               (long long)row->n, 1e3 * row->seconds, 1e-9 * row->pairs_per_second);
        if (isfinite(row->bytes_per_second))
            printf(" %10.2f", 1e-9 * row->bytes_per_second);
        else
            printf(" %10s", "");
        if (isfinite(row->of_limit))
            printf(" %6.1f %%", 100 * row->of_limit);
        printf("\n");
    }
    fflush(stdout);
}

static int print_json(const struct matrix_bench *bench, const struct matrix_rows_measured *rows)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, bench->context.device);
    json_add_count(object, "threads", bench->context.threads);
    cJSON_AddStringToObject(object, "precision", cli_precision_name(bench->precision));
    cJSON *list = cJSON_AddArrayToObject(object, "rows");
    for (int64_t k = 0; k < rows->count; k++) {
        const struct matrix_row *row = &rows->row[k];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "what", row->name);
        cJSON_AddStringToObject(one, "law", row->law ? row->law : "");
        json_add_count(one, "particles", row->n);
        json_add_real(one, "seconds", row->seconds);
        json_add_real(one, "pairs_per_second", row->pairs_per_second);
        json_add_real(one, "bytes_per_second", row->bytes_per_second);
        json_add_real(one, "of_limit", row->of_limit);
        cJSON_AddItemToArray(list, one);
    }
    return json_print(bench->command, object);
}

static void choose_sizes(struct matrix_bench *bench)
{
    static const int64_t on_cpu[] = {1000, 4096, 16384}, on_gpu[] = {4096, 65536, 65537, 1000000};
    const bool gpu = bench->context.device.kind == KITH_CUDA;
    bench->size_count = gpu ? 4 : 3;
    memcpy(bench->sizes, gpu ? on_gpu : on_cpu, (size_t)bench->size_count * sizeof on_cpu[0]);
}

int bench_matrix(int argc, char **argv)
{
    struct matrix_bench bench = {
        .context = {.device = {KITH_CPU, 0}, .threads = 1}, .precision = KITH_F32, .seconds = 0.5};
    const struct argp argp = {options, parse, NULL, documentation, NULL, cli_filter_help, NULL};
    struct matrix_rows_measured rows = {.count = 0};
    kith_context *context = NULL;
    bench.command = argv[0];
    cli_parse(&argp, argc, argv, &bench);
    if (kith_context_create(&bench.context, &context) != KITH_OK)
        return cli_fail(argv[0]);
    bench.context.device = kith_context_device(context);
    if (bench.size_count == 0)
        choose_sizes(&bench);
    if (!bench.json)
        machine_print(bench.context.device);
    if (!bench.json)
        printf("%-20s %-14s %9s %12s %12s %10s %8s\n", "", "law", "particles", "ms", "Gpairs/s",
               "GB/s", "limit");
    bool done = true;
    for (int32_t k = 0; done && k < bench.size_count; k++) {
        const int64_t first = rows.count;
        done = bench_matrix_of(&bench, context, bench.sizes[k], &rows);
        if (done && !bench.json)
            print_rows(&rows, first);
    }
    kith_context_free(context);
    if (!done)
        return exit_failed;
    return bench.json ? print_json(&bench, &rows) : exit_ok;
}
