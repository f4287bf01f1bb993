#ifndef TESTS_NOTES_H
#define TESTS_NOTES_H

#include <stdbool.h>
#include <string.h>

#include "fields.h"

/* Whether a text of the picture has all these fields. */
static inline bool has_note(const char *svg, const char *fields)
{
    char note[256];
    for (const char *at = svg; (at = strchr(at, '>'));) {
        const size_t length = strcspn(++at, "<");
        if (length >= sizeof note)
            continue;
        memcpy(note, at, length);
        note[length] = '\0';
        if (has_fields(note, fields))
            return true;
    }
    return false;
}

#endif
