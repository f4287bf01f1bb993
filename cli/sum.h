#ifndef CLI_SUM_H
#define CLI_SUM_H

#include "cell_options.h"
#include "load.h"

enum { sum_most_formulas = 64, sum_most_parameters = 16, sum_most_words = 160 };

/* The options of kith sum. */
struct sum_options {
    struct common_options common;
    struct input_options input;
    struct cell_options cell;
    kith_sums_options sums;
    kith_named_formula outputs[KITH_SUMS_MAX_OUTPUTS], lets[sum_most_formulas];
    kith_law_parameter parameters[sum_most_parameters];
    int64_t output_count;
    const char *targets; /* another file */
    const char *output, *to;
    char *words[sum_most_words]; /* copies that names and formulas point into */
    int word_count;
    char *column_names[KITH_MAX_OTHER_COLUMNS + 1]; /* NAME of NAME_i and NAME_j, NULL-ended */
};

/* Finds the columns that the formulas name, so that they are read. */
void sum_find_columns(struct sum_options *sum, const struct argp_state *state);

/* The particles of one file: positions and those columns that formulas name, in the precision of
 * the computation. */
struct sum_side {
    kith_bodies *bodies;
    kith_particles particles;
    void *memory;
};

/* Fills in particles; false without memory. */
bool sum_take_side(const struct sum_options *sum, struct sum_side *side);
void sum_free_side(struct sum_side *side);

#endif
