/* Formulas on a GPU: NVRTC's code, kept in the cache folder, loaded and started by the driver. */

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cache_folder.h"
#include "core/library.h"
#include "core/memory.h"
#include "device/cuda.h"
#include "law/compiled.h"
#include "law/compiled_cuda.h"
#include "law/formula.h"
#include "law/nvrtc.h"

/* The driver's functions that are used: its library is on every machine with a GPU, and not needed
 * to start kith on another. */
struct driver {
    CUresult (*load)(CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values,
                     unsigned jit_count, CUlibraryOption *options, void **values, unsigned count);
    CUresult (*unload)(CUlibrary library);
    CUresult (*get_kernel)(CUkernel *kernel, CUlibrary library, const char *name);
    CUresult (*launch)(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, unsigned shared_bytes, CUstream stream, void **arguments,
                       void **extra);
    CUresult (*error_string)(CUresult error, const char **text);
    CUresult (*context_state)(CUdevice device, unsigned *flags, int *is_active);
};

static kith_status load_driver(struct driver *driver)
{
    static const char *const name = "libcuda.so.1"; /* the runtime has it open */
    const struct library_function functions[] = {
        {&driver->load, "cuLibraryLoadData"},
        {&driver->unload, "cuLibraryUnload"},
        {&driver->get_kernel, "cuLibraryGetKernel"},
        {&driver->launch, "cuLaunchKernel"},
        {&driver->error_string, "cuGetErrorString"},
        {&driver->context_state, "cuDevicePrimaryCtxGetState"}};
    const char *missing = library_find(library_open(&name, 1, NULL), functions,
                                       sizeof functions / sizeof functions[0]);
    return missing ? kith_fail(KITH_UNSUPPORTED,
                               "formulas on a GPU need a driver for CUDA 12 or newer "
                               "(libcuda.so.1 with %s); update it",
                               missing)
                   : KITH_OK;
}

static kith_status check(const struct driver *driver, CUresult error, const char *what)
{
    const char *text = NULL;
    if (error == CUDA_SUCCESS)
        return KITH_OK;
    driver->error_string(error, &text);
    return kith_fail(error == CUDA_ERROR_OUT_OF_MEMORY ? KITH_OUT_OF_MEMORY : KITH_INTERNAL_ERROR,
                     "%s: the GPU's driver says: %s", what, text ? text : "unknown error");
}

/* What a compilation is of. */
struct job {
    const char *kernel;
    char architecture[16]; /* "sm_90" */
    const char *functions; /* the formula's */
    char key[law_key_bytes];
};

enum { most_sources = 128 };

/* NVRTC has no headers of the system, and its functions without them. These stand for what run-time
 * sources include. */
static const struct law_source system_headers[] = {
    {"float.h", "#define FLT_EPSILON 0x1p-23f\n"
                "#define DBL_EPSILON 0x1p-52\n"},
    {"math.h", "#define INFINITY __longlong_as_double(0x7ff0000000000000)\n"},
    {"stdbool.h", ""},
    {"stddef.h", "typedef decltype(sizeof 0) size_t;\n"},
    {"stdint.h", "typedef int int32_t;\n"
                 "typedef unsigned int uint32_t;\n"
                 "typedef long long int64_t;\n"
                 "typedef unsigned long long uint64_t;\n"},
};
enum { system_header_count = sizeof system_headers / sizeof system_headers[0] };

static kith_status compile(const struct job *job, void **cubin, int64_t *bytes)
{
    const char *headers[most_sources + system_header_count + 1];
    const char *names[most_sources + system_header_count + 1];
    int count = 0;
    for (const struct law_source *source = law_sources; source->path && count < most_sources;
         source++, count++) {
        headers[count] = source->text;
        names[count] = source->path;
    }
    for (int k = 0; k < system_header_count; k++, count++) {
        headers[count] = system_headers[k].text;
        names[count] = system_headers[k].path;
    }
    headers[count] = job->functions;
    names[count++] = "formula.h";
    char source[128], architecture[48];
    snprintf(source, sizeof source, "#include \"%s\"\n", job->kernel);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", job->architecture);
    /* Division and square root to 2 units in the last place: as all float functions on a GPU. */
    const char *options[] = {architecture,
                             "--std=c++17",
                             "--ftz=true",
                             "--prec-div=false",
                             "--prec-sqrt=false",
                             "--fmad=true",
                             "-default-device", /* functions of the host are not compiled */
                             "-DLAW_CUSTOM_BODY=\"formula.h\""};
    const struct nvrtc_job nvrtc = {
        source, count, headers, names, sizeof options / sizeof options[0], options};
    return nvrtc_compile(&nvrtc, cubin, bytes);
}

static void cache_path(const struct job *job, const char *folder, char path[cache_path_bytes])
{
    snprintf(path, cache_path_bytes, "%.*s/" LAW_CACHE_NAME "%s.cubin", cache_path_bytes / 2,
             folder, job->key);
}

static kith_status keep(const struct job *job, const char *folder, const void *cubin, int64_t bytes)
{
    char workshop[cache_path_bytes], from[cache_path_bytes + 8], to[cache_path_bytes];
    cache_path(job, folder, to);
    KITH_TRY(cache_make_workshop(folder, workshop));
    snprintf(from, sizeof from, "%s/law", workshop);
    kith_status status = cache_write(workshop, "law", cubin, bytes);
    if (status == KITH_OK)
        status = cache_seal(from, job->key);
    if (status == KITH_OK)
        status = cache_publish(from, to);
    cache_remove(workshop);
    cache_limit(folder, LAW_CACHE_NAME, law_cache_bytes);
    return status;
}

