#ifndef CORE_ARENA_H
#define CORE_ARENA_H

/* Arrays in one block of memory: laid out once without a base, to compute the bytes, and once in
 * it. */

#include <stddef.h>

#include "core/memory.h"

struct arena {
    char *base;
    int64_t used;
};

static inline void *arena_take(struct arena *arena, int64_t count, int64_t bytes_each)
{
    void *memory = arena->base ? arena->base + arena->used : NULL;
    arena->used += kith_padded(count * bytes_each);
    return memory;
}

#endif
