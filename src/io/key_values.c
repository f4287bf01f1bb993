#include "io/key_values.h"

#include <stdbool.h>
#include <string.h>

/* Where a quoted text ends; a backslash takes the meaning from the character after it. */
static char *find_closing(char *at, char closing)
{
    while (*at && *at != closing)
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at : NULL;
}

/* Cuts the value out of the line, in place, and continues after it. */
static kith_status take_value(char **line, char **value)
{
    const char opening = **line;
    const bool quoted = opening == '"' || opening == '\'' || opening == '{';
    *value = *line + quoted;
    char *end = quoted ? find_closing(*value, opening == '{' ? '}' : opening)
                       : *value + strcspn(*value, " \t");
    if (!end)
        return kith_fail(KITH_BAD_FORMAT, "a quote is not closed at '%.40s'", *line);
    *line = end + (*end != 0);
    *end = 0;
    return KITH_OK;
}

kith_status key_values_each(char *line,
                            kith_status (*take)(void *user, const char *key, char *value),
                            void *user)
{
    for (;;) {
        line += strspn(line, " \t");
        const size_t length = strcspn(line, "= \t");
        if (!*line)
            return KITH_OK;
        const char *key = line;
        line += length;
        if (*line != '=')
            continue;
        *line++ = 0;
        char *value = NULL;
        KITH_TRY(take_value(&line, &value));
        KITH_TRY(take(user, key, value));
    }
}
