#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli.h"

/* Words that a user may mistype, and the one that was meant.
 *
 * The distance of two words is the number of letters to insert, leave out or exchange, or of
 * neighbors to swap, that turns one into the other (Damerau 1964; Levenshtein 1966). */
struct nearest {
    const char *word, *found; /* found: NULL while none is near enough */
    int distance;
};

struct nearest nearest_to(const char *word);

/* Takes the candidate if it is nearer than those before. Near is a third of the word's letters, or
 * a candidate that the word begins. */
void nearest_offer(struct nearest *nearest, const char *candidate);

/* "did you mean 'X'?", or the given hint if nothing is near. Valid until the next call. */
const char *nearest_hint(const struct nearest *nearest, const char *otherwise);

enum { choices_most_words = 8 };

/* The words that an option's argument may be, for its row, the parser and completions. */
struct choices {
    char argument[16];                     /* what --help calls it */
    const char *words[choices_most_words]; /* up to a NULL; after them */
    table_row *row;                        /* the names of a table; NULL: none */
};
/* The k-th word; NULL past the last. */
const char *choice_at(const struct choices *choices, int64_t k);

/* The index of the word. Any other text ends the program through cli_usage_error, with the nearest
 * or all. */
int64_t cli_parse_choice(const char *option, const char *text, const struct choices *choices,
                         const struct argp_state *state);

/* The word itself, of the list. */
const char *cli_parse_word(const char *option, const char *text, const struct choices *choices,
                           const struct argp_state *state);

/* Those of several commands; of --to, tables are numbers, records have columns with names. */
extern const struct choices choices_of_coordinates, choices_of_devices, choices_of_formats,
    choices_of_integrators, choices_of_kinds, choices_of_methods, choices_of_methods_of_direct,
    choices_of_precisions, choices_of_records, choices_of_solvers, choices_of_tables;

#endif
