#include "forces/one_sided_slices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"
#include "forces/law_motion.h"
#include "forces/law_sums.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"

/* Rows of a tile: of whole chunks of sources (one_sided_loop_body.h), so that the sums of a chunk
 * are those of one process; at most this many chunks. */
enum { chunk_sources = 256, most_chunks = 16 };

enum { most_columns = 10, output_count = 8, tag_of_tile = 6 };

/* A column of the problem, of this rank's rows, and the same of what it computes with. */
struct column {
    const void *rows;
    const void **here;
};

struct tiles_run {
    kith_context *context;
    const struct ranks *ranks;
    const struct forces_problem *own;
    struct forces_problem problem; /* this rank's targets, and a tile of sources */
    struct law_sums_problem sums;
    struct forces_blocks blocks;
    int64_t real, tile_rows, tiles, first_tile, own_tiles;
    int64_t first_target, targets, stride;
    struct column source[most_columns];
    int32_t source_columns;
    int32_t threads;
    pthread_t caller; /* who sends and receives */
    char *memory;     /* of all that follows: */
    char *own_sources, *received[KITH_MESSAGE_BATCHES];
    char *target_columns, *outputs;
};

bool forces_takes_one_sided_slices(const struct forces_problem *problem)
{
    return problem->system_count == 0 && !problem->accumulate;
}

static int32_t list_present(const struct column *all, int32_t count, struct column *present)
{
    int32_t found = 0;
    for (int32_t k = 0; k < count; k++)
        if (all[k].rows)
            present[found++] = all[k];
    return found;
}

static int32_t list_sources(struct tiles_run *run, struct column *columns)
{
    const struct forces_problem *own = run->own;
    struct forces_problem *tile = &run->problem;
    const struct column all[] = {
        {own->source_position[0], &tile->source_position[0]},
        {own->source_position[1], &tile->source_position[1]},
        {own->source_position[2], &tile->source_position[2]},
        {own->source_velocity[0], &tile->source_velocity[0]},
        {own->source_velocity[1], &tile->source_velocity[1]},
        {own->source_velocity[2], &tile->source_velocity[2]},
        {own->source_mass, &tile->source_mass},
        {own->source_charge, &tile->source_charge},
        {own->source_half_softening2, &tile->source_half_softening2},
    };
    return list_present(all, sizeof all / sizeof *all, columns);
}

static int32_t list_targets(struct tiles_run *run, struct column *columns)
{
    const struct forces_problem *own = run->own;
    struct forces_problem *here = &run->problem;
    const struct column all[] = {
        {own->target_position[0], &here->target_position[0]},
        {own->target_position[1], &here->target_position[1]},
        {own->target_position[2], &here->target_position[2]},
        {own->target_velocity[0], &here->target_velocity[0]},
        {own->target_velocity[1], &here->target_velocity[1]},
        {own->target_velocity[2], &here->target_velocity[2]},
        {own->target_mass, &here->target_mass},
        {own->target_weight, &here->target_weight},
        {own->target_charge, &here->target_charge},
        {own->target_half_softening2, &here->target_half_softening2},
    };
    return list_present(all, sizeof all / sizeof *all, columns);
}

static void list_outputs(struct forces_problem *problem, void **outputs[output_count])
{
    for (int32_t c = 0; c < 3; c++) {
        outputs[c] = &problem->acceleration[c];
        outputs[3 + c] = &problem->jerk[c];
    }
    outputs[6] = &problem->potential;
    outputs[7] = &problem->potential_rate;
}

