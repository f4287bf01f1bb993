#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

/* What cmocka.h needs before it, and the few things that all tests say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fields.h"
#include "kith/kith.h"
#include "particles.h"

/* Fails with the library's message unless the call succeeds. */
#define assert_ok(expression)                                                                      \
    do {                                                                                           \
        const kith_status assert_status = (expression);                                            \
        if (assert_status != KITH_OK)                                                              \
            fail_msg("%s: %s: %s", #expression, kith_status_name(assert_status),                   \
                     kith_error_message());                                                        \
    } while (0)

/* Fails unless the call returns this status with a message that has the fields (fields.h). */
#define assert_fails(expression, expected, fields)                                                 \
    do {                                                                                           \
        const kith_status assert_status = (expression);                                            \
        if (assert_status != (expected))                                                           \
            fail_msg("%s returned '%s', not '%s'", #expression, kith_status_name(assert_status),   \
                     kith_status_name(expected));                                                  \
        if (!has_fields(kith_error_message(), fields))                                             \
            fail_msg("%s: the message '%s' lacks '%s'", #expression, kith_error_message(),         \
                     fields);                                                                      \
    } while (0)

/* The greater of two errors, and NaN if one is that, which fmax would hide. */
static inline double worse_of(double error, double other)
{
    return isnan(error) || error > other ? error : other;
}

/* The solver of the table that has this name. */
static inline const kith_solver *solver_named(const char *name)
{
    const kith_solver *solver = NULL;
    assert_ok(kith_solver_find(name, &solver));
    return solver;
}

#endif
