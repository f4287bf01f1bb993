#include "core/processor.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* The brand string: three times four registers of text, blanks before and after. */
static void brand(char text[49])
{
    memset(text, 0, 49);
    for (unsigned int k = 0; k < 3; k++) {
        unsigned int words[4] = {0};
        if (!__get_cpuid(0x80000002u + k, &words[0], &words[1], &words[2], &words[3]))
            return;
        memcpy(text + k * sizeof words, words, sizeof words);
    }
}
#else
static void brand(char text[49])
{
    text[0] = 0;
}
#endif

void processor_name(char *name, size_t bytes)
{
    char text[49];
    struct utsname system;
    brand(text);
    const char *from = text + strspn(text, " ");
    size_t length = strlen(from);
    while (length > 0 && from[length - 1] == ' ')
        length--;
    if (length > 0)
        snprintf(name, bytes, "%.*s", (int)length, from);
    else
        snprintf(name, bytes, "%s", uname(&system) == 0 ? system.machine : "a processor");
}

int32_t processor_cores(void)
{
    return (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static int32_t count_allowed_cores(void)
{
    const long all = sysconf(_SC_NPROCESSORS_CONF); /* those that are off have numbers too */
    const size_t most = all > 0 ? (size_t)all : 1, bytes = CPU_ALLOC_SIZE(most);
    cpu_set_t *cores = CPU_ALLOC(most);
    int32_t count = 0;
    if (cores && sched_getaffinity(0, bytes, cores) == 0)
        count = CPU_COUNT_S(bytes, cores);
    CPU_FREE(cores);
    return count > 0 ? count : 1;
}

int32_t processor_threads(bool *is_asked)
{
    enum { most_threads = 4096 };
    const char *text = getenv("OMP_NUM_THREADS");
    const long threads = text ? strtol(text, NULL, 10) : 0;
    *is_asked = threads >= 1 && threads <= most_threads;
    return *is_asked ? (int32_t)threads : count_allowed_cores();
}
