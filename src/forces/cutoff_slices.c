#include "forces/cutoff_slices.h"

#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "core/memory.h"
#include "device/context.h"
#include "forces/cutoff_sides.h"
#include "forces/excluded.h"
#include "ranks/parcels.h"
#include "ranks/partition.h"

static const char what[] = "bodies of a rank";

enum { field_count = 7, counts_at_once = 1 << 16 };

struct slices {
    kith_context *context;
    const struct forces_problem *own;
    int64_t count, first_row; /* of this rank's bodies */
    struct cutoff_part part;
    uint32_t *bucket; /* of each of this rank's bodies */
    uint32_t *before; /* bodies of all ranks before a bucket; bucket_count + 1 */
    int axis;         /* of the planes */
    bool *held;       /* of each rank, of each plane */
    struct ranks_parcels out, home;
    int32_t *sent, *origin; /* rows of this rank's that it sends; of those that it has got */
    struct forces_problem held_problem;
    void *position, *outputs, *field[field_count];
};

bool cutoff_takes_slices(const struct forces_problem *own)
{
    return own->self && !own->space.repeats && !own->space.tail && !own->accumulate &&
           !excluded_any(own);
}

/* The columns of a problem besides positions. */
static const void **field_of(struct forces_problem *problem, int k)
{
    const void **const fields[field_count] = {
        &problem->source_mass,           &problem->target_mass,   &problem->target_weight,
        &problem->target_charge,         &problem->source_charge, &problem->target_half_softening2,
        &problem->source_half_softening2};
    return fields[k];
}

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

static void number(struct slices *slices, const struct cells_points *points)
{
    const struct cells_grid *grid = &slices->part.grid;
    for (int64_t i = 0; i < slices->count; i++) {
        int64_t cell[3], bucket = 0;
        cells_of_point(grid, slices->own->space.lattice, points, i, cell);
        for (int k = 0; k < 3; k++)
            bucket += cells_bucket(grid, cell[k], k);
        slices->bucket[i] = (uint32_t)bucket;
    }
}

/* Collective: the grid, and the bucket of each of this rank's bodies. */
static kith_status find_buckets(struct slices *slices, struct cutoff_side *side)
{
    const struct forces_problem *own = slices->own;
    struct cells_bounds bounds = cells_bounds_empty();
    int64_t bad_row = -1;
    kith_status status = cutoff_side_wrap(slices->context, own, side, &bounds, &bad_row);
    if (status == KITH_OK && bad_row >= 0)
        status = cutoff_side_check(slices->first_row + bad_row, "sources");
    KITH_TRY(ranks_agree(slices->context, status));
    unite_bounds(slices->context, &bounds);
    cells_grid_choose(own->space.lattice, own->dtype, own->dimensions, own->space.cutoff, &bounds,
                      slices->part.all, &slices->part.grid);
    number(slices, &side->wrapped);
    return KITH_OK;
}

static kith_status wrap(struct slices *slices)
{
    struct cutoff_side side = {.count = slices->count, .position = slices->own->source_position};
    struct cutoff_arena arena = {0};
    void *memory = NULL;
    cutoff_side_lay_out(&arena, slices->own->dtype, &side);
    kith_status status = kith_allocate(arena.used, 1, what, &memory);
    if (status == KITH_OK)
        status = kith_allocate(slices->count, sizeof *slices->bucket, what, &slices->bucket);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK) {
        arena = (struct cutoff_arena){memory, 0};
        cutoff_side_lay_out(&arena, slices->own->dtype, &side);
        status = find_buckets(slices, &side);
    }
    free(memory);
    return status;
}

/* Collective: where the buckets of all bodies begin, in pieces of the table. */
static void count_all(struct slices *slices, unsigned long long counts[counts_at_once])
{
    const int64_t buckets = slices->part.grid.bucket_count;
    unsigned long long before = 0;
    for (int64_t i = 0; i < slices->count; i++)
        slices->before[slices->bucket[i]]++;
    for (int64_t at = 0; at < buckets; at += counts_at_once) {
        const int64_t count = buckets - at < counts_at_once ? buckets - at : counts_at_once;
        for (int64_t k = 0; k < count; k++)
            counts[k] = slices->before[at + k];
        ranks_add(slices->context, counts, count);
        for (int64_t k = 0; k < count; k++) {
            slices->before[at + k] = (uint32_t)before;
            before += counts[k];
        }
    }
    slices->before[buckets] = (uint32_t)before;
}

