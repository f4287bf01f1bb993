#ifndef SUMS_SUMS_KERNEL_H
#define SUMS_SUMS_KERNEL_H

/* The arguments of the kernel of sums. It is compiled at run time with a call's formulas (write.h),
 * so this file includes nothing but numbers. REAL is the problem's dtype. */

#include <stdint.h>

#include "law/law_numbers.h"
#include "sums/sums_list.h"

enum {
    sums_most_columns = 32,      /* those of formulas, and axes from the fourth on */
    sums_most_candidates = 1024, /* of a block */
    sums_most_fields = sums_most_columns + 3,
    sums_padding = 64 /* more room than candidates do arrays have, for whole vectors */
};

/* The fields of a record, four of which are read at once: the coordinates of a source, at most
 * three, and the columns that formulas use of it. */
static inline int32_t sums_field_of_column(int32_t coordinates, int32_t column)
{
    return coordinates + column;
}

static inline int32_t sums_fields_of_record(int32_t coordinates, int32_t columns)
{
    return (sums_field_of_column(coordinates, columns) + 3) / 4 * 4;
}

/* The sources begin … end − 1, each with a translation if the candidates are moved. */
struct sums_range {
    int64_t begin, end;
    double translation[3];
};

/* The data of a block of candidates; one per thread. */
struct sums_room {
    float position[3][sums_most_candidates + sums_padding];
    int32_t number[sums_most_candidates + sums_padding]; /* the source */
    int32_t found[sums_most_candidates + sums_padding];  /* sources that are pairs, or nearly */
    double translation[3][sums_most_candidates + sums_padding]; /* of candidates, as REAL, */
    double shift[3][sums_most_candidates + sums_padding];       /* and of those found */
    double field[sums_most_fields][sums_most_candidates + sums_padding]; /* flat_kernel_body.h */
};

/* Some sources, which each of some targets is compared with: at most sums_most_candidates. */
struct sums_candidates {
    const void *position[3];
    const void *column[sums_most_columns]; /* without records: those that formulas use, and axes */
    const void *records; /* within a cutoff but for flat_kernel_body.h, or of a list */
    const struct sums_range *range;
    int64_t range_count; /* all pairs: 1 */
    const struct sums_list *list;
    double scale;        /* 1 / (a distance a little more than the cutoff) */
    int moved;           /* some have a translation */
    int leaves_out_self; /* the target of a slot is the source of the same number */
    struct sums_room *room;
};

/* Targets by their slot: the index after sorting. */
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
