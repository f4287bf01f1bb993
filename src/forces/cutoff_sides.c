#include "forces/cutoff_sides.h"

#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"

enum { rows_a_part = 1 << 14 };

static const double rows_a_second = 1e8;

void *cutoff_arena_take(struct cutoff_arena *arena, int64_t count, int64_t bytes_each)
{
    void *memory = arena->base ? arena->base + arena->used : NULL;
    arena->used += kith_padded(count * bytes_each + kith_padding);
    return memory;
}

static void lay_out_points(struct cutoff_arena *arena, kith_dtype dtype, int64_t count,
                           struct cells_points *points)
{
    points->count = count;
    points->dtype = dtype;
    for (int c = 0; c < 3; c++)
        points->position[c] = cutoff_arena_take(arena, count, kith_dtype_bytes(dtype));
}

void cutoff_side_lay_out(struct cutoff_arena *arena, kith_dtype dtype, struct cutoff_side *side)
{
    lay_out_points(arena, dtype, side->count, &side->wrapped);
    lay_out_points(arena, dtype, side->count, &side->points);
    side->order = cutoff_arena_take(arena, side->count, sizeof *side->order);
    for (int k = 0; k < cutoff_column_count; k++)
        side->column[k] =
            side->from[k] ? cutoff_arena_take(arena, side->count, kith_dtype_bytes(dtype)) : NULL;
}

/* Positions as an array: the columns of a problem are equally far apart. */
static kith_array positions_of(const struct forces_problem *problem, const struct cutoff_side *side)
{
    const kith_dtype dtype = problem->dtype;
    kith_array array =
        kith_array_matrix((void *)side->position[0], dtype, side->count, problem->dimensions);
    array.strides[0] = 1;
    array.strides[1] = ((const char *)side->position[1] - (const char *)side->position[0]) /
                       kith_dtype_bytes(dtype);
    return array;
}

kith_status cutoff_side_wrap(kith_context *context, const struct forces_problem *problem,
                             struct cutoff_side *side, struct cells_bounds *bounds,
                             int64_t *bad_row)
{
    return cells_wrap_cpu(context, positions_of(problem, side), problem->space.lattice,
                          &side->wrapped, bounds, bad_row);
}

kith_status cutoff_side_check(int64_t bad_row, const char *name)
{
    if (bad_row >= 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "row %lld of %s.positions is not finite or more than 2^30 cells away; "
                         "give positions near the cell",
                         (long long)bad_row, name);
    return KITH_OK;
}

#define DEFINE_ARRANGE(real)                                                                       \
    static void arrange_##real(const void *from, const uint32_t *order, int64_t begin,             \
                               int64_t end, void *to)                                              \
    {                                                                                              \
        for (int64_t slot = begin; slot < end; slot++)                                             \
            ((real *)to)[slot] = ((const real *)from)[order[slot]];                                \
    }
DEFINE_ARRANGE(float)
DEFINE_ARRANGE(double)

static void arrange_part(void *argument, int64_t part)
{
    const struct cutoff_side *side = argument;
    const int64_t begin = part * rows_a_part, left = side->count - begin;
    const int64_t end = begin + (left < rows_a_part ? left : rows_a_part);
    void (*arrange)(const void *, const uint32_t *, int64_t, int64_t, void *) =
        side->points.dtype == KITH_F32 ? arrange_float : arrange_double;
    for (int c = 0; c < 3; c++)
        arrange(side->wrapped.position[c], side->order, begin, end, side->points.position[c]);
    for (int k = 0; k < cutoff_column_count; k++)
        if (side->from[k])
            arrange(side->from[k], side->order, begin, end, side->column[k]);
}

/* Points and columns by slot, once these have rows. */
static kith_status arrange(kith_context *context, struct cutoff_side *side)
{
    return kith_for_each(context, kith_threads_for(context, (double)side->count / rows_a_second),
                         (side->count + rows_a_part - 1) / rows_a_part, arrange_part, side);
}

kith_status cutoff_side_sort(kith_context *context, const struct forces_problem *problem,
                             const struct cells_grid *grid, int32_t *begin, void *scratch,
                             struct cutoff_side *side)
{
    KITH_TRY(cells_sort_cpu(context, grid, problem->space.lattice, &side->wrapped, side->order,
                            begin, scratch));
    return arrange(context, side);
}

kith_status cutoff_side_follow(kith_context *context, const struct cutoff_side *sources,
                               struct cutoff_side *targets)
{
    memcpy(targets->order, sources->order, (size_t)targets->count * sizeof *targets->order);
    targets->wrapped = sources->wrapped;
    return arrange(context, targets);
}
