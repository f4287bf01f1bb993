/* Particles in the order of their cells, on the CPU. */

#include "sums/arrange.h"

#include "device/context.h"
#include "device/threads.h"
#include "sums/columns.h"

/* Rows of a step that rearranges particles. */
enum { rows_a_part = 1 << 14 };

/* Work of a thread per second; decides how many threads to wake. */
static const double rows_a_second = 1e8;

static void lay_out_points(struct arena *arena, const struct sums_problem *problem, int64_t count,
                           struct cells_points *points)
{
    points->count = count;
    points->dtype = problem->dtype;
    for (int c = 0; c < 3; c++)
        points->position[c] =
            arena_take(arena, count + sums_padding, kith_dtype_bytes(problem->dtype));
}

/* The points of a side, and their order. */
static void lay_out_order(struct arena *arena, const struct sums_arranged *arranged,
                          struct sums_arranged_side *arranged_side)
{
    const int64_t n = arranged_side->side->count;
    lay_out_points(arena, arranged->problem, n, &arranged_side->wrapped);
    arranged_side->points = arranged_side->wrapped;
    if (!arranged->has_cells)
        return;
    lay_out_points(arena, arranged->problem, n, &arranged_side->points);
    arranged_side->order = arena_take(arena, n, sizeof *arranged_side->order);
}

static void lay_out_columns(struct arena *arena, const struct sums_arranged *arranged,
                            const bool *uses, bool as_records,
                            struct sums_arranged_side *arranged_side)
{
    const int64_t n = arranged_side->side->count;
    const int64_t real = kith_dtype_bytes(arranged->problem->dtype);
    arranged_side->columns = sums_column_count(uses) + sums_more_axes(arranged->problem);
    if (as_records) {
        arranged_side->fields =
            sums_fields_of_record(sums_coordinates(arranged->problem), arranged_side->columns);
        arranged_side->records = arena_take(arena, n * arranged_side->fields, real);
        return;
    }
    for (int32_t c = 0; c < arranged_side->columns; c++)
        arranged_side->column[c] = arena_take(arena, n + sums_padding, real);
}

void sums_arrange_lay_out(struct arena *arena, struct sums_arranged *arranged)
{
    const struct sums_problem *problem = arranged->problem;
    struct sums_arranged_side *sources = &arranged->sources, *targets = &arranged->targets;
    const int64_t n = problem->targets.count, m = problem->sources.count;
    *sources = (struct sums_arranged_side){.side = &problem->sources};
    *targets = (struct sums_arranged_side){.side = &problem->targets};
    lay_out_order(arena, arranged, sources);
    if (problem->same) {
        targets->wrapped = sources->wrapped;
        targets->points = sources->points;
        targets->order = sources->order;
    } else {
        lay_out_order(arena, arranged, targets);
    }
    lay_out_columns(arena, arranged, problem->formulas->uses_j, arranged->has_records, sources);
    lay_out_columns(arena, arranged, problem->formulas->uses_i, false, targets);
    if (!arranged->has_cells)
        return;
    arranged->begin = arena_take(arena, cells_most_buckets(m) + 1, sizeof *arranged->begin);
    arranged->scratch = arena_take(arena, cells_sort_scratch_bytes(n > m ? n : m), 1);
}

static kith_status wrap_side(kith_context *context, const struct sums_arranged *arranged,
                             struct sums_arranged_side *arranged_side, struct cells_bounds *bounds)
{
    const struct sums_problem *problem = arranged->problem;
    const struct pairs_lattice as_they_are = {.periodic = {false}};
    kith_array positions = arranged_side->side->positions;
    int64_t bad_row = -1;
    positions.shape[1] -= sums_more_axes(problem);
    KITH_TRY(cells_wrap_cpu(context, positions,
                            problem->list.offsets ? &as_they_are : &problem->lattice,
                            &arranged_side->wrapped, bounds, &bad_row));
    return bad_row >= 0 ? sums_fail_at_row(arranged_side->side, bad_row) : KITH_OK;
}

/* A step over the slots of a side. */
struct arranging {
    const struct sums_problem *problem;
    struct sums_arranged_side *side;
    const bool *uses;
    bool moves_points;
};

