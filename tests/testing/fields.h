#ifndef TESTS_FIELDS_H
#define TESTS_FIELDS_H

/* What a test asks of a message: its fields, not its prose. The whole messages that are part of the
 * interface are in tests/cli/messages.txt. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static inline bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a field of length characters is in the message: not inside of a longer word, and if it is
 * an integer not the beginning of a longer one. */
static inline bool has_field(const char *message, const char *field, size_t length)
{
    const bool is_number =
        strspn(field + (field[0] == '-'), "0123456789") == length - (field[0] == '-');
    for (const char *at = message; (at = strchr(at, field[0])); at++) {
        const bool begins = at == message || !is_word(field[0]) || !is_word(at[-1]);
        if (begins && strncmp(at, field, length) == 0 &&
            !(is_number && isdigit((unsigned char)at[length])))
            return true;
    }
    return false;
}

/* Whether the message has all fields, which are separated by spaces: the name of an argument, its
 * value, a line, a remedy. Their order is free, and so are the words around them. */
static inline bool has_fields(const char *message, const char *fields)
{
    while (*(fields += strspn(fields, " "))) {
        const size_t length = strcspn(fields, " ");
        if (!has_field(message, fields, length))
            return false;
        fields += length;
    }
    return true;
}

#endif
