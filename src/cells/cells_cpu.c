/* Hashed cell lists on the CPU: wrapping, numbering, and a sort by buckets. */

#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "sort/sort.h"

/* Parts depend on nothing but the number of points, and are inspected in their order. */
enum { rows_a_part = 1 << 14 };

/* Work of a thread per second; decides how many threads to wake. */
static const double rows_a_second = 5e7;

static int64_t part_count(int64_t count)
{
    return (count + rows_a_part - 1) / rows_a_part;
}

static kith_status for_parts(kith_context *context, int64_t count, kith_task *task, void *argument)
{
    return kith_for_each(context, kith_threads_for(context, (double)count / rows_a_second),
                         part_count(count), task, argument);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct part_bounds {
    struct cells_bounds bounds;
    int64_t bad_row;
};

struct wrapping {
    kith_array positions;
    const struct pairs_lattice *lattice;
    struct cells_points *points;
    struct part_bounds *parts;
};

static double get(kith_array array, int64_t row, int64_t column)
{
    const int64_t at = row * array.strides[0] + column * array.strides[1];
    return array.dtype == KITH_F32 ? (double)((const float *)array.data)[at]
                                   : ((const double *)array.data)[at];
}

/* What is stored is rounded to the dtype, and so are the bounds. */
static void store(struct cells_points *points, int64_t row, double x[3])
{
    for (int c = 0; c < 3; c++)
        if (points->dtype == KITH_F32) {
            ((float *)points->position[c])[row] = (float)x[c];
            x[c] = (double)(float)x[c];
        } else {
            ((double *)points->position[c])[row] = x[c];
        }
}

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

static double greatest_of(double a, double b)
{
    return a > b ? a : b;
}

static void widen(const struct pairs_lattice *lattice, const double x[3],
                  struct cells_bounds *bounds)
{
    const double largest = greatest_of(fabs(x[0]), greatest_of(fabs(x[1]), fabs(x[2])));
    bounds->largest = greatest_of(bounds->largest, largest);
    for (int k = 0; k < 3; k++) {
        if (lattice->periodic[k])
            continue;
        const double fraction = pairs_fraction(lattice, x, k);
        bounds->low[k] = least_of(bounds->low[k], fraction);
        bounds->high[k] = greatest_of(bounds->high[k], fraction);
    }
}

static void join(struct cells_bounds *bounds, const struct cells_bounds *other)
{
    bounds->largest = greatest_of(bounds->largest, other->largest);
    for (int k = 0; k < 3; k++) {
        bounds->low[k] = least_of(bounds->low[k], other->low[k]);
        bounds->high[k] = greatest_of(bounds->high[k], other->high[k]);
    }
}

static void wrap_part(void *argument, int64_t part)
{
    const struct wrapping *wrapping = argument;
    const int64_t begin = part * rows_a_part;
    const int64_t end = least(begin + rows_a_part, wrapping->points->count);
    struct part_bounds found = {cells_bounds_empty(), -1};
    for (int64_t row = begin; row < end && found.bad_row < 0; row++) {
        const kith_array from = wrapping->positions;
        const int64_t axes = from.shape[1];
        double x[3] = {get(from, row, 0), axes > 1 ? get(from, row, 1) : 0,
                       axes > 2 ? get(from, row, 2) : 0};
        int32_t wraps[3];
        if (!isfinite(x[0] + x[1] + x[2]) || !pairs_wrap(wrapping->lattice, x, wraps)) {
            found.bad_row = row;
            break;
        }
        store(wrapping->points, row, x);
        widen(wrapping->lattice, x, &found.bounds);
    }
    wrapping->parts[part] = found;
}

kith_status cells_wrap_cpu(kith_context *context, kith_array positions,
                           const struct pairs_lattice *lattice, struct cells_points *points,
                           struct cells_bounds *bounds, int64_t *bad_row)
{
    struct wrapping wrapping = {positions, lattice, points, NULL};
    const int64_t parts = part_count(points->count);
    *bad_row = -1;
    KITH_TRY(kith_allocate(parts, sizeof *wrapping.parts, "the bounds of points", &wrapping.parts));
    const kith_status status = for_parts(context, points->count, wrap_part, &wrapping);
    for (int64_t part = 0; part < parts && status == KITH_OK && *bad_row < 0; part++) {
        *bad_row = wrapping.parts[part].bad_row;
        join(bounds, &wrapping.parts[part].bounds);
    }
    free(wrapping.parts);
    return status;
}

struct numbering {
    const struct cells_grid *grid;
    const struct pairs_lattice *lattice;
    const struct cells_points *points;
    uint64_t *keys;
    int32_t *begin;
};

static void number_part(void *argument, int64_t part)
{
    const struct numbering *numbering = argument;
    const int64_t begin = part * rows_a_part;
    const int64_t end = least(begin + rows_a_part, numbering->points->count);
    for (int64_t row = begin; row < end; row++) {
        int64_t cell[3], bucket = 0;
        cells_of_point(numbering->grid, numbering->lattice, numbering->points, row, cell);
        for (int k = 0; k < 3; k++)
            bucket += cells_bucket(numbering->grid, cell[k], k);
        numbering->keys[row] = (uint64_t)bucket;
    }
}

/* Each part writes where the buckets begin whose first point it has. */
static void begin_part(void *argument, int64_t part)
{
    const struct numbering *numbering = argument;
    const uint64_t *keys = numbering->keys;
    const int64_t count = numbering->points->count, first = part * rows_a_part;
    const int64_t end = least(first + rows_a_part, count);
    int64_t bucket = first == 0 ? 0 : (int64_t)keys[first - 1] + 1;
    for (int64_t k = first; k < end; k++)
        for (; bucket <= (int64_t)keys[k]; bucket++)
            numbering->begin[bucket] = (int32_t)k;
    for (; end == count && bucket <= numbering->grid->bucket_count; bucket++)
        numbering->begin[bucket] = (int32_t)count;
}

static int32_t bits_of(int64_t count)
{
    int32_t bits = 1;
    while (count >> bits)
        bits++;
    return bits;
}

static int64_t keys_bytes(int64_t count)
{
    return kith_padded(count) * (int64_t)sizeof(uint64_t);
}

int64_t cells_sort_scratch_bytes(int64_t count)
{
    return keys_bytes(count) + sort_scratch_bytes(count);
}

kith_status cells_sort_cpu(kith_context *context, const struct cells_grid *grid,
                           const struct pairs_lattice *lattice, const struct cells_points *points,
                           uint32_t *order, int32_t *begin, void *scratch)
{
    struct numbering numbering = {grid, lattice, points, scratch, begin};
    if (points->count == 0) {
        if (begin)
            memset(begin, 0, (size_t)(grid->bucket_count + 1) * sizeof *begin);
        return KITH_OK;
    }
    KITH_TRY(for_parts(context, points->count, number_part, &numbering));
    KITH_TRY(sort_keys_cpu(context, points->count, bits_of(grid->bucket_count), numbering.keys,
                           order, (char *)scratch + keys_bytes(points->count)));
    return begin ? for_parts(context, points->count, begin_part, &numbering) : KITH_OK;
}
