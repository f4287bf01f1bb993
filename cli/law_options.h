#ifndef CLI_LAW_OPTIONS_H
#define CLI_LAW_OPTIONS_H

#include "options.h"

enum { law_most_options = 16 };

/* --law, --potential and --param. A law that cannot be ends the program through cli_usage_error. */
struct law_options {
    bool takes_two;   /* coulomb and a second law; set before parsing */
    const char *text; /* NULL: none was given; of two coulomb */
    bool is_potential;
    const char *near; /* of two the other */
    bool near_is_potential;
    kith_law_parameter parameters[law_most_options];
    char *words[law_most_options]; /* that the parameters' names point into */
    int64_t count;
    kith_law *law; /* made of all that; NULL if none was given */
};
extern const struct parser law_parser;

/* G for these bodies: as given by --g, 0 if it was not; else the bodies' own, if gravity acts on
 * them and --param does not give its G. */
double law_options_g(const struct law_options *options, double given, const kith_bodies *bodies);

/* Whether --law coulomb is given, alone or with a second law. */
bool law_options_are_electric(const struct law_options *options);

void law_options_free(struct law_options *options);

/* The table of laws as text on the heap, for parser.tables. */
char *law_help_table(void);

#endif