/* NULL if the cache has no complete one. */
static void *kept(const struct job *job, const char *folder)
{
    char path[cache_path_bytes];
    void *cubin = NULL;
    int64_t bytes = 0;
    cache_path(job, folder, path);
    cache_read_sealed(path, job->key, &cubin, &bytes);
    return cubin;
}

/* A law can be computed without a cache folder, only slower. */
static kith_status find_or_compile(const struct job *job, void **cubin)
{
    char folder[cache_path_bytes];
    int64_t bytes = 0;
    const bool has_folder = cache_folder(folder) == KITH_OK;
    *cubin = has_folder ? kept(job, folder) : NULL;
    if (*cubin)
        return KITH_OK;
    KITH_TRY(compile(job, cubin, &bytes));
    if (has_folder)
        (void)keep(job, folder, *cubin, bytes);
    return KITH_OK;
}

static bool wait_for_device(const struct driver *driver, int device)
{
    unsigned flags = 0;
    int is_active = 0;
    if (driver->context_state(device, &flags, &is_active) != CUDA_SUCCESS || !is_active)
        return true; /* nothing runs there */
    if (cudaSetDevice(device) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess)
        return true;
    cudaGetLastError(); /* not that of the next launch */
    return false;
}

/* A law does not know on which streams its code runs, and that the driver unloads code only after
 * it has run is not documented, although CUDA 13's does wait. False if a device cannot be waited
 * for, as while a stream is being captured. */
static bool wait_for_devices(const struct driver *driver)
{
    int count = 0, previous = 0, current = 0;
    if (cudaGetDevice(&previous) != cudaSuccess || cudaGetDeviceCount(&count) != cudaSuccess)
        return false;
    bool done = true;
    for (int device = 0; device < count; device++)
        done = wait_for_device(driver, device) && done;
    if (cudaGetDevice(&current) == cudaSuccess && current != previous)
        (void)cudaSetDevice(previous);
    return done;
}

void law_close_functions_cuda(void *handle)
{
    struct driver driver;
    if (handle && load_driver(&driver) == KITH_OK && wait_for_devices(&driver))
        driver.unload(handle);
}

static kith_status load_code(const void *cubin, void **handle)
{
    struct driver driver;
    CUlibrary library = NULL;
    KITH_TRY(load_driver(&driver));
    KITH_TRY(check(&driver, driver.load(&library, cubin, NULL, NULL, 0, NULL, NULL, 0),
                   "loading a compiled formula"));
    *handle = library;
    return KITH_OK;
}

static kith_status open_functions(struct job *job, void **handle)
{
    char version[16];
    void *cubin = NULL;
    KITH_TRY(nvrtc_version(version));
    const char *texts[] = {KITH_VERSION, job->architecture, version,
                           job->kernel,  job->functions,    NULL};
    law_key(texts, job->key);
    kith_status status = find_or_compile(job, &cubin);
    if (status == KITH_OK)
        status = load_code(cubin, handle);
    free(cubin);
    return status;
}

static kith_status open_module(void *argument, const kith_law *law, struct law_module *module)
{
    struct job *job = argument;
    char *functions = NULL;
    KITH_TRY(formula_write(law->value, &functions));
    job->functions = functions;
    const kith_status status = open_functions(job, &module->handle);
    module->close = law_close_functions_cuda;
    free(functions);
    return status;
}

static kith_status make_job(kith_context *context, const char *kernel, struct job *job)
{
    int major = 0, minor = 0;
    const int device = kith_context_device(context).index;
    *job = (struct job){.kernel = kernel};
    KITH_TRY(cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                        "the device"));
    KITH_TRY(cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                        "the device"));
    snprintf(job->architecture, sizeof job->architecture, "sm_%d%d", major, minor);
    return KITH_OK;
}

kith_status law_function_of_cuda(void *handle, const char *symbol, void **function)
{
    struct driver driver;
    CUkernel found = NULL;
    KITH_TRY(load_driver(&driver));
    KITH_TRY(check(&driver, driver.get_kernel(&found, handle, symbol), symbol));
    *function = found;
    return KITH_OK;
}

kith_status law_compile_cuda(kith_context *context, const kith_law *law, const char *kernel,
                             const char *symbol, void **function)
{
    struct job job;
    void *library = NULL;
    KITH_TRY(make_job(context, kernel, &job));
    KITH_TRY(law_code_module(law, kernel, job.architecture, open_module, &job, &library));
    return law_function_of_cuda(library, symbol, function);
}

kith_status law_open_functions_cuda(kith_context *context, const char *functions,
                                    const char *kernel, void **handle)
{
    struct job job;
    *handle = NULL;
    KITH_TRY(make_job(context, kernel, &job));
    job.functions = functions;
    return open_functions(&job, handle);
}

kith_status law_compile_functions_cuda(const char *architecture, const char *functions,
                                       const char *kernel, void **cubin, int64_t *bytes)
{
    struct job job = {.kernel = kernel, .functions = functions};
    snprintf(job.architecture, sizeof job.architecture, "%s", architecture);
    return compile(&job, cubin, bytes);
}

kith_status law_launch_cuda(kith_context *context, void *function, const struct law_launch *launch,
                            void **arguments, const char *what)
{
    struct driver driver;
    KITH_TRY(load_driver(&driver));
    const uint32_t *blocks = launch->blocks, *threads = launch->threads;
    return check(&driver,
                 driver.launch((CUfunction)function, blocks[0], blocks[1], blocks[2], threads[0],
                               threads[1], threads[2], launch->shared_bytes,
                               (CUstream)cuda_stream(context), arguments, NULL),
                 what);
}
