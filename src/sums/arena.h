#ifndef SUMS_ARENA_H
#define SUMS_ARENA_H

#include <stdint.h>

#include "core/memory.h"

/* Parts of one block of memory; laying out without a base only measures. */
struct arena {
    char *base;
    int64_t used;
};

static inline void *arena_take(struct arena *arena, int64_t count, int64_t bytes_each)
{
    void *memory = arena->base ? arena->base + arena->used : (void *)0;
    arena->used += kith_padded(count * bytes_each);
    return memory;
}

#endif
