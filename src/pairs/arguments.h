#ifndef PAIRS_ARGUMENTS_H
#define PAIRS_ARGUMENTS_H

#include "core/status.h"
#include "pairs/problem.h"

/* The arguments of a call, with the options' defaults filled in. */
struct pairs_arguments {
    kith_context *context;
    kith_pairs_options options;
    kith_array positions;
    const kith_cell *cell;
    bool nearest;
    int64_t k;                           /* with nearest */
    const struct pairs_visitor *visitor; /* NULL: a list */
};

static inline kith_array pairs_targets(const struct pairs_arguments *arguments)
{
    return kith_array_is_none(arguments->options.queries) ? arguments->positions
                                                          : arguments->options.queries;
}

static inline int64_t pairs_system_count(const struct pairs_arguments *arguments)
{
    const kith_array offsets = arguments->options.system_offsets;
    return kith_array_is_none(offsets) ? 1 : offsets.shape[0] - 1;
}

/* An element of a host array of float or double as a double. */
static inline double pairs_get(kith_array array, int64_t row, int64_t column)
{
    const int64_t offset =
        row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0);
    return array.dtype == KITH_F64 ? ((const double *)array.data)[offset]
                                   : (double)((const float *)array.data)[offset];
}

/* KITH_INVALID_ARGUMENT for the first row of an array, or none, with a number that is not finite,
 * or a radius < 0. */
kith_status pairs_check_numbers(const char *name, kith_array array, bool radius);

/* Checks all but the numbers in the arrays. Errors: those of kith_pairs_compute. */
kith_status pairs_check_arguments(const struct pairs_arguments *arguments);

#endif
