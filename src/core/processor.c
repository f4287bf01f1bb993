#include "core/processor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* The brand string: three times four registers of text, blanks before and behind. */
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
