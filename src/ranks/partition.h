#ifndef RANKS_PARTITION_H
#define RANKS_PARTITION_H

#include <stdint.h>

/* Items, numbered from 0, in contiguous parts whose sizes differ by at most one: rank k has
 * those from ranks_first(k) to ranks_first(k + 1) − 1. With fewer items than ranks some ranks
 * have none. */
static inline int64_t ranks_first(int64_t things, int32_t ranks, int32_t rank)
{
    return things / ranks * rank + things % ranks * rank / ranks;
}

/* The rank of an item. (thing + 1) · ranks must be below 2^63. */
static inline int32_t ranks_owner(int64_t things, int32_t ranks, int64_t thing)
{
    return (int32_t)(((thing + 1) * ranks - 1) / things);
}

/* Of elements in parts of `part` each, the last perhaps shorter, that are dealt so: where rank k's
 * begin. */
static inline int64_t ranks_first_element(int64_t count, int64_t part, int32_t ranks, int32_t rank)
{
    const int64_t first = ranks_first((count + part - 1) / part, ranks, rank) * part;
    return first < count ? first : count;
}

/* Items of unequal weights ≥ 0, which may all be 0, in contiguous parts of about the same weight:
 * rank k has those from first[k] to first[k + 1] − 1 (size + 1 numbers). An item belongs to the
 * rank in whose part of the total weight its middle is, so that no rank has more than its part plus
 * the heaviest item. */
static inline void ranks_divide(int64_t things, const double *weight, int32_t ranks, int64_t *first)
{
    double total = 0, before = 0;
    int32_t rank = 0;
    for (int64_t thing = 0; thing < things; thing++)
        total += weight[thing];
    first[0] = 0;
    for (int64_t thing = 0; thing < things && total > 0; thing++) {
        const double middle = before + 0.5 * weight[thing];
        while (rank < ranks - 1 && middle * ranks >= total * (rank + 1))
            first[++rank] = thing;
        before += weight[thing];
    }
    while (rank < ranks)
        first[++rank] = things;
    for (int32_t k = 1; k < ranks && !(total > 0); k++)
        first[k] = ranks_first(things, ranks, k);
}

#endif
