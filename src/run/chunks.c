#include "run/chunks.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "particles/bodies.h"
#include "ranks/bodies.h"
#include "ranks/partition.h"

/* Positions, velocities. */
enum { parts = 2, tag_of_chunks = 6 };

static const double seconds_of_number = 1e-8; /* to compress a double */

struct packing {
    const struct run_output *output;
    struct h5md_chunk chunk;
    int64_t count, first, own; /* chunks; this rank's first, and how many it has */
    int64_t first_row, rows;   /* of its chunks */
    int64_t room;              /* of a packed chunk */
    void *three, *numbers;     /* of its rows, and of those of its chunks */
    unsigned char *packed;     /* [own][parts][room] */
    int64_t *bytes;            /* [count][parts], of all ranks */
    int32_t part;
    atomic_bool failed;
};

static kith_status begin(struct packing *packing, const kith_bodies *rows)
{
    const struct ranks *ranks = packing->output->context->ranks;
    const int64_t all = packing->output->all, each = packing->chunk.rows;
    const int64_t row = 3 * (int64_t)packing->chunk.real;
    packing->count = (all + each - 1) / each;
    packing->first = ranks_first(packing->count, ranks->size, ranks->rank);
    packing->own = ranks_first(packing->count, ranks->size, ranks->rank + 1) - packing->first;
    packing->first_row = ranks_first_element(all, each, ranks->size, ranks->rank);
    packing->rows =
        ranks_first_element(all, each, ranks->size, ranks->rank + 1) - packing->first_row;
    packing->room = h5md_chunk_room(packing->chunk);
    KITH_TRY(kith_allocate(rows->count, row, "rows of a frame", &packing->three));
    KITH_TRY(kith_allocate(packing->rows, row, "rows of a frame", &packing->numbers));
    KITH_TRY(kith_allocate(packing->count, parts * (int64_t)sizeof *packing->bytes,
                           "chunks of a frame", &packing->bytes));
    return kith_allocate_unset(parts * packing->own, packing->room, "chunks of a frame",
                               (void **)&packing->packed);
}

static void end(struct packing *packing)
{
    free(packing->three);
    free(packing->numbers);
    free(packing->bytes);
    free(packing->packed);
}

static unsigned char *packed_at(const struct packing *packing, int64_t k, int32_t part)
{
    return packing->packed + ((k - packing->first) * parts + part) * packing->room;
}

static void pack(void *argument, int64_t task)
{
    struct packing *packing = argument;
    const int64_t k = packing->first + task, each = packing->chunk.rows;
    const int64_t left = packing->rows - task * each;
    const char *numbers = (const char *)packing->numbers + task * h5md_chunk_bytes(packing->chunk);
    unsigned char *shuffled = malloc((size_t)h5md_chunk_bytes(packing->chunk));
    if (!shuffled || h5md_chunk_pack(packing->chunk, numbers, left < each ? left : each, shuffled,
                                     packed_at(packing, k, packing->part),
                                     &packing->bytes[k * parts + packing->part]) != KITH_OK)
        atomic_store(&packing->failed, true);
    free(shuffled);
}

/* Rows that begin with the slice to those that begin with a chunk, which are then packed. */
static kith_status pack_part(struct packing *packing, const kith_bodies *rows, int32_t part)
{
    kith_context *context = packing->output->context;
    const double seconds = 3.0 * (double)packing->rows * seconds_of_number;
    KITH_TRY(ranks_agree(
        context, h5md_put_part(packing->three, packing->chunk, (enum h5md_part)part, rows)));
    ranks_divide_again(context, packing->output->all, 3 * (int64_t)packing->chunk.real, 1,
                       packing->three, packing->chunk.rows, packing->numbers);
    packing->part = part;
    kith_status status =
        kith_for_each(context, kith_threads_for(context, seconds), packing->own, pack, packing);
    if (status == KITH_OK && atomic_load(&packing->failed))
        status = kith_fail(KITH_OUT_OF_MEMORY, "no memory to compress a frame of %lld bodies",
                           (long long)packing->output->all);
    return ranks_agree(context, status);
}

/* One chunk to rank 0, which writes it. */
static kith_status put(const struct packing *packing, int64_t k, int32_t part, void *memory)
{
    const struct run_output *output = packing->output;
    const struct ranks *ranks = output->context->ranks;
    const int32_t owner = ranks_owner(packing->count, ranks->size, k);
    const int64_t bytes = packing->bytes[k * parts + part];
    const bool is_mine = owner == ranks->rank;
    void *chunk = is_mine ? packed_at(packing, k, part) : memory;
    if (owner > 0 && is_mine)
        ranks->library->post_send(ranks->state, 0, 0, tag_of_chunks, chunk, bytes);
    if (owner > 0 && ranks->rank == 0)
        ranks->library->post_receive(ranks->state, 0, owner, tag_of_chunks, chunk, bytes);
    ranks->library->wait(ranks->state, 0);
    return output->file
               ? run_file_put_chunk(output->file, part, k * packing->chunk.rows, bytes, chunk)
               : KITH_OK;
}

