#ifndef SUMS_COLUMNS_H
#define SUMS_COLUMNS_H

#include "sums/formulas.h"

/* The columns that formulas use of one side are numbered in the order of the scope. */
static inline int32_t sums_column_count(const bool uses[formula_most_columns])
{
    int32_t count = 0;
    for (int32_t k = 0; k < formula_most_columns; k++)
        count += uses[k];
    return count;
}

#endif
