#ifndef LAW_LAW_MATH_SIMD_H
#define LAW_LAW_MATH_SIMD_H

/* The functions of law_body.h for vectors. */

#include "core/simd_math.h"

#define LAW_INLINE SIMD_INLINE

#define law_all           simd_all
#define law_fma           simd_fma
#define law_reciprocal(x) (1 / (x))
#define law_rsqrt         simd_rsqrt
#define law_unless_equal  simd_unless_equal
#define law_sqrt          simd_sqrt
#define law_exp2          simd_exp2
#define law_log           simd_log
#define law_log2          simd_log2

#endif
