/* kith bench matrix: how fast interaction matrices are filled, and multiplied without being. */

#include "bench_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "bench_machine.h"
#include "json.h"

enum { key_precision = 0xa000, key_blocks };

static const struct argp_option options[] = {
    {"number", 'n', "N,...", 0, "particles (default: 1000 to 16384; GPU: 4096 to 10^6)", 0},
    {"precision", key_precision, "P", 0, "single or double (default: single)", 0},
    {"blocks", key_blocks, NULL, 0, "on a GPU, tile kernels of 1 to 1024 threads too", 0},
    {0}};

static const struct argp_child children[] = {{&bench_argp, 0, "Measuring:", 2}, {0}};

static const char documentation[] =
    "Measure how fast interaction matrices are filled, on the CPU with one thread unless --threads "
    "says otherwise, beside memset of as many bytes in the same "
    "run, and how fast V b is computed without storing V, beside the limit of its instructions. A "
    "fill's limit is memset, or on a CPU its instructions if they take longer.\v"
    "Times are the best of repetitions; on a GPU the arrays are there. Matrices of more than 4 GB "
    "(64 GB on a GPU) are not stored.\n\n"
    "Examples:\n"
    "  kith bench matrix\n"
    "  kith bench matrix -n 1000 --precision double --json\n"
    "  kith bench matrix -n 65536 --device cuda --blocks";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct matrix_bench *bench = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        bench_begin_children(state, 0, 1, &bench->common);
        return 0;
    case 'n':
        bench_parse_counts(&bench->common, argument, 100000000, state);
        return 0;
    case key_precision:
        bench->precision = cli_parse_precision(argument, state);
        return 0;
    case key_blocks:
        bench->blocks = true;
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

static cJSON *as_json(const struct matrix_bench *bench, const struct matrix_rows_measured *rows)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, bench->common.device);
    json_add_count(object, "threads", bench->common.threads[0]);
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
    return object;
}

static void choose_sizes(struct bench_common *common)
{
    static const int64_t on_cpu[] = {1000, 4096, 16384}, on_gpu[] = {4096, 65536, 65537, 1000000};
    static const int64_t quick[] = {250, 1000};
    if (common->quick)
        bench_take_counts(common, quick, 2);
    else if (common->device.kind == KITH_CUDA)
        bench_take_counts(common, on_gpu, 4);
    else
        bench_take_counts(common, on_cpu, 3);
    bench_take_seconds(common, 0.5);
}

static bool measure_all(const struct matrix_bench *bench, kith_context *context,
                        struct matrix_rows_measured *rows)
{
    const bool tells = !bench->common.json;
    if (tells && !bench->common.result)
        machine_print(bench->common.device);
    if (tells)
        printf("%-20s %-14s %9s %12s %12s %10s %8s\n", "", "law", "particles", "ms", "Gpairs/s",
               "GB/s", "limit");
    for (int32_t k = 0; k < bench->common.count_count; k++) {
        const int64_t first = rows->count;
        if (!bench_matrix_of(bench, context, bench->common.counts[k], rows))
            return false;
        if (tells)
            print_rows(rows, first);
    }
    return true;
}

int bench_matrix(int argc, char **argv, cJSON **result)
{
    struct matrix_bench bench = {.common = bench_begin(argv[0], result), .precision = KITH_F32};
    const struct argp argp = {options, parse, NULL, documentation, children, cli_filter_help, NULL};
    struct matrix_rows_measured rows = {.count = 0};
    kith_context *context = NULL;
    cli_parse(&argp, argc, argv, &bench);
    if (bench_open(&bench.common, &context) != exit_ok)
        return exit_failed;
    choose_sizes(&bench.common);
    const bool done = measure_all(&bench, context, &rows);
    kith_context_free(context);
    return done ? bench_hand_over(&bench.common, "matrix", as_json(&bench, &rows)) : exit_failed;
}
