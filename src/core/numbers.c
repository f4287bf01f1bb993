#include "core/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kith_status c_locale_enter(struct c_locale *locale)
{
    locale->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale->own)
        return kith_fail(KITH_OUT_OF_MEMORY, "the C locale: out of memory");
    locale->before = uselocale(locale->own);
    return KITH_OK;
}

void c_locale_leave(struct c_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->own);
}

/* strtod alone would take "nan", "inf", hexadecimal numbers and leading spaces as well. */
bool parse_real(const char *text, double *value)
{
    const size_t length = strlen(text);
    if (length == 0 || strspn(text, "0123456789+-.eE") != length)
        return false;
    char *end = NULL;
    *value = strtod(text, &end);
    return *end == 0 && isfinite(*value);
}

bool parse_integer(const char *text, int64_t *value)
{
    const size_t length = strlen(text);
    if (length == 0 || strspn(text, "0123456789+-") != length)
        return false;
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == 0 && errno == 0;
}

int format_real(double value, char text[real_bytes])
{
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, real_bytes, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value)
            break;
    }
    return length;
}
