#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "options.h"

struct bodies_stream; /* io/stream.h */

/* The input that commands share: a file of bodies and its format; of those that compute gravity, G
 * and softening. */
struct input_options {
    const char *path, *format;
    int64_t frame;
    int64_t system; /* of a file that is an ensemble */
    bool system_given;
    bool without_velocities;          /* the command does not use them */
    const char *const *other_columns; /* of kith_read_options */
    double gravitational_constant;
    double softening;
    bool softening_of_file;       /* --softening file */
    bool is_electric;             /* the law is one of charges: a note if the file has none */
    bool is_open;                 /* --periodic none */
    kith_initial_options initial; /* --number and --seed, if path is a kind of kith make */
    bool seed_given;
};

/* Parses --frame. 0 is an error: whoever counts from 0 means the first frame, not the default. */
option_setter load_set_frame;

extern const struct parser file_parser;   /* FILE and how to read it */
extern const struct parser bodies_parser; /* that, or a system of an ensemble, or a kind */
extern const struct parser input_parser;  /* that, and --g and --softening */

/* Whether path is a kind of kith make and no file. */
bool load_is_kind(const char *path);

/* cli_take_input for commands that read files alone: fails if the path is a kind. */
int load_take_file(const char *command, const char **path, const char **format, const char *output);

/* Fails if --softening file finds none; notes softening lengths that are not used, and charges that
 * are missing. */
int load_check_columns(const char *command, const struct input_options *input, const char *path,
                       bool quiet, const kith_bodies *bodies);

/* Fails if the bodies are periodic, unless --periodic none leaves their cell out: it then does.
 * Returns an exit code. */
int load_check_open(const char *command, const struct input_options *input, const char *path,
                    kith_bodies *bodies);

/* Reads the bodies, or makes them if there is no file of that name but a kind; checks --softening
 * file, and that the output (NULL: none) is not the input. Returns an exit code. */
int load_bodies(const char *command, const struct input_options *input, const char *output,
                bool quiet, kith_bodies **bodies);

/* The same of a stream, by which bodies are read some rows at a time. Returns an exit code; close
 * the stream with bodies_stream_close, after a failure too. */
int load_stream(const char *command, const struct input_options *input, const char *output,
                bool quiet, struct bodies_stream *stream);

#endif
