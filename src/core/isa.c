#include "core/isa.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

/* The processor has what the x86-64 psABI lists for a level and the system saves its registers. */
static bool supports(const char *name)
{
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return strcmp(name, "v4") == 0 ? v4 : strcmp(name, "v3") == 0 ? v3 : v2;
}

#define SUPPORTED(name) supports(name)
static const kith_isa descriptions[] = {
#ifndef KITH_WITHOUT_V4
    {"v4", "x86-64-v4: AVX-512", false},
#endif
#ifndef KITH_WITHOUT_V3
    {"v3", "x86-64-v3: AVX2 and FMA", false},
#endif
    {"v2", "x86-64-v2: SSE4.2", false},
};

#elif defined(__aarch64__)

#define SUPPORTED(name) true
static const kith_isa descriptions[] = {{"neon", "arm64: NEON", false}};

#else

#define SUPPORTED(name) true
static const kith_isa descriptions[] = {{"generic", "portable vectors", false}};

#endif

enum { isa_count = sizeof descriptions / sizeof descriptions[0] };

/* Filled in for each call: the library has no mutable globals. */
const kith_isa *kith_isa_list(int64_t *count)
{
    static _Thread_local kith_isa list[isa_count];
    for (int32_t k = 0; k < isa_count; k++) {
        list[k] = descriptions[k];
        list[k].supported = SUPPORTED(list[k].name);
    }
    if (count)
        *count = isa_count;
    return list;
}

static kith_status choose_named(const kith_isa *list, const char *name, int32_t *index)
{
    for (int32_t k = 0; k < isa_count; k++) {
        if (strcmp(list[k].name, name) != 0)
            continue;
        if (!list[k].supported)
            return kith_fail(
                KITH_UNSUPPORTED,
                "KITH_ISA is %s, which this processor does not support; unset it or see kith info",
                name);
        *index = k;
        return KITH_OK;
    }
    return kith_fail(
        KITH_INVALID_ARGUMENT,
        "KITH_ISA is '%s', which is not an instruction set of this build; kith info lists "
        "them",
        name);
}

kith_status kith_isa_choose(int32_t *index)
{
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    const char *name = getenv("KITH_ISA");
    if (name && *name)
        return choose_named(list, name, index);
    for (int32_t k = 0; k < count; k++)
        if (list[k].supported) {
            *index = k;
            return KITH_OK;
        }
    return kith_fail(KITH_UNSUPPORTED,
                     "this processor supports none of the instruction sets of this "
                     "build (x86-64-v2 at least)");
}
