#ifndef LAW_LAW_ROWS_H
#define LAW_LAW_ROWS_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/law.h"
#include "law/formula.h"
#include "law/law_numbers.h"

/* Rows of the table of laws, as the library and law_writer.c read them. */

enum { law_most_parameters = 4, law_kind_bytes = 32 };

/* A parameter of a law of the table. */
struct law_parameter {
    char name[formula_name_bytes];
    double otherwise; /* its value where none is given; NaN: it must be given */
    bool is_positive; /* must be greater than 0 */
};

struct law_row {
    const kith_law_info *info;
    struct law_parameter parameters[law_most_parameters];
    int32_t parameter_count;
    int32_t arguments; /* how many of the parameters may follow the colon */
};

/* Parses the parameters of a row: "L > 0, k = 1", "sigma = 1 > 0".
 * Errors: KITH_INTERNAL_ERROR (the row is invalid). */
kith_status law_row_read(const kith_law_info *info, struct law_row *row);

/* The computation of laws whose row does not define it. A law without an entry here has its own
 * kind, with its name. Ends with a law of NULL. */
struct law_body {
    const char *law, *kind; /* laws of one kind have the same body, and share kernels */
    const char *formula;    /* with which V is computed; NULL: the row's, or with resolve by hand */
    bool (*suits)(const double *parameter); /* the first that does is taken; NULL: does always */
    void (*resolve)(const double *parameter, struct law_numbers *numbers);
};

extern const struct law_body law_bodies[];

/* Body k of a law, its kind's name in kind. Returns false past the last. */
bool law_row_body(const struct law_row *row, int32_t k, struct law_body *body,
                  char kind[law_kind_bytes]);

/* The row's own formula: V of a pair. */
kith_status law_row_parse(const struct law_row *row, struct law_formula **formula);

/* How the weights enter V.
 * Errors: KITH_INTERNAL_ERROR (V is no u(s), w_i w_j u(s) or (w_i + w_j) u(s)). */
kith_status law_row_weighting(const struct law_row *row, const struct law_formula *formula,
                              enum law_weighting *weighting);

/* A body's formula of u, the value of a pair of weights 1. Errors: those of formula_parse. */
kith_status law_row_parse_body(const struct law_row *row, const struct law_body *body,
                               enum law_weighting weighting, struct law_formula **formula);

/* Whether V is not finite at s = 0 for weights of 1, and then for others too. */
bool law_formula_diverges(const struct law_formula *formula, const double *parameter);

#endif
