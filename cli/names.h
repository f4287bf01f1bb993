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

/* "did you mean 'X'?", or what to say if nothing is near. Valid until the next call. */
const char *nearest_hint(const struct nearest *nearest, const char *otherwise);

/* The place of a word among the names of a table, which name(k) gives for k = 0 … count − 1. Any
 * other word ends the program through cli_usage_error, with the nearest or all. */
int64_t cli_parse_name(const char *option, const char *text, int64_t count,
                       const char *(*name)(int64_t k), const struct argp_state *state);

/* The names of the library's tables, for cli_parse_name. */
const char *name_of_format(int64_t k);
const char *name_of_integrator(int64_t k);
const char *name_of_isa(int64_t k);
const char *name_of_kind(int64_t k);
int64_t count_of_formats(void);
int64_t count_of_integrators(void);
int64_t count_of_isas(void);
int64_t count_of_kinds(void);

/* Checks the name of a format of bodies, and gives it. */
const char *cli_parse_format(const char *option, const char *text, const struct argp_state *state);

#endif
