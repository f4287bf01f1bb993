#ifndef CORE_SIMD_BY_LANE_H
#define CORE_SIMD_BY_LANE_H

/* Functions of vectors without vector code: the C library's, lane by lane. */

#include "core/simd_math.h"

#define SIMD_DEFINE_BY_LANE(name)                                                                  \
    SIMD_INLINE vfloat simd_##name##_float(vfloat x)                                               \
    {                                                                                              \
        return simd_by_lane_float(name##f, x);                                                     \
    }                                                                                              \
    SIMD_INLINE vdouble simd_##name##_double(vdouble x)                                            \
    {                                                                                              \
        return simd_by_lane_double(name, x);                                                       \
    }
#define SIMD_DEFINE_BY_LANE_2(name)                                                                \
    SIMD_INLINE vfloat simd_##name##_float(vfloat x, vfloat y)                                     \
    {                                                                                              \
        return simd_by_lane_2_float(name##f, x, y);                                                \
    }                                                                                              \
    SIMD_INLINE vdouble simd_##name##_double(vdouble x, vdouble y)                                 \
    {                                                                                              \
        return simd_by_lane_2_double(name, x, y);                                                  \
    }

SIMD_DEFINE_BY_LANE(expm1)
SIMD_DEFINE_BY_LANE(log10)
SIMD_DEFINE_BY_LANE(log1p)
SIMD_DEFINE_BY_LANE(cbrt)
SIMD_DEFINE_BY_LANE(sin)
SIMD_DEFINE_BY_LANE(cos)
SIMD_DEFINE_BY_LANE(tan)
SIMD_DEFINE_BY_LANE(asin)
SIMD_DEFINE_BY_LANE(acos)
SIMD_DEFINE_BY_LANE(atan)
SIMD_DEFINE_BY_LANE(sinh)
SIMD_DEFINE_BY_LANE(cosh)
SIMD_DEFINE_BY_LANE(tanh)
SIMD_DEFINE_BY_LANE(asinh)
SIMD_DEFINE_BY_LANE(acosh)
SIMD_DEFINE_BY_LANE(atanh)
SIMD_DEFINE_BY_LANE(erf)
SIMD_DEFINE_BY_LANE(erfc)
SIMD_DEFINE_BY_LANE(floor)
SIMD_DEFINE_BY_LANE(ceil)
SIMD_DEFINE_BY_LANE(trunc)
SIMD_DEFINE_BY_LANE(round)
SIMD_DEFINE_BY_LANE_2(atan2)
SIMD_DEFINE_BY_LANE_2(hypot)
SIMD_DEFINE_BY_LANE_2(fmod)

#define simd_expm1(x)    SIMD_OF(x, simd_expm1)(x)
#define simd_log10(x)    SIMD_OF(x, simd_log10)(x)
#define simd_log1p(x)    SIMD_OF(x, simd_log1p)(x)
#define simd_cbrt(x)     SIMD_OF(x, simd_cbrt)(x)
#define simd_sin(x)      SIMD_OF(x, simd_sin)(x)
#define simd_cos(x)      SIMD_OF(x, simd_cos)(x)
#define simd_tan(x)      SIMD_OF(x, simd_tan)(x)
#define simd_asin(x)     SIMD_OF(x, simd_asin)(x)
#define simd_acos(x)     SIMD_OF(x, simd_acos)(x)
#define simd_atan(x)     SIMD_OF(x, simd_atan)(x)
#define simd_sinh(x)     SIMD_OF(x, simd_sinh)(x)
#define simd_cosh(x)     SIMD_OF(x, simd_cosh)(x)
#define simd_tanh(x)     SIMD_OF(x, simd_tanh)(x)
#define simd_asinh(x)    SIMD_OF(x, simd_asinh)(x)
#define simd_acosh(x)    SIMD_OF(x, simd_acosh)(x)
#define simd_atanh(x)    SIMD_OF(x, simd_atanh)(x)
#define simd_erf(x)      SIMD_OF(x, simd_erf)(x)
#define simd_erfc(x)     SIMD_OF(x, simd_erfc)(x)
#define simd_floor(x)    SIMD_OF(x, simd_floor)(x)
#define simd_ceil(x)     SIMD_OF(x, simd_ceil)(x)
#define simd_trunc(x)    SIMD_OF(x, simd_trunc)(x)
#define simd_round(x)    SIMD_OF(x, simd_round)(x)
#define simd_atan2(x, y) SIMD_OF(x, simd_atan2)(x, y)
#define simd_hypot(x, y) SIMD_OF(x, simd_hypot)(x, y)
#define simd_fmod(x, y)  SIMD_OF(x, simd_fmod)(x, y)

#endif
