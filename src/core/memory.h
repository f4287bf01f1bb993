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

/* Checks that this many more bytes are available. The system overcommits memory and kills processes
 * that write to it, so that large requests are refused before.
 *
 * Errors: KITH_OUT_OF_MEMORY; the message names what, the bytes needed and the bytes available. */
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

/* The same without zeros: for large results that are written completely, in parts between which a
 * call may be cancelled. */
kith_status kith_allocate_unset(int64_t count, int64_t bytes_each, const char *what, void *memory);

#ifdef __cplusplus
}
#endif

#endif
