#include "core/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kith/build.h"

/* Large memory lies on huge pages where the system has them for who asks: a core that streams waits
 * less for addresses, and much less on a virtual machine. */
enum { alignment = 64, huge_page = 2 << 20, huge_from = 4 * huge_page };

/* Asking the system takes 20 µs and more, in deep control groups 0.2 ms: little compared with
 * writing that many bytes, which takes 10 ms. */
static const double checked_from = 64 << 20;

kith_status kith_check_available(double bytes, const char *what, const char *remedy)
{
    if (bytes < checked_from)
        return KITH_OK;
    const int64_t available = kith_memory_available();
    if (bytes > (double)available)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: %.0f bytes are needed and %lld are available; %s",
                         what, bytes, (long long)available, remedy);
    return KITH_OK;
}

static kith_status allocate(int64_t count, int64_t bytes_each, bool zeroed, const char *what,
                            void *memory)
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

    KITH_TRY(kith_check_available((double)bytes, what, "request less, or free memory"));
    const bool huge = bytes >= huge_from;
    const int64_t aligned = huge ? huge_page : alignment;
    const int64_t rounded = (bytes + aligned - 1) / aligned * aligned;
    block = aligned_alloc((size_t)aligned, (size_t)rounded);
    if (!block)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: cannot allocate %lld bytes", what,
                         (long long)bytes);
#ifdef MADV_HUGEPAGE
    if (huge)
        madvise(block, (size_t)rounded, MADV_HUGEPAGE);
#endif
    if (zeroed)
        memset(block, 0, (size_t)rounded);
    memcpy(memory, &block, sizeof block);
    return KITH_OK; // cppcheck-suppress memleak; the caller has the block now
}

kith_status kith_allocate(int64_t count, int64_t bytes_each, const char *what, void *memory)
{
    return allocate(count, bytes_each, true, what, memory);
}

kith_status kith_allocate_unset(int64_t count, int64_t bytes_each, const char *what, void *memory)
{
    return allocate(count, bytes_each, false, what, memory);
}
