#ifndef PAIRS_SMALL_SYSTEM_H
#define PAIRS_SMALL_SYSTEM_H

#include "pairs/search.h"
#include "pairs/small_kernel.h"

/* Whether a system's size and cell are such that its targets are compared with all its points, at
 * the nearest image. */
bool pairs_is_small(const struct pairs_problem *problem, const struct pairs_system *system);

/* Where the arrays of all systems are. */
struct pairs_small_memory {
    char *position[pairs_set_count][3];
    float *near[pairs_set_count][3];
    int32_t *wraps[pairs_set_count];
};

/* Allocates memory for all systems in a buffer. */
kith_status pairs_small_memory_make(const struct pairs_problem *problem, bool wraps,
                                    struct pairs_buffer *buffer, struct pairs_small_memory *memory);

/* System number s without its limits; its arrays may not have been written. */
void pairs_small_describe(const struct pairs_problem *problem,
                          const struct pairs_small_memory *memory, int64_t s,
                          struct pairs_small_system *system);

/* Wraps the points of system number s and makes it ready for the kernels. False if a number is bad,
 * the points are too far apart for floats to decide which are near, or cells are faster. */
bool pairs_small_prepare(const struct pairs_small_kernels *kernels,
                         const struct pairs_problem *problem,
                         const struct pairs_small_memory *memory, int64_t s,
                         struct pairs_small_system *system);

#endif
