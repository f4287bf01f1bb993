/* The symmetric sum where each rank has a slice of the bodies: what its tiles need travels along
 * the ring with the offsets, in a window, so that no rank holds all. */

#include <string.h>

#include "core/memory.h"
#include "forces/ring_ranks.h"
#include "forces/symmetric_run.h"

/* After the tags of sums. */
enum { first_tag = rounds_at_once * symmetric_components };

/* A column of the problem, which has this rank's rows, and that of its tiles and the window. */
struct column {
    const void *rows;
    const void **tiles;
};

/* Absent columns are left out. */
static int32_t list_columns(struct symmetric_run *run,
                            struct column columns[symmetric_column_count])
{
    const struct forces_problem *problem = run->problem;
    const struct column all[symmetric_column_count] = {
        {problem->source_position[0], &run->columns.position[0]},
        {problem->source_position[1], &run->columns.position[1]},
        {problem->source_position[2], &run->columns.position[2]},
        {run->law ? run->law->sums->source_weight : problem->source_mass, &run->columns.weight},
        {problem->source_charge, &run->columns.charge},
        {problem->source_half_softening2, &run->columns.half_softening2}};
    int32_t count = 0;
    for (int32_t k = 0; k < symmetric_column_count; k++)
        if (all[k].rows)
            columns[count++] = all[k];
    return count;
}

int64_t symmetric_bytes_of_slice(struct symmetric_run *run)
{
    struct column columns[symmetric_column_count];
    const int64_t own = run->end_tile - run->first_tile, others = run->tiles - own;
    /* The tiles that own ones meet at the offsets of a part, and those that the next part adds. */
    const int64_t most = own + 2 * rounds_at_once;
    run->window = own == 0 ? 0 : most < others ? most : others;
    const int64_t real = kith_dtype_bytes(run->problem->dtype) * run->block;
    return real * ((own + run->window) * list_columns(run, columns) + own);
}

/* Bodies that are dealt one by one come to the ranks that have their tiles; zeros follow the last.
 */
static void take_column(const struct symmetric_run *run, const void *rows, char *tiles)
{
    const int64_t real = kith_dtype_bytes(run->problem->dtype), all = run->problem->source_count;
    const int64_t left = all - run->origin;
    const int64_t count = left < run->room ? left : run->room;
    ranks_divide_again(run->context, all, real, 1, rows, run->block, tiles);
    if (run->room > 0)
        memset(tiles + count * real, 0, (size_t)((run->room - count) * real));
}

void symmetric_take_slice(struct symmetric_run *run, char *memory)
{
    struct column columns[symmetric_column_count];
    const int64_t own = run->end_tile - run->first_tile;
    const int64_t tile = kith_dtype_bytes(run->problem->dtype) * run->block;
    const int32_t count = list_columns(run, columns);
    for (int32_t k = 0; k < count; k++) {
        take_column(run, columns[k].rows, memory);
        *columns[k].tiles = memory;
        memory += (own + run->window) * tile;
    }
    if (run->law && run->problem->target_mass) {
        take_column(run, run->problem->target_mass, memory);
        run->target_mass = memory;
    }
    symmetric_fetch(run, 0, rounds_at_once, 0);
    run->ranks->library->wait(run->ranks->state, 0);
}

/* A tile to another rank, or from there, column by column; k counts those of a call. */
static void post_tile(const struct symmetric_run *run, int64_t tile, int64_t k, int32_t other,
                      bool sends, int32_t batch)
{
    struct symmetric_run of = *run;
    struct column columns[symmetric_column_count];
    const struct ranks *ranks = run->ranks;
    const int32_t count = list_columns(&of, columns);
    const int64_t bytes = run->block * kith_dtype_bytes(run->problem->dtype);
    for (int32_t c = 0; c < count; c++) {
        const int32_t tag = first_tag + (int32_t)k * symmetric_column_count + c;
        char *memory = (char *)*columns[c].tiles + symmetric_slot(run, tile) * bytes;
        if (sends)
            ranks->library->post_send(ranks->state, batch, other, tag, memory, bytes);
        else
            ranks->library->post_receive(ranks->state, batch, other, tag, memory, bytes);
    }
}

/* Up to an offset, own tiles meet those up to this far after the last of them. */
static int64_t reach(const struct symmetric_run *run, int64_t end_offset)
{
    const int64_t offsets = ring_offsets(run->tiles);
    const int64_t end = end_offset < offsets ? end_offset : offsets;
    return end > 1 ? end - 1 : 0;
}

void symmetric_fetch(const struct symmetric_run *run, int64_t first, int64_t end, int32_t batch)
{
    const int32_t size = run->ranks->size, rank = run->ranks->rank;
    const int64_t from = reach(run, first), to = reach(run, end);
    for (int32_t other = 0; other < size && run->problem->is_slice; other++) {
        const int64_t last = ranks_first(run->tiles, size, other + 1);
        if (last == ranks_first(run->tiles, size, other))
            continue;
        for (int64_t ahead = from; ahead < to; ahead++) {
            const int64_t tile = (last + ahead) % run->tiles;
            const int32_t owner = ranks_owner(run->tiles, size, tile);
            if (other == rank && owner != rank)
                post_tile(run, tile, ahead - from, owner, false, batch);
            if (other != rank && owner == rank)
                post_tile(run, tile, ahead - from, other, true, batch);
        }
    }
}

void symmetric_keep_slice(const struct symmetric_run *run)
{
    const struct forces_problem *problem = run->problem;
    const int64_t real = kith_dtype_bytes(problem->dtype);
    for (int32_t c = 0; c < run->components; c++) {
        void *result = c == run->fields ? problem->potential : problem->acceleration[c];
        const void *tiles = at(run->alone, problem->dtype, place_of(run, c, run->origin));
        if (result)
            ranks_divide_again(run->context, problem->source_count, real, run->block, tiles, 1,
                               result);
    }
}
