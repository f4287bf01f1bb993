/* How the examples end when something fails, so that their pages show what works. A program for
 * others would free what it has and hand the status on. */

#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

/* Continues if the call succeeded; otherwise prints kith's message and exits. */
static inline void must(kith_status status)
{
    if (status == KITH_OK)
        return;
    fprintf(stderr, "error: %s\n", kith_error_message());
    exit(EXIT_FAILURE);
}

/* Zeros, which the caller frees. */
static inline void *room_for(int64_t count, size_t bytes_each)
{
    void *room = calloc((size_t)count, bytes_each);
    if (!room && count > 0) {
        fprintf(stderr, "error: no memory for %lld times %zu bytes\n", (long long)count,
                bytes_each);
        exit(EXIT_FAILURE);
    }
    return room;
}

/* The first GPU for "cuda", the processor for any other word or none. */
static inline kith_context *context_on(const char *device)
{
    const bool on_gpu = device && strcmp(device, "cuda") == 0;
    kith_context *context = NULL;
    must(kith_context_create(&(kith_context_options){.device = {on_gpu ? KITH_CUDA : KITH_CPU, 0}},
                             &context));
    return context;
}

#endif
