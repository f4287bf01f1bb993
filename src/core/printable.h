#ifndef CORE_PRINTABLE_H
#define CORE_PRINTABLE_H

#include <stddef.h>

/* Text for one line of a terminal: printable UTF-8 as it is, and all else as an escape: \n, \t, \r,
 * \x1b (a control character or a byte that is not UTF-8), \u202e, \U000e0001. Not printable are
 * control and format characters and line and paragraph separators (Unicode's categories Cc, Cf, Zl
 * and Zp): they break lines, drive terminals, or turn the direction of what follows.
 *
 * Writes at most bytes (> 0), the final zero included, and ends before an escape or a character
 * that has no room. Printable text does not change, so that the function is idempotent. */
void make_printable(const char *text, char *printable, size_t bytes);

#endif
