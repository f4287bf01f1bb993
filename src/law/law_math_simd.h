#ifndef LAW_LAW_MATH_SIMD_H
#define LAW_LAW_MATH_SIMD_H

/* The functions of law_body.h for vectors. */

#include "core/simd_by_lane.h"

#define LAW_INLINE SIMD_INLINE

/* LAW_MEETS_SUBNORMAL: r² may be subnormal, which sums of forces see by themselves. */
#if defined(LAW_MEETS_SUBNORMAL)
#define law_rsqrt             simd_rsqrt_of_subnormal
#define law_rsqrt_or_0_scaled simd_rsqrt_or_0_of_subnormal_scaled
#else
#define law_rsqrt             simd_rsqrt
#define law_rsqrt_or_0_scaled simd_rsqrt_or_0_scaled
#endif

#define law_all           simd_all
#define law_fma           simd_fma
#define law_reciprocal(x) (1 / (x))
#define law_unless_equal  simd_unless_equal
#define law_sqrt          simd_sqrt
#define law_exp2          simd_exp2
#define law_log           simd_log
#define law_log2          simd_log2

#define law_rsqrt3_scaled       simd_rsqrt3_scaled
#define law_rsqrt3_unscaled     simd_rsqrt3_unscaled
#define law_rsqrt_or_0_unscaled simd_rsqrt_or_0_unscaled

/* For formulas. */
#define law_rsqrt_of_any simd_rsqrt_of_any
#define law_not(mask)    (~(mask))
#define law_exp          simd_exp
#define law_expm1        simd_expm1
#define law_log10        simd_log10
#define law_log1p        simd_log1p
#define law_cbrt         simd_cbrt
#define law_sin          simd_sin
#define law_cos          simd_cos
#define law_tan          simd_tan
#define law_asin         simd_asin
#define law_acos         simd_acos
#define law_atan         simd_atan
#define law_sinh         simd_sinh
#define law_cosh         simd_cosh
#define law_tanh         simd_tanh
#define law_asinh        simd_asinh
#define law_acosh        simd_acosh
#define law_atanh        simd_atanh
#define law_erf          simd_erf
#define law_erfc         simd_erfc
#define law_floor        simd_floor
#define law_ceil         simd_ceil
#define law_trunc        simd_trunc
#define law_round        simd_round
#define law_fabs         simd_fabs
#define law_fmin         simd_fmin
#define law_fmax         simd_fmax
#define law_pow          simd_pow
#define law_atan2        simd_atan2
#define law_hypot        simd_hypot
#define law_fmod         simd_fmod
#define law_select       simd_select

#endif
