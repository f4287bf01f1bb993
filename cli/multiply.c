/* kith multiply: y = op(A) x of a sparse matrix in a file. */

#include "cli.h"
#include "device_choice.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "names.h"
#include "streams.h"

struct multiply_options {
    struct common_options common;
    kith_sparse_options sparse;
    kith_sparse_operation operation;
    const char *input, *x, *output;
    double alpha;
    int64_t repeat;
};

enum {
    key_transpose = 0x8000,
    key_storage,
    key_kernel,
    key_block,
    key_tune,
    key_repeat,
    key_alpha
};

static bool put_choice(const kith_sparse_choice *list, int64_t count, int64_t k, const char **name,
                       const char **description)
{
    if (k >= count)
        return false;
    *name = list[k].name;
    *description = list[k].description;
    return true;
}

static bool format_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const kith_sparse_choice *list = kith_sparse_format_list(&count);
    return put_choice(list, count, k, name, description);
}

static bool kernel_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const kith_sparse_choice *list = kith_sparse_kernel_list(&count);
    return put_choice(list, count, k, name, description);
}

static const struct choices storages = {"FORMAT", {NULL}, format_row};
static const struct choices kernel_names = {"KERNEL", {NULL}, kernel_row};
static const struct choices blocks = {"B", {"2", "3", "4"}, NULL};

static const struct argp_option options[] = {
    {"x", 'x', "FILE", 0, "the vector, or k vectors as columns, .npy (default: ones)", 0},
    {"transpose", key_transpose, NULL, 0, "multiply by the transpose", 0},
    {"alpha", key_alpha, "A", 0, "factor of the result (default: 1)", 0},
    {"storage", key_storage, CHOICES(storages), "how to store the matrix (default: auto)", 0},
    {"format", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
    {"kernel", key_kernel, CHOICES(kernel_names),
     "how rows and entries are divided among threads (default: auto)", 0},
    {"block", key_block, CHOICES(blocks),
     "side of the blocks of bsr: 2, 3 or 4 (default: the best)", 0},
    {"tune", key_tune, NULL, 0, "time the best few formats and use the fastest", 0},
    {"repeat", key_repeat, "K", 0, "multiply K times; print the shortest time", 0},
    {"output", 'o', "FILE", 0, "write the result to FILE, .npy; - is standard output", 0},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 3}, {0}};

static const char documentation[] =
    "Multiply the sparse matrix in FILE by a vector.\v"
    "FILE is a Matrix Market file, also compressed (.mtx, .mtx.gz).\n\n"
    "Examples:\n"
    "  kith make uniform-cube -n 1000 -o cube.csv\n"
    "  kith pairs cube.csv --cutoff 0.2 -o A.mtx\n"
    "  kith multiply A.mtx -o y.npy\n"
    "  kith multiply A.mtx -x y.npy --transpose -o z.npy\n"
    "  kith multiply A.mtx --storage sell --repeat 100 --json";

static int64_t parse_repeat(const char *text, const struct argp_state *state)
{
    const int64_t repeat = cli_parse_count("--repeat", text, state);
    if (repeat < 1)
        cli_usage_error(state, "--repeat is %s; give a whole number of at least 1", text);
    return repeat;
}

