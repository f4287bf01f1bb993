#include "core/context.h"

#include <omp.h>
#include <stdlib.h>

#include "core/arguments.h"
#include "core/isa.h"
#include "core/memory.h"
#include "core/team.h"

enum { max_threads = 4096 };

static const struct kith_backend *find_backend(kith_device_kind kind)
{
    const struct kith_backend *backend = NULL;
    for (int32_t k = 0; (backend = kith_backend_at(k)); k++) {
        const char *note = NULL;
        const bool wanted =
            kind == KITH_DEVICE_AUTO ? backend->device_count(&note) > 0 : kind == backend->kind;
        if (wanted)
            return backend;
    }
    return NULL;
}

static kith_status choose_device(kith_device wanted, struct kith_context *context)
{
    const struct kith_backend *backend = find_backend(wanted.kind);
    if (!backend)
        return kith_fail(KITH_NO_DEVICE,
                         "device is %s, which this build has no backend for; use "
                         "the CPU or build with the CUDA toolkit",
                         wanted.kind == KITH_CUDA ? "cuda" : "of an unknown kind");

    const char *note = NULL;
    const int32_t devices = backend->device_count(&note);
    if (wanted.index < 0 || wanted.index >= devices)
        return kith_fail(KITH_NO_DEVICE, "device is %s:%d, and this machine has %d of them%s%s",
                         backend->name, (int)wanted.index, (int)devices, note ? ": " : "",
                         note ? note : "");
    context->backend = backend;
    context->device = (kith_device){backend->kind, wanted.index};
    return KITH_OK;
}

/* What kith tune has found, unless the caller or the environment wants another number. */
static int32_t choose_threads(int32_t wanted, const struct kith_context *context)
{
    const char *of_environment = getenv("OMP_NUM_THREADS");
    const int32_t all = omp_get_max_threads(), tuned = (int32_t)context->tuning.threads;
    if (wanted > 0)
        return wanted;
    return tuned > 0 && tuned < all && !(of_environment && *of_environment) ? tuned : all;
}

static kith_status set_up(const kith_context_options *options, struct kith_context *context)
{
    if (options->threads < 0 || options->threads > max_threads)
        return kith_fail(KITH_INVALID_ARGUMENT, "threads is %d; give 1 to %d, or 0 for one a core",
                         (int)options->threads, max_threads);
    context->stream = options->stream;
    KITH_TRY(kith_isa_choose(&context->isa));
    KITH_TRY(choose_device(options->device, context));
    kith_tuning_read(context->device,
                     &context->tuning); /* a damaged one is none: kith info tells */
    context->threads = choose_threads(options->threads, context);
    context->team = kith_team_create(context->threads);
    if (!context->team)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a team of %d threads",
                         (int)context->threads);
    return context->backend->open(context);
}

kith_status kith_context_create(const kith_context_options *options, kith_context **context)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    const kith_context_options chosen = options ? *options : (kith_context_options){0};
    *context = NULL;
    struct kith_context *created = NULL;
    KITH_TRY(kith_allocate(1, sizeof *created, "context", &created));
    const kith_status status = set_up(&chosen, created);
    if (status != KITH_OK) {
        kith_team_free(created->team);
        free(created);
        return status;
    }
    *context = created;
    return KITH_OK;
}

void kith_context_free(kith_context *context)
{
    if (!context)
        return;
    context->backend->synchronize(context);
    context->backend->close(context);
    kith_team_free(context->team);
    free(context);
}

kith_status kith_context_synchronize(kith_context *context)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    return context->backend->synchronize(context);
}

void *kith_context_stream(kith_context *context)
{
    return context && context->backend->stream ? context->backend->stream(context) : NULL;
}

kith_device kith_context_device(const kith_context *context)
{
    return context ? context->device : (kith_device){0};
}

int32_t kith_context_threads(const kith_context *context)
{
    return context ? context->threads : 0;
}

const char *kith_context_isa(const kith_context *context)
{
    int64_t count = 0;
    return context ? kith_isa_list(&count)[context->isa].name : "";
}

void kith_context_set_progress(kith_context *context, kith_progress *progress, void *user)
{
    if (!context)
        return;
    context->progress = progress;
    context->progress_user = user;
}

void kith_context_cancel(kith_context *context)
{
    if (context)
        atomic_store(&context->cancelled, true);
}

void kith_context_clear_cancel(kith_context *context)
{
    if (context)
        atomic_store(&context->cancelled, false);
}

bool kith_context_is_cancelled(const kith_context *context)
{
    return context && atomic_load(&context->cancelled);
}

kith_status kith_context_check_cancelled(const kith_context *context)
{
    if (atomic_load_explicit(&context->cancelled, memory_order_relaxed))
        return kith_fail(KITH_CANCELLED, "cancelled");
    return KITH_OK;
}

void kith_context_report(const kith_context *context, int64_t done, int64_t total)
{
    if (context->progress)
        context->progress(context->progress_user, done, total);
}
