/* kith megno: whether a trajectory is chaotic, and how soon. */

#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "device_choice.h"
#include "job.h"
#include "json.h"
#include "load.h"
#include "names.h"
#include "progress.h"
#include "streams.h"

struct megno_options {
    struct common_options common; /* --json and --quiet alone */
    struct input_options input;
    kith_megno_options how;
    const char *output, *to;
    bool until_given;
};

enum { key_until = 0x9100, key_dt, key_samples, key_to, key_json };

static const struct argp_option options[] = {
    {"until", key_until, "T", 0, "time of the end", 0},
    {"dt", key_dt, "D", 0, "length of the first step (default: a thousandth of the time)", 0},
    {"samples", key_samples, "K", 0, "rows of the output, at equal times (default: 100)", 0},
    {"output", 'o', "FILE", 0,
     "write time,megno,mean_megno,growth to FILE: .csv, .npy or .h5 (default: nothing is kept)", 0},
    {"to", key_to, CHOICES(choices_of_records),
     "of the output: csv, npy or h5 (default: by its extension)", 0},
    {"json", key_json, NULL, 0, "print one JSON object on standard output, nothing else there", 0},
    {"quiet", 'q', NULL, 0, "no progress or notes", 0},
    {0}};

static const struct argp_child children[] = {{&input_argp, 0, "Bodies and gravity:", 1}, {0}};

static const char documentation[] =
    "Compute MEGNO, the mean exponential growth of nearby orbits, and the Lyapunov time of bodies "
    "under gravity, by variational equations along the steps of ias15.\v"
    "The mean MEGNO tends to 2 on a regular orbit, and grows as half the Lyapunov exponent times the "
    "time on a chaotic one. The Lyapunov exponent is the slope of growth, the logarithm of the displacement "
    "over that at the start, over the second half of the time; the Lyapunov time is its inverse.\n\n"
    "Examples:\n"
    "  kith megno outer-solar-system --until 3652500\n"
    "  kith make planets --elements 1e-3,1,0.1,0,0,0,0 -o one.csv\n"
    "  kith megno one.csv --until 1000 -o megno.csv --json";

static void check_usage(const struct megno_options *megno, const struct argp_state *state)
{
    if (!megno->input.path)
        cli_usage_error(state, "FILE is missing: the bodies to start from");
    if (!megno->until_given)
        cli_usage_error(state, "--until is missing: the time of the end");
    if (megno->input.softening_of_file)
        cli_usage_error(state, "--softening is file; give one length for all bodies");
    cli_check_stdout("-o", megno->output, &megno->common, state);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct megno_options *megno = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &megno->input;
        return 0;
    case key_until:
        megno->how.until = cli_parse_real("--until", argument, state);
        megno->until_given = true;
        return 0;
    case key_dt:
        megno->how.dt = cli_parse_positive("--dt", argument, state);
        return 0;
    case key_samples:
        megno->how.samples = cli_parse_count("--samples", argument, state);
        if (megno->how.samples == 0)
            cli_usage_error(state, "--samples is 0; give a number of at least 1");
        return 0;
    case 'o':
        megno->output = argument;
        return 0;
    case key_to:
        megno->to = cli_parse_word("--to", argument, &choices_of_records, state);
        return 0;
    case key_json:
        megno->common.json = true;
        return 0;
    case 'q':
        megno->common.quiet = true;
        return 0;
    case ARGP_KEY_END:
        check_usage(megno, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static kith_array column(const kith_megno_sample *samples, int64_t count, size_t offset)
{
    kith_array array = kith_array_vector((char *)samples + offset, KITH_F64, count);
    array.strides[0] = sizeof *samples / sizeof(double);
    return array;
}

static kith_status write_samples(const struct megno_options *megno,
                                 const kith_megno_sample *samples)
{
    const int64_t count = megno->how.samples;
    const kith_table_column table[] = {
        {"time", column(samples, count, offsetof(kith_megno_sample, time))},
        {"megno", column(samples, count, offsetof(kith_megno_sample, megno))},
        {"mean_megno", column(samples, count, offsetof(kith_megno_sample, mean_megno))},
        {"growth", column(samples, count, offsetof(kith_megno_sample, growth))}};
    const char *path = cli_output_path(megno->output);
    return kith_table_write_records(path, cli_output_format(path, megno->to), 4, table);
}

static int print(const char *command, const struct megno_options *megno, const kith_megno *result,
                 int64_t bodies)
{
    if (megno->common.json) {
        cJSON *object = cJSON_CreateObject();
        json_add_count(object, "bodies", bodies);
        json_add_real(object, "until", megno->how.until);
        json_add_real(object, "megno", result->megno);
        json_add_real(object, "mean_megno", result->mean_megno);
        json_add_real(object, "lyapunov_exponent", result->lyapunov_exponent);
        json_add_real(object, "lyapunov_time", result->lyapunov_time);
        json_add_count(object, "steps", result->steps);
        return json_print(command, object);
    }
    FILE *stream = cli_is_stdout(megno->output) ? stderr : stdout;
    fprintf(stream, "%lld bodies to time %.15g, %lld steps of ias15\n", (long long)bodies,
            megno->how.until, (long long)result->steps);
    fprintf(stream, "MEGNO %.4g, mean %.4g\n", result->megno, result->mean_megno);
    fprintf(stream, "Lyapunov exponent %.3g, time %.3g\n", result->lyapunov_exponent,
            result->lyapunov_time);
    return exit_ok;
}

static int run_megno(const char *command, const struct megno_options *megno, kith_context *context,
                     const kith_bodies *bodies)
{
    kith_megno result;
    kith_megno_sample *samples =
        cli_allocate(command, "samples", megno->how.samples, sizeof *samples);
    if (!samples)
        return exit_failed;
    progress_begin(context, true); /* for its signals alone */
    kith_status status = kith_megno_compute(context, &megno->how, bodies, samples, &result);
    progress_end(context);
    if (status == KITH_OK && megno->output)
        status = write_samples(megno, samples);
    const int code =
        status == KITH_OK ? print(command, megno, &result, bodies->count) : cli_fail(command);
    free(samples);
    return code;
}

int command_megno(int argc, char **argv)
{
    struct megno_options megno = {.how.samples = 100};
    const struct argp argp = {options,  parse,           "FILE", documentation,
                              children, cli_filter_help, NULL};
    cli_parse(&argp, argc, argv, &megno);
    megno.common.context = (kith_context_options){.device = {KITH_CPU, 0}, .threads = 1};
    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    const bool quiet = megno.common.quiet || megno.common.json;
    int code = job_create_context(argv[0], &megno.common.context, &context);
    if (code == exit_ok)
        code = load_bodies(argv[0], &megno.input, megno.output, quiet, &bodies);
    if (code == exit_ok)
        code = load_check_open(argv[0], &megno.input, megno.input.path, bodies);
    megno.how.gravitational_constant = megno.input.gravitational_constant;
    megno.how.softening = megno.input.softening;
    if (code == exit_ok)
        code = run_megno(argv[0], &megno, context, bodies);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return code;
}