/* Every rank gets some tiles, if there are as many chunks. */
static void divide(struct tiles_run *run)
{
    const struct ranks *ranks = run->ranks;
    const int64_t sources = run->own->source_count, targets = run->own->target_count;
    const int64_t chunks = (sources + chunk_sources - 1) / chunk_sources;
    const int64_t each = chunks / ranks->size;
    run->tile_rows = chunk_sources * (each < 1 ? 1 : each < most_chunks ? each : most_chunks);
    run->tiles = (sources + run->tile_rows - 1) / run->tile_rows;
    run->first_tile = ranks_first(run->tiles, ranks->size, ranks->rank);
    run->own_tiles = ranks_first(run->tiles, ranks->size, ranks->rank + 1) - run->first_tile;
    run->first_target = ranks_first_element(targets, kith_padding, ranks->size, ranks->rank);
    run->targets = ranks_first_element(targets, kith_padding, ranks->size, ranks->rank + 1) -
                   run->first_target;
    run->stride = kith_padded(run->targets);
}

static int64_t tile_bytes(const struct tiles_run *run)
{
    return run->source_columns * run->tile_rows * run->real;
}

static kith_status make_room(struct tiles_run *run)
{
    struct column columns[most_columns];
    const int64_t target_columns = list_targets(run, columns);
    const int64_t of_sources = run->own_tiles * tile_bytes(run);
    const int64_t of_targets = target_columns * run->stride * run->real;
    const int64_t of_outputs = output_count * run->stride * run->real;
    const int64_t values = forces_wants_rates(run->own) ? law_jerk_values : law_sums_values;
    const int64_t of_totals = values * run->stride * (int64_t)sizeof(double);
    const int64_t bytes =
        of_sources + KITH_MESSAGE_BATCHES * tile_bytes(run) + of_targets + of_outputs + of_totals;
    KITH_TRY(kith_allocate(bytes, 1, "tiles of bodies", &run->memory));
    run->own_sources = run->memory;
    run->received[0] = run->own_sources + of_sources;
    run->received[1] = run->received[0] + tile_bytes(run);
    run->target_columns = run->received[1] + tile_bytes(run);
    run->outputs = run->target_columns + of_targets;
    run->problem.totals = (double *)(void *)(run->outputs + of_outputs);
    return KITH_OK;
}

/* Collective: the sources come to the ranks that have their tiles, each tile with all columns. */
static kith_status take_sources(struct tiles_run *run)
{
    const int64_t column_bytes = run->tile_rows * run->real;
    char *column = NULL;
    KITH_TRY(ranks_agree(run->context, kith_allocate(run->own_tiles * column_bytes, 1,
                                                     "a column of tiles", &column)));
    for (int32_t c = 0; c < run->source_columns; c++) {
        ranks_divide_again(run->context, run->own->source_count, run->real, 1, run->source[c].rows,
                           run->tile_rows, column);
        for (int64_t t = 0; t < run->own_tiles; t++)
            memcpy(run->own_sources + t * tile_bytes(run) + c * column_bytes,
                   column + t * column_bytes, (size_t)column_bytes);
    }
    free(column);
    return KITH_OK;
}

/* Collective. */
static void take_targets(struct tiles_run *run)
{
    struct column columns[most_columns];
    const int32_t count = list_targets(run, columns);
    for (int32_t c = 0; c < count; c++) {
        char *column = run->target_columns + c * run->stride * run->real;
        ranks_divide_again(run->context, run->own->target_count, run->real, 1, columns[c].rows,
                           kith_padding, column);
        *columns[c].here = column;
    }
    void **outputs[output_count];
    list_outputs(&run->problem, outputs);
    for (int32_t k = 0; k < output_count; k++)
        if (*outputs[k])
            *outputs[k] = run->outputs + k * run->stride * run->real;
}

static void keep_results(struct tiles_run *run)
{
    struct forces_problem own = *run->own;
    void **from[output_count], **to[output_count];
    list_outputs(&run->problem, from);
    list_outputs(&own, to);
    for (int32_t k = 0; k < output_count; k++)
        if (*to[k])
            ranks_divide_again(run->context, own.target_count, run->real, kith_padding, *from[k], 1,
                               *to[k]);
}

static bool is_own(const struct tiles_run *run, int64_t tile)
{
    return tile >= run->first_tile && tile < run->first_tile + run->own_tiles;
}

