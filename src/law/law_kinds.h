#ifndef LAW_LAW_KINDS_H
#define LAW_LAW_KINDS_H

/* The kinds of laws that a kernel distinguishes; read by host code, by CUDA and by code compiled at
 * run time, so that it includes only bounds and numbers. Several laws of the table share a kind:
 * gravity and coulomb are inverse, c[0]/s. law_list.h is made of the table (law_writer.c) and lists
 * them, with
 *
 *   LAW_MAY_BE_PRODUCT(kind)   whether a law of this kind may be weighted by a product; but for the
 *                              constants, which may be by a sum, no others are weighted
 *   LAW_ALWAYS_DIVERGES(kind)  at s = 0
 *   LAW_MAY_DIVERGE(kind)      at s = 0, which numbers.diverges says */

#include "core/floors.h"
#include "law/law_list.h"
#include "law/law_numbers.h"

enum law_kind {
#define LAW_ENUMERATOR(kind) law_##kind,
    LAW_EACH_BUILT_IN(LAW_ENUMERATOR)
#undef LAW_ENUMERATOR
        law_built_in_count,
    law_custom = law_built_in_count /* the formula that is compiled with the kernel */
};

/* What a kernel is compiled for: constants once inlined. */
struct law_form {
    enum law_kind kind;
    enum law_weighting weighting;
};

#endif
