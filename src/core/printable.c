#include "core/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the character that starts here, by RFC 3629: no overlong forms, no surrogates, nothing
 * beyond U+10FFFF. 0 if none does. */
static int decode(const char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint32_t first = (unsigned char)text[0];
    const int count = first < 0x80   ? 1
                      : first < 0xc0 ? 0
                      : first < 0xe0 ? 2
                      : first < 0xf0 ? 3
                      : first < 0xf8 ? 4
                                     : 0;
    uint32_t value = count == 1 ? first : first & (0x7fu >> count);
    for (int k = 1; k < count; k++) {
        const uint32_t next = (unsigned char)text[k];
        if ((next & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3f);
    }
    *character = value;
    const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
    return value < least[count] || value > 0x10ffff || is_surrogate ? 0 : count;
}

static bool is_printable(uint32_t character)
{
    static const uint32_t hidden[][2] = {
        {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x61c, 0x61c},
        {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
        {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f}};
    for (size_t k = 0; k < sizeof hidden / sizeof hidden[0]; k++)
        if (character >= hidden[k][0] && character <= hidden[k][1])
            return false;
    return true;
}

/* The replacement of a character of length bytes, or of an invalid byte (length 0). */
static void write_piece(const char *at, uint32_t character, int length, char piece[16])
{
    const char *const short_form = character == '\n'   ? "\\n"
                                   : character == '\t' ? "\\t"
                                   : character == '\r' ? "\\r"
                                                       : NULL;
    if (length > 0 && is_printable(character))
        snprintf(piece, 16, "%.*s", length, at);
    else if (length == 1 && short_form)
        snprintf(piece, 16, "%s", short_form);
    else if (length < 2)
        snprintf(piece, 16, "\\x%02x", (unsigned)(unsigned char)*at);
    else
        snprintf(piece, 16, character > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)character);
}

void make_printable(const char *text, char *printable, size_t bytes)
{
    size_t used = 0;
    while (*text) {
        char piece[16];
        uint32_t character = 0;
        const int length = decode(text, &character);
        write_piece(text, character, length, piece);
        const size_t more = strlen(piece);
        if (used + more >= bytes)
            break;
        memcpy(printable + used, piece, more);
        used += more;
        text += length > 0 ? length : 1;
    }
    printable[used] = 0;
}
