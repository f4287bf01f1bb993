#ifndef PAIRS_STAGE_H
#define PAIRS_STAGE_H

#include "core/status.h"
#include "pairs/memory.h"
#include "pairs/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Grows a buffer in the host's memory; contents are lost. */
kith_status pairs_host_buffer_grow(struct pairs_buffer *buffer, int64_t bytes, const char *what);

/* A host array's elements, dense. */
void pairs_copy_dense(kith_array array, void *to);

/* Puts dense copies of the problem's host arrays into the backend's own memory. */
kith_status pairs_stage_inputs(kith_context *context, struct pairs_problem *problem,
                               struct pairs_buffer *input, struct pairs_buffer *on_host);

#ifdef __cplusplus
}
#endif

#endif
