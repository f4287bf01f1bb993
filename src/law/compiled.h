#ifndef LAW_COMPILED_H
#define LAW_COMPILED_H

#include "core/cache_folder.h"
#include "core/status.h"
#include "kith/context.h"
#include "law/law.h"

/* Kernels that are compiled at run time with the formula of a custom law.
 *
 * A room's kernel file is compiled unchanged, found among the sources that the library carries
 * (KITH_RUN_TIME_SOURCES in src/law/CMakeLists.txt), with LAW_CUSTOM_BODY defined; inside #ifdef
 * LAW_CUSTOM_BODY it defines functions for law_custom, for REAL (core/real.h) or for both types, of
 * default visibility. law_values_kernel.c is the shortest example.
 *
 * The law keeps the compiled code for its lifetime, and the user's cache folder keeps it for other
 * processes, those formulas that were used last. */
enum { law_cache_bytes = 256 << 20 };
#define LAW_CACHE_NAME "law-"

/* A source that the library carries. */
struct law_source {
    const char *path, *text; /* "core/simd.h" */
};

/* Ends with a path of NULL. */
extern const struct law_source law_sources[];

/* The function of a kernel's file, compiled for the context's instruction set.
 *
 *   kernel    a path among the sources, "law/law_values_kernel.c"
 *   symbol    "law_values_custom", whose name there ends in _float or _double too
 *   dtype     KITH_F32 or KITH_F64
 *   function  [out] a pointer to the function, which lives as long as the law
 *
 * Errors: KITH_UNSUPPORTED (no compiler), KITH_IO_ERROR (no folder to compile in),
 * KITH_INTERNAL_ERROR (the compiler refuses the file), KITH_OUT_OF_MEMORY. Cost:   about a second
 * at first, some milliseconds in the next process, nothing after that. */
kith_status law_compile_cpu(kith_context *context, const kith_law *law, const char *kernel,
                            const char *symbol, kith_dtype dtype, void *function);

/* The same for functions that a room has written itself, with formula_write.h: the kernel's file
 * includes them as LAW_CUSTOM_BODY.
 *
 *   functions  their text in C
 *   handle     [out] close with law_close_functions
 *
 * Errors, cost: as law_compile_cpu. */
kith_status law_open_functions_cpu(kith_context *context, const char *functions, const char *kernel,
                                   void **handle);
void law_close_functions(void *handle);

/* A function of a handle. Errors: KITH_INTERNAL_ERROR. */
kith_status law_function_of(void *handle, const char *kernel, const char *symbol, void **function);

/* The compiled code of a law; safe for several threads. */
struct law_module {
    char kernel[64];
    char target[64]; /* the instruction set, or the GPU's */
    void *handle;
    void (*close)(void *handle);
    struct law_module *next;
};

kith_status law_code_create(struct law_code **code);
void law_code_free(struct law_code *code);

/* Finds a module, or makes it with open, which sets handle and close; one thread at a time. */
typedef kith_status law_open_module(void *argument, const kith_law *law, struct law_module *module);
kith_status law_code_module(const kith_law *law, const char *kernel, const char *target,
                            law_open_module *open, void *argument, void **handle);

/* A name for the result of these texts, the last of them NULL, and of all sources: 32 hexadecimal
 * digits. */
enum { law_key_bytes = cache_key_bytes };
void law_key(const char *const *texts, char key[law_key_bytes]);

#endif
