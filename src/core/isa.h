#ifndef CORE_ISA_H
#define CORE_ISA_H

#include "core/status.h"
#include "kith/build.h"

/* The instruction sets that CMake compiles CPU kernels for, best first (cmake/KithIsa.cmake has the
 * same list). A kernel file defines one table per set, its name ending in the set's: each room
 * lists its tables with KITH_EACH_ISA, and the index of a row is the same everywhere. A kernel file
 * uses none of them, and is the same with any list, so that ccache has it for other builds. */
#if defined(__x86_64__)
#if defined KITH_WITHOUT_V4 && !defined KITH_ISA_NAME
#define KITH_ROW_V4(ROW)
#else
#define KITH_ROW_V4(ROW) ROW(v4)
#endif
#if defined KITH_WITHOUT_V3 && !defined KITH_ISA_NAME
#define KITH_ROW_V3(ROW)
#else
#define KITH_ROW_V3(ROW) ROW(v3)
#endif
#define KITH_EACH_ISA(ROW) KITH_ROW_V4(ROW) KITH_ROW_V3(ROW) ROW(v2)
#elif defined(__aarch64__)
#define KITH_EACH_ISA(ROW) ROW(neon)
#else
#define KITH_EACH_ISA(ROW) ROW(generic)
#endif

/* name ## _ ## the set that this file is being compiled for (-D KITH_ISA_NAME=v4). */
#define KITH_ISA_PASTE_(name, isa) name##_##isa
#define KITH_ISA_PASTE(name, isa)  KITH_ISA_PASTE_(name, isa)
#define KITH_ISA_SYMBOL(name)      KITH_ISA_PASTE(name, KITH_ISA_NAME)

/* The index of the set to use: KITH_ISA's if that is in the environment, else the best supported.
 * Errors: KITH_INVALID_ARGUMENT, KITH_UNSUPPORTED. */
kith_status kith_isa_choose(int32_t *index);

#endif
