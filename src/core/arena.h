#ifndef CORE_ARENA_H
#define CORE_ARENA_H

/* Arrays in one block of memory: laid out once without a base, to compute the bytes, and once in
 * it. Each begins at a multiple of what processors and GPUs load at once, if the block does. */

#include <stddef.h>

#include <stdint.h>

enum { arena_alignment = 256 };

struct arena {
    char *base;
    int64_t used;
};

static inline void *arena_take(struct arena *arena, int64_t count, int64_t bytes_each)
{
    void *memory = arena->base ? arena->base + arena->used : NULL;
    arena->used += (count * bytes_each + arena_alignment - 1) / arena_alignment * arena_alignment;
    return memory;
}

#ifdef __cplusplus
template <typename type>
static inline void arena_take(struct arena *arena, int64_t count, int64_t bytes_each, type **memory)
{
    *memory = (type *)arena_take(arena, count, bytes_each);
}
#endif

#endif
