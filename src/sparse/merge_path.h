#ifndef SPARSE_MERGE_PATH_H
#define SPARSE_MERGE_PATH_H

#include <stdint.h>

#include "core/both_sides.h"

/* The rows that end among the first `place` items of the path that merges the ends of rows with
 * their entries: row k ends after entries row_end[k] (Merrill & Garland 2016). */
KITH_BOTH_SIDES static inline int64_t sparse_merge_row(const int64_t *row_end, int64_t rows,
                                                       int64_t entries, int64_t place)
{
    int64_t first = place > entries ? place - entries : 0, end = place < rows ? place : rows;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (row_end[middle] + middle < place)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

#endif
