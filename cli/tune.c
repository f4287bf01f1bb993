/* kith tune: what is the fastest on a device, as a table, and kept for later. */

#include "tune.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cache_folder.h"
#include "core/clock.h"
#include "device/context.h"
#include "json.h"
#include "machine.h"
#include "streams.h"

struct tune_input {
    struct tune_options options;
    bool forgets;
};

static const char documentation[] =
    "Measure the fastest settings of a device, the first GPU or the CPU unless --device is "
    "given, and keep them for later: the number of bodies from which forces evaluate each pair "
    "once, the number of threads, the tiles.\v"
    "Without an argument both forces and matrix are tuned. On a GPU the textbook tile kernels are "
    "measured too: blocks of 1 to 1024 threads, loops unrolled 1 to 32 times, p or p² threads per "
    "tile; and for the method split 1 to 8 bodies per thread, and 32 to 256 threads that divide "
    "the "
    "sources of a body. docs/gpu-tiling.md has the results. Times are the shortest of several "
    "launches of a kernel.\n\n"
    "Results are kept in the user's cache folder, $XDG_CACHE_HOME/kith or ~/.cache/kith, and "
    "used whenever this user runs kith on such a device; kith info shows them. Results computed "
    "before and after may differ in their last bits. KITH_TUNING=off in the environment ignores "
    "them.\n\n"
    "Examples:\n"
    "  kith tune\n"
    "  kith tune matrix -o table.csv\n"
    "  kith tune --forget\n"
    "  kith tune forces --device cuda -o tiles.csv";

static void set_capability(void *options, const char *option, const char *text,
                           const struct argp_state *state)
{
    struct tune_options *tune = &((struct tune_input *)options)->options;
    (void)option;
    if (strcmp(text, "forces") == 0)
        tune->forces = true;
    else if (strcmp(text, "matrix") == 0)
        tune->matrix = true;
    else
        cli_usage_error(state, "'%s' cannot be tuned; give forces or matrix, or none for both",
                        text);
}

static void set_no_save(void *options, const char *option, const char *text,
                        const struct argp_state *state)
{
    (void)option, (void)text, (void)state;
    ((struct tune_input *)options)->options.keeps = false;
}

static void check(void *options, const struct argp_state *state)
{
    struct tune_options *tune = &((struct tune_input *)options)->options;
    if (!tune->forces && !tune->matrix)
        tune->forces = tune->matrix = true;
    if (tune->common.json && cli_is_stdout(tune->table))
        cli_usage_error(state, "-o and --json both want standard output; give -o a file");
}

static const struct choices capabilities = {"CAPABILITY", {"forces", "matrix"}, NULL};

#define AT(member) OPTION_AT(struct tune_input, member)
static const struct option_row option_rows[] = {
    {NULL, "CAPABILITY", .choices = &capabilities, .set = set_capability},
    {"output", "FILE", "write the table to FILE as CSV; - is standard output", AT(options.table),
     .letter = 'o'},
    {"no-save", NULL, "do not keep the result for later", .set = set_no_save},
    {"forget", NULL, "delete the settings of the device instead of measuring", AT(forgets)},
    {0}};

static const struct option_group groups[] = {
    {&bench_device_parser, "Measuring:", 2, offsetof(struct tune_input, options.common)}, {0}};

static const struct parser parser = {option_rows,       groups,        check,
                                     "[forces|matrix]", documentation, NULL};

/* Gflop/s of forces, at 20 flop an interaction; Gbyte/s of a matrix. */
static double rate_of(const struct tune_row *row)
{
    const double pairs = (double)row->count * (double)row->count;
    const double each =
        strcmp(row->capability, "forces") == 0 ? 20 : (double)kith_dtype_bytes(row->precision);
    return 1e-9 * each * pairs / row->seconds;
}

static void print_row(const struct tune_row *row)
{
    printf("%-8s %-8s %-10s %-9s %9lld %7d %5d %6d %6d %6d %12.3f %10.1f\n",
           cli_device_name(row->device), row->capability, row->method,
           cli_precision_name(row->precision), (long long)row->count, (int)row->threads,
           (int)row->block, (int)row->unroll, (int)row->bodies_per_thread,
           (int)row->threads_per_body, 1e6 * row->seconds, rate_of(row));
    fflush(stdout);
}

