#ifndef DEVICE_CPU_H
#define DEVICE_CPU_H

#include "kith/context.h"

/* Memory that is kept, and grows when more is requested: zeros then. */
struct cpu_memory {
    void *memory;
    int64_t bytes;
};

/* What a context on the CPU keeps: kith_context's device_state. */
struct cpu_state {
    struct cpu_memory workspace; /* of device/services.h */
    struct cpu_memory scratch;
    double noted[2]; /* times on kith_clock */
};

kith_status cpu_memory_grow(struct cpu_memory *memory, int64_t bytes);

/* Memory for the duration of one function of a room, aligned to 64, its contents undefined. */
kith_status cpu_scratch(kith_context *context, int64_t bytes, void **memory);

#endif
