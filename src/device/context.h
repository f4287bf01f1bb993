#ifndef DEVICE_CONTEXT_H
#define DEVICE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/poll.h"
#include "core/status.h"
#include "device/services.h"
#include "kith/tuning.h"

struct kith_team;
struct ranks;

/* What a room keeps in a context from call to call. */
struct device_slot_kind {
    void (*free)(kith_context *context, void *kept);
};

struct kith_context {
    const struct device_services *services;
    const struct room_backends *rooms; /* src/backends.h */
    void *device_state;
    kith_device device;
    int32_t peers; /* other GPUs that share its work */
    int32_t threads;
    struct kith_team *team; /* device/threads.h */
    int32_t isa;            /* a row of KITH_EACH_ISA */
    void *stream;
    kith_progress *progress;
    void *progress_user;
    atomic_bool cancelled;
    struct ranks *ranks;       /* of the job (ranks/ranks.h); NULL: one process */
    atomic_bool cancel_wanted; /* of a rank: until all agree that they are cancelled */
    bool goes_on; /* although it is cancelled: what is done now is short, and must be whole */
    struct poll_state poll;
    pthread_t poll_thread; /* that has set it */
    struct device_slot *slots;
    kith_tuning tuning; /* of the device, as it was when the context was made */
};

/* Whether the call was cancelled, for loops and tasks that take longer than 0.1 s: to be called
 * about every 10 ms. Calls the poll function, if one is set and this is its thread. Once true it is
 * true until the end of the call. */
bool kith_context_stops(const kith_context *context);

/* KITH_CANCELLED if kith_context_stops. */
kith_status kith_context_check_cancelled(const kith_context *context);

/* The same for iteration k of a long loop with short iterations: every 2^16-th time. */
static inline kith_status kith_context_check_iteration(const kith_context *context, int64_t k)
{
    const int64_t between = 1 << 16;
    return k % between == 0 ? kith_context_check_cancelled(context) : KITH_OK;
}

/* Calls the progress callback, if there is one. */
void kith_context_report(const kith_context *context, int64_t done, int64_t total);

/* Where a context keeps what belongs to this kind: NULL until something is put there. It is freed
 * with the context, while the device is current and its stream at an end. NULL if
 * memory is short. */
void **device_slot(kith_context *context, const struct device_slot_kind *kind);

/* The context's device is the calling thread's current one from device_enter until the end of the
 * block in which the scope is declared, which then leaves it as it was. Each public function begins
 * with
 *
 *     DEVICE_SCOPE(scope);
 *     KITH_TRY(device_enter(context, &scope));
 *
 * A context of NULL is left to the checks that follow. */
struct device_scope {
    kith_context *context; /* NULL: nothing to leave */
    int32_t previous;
};
#define DEVICE_SCOPE(scope) struct device_scope scope __attribute__((cleanup(device_leave))) = {0}

kith_status device_enter(kith_context *context, struct device_scope *scope);
void device_leave(struct device_scope *scope);

#endif
