#include "io/parts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the digits of BASE.N.EXTENSION begin, and how many they are; NULL without digits. */
static const char *find_number(const char *path, int *digits)
{
    enum { most_digits = 9 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.'), *start = dot;
    if (!dot)
        return NULL;
    while (start > name && isdigit((unsigned char)start[-1]))
        start--;
    *digits = (int)(dot - start);
    const bool found = start > name && start[-1] == '.' && *digits > 0;
    return found && *digits <= most_digits ? start : NULL;
}

int64_t part_number(const char *path)
{
    int digits = 0;
    const char *number = find_number(path, &digits);
    return number ? strtoll(number, NULL, 10) : -1;
}

static kith_status name_part(const char *path, size_t base, int digits, int64_t k,
                             const char *extension, char **part)
{
    if (asprintf(part, "%.*s%0*lld%s", (int)base, path, digits, (long long)k, extension) >= 0)
        return KITH_OK;
    *part = NULL;
    return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a file name");
}

kith_status part_path(const char *path, int64_t k, char **part)
{
    int digits = 0;
    const char *number = find_number(path, &digits);
    return name_part(path, (size_t)(number - path), *number == '0' ? digits : 1, k, number + digits,
                     part);
}

kith_status part_first(const char *path, char **part)
{
    static const char *const extensions[] = {".hdf5", ".h5"};
    const size_t length = strlen(path);
    *part = NULL;
    for (int k = 0; k < 4; k++) {
        const char *extension = extensions[k / 2];
        const size_t cut = k % 2 ? strlen(extension) : 0;
        char *base = NULL;
        if (cut > length || strcmp(path + length - cut, cut ? extension : "") != 0)
            continue;
        if (asprintf(&base, "%.*s.", (int)(length - cut), path) < 0)
            return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a file name");
        const kith_status status = name_part(base, strlen(base), 1, 0, extension, part);
        free(base);
        KITH_TRY(status);
        if (access(*part, F_OK) == 0)
            return KITH_OK;
        free(*part);
        *part = NULL;
    }
    return KITH_OK;
}