static error_t parse_end(struct multiply_options *multiply, const struct argp_state *state)
{
    if (!multiply->input)
        cli_usage_error(state, "FILE is missing: a Matrix Market file");
    if (!multiply->output && !multiply->common.json)
        cli_usage_error(state, "-o is missing: the .npy file for the result (or give --json)");
    cli_check_stdout("-o", multiply->output, &multiply->common, state);
    cli_check_npy("-o", multiply->output, state);
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct multiply_options *multiply = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &multiply->common;
        return 0;
    case 'x':
        multiply->x = argument;
        return 0;
    case 'o':
        multiply->output = argument;
        return 0;
    case key_transpose:
        multiply->operation = KITH_SPARSE_TRANSPOSED;
        return 0;
    case key_alpha:
        multiply->alpha = cli_parse_real("--alpha", argument, state);
        return 0;
    case key_storage:
        multiply->sparse.format =
            (kith_sparse_format)cli_parse_choice("--storage", argument, &storages, state);
        return 0;
    case key_kernel:
        multiply->sparse.kernel =
            (kith_sparse_kernel)cli_parse_choice("--kernel", argument, &kernel_names, state);
        return 0;
    case key_block:
        multiply->sparse.block = 2 + (int32_t)cli_parse_choice("--block", argument, &blocks, state);
        return 0;
    case key_tune:
        multiply->sparse.tune = true;
        return 0;
    case key_repeat:
        multiply->repeat = parse_repeat(argument, state);
        return 0;
    case ARGP_KEY_ARG:
        if (multiply->input)
            cli_usage_error(state, "unexpected argument '%s'; give one FILE", argument);
        multiply->input = argument;
        return 0;
    case ARGP_KEY_END:
        return parse_end(multiply, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static char *filter_help(int key, const char *text, void *input)
{
    if (key == ARGP_KEY_HELP_EXTRA)
        return cli_join_help(cli_help_table("Formats:", format_row),
                             cli_help_table("Kernels:", kernel_row));
    return cli_filter_help(key, text, input);
}

/* What a product works on. */
struct vectors {
    kith_array x, y; /* in the precision of the computation */
    void *x_data, *y_data;
};

static void free_vectors(struct vectors *vectors)
{
    free(vectors->x_data);
    free(vectors->y_data);
}

/* x from its file, or ones; false, with a message, on failure. */
static bool read_x(const char *command, const struct multiply_options *multiply, int64_t columns,
                   kith_array *x)
{
    if (multiply->x) {
        if (kith_npy_read(multiply->x, x) == KITH_OK)
            return true;
        cli_fail(command);
        return false;
    }
    double *ones = malloc((size_t)(columns + 1) * sizeof *ones);
    for (int64_t j = 0; ones && j < columns; j++)
        ones[j] = 1;
    *x = kith_array_vector(ones, KITH_F64, columns);
    if (!ones)
        cli_fail_with(command, "no memory for a vector of %lld", (long long)columns);
    return ones;
}

static void convert_to_single(kith_array *x)
{
    const int64_t count = x->shape[0] * (x->ndim == 2 ? x->shape[1] : 1);
    for (int64_t k = 0; k < count; k++) { /* in place: element k is read before it is written */
        const float value = (float)((double *)x->data)[k];
        memcpy((char *)x->data + (size_t)k * sizeof value, &value, sizeof value);
    }
    x->dtype = KITH_F32;
}

static bool make_vectors(const char *command, const struct multiply_options *multiply, int64_t rows,
                         int64_t columns, struct vectors *vectors)
{
    if (!read_x(command, multiply, columns, &vectors->x))
        return false;
    vectors->x_data = vectors->x.data;
    if (multiply->common.precision == KITH_F32)
        convert_to_single(&vectors->x);
    const kith_dtype dtype = vectors->x.dtype;
    const bool matrix = vectors->x.ndim == 2;
    const int64_t count = matrix ? vectors->x.shape[1] : 1;
    vectors->y_data = calloc((size_t)(rows * count + 1), (size_t)kith_dtype_bytes(dtype));
    vectors->y = matrix ? kith_array_matrix(vectors->y_data, dtype, rows, count)
                        : kith_array_vector(vectors->y_data, dtype, rows);
    if (!vectors->y_data)
        cli_fail_with(command, "no memory for a result of %lld x %lld", (long long)rows,
                      (long long)count);
    return vectors->y_data;
}

static kith_status multiply_repeatedly(const struct multiply_options *multiply,
                                       kith_context *context, kith_sparse *sparse,
                                       const struct vectors *vectors, double *seconds)
{
    for (int64_t k = 0; k < multiply->repeat; k++) {
        const double start = cli_clock();
        kith_status status = kith_sparse_multiply(sparse, multiply->operation, multiply->alpha,
                                                  vectors->x, 0, vectors->y);
        if (status == KITH_OK)
            status = kith_context_synchronize(context);
        if (status != KITH_OK)
            return status;
        const double taken = cli_clock() - start;
        *seconds = k == 0 || taken < *seconds ? taken : *seconds;
    }
    return KITH_OK;
}

static int print_json(const char *command, const struct multiply_options *multiply,
                      kith_context *context, const kith_sparse_info *info,
                      const struct vectors *vectors, double seconds)
{
    int64_t count = 0;
    const int64_t k = vectors->x.ndim == 2 ? vectors->x.shape[1] : 1;
    const int64_t each = kith_dtype_bytes(info->dtype);
    const double bytes =
        (double)info->bytes + (double)(k * each) * (double)(info->rows + info->columns);
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "rows", info->rows);
    json_add_count(object, "columns", info->columns);
    json_add_count(object, "nonzeros", info->nonzeros);
    cJSON_AddStringToObject(object, "format", kith_sparse_format_list(&count)[info->format].name);
    cJSON_AddStringToObject(object, "kernel", kith_sparse_kernel_list(&count)[info->kernel].name);
    cJSON_AddStringToObject(object, "reason", info->reason);
    json_add_count(object, "bytes", info->bytes);
    json_add_real(object, "seconds", seconds);
    json_add_real(object, "gflops", 2e-9 * (double)info->nonzeros * (double)k / seconds);
    json_add_real(object, "gbytes_per_second", 1e-9 * bytes / seconds);
    json_add_real(object, "convert_seconds", info->convert_seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(context)));
    cJSON_AddStringToObject(object, "precision", cli_precision_name(multiply->common.precision));
    return json_print(command, object);
}