static char *memory_of(const struct tiles_run *run, int64_t tile)
{
    return is_own(run, tile) ? run->own_sources + (tile - run->first_tile) * tile_bytes(run)
                             : run->received[tile % KITH_MESSAGE_BATCHES];
}

/* Collective: begins to send a tile from its rank to all others. */
static void post_tile(const struct tiles_run *run, int64_t tile)
{
    const struct ranks *ranks = run->ranks;
    const int32_t batch = (int32_t)(tile % KITH_MESSAGE_BATCHES);
    const int32_t owner = ranks_owner(run->tiles, ranks->size, tile);
    char *memory = memory_of(run, tile);
    if (owner != ranks->rank)
        ranks->library->post_receive(ranks->state, batch, owner, tag_of_tile, memory,
                                     tile_bytes(run));
    for (int32_t other = 0; other < ranks->size && owner == ranks->rank; other++)
        if (other != owner)
            ranks->library->post_send(ranks->state, batch, other, tag_of_tile, memory,
                                      tile_bytes(run));
}

static void compute_block(void *argument, int64_t block)
{
    const struct tiles_run *run = argument;
    const int64_t begin = block * kith_padding, left = run->targets - begin;
    forces_compute_blocks(&run->blocks, begin, begin + (left < kith_padding ? left : kith_padding));
    if (pthread_equal(pthread_self(), run->caller))
        run->ranks->library->progress(run->ranks->state);
}

static kith_status compute(struct tiles_run *run)
{
    struct law_view view;
    if (run->own->law)
        forces_law_look(&run->problem, &view, &run->sums);
    return kith_for_each(run->context, run->threads, run->stride / kith_padding, compute_block,
                         run);
}

/* What a tile does to this rank's targets. */
static kith_status add_tile(struct tiles_run *run, int64_t tile)
{
    const int64_t first = tile * run->tile_rows, left = run->own->source_count - first;
    for (int32_t c = 0; c < run->source_columns; c++)
        *run->source[c].here = memory_of(run, tile) + c * run->tile_rows * run->real;
    run->problem.source_count = left < run->tile_rows ? left : run->tile_rows;
    run->problem.source_shift = first - run->first_target;
    return compute(run);
}

/* Collective. When one rank fails all have posted the same tile. */
static kith_status add_tiles(struct tiles_run *run)
{
    kith_status status = KITH_OK;
    post_tile(run, 0);
    for (int64_t tile = 0; tile < run->tiles; tile++) {
        const int32_t batch = (int32_t)(tile % KITH_MESSAGE_BATCHES);
        run->ranks->library->wait(run->ranks->state, batch);
        if (status != KITH_OK)
            return status;
        if (tile + 1 < run->tiles)
            post_tile(run, tile + 1);
        status = ranks_agree(run->context, add_tile(run, tile));
    }
    if (status != KITH_OK)
        return status;
    run->problem.source_count = 0;
    return compute(run); /* the results of the sums */
}

static kith_status sum(struct tiles_run *run)
{
    KITH_TRY(ranks_agree(run->context, make_room(run)));
    KITH_TRY(take_sources(run));
    take_targets(run);
    KITH_TRY(ranks_agree(run->context, add_tiles(run)));
    keep_results(run);
    return KITH_OK;
}

kith_status forces_one_sided_slices(kith_context *context, const struct forces_blocks *blocks,
                                    double seconds)
{
    struct tiles_run run = {.context = context,
                            .ranks = context->ranks,
                            .own = blocks->problem,
                            .problem = *blocks->problem,
                            .real = kith_dtype_bytes(blocks->problem->dtype),
                            .caller = pthread_self()};
    run.blocks = (struct forces_blocks){&run.problem, blocks->kernel,
                                        blocks->sums ? &run.sums : NULL, blocks->law_kernel};
    divide(&run);
    run.source_columns = list_sources(&run, run.source);
    run.problem.target_count = run.targets;
    run.threads = kith_threads_for(context, seconds / run.ranks->size /
                                                (double)(run.tiles > 0 ? run.tiles : 1));
    const kith_status status = sum(&run);
    free(run.memory);
    return status;
}