static kith_status put_all(struct packing *packing)
{
    kith_context *context = packing->output->context;
    const struct ranks *ranks = context->ranks;
    void *memory = NULL;
    kith_status status = ranks_agree(
        context, ranks->rank == 0 ? kith_allocate(1, packing->room, "a chunk", &memory) : KITH_OK);
    KITH_TRY(status);
    ranks_gather(context, packing->bytes, parts * (int64_t)sizeof *packing->bytes, packing->count,
                 1);
    for (int64_t k = 0; k < packing->count; k++) {
        const bool takes_part =
            ranks->rank == 0 || (k >= packing->first && k < packing->first + packing->own);
        for (int32_t part = 0; part < parts && takes_part; part++) {
            const kith_status written = put(packing, k, part, memory);
            status = status == KITH_OK ? written : status;
        }
    }
    free(memory);
    return ranks_agree(context, status);
}

kith_status run_put_chunks(const struct run_output *output, struct h5md_chunk chunk,
                           const kith_bodies *rows)
{
    struct packing packing = {.output = output, .chunk = chunk};
    kith_status status = ranks_agree(output->context, begin(&packing, rows));
    for (int32_t part = 0; part < parts && status == KITH_OK; part++)
        status = pack_part(&packing, rows, part);
    if (status == KITH_OK)
        status = put_all(&packing);
    end(&packing);
    return status;
}

/* Some chunks of a process that has all rows, of which each task packs one. */
struct batch {
    struct h5md_chunk chunk;
    const kith_bodies *rows;
    int64_t first, room; /* chunk; bytes of a packed one */
    unsigned char *packed;
    int64_t *bytes;
    atomic_bool failed;
};

static void pack_alone(void *argument, int64_t task)
{
    struct batch *batch = argument;
    const struct h5md_chunk chunk = batch->chunk;
    const int64_t at = (batch->first + task / parts) * chunk.rows;
    const int64_t left = batch->rows->count - at, size = h5md_chunk_bytes(chunk);
    const kith_bodies some = bodies_rows(batch->rows, at, left < chunk.rows ? left : chunk.rows);
    char *numbers = calloc(2, (size_t)size);
    if (!numbers ||
        h5md_put_part(numbers, chunk, (enum h5md_part)(task % parts), &some) != KITH_OK ||
        h5md_chunk_pack(chunk, numbers, some.count, (unsigned char *)numbers + size,
                        batch->packed + task * batch->room, &batch->bytes[task]) != KITH_OK)
        atomic_store(&batch->failed, true);
    free(numbers);
}

static kith_status put_batch(const struct run_output *output, int32_t threads, int64_t chunks,
                             struct batch *batch)
{
    KITH_TRY(kith_for_each(output->context, threads, chunks * parts, pack_alone, batch));
    if (atomic_load(&batch->failed))
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory to compress a frame of %lld bodies",
                         (long long)batch->rows->count);
    for (int64_t k = 0; k < chunks * parts; k++)
        KITH_TRY(run_file_put_chunk(output->file, (int32_t)(k % parts),
                                    (batch->first + k / parts) * batch->chunk.rows, batch->bytes[k],
                                    batch->packed + k * batch->room));
    return KITH_OK;
}

kith_status run_put_chunks_alone(const struct run_output *output, struct h5md_chunk chunk,
                                 const kith_bodies *rows)
{
    const double seconds = 3.0 * parts * (double)rows->count * seconds_of_number;
    const int32_t threads = kith_threads_for(output->context, seconds);
    const int64_t count = (rows->count + chunk.rows - 1) / chunk.rows;
    struct batch batch = {.chunk = chunk, .rows = rows, .room = h5md_chunk_room(chunk)};
    const int64_t tasks = (int64_t)threads * parts;
    kith_status status = kith_allocate_unset(tasks, batch.room, "chunks", (void **)&batch.packed);
    if (status == KITH_OK)
        status = kith_allocate(tasks, sizeof *batch.bytes, "chunks", &batch.bytes);
    for (; batch.first < count && status == KITH_OK; batch.first += threads)
        status = put_batch(output, threads,
                           count - batch.first < threads ? count - batch.first : threads, &batch);
    free(batch.packed);
    free(batch.bytes);
    return status;
}
