/* The CPU's instance of the backend table (core/backend.h has the contract). */

#include <stdlib.h>
#include <string.h>

#include "collisions/backend.h"
#include "collisions/promise_cpu.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/memory.h"
#include "cpu/combine.h"
#include "cpu/state.h"
#include "forces/direct.h"
#include "matrix/backend.h"
#include "pairs/pairs_cpu.h"
#include "pairs/verlet.h"
#include "simulation/advance_cpu.h"
#include "sparse/assemble.h"
#include "sparse/sparse_cpu.h"

static int32_t cpu_device_count(const char **note)
{
    *note = NULL;
    return 1;
}

static kith_status cpu_open(kith_context *context)
{
    return kith_allocate(1, sizeof(struct cpu_state), "context", &context->backend_state);
}

static void cpu_close(kith_context *context)
{
    struct cpu_state *state = context->backend_state;
    collisions_worker_free(state->collisions_worker);
    free(state->workspace.memory);
    free(state->scratch.memory);
    free(state);
}

/* Every function of this backend returns when its work is done. */
static kith_status cpu_synchronize(kith_context *context)
{
    (void)context;
    return KITH_OK;
}

static kith_status cpu_allocate(kith_context *context, int64_t count, int64_t bytes_each,
                                const char *what, void *memory)
{
    (void)context;
    return kith_allocate(count, bytes_each, what, memory);
}

static void cpu_release(kith_context *context, void *memory)
{
    (void)context;
    free(memory);
}

static kith_status cpu_workspace(kith_context *context, int64_t bytes, void **host, void **own)
{
    struct cpu_state *state = context->backend_state;
    KITH_TRY(cpu_memory_grow(&state->workspace, bytes));
    *host = *own = state->workspace.memory;
    return KITH_OK;
}

static kith_status cpu_copy(kith_context *context, void *to, const void *from, int64_t bytes)
{
    (void)context;
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
    return KITH_OK;
}

static kith_status cpu_note_time(kith_context *context, int32_t k)
{
    ((struct cpu_state *)context->backend_state)->noted[k] = kith_clock();
    return KITH_OK;
}

static kith_status cpu_noted_seconds(kith_context *context, double *seconds)
{
    const double *noted = ((struct cpu_state *)context->backend_state)->noted;
    *seconds = noted[1] - noted[0];
    return KITH_OK;
}

static kith_status cpu_widen(kith_context *context, kith_dtype dtype, int64_t count,
                             const void *from, double *to)
{
    if (dtype == KITH_F64)
        return cpu_copy(context, to, from, count * (int64_t)sizeof *to);
    for (int64_t i = 0; i < count; i++)
        to[i] = ((const float *)from)[i];
    return KITH_OK;
}

const struct kith_backend kith_backend_cpu = {
    .name = "cpu",
    .kind = KITH_CPU,
    .device_count = cpu_device_count,
    .open = cpu_open,
    .close = cpu_close,
    .synchronize = cpu_synchronize,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .workspace = cpu_workspace,
    .copy_in = cpu_copy,
    .copy_out = cpu_copy,
    .allocate_host = cpu_allocate,
    .release_host = cpu_release,
    .begin_copy_out = cpu_copy,
    .finish_copies = cpu_synchronize,
    .note_time = cpu_note_time,
    .noted_seconds = cpu_noted_seconds,
    .widen = cpu_widen,
    .combine = cpu_combine,
    .forces = forces_direct_cpu,
    .matrix = &matrix_cpu,
    .collisions = &collisions_cpu,
    .pairs = pairs_cpu,
    .pairs_verlet = &pairs_verlet_cpu,
    .advance = advance_cpu,
    .sparse_transpose = sparse_transpose_cpu,
    .sparse_inspect = sparse_inspect_cpu,
    .sparse_predict = sparse_predict_cpu,
    .sparse_convert = sparse_convert_cpu,
    .sparse_multiply = sparse_multiply_cpu,
};
