/* kith megno: whether a trajectory is chaotic, and how soon. */

#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "device_choice.h"
#include "job.h"
#include "json.h"
#include "load.h"
#include "progress.h"
#include "streams.h"

struct megno_options {
    struct common_options common; /* --json and --quiet alone */
    struct input_options input;
    kith_megno_options how;
    const char *output, *to;
    bool until_given;
};

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

static void check(void *options, const struct argp_state *state)
{
    const struct megno_options *megno = options;
    if (!megno->input.path)
        cli_usage_error(state, "FILE is missing: the bodies to start from");
    if (!megno->until_given)
        cli_usage_error(state, "--until is missing: the time of the end");
    if (megno->input.softening_of_file)
        cli_usage_error(state, "--softening is file; give one length for all bodies");
    cli_check_extension("-o", megno->output, megno->to, extensions_of_records, state);
    cli_check_stdout("-o", megno->output, &megno->common, state);
}

#define AT(member)    OPTION_AT(struct megno_options, member)
#define GIVEN(member) OPTION_GIVEN(struct megno_options, member)
static const struct option_row option_rows[] = {
    {"until", "T", "time of the end", AT(how.until), GIVEN(until_given)},
    {"dt", "D", "length of the first step (default: a thousandth of the time)", AT(how.dt),
     .positive = true},
    {"samples", "K", "rows of the output, at equal times (default: 100)", AT(how.samples),
     .least = 1},
    {"output", "FILE",
     "write time,megno,mean_megno,growth to FILE: .csv, .npy or .h5 (default: nothing is kept)",
     AT(output), .letter = 'o'},
    {"to", NULL, "of the output: csv, npy or h5 (default: by its extension)", AT(to),
     .choices = &choices_of_records},
    {"json", NULL, "print one JSON object on standard output, nothing else there", AT(common.json)},
    {"quiet", NULL, "no progress or notes", AT(common.quiet), .letter = 'q'},
    {0}};

static const struct option_group groups[] = {
    {&input_parser, "Bodies and gravity:", 1, offsetof(struct megno_options, input)}, {0}};

static const struct parser parser = {option_rows, groups, check, "FILE", documentation, NULL};

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
    cli_parse(&parser, argc, argv, &megno);
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
