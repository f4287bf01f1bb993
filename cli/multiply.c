/* kith multiply: y = op(A) x of a sparse matrix in a file. */

#include "cli.h"
#include "device_choice.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "streams.h"

struct multiply_options {
    struct common_options common;
    kith_sparse_options sparse;
    kith_sparse_operation operation;
    const char *input, *x, *output;
    double alpha;
    int64_t repeat;
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

static const char documentation[] =
    "Multiply the sparse matrix in FILE by a vector.\v"
    "FILE is a Matrix Market file, also compressed (.mtx, .mtx.gz).\n\n"
    "Examples:\n"
    "  kith make uniform-cube -n 1000 -o cube.csv\n"
    "  kith pairs cube.csv --cutoff 0.2 -o A.mtx\n"
    "  kith multiply A.mtx -o y.npy\n"
    "  kith multiply A.mtx -x y.npy --transpose -o z.npy\n"
    "  kith multiply A.mtx --storage sell --repeat 100 --json";

static void check(void *options, const struct argp_state *state)
{
    const struct multiply_options *multiply = options;
    if (!multiply->input)
        cli_usage_error(state, "FILE is missing: a Matrix Market file");
    if (!multiply->output && !multiply->common.json)
        cli_usage_error(state, "-o is missing: the .npy file for the result (or give --json)");
    cli_check_stdout("-o", multiply->output, &multiply->common, state);
    cli_check_npy("-o", multiply->output, state);
}

static void set_transpose(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    (void)option, (void)text, (void)state;
    ((struct multiply_options *)options)->operation = KITH_SPARSE_TRANSPOSED;
}

static void set_block(void *options, const char *option, const char *text,
                      const struct argp_state *state)
{
    struct multiply_options *multiply = options;
    multiply->sparse.block = 2 + (int32_t)cli_parse_choice(option, text, &blocks, state);
}

#define AT(member) OPTION_AT(struct multiply_options, member)
static const struct option_row option_rows[] = {
    {NULL, "FILE", NULL, AT(input)},
    {"x", "FILE", "the vector, or k vectors as columns, .npy (default: ones)", AT(x),
     .letter = 'x'},
    {"transpose", NULL, "multiply by the transpose", .set = set_transpose},
    {"alpha", "A", "factor of the result (default: 1)", AT(alpha)},
    {"storage", NULL, "how to store the matrix (default: auto)", AT(sparse.format),
     .choices = &storages},
    {"format", .old = true},
    {"kernel", NULL, "how rows and entries are divided among threads (default: auto)",
     AT(sparse.kernel), .choices = &kernel_names},
    {"block", NULL, "side of the blocks of bsr: 2, 3 or 4 (default: the best)", .choices = &blocks,
     .set = set_block},
    {"tune", NULL, "time the best few formats and use the fastest", AT(sparse.tune)},
    {"repeat", "K", "multiply K times; print the shortest time", AT(repeat), .least = 1},
    {"output", "FILE", "write the result to FILE, .npy; - is standard output", AT(output),
     .letter = 'o'},
    {0}};

static const struct option_group groups[] = {
    {&common_parser, "Common options:", 3, offsetof(struct multiply_options, common)}, {0}};

static char *tables(void)
{
    return cli_join_help(cli_help_table("Formats:", format_row),
                         cli_help_table("Kernels:", kernel_row));
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

static const struct parser parser = {option_rows, groups, check, "FILE", documentation, tables};

int command_multiply(int argc, char **argv)
{
    struct multiply_options multiply = {.alpha = 1, .repeat = 1};
    cli_parse(&parser, argc, argv, &multiply);
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
