#ifndef SUMS_FORMULAS_H
#define SUMS_FORMULAS_H

#include "kith/sums.h"
#include "law/formula.h"

/* The outputs of a call as nodes of one formula, so that what is equal is computed once. */
struct sums_formulas {
    struct formula_scope scope; /* columns and lets */
    struct law_formula *formula;
    int32_t output_count;
    int32_t output[KITH_SUMS_MAX_OUTPUTS]; /* nodes */
    bool diverges[KITH_SUMS_MAX_OUTPUTS];  /* that output at r = 0 */
    struct formula_list needed;            /* all nodes of the outputs; the memory is ours */
    double parameter[formula_most_parameters];
    bool take_little;   /* time: arithmetic alone, and functions that are an instruction or two */
    bool uses_distance; /* r or r2 */
    bool uses_i[formula_most_columns], uses_j[formula_most_columns];
};

/* Reads lets and outputs.
 *
 *   what      an output is called this in messages
 *   formulas  [in, out] has the columns of its scope; free with sums_formulas_free in any case
 *
 * Errors: KITH_INVALID_ARGUMENT (the message begins with the formula's name), KITH_OUT_OF_MEMORY.
 */
kith_status sums_formulas_read(const kith_sums_options *options, const char *what,
                               int64_t output_count, const kith_named_formula *outputs,
                               struct sums_formulas *formulas);
void sums_formulas_free(struct sums_formulas *formulas);

/* Whether a column may have this name. */
bool sums_is_name(const char *name);

#endif
