#ifndef CLI_PAIRS_H
#define CLI_PAIRS_H

#include "cell_options.h"
#include "load.h"

/* The options of kith pairs. */
struct pairs_options {
    struct common_options common;
    struct input_options input;
    kith_pairs_options search;
    int64_t nearest;
    bool nearest_given, cutoff_given;
    bool count_only, vectors;
    struct cell_options cell;
    const char *output, *to;
};

/* Whether the output is to be Matrix Market. */
bool pairs_is_matrix(const struct pairs_options *options);

/* Writes the list to the output file, or as CSV to standard output; as Matrix Market the matrix
 * whose entry i, j is the distance, of several images their sum. */
kith_status pairs_write(const struct pairs_options *options, const kith_pairs *pairs,
                        int32_t dimensions);

/* Prints the JSON object. Returns an exit code. */
int pairs_print_json(const char *command, const struct pairs_options *options,
                     const kith_context *context, const kith_pairs *pairs, int64_t count,
                     double seconds);

#endif
