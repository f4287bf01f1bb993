#ifndef LAW_LAW_H
#define LAW_LAW_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/law.h"
#include "law/law_kinds.h"

/* Which column of a set of particles holds the weights of a law. */
enum law_weight { law_weight_none, law_weight_mass, law_weight_charge };

struct law_formula;
struct law_code;

/* All that a kernel needs of a law. */
struct law_view {
    struct law_form form;
    struct law_numbers numbers;
    /* The law's weights; a custom law may use masses and charges both. */
    enum law_weight weight;
    bool uses_mass, uses_charge;
    bool is_central;   /* the value depends on d only by its length: law_factor gives the force */
    bool is_symmetric; /* V(j, i) is V(i, j), so that forces are equal and opposite */
    bool has_rate;     /* of its force (law_rate_body.h); else its formula is too long for that */
    const struct law_formula *formula; /* of a custom law; else NULL */
    const struct law_formula *value;   /* V of any law, of which the reference is made */
    const double *parameter;           /* of value */
};

struct kith_law {
    char *text;
    const kith_law_info *info;            /* of a law of the table; else NULL */
    double parameter[law_constant_count]; /* in the order of value->names */
    bool is_given[law_constant_count];    /* that parameter; else it has its default */
    struct law_formula *value;            /* V */
    struct law_formula *body; /* of the table: u, of which the kernel was made, if any */
    int32_t body_index;       /* which of the law's bodies that is */
    struct law_view view;
    struct law_code *code; /* of a formula: what was compiled so far (compiled.h) */
    kith_law *near;        /* added to it within a cutoff (kith/law_sum.h); owned; or NULL */
};

/* Finds the view after the parameters have changed (law_look.c). Errors: KITH_OUT_OF_MEMORY. */
kith_status law_update(kith_law *law);

void law_look(const kith_law *law, struct law_view *view);

/* Checks that a law, which may be NULL, supports positions with this number of coordinates: log2d
 * supports 2 only. Errors: KITH_INVALID_ARGUMENT. */
kith_status law_check_dimensions(const kith_law *law, int64_t dimensions);

/* Errors: KITH_UNSUPPORTED if another law was added to it (kith/law_sum.h); it may be NULL. */
kith_status law_check_single(const kith_law *law);

#endif