static int run_multiply(const char *command, const struct multiply_options *multiply,
                        kith_context *context, kith_sparse *sparse, struct vectors *vectors)
{
    kith_sparse_info info;
    double seconds = 0;
    if (kith_sparse_describe(sparse, multiply->operation, &info) != KITH_OK)
        return cli_fail(command);
    const bool transposed = multiply->operation == KITH_SPARSE_TRANSPOSED;
    if (!make_vectors(command, multiply, transposed ? info.columns : info.rows,
                      transposed ? info.rows : info.columns, vectors))
        return exit_failed;
    if (multiply_repeatedly(multiply, context, sparse, vectors, &seconds) != KITH_OK)
        return cli_fail(command);
    if (multiply->output &&
        kith_npy_write(cli_output_path(multiply->output), vectors->y) != KITH_OK)
        return cli_fail(command);
    return multiply->common.json ? print_json(command, multiply, context, &info, vectors, seconds)
                                 : exit_ok;
}

static int take_inputs(const char *command, struct multiply_options *multiply)
{
    int code = cli_take_plain_input(command, &multiply->input, multiply->output);
    if (code == exit_ok && multiply->x)
        code = cli_take_plain_input(command, &multiply->x, multiply->output);
    return code;
}

int command_multiply(int argc, char **argv)
{
    struct multiply_options multiply = {.alpha = 1, .repeat = 1};
    const struct argp argp = {options, parse, "FILE", documentation, children, filter_help, NULL};
    cli_parse(&argp, argc, argv, &multiply);
    multiply.sparse.dtype = multiply.common.precision;

    /* One product takes less time than bringing the matrix to a GPU (KITH_WORK_SPARSE). */
    const kith_context_options begin = multiply.sparse.kernel == KITH_SPARSE_KERNEL_AUTO
                                           ? cli_context_to_begin(&multiply.common)
                                           : multiply.common.context;
    kith_context *context = NULL;
    kith_sparse *sparse = NULL;
    struct vectors vectors = {0};
    int code = exit_failed;
    if ((code = take_inputs(argv[0], &multiply)) != exit_ok)
        return code;
    if (kith_context_create(&begin, &context) != KITH_OK ||
        kith_sparse_read(context, &multiply.sparse, multiply.input, &sparse) != KITH_OK)
        code = cli_fail(argv[0]);
    else
        code = run_multiply(argv[0], &multiply, context, sparse, &vectors);
    free_vectors(&vectors);
    kith_sparse_free(sparse);
    kith_context_free(context);
    return code;
}