static kith_status count_buckets(struct slices *slices)
{
    unsigned long long *counts = NULL;
    kith_status status = kith_allocate(counts_at_once, sizeof *counts, what, &counts);
    if (status == KITH_OK)
        status = kith_allocate(slices->part.grid.bucket_count + 1, sizeof *slices->before, what,
                               &slices->before);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK)
        count_all(slices, counts);
    free(counts);
    return status;
}

/* The bucket of a body in the order of the cells. */
static int64_t bucket_of_slot(const struct slices *slices, int64_t slot)
{
    int64_t low = 0, high = slices->part.grid.bucket_count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if ((int64_t)slices->before[middle] <= slot)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t plane_of(const struct slices *slices, int64_t bucket)
{
    return bucket / slices->part.grid.stride[slices->axis];
}

/* The planes of a rank's targets, and those within reach. Where cells of a period share planes,
 * also those next to where the period ends. */
static void hold_planes(const struct slices *slices, int64_t first, int64_t last, bool *held)
{
    const struct cells_grid *grid = &slices->part.grid;
    const int64_t table = grid->table[slices->axis], reach = grid->reach[slices->axis];
    const int64_t period = grid->count[slices->axis];
    const int64_t low = plane_of(slices, first) - reach, high = plane_of(slices, last) + reach;
    for (int64_t plane = low; plane <= high && plane < low + table; plane++)
        held[plane - cells_floor_divided(plane, table) * table] = true;
    for (int64_t k = 0; period > table && k < reach; k++) {
        const int64_t end = period - 1 - k;
        held[k % table] = held[end - cells_floor_divided(end, table) * table] = true;
    }
}

static void hold_all(struct slices *slices)
{
    struct cutoff_part *part = &slices->part;
    const int64_t planes = part->grid.table[slices->axis];
    const struct ranks *ranks = slices->context->ranks;
    for (int32_t k = 0; k < ranks->size; k++) {
        const int64_t begin = part->tasks.firsts[k] * cutoff_targets_a_task;
        const int64_t end = part->tasks.firsts[k + 1] * cutoff_targets_a_task;
        const int64_t last = (end < part->all ? end : part->all) - 1;
        if (last >= begin)
            hold_planes(slices, bucket_of_slot(slices, begin), bucket_of_slot(slices, last),
                        slices->held + k * planes);
    }
    part->bucket = bucket_of_slot(slices, part->tasks.first < part->tasks.end
                                              ? part->tasks.first * cutoff_targets_a_task
                                              : 0);
    part->before = slices->before[part->bucket];
}

/* Which rank has which targets, and which planes. */
static kith_status divide(struct slices *slices)
{
    struct cutoff_part *part = &slices->part;
    const struct cells_grid *grid = &part->grid;
    const int64_t tasks = (part->all + cutoff_targets_a_task - 1) / cutoff_targets_a_task;
    slices->axis = grid->table[grid->order[0]] > 1 ? grid->order[0] : grid->order[1];
    KITH_TRY(tasks_create(slices->context, tasks, part->all, &part->tasks));
    KITH_TRY(kith_allocate(slices->context->ranks->size, grid->table[slices->axis], what,
                           &slices->held));
    for (int64_t bucket = 0; bucket < grid->bucket_count; bucket++) {
        const int64_t begin = slices->before[bucket], end = slices->before[bucket + 1];
        for (int64_t slot = begin; slot < end; slot++)
            part->tasks.work[slot / cutoff_targets_a_task] += (double)(end - begin);
    }
    tasks_divide(&part->tasks);
    hold_all(slices);
    free(slices->before);
    slices->before = NULL;
    return KITH_OK;
}

/* This rank's bodies that another has in its planes: their number, and their rows if `rows`. */
static int64_t list_sent(const struct slices *slices, int32_t rank, int32_t *rows)
{
    const bool *held = slices->held + rank * slices->part.grid.table[slices->axis];
    int64_t count = 0;
    for (int64_t i = 0; i < slices->count; i++)
        if (held[plane_of(slices, slices->bucket[i])]) {
            if (rows)
                rows[count] = (int32_t)i;
            count++;
        }
    return count;
}

static kith_status find_sent(struct slices *slices)
{
    const struct ranks *ranks = slices->context->ranks;
    int64_t *first = slices->out.first_sent;
    for (int32_t k = 0; k < ranks->size; k++)
        first[k + 1] = first[k] + list_sent(slices, k, NULL);
    KITH_TRY(kith_allocate(first[ranks->size], sizeof *slices->sent, what, &slices->sent));
    for (int32_t k = 0; k < ranks->size; k++)
        list_sent(slices, k, slices->sent + first[k]);
    return KITH_OK;
}

static void pick(int64_t real, const void *from, const int32_t *rows, int64_t count, void *to)
{
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)to + k * real, (const char *)from + rows[k] * real, (size_t)real);
}

