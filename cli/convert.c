/* kith convert: bodies from one file format to another. */

#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "io/frames.h"
#include "load.h"
#include "options.h"
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

static void set_frames(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct convert_options *convert = options;
    (void)option;
    cli_parse_frames(text, &convert->first, &convert->last, state);
}

static void check(void *options, const struct argp_state *state)
{
    const struct convert_options *convert = options;
    if (!convert->path[1])
        cli_usage_error(state, "give two files: A to read and B to write");
    if (convert->frames_given && convert->read.frame != 0)
        cli_usage_error(state, "--frame and --frames are given; give one of them");
    cli_check_extension("B", convert->path[1], convert->write.format, extensions_of_bodies(),
                        state);
}

#define AT(member)    OPTION_AT(struct convert_options, member)
#define GIVEN(member) OPTION_GIVEN(struct convert_options, member)
static const struct option_row option_rows[] = {
    {NULL, "A", NULL, AT(path[0])},
    {NULL, "B", NULL, AT(path[1])},
    {"from", NULL, "of A (default: by its extension; of -, standard input, by its content)",
     AT(read.format), .choices = &choices_of_formats},
    {"to", NULL, "of B (default: by its extension; of -, standard output, CSV)", AT(write.format),
     .choices = &choices_of_formats},
    {"format", .old = true},
    {"frame", "K",
     "of an A with several frames: K > 0 counts from the first, K < 0 from the last (default: -1)",
     AT(read.frame), .set = load_set_frame},
    {"frames", "A:B",
     "frames A to B, both included, counted from 1, or all; to H5MD or extended XYZ only",
     GIVEN(frames_given), .set = set_frames},
    {"system", "K", "if A is an ensemble, counted from 0", AT(read.system),
     GIVEN(read.system_given)},
    {"quiet", NULL, "no notes", AT(quiet), .letter = 'q'},
    {0}};

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

static const struct parser parser = {option_rows, NULL,          check,
                                     "A B",       documentation, cli_format_help};

int command_convert(int argc, char **argv)
{
    struct convert_options convert = {0};
    cli_parse(&parser, argc, argv, &convert);

    convert.path[1] = cli_output_path(convert.path[1]);
    convert.write.format = cli_output_format(convert.path[1], convert.write.format);
    convert.write.arguments = (const char *const *)argv;
    const int code =
        load_take_file(argv[0], &convert.path[0], &convert.read.format, convert.path[1]);
    if (code != exit_ok)
        return code;
    return convert.frames_given ? convert_several(argv[0], &convert)
                                : convert_one(argv[0], &convert);
}