/* Standard output is for JSON or the table alone if one of them goes there. */
static bool prints(const struct tune_options *options)
{
    return !options->common.json && !cli_is_stdout(options->table);
}

bool tune_add(const struct tune_options *options, struct tune_rows *rows, struct tune_row row)
{
    if (rows->count == rows->room) {
        const int64_t room = rows->room ? 2 * rows->room : 256;
        struct tune_row *moved = realloc(rows->row, (size_t)room * sizeof *moved);
        if (!moved) {
            cli_fail_with(options->common.command, "no memory for %lld rows", (long long)room);
            return false;
        }
        rows->row = moved;
        rows->room = room;
    }
    rows->row[rows->count++] = row;
    if (prints(options))
        print_row(&row);
    return true;
}

const struct tune_row *tune_best(const struct tune_rows *rows, const struct tune_row *like)
{
    const struct tune_row *best = NULL;
    for (int64_t k = 0; k < rows->count; k++) {
        const struct tune_row *row = &rows->row[k];
        const bool is_alike = strcmp(row->capability, like->capability) == 0 &&
                              strcmp(row->method, like->method) == 0 &&
                              row->device.kind == like->device.kind &&
                              row->precision == like->precision && row->count == like->count &&
                              row->threads == like->threads;
        if (is_alike && (!best || row->seconds < best->seconds))
            best = row;
    }
    return best;
}

/* Seconds of a call when this many follow each other; negative after an error. */
static double time_calls(kith_context *context, kith_status (*start)(void *state), void *state,
                         int64_t calls)
{
    double seconds = 0;
    kith_status status = context->services->mark_time(context, 0);
    for (int64_t k = 0; k < calls && status == KITH_OK; k++)
        status = start(state);
    if (status == KITH_OK)
        status = context->services->mark_time(context, 1);
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    if (status == KITH_OK)
        status = context->services->elapsed_seconds(context, &seconds);
    return status == KITH_OK ? seconds / (double)calls : -1;
}

double tune_time(kith_context *context, kith_status (*start)(void *state), void *state,
                 double seconds)
{
    /* The first call loads code and takes memory; the second shows how many make a repetition long
     * enough for the clock. */
    enum { least_rounds = 3 };
    const double long_enough = 2e-4, begin = kith_clock();
    double best = time_calls(context, start, state, 1);
    if (best >= 0)
        best = time_calls(context, start, state, 1);
    if (best < 0)
        return -1;
    const int64_t calls = best < long_enough ? (int64_t)(long_enough / fmax(best, 1e-7)) + 1 : 1;
    for (int round = 0; round < least_rounds || kith_clock() - begin < seconds; round++) {
        const double taken = time_calls(context, start, state, calls);
        if (taken < 0)
            return -1;
        best = fmin(best, taken);
        if (kith_clock() - begin > 20 * seconds)
            break;
    }
    return best;
}

static void write_csv(FILE *stream, const struct tune_rows *rows)
{
    fprintf(stream, "device,capability,method,precision,count,threads,block,unroll,"
                    "bodies_per_thread,threads_per_body,seconds,rate\n");
    for (int64_t k = 0; k < rows->count; k++) {
        const struct tune_row *row = &rows->row[k];
        fprintf(stream, "%s,%s,%s,%s,%lld,%d,%d,%d,%d,%d,%.6g,%.6g\n", cli_device_name(row->device),
                row->capability, row->method, cli_precision_name(row->precision),
                (long long)row->count, (int)row->threads, (int)row->block, (int)row->unroll,
                (int)row->bodies_per_thread, (int)row->threads_per_body, row->seconds,
                rate_of(row));
    }
}

static bool write_table(const struct tune_options *options, const struct tune_rows *rows)
{
    FILE *stream = cli_is_stdout(options->table) ? stdout : fopen(options->table, "w");
    if (stream == stdout) { /* main checks its errors */
        write_csv(stream, rows);
        return true;
    }
    if (stream) {
        write_csv(stream, rows);
        const bool failed = ferror(stream) != 0;
        if (fclose(stream) == 0 && !failed)
            return true;
    }
    cli_fail_with(options->common.command, "%s: cannot write: %s", options->table, strerror(errno));
    return false;
}