/* Collective: a column of the bodies in this rank's planes. */
static void send_column(const struct slices *slices, const void *own, void *scratch, void *held)
{
    const int64_t real = kith_dtype_bytes(slices->own->dtype);
    pick(real, own, slices->sent, ranks_parcels_sent(&slices->out), scratch);
    ranks_parcels_exchange(&slices->out, real, scratch, held);
}

/* The first of the columns that are the same memory as column k. */
static int same_as(struct forces_problem *own, int k)
{
    int first = 0;
    while (*field_of(own, first) != *field_of(own, k))
        first++;
    return first;
}

static kith_status allocate_held(struct slices *slices, void **scratch)
{
    struct forces_problem own = *slices->own;
    const int64_t real = kith_dtype_bytes(own.dtype);
    const int64_t sent = ranks_parcels_sent(&slices->out);
    const int64_t held = kith_padded(ranks_parcels_received(&slices->out));
    KITH_TRY(kith_allocate(sent, sizeof(double), what, scratch));
    KITH_TRY(kith_allocate(held, sizeof *slices->origin, what, &slices->origin));
    KITH_TRY(kith_allocate(held, own.dimensions * real, what, &slices->position));
    KITH_TRY(kith_allocate(held, (own.dimensions + 1) * real, what, &slices->outputs));
    for (int k = 0; k < field_count; k++)
        if (*field_of(&own, k) && same_as(&own, k) == k)
            KITH_TRY(kith_allocate(held, real, what, &slices->field[k]));
    return KITH_OK;
}

static void exchange(struct slices *slices, void *scratch)
{
    struct forces_problem own = *slices->own, *problem = &slices->held_problem;
    const int64_t count = ranks_parcels_received(&slices->out);
    const int64_t bytes = kith_padded(count) * kith_dtype_bytes(own.dtype);
    *problem = own;
    problem->is_slice = false;
    problem->target_count = problem->source_count = count;
    ranks_parcels_exchange(&slices->out, sizeof *slices->sent, slices->sent, slices->origin);
    for (int c = 0; c < own.dimensions; c++) {
        char *column = (char *)slices->position + c * bytes;
        send_column(slices, own.source_position[c], scratch, column);
        problem->source_position[c] = problem->target_position[c] = column;
        if (own.acceleration[0])
            problem->acceleration[c] = (char *)slices->outputs + c * bytes;
    }
    if (own.potential)
        problem->potential = (char *)slices->outputs + own.dimensions * bytes;
    for (int k = 0; k < field_count; k++) {
        if (!*field_of(&own, k))
            continue;
        *field_of(problem, k) = slices->field[same_as(&own, k)];
        if (same_as(&own, k) == k)
            send_column(slices, *field_of(&own, k), scratch, slices->field[k]);
    }
}

/* Collective: the bodies in this rank's planes, in the order of their rows. */
static kith_status send_bodies(struct slices *slices)
{
    kith_context *context = slices->context;
    void *scratch = NULL;
    kith_status status = ranks_parcels_create(context->ranks, &slices->out);
    if (status == KITH_OK)
        status = find_sent(slices);
    KITH_TRY(ranks_agree(context, status));
    ranks_parcels_announce(&slices->out);
    status = ranks_agree(context, allocate_held(slices, &scratch));
    if (status == KITH_OK)
        exchange(slices, scratch);
    free(scratch);
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one > other) - (one < other);
}

/* This rank's targets, in the order in which they came: by their ranks, which are to get them. */
static kith_status find_home(struct slices *slices, int32_t **targets)
{
    const struct cutoff_part *part = &slices->part;
    const int32_t size = slices->context->ranks->size;
    const int64_t count = part->end - part->begin;
    int64_t *first = slices->home.first_sent, at = 0;
    KITH_TRY(kith_allocate(count, sizeof **targets, what, targets));
    for (int64_t k = 0; k < count; k++)
        (*targets)[k] = (int32_t)part->order[part->begin + k];
    if (count > 0)
        qsort(*targets, (size_t)count, sizeof **targets, compare_rows);
    for (int32_t k = 0; k < size; k++) {
        while (at < count && (*targets)[at] < slices->out.first_received[k + 1])
            at++;
        first[k + 1] = at;
    }
    return KITH_OK;
}

