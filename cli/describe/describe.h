#ifndef CLI_DESCRIBE_DESCRIBE_H
#define CLI_DESCRIBE_DESCRIBE_H

/* The description of a command in manual pages and completions, from the tables that its parser and
 * --help read. */

#include <stdbool.h>
#include <stdio.h>

#include "cli.h"
#include "options.h"

enum {
    described_most_options = 80,
    described_most_tables = 4,
    described_most_words = 4,
    described_most_rows = 64,
    described_most_values = 96,
    described_bytes = 64 /* of a heading or a value */
};

struct described_option {
    const struct option_row *row;
    const char *argument;          /* what its argument is called; NULL: it takes none */
    char heading[described_bytes]; /* of its group, as "Common options"; "": the command's own */
};

struct described_row {
    char *name, *text;
};

/* A table of --help, as "Integrators:". */
struct described_table {
    char title[described_bytes];
    struct described_row rows[described_most_rows];
    int count;
};

struct description {
    const char *name;    /* "kith bench forces" */
    const char *summary; /* one line */
    const struct command *parts;
    const char *arguments;      /* in addition to the options, as "A B"; "": none */
    const char *before, *after; /* the text of --help before and after the options */
    struct described_option options[described_most_options];
    int option_count;
    const struct option_row *words[described_most_words]; /* the rows of its arguments */
    int word_count;
    bool takes_kinds; /* FILE may be one of kith make */
    struct described_table tables[described_most_tables];
    int table_count;
};

/* Something that is written of a command. */
typedef void describe_writer(const struct description *description, FILE *stream);

/* Writes of a command, whose full name is given. Returns whether that went well. */
bool describe_command(const struct command *command, const char *name, describe_writer *write,
                      FILE *stream);

/* Writes of all commands of the program and their parts, one after the other. */
bool describe_all(describe_writer *write, FILE *stream);

/* The words that an option's argument, or an argument of the command, may be; and whether it may be
 * the name of a file or of a folder. All nothing: numbers, and words of the user's own. */
struct described_values {
    char words[described_most_values][described_bytes]; /* some continue after a colon */
    int count;
    bool file, folder;
};

void describe_option_values(const struct option_row *row, struct described_values *values);
void describe_argument_values(const struct description *description,
                              struct described_values *values);

/* The first part of an option's text, which says what it is, on the heap. */
char *describe_briefly(const char *text);

/* Manual pages: of a command, and of the program itself. */
describe_writer manual_write;
void manual_write_program(FILE *stream);

/* Scripts that complete command lines. Return whether that went well. */
bool bash_write(FILE *stream);
bool zsh_write(FILE *stream);
bool fish_write(FILE *stream);

#endif
