#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include <stdatomic.h>

#include "core/backend.h"
#include "core/status.h"
#include "kith/tuning.h"

struct kith_team;

struct kith_context {
    const struct kith_backend *backend;
    void *backend_state;
    kith_device device;
    int32_t threads;
    struct kith_team *team; /* core/team.h */
    int32_t isa;            /* a row of KITH_EACH_ISA */
    void *stream;
    kith_progress *progress;
    void *progress_user;
    atomic_bool cancelled;
    kith_tuning tuning; /* of the device, as it was when the context was made */
};

/* For the loops of long functions, between steps: KITH_CANCELLED if that was asked for. */
kith_status kith_context_check_cancelled(const kith_context *context);

/* Tells the progress callback, if there is one. */
void kith_context_report(const kith_context *context, int64_t done, int64_t total);

#endif
