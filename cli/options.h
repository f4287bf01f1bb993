#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>

#include "names.h"

/* The options of a command: rows of a table, which the parser, --help, the manual pages and the
 * completions read.
 *
 *     #define AT(member) OPTION_AT(struct cutoff_options, member)
 *     static const struct option_row option_rows[] = {
 *         {"cutoff", "R", "only pairs at distances less than R …", AT(cutoff), .positive = true},
 *         {"shift", NULL, "none; energy: …", AT(shift), .choices = &shifts},
 *         {"tail", NULL, "add the contribution …", AT(tail)},
 *         {0}};
 *
 * The type of the member says what the argument is: a bool is true where the option is given, and
 * takes none; const char * is the text, or with choices one of their words; a double is finite; an
 * integer is 0 or more, or from least to most (0: no limit), or with a least below 0 any; an
 * enumeration is the index of the choice. All else has a function. Wrong arguments end the program
 * through cli_usage_error. */
typedef void option_setter(void *options, const char *option, const char *text,
                           const struct argp_state *state);

enum option_kind {
    option_by_function,
    option_flag,
    option_text,
    option_real,
    option_int32,
    option_int64,
    option_uint64,
    option_enumeration
};

struct option_row {
    const char *name;     /* without its dashes; NULL: an argument of the command, as FILE */
    const char *argument; /* as --help has it, unless choices have one; NULL: none */
    const char *text;     /* for --help */
    size_t offset;        /* of the value, in the parser's options */
    const struct choices *choices;
    option_setter *set;
    size_t given; /* OPTION_GIVEN of a bool, true where the option is given; 0: none */
    int64_t least, most;
    enum option_kind kind; /* of the value */
    int letter;            /* its short name */
    bool positive;         /* of a real number: more than 0 */
    bool optional;         /* the argument; a setter then has NULL */
    bool old;              /* what the option in the row before was called; refused */
    bool of_kinds;         /* it is of a FILE that may be a kind of kith make */
};

#define OPTION_AT(type, member)                                                                    \
    .offset = offsetof(type, member), .kind = _Generic(((type *)NULL)->member,                     \
                                                       bool: option_flag,                          \
                                                       const char *: option_text,                  \
                                                       double: option_real,                        \
                                                       int32_t: option_int32,                      \
                                                       int64_t: option_int64,                      \
                                                       uint64_t: option_uint64,                    \
                                                       unsigned: option_enumeration)
#define OPTION_GIVEN(type, member) .given = offsetof(type, member) + 1

struct parser;

/* Options that several commands have, and where in the command's they are. */
struct option_group {
    const struct parser *parser;
    const char *heading; /* above them in --help */
    int order;           /* in --help */
    size_t offset;
};

enum { parser_most_rows = 32, parser_most_groups = 8 };

struct parser {
    const struct option_row *rows;
    const struct option_group *groups; /* up to one without a parser; NULL: none */
    void (*check)(void *options, const struct argp_state *state); /* of the groups before it */
    const char *arguments;     /* in addition to the options, as "FILE"; NULL: none */
    const char *documentation; /* for --help: before and, after \v, below the options */
    char *(*tables)(void);     /* for --help, below all; on the heap */
};

/* Parses the command line into the parser's options. Wrong usage ends the program with one line on
 * stderr and exit_usage. */
void cli_parse(const struct parser *parser, int argc, char **argv, void *options);

/* What --help calls the argument of an option; NULL: it has none. */
const char *option_argument(const struct option_row *row);

/* Parses the arguments as getopt_long will, and ends the program with exit_usage and one line at
 * the first option that it would refuse: an unknown one, with the nearest name; one that has no
 * value, has one too many, or is cut so short that it may be several. */
void usage_check_options(const struct parser *parser, int argc, char **argv);

#endif
