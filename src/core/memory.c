#include "core/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large memory lies on huge pages where the system has them for who asks: a core that streams waits
 * less for addresses, and much less on a virtual machine. */
enum { alignment = 64, huge_page = 2 << 20, huge_from = 4 * huge_page };

kith_status kith_allocate(int64_t count, int64_t bytes_each, const char *what, void *memory)
{
    void *block = NULL;
    memcpy(memory, &block, sizeof block);
    if (count == 0)
        return KITH_OK;

    int64_t bytes = 0;
    if (count < 0 || bytes_each <= 0 || __builtin_mul_overflow(count, bytes_each, &bytes) ||
        bytes > INT64_MAX - huge_page)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: %lld × %lld bytes are more than can be addressed",
                         what, (long long)count, (long long)bytes_each);

    const bool huge = bytes >= huge_from;
    const int64_t aligned = huge ? huge_page : alignment;
    const int64_t rounded = (bytes + aligned - 1) / aligned * aligned;
    block = aligned_alloc((size_t)aligned, (size_t)rounded);
    if (!block)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: %lld bytes of memory are not to be had", what,
                         (long long)bytes);
#ifdef MADV_HUGEPAGE
    if (huge)
        madvise(block, (size_t)rounded, MADV_HUGEPAGE);
#endif
    memset(block, 0, (size_t)rounded);
    memcpy(memory, &block, sizeof block);
    return KITH_OK; // cppcheck-suppress memleak; the caller has the block now
}
