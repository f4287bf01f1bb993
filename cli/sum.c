/* kith sum: sums of formulas over pairs of particles. */

#include "sum.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_choice.h"
#include "json.h"
#include "streams.h"

static const struct choices reductions = {"R", {"sum", "min", "max", "count", "logsumexp"}, NULL};
static const struct choices methods = {"METHOD", {"auto", "reference"}, NULL};

static const char documentation[] =
    "Sum formulas over the pairs of FILE's particles, within a cutoff in open space or in a "
    "periodic cell of any shape, or over all pairs.\v"
    "The output has one row per particle, in input order, and one column per --out. The pairs are "
    "those that kith pairs lists. Formulas are compiled by the system's C compiler, or for a GPU "
    "by NVRTC.\n\n"
    "Examples:\n"
    "  kith make uniform-cube -n 1000 -o cube.csv\n"
    "  kith sum cube.csv --cutoff 0.2 --box 1,1,1 --out neighbors=1\n"
    "  kith sum cube.csv --cutoff 0.2 --out 'rho=m_j*exp(-r2/h/h)' --param h=0.1\n"
    "  kith sum cube.csv --let 'W=exp(-r2)' --out rho=m_j*W --out fx=m_j*dx*W";

/* The copy of NAME=WHAT, cut at the first =. */
static char *split(struct sum_options *sum, const char *option, const char *argument, char **what,
                   const struct argp_state *state)
{
    if (sum->word_count == sum_most_words)
        cli_usage_error(state, "%s is given too often; give at most %d formulas", option,
                        sum_most_words);
    char *word = sum->words[sum->word_count++] = cli_copy(argument, state);
    *what = strchr(word, '=');
    if (!*what || *what == word || (*what)[1] == '=')
        cli_usage_error(state, "%s is '%s'; give NAME=%s", option, argument,
                        strcmp(option, "--param") == 0 ? "VALUE" : "FORMULA");
    *(*what)++ = 0;
    return word;
}

static void add_formula(struct sum_options *sum, const char *option, const char *argument,
                        kith_named_formula *to, int64_t *count, int64_t most,
                        const struct argp_state *state)
{
    char *formula = NULL;
    if (*count == most)
        cli_usage_error(state, "%s is given more than %d times; give fewer", option, (int)most);
    const char *name = split(sum, option, argument, &formula, state);
    to[(*count)++] = (kith_named_formula){name, formula};
}

static void add_parameter(struct sum_options *sum, const char *argument,
                          const struct argp_state *state)
{
    char *value = NULL, option[64];
    if (sum->sums.parameter_count == sum_most_parameters)
        cli_usage_error(state, "--param is given more than %d times", sum_most_parameters);
    const char *name = split(sum, "--param", argument, &value, state);
    snprintf(option, sizeof option, "--param %.40s", name);
    sum->parameters[sum->sums.parameter_count++] =
        (kith_law_parameter){name, cli_parse_real(option, value, state)};
}

static void check(void *options, const struct argp_state *state)
{
    struct sum_options *sum = options;
    if (!sum->input.path)
        cli_usage_error(state, "FILE is missing: the particles to sum over");
    if (sum->output_count == 0)
        cli_usage_error(state, "--out is missing: NAME=FORMULA, the formula to sum");
    cli_check_extension("-o", sum->output, sum->to, extensions_of_tables, state);
    cli_check_stdout("-o", sum->output, &sum->common, state);
    sum->sums.lets = sum->lets;
    sum->sums.parameters = sum->parameters;
    sum_find_columns(sum, state);
}

static void set_out(void *options, const char *option, const char *text,
                    const struct argp_state *state)
{
    struct sum_options *sum = options;
    add_formula(sum, option, text, sum->outputs, &sum->output_count, KITH_SUMS_MAX_OUTPUTS, state);
}

static void set_let(void *options, const char *option, const char *text,
                    const struct argp_state *state)
{
    struct sum_options *sum = options;
    add_formula(sum, option, text, sum->lets, &sum->sums.let_count, sum_most_formulas, state);
}

