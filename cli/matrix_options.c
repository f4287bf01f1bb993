/* The command line of kith matrix. */

#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "streams.h"

enum {
    key_diagonal = 0x6000,
    key_reduce,
    key_histogram,
    key_times,
    key_columns,
    key_memory,
    key_symmetric,
    key_method,
    key_block,
    key_to
};

/* In the order of enum kith_matrix_method and kith_matrix_reduction. */
static const struct choices methods = {
    "M", {"auto", "reference", "direct", "tile-p", "tile-p2"}, NULL};
const struct choices matrix_reductions = {"R", {"sum", "min", "max", "argmin"}, NULL};

static const struct argp_option options[] = {
    {"diagonal", key_diagonal, "D", 0,
     "V[i][i]: zero; keep, the value of the law; or a number. --reduce, --histogram and --times "
     "leave i = j out unless keep or a number is given (default: zero)",
     0},
    {"columns", key_columns, "OTHER", 0,
     "V between the particles of FILE (rows) and those of OTHER (columns)", 0},
    {"reduce", key_reduce, CHOICES(matrix_reductions),
     "one value per row, over j other than i (see --diagonal): sum, min, max or argmin", 0},
    {"histogram", key_histogram, "BINS,LO,HI", 0,
     "count the values of pairs in bins; the last one is closed. With --diagonal keep or a number, "
     "each V[i][i] is counted once",
     0},
    {"times", key_times, "B.npy", 0,
     "multiply by a vector, without the diagonal unless --diagonal is keep or a number", 0},
    {"symmetric", key_symmetric, NULL, 0, "compute each pair once and store it twice", 0},
    {"memory", key_memory, "BYTES", 0,
     "memory for rows before they are written (default: 256M), for example 2000000 or 2G", 0},
    {"method", key_method, CHOICES(methods),
     "auto, direct or reference; on a GPU also tile-p and tile-p2 (default: auto)", 0},
    {"block", key_block, "P", 0, "side of the tiles of tile-p (to 1024) and tile-p2 (to 32)", 0},
    {"output", 'o', "FILE", 0,
     "an .npy file, or .csv for results that are not a matrix; - is standard output, where a "
     "matrix is written as NPY",
     0},
    {"to", key_to, CHOICES(choices_of_tables),
     "of results that are not a matrix: csv or npy (default: by its extension)", 0},
    {0}};

static const struct argp_child children[] = {{&law_argp, 0, "Law:", 2},
                                             {&input_argp, 0, "Particles:", 3},
                                             {&common_argp, 0, "Common options:", 4},
                                             {0}};

static const char documentation[] =
    "Compute the matrix V[i][j] of a law between all pairs of FILE's particles, or reductions "
    "and products of it without storing it.\v"
    "Examples:\n"
    "  kith make uniform-cube -n 500 -o cube.csv\n"
    "  kith matrix cube.csv --law power:1 -o V.npy\n"
    "  kith matrix cube.csv --law distance --histogram 200,0,1.8 -o g.csv\n"
    "  kith matrix cube.csv --law distance --reduce sum -o b.npy\n"
    "  kith matrix cube.csv --law gaussian:0.1 --times b.npy -o y.npy\n"
    "  kith make plummer -n 100 -o stars.csv\n"
    "  kith matrix stars.csv --columns cube.csv --law distance --reduce argmin";

static void parse_diagonal(const char *text, kith_matrix_options *matrix,
                           const struct argp_state *state)
{
    if (strcmp(text, "zero") == 0) {
        matrix->diagonal = KITH_DIAGONAL_ZERO;
    } else if (strcmp(text, "keep") == 0) {
        matrix->diagonal = KITH_DIAGONAL_KEEP;
    } else {
        matrix->diagonal = KITH_DIAGONAL_VALUE;
        matrix->diagonal_value = cli_parse_real("--diagonal", text, state);
    }
}

