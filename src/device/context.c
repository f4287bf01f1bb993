#include "device/context.h"

#include <stdlib.h>

#include "core/arguments.h"
#include "core/isa.h"
#include "core/memory.h"
#include "core/processor.h"
#include "device/threads.h"

enum { max_threads = 4096 };

struct device_slot {
    const struct device_slot_kind *kind;
    void *kept;
    struct device_slot *next;
};

/* Its services are NULL if the device does not exist. */
static struct device_kind find_kind(kith_device_kind wanted)
{
    struct device_kind kind;
    for (int32_t k = 0; (kind = device_kind_at(k)).services; k++) {
        const char *note = NULL;
        if (wanted == KITH_DEVICE_AUTO ? kind.services->device_count(&note) > 0
                                       : wanted == kind.services->kind)
            break;
    }
    return kind;
}

static kith_status choose_device(kith_device wanted, struct kith_context *context)
{
    const struct device_kind kind = find_kind(wanted.kind);
    const struct device_services *services = kind.services;
    if (!services)
        return kith_fail(KITH_NO_DEVICE,
                         "device is %s, which this build does not support; use "
                         "the CPU or build with the CUDA toolkit",
                         wanted.kind == KITH_CUDA ? "cuda" : "of an unknown kind");

    const char *note = NULL;
    const int32_t devices = services->device_count(&note);
    if (wanted.index < 0 || wanted.index >= devices)
        return kith_fail(
            KITH_NO_DEVICE, "device is %s:%d, but this machine has %d such devices%s%s",
            services->name, (int)wanted.index, (int)devices, note ? ": " : "", note ? note : "");
    context->services = services;
    context->rooms = kind.rooms;
    context->device = (kith_device){services->kind, wanted.index};
    return KITH_OK;
}

/* What kith tune has found, unless the caller or the environment sets another number. */
static int32_t choose_threads(int32_t wanted, const struct kith_context *context)
{
    bool is_asked = false;
    const int32_t all = processor_threads(&is_asked), tuned = (int32_t)context->tuning.threads;
    if (wanted > 0)
        return wanted;
    return tuned > 0 && tuned < all && !is_asked ? tuned : all;
}

static kith_status set_up(const kith_context_options *options, struct kith_context *context)
{
    if (options->threads < 0 || options->threads > max_threads)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "threads is %d; give 1 to %d, or 0 for one per core",
                         (int)options->threads, max_threads);
    context->stream = options->stream;
    KITH_TRY(kith_isa_choose(&context->isa));
    KITH_TRY(choose_device(options->device, context));
    kith_tuning_read(context->device,
                     &context->tuning); /* a damaged one counts as absent: kith info reports it */
    context->threads = choose_threads(options->threads, context);
    context->team = kith_team_create(context->threads);
    if (!context->team)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a team of %d threads",
                         (int)context->threads);
    return context->services->open(context);
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

static void free_slots(kith_context *context)
{
    while (context->slots) {
        struct device_slot *slot = context->slots;
        context->slots = slot->next;
        if (slot->kept)
            slot->kind->free(context, slot->kept);
        free(slot);
    }
}

void kith_context_free(kith_context *context)
{
    if (!context)
        return;
    DEVICE_SCOPE(scope);
    (void)device_enter(context, &scope);
    context->services->synchronize(context);
    free_slots(context);
    device_leave(&scope);
    context->services->close(context);
    kith_team_free(context->team);
    free(context);
}

kith_status kith_context_synchronize(kith_context *context)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    return context->services->synchronize(context);
}

void *kith_context_stream(kith_context *context)
{
    return context && context->services->stream ? context->services->stream(context) : NULL;
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
        atomic_store(context->ranks ? &context->cancel_wanted : &context->cancelled, true);
}

void kith_context_clear_cancel(kith_context *context)
{
    if (!context)
        return;
    atomic_store(&context->cancelled, false);
    atomic_store(&context->cancel_wanted, false);
}

bool kith_context_is_cancelled(const kith_context *context)
{
    return context && (atomic_load(&context->cancelled) || atomic_load(&context->cancel_wanted));
}

void kith_context_set_poll(kith_context *context, kith_poll *poll, void *user)
{
    if (!context)
        return;
    context->poll = kith_poll_begin(poll, user);
    context->poll_thread = pthread_self();
}

/* Only the poll's own thread touches its state during a call. */
static void ask_poll(kith_context *context)
{
    if (pthread_equal(pthread_self(), context->poll_thread) && kith_poll_stops(&context->poll))
        kith_context_cancel(context);
}

bool kith_context_stops(const kith_context *context)
{
    if (context->goes_on)
        return false;
    if (context->poll.poll)
        ask_poll((kith_context *)context);
    return atomic_load_explicit(&context->cancelled, memory_order_relaxed);
}

kith_status kith_context_check_cancelled(const kith_context *context)
{
    return kith_context_stops(context) ? kith_fail(KITH_CANCELLED, "cancelled") : KITH_OK;
}

void kith_context_report(const kith_context *context, int64_t done, int64_t total)
{
    if (context->progress)
        context->progress(context->progress_user, done, total);
}

void **device_slot(kith_context *context, const struct device_slot_kind *kind)
{
    for (struct device_slot *slot = context->slots; slot; slot = slot->next)
        if (slot->kind == kind)
            return &slot->kept;
    struct device_slot *made = NULL;
    if (kith_allocate(1, sizeof *made, "context", &made) != KITH_OK)
        return NULL;
    *made = (struct device_slot){.kind = kind, .next = context->slots};
    context->slots = made;
    return &made->kept;
}

kith_status device_enter(kith_context *context, struct device_scope *scope)
{
    scope->context = NULL;
    if (!context || !context->services->enter)
        return KITH_OK;
    KITH_TRY(context->services->enter(context, &scope->previous));
    scope->context = context;
    return KITH_OK;
}

void device_leave(struct device_scope *scope)
{
    if (scope->context)
        scope->context->services->leave(scope->context, scope->previous);
    scope->context = NULL;
}
