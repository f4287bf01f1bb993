#ifndef FORCES_LAW_CHOICE_H
#define FORCES_LAW_CHOICE_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The law of an option: gravity, which has its own kernels and units, or another. */
struct law_choice {
    const kith_law *law; /* NULL: gravity */
    double g;            /* of gravity */
    bool uses_charges;
};

/* law may be NULL; g is the option's, 0 if it was not given. G is the option's or the law's, else
 * that of the bodies (0: not known), else 1. Of any other law than gravity g is left to the caller.
 * Errors: KITH_INVALID_ARGUMENT (G is given twice, differently). */
kith_status forces_choose_law(const kith_law *law, double g, double g_of_bodies,
                              struct law_choice *choice);

/* Errors: KITH_INVALID_ARGUMENT unless the law has rates of forces. */
kith_status forces_check_jerk(const kith_law *law);

#ifdef __cplusplus
}
#endif

#endif
