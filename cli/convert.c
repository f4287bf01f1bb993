/* kith convert: bodies from one file format to another. */

#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "io/frames.h"
#include "names.h"
#include "progress.h"
#include "streams.h"

struct convert_options {
    const char *path[2];
    kith_read_options read;
    kith_write_options write;
    bool frames_given;
    int64_t first, last; /* of --frames; last 0: to the end */
    bool quiet;
};

enum { key_from = 0x5000, key_to, key_frame, key_frames, key_system };

static const struct argp_option options[] = {
    {"from", key_from, CHOICES(choices_of_formats),
     "of A (default: by its extension; of -, standard input, by its content)", 0},
    {"to", key_to, CHOICES(choices_of_formats),
     "of B (default: by its extension; of -, standard output, CSV)", 0},
    {"format", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
    {"frame", key_frame, "K", 0,
     "of an A with several frames: K > 0 counts from the first, K < 0 from the last (default: -1)",
     0},
    {"frames", key_frames, "A:B", 0,
     "frames A to B, both included, counted from 1, or all; to H5MD or extended XYZ only", 0},
    {"system", key_system, "K", 0, "if A is an ensemble, counted from 0", 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {0}};

static const char documentation[] =
    "Convert the bodies of file A to file B; - is standard input, or output.\v"
    "Examples:\n"
    "  kith make galaxies -n 2000 -o galaxy.tipsy\n"
    "  kith convert galaxy.tipsy galaxy.h5\n"
    "  kith run six --dt 0.01 --until 1 -o run.h5\n"
    "  kith convert run.h5 end.csv\n"
    "  kith convert run.h5 start.csv --frame 1\n"
    "  kith convert run.h5 run.xyz --frames all\n"
    "  kith convert run.h5 - --to xyz | kith forces -\n"
    "  kith run six --ensemble 20 --dt 0.01 --until 1 -o ensemble.h5\n"
    "  kith convert ensemble.h5 one.csv --system 17";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct convert_options *convert = state->input;
    switch (key) {
    case key_from:
        convert->read.format = cli_parse_word("--from", argument, &choices_of_formats, state);
        return 0;
    case key_to:
        convert->write.format = cli_parse_word("--to", argument, &choices_of_formats, state);
        return 0;
    case key_frame:
        convert->read.frame = cli_parse_integer("--frame", argument, state);
        return 0;
    case key_frames:
        cli_parse_frames(argument, &convert->first, &convert->last, state);
        convert->frames_given = true;
        return 0;
    case key_system:
        convert->read.system = cli_parse_count("--system", argument, state);
        convert->read.system_given = true;
        return 0;
    case 'q':
        convert->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 2)
            cli_usage_error(state, "unexpected argument '%s'; give A and B", argument);
        convert->path[state->arg_num] = argument;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            cli_usage_error(state, "give two files: A to read and B to write");
        if (convert->frames_given && convert->read.frame != 0)
            cli_usage_error(state, "--frame and --frames are given; give one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool format_row(int64_t k, const char **name, const char **description)
{
    static char names[64], text[256];
    int64_t count = 0;
    const kith_format *row = &kith_format_list(&count)[k];
    if (k >= count)
        return false;
    snprintf(names, sizeof names, "%s (.%s)", row->name, row->extensions);
    for (char *blank = strchr(strchr(names, ' ') + 1, ' '); blank; blank = strchr(blank, ' '))
        *blank = ',';
    snprintf(text, sizeof text, "%s%s%s", row->description, row->lacks ? "; " : "",
             row->lacks ? row->lacks : "");
    *name = names;
    *description = text;
    return true;
}

char *cli_format_help(void)
{
    return cli_help_table("Formats:", format_row);
}

static char *filter_help(int key, const char *text, void *input)
{
    return key == ARGP_KEY_HELP_EXTRA ? cli_format_help() : cli_filter_help(key, text, input);
}

/* Without --frame the last frame is converted: a note says that the file has others. */
static void note_frame(const char *command, const struct convert_options *convert)
{
    int64_t frames = 0;
    if (convert->quiet || convert->read.frame != 0 ||
        frames_count(convert->path[0], &convert->read, &frames) != KITH_OK || frames < 2)
        return;
    cli_note(
        false, command,
        "%s: frame %lld of %lld; --frame K selects another, and --frames all converts all of them "
        "to "
        "H5MD or extended XYZ",
        convert->path[0], (long long)frames, (long long)frames);
}

static int convert_one(const char *command, const struct convert_options *convert)
{
    kith_bodies *bodies = NULL;
    int code = exit_ok;
    if (kith_bodies_read(convert->path[0], &convert->read, &bodies) != KITH_OK ||
        kith_bodies_write(bodies, convert->path[1], &convert->write) != KITH_OK) {
        code = cli_fail(command);
    } else {
        cli_note_dropped(convert->quiet, command, convert->path[1], &convert->write, bodies);
        note_frame(command, convert);
    }
    kith_bodies_free(bodies);
    return code;
}

static bool is_stopped(void)
{
    return progress_signal() != 0;
}

static int convert_several(const char *command, const struct convert_options *convert)
{
    progress_begin(NULL, true); /* for its signals alone */
    const kith_status status =
        frames_convert(convert->path[0], &convert->read, convert->first, convert->last,
                       convert->path[1], &convert->write, is_stopped);
    progress_end(NULL);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

int command_convert(int argc, char **argv)
{
    struct convert_options convert = {0};
    const struct argp argp = {options, parse, "A B", documentation, NULL, filter_help, NULL};
    cli_parse(&argp, argc, argv, &convert);

    convert.path[1] = cli_output_path(convert.path[1]);
    convert.write.format = cli_output_format(convert.path[1], convert.write.format);
    convert.write.arguments = (const char *const *)argv;
    const int code =
        cli_take_input(argv[0], &convert.path[0], &convert.read.format, convert.path[1]);
    if (code != exit_ok)
        return code;
    return convert.frames_given ? convert_several(argv[0], &convert)
                                : convert_one(argv[0], &convert);
}
