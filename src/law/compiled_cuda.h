#ifndef LAW_COMPILED_CUDA_H
#define LAW_COMPILED_CUDA_H

#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"
#include "law/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Formulas on a GPU: the kernel's text compiled by NVRTC, which is loaded when it is first needed.
 * Builds with CUDA only.
 *
 *   kernel    a path among the sources that the library carries (law/compiled.h); it includes
 *             nothing that is not among them, and defines extern "C" kernels inside #ifdef
 *             LAW_CUSTOM_BODY
 *   symbol    of the kernel
 *   function  [out] a CUkernel; lives as long as the law
 *
 * The context's device is the thread's current one. Errors: KITH_UNSUPPORTED (no NVRTC on this
 * machine), KITH_INTERNAL_ERROR (it refuses the text), KITH_OUT_OF_MEMORY.
 * Cost:   some tenths of a second at first; a read of a file where the cache folder has it. */
kith_status law_compile_cuda(kith_context *context, const kith_law *law, const char *kernel,
                             const char *symbol, void **function);

/* The same for functions that a room has written itself, with formula_write.h: the kernel's file
 * includes them as LAW_CUSTOM_BODY.
 *
 *   handle  [out] close with law_close_functions_cuda
 *
 * Errors, cost: as law_compile_cuda. */
kith_status law_open_functions_cuda(kith_context *context, const char *functions,
                                    const char *kernel, void **handle);

/* Unloads code after the work on all devices is done, which may use it. Where that cannot be waited
 * for, as while a stream is being captured, the code stays loaded. NULL is fine. */
void law_close_functions_cuda(void *handle);

/* A kernel of a handle. Errors: KITH_INTERNAL_ERROR. */
kith_status law_function_of_cuda(void *handle, const char *symbol, void **function);

/* Its code for an architecture ("sm_90"), on any machine with NVRTC; free it with free(). */
kith_status law_compile_functions_cuda(const char *architecture, const char *functions,
                                       const char *kernel, void **cubin, int64_t *bytes);

struct law_launch {
    uint32_t blocks[3], threads[3];
    uint32_t shared_bytes; /* dynamic shared memory, up to 48 KiB */
};

/* Starts it on the context's stream. arguments are the addresses of the kernel's; what names the
 * work in an error message. */
kith_status law_launch_cuda(kith_context *context, void *function, const struct law_launch *launch,
                            void **arguments, const char *what);

#ifdef __cplusplus
}
#endif

#endif