#define DEFINE_ARRANGE(real)                                                                       \
    static void arrange_points_##real(struct sums_arranged_side *side, int64_t begin, int64_t end) \
    {                                                                                              \
        for (int c = 0; c < 3; c++) {                                                              \
            const real *from = side->wrapped.position[c];                                          \
            real *to = side->points.position[c];                                                   \
            for (int64_t slot = begin; slot < end; slot++)                                         \
                to[slot] = from[side->order[slot]];                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void start_records_##real(struct sums_arranged_side *side, int coordinates,             \
                                     int64_t begin, int64_t end)                                   \
    {                                                                                              \
        const int64_t fields = side->fields;                                                       \
        for (int64_t slot = begin; slot < end; slot++) {                                           \
            real *record = (real *)side->records + slot * fields;                                  \
            for (int c = 0; c < coordinates; c++)                                                  \
                record[c] = ((const real *)side->points.position[c])[slot];                        \
            for (int64_t field = coordinates; field < fields; field++)                             \
                record[field] = 0;                                                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void arrange_column_##real(const struct sums_arranged_side *side, kith_array from,      \
                                      real *to, int64_t stride, int64_t begin, int64_t end)        \
    {                                                                                              \
        const real *values = from.data;                                                            \
        for (int64_t slot = begin; slot < end; slot++)                                             \
            to[slot * stride] = values[sums_row_of(side, slot) * from.strides[0]];                 \
    }

DEFINE_ARRANGE(float)
DEFINE_ARRANGE(double)

/* Column `number` of those that are used, to its field of the records or to a column. */
static void arrange_column(const struct arranging *arranging, kith_array from, int32_t number,
                           int64_t begin, int64_t end)
{
    const struct sums_arranged_side *side = arranging->side;
    const int64_t stride = side->records ? side->fields : 1;
    const int64_t field =
        side->records ? sums_field_of_column(sums_coordinates(arranging->problem), number) : 0;
    void *to = side->records ? side->records : side->column[number];
    if (arranging->problem->dtype == KITH_F32)
        arrange_column_float(side, from, (float *)to + field, stride, begin, end);
    else
        arrange_column_double(side, from, (double *)to + field, stride, begin, end);
}

static void arrange_part(void *argument, int64_t part)
{
    const struct arranging *arranging = argument;
    struct sums_arranged_side *side = arranging->side;
    const bool narrow = arranging->problem->dtype == KITH_F32;
    const int64_t begin = part * rows_a_part, count = side->points.count;
    const int64_t end = begin + rows_a_part < count ? begin + rows_a_part : count;
    if (arranging->moves_points)
        (narrow ? arrange_points_float : arrange_points_double)(side, begin, end);
    if (side->records)
        (narrow ? start_records_float
                : start_records_double)(side, sums_coordinates(arranging->problem), begin, end);
    int32_t number = 0;
    for (int32_t k = 0; k < formula_most_columns; k++)
        if (arranging->uses[k])
            arrange_column(arranging, side->side->column[k], number++, begin, end);
    for (int32_t axis = 0; axis < sums_more_axes(arranging->problem); axis++)
        arrange_column(arranging, sums_axis(side->side, axis), number++, begin, end);
}

static kith_status arrange_side(kith_context *context, const struct sums_arranged *arranged,
                                struct sums_arranged_side *side, const bool *uses, bool has_points)
{
    struct arranging arranging = {arranged->problem, side, uses,
                                  arranged->has_cells && !has_points};
    const int64_t count = side->points.count;
    if (!arranging.moves_points && side->columns == 0 && !side->records)
        return KITH_OK;
    return kith_for_each(context, kith_threads_for(context, (double)count / rows_a_second),
                         (count + rows_a_part - 1) / rows_a_part, arrange_part, &arranging);
}

static kith_status sort_sides(kith_context *context, struct sums_arranged *arranged,
                              const struct cells_bounds *bounds)
{
    const struct sums_problem *problem = arranged->problem;
    const struct pairs_lattice *lattice = &problem->lattice;
    arranged->search =
        pairs_safe_distance(lattice, problem->dtype, problem->cutoff, bounds->largest);
    cells_grid_choose(lattice, problem->dtype, problem->dimensions, problem->cutoff, bounds,
                      problem->sources.count, &arranged->grid);
    KITH_TRY(cells_sort_cpu(context, &arranged->grid, lattice, &arranged->sources.wrapped,
                            arranged->sources.order, arranged->begin, arranged->scratch));
    return problem->same
               ? KITH_OK
               : cells_sort_cpu(context, &arranged->grid, lattice, &arranged->targets.wrapped,
                                arranged->targets.order, NULL, arranged->scratch);
}

kith_status sums_arrange(kith_context *context, struct sums_arranged *arranged)
{
    const struct sums_problem *problem = arranged->problem;
    struct cells_bounds bounds = cells_bounds_empty();
    if (!problem->same)
        KITH_TRY(wrap_side(context, arranged, &arranged->targets, &bounds));
    KITH_TRY(wrap_side(context, arranged, &arranged->sources, &bounds));
    KITH_TRY(sums_check_columns(problem, &problem->targets));
    KITH_TRY(sums_check_columns(problem, &problem->sources));
    if (problem->dimensions > 3 || bounds.largest > sums_largest_coordinate(problem))
        KITH_TRY(sums_check_distances(problem));
    if (arranged->has_cells)
        KITH_TRY(sort_sides(context, arranged, &bounds));
    KITH_TRY(arrange_side(context, arranged, &arranged->sources, problem->formulas->uses_j, false));
    return arrange_side(context, arranged, &arranged->targets, problem->formulas->uses_i,
                        problem->same);
}
