#ifndef SUMS_CODE_H
#define SUMS_CODE_H

#include "sums/problem.h"

/* Compiles formulas for a kind of device: the kernel's file with their text (law/compiled.h,
 * law/compiled_cuda.h). */
struct sums_compiler {
    const char *file;
    kith_status (*open)(kith_context *context, const char *functions, const char *file,
                        void **handle);
    void (*close)(void *handle);
};

/* The compiled code of a problem for the context's device; the context keeps the last ones.
 * Errors: as the compiler's. */
kith_status sums_code_of(kith_context *context, const struct sums_problem *problem,
                         const struct sums_compiler *compiler, void **handle);

#endif
