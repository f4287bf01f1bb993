#ifndef CORE_REAL_H
#define CORE_REAL_H

#include "core/floors.h"
#include "core/isa.h"
#include "core/simd.h"

/* The real type that a kernel's file is compiled for, once each (kith_add_kernels with REALS):
 * REAL, float or double.
 *
 *   VREAL, VMASK            vfloat and vint32, or vdouble and vint64
 *   REAL_LANES              reals in a vector
 *   S2_FLOOR                core/floors.h
 *   FIELD_SCALE             what simd_rsqrt3_scaled multiplies by, in double
 *   OF_REAL(name)           name_float or name_double, of a header that has both
 *   KITH_REAL_SYMBOL(name)  name_float_v4: the table of the file's kernels, which alone is not
 * static */
#define OF_REAL_PASTE_(name, real) name##_##real
#define OF_REAL_PASTE(name, real)  OF_REAL_PASTE_(name, real)
#define OF_REAL(name)              OF_REAL_PASTE(name, REAL)
#define KITH_REAL_SYMBOL(name)     KITH_ISA_SYMBOL(OF_REAL(name))

#define REAL_IS_DOUBLE OF_REAL(REAL_IS)
#define REAL_IS_float  0
#define REAL_IS_double 1

#if REAL_IS_DOUBLE
#define VREAL       vdouble
#define VMASK       vint64
#define S2_FLOOR    S2_FLOOR_DOUBLE
#define FIELD_SCALE SIMD_RSQRT3_SCALE_DOUBLE
#else
#define VREAL       vfloat
#define VMASK       vint32
#define S2_FLOOR    S2_FLOOR_FLOAT
#define FIELD_SCALE (double)SIMD_RSQRT3_SCALE_FLOAT
#endif

enum { REAL_LANES = SIMD_BYTES / sizeof(REAL) };

#endif
