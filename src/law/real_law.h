#ifndef LAW_REAL_LAW_H
#define LAW_REAL_LAW_H

/* The laws (law_body.h) for a kernel's file that is compiled for one real type. Only their names
 * have a suffix, NAME(law_value): GPUs and the run-time compiler read the same text. */

#include "core/real.h"
#include "law/law_kinds.h"
#include "law/law_math_simd.h"

#define NAME(name) OF_REAL(name)
#include "law/law_body.h"

#endif
