#ifndef CORE_NUMBERS_H
#define CORE_NUMBERS_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* Numbers as text. These functions need the C locale, in which the decimal separator is a point:
 * kith_bodies_read and kith_bodies_write enter it for this thread. */
struct c_locale {
    locale_t own, before;
};

kith_status c_locale_enter(struct c_locale *locale); /* Errors: KITH_OUT_OF_MEMORY. */
void c_locale_leave(struct c_locale *locale);

/* The nearest double to a decimal number; false unless the whole text is one, and finite. */
bool parse_real(const char *text, double *value);

/* False unless the whole text is a decimal integer of 64 bits. */
bool parse_integer(const char *text, int64_t *value);

enum { real_bytes = 32 };

/* A short decimal number that reads back to the same bits: 15 digits if they do, else 16 or 17.
 * Returns its length. */
int format_real(double value, char text[real_bytes]);

#endif
