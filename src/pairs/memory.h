#ifndef PAIRS_MEMORY_H
#define PAIRS_MEMORY_H

#include "core/status.h"
#include "kith/pairs.h"

/* What a list of pairs keeps between calls. */

struct pairs_buffer {
    void *data;
    int64_t bytes;
};

/* Offsets, i, j, shifts, vectors, distances. */
enum { pairs_column_count = 6 };

/* What the caller requested: pairs_list_begin and _reserve make arrays of that. */
struct pairs_request {
    unsigned quantities;
    bool narrow;
    kith_dtype dtype;
    int32_t dimensions;
    int64_t memory_limit;
};

/* The state in which a list was made, for kith_pairs_update. */
struct pairs_kept {
    bool valid;
    kith_pairs_options options;
    kith_array shape; /* of the positions: dtype, place, counts */
    bool has_cell;
    int64_t system_count;
    struct pairs_buffer positions; /* D n reals, dense, on the host */
    struct pairs_buffer on_device; /* the same in the backend's memory */
    struct pairs_buffer cells;     /* kith_cell of each system, offsets of both kinds */
};

/* How large the parts were that the last lists were filled from, so that the next is begun with
 * them while the host still waits for its own. */
struct pairs_last_fill {
    uint32_t words, row; /* pairs_fill_shape; 0: there was none */
    uint64_t pairs;
};

struct kith_pairs_memory {
    kith_context *context;
    struct pairs_request request;
    struct pairs_buffer own[pairs_column_count];  /* the backend's memory */
    struct pairs_buffer host[pairs_column_count]; /* copies, for host arrays and another backend */
    struct pairs_buffer input;                    /* the backend's copy of host arrays */
    struct pairs_buffer staged;                   /* the same without gaps, still on the host */
    struct pairs_buffer rounds;                   /* of the nearest points on a GPU */
    struct pairs_buffer systems;                  /* struct pairs_system of each */
    struct pairs_kept kept;
    struct pairs_last_fill last_fill;  /* the CUDA backend's */
    struct pairs_workspace *workspace; /* the CPU's, pairs/search.h */
};

kith_status pairs_list_create(kith_context *context, kith_pairs **pairs);

/* Makes it empty; its memory stays. */
void pairs_list_clear(kith_pairs *pairs);

/* Grows a buffer in the backend's memory; contents are lost. */
kith_status pairs_buffer_grow(kith_context *context, struct pairs_buffer *buffer, int64_t bytes,
                              const char *what);

/* Makes the views those of copies on the host. */
kith_status pairs_list_to_host(kith_pairs *pairs);

#endif
