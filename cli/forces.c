/* kith forces: all-pairs accelerations and potentials of a file's bodies. */

#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "law_options.h"
#include "load.h"
#include "names.h"
#include "streams.h"

struct forces_options {
    struct common_options common;
    struct input_options input;
    struct law_options law;
    kith_forces_sum sum;
    kith_forces_method method;
    int32_t block, unroll;
    const char *output, *to;
};

enum { key_sum = 0x4000, key_method, key_block, key_unroll, key_to };

static const struct argp_option options[] = {
    {"sum", key_sum, "WHAT", 0,
     "over the other bodies: force, divided by the body's mass and with the potential (default), or "
     "value, the energies of the pairs alone",
     0},
    {"method", key_method, "METHOD", 0,
     "auto, direct, reference, split, symmetric, tile-p or tile-p2 (default: auto)", 0},
    {"block", key_block, "P", 0, "side of the tiles: tile-p 1 to 1024, tile-p2 1 to 32", 0},
    {"unroll", key_unroll, "U", 0, "of tile-p: 1, 2, 4, 8, 16 or 32", 0},
    {"output", 'o', "FILE", 0,
     "write ax,ay[,az],potential (of --sum value: value) to FILE, .csv or .npy (default: -, "
     "standard output, as CSV)",
     0},
    {"to", key_to, "FORMAT", 0, "of the output: csv or npy (default: by its extension)", 0},
    {0}};

static const struct argp_child children[] = {{&law_argp, 0, "Law:", 2},
                                             {&input_argp, 0, "Bodies and gravity:", 3},
                                             {&common_argp, 0, "Common options:", 4},
                                             {0}};

static const char documentation[] =
    "Compute the acceleration and the potential of every body of FILE under the gravity of all "
    "others, or under another law.\v"
    "Examples:\n"
    "  kith make plummer -n 1000 -o plummer.csv\n"
    "  kith forces plummer.csv --softening 0.01 -o acc.csv\n"
    "  kith forces plummer.csv --precision single --json\n"
    "  kith forces plummer.csv --law yukawa:2.5 --param k=332.06 -o ions.csv\n"
    "  kith forces plummer.csv --law lennard-jones:1,0.1 --sum value -o e.npy\n"
    "  kith forces plummer.csv --potential 'a*exp(-r/b)' --param a=2 --param b=1\n"
    "  kith forces plummer.csv --device cuda --method tile-p --block 128\n\n"
    "With another law than gravity the potential is the energy of a body with all others, not "
    "divided by its mass. Masses and charges that FILE does not give are 1.";

static const char *name_of_sum(int64_t k)
{
    return k == 0 ? "force" : "value";
}

static kith_forces_sum parse_sum(const char *text, const struct argp_state *state)
{
    return cli_parse_name("--sum", text, 2, name_of_sum, state) == 0 ? KITH_FORCES_SUM_FORCE
                                                                     : KITH_FORCES_SUM_VALUE;
}

