/* The command line of kith matrix. */

#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "streams.h"

/* In the order of enum kith_matrix_method and kith_matrix_reduction. */
static const struct choices methods = {
    "M", {"auto", "reference", "direct", "tile-p", "tile-p2"}, NULL};
const struct choices matrix_reductions = {"R", {"sum", "min", "max", "argmin"}, NULL};

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

static void set_diagonal(void *options, const char *option, const char *text,
                         const struct argp_state *state)
{
    kith_matrix_options *matrix = &((struct matrix_options *)options)->matrix;
    if (strcmp(text, "zero") == 0) {
        matrix->diagonal = KITH_DIAGONAL_ZERO;
    } else if (strcmp(text, "keep") == 0) {
        matrix->diagonal = KITH_DIAGONAL_KEEP;
    } else {
        matrix->diagonal = KITH_DIAGONAL_VALUE;
        if (!cli_read_real(text, &matrix->diagonal_value))
            cli_usage_error(state, "%s is '%s'; give zero, keep or a finite number", option, text);
    }
}

static void choose(struct matrix_options *matrix, enum matrix_what what,
                   const struct argp_state *state)
{
    if (matrix->what != matrix_elements)
        cli_usage_error(state, "give only one of --reduce, --histogram and --times");
    matrix->what = what;
}

static void check(void *options, const struct argp_state *state)
{
    const struct matrix_options *matrix = options;
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
    else
        cli_check_extension("-o", matrix->output, matrix->to, extensions_of_tables, state);
    cli_check_stdout("-o", matrix->output, &matrix->common, state);
}

static void set_reduction(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    struct matrix_options *matrix = options;
    choose(matrix, matrix_rows_reduced, state);
    matrix->reduction =
        (kith_matrix_reduction)cli_parse_choice(option, text, &matrix_reductions, state);
}

static void set_histogram(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    struct matrix_options *matrix = options;
    choose(matrix, matrix_histogram, state);
    char *copy = cli_copy(text, state), *rest = copy;
    const char *bins = strsep(&rest, ","), *low = strsep(&rest, ","), *high = strsep(&rest, ",");
    if (!high || rest) {
        free(copy);
        cli_usage_error(state, "%s needs three numbers: BINS,LO,HI", option);
        return;
    }
    matrix->bins = cli_parse_count("BINS of --histogram", bins, state);
    matrix->low = cli_parse_real("LO of --histogram", low, state);
    matrix->high = cli_parse_real("HI of --histogram", high, state);
    free(copy);
    if (matrix->bins < 1 || !(matrix->low < matrix->high))
        cli_usage_error(state, "%s is %s; give at least one bin, and LO less than HI", option,
                        text);
}

static void set_times(void *options, const char *option, const char *text,
                      const struct argp_state *state)
{
    struct matrix_options *matrix = options;
    (void)option;
    choose(matrix, matrix_product, state);
    matrix->vector = text;
}

static void set_memory(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    ((struct matrix_options *)options)->memory = cli_parse_bytes(option, text, state);
}

#define AT(member) OPTION_AT(struct matrix_options, member)
static const struct option_row option_rows[] = {
    {"diagonal", "D",
     "V[i][i]: zero; keep, the value of the law; or a number. --reduce, --histogram and --times "
     "leave i = j out unless keep or a number is given (default: zero)",
     .set = set_diagonal},
    {"columns", "OTHER", "V between the particles of FILE (rows) and those of OTHER (columns)",
     AT(columns)},
    {"reduce", NULL,
     "one value per row, over j other than i (see --diagonal): sum, min, max or argmin",
     .choices = &matrix_reductions, .set = set_reduction},
    {"histogram", "BINS,LO,HI",
     "count the values of pairs in bins; the last one is closed. With --diagonal keep or a number, "
     "each V[i][i] is counted once",
     .set = set_histogram},
    {"times", "B.npy",
     "multiply by a vector, without the diagonal unless --diagonal is keep or a number",
     .set = set_times},
    {"symmetric", NULL, "compute each pair once and store it twice", AT(matrix.symmetric)},
    {"memory", "BYTES",
     "memory for rows before they are written (default: 256M), for example 2000000 or 2G",
     .set = set_memory},
    {"method", NULL, "auto, direct or reference; on a GPU also tile-p and tile-p2 (default: auto)",
     AT(matrix.method), .choices = &methods},
    {"block", "P", "side of the tiles of tile-p (to 1024) and tile-p2 (to 32)", AT(matrix.block),
     .least = 1, .most = 1024},
    {"output", "FILE",
     "an .npy file, or .csv for results that are not a matrix; - is standard output, where a "
     "matrix is written as NPY",
     AT(output), .letter = 'o'},
    {"to", NULL, "of results that are not a matrix: csv or npy (default: by its extension)", AT(to),
     .choices = &choices_of_tables},
    {0}};

static const struct option_group groups[] = {
    {&law_parser, "Law:", 2, offsetof(struct matrix_options, law)},
    {&input_parser, "Particles:", 3, offsetof(struct matrix_options, input)},
    {&common_parser, "Common options:", 4, offsetof(struct matrix_options, common)},
    {0}};

void matrix_parse(int argc, char **argv, struct matrix_options *matrix)
{
    static const struct parser parser = {option_rows, groups,        check,
                                         "FILE",      documentation, law_help_table};
    cli_parse(&parser, argc, argv, matrix);
    matrix->matrix.softening = matrix->input.softening;
}