static void set_parameter(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    (void)option;
    add_parameter(options, text, state);
}

#define AT(member) OPTION_AT(struct sum_options, member)
static const struct option_row option_rows[] = {
    {"out", "NAME=FORMULA",
     "a column of the output: the sum over j of a formula in r, r2, dx, dy, dz, NAME_i and NAME_j "
     "of the file's columns, parameters and lets; repeatable",
     .set = set_out},
    {"let", "NAME=FORMULA", "a named formula that later formulas can use; repeatable",
     .set = set_let},
    {"param", "NAME=VALUE", "a parameter of the formulas; repeatable", .set = set_parameter},
    {"cutoff", "R", "sum over pairs at distances less than R (default: all pairs)", AT(sums.cutoff),
     .positive = true},
    {"reduce", NULL,
     "sum, min, max, count or logsumexp of the values; count is the number of nonzero values "
     "(default: sum)",
     AT(sums.reduction), .choices = &reductions},
    {"self", NULL, "include the pair of each particle with itself, at r = 0",
     AT(sums.include_self)},
    {"targets", "FILE", "the particles i (default: FILE); FILE has the particles j", AT(targets)},
    {"method", NULL,
     "auto, or reference: pair by pair in double precision, without a compiler (default: auto)",
     AT(sums.method), .choices = &methods},
    {"output", "FILE", "write the sums to FILE: .csv or .npy (default: -, standard output, as CSV)",
     AT(output), .letter = 'o'},
    {"to", NULL, "of the output: csv or npy (default: by its extension)", AT(to),
     .choices = &choices_of_tables},
    {0}};

static const struct option_group groups[] = {
    {&bodies_parser, "Particles:", 2, offsetof(struct sum_options, input)},
    {&cell_parser, NULL, 0, offsetof(struct sum_options, cell)},
    {&common_parser, "Common options:", 3, offsetof(struct sum_options, common)},
    {0}};

static const struct parser parser = {option_rows, groups, check, "FILE", documentation, NULL};

/* The memory of one run of the command. */
struct sum_job {
    struct sum_side sources, targets; /* targets without bodies are the sources */
    kith_cell cell;
    bool has_cell;
    void *result;
    int64_t rows, pairs;
    double seconds;
};

static kith_status compute_on(kith_context *context, const struct sum_options *sum,
                              struct sum_job *job)
{
    kith_sums_options options = sum->sums;
    struct timespec start, end;
    options.cell = job->has_cell ? &job->cell : NULL;
    options.pair_count = &job->pairs;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const kith_status status = kith_sums_compute(
        context, &options, job->targets.bodies ? &job->targets.particles : NULL,
        &job->sources.particles, sum->output_count, sum->outputs,
        kith_array_matrix(job->result, sum->common.precision, job->rows, sum->output_count));
    clock_gettime(CLOCK_MONOTONIC, &end);
    job->seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    return status;
}

