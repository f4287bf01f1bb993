#ifndef SUMS_SUMS_KERNEL_H
#define SUMS_SUMS_KERNEL_H

/* What the kernel of sums takes. It is compiled at run time with a call's formulas (write.h), so
 * this file includes nothing but numbers. REAL is the problem's dtype. */

#include <stdint.h>

#include "law/law_numbers.h"

enum {
    sums_most_columns = 16,
    sums_most_candidates = 1024, /* of a block */
    sums_padding = 64            /* more room than candidates do arrays have, for whole vectors */
};

/* The fields of a record, four of which are read at once: x, y, z of a candidate, in a periodic
 * cell its translation, and the columns that formulas use of it. */
static inline int32_t sums_field_of_translation(int32_t component)
{
    return 4 + component;
}

static inline int32_t sums_field_of_column(int32_t column, int periodic)
{
    if (!periodic)
        return 3 + column;
    return column == 0 ? 3 : 6 + column;
}

static inline int32_t sums_fields_of_record(int32_t columns, int periodic)
{
    const int32_t least = periodic ? 7 : 3;
    const int32_t last = columns > 0 ? sums_field_of_column(columns - 1, periodic) + 1 : 0;
    return ((last > least ? last : least) + 3) / 4 * 4;
}

/* Some sources, which each of some targets is compared with. A target whose slot is in self_begin …
 * self_end − 1 is itself candidate self_at + slot − self_begin, and left out. */
struct sums_candidates {
    int64_t count;
    const void *position[3], *translation[3];
    const void *column[sums_most_columns]; /* all pairs: the columns that formulas use */
    const void *records;                   /* within a cutoff, and */
    const int32_t *number;                 /* which of them each candidate's is */
    int moved;                             /* some have a translation */
    int64_t self_begin, self_end, self_at;
    int32_t *found; /* room for sums_most_candidates + sums_padding */
};

/* Targets by their slot: the place after sorting. */
struct sums_targets {
    const void *position[3];
    const void *column[sums_most_columns];
    double *value, *rest; /* slot × outputs (reduction.h); rest for logsumexp only */
};

/* Adds to the results of the targets begin … end − 1 their pairs with the candidates, and returns
 * how many these are. */
typedef int64_t sums_kernel(const struct law_numbers *numbers, double limit,
                            const struct sums_candidates *candidates,
                            const struct sums_targets *targets, int64_t begin, int64_t end);

#define SUMS_KERNEL_FILE   "sums/sums_kernel_body.h"
#define SUMS_KERNEL_SYMBOL "sums_of_block"

#endif
