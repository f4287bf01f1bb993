#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdint.h>

#include "core/both_sides.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Vector kernels read whole vectors: arrays for them have room for a multiple of this many
 * elements.
 */
enum { kith_padding = 64 };

KITH_BOTH_SIDES static inline int64_t kith_padded(int64_t count)
{
    return (count + kith_padding - 1) / kith_padding * kith_padding;
}

/* Whether this process may take this many bytes more. The system hands out memory that it does not
 * have, and kills who writes to it: what is large is refused before.
 *
 * Errors: KITH_OUT_OF_MEMORY; the message names what, how much it needs and how much there is. */
kith_status kith_check_available(double bytes, const char *what, const char *remedy);

/* kith_memory_available of the files below a folder, but for the limit of address space. */
int64_t kith_memory_available_below(const char *root);

/* The allocation function: count × bytes_each zeroed bytes, aligned to 64.
 *
 *   memory  [out] free it with free(); NULL for count 0 and on failure
 *
 * Errors: KITH_OUT_OF_MEMORY, also if the product overflows, or if bytes are more than the memory
 *         available (kith/build.h); the message names what and how much.
 */
kith_status kith_allocate(int64_t count, int64_t bytes_each, const char *what, void *memory);

/* The same without zeros: large results that are written as a whole, in parts between which a call
 * may be cancelled. */
kith_status kith_allocate_unset(int64_t count, int64_t bytes_each, const char *what, void *memory);

#ifdef __cplusplus
}
#endif

#endif
