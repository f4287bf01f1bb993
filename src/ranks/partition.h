#ifndef RANKS_PARTITION_H
#define RANKS_PARTITION_H

#include <stdint.h>

/* Things, numbered from 0, in contiguous parts that differ by one at most: rank k has those from
 * ranks_first(k) to ranks_first(k + 1) − 1. With fewer things than ranks some ranks have none. */
static inline int64_t ranks_first(int64_t things, int32_t ranks, int32_t rank)
{
    return things / ranks * rank + things % ranks * rank / ranks;
}

/* Who has a thing. (thing + 1) · ranks must be below 2^63. */
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

#endif
