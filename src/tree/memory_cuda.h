#ifndef TREE_MEMORY_CUDA_H
#define TREE_MEMORY_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the device that is kept and grown. */
struct tree_memory {
    void *memory;
    int64_t bytes;
};

/* At least this many bytes, whose contents are undefined. */
kith_status tree_reserve_cuda(kith_context *context, int64_t bytes, const char *what,
                              struct tree_memory *memory);

/* At least this many bytes, of which the first `kept`, at least one, stay; more, where memory has
 * to be taken. */
kith_status tree_grow_cuda(kith_context *context, int64_t kept, int64_t bytes, const char *what,
                           struct tree_memory *memory);

/* Whether the cache of the current device is smaller. */
kith_status tree_exceeds_cache_cuda(int64_t bytes, bool *exceeds);

#ifdef __cplusplus
}
#endif

#endif
