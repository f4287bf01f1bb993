#ifndef LAW_LAW_H
#define LAW_LAW_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/law.h"
#include "law/law_kinds.h"

/* Which column of a set of particles holds the weights of a law. */
enum law_weight { law_weight_none, law_weight_mass, law_weight_charge };

/* A parameter of a law of the table. */
struct law_parameter {
    const char *name;
    double otherwise; /* its value where none is given; NaN: it must be given */
    enum { law_any, law_positive } range;
};

enum { law_most_parameters = 4 };

/* A law of the table, beside its public row. The parameters that may stand behind the colon come
 * first; they may be left out together if they have defaults. */
struct law_recipe {
    struct law_parameter parameters[law_most_parameters]; /* up to the first without a name */
    int32_t arguments;
    enum law_weight weight;
    struct law_form form;
    /* Makes the constants of the parameters; may change *form to a better kind. */
    void (*resolve)(const double *parameter, struct law_form *form, struct law_numbers *numbers);
};

extern const struct law_recipe law_recipes[];

struct law_formula;
struct law_code;

struct kith_law {
    char *text;
    int64_t row;                          /* of the table, if there is no formula */
    double parameter[law_constant_count]; /* of the table's recipe, or of the formula */
    struct law_formula *formula;
    struct law_code *code; /* of a formula: what was compiled so far (compiled.h) */
};

/* All that a kernel wants to know of a law. */
struct law_view {
    struct law_form form;
    struct law_numbers numbers;
    /* The law's weights; a custom law may use masses and charges both. */
    enum law_weight weight;
    bool uses_mass, uses_charge;
    bool is_central; /* the value depends on d only by its length: law_factor gives the force */
    bool has_rate;   /* of its force (law_rate_body.h); else its formula is too long for that */
    const struct law_formula *formula; /* of a custom law; else NULL */
};

/* Cheap for the laws of the table; of a custom law it looks at the whole formula. */
void law_look(const kith_law *law, struct law_view *view);

#endif
