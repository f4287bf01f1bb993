/* The symmetric sum over the ranks of a job: what they send each other. */

#include "core/memory.h"
#include "forces/ring_ranks.h"
#include "forces/symmetric_run.h"

kith_status symmetric_agree_on_form(struct symmetric_run *run, kith_status status)
{
    enum { small_masses = sums_are_forces + 1 };
    int64_t form = run->has_small_masses ? small_masses : (int64_t)run->form;
    if (!run->ranks)
        return status;
    KITH_TRY(ranks_agree_on(run->context, status, &form));
    run->form = form == small_masses ? sums_are_accelerations : (enum symmetric_form)form;
    return KITH_OK;
}

/* Posts the sums of a run of tiles of a round, component by component. */
static void post(const struct symmetric_run *run, const struct part *part, int64_t offset,
                 const struct ring_run *tiles, bool sends)
{
    const kith_messages *library = run->ranks->library;
    const int32_t batch = part == run->parts ? 0 : 1;
    const int32_t k = (int32_t)(offset - part->chunk.first_offset);
    const int64_t begin = tiles->first * run->block, end = begin + tiles->count * run->block;
    const int64_t bytes =
        ((end < run->stride ? end : run->stride) - begin) * kith_dtype_bytes(run->problem->dtype);
    const int64_t target = tiles->first - offset + (tiles->first < offset ? run->tiles : 0);
    for (int32_t c = 0; c < run->components; c++) {
        const int32_t tag = k * symmetric_components + c;
        const int64_t place = place_of(run, c, sends ? target * run->block : begin);
        const void *columns = sends ? part->rounds[k].sent : part->rounds[k].of_sources;
        void *sums = at(columns, run->problem->dtype, place);
        if (sends)
            library->post_send(run->ranks->state, batch, tiles->other, tag, sums, bytes);
        else
            library->post_receive(run->ranks->state, batch, tiles->other, tag, sums, bytes);
    }
}

void symmetric_exchange(const struct symmetric_run *run, const struct part *part, bool sends)
{
    const struct ring_ranks ring = {run->tiles, run->ranks->size, run->ranks->rank};
    const int64_t first = part->chunk.first_offset > 0 ? part->chunk.first_offset : 1;
    for (int64_t offset = first; offset < part->chunk.end_offset; offset++) {
        struct ring_run tiles = {0};
        int64_t tile = run->first_tile;
        while (sends ? ring_next_sent(ring, offset, &tile, &tiles)
                     : ring_next_received(ring, offset, &tile, &tiles))
            post(run, part, offset, &tiles, sends);
    }
}

void symmetric_gather(const struct symmetric_run *run)
{
    const struct forces_problem *problem = run->problem;
    const int64_t bytes = kith_dtype_bytes(problem->dtype);
    for (int32_t c = 0; c < run->components; c++) {
        void *result = c == run->fields ? problem->potential : problem->acceleration[c];
        if (result)
            ranks_gather(run->context, result, bytes, problem->source_count, run->block);
    }
}
