/* Formulas on the CPU: the kernel's file, compiled by the system's C compiler to a shared object in
 * the user's cache folder. */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache_folder.h"
#include "device/context.h"
#include "law/compiled.h"
#include "law/compiler.h"
#include "law/formula.h"

/* What a compilation is of. */
struct job {
    const char *kernel, *isa;
    const char *real; /* -DREAL=float or -DREAL=double (core/real.h), or NULL */
    struct compiler compiler;
    const char *functions; /* the formula's, in C */
    char key[law_key_bytes];
};

/* The flags of cmake/KithIsa.cmake. */
static const char *const *isa_options(const char *isa)
{
    static const char *const v4[] = {"-march=x86-64-v4", "-mprefer-vector-width=512", NULL};
    static const char *const v3[] = {"-march=x86-64-v3", NULL};
    static const char *const v2[] = {"-march=x86-64-v2", NULL};
    static const char *const none[] = {NULL};
    return strcmp(isa, "v4") == 0   ? v4
           : strcmp(isa, "v3") == 0 ? v3
           : strcmp(isa, "v2") == 0 ? v2
                                    : none;
}

/* All that the library carries, and the formula: what the compiler reads. */
static kith_status write_sources(const struct job *job, const char *workshop)
{
    for (const struct law_source *source = law_sources; source->path; source++)
        KITH_TRY(cache_write(workshop, source->path, source->text, (int64_t)strlen(source->text)));
    KITH_TRY(cache_write(workshop, "formula.h", job->functions, (int64_t)strlen(job->functions)));
    char last[300];
    const int length =
        snprintf(last, sizeof last,
                 "#include \"%s\"\n"
                 "__attribute__((visibility(\"default\"))) extern const char kith_law_key[];\n"
                 "const char kith_law_key[] = \"%s\";\n",
                 job->kernel, job->key);
    return cache_write(workshop, "law.c", last, length);
}

static void name_object(const char *workshop, char object[cache_path_bytes + 8])
{
    snprintf(object, cache_path_bytes + 8, "%s/law.so", workshop);
}

static kith_status compile_in(const struct job *job, const char *workshop)
{
    char include[cache_path_bytes + 8], source[cache_path_bytes + 8], made[cache_path_bytes + 8];
    char messages[cache_path_bytes + 16], isa[32];
    snprintf(include, sizeof include, "-I%s", workshop);
    snprintf(source, sizeof source, "%s/law.c", workshop);
    name_object(workshop, made);
    snprintf(messages, sizeof messages, "%s/messages", workshop);
    snprintf(isa, sizeof isa, "-DKITH_ISA_NAME=%s", job->isa);
    const char *options[32] = {"-O3",
                               "-std=gnu11",
                               "-fPIC",
                               "-shared",
                               "-ffp-contract=off",
                               "-fno-math-errno",
                               "-fvisibility=hidden",
                               "-w",
                               isa,
                               "-DLAW_CUSTOM_BODY=\"formula.h\"",
                               include,
                               "-o",
                               made,
                               source,
                               "-lm"};
    int count = 15;
    if (job->real)
        options[count++] = job->real;
    for (const char *const *option = isa_options(job->isa); *option; option++)
        options[count++] = *option;
    KITH_TRY(write_sources(job, workshop));
    KITH_TRY(compiler_run(&job->compiler, options, messages));
    if (chmod(made, S_IRUSR | S_IWUSR | S_IXUSR) != 0)
        return kith_fail(KITH_IO_ERROR, "the compiled formula %s: %s", made, strerror(errno));
    return KITH_OK;
}

static void close_object(void *handle)
{
    dlclose(handle);
}

/* NULL if it cannot be loaded, or is another formula's. */
static void *load(const struct job *job, const char *object)
{
    void *handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    const char *key = handle ? dlsym(handle, "kith_law_key") : NULL;
    if (key && strcmp(key, job->key) == 0)
        return handle;
    if (handle)
        dlclose(handle);
    return NULL;
}

static kith_status load_made(const struct job *job, const char *object, void **handle)
{
    *handle = load(job, object);
    if (*handle)
        return KITH_OK;
    const char *why = dlerror();
    return kith_fail(KITH_IO_ERROR,
                     "%s was compiled and cannot be loaded: %s; set XDG_CACHE_HOME to a folder of "
                     "your own from which programs may be run",
                     object, why ? why : "it is not what was written");
}

