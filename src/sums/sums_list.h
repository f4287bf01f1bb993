#ifndef SUMS_SUMS_LIST_H
#define SUMS_SUMS_LIST_H

#include <stdint.h>

/* The pairs of a list that the caller keeps, by targets. The kernel includes this file. */
struct sums_list {
    const int64_t *offsets; /* targets + 1, from the target `first` on */
    int64_t first;
    const void *j;         /* int64, or int32 */
    int is_narrow;         /* j is int32 */
    const int32_t *shifts; /* pairs × dimensions; NULL: none */
    int includes_self;     /* and a target's pair with itself, which is not in the list */
    double cell[3][3];     /* rows */
};

static inline int64_t sums_list_source(const struct sums_list *list, int64_t pair)
{
    return list->is_narrow ? ((const int32_t *)list->j)[pair] : ((const int64_t *)list->j)[pair];
}

/* Component c of S · cell (cells/geometry.h). */
static inline double sums_list_translation(const struct sums_list *list, int64_t pair,
                                           int32_t dimensions, int c)
{
    const int32_t *shift = list->shifts + pair * dimensions;
    const double plane = shift[0] * list->cell[0][c] + shift[1] * list->cell[1][c];
    return dimensions == 3 ? plane + shift[2] * list->cell[2][c] : plane;
}

#endif