static int32_t parse_tile(const char *option, const char *text, int64_t most,
                          const struct argp_state *state)
{
    const int64_t value = cli_parse_count(option, text, state);
    if (value < 1 || value > most)
        cli_usage_error(state, "%s is %s; give 1 to %lld", option, text, (long long)most);
    return (int32_t)value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct forces_options *forces = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &forces->law;
        state->child_inputs[1] = &forces->input;
        state->child_inputs[2] = &forces->common;
        return 0;
    case key_sum:
        forces->sum = parse_sum(argument, state);
        return 0;
    case key_method:
        forces->method = cli_parse_method(argument, state);
        return 0;
    case key_block:
        forces->block = parse_tile("--block", argument, 1024, state);
        return 0;
    case key_unroll:
        forces->unroll = parse_tile("--unroll", argument, 32, state);
        return 0;
    case 'o':
        forces->output = argument;
        return 0;
    case key_to:
        forces->to = cli_parse_table_format(argument, false, state);
        return 0;
    case ARGP_KEY_END:
        if (!forces->input.path)
            cli_usage_error(state, "FILE is missing: the bodies to compute with");
        cli_check_stdout("-o", forces->output, &forces->common, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Numbers in the precision of the computation: the bodies' columns, and room for the result. */
struct columns {
    void *position, *mass, *charge, *softening, *result; /* result: N × (D + 1) */
};

static void *converted(const double *values, int64_t count, kith_dtype dtype)
{
    void *memory = calloc((size_t)count + 1, (size_t)kith_dtype_bytes(dtype));
    if (!memory || !values)
        return memory;
    for (int64_t k = 0; k < count; k++)
        if (dtype == KITH_F32)
            ((float *)memory)[k] = (float)values[k];
        else
            ((double *)memory)[k] = values[k];
    return memory;
}

static void free_columns(struct columns *columns)
{
    free(columns->position);
    free(columns->mass);
    free(columns->charge);
    free(columns->softening);
    free(columns->result);
}

static bool make_columns(const kith_bodies *bodies, kith_dtype dtype, struct columns *columns)
{
    const int64_t n = bodies->count, d = bodies->dimensions;
    columns->position = converted(bodies->position, n * d, dtype);
    columns->mass = converted(bodies->mass, n, dtype);
    columns->charge = converted(bodies->charge, n, dtype);
    columns->softening = converted(bodies->softening, n, dtype);
    columns->result = converted(NULL, n * (d + 1), dtype);
    return columns->position && columns->mass && columns->charge && columns->softening &&
           columns->result;
}

/* Column k of the row-major result. */
static kith_array result_column(const kith_bodies *bodies, const struct columns *columns,
                                kith_dtype dtype, int64_t k)
{
    kith_array array = kith_array_vector((char *)columns->result + k * kith_dtype_bytes(dtype),
                                         dtype, bodies->count);
    array.strides[0] = bodies->dimensions + 1;
    return array;
}

static kith_status compute(kith_context *context, const struct forces_options *forces,
                           const kith_bodies *bodies, const struct columns *columns,
                           double *seconds)
{
    const kith_dtype dtype = forces->common.precision;
    const int64_t n = bodies->count, d = bodies->dimensions;
    kith_forces_options chosen = {.gravitational_constant = forces->input.gravitational_constant,
                                  .softening = forces->input.softening,
                                  .method = forces->method,
                                  .law = forces->law.law,
                                  .sum = forces->sum,
                                  .block = forces->block,
                                  .unroll = forces->unroll};
    if (forces->input.softening_of_file)
        chosen.source_softening = kith_array_vector(columns->softening, dtype, n);
    if (bodies->charge)
        chosen.source_charges = kith_array_vector(columns->charge, dtype, n);
    kith_array acceleration = kith_array_matrix(columns->result, dtype, n, d);
    acceleration.strides[0] = d + 1;
    if (forces->sum == KITH_FORCES_SUM_VALUE)
        acceleration = kith_array_none();
    const kith_array masses =
        bodies->mass ? kith_array_vector(columns->mass, dtype, n) : kith_array_none();

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const kith_status status = kith_forces_compute(
        context, &chosen, kith_array_none(), kith_array_matrix(columns->position, dtype, n, d),
        masses, acceleration, result_column(bodies, columns, dtype, d));
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    return status;
}

static kith_status write_result(const struct forces_options *forces, const kith_bodies *bodies,
                                const struct columns *columns)
{
    static const char *const names[2][4] = {{"ax", "ay", "potential", NULL},
                                            {"ax", "ay", "az", "potential"}};
    kith_table_column table[4];
    int64_t count = bodies->dimensions + 1;
    for (int64_t k = 0; k < count; k++)
        table[k] = (kith_table_column){names[bodies->dimensions - 2][k],
                                       result_column(bodies, columns, forces->common.precision, k)};
    if (forces->sum == KITH_FORCES_SUM_VALUE) {
        table[0] = (kith_table_column){"value", table[bodies->dimensions].values};
        count = 1;
    }
    const char *path = cli_output_path(forces->output ? forces->output : "-");
    return kith_table_write(path, cli_output_format(path, forces->to), count, table);
}

static int print_json(const char *command, const struct forces_options *forces,
                      const kith_context *context, const kith_bodies *bodies, double seconds)
{
    const double interactions = (double)bodies->count * (double)bodies->count;
    const kith_forces_method method = forces->method ? forces->method : KITH_FORCES_DIRECT;
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "bodies", bodies->count);
    json_add_real(object, "interactions_per_second", interactions / seconds);
    json_add_real(object, "gflops", 20e-9 * interactions / seconds);
    json_add_real(object, "seconds", seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(context)));
    cJSON_AddStringToObject(object, "precision", cli_precision_name(forces->common.precision));
    cJSON_AddStringToObject(object, "method", cli_method_name(method));
    return json_print(command, object);
}

static int run_forces(const char *command, const struct forces_options *forces,
                      kith_context *context, const kith_bodies *bodies, struct columns *columns)
{
    double seconds = 0;
    if (!make_columns(bodies, forces->common.precision, columns))
        return cli_fail_with(command, "no memory for %lld bodies", (long long)bodies->count);
    if (compute(context, forces, bodies, columns, &seconds) != KITH_OK)
        return cli_fail(command);
    if ((forces->output || !forces->common.json) &&
        write_result(forces, bodies, columns) != KITH_OK)
        return cli_fail(command);
    return forces->common.json ? print_json(command, forces, context, bodies, seconds) : exit_ok;
}

static char *filter_help(int key, const char *text, void *input)
{
    return key == ARGP_KEY_HELP_EXTRA ? law_help_table() : cli_filter_help(key, text, input);
}

int command_forces(int argc, char **argv)
{
    struct forces_options forces = {.input.without_velocities = true};
    const struct argp argp = {options, parse, "FILE", documentation, children, filter_help, NULL};
    cli_parse(&argp, argc, argv, &forces);

    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    struct columns columns = {0};
    int code = exit_failed;
    if (kith_context_create(&forces.common.context, &context) != KITH_OK)
        code = cli_fail(argv[0]);
    else if ((code = load_bodies(argv[0], &forces.input, forces.output,
                                 forces.common.quiet || forces.common.json, &bodies)) == exit_ok)
        code = run_forces(argv[0], &forces, context, bodies, &columns);
    free_columns(&columns);
    law_options_free(&forces.law);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return code;
}
