/* What a rank with a GPU gets of other ranks' trees for its sums: the hosts know which cells, and
 * multipoles and points pass from device to device. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "ranks/device_parts.h"
#include "ranks/ranks.h"
#include "tree/essential_ranks.h"
#include "tree/fetch_ranks.h"
#include "tree/solve_cuda.h"

static const char what[] = "messages of a tree";

enum { tag_of_rows = 12 };

/* Rows of an array of every rank that go to others, one after another, and where those begin. */
struct passage {
    kith_context *context;
    int64_t row_bytes, blocks, sent, received; /* sent, received: rows */
    struct tree_rows *block;                   /* to: of the rows that are sent */
    const int64_t *first_sent, *first_received;
};

static int64_t bytes_for(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* The blocks, on the device. */
static kith_status copy_rows(const struct passage *passage, int64_t count,
                             const struct tree_rows *blocks, const void *from, void *to,
                             void *memory)
{
    const int64_t bytes = count * (int64_t)sizeof *blocks;
    KITH_TRY(cuda_copy_in(passage->context, memory, blocks, bytes));
    return tree_copy_rows_cuda(cuda_stream(passage->context), count, memory, passage->row_bytes,
                               from, to);
}

/* Collective: from an array to one of those that are received; status is that of this rank. */
static kith_status pass(const struct passage *passage, kith_status status, const void *from,
                        void *received)
{
    const int64_t list = bytes_for(passage->blocks * (int64_t)sizeof *passage->block);
    char *memory = NULL, *packed = NULL;
    if (status == KITH_OK)
        status = cuda_scratch(passage->context, list + passage->sent * passage->row_bytes,
                              (void **)&memory);
    if (status == KITH_OK) {
        packed = memory + list;
        status = copy_rows(passage, passage->blocks, passage->block, from, packed, memory);
    }
    return ranks_exchange_parts_on_device(passage->context, status, tag_of_rows, passage->row_bytes,
                                          passage->first_sent, packed, passage->first_received,
                                          received);
}

/* Those received, to the rows of their cells. */
static kith_status put_records(const struct passage *passage, const struct tree_fetch *fetch,
                               const void *received, void *records)
{
    struct tree_rows *blocks = NULL;
    void *memory = NULL;
    kith_status status = kith_allocate(fetch->count, sizeof *blocks, what, &blocks);
    for (int64_t k = 0; k < fetch->count && status == KITH_OK; k++)
        blocks[k] = (struct tree_rows){k, fetch->cell[k], 1};
    if (status == KITH_OK)
        status = cuda_scratch(passage->context, fetch->count * (int64_t)sizeof *blocks, &memory);
    if (status == KITH_OK)
        status = copy_rows(passage, fetch->count, blocks, received, records, memory);
    free(blocks);
    return status;
}

/* Records of this and other ranks' cells, zeros of those that do not come. */
static kith_status grow_records(kith_context *context, const struct tree_essential *e,
                                int64_t record_bytes, struct tree_memory *records)
{
    const int64_t own = e->base * record_bytes, all = e->tree.cell_count * record_bytes;
    KITH_TRY(tree_grow_cuda(context, own, all, "multipoles of a tree", records));
    return all == own ? KITH_OK
                      : cuda_check(cudaMemsetAsync((char *)records->memory + own, 0,
                                                   (size_t)(all - own), cuda_stream(context)),
                                   "clearing memory");
}

/* Collective: multipoles, by way of the memory of the joined tree's points. */
static kith_status fetch_records(kith_context *context, const struct tree_essential *e,
                                 int64_t record_bytes, struct tree_state_cuda *state)
{
    struct tree_memory *received = &state->joined.points;
    struct tree_fetch fetch = {0};
    kith_status status = tree_fetch_ask(e, e->far, e->base, &fetch);
    if (status == KITH_OK) {
        struct passage passage = {.context = context,
                                  .row_bytes = record_bytes,
                                  .blocks = ranks_parcels_received(&fetch.parcels),
                                  .sent = ranks_parcels_received(&fetch.parcels),
                                  .received = fetch.count,
                                  .first_sent = fetch.parcels.first_received,
                                  .first_received = fetch.parcels.first_sent};
        status = kith_allocate(passage.blocks, sizeof *passage.block, what, &passage.block);
        for (int64_t k = 0; k < passage.blocks && status == KITH_OK; k++)
            passage.block[k] = (struct tree_rows){fetch.asked[k], k, 1};
        if (status == KITH_OK)
            status = grow_records(context, e, record_bytes, &state->records);
        if (status == KITH_OK)
            status = tree_reserve_cuda(context, fetch.count * record_bytes, what, received);
        status = pass(&passage, status, state->records.memory, received->memory);
        if (status == KITH_OK)
            status = put_records(&passage, &fetch, received->memory, state->records.memory);
        free(passage.block);
    }
    tree_fetch_free(&fetch);
    return ranks_agree(context, status);
}

static int64_t points_of(const struct tree_essential *e, int32_t cell)
{
    return e->tree.cell[cell].count;
}

/* The own points, with room for those of others. */
static kith_status make_points(kith_context *context, const struct tree_essential *e,
                               int64_t row_bytes, int64_t others, struct tree_state_cuda *state)
{
    const struct octree_cuda *own = &state->sources;
    const int64_t first = tree_first_other(e);
    struct tree_memory *points = &state->joined.points;
    if (first + others > INT32_MAX)
        return kith_fail(KITH_UNSUPPORTED,
                         "a rank needs 2147483648 points or more; use more ranks");
    KITH_TRY(tree_reserve_cuda(context, (first + others) * row_bytes, "points of a tree", points));
    return own->count == 0
               ? KITH_OK
               : cuda_check(cudaMemcpyAsync(points->memory, own->point,
                                            (size_t)(own->count * row_bytes),
                                            cudaMemcpyDeviceToDevice, cuda_stream(context)),
                            "copying a tree");
}

/* The points that others need, cell by cell. */
static void list_points(const struct tree_essential *e, const struct tree_fetch *fetch,
                        const struct passage *passage)
{
    int64_t to = 0;
    for (int64_t k = 0; k < passage->blocks; k++) {
        const struct octree_cell *cell = &e->tree.cell[fetch->asked[k]];
        passage->block[k] = (struct tree_rows){cell->first, to, cell->count};
        to += cell->count;
    }
}

/* Where those that come are. */
static void place_points(struct tree_essential *e, const struct tree_fetch *fetch)
{
    int64_t first = tree_first_other(e);
    for (int64_t k = 0; k < fetch->count; k++) {
        struct octree_cell *cell = &e->tree.cell[fetch->cell[k]];
        cell->first = (int32_t)first;
        first += cell->count;
    }
}

/* Collective: the points of near cells. */
static kith_status fetch_points(kith_context *context, struct tree_essential *e,
                                struct tree_state_cuda *state)
{
    const int64_t row_bytes = 4 * kith_dtype_bytes(e->own.dtype);
    struct tree_memory *points = &state->joined.points;
    struct ranks_parcels rows = {0};
    struct tree_fetch fetch = {0};
    KITH_TRY(ranks_agree(context, ranks_parcels_create(context->ranks, &rows)));
    kith_status status = tree_fetch_ask(e, e->near, e->base, &fetch);
    if (status == KITH_OK) {
        const struct ranks_parcels *cells = &fetch.parcels;
        tree_fetch_count(e, fetch.asked, cells->first_received, points_of, rows.first_sent);
        tree_fetch_count(e, fetch.cell, cells->first_sent, points_of, rows.first_received);
        struct passage passage = {.context = context,
                                  .row_bytes = row_bytes,
                                  .blocks = ranks_parcels_received(cells),
                                  .sent = ranks_parcels_sent(&rows),
                                  .received = ranks_parcels_received(&rows),
                                  .first_sent = rows.first_sent,
                                  .first_received = rows.first_received};
        status = kith_allocate(passage.blocks, sizeof *passage.block, what, &passage.block);
        if (status == KITH_OK)
            list_points(e, &fetch, &passage);
        if (status == KITH_OK)
            status = make_points(context, e, row_bytes, passage.received, state);
        if (status == KITH_OK)
            place_points(e, &fetch);
        status = pass(&passage, status, state->sources.point,
                      (char *)points->memory + tree_first_other(e) * row_bytes);
        free(passage.block);
    }
    tree_fetch_free(&fetch);
    ranks_parcels_free(&rows);
    return status;
}

kith_status tree_fetch_slices_cuda(kith_context *context, struct tree_essential *essential,
                                   int64_t record_bytes, struct tree_state_cuda *state)
{
    KITH_TRY(fetch_records(context, essential, record_bytes, state));
    return fetch_points(context, essential, state);
}
