#ifndef CORE_FLOAT_ENVIRONMENT_H
#define CORE_FLOAT_ENVIRONMENT_H

#include <stdint.h>

/* The rounding mode and the treatment of denormal numbers. The caller sets them for its thread;
 * worker threads adopt them while they work for it, so that the number of threads changes no bit of
 * a result. */

static inline uint64_t float_environment_of_thread(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return 0;
#endif
}

static inline void float_environment_take_over(uint64_t environment)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((uint32_t)environment);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(environment));
#else
    (void)environment;
#endif
}

#endif
