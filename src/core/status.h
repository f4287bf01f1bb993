#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The one error path: sets this thread's message; the value of the expression is the status.
 *
 * The message is one sentence, lower case, without a final full stop or newline: "dt is -1; give a
 * step greater than 0". A macro so that static analysis sees that the status is not KITH_OK. */
#define kith_fail(status, ...) (kith_fail_message(__VA_ARGS__), (status))

void kith_fail_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Puts words before this thread's message ("file.csv: " …) and returns the status. */
kith_status kith_fail_within(kith_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns from the calling function if an expression of type kith_status is not KITH_OK. */
#define KITH_TRY(expression)                                                                       \
    do {                                                                                           \
        const kith_status kith_try_status = (expression);                                          \
        if (kith_try_status != KITH_OK)                                                            \
            return kith_try_status;                                                                \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
