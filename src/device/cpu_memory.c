#include "device/cpu.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"

kith_status cpu_memory_grow(struct cpu_memory *memory, int64_t bytes)
{
    if (bytes <= memory->bytes)
        return KITH_OK;
    free(memory->memory);
    memory->bytes = 0;
    KITH_TRY(kith_allocate(1, bytes, "workspace", &memory->memory));
    memory->bytes = bytes;
    return KITH_OK;
}

kith_status cpu_scratch(kith_context *context, int64_t bytes, void **memory)
{
    struct cpu_state *state = context->device_state;
    KITH_TRY(cpu_memory_grow(&state->scratch, bytes));
    *memory = state->scratch.memory;
    return KITH_OK;
}