static int print_json(const struct tune_options *options, const struct tune_rows *rows,
                      const kith_tuning *tuning)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, options->common.device);
    cJSON_AddStringToObject(object, "device", cli_device_name(options->common.device));
    cJSON_AddItemToObject(object, "tuning", json_of_tuning(tuning));
    cJSON_AddBoolToObject(object, "saved", options->keeps);
    cJSON *list = cJSON_AddArrayToObject(object, "rows");
    for (int64_t k = 0; k < rows->count; k++) {
        const struct tune_row *row = &rows->row[k];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        cJSON_AddStringToObject(one, "device", cli_device_name(row->device));
        cJSON_AddStringToObject(one, "capability", row->capability);
        cJSON_AddStringToObject(one, "method", row->method);
        cJSON_AddStringToObject(one, "precision", cli_precision_name(row->precision));
        json_add_count(one, "count", row->count);
        json_add_count(one, "threads", row->threads);
        json_add_count(one, "block", row->block);
        json_add_count(one, "unroll", row->unroll);
        json_add_count(one, "bodies_per_thread", row->bodies_per_thread);
        json_add_count(one, "threads_per_body", row->threads_per_body);
        json_add_real(one, "seconds", row->seconds);
        json_add_real(one, strcmp(row->capability, "forces") == 0 ? "gflops" : "gbytes_per_second",
                      rate_of(row));
    }
    return json_print(options->common.command, object);
}

static bool measure(const struct tune_options *options, kith_context *context,
                    struct tune_rows *rows, kith_tuning *tuning)
{
    DEVICE_SCOPE(scope);
    (void)device_enter(context, &scope);
    if (prints(options))
        printf("%-8s %-8s %-10s %-9s %9s %7s %5s %6s %6s %6s %12s %10s\n", "device", "", "method",
               "precision", "N", "threads", "block", "unroll", "bodies", "shared", "us",
               "Gflop|GB/s");
    if (options->forces && !tune_forces(options, context, rows, tuning))
        return false;
    if (options->matrix && !tune_matrix(options, context, rows, tuning))
        return false;
    const bool is_gpu = options->common.device.kind == KITH_CUDA;
    return !options->forces || !is_gpu || tune_forces_beside(options, rows);
}

/* Does what the user requested with the rows; an exit code. */
static int hand_over(const struct tune_options *options, const struct tune_rows *rows,
                     const kith_tuning *tuning)
{
    if (options->table && !write_table(options, rows))
        return exit_failed;
    if (options->keeps && kith_tuning_write(options->common.device, tuning) != KITH_OK)
        return cli_fail(options->common.command);
    if (options->common.json)
        return print_json(options, rows, tuning);
    if (prints(options)) {
        printf("\n");
        cli_print_tuning(options->common.device, tuning);
    }
    return exit_ok;
}

int command_tune(int argc, char **argv)
{
    struct tune_input input = {.options = {.common = {.command = argv[0]}, .keeps = true}};
    struct tune_options *options = &input.options;
    cli_parse(&parser, argc, argv, &input);

    char folder[cache_path_bytes];
    if (options->keeps && !input.forgets && cache_folder(folder) != KITH_OK)
        return cli_fail_with(argv[0], "%s, or give --no-save", kith_error_message());
    kith_context *context = NULL;
    struct tune_rows rows = {0};
    const kith_context_options on = {.device = options->common.device};
    if (kith_context_create(&on, &context) != KITH_OK)
        return cli_fail(argv[0]);
    options->common.device = kith_context_device(context);
    kith_tuning tuning;
    kith_tuning_read(options->common.device, &tuning); /* other settings are kept */
    int code = exit_failed;
    if (input.forgets)
        code = kith_tuning_forget(options->common.device) == KITH_OK ? exit_ok : cli_fail(argv[0]);
    else if (measure(options, context, &rows, &tuning))
        code = hand_over(options, &rows, &tuning);
    free(rows.row);
    kith_context_free(context);
    return code;
}