static void parse_histogram(char *text, struct matrix_options *matrix,
                            const struct argp_state *state)
{
    char *rest = text;
    const char *bins = strsep(&rest, ","), *low = strsep(&rest, ","), *high = strsep(&rest, ",");
    if (!high || rest) {
        cli_usage_error(state, "--histogram needs three numbers: BINS,LO,HI");
        return;
    }
    matrix->bins = cli_parse_count("BINS of --histogram", bins, state);
    matrix->low = cli_parse_real("LO of --histogram", low, state);
    matrix->high = cli_parse_real("HI of --histogram", high, state);
    if (matrix->bins < 1 || !(matrix->low < matrix->high))
        cli_usage_error(state,
                        "--histogram is %s,%s,%s; give at least one bin, and LO less than HI", bins,
                        low, high);
}

static void choose(struct matrix_options *matrix, enum matrix_what what,
                   const struct argp_state *state)
{
    if (matrix->what != matrix_elements)
        cli_usage_error(state, "give only one of --reduce, --histogram and --times");
    matrix->what = what;
}

static void check_usage(const struct matrix_options *matrix, const struct argp_state *state)
{
    if (!matrix->input.path)
        cli_usage_error(state, "FILE is missing: the particles of the rows");
    if (!matrix->law.text)
        cli_usage_error(state, "--law is missing: the law of a pair, for example power:1");
    if (matrix->input.softening_of_file)
        cli_usage_error(state,
                        "--softening is file, but a matrix has one softening; give a length");
    if (matrix->matrix.symmetric && matrix->columns)
        cli_usage_error(state, "--symmetric cannot be combined with --columns");
    if (matrix->matrix.diagonal != KITH_DIAGONAL_ZERO && matrix->columns)
        cli_usage_error(state,
                        "--diagonal cannot be combined with --columns; a matrix of two sets pairs "
                        "no particle with itself");
    if (matrix->what == matrix_elements && !matrix->output && !matrix->common.json)
        cli_usage_error(state, "-o is missing: the .npy file of the matrix");
    if (matrix->what == matrix_elements)
        cli_check_npy("-o", matrix->output, state);
    cli_check_stdout("-o", matrix->output, &matrix->common, state);
}

static error_t parse_what(int key, char *argument, struct argp_state *state)
{
    struct matrix_options *matrix = state->input;
    switch (key) {
    case key_reduce:
        choose(matrix, matrix_rows_reduced, state);
        matrix->reduction = (kith_matrix_reduction)cli_parse_choice("--reduce", argument,
                                                                    &matrix_reductions, state);
        return 0;
    case key_histogram:
        choose(matrix, matrix_histogram, state);
        parse_histogram(argument, matrix, state);
        return 0;
    case key_times:
        choose(matrix, matrix_product, state);
        matrix->vector = argument;
        return 0;
    case ARGP_KEY_END:
        check_usage(matrix, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct matrix_options *matrix = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &matrix->law;
        state->child_inputs[1] = &matrix->input;
        state->child_inputs[2] = &matrix->common;
        return 0;
    case key_diagonal:
        parse_diagonal(argument, &matrix->matrix, state);
        return 0;
    case key_columns:
        matrix->columns = argument;
        return 0;
    case key_symmetric:
        matrix->matrix.symmetric = true;
        return 0;
    case key_memory:
        matrix->memory = cli_parse_bytes("--memory", argument, state);
        return 0;
    case key_method:
        matrix->matrix.method =
            (kith_matrix_method)cli_parse_choice("--method", argument, &methods, state);
        return 0;
    case key_block:
        matrix->matrix.block = (int32_t)cli_parse_range("--block", argument, 1, 1024, state);
        return 0;
    case 'o':
        matrix->output = argument;
        return 0;
    case key_to:
        matrix->to = cli_parse_word("--to", argument, &choices_of_tables, state);
        return 0;
    default:
        return parse_what(key, argument, state);
    }
}

static char *filter_help(int key, const char *text, void *input)
{
    return key == ARGP_KEY_HELP_EXTRA ? law_help_table() : cli_filter_help(key, text, input);
}

void matrix_parse(int argc, char **argv, struct matrix_options *matrix)
{
    const struct argp argp = {options, parse, "FILE", documentation, children, filter_help, NULL};
    cli_parse(&argp, argc, argv, matrix);
    matrix->matrix.softening = matrix->input.softening;
}
