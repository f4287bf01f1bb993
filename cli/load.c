/* Reading the bodies that a command computes with. */

#include "load.h"

#include <string.h>
#include <unistd.h>

#include "names.h"
#include "streams.h"

enum { key_g = 0x3000, key_softening, key_from, key_frame, key_system, key_seed };

static const struct argp_option gravity_options[] = {
    {"g", key_g, "G", 0, "gravitational constant (default: the one of FILE, else 1)", 0},
    {"softening", key_softening, "E", 0,
     "Plummer softening length (default: 0), or 'file' for the lengths in the file, one per body",
     0},
    {0}};

static const struct argp_option file_options[] = {
    {"from", key_from, CHOICES(choices_of_formats),
     "format of FILE (default: by its extension; of -, standard input, by its content)", 0},
    {"format", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
    {"frame", key_frame, "K", 0,
     "of a file with several frames: K > 0 counts from the first, K < 0 from the last "
     "(default: -1)",
     0},
    {"system", key_system, "K", 0, "of an ensemble, counted from 0", 0},
    {"number", 'n', "N", 0, "number of bodies, if FILE is a kind of kith make", 0},
    {"seed", key_seed, "S", option_of_kinds,
     "seed of the random numbers, if FILE is a kind of kith make", 0},
    {0}};

static double parse_g(const char *text, const struct argp_state *state)
{
    const double g = cli_parse_real("--g", text, state);
    if (g == 0)
        cli_usage_error(state, "--g is 0; give a number other than 0, or masses of 0");
    return g;
}

static void parse_softening(const char *text, struct input_options *input,
                            const struct argp_state *state)
{
    if (strcmp(text, "file") == 0) {
        input->softening_of_file = true;
        return;
    }
    input->softening = cli_parse_real("--softening", text, state);
    if (input->softening < 0)
        cli_usage_error(state, "--softening is %s; give a length of at least 0, or 'file'", text);
}

static error_t parse_gravity(int key, char *argument, struct argp_state *state)
{
    struct input_options *input = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = input;
        return 0;
    case key_g:
        input->gravitational_constant = parse_g(argument, state);
        return 0;
    case key_softening:
        parse_softening(argument, input, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_file(int key, char *argument, struct argp_state *state)
{
    struct input_options *input = state->input;
    switch (key) {
    case key_from:
        input->format = cli_parse_word("--from", argument, &choices_of_formats, state);
        return 0;
    case key_frame:
        input->frame = cli_parse_integer("--frame", argument, state);
        return 0;
    case key_system:
        input->system = cli_parse_count("--system", argument, state);
        input->system_given = true;
        return 0;
    case 'n':
        input->initial.count = cli_parse_count("-n", argument, state);
        input->initial.count_given = true;
        return 0;
    case key_seed:
        input->initial.seed = (uint64_t)cli_parse_count("--seed", argument, state);
        input->seed_given = true;
        return 0;
    case ARGP_KEY_ARG:
        if (input->path)
            cli_usage_error(state, "unexpected argument '%s'; give one FILE", argument);
        input->path = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp file_argp = {file_options, parse_file, NULL, NULL, NULL, NULL, NULL};

static const struct argp_child file_children[] = {{&file_argp, 0, NULL, 0}, {0}};
const struct argp input_argp = {gravity_options, parse_gravity, NULL, NULL,
                                file_children,   NULL,          NULL};

bool load_is_kind(const char *path)
{
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(list[k].name, path) == 0)
            return access(path, F_OK) != 0;
    return false;
}

/* A path that is not a file may be a kind that is misspelled. */
static int fail_to_read(const char *command, const char *path)
{
    struct nearest nearest = nearest_to(path);
    for (int64_t k = 0; choice_at(&choices_of_kinds, k); k++)
        nearest_offer(&nearest, choice_at(&choices_of_kinds, k));
    if (strpbrk(path, "./") || !nearest.found || access(path, F_OK) == 0)
        return cli_fail(command);
    return cli_fail_with(command, "%s is neither a file nor a kind of kith make; %s", path,
                         nearest_hint(&nearest, ""));
}

static kith_status read_or_make(const struct input_options *input, kith_bodies **bodies)
{
    if (load_is_kind(input->path))
        return kith_initial_make(input->path, &input->initial, bodies);
    const kith_read_options read = {.format = input->format,
                                    .frame = input->frame,
                                    .system = input->system,
                                    .system_given = input->system_given,
                                    .without_velocities = input->without_velocities,
                                    .other_columns = input->other_columns};
    return kith_bodies_read(input->path, &read, bodies);
}

int load_check_softening(const char *command, const struct input_options *input, const char *path,
                         bool quiet, const kith_bodies *bodies)
{
    if (input->softening_of_file && !bodies->softening && bodies->count > 0)
        return cli_fail_with(
            command, "%s has no softening lengths (column eps); give --softening a length", path);
    if (!input->softening_of_file && input->softening == 0 && bodies->softening)
        cli_note(quiet, command,
                 "%s has softening lengths, which are not used; --softening file uses them", path);
    return exit_ok;
}

int load_check_open(const char *command, const struct input_options *input, const char *path,
                    kith_bodies *bodies)
{
    if (input->is_open)
        memset(bodies->periodic, 0, sizeof bodies->periodic);
    for (int32_t k = 0; k < bodies->dimensions; k++)
        if (bodies->periodic[k])
            return cli_fail_with(command,
                                 "%s has a periodic cell, and the systems of an ensemble have no "
                                 "periodic images; give --periodic none to leave the cell out",
                                 path);
    return exit_ok;
}

int load_bodies(const char *command, const struct input_options *input, const char *output,
                bool quiet, kith_bodies **bodies)
{
    struct input_options taken = *input;
    const int code = cli_take_input(command, &taken.path, &taken.format, output);
    const char *path = taken.path;
    const bool kind = load_is_kind(path);
    if (code != exit_ok)
        return code;
    if ((input->seed_given || input->initial.count_given) && !kind)
        return cli_fail_with(command,
                             "%s is not a kind of kith make; leave out --number and --seed", path);
    if (input->system_given && kind)
        return cli_fail_with(command, "%s is a kind of kith make; leave --system out", path);
    if (read_or_make(&taken, bodies) != KITH_OK)
        return fail_to_read(command, path);
    return load_check_softening(command, input, path, quiet, *bodies);
}