/* Compiles into the cache folder, and loads from there. */
static kith_status compile_and_keep(const struct job *job, const char *folder, const char *object,
                                    void **handle)
{
    char workshop[cache_path_bytes], made[cache_path_bytes + 8];
    KITH_TRY(cache_make_workshop(folder, workshop));
    name_object(workshop, made);
    kith_status status = compile_in(job, workshop);
    if (status == KITH_OK)
        status = cache_seal(made, job->key);
    if (status == KITH_OK)
        status = cache_publish(made, object);
    cache_remove(workshop);
    cache_limit(folder, LAW_CACHE_NAME, law_cache_bytes);
    return status == KITH_OK ? load_made(job, object, handle) : status;
}

/* For this process alone: loaded code stays when its file is removed. */
static kith_status compile_for_now(const struct job *job, void **handle)
{
    char workshop[cache_path_bytes], made[cache_path_bytes + 8];
    KITH_TRY(cache_make_temporary_workshop(workshop));
    name_object(workshop, made);
    kith_status status = compile_in(job, workshop);
    if (status == KITH_OK)
        status = load_made(job, made, handle);
    cache_remove(workshop);
    return status;
}

/* dlopen maps a file and runs into SIGBUS past the end of one that was cut off, so that all of it
 * is read before. Files of the cache are only ever replaced whole, by a new name. */
static void *load_kept(const struct job *job, const char *object)
{
    void *data = NULL;
    int64_t bytes = 0;
    cache_read_sealed(object, job->key, &data, &bytes);
    const bool is_whole = data != NULL;
    free(data);
    return is_whole ? load(job, object) : NULL;
}

/* Without a cache folder that can be used, a formula is only compiled more often. */
static kith_status open_or_compile(const struct job *job, void **handle)
{
    char folder[cache_path_bytes], object[cache_path_bytes];
    kith_status status = cache_folder(folder);
    if (status == KITH_OK) {
        snprintf(object, sizeof object, "%.*s/" LAW_CACHE_NAME "%s.so", cache_path_bytes / 2,
                 folder, job->key);
        *handle = load_kept(job, object);
        if (*handle)
            return KITH_OK;
        unlink(object);
        status = compile_and_keep(job, folder, object, handle);
    }
    return status == KITH_IO_ERROR ? compile_for_now(job, handle) : status;
}

static kith_status open_functions(struct job *job, void **handle)
{
    KITH_TRY(compiler_find(&job->compiler));
    const char *texts[8 + compiler_most_words] = {
        KITH_VERSION, job->isa, job->real ? job->real : "", job->kernel, job->functions};
    for (int k = 0; k < job->compiler.count; k++)
        texts[5 + k] = job->compiler.word[k];
    law_key(texts, job->key);
    return open_or_compile(job, handle);
}

static kith_status open_module(void *argument, const kith_law *law, struct law_module *module)
{
    struct job *job = argument;
    char *functions = NULL;
    KITH_TRY(formula_write(law->value, &functions));
    job->functions = functions;
    const kith_status status = open_functions(job, &module->handle);
    module->close = close_object;
    free(functions);
    return status;
}

kith_status law_function_of(void *handle, const char *kernel, const char *symbol, void **function)
{
    *function = dlsym(handle, symbol);
    if (!*function)
        return kith_fail(KITH_INTERNAL_ERROR, "%s has no function %s", kernel, symbol);
    return KITH_OK;
}

kith_status law_compile_cpu(kith_context *context, const kith_law *law, const char *kernel,
                            const char *symbol, kith_dtype dtype, void *function)
{
    const char *real = dtype == KITH_F64 ? "double" : "float";
    char define[32], target[64], name[64];
    snprintf(define, sizeof define, "-DREAL=%s", real);
    struct job job = {.kernel = kernel, .isa = kith_context_isa(context), .real = define};
    void *handle = NULL, *found = NULL;
    snprintf(name, sizeof name, "%s_%s", symbol, real);
    snprintf(target, sizeof target, "%s %s", job.isa, real);
    KITH_TRY(law_code_module(law, kernel, target, open_module, &job, &handle));
    KITH_TRY(law_function_of(handle, kernel, name, &found));
    memcpy(function, &found, sizeof found);
    return KITH_OK;
}

kith_status law_open_functions_cpu(kith_context *context, const char *functions, const char *kernel,
                                   void **handle)
{
    struct job job = {.kernel = kernel, .isa = kith_context_isa(context), .functions = functions};
    *handle = NULL;
    return open_functions(&job, handle);
}

void law_close_functions(void *handle)
{
    if (handle)
        dlclose(handle);
}