struct homing {
    int32_t *targets, *sent, *rows; /* of the planes; as they are sent, and what has come */
    char *out, *in;
};

static kith_status allocate_home(const struct slices *slices, struct homing *homing)
{
    const int64_t real = kith_dtype_bytes(slices->own->dtype);
    const int64_t sent = ranks_parcels_sent(&slices->home);
    const int64_t came = ranks_parcels_received(&slices->home);
    KITH_TRY(kith_allocate(sent, sizeof *homing->sent, what, &homing->sent));
    KITH_TRY(kith_allocate(came, sizeof *homing->rows, what, &homing->rows));
    KITH_TRY(kith_allocate(sent, real, what, &homing->out));
    return kith_allocate(came, real, what, &homing->in);
}

/* Collective: a column of results of this rank's bodies. */
static void bring_column(const struct slices *slices, const struct homing *homing, const void *held,
                         void *own)
{
    const int64_t real = kith_dtype_bytes(slices->own->dtype);
    if (!own)
        return;
    pick(real, held, homing->targets, ranks_parcels_sent(&slices->home), homing->out);
    ranks_parcels_exchange(&slices->home, real, homing->out, homing->in);
    for (int64_t k = 0; k < ranks_parcels_received(&slices->home); k++)
        memcpy((char *)own + homing->rows[k] * real, homing->in + k * real, (size_t)real);
}

static kith_status bring_home(struct slices *slices, struct homing *homing)
{
    const struct forces_problem *held = &slices->held_problem, *own = slices->own;
    kith_status status = ranks_parcels_create(slices->context->ranks, &slices->home);
    if (status == KITH_OK)
        status = find_home(slices, &homing->targets);
    KITH_TRY(ranks_agree(slices->context, status));
    ranks_parcels_announce(&slices->home);
    KITH_TRY(ranks_agree(slices->context, allocate_home(slices, homing)));
    pick(sizeof *homing->sent, slices->origin, homing->targets, ranks_parcels_sent(&slices->home),
         homing->sent);
    ranks_parcels_exchange(&slices->home, sizeof *homing->sent, homing->sent, homing->rows);
    for (int c = 0; c < own->dimensions; c++)
        bring_column(slices, homing, held->acceleration[c], own->acceleration[c]);
    bring_column(slices, homing, held->potential, own->potential);
    return KITH_OK;
}

/* Collective: the forces on this rank's targets, and those on its bodies from all ranks. */
static kith_status sum(struct slices *slices, struct cutoff_memory *memory)
{
    struct cutoff_law law = {0};
    struct homing homing = {0};
    kith_status status = cutoff_take_law(&slices->held_problem, &law);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK)
        status =
            forces_cutoff_part(slices->context, &slices->held_problem, &law, &slices->part, memory);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK)
        status = bring_home(slices, &homing);
    free(homing.targets);
    free(homing.sent);
    free(homing.rows);
    free(homing.out);
    free(homing.in);
    cutoff_drop_law(&law);
    return status;
}

static void free_all(struct slices *slices)
{
    tasks_free(&slices->part.tasks);
    ranks_parcels_free(&slices->out);
    ranks_parcels_free(&slices->home);
    free(slices->bucket);
    free(slices->before);
    free(slices->held);
    free(slices->sent);
    free(slices->origin);
    free(slices->position);
    free(slices->outputs);
    for (int k = 0; k < field_count; k++)
        free(slices->field[k]);
}

kith_status forces_cutoff_slices(kith_context *context, const struct forces_problem *own,
                                 struct cutoff_memory *memory)
{
    const struct ranks *ranks = context->ranks;
    struct slices slices = {.context = context, .own = own, .part.all = own->source_count};
    slices.first_row = ranks_first(own->source_count, ranks->size, ranks->rank);
    slices.count = ranks_first(own->source_count, ranks->size, ranks->rank + 1) - slices.first_row;
    kith_status status = wrap(&slices);
    if (status == KITH_OK)
        status = count_buckets(&slices);
    if (status == KITH_OK)
        status = ranks_agree(context, divide(&slices));
    if (status == KITH_OK)
        status = send_bodies(&slices);
    if (status == KITH_OK)
        status = sum(&slices, memory);
    free_all(&slices);
    return status;
}
