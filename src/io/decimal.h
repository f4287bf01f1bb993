#ifndef IO_DECIMAL_H
#define IO_DECIMAL_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads the decimal number at text and gives the nearest double (ties to even), as strtod does.
 *
 *   text    followed somewhere by a byte that is not part of a number
 *   locale  the C locale, for the numbers that need the C library
 *   value   [out]
 *
 * The words nan, inf and infinity are numbers too, in any case and with a sign.
 *
 * Returns the first byte past the end of the number; NULL if it is not a number, or if it is beyond
 * the range of a double. */
const char *decimal_read(const char *text, locale_t locale, double *value);

#endif
