/* The CPU's services (device/services.h has the contract). */

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/combine.h"
#include "device/context.h"
#include "device/cpu.h"

static int32_t cpu_device_count(const char **note)
{
    *note = NULL;
    return 1;
}

static kith_status cpu_open(kith_context *context)
{
    return kith_allocate(1, sizeof(struct cpu_state), "context", &context->device_state);
}

static void cpu_close(kith_context *context)
{
    struct cpu_state *state = context->device_state;
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
    struct cpu_state *state = context->device_state;
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

static kith_status cpu_mark_time(kith_context *context, int32_t k)
{
    ((struct cpu_state *)context->device_state)->noted[k] = kith_clock();
    return KITH_OK;
}

static kith_status cpu_elapsed_seconds(kith_context *context, double *seconds)
{
    const double *noted = ((struct cpu_state *)context->device_state)->noted;
    *seconds = noted[1] - noted[0];
    return KITH_OK;
}

static kith_status cpu_convert_to_double(kith_context *context, kith_dtype dtype, int64_t count,
                                         const void *from, double *to)
{
    if (dtype == KITH_F64)
        return cpu_copy(context, to, from, count * (int64_t)sizeof *to);
    for (int64_t i = 0; i < count; i++)
        to[i] = ((const float *)from)[i];
    return KITH_OK;
}

const struct device_services device_cpu = {
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
    .mark_time = cpu_mark_time,
    .elapsed_seconds = cpu_elapsed_seconds,
    .convert_to_double = cpu_convert_to_double,
    .combine = combine_cpu,
    .accumulate = accumulate_cpu,
};
