#include "forces/cutoff_partition.h"

#include <stdlib.h>

#include "cells/cells.h"
#include "core/memory.h"
#include "device/context.h"
#include "forces/cutoff_sides.h"
#include "ranks/bodies.h"

static const char what[] = "bodies of a rank";

enum { counts_at_once = 1 << 16 };

/* Collective: the bounds of the bodies of all ranks. */
static void unite_bounds(const kith_context *context, struct cells_bounds *bounds)
{
    for (int k = 0; k < 3; k++)
        bounds->low[k] = -bounds->low[k];
    ranks_maximum(context, bounds->low, 3);
    ranks_maximum(context, bounds->high, 3);
    ranks_maximum(context, &bounds->largest, 1);
    for (int k = 0; k < 3; k++)
        bounds->low[k] = -bounds->low[k];
}

static struct cutoff_partition_side *targets_of(struct cutoff_partition *partition)
{
    return &partition->side[partition->side_count - 1];
}

static void number(struct cutoff_partition *partition, struct cutoff_partition_side *side)
{
    const struct cells_grid *grid = &partition->part.grid;
    for (int64_t i = 0; i < side->count; i++) {
        int64_t cell[3], bucket = 0;
        cells_of_point(grid, partition->own->space.lattice, &side->wrapped.wrapped, i, cell);
        for (int k = 0; k < 3; k++)
            bucket += cells_bucket(grid, cell[k], k);
        side->bucket[i] = (uint32_t)bucket;
    }
}

static kith_status allocate_side(const struct cutoff_partition *partition,
                                 struct cutoff_partition_side *side)
{
    struct cutoff_arena arena = {0};
    cutoff_side_lay_out(&arena, partition->own->dtype, &side->wrapped);
    KITH_TRY(kith_allocate(arena.used, 1, what, &side->memory));
    arena = (struct cutoff_arena){side->memory, 0};
    cutoff_side_lay_out(&arena, partition->own->dtype, &side->wrapped);
    return kith_allocate(side->count, sizeof *side->bucket, what, &side->bucket);
}

static kith_status wrap_side(const struct cutoff_partition *partition,
                             struct cutoff_partition_side *side, struct cells_bounds *bounds)
{
    int64_t bad_row = -1;
    KITH_TRY(allocate_side(partition, side));
    KITH_TRY(
        cutoff_side_wrap(partition->context, partition->own, &side->wrapped, bounds, &bad_row));
    return bad_row < 0 ? KITH_OK : cutoff_side_check(side->first_row + bad_row, side->name);
}

/* Collective: the grid, and the bucket of each of this rank's bodies. */
static kith_status find_buckets(struct cutoff_partition *partition)
{
    const struct forces_problem *own = partition->own;
    struct cells_bounds bounds = cells_bounds_empty();
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < partition->side_count && status == KITH_OK; k++)
        status = wrap_side(partition, &partition->side[k], &bounds);
    KITH_TRY(ranks_agree(partition->context, status));
    unite_bounds(partition->context, &bounds);
    cells_grid_choose(own->space.lattice, own->dtype, own->dimensions, own->space.cutoff, &bounds,
                      own->source_count, &partition->part.grid);
    for (int32_t k = 0; k < partition->side_count; k++) {
        number(partition, &partition->side[k]);
        free(partition->side[k].memory);
        partition->side[k].memory = NULL;
    }
    return KITH_OK;
}

/* Collective: where the buckets of all targets begin, in pieces of the table. */
static void count_all(struct cutoff_partition *partition, unsigned long long counts[counts_at_once])
{
    const struct cutoff_partition_side *targets = targets_of(partition);
    const int64_t buckets = partition->part.grid.bucket_count;
    unsigned long long before = 0;
    for (int64_t i = 0; i < targets->count; i++)
        partition->before[targets->bucket[i]]++;
    for (int64_t at = 0; at < buckets; at += counts_at_once) {
        const int64_t count = buckets - at < counts_at_once ? buckets - at : counts_at_once;
        for (int64_t k = 0; k < count; k++)
            counts[k] = partition->before[at + k];
        ranks_add(partition->context, counts, count);
        for (int64_t k = 0; k < count; k++) {
            partition->before[at + k] = (uint32_t)before;
            before += counts[k];
        }
    }
    partition->before[buckets] = (uint32_t)before;
}

static kith_status count_buckets(struct cutoff_partition *partition)
{
    unsigned long long *counts = NULL;
    kith_status status = kith_allocate(counts_at_once, sizeof *counts, what, &counts);
    if (status == KITH_OK)
        status = kith_allocate(partition->part.grid.bucket_count + 1, sizeof *partition->before,
                               what, &partition->before);
    status = ranks_agree(partition->context, status);
    if (status == KITH_OK)
        count_all(partition, counts);
    free(counts);
    return status;
}