/* The device for the particles that have been read; auto goes to the CPU if the GPU cannot. */
static int compute(const char *command, const struct sum_options *sum, kith_context **context,
                   struct sum_job *job)
{
    const double sources = (double)job->sources.bodies->count, targets = (double)job->rows;
    const bool is_near = sum->sums.cutoff > 0;
    const kith_work work = {.kind = is_near ? KITH_WORK_NEAR : KITH_WORK_SUMS,
                            .units = is_near ? targets : targets * sources,
                            .rows = job->targets.bodies ? targets + sources : sources};
    const bool is_reference = sum->sums.method == KITH_SUMS_REFERENCE; /* the CPU's */
    const int code =
        is_reference ? exit_ok : cli_choose_device(command, &sum->common, work, context);
    if (code != exit_ok)
        return code;
    kith_status status = compute_on(*context, sum, job);
    if (cli_fall_back(command, &sum->common, status, context))
        status = compute_on(*context, sum, job);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

static kith_status write_result(const struct sum_options *sum, const struct sum_job *job)
{
    kith_table_column columns[KITH_SUMS_MAX_OUTPUTS];
    const kith_dtype dtype = sum->common.precision;
    for (int64_t k = 0; k < sum->output_count; k++) {
        columns[k] = (kith_table_column){
            sum->outputs[k].name,
            kith_array_vector((char *)job->result + k * kith_dtype_bytes(dtype), dtype, job->rows)};
        columns[k].values.strides[0] = sum->output_count;
    }
    const char *path = cli_output_path(sum->output ? sum->output : "-");
    return kith_table_write(path, cli_output_format(path, sum->to), sum->output_count, columns);
}

static int print_json(const char *command, const struct sum_options *sum,
                      const kith_context *context, const struct sum_job *job)
{
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "particles", job->rows);
    json_add_count(object, "pairs", job->pairs);
    json_add_count(object, "outputs", sum->output_count);
    cJSON_AddStringToObject(object, "reduce", reductions.words[sum->sums.reduction]);
    if (sum->sums.cutoff > 0)
        json_add_real(object, "cutoff", sum->sums.cutoff);
    else
        cJSON_AddNullToObject(object, "cutoff");
    json_add_real(object, "seconds", job->seconds);
    json_add_real(object, "pairs_per_second", (double)job->pairs / job->seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(context)));
    cJSON_AddStringToObject(object, "precision", cli_precision_name(sum->common.precision));
    return json_print(command, object);
}

static int run_sum(const char *command, const struct sum_options *sum, kith_context **context,
                   struct sum_job *job)
{
    const kith_bodies *bodies = job->sources.bodies;
    int code = cell_choose(command, &sum->cell, bodies, &job->cell, &job->has_cell);
    if (code != exit_ok)
        return code;
    job->rows = job->targets.bodies ? job->targets.bodies->count : bodies->count;
    job->result = calloc((size_t)(job->rows * sum->output_count) + 1, sizeof(double));
    if (!job->result || !sum_take_side(sum, &job->sources) ||
        (job->targets.bodies && !sum_take_side(sum, &job->targets)))
        return cli_fail_with(command, "no memory for %lld particles", (long long)bodies->count);
    if ((code = compute(command, sum, context, job)) != exit_ok)
        return code;
    if ((sum->output || !sum->common.json) && write_result(sum, job) != KITH_OK)
        return cli_fail(command);
    return sum->common.json ? print_json(command, sum, *context, job) : exit_ok;
}

static int read_particles(const char *command, const struct sum_options *sum, struct sum_job *job)
{
    struct input_options input = sum->input;
    int code = load_bodies(command, &input, sum->output, true, &job->sources.bodies);
    if (code != exit_ok || !sum->targets)
        return code;
    input.path = sum->targets;
    code = load_bodies(command, &input, sum->output, true, &job->targets.bodies);
    if (code == exit_ok && job->targets.bodies->dimensions != job->sources.bodies->dimensions)
        return cli_fail_with(command, "%s has %d dimensions and %s has %d; give equal dimensions",
                             sum->input.path, (int)job->sources.bodies->dimensions, sum->targets,
                             (int)job->targets.bodies->dimensions);
    return code;
}

static void free_words(struct sum_options *sum)
{
    for (int k = 0; k < sum->word_count; k++)
        free(sum->words[k]);
    for (int k = 0; sum->column_names[k]; k++)
        free(sum->column_names[k]);
}

int command_sum(int argc, char **argv)
{
    struct sum_options sum = {0};
    cli_parse(&parser, argc, argv, &sum);

    kith_context *context = NULL;
    struct sum_job job = {0};
    int code = exit_failed;
    const kith_context_options where = cli_context_to_begin(&sum.common);
    if (kith_context_create(&where, &context) != KITH_OK)
        code = cli_fail(argv[0]);
    else if ((code = read_particles(argv[0], &sum, &job)) == exit_ok)
        code = run_sum(argv[0], &sum, &context, &job);
    sum_free_side(&job.sources);
    sum_free_side(&job.targets);
    free(job.result);
    free_words(&sum);
    kith_context_free(context);
    return code;
}
