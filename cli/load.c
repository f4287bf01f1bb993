/* Reading the bodies that a command computes with. */

#include "load.h"

#include <string.h>
#include <unistd.h>

#include "core/status.h"
#include "io/stream.h"
#include "streams.h"

#define AT(member)    OPTION_AT(struct input_options, member)
#define GIVEN(member) OPTION_GIVEN(struct input_options, member)

static void set_g(void *options, const char *option, const char *text,
                  const struct argp_state *state)
{
    struct input_options *input = options;
    input->gravitational_constant = cli_parse_real(option, text, state);
    if (input->gravitational_constant == 0)
        cli_usage_error(state, "--g is 0; give a number other than 0, or masses of 0");
}

static void set_softening(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    struct input_options *input = options;
    if (strcmp(text, "file") == 0) {
        input->softening_of_file = true;
        return;
    }
    const bool is_number = cli_read_real(text, &input->softening);
    if (!is_number || input->softening < 0)
        cli_usage_error(state,
                        is_number ? "%s is %s; give a length of at least 0, or 'file'"
                                  : "%s is '%s'; give a length of at least 0, or 'file'",
                        option, text);
}

void load_set_frame(void *frame, const char *option, const char *text,
                    const struct argp_state *state)
{
    const int64_t number = cli_parse_integer(option, text, state);
    if (number == 0)
        cli_usage_error(state, "%s is 0; give 1 for the first frame, or -1 for the last", option);
    *(int64_t *)frame = number;
}

static const struct option_row file_rows[] = {
    {NULL, "FILE", NULL, AT(path)},
    {"from", NULL,
     "format of FILE (default: by its extension; of -, standard input, by its content)", AT(format),
     .choices = &choices_of_formats},
    {"format", .old = true},
    {"frame", "K",
     "of a file with several frames: K > 0 counts from the first, K < 0 from the last "
     "(default: -1)",
     AT(frame), .set = load_set_frame},
    {0}};

const struct parser file_parser = {.rows = file_rows};

static const struct option_row bodies_rows[] = {
    {"system", "K", "of an ensemble, counted from 0", AT(system), GIVEN(system_given)},
    {"number", "N", "number of bodies, if FILE is a kind of kith make", AT(initial.count),
     GIVEN(initial.count_given), .letter = 'n'},
    {"seed", "S", "seed of the random numbers, if FILE is a kind of kith make", AT(initial.seed),
     GIVEN(seed_given), .of_kinds = true},
    {0}};

static const struct option_group bodies_groups[] = {{&file_parser, NULL, 0, 0}, {0}};

const struct parser bodies_parser = {.rows = bodies_rows, .groups = bodies_groups};

static const struct option_row gravity_rows[] = {
    {"g", "G", "gravitational constant (default: the one of FILE, else 1)", .set = set_g},
    {"softening", "E",
     "Plummer softening length (default: 0), or 'file' for the lengths in the file, one per body",
     .set = set_softening},
    {0}};

static const struct option_group gravity_groups[] = {{&bodies_parser, NULL, 0, 0}, {0}};

const struct parser input_parser = {.rows = gravity_rows, .groups = gravity_groups};

bool load_is_kind(const char *path)
{
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(list[k].name, path) == 0)
            return access(path, F_OK) != 0;
    return false;
}

int load_take_file(const char *command, const char **path, const char **format, const char *output)
{
    if (load_is_kind(*path))
        return cli_fail_with(command,
                             "%s is a kind of kith make, but a file is needed; write one by "
                             "kith make %s -o FILE",
                             *path, *path);
    return cli_take_input(command, path, format, output);
}

/* A path that is neither a file nor a kind may be a kind that is misspelled. */
static int fail_to_read(const char *command, const char *path)
{
    struct nearest nearest = nearest_to(path);
    for (int64_t k = 0; choice_at(&choices_of_kinds, k); k++)
        nearest_offer(&nearest, choice_at(&choices_of_kinds, k));
    if (load_is_kind(path) || strpbrk(path, "./") || !nearest.found || access(path, F_OK) == 0)
        return cli_fail(command);
    return cli_fail_with(command, "%s is neither a file nor a kind of kith make; %s", path,
                         nearest_hint(&nearest, ""));
}

/* Bodies in memory, or a stream of them. */
struct loading {
    kith_bodies **bodies;
    struct bodies_stream *stream; /* NULL: bodies are wanted */
};

static kith_status make(const struct input_options *input, const struct loading *loading)
{
    kith_bodies *made = NULL;
    if (!loading->stream)
        return kith_initial_make(input->path, &input->initial, loading->bodies);
    KITH_TRY(kith_initial_make(input->path, &input->initial, &made));
    return bodies_stream_of(made, loading->stream);
}

static kith_status read_or_make(const struct input_options *input, const struct loading *loading)
{
    if (load_is_kind(input->path))
        return make(input, loading);
    const kith_read_options read = {.format = input->format,
                                    .frame = input->frame,
                                    .system = input->system,
                                    .system_given = input->system_given,
                                    .without_velocities = input->without_velocities,
                                    .other_columns = input->other_columns};
    return loading->stream ? bodies_stream_open(input->path, &read, loading->stream)
                           : kith_bodies_read(input->path, &read, loading->bodies);
}

int load_check_columns(const char *command, const struct input_options *input, const char *path,
                       bool quiet, const kith_bodies *bodies)
{
    if (input->softening_of_file && !bodies->softening && bodies->count > 0)
        return cli_fail_with(
            command, "%s has no softening lengths (column eps); give --softening a length", path);
    if (!input->softening_of_file && input->softening == 0 && bodies->softening)
        cli_note(quiet, command,
                 "%s has softening lengths, which are not used; --softening file uses them", path);
    if (input->is_electric && !bodies->charge && bodies->count > 0)
        cli_note(quiet, command, "%s has no charges (column q); each is 1", path);
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

static int load(const char *command, const struct input_options *input, const char *output,
                bool quiet, const struct loading *loading)
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
    if (read_or_make(&taken, loading) != KITH_OK)
        return fail_to_read(command, path);
    if (!loading->stream)
        return load_check_columns(command, input, path, quiet, *loading->bodies);
    kith_bodies like = *loading->stream->like;
    like.count = loading->stream->count;
    return load_check_columns(command, input, path, quiet, &like);
}

int load_bodies(const char *command, const struct input_options *input, const char *output,
                bool quiet, kith_bodies **bodies)
{
    return load(command, input, output, quiet, &(struct loading){.bodies = bodies});
}

int load_stream(const char *command, const struct input_options *input, const char *output,
                bool quiet, struct bodies_stream *stream)
{
    *stream = (struct bodies_stream){.count = 0};
    return load(command, input, output, quiet, &(struct loading){.stream = stream});
}
