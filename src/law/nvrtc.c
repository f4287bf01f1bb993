#include "law/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/library.h"
#include "core/memory.h"

typedef void *program;

/* The functions of nvrtc.h that are used; results are 0 for success. */
struct library {
    int (*version)(int *major, int *minor);
    int (*create)(program *made, const char *source, const char *name, int count,
                  const char *const *headers, const char *const *names);
    int (*compile)(program made, int count, const char *const *options);
    int (*log_size)(program made, size_t *bytes);
    int (*log)(program made, char *text);
    int (*cubin_size)(program made, size_t *bytes);
    int (*cubin)(program made, char *code);
    int (*destroy)(program *made);
};

static kith_status load(struct library *library)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const struct library_function functions[] = {
        {&library->version, "nvrtcVersion"},        {&library->create, "nvrtcCreateProgram"},
        {&library->compile, "nvrtcCompileProgram"}, {&library->log_size, "nvrtcGetProgramLogSize"},
        {&library->log, "nvrtcGetProgramLog"},      {&library->cubin_size, "nvrtcGetCUBINSize"},
        {&library->cubin, "nvrtcGetCUBIN"},         {&library->destroy, "nvrtcDestroyProgram"}};
    void *handle = library_open(names, sizeof names / sizeof names[0], "libnvrtc.so");
    if (!handle)
        return kith_fail(
            KITH_UNSUPPORTED,
            "a formula on a GPU is compiled by NVRTC, but neither libnvrtc.so.13 nor "
            ".12 was found; install it (cuda-nvrtc), use a built-in law, or compute on the CPU");
    const char *missing = library_find(handle, functions, sizeof functions / sizeof functions[0]);
    return missing ? kith_fail(KITH_UNSUPPORTED, "libnvrtc has no %s; install NVRTC 12 or newer",
                               missing)
                   : KITH_OK;
}

kith_status nvrtc_version(char text[16])
{
    struct library library;
    int major = 0, minor = 0;
    KITH_TRY(load(&library));
    library.version(&major, &minor);
    snprintf(text, 16, "%d.%d", major, minor);
    return KITH_OK;
}

/* The first error of the log as this thread's message. */
static kith_status fail_with_log(const struct library *library, program made)
{
    size_t bytes = 0;
    char *log = NULL;
    if (library->log_size(made, &bytes) == 0 && bytes > 0)
        KITH_TRY(kith_allocate((int64_t)bytes + 1, 1, "NVRTC's messages", &log));
    if (log)
        library->log(made, log);
    const char *error = log ? strstr(log, "error") : NULL;
    const kith_status status =
        kith_fail(KITH_INTERNAL_ERROR, "NVRTC refuses the code of a formula: %.*s",
                  error ? (int)strcspn(error, "\n") : 15, error ? error : "no reason given");
    free(log);
    return status;
}

static kith_status compile(const struct library *library, program made, const struct nvrtc_job *job,
                           void **cubin, int64_t *bytes)
{
    if (library->compile(made, job->option_count, job->options) != 0)
        return fail_with_log(library, made);
    size_t size = 0;
    if (library->cubin_size(made, &size) != 0 || size == 0)
        return kith_fail(KITH_INTERNAL_ERROR, "NVRTC made no code for this GPU of a formula");
    KITH_TRY(kith_allocate((int64_t)size, 1, "compiled law", cubin));
    library->cubin(made, *cubin);
    *bytes = (int64_t)size;
    return KITH_OK;
}

kith_status nvrtc_compile(const struct nvrtc_job *job, void **cubin, int64_t *bytes)
{
    struct library library;
    program made = NULL;
    *cubin = NULL;
    KITH_TRY(load(&library));
    kith_status status = KITH_OK;
    if (library.create(&made, job->source, "law.cu", job->count, job->headers, job->names) != 0)
        status = kith_fail(KITH_OUT_OF_MEMORY, "NVRTC cannot begin to compile a formula");
    if (status == KITH_OK) {
        status = compile(&library, made, job, cubin, bytes);
        library.destroy(&made);
    }
    return status;
}