/* The bucket of a target in the order of the cells. */
static int64_t bucket_of_slot(const struct cutoff_partition *partition, int64_t slot)
{
    int64_t low = 0, high = partition->part.grid.bucket_count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if ((int64_t)partition->before[middle] <= slot)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t plane_of(const struct cutoff_partition *partition, int64_t bucket)
{
    return bucket / partition->part.grid.stride[partition->axis];
}

/* The planes of a rank's targets, and those within reach. Where cells of a period share planes,
 * also those next to where the period ends. */
static void hold_planes(const struct cutoff_partition *partition, int64_t first, int64_t last,
                        bool *held)
{
    const struct cells_grid *grid = &partition->part.grid;
    const int64_t table = grid->table[partition->axis], reach = grid->reach[partition->axis];
    const int64_t period = grid->count[partition->axis];
    const int64_t low = plane_of(partition, first) - reach,
                  high = plane_of(partition, last) + reach;
    for (int64_t plane = low; plane <= high && plane < low + table; plane++)
        held[plane - cells_floor_divided(plane, table) * table] = true;
    for (int64_t k = 0; period > table && k < reach; k++) {
        const int64_t end = period - 1 - k;
        held[k % table] = held[end - cells_floor_divided(end, table) * table] = true;
    }
}

static void hold_all(struct cutoff_partition *partition)
{
    struct cutoff_part *part = &partition->part;
    const int64_t planes = part->grid.table[partition->axis];
    const struct ranks *ranks = partition->context->ranks;
    for (int32_t k = 0; k < ranks->size; k++) {
        const int64_t begin = part->tasks.firsts[k] * part->targets_a_task;
        const int64_t end = part->tasks.firsts[k + 1] * part->targets_a_task;
        const int64_t last = (end < part->all ? end : part->all) - 1;
        int64_t *range = partition->range[k];
        range[0] = 0;
        range[1] = -1;
        if (last < begin)
            continue;
        range[0] = bucket_of_slot(partition, begin);
        range[1] = bucket_of_slot(partition, last);
        hold_planes(partition, range[0], range[1], partition->planes + k * planes);
    }
    part->bucket = partition->range[ranks->rank][0];
    part->before = partition->before[part->bucket];
}

/* As find_work of cutoff_cpu.c. */
static void find_work(const struct cutoff_partition *partition)
{
    const struct cutoff_part *part = &partition->part;
    for (int64_t bucket = 0; bucket < part->grid.bucket_count && partition->own->self; bucket++) {
        const int64_t begin = partition->before[bucket], end = partition->before[bucket + 1];
        for (int64_t slot = begin; slot < end; slot++)
            part->tasks.work[slot / part->targets_a_task] += (double)(end - begin);
    }
    for (int64_t task = 0; task < part->tasks.count && !partition->own->self; task++)
        part->tasks.work[task] = 1;
}

/* Of bodies on each other the totals of tasks are those of one process. Few other targets are
 * divided, too, so that their sources are. */
static int64_t find_targets_a_task(int64_t targets, int32_t ranks, bool is_self)
{
    const int64_t each = (targets + ranks - 1) / ranks;
    if (is_self || each > cutoff_targets_a_task)
        return cutoff_targets_a_task;
    return each > 0 ? each : 1;
}

/* Which rank has which targets, and which planes. */
static kith_status divide(struct cutoff_partition *partition)
{
    struct cutoff_part *part = &partition->part;
    const struct cells_grid *grid = &part->grid;
    const int32_t size = partition->context->ranks->size;
    part->targets_a_task = find_targets_a_task(part->all, size, partition->own->self);
    const int64_t tasks = (part->all + part->targets_a_task - 1) / part->targets_a_task;
    partition->axis = grid->table[grid->order[0]] > 1 ? grid->order[0] : grid->order[1];
    KITH_TRY(tasks_create_divided(partition->context, tasks, &part->tasks));
    KITH_TRY(kith_allocate(size, sizeof *partition->range, what, &partition->range));
    KITH_TRY(kith_allocate(size, grid->table[partition->axis], what, &partition->planes));
    find_work(partition);
    tasks_divide(&part->tasks);
    hold_all(partition);
    free(partition->before);
    partition->before = NULL;
    return KITH_OK;
}

static void begin_side(const struct cutoff_partition *partition, const char *name, int64_t all,
                       const void *const *position, struct cutoff_partition_side *side)
{
    side->name = name;
    side->all = all;
    ranks_rows(partition->context, all, &side->first_row, &side->count);
    side->wrapped = (struct cutoff_side){.count = side->count, .position = position};
}

kith_status cutoff_partition_make(kith_context *context, const struct forces_problem *own,
                                  struct cutoff_partition *partition)
{
    *partition = (struct cutoff_partition){.context = context,
                                           .own = own,
                                           .part.all = own->target_count,
                                           .side_count = own->self ? 1 : 2};
    begin_side(partition, "sources", own->source_count, own->source_position,
               &partition->side[cutoff_of_sources]);
    if (!own->self)
        begin_side(partition, "targets", own->target_count, own->target_position,
                   &partition->side[cutoff_of_targets]);
    KITH_TRY(find_buckets(partition));
    KITH_TRY(count_buckets(partition));
    return ranks_agree(context, divide(partition));
}

void cutoff_partition_free(struct cutoff_partition *partition)
{
    tasks_free(&partition->part.tasks);
    for (int32_t k = 0; k < partition->side_count; k++) {
        free(partition->side[k].memory);
        free(partition->side[k].bucket);
    }
    free(partition->before);
    free(partition->planes);
    free(partition->range);
}

bool cutoff_partition_gives(const struct cutoff_partition *partition, int32_t side, int64_t i,
                            int32_t rank)
{
    const int64_t bucket = partition->side[side].bucket[i];
    const int64_t *range = partition->range[rank];
    if (side == cutoff_of_targets)
        return bucket >= range[0] && bucket <= range[1];
    return partition
        ->planes[rank * partition->part.grid.table[partition->axis] + plane_of(partition, bucket)];
}
