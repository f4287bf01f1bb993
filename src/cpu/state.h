#ifndef CPU_STATE_H
#define CPU_STATE_H

#include "kith/context.h"

struct collisions_worker;

/* Memory that is kept, and grows when more is asked for: zeros then. */
struct cpu_memory {
    void *memory;
    int64_t bytes;
};

/* What a context on the CPU keeps: kith_context's backend_state. */
struct cpu_state {
    struct cpu_memory workspace; /* of the backend table */
    struct cpu_memory scratch;
    struct collisions_worker *collisions_worker; /* collisions/promise_cpu.h; NULL: none yet */
    double noted[2];                             /* times on kith_clock */
};

kith_status cpu_memory_grow(struct cpu_memory *memory, int64_t bytes);

/* Memory for the duration of one function of the backend, aligned to 64, its contents undefined. */
kith_status cpu_scratch(kith_context *context, int64_t bytes, void **memory);

#endif
