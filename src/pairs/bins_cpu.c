/* From the caller's rows to points in the order of their cells: wrapping, choosing a grid, and a
 * counting sort that keeps the order of the rows. */

#include <string.h>

#include "cells/lattice.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "pairs/arguments.h"
#include "pairs/search.h"
#include "pairs/stage.h"
#include "sort/sort.h"

/* A part may be as long as all rows. */
enum { most_parts = 64, rows_between_looks = 1 << 16 };

/* What a part of the rows has come to. */
struct bounds {
    double low[3], high[3]; /* of components in the basis */
    double radius;
    int64_t bad_row; /* the first row with a bad number or too far away, or −1 */
};

/* A step over the rows of a bin, in parts of about equal size. */
struct step {
    const kith_context *context;
    const struct pairs_search *search;
    struct pairs_bin *bin;
    kith_array rows, radii;
    int32_t parts;
    struct bounds bounds[most_parts];
};

static void rows_of_part(const struct step *step, int64_t part, int64_t *begin, int64_t *end)
{
    *begin = step->bin->count * part / step->parts;
    *end = step->bin->count * (part + 1) / step->parts;
}

/* Whether a part is to be left at this row. */
static bool stops_at(const struct step *step, int64_t row)
{
    return row % rows_between_looks == 0 && kith_context_stops(step->context);
}

static void store_unsorted(const struct pairs_problem *problem, struct pairs_bin *bin, int64_t row,
                           const double x[4])
{
    for (int c = 0; c < 4; c++)
        if (problem->dtype == KITH_F32)
            ((float *)bin->unsorted)[4 * row + c] = (float)x[c];
        else
            ((double *)bin->unsorted)[4 * row + c] = x[c];
}

/* False if the row is bad. */
static bool wrap_row(const struct step *step, int64_t row, struct bounds *bounds)
{
    const struct pairs_problem *problem = step->search->problem;
    const struct pairs_lattice *lattice = step->search->lattice;
    const double per_unit = 1 / problem->unit;
    double x[4] = {0};
    int32_t wraps[3];
    for (int32_t c = 0; c < problem->dimensions; c++)
        x[c] = pairs_get(step->rows, step->bin->first + row, c) * per_unit;
    if (!kith_array_is_none(step->radii))
        x[3] = pairs_get(step->radii, step->bin->first + row, 0) * per_unit;
    if (!isfinite(x[0] + x[1] + x[2]) || !(x[3] >= 0) || isinf(x[3]) ||
        !pairs_wrap(lattice, x, wraps))
        return false;
    for (int k = 0; k < 3; k++)
        if (!lattice->periodic[k]) {
            const double f = pairs_fraction(lattice, x, k);
            bounds->low[k] = f < bounds->low[k] ? f : bounds->low[k];
            bounds->high[k] = f > bounds->high[k] ? f : bounds->high[k];
        }
    bounds->radius = x[3] > bounds->radius ? x[3] : bounds->radius;
    store_unsorted(problem, step->bin, row, x);
    if (step->bin->wraps)
        memcpy(&step->bin->wraps[3 * row], wraps, sizeof wraps);
    return true;
}

static void wrap_part(void *argument, int64_t part)
{
    struct step *step = argument;
    struct bounds bounds = {
        {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0, -1};
    int64_t begin = 0, end = 0;
    rows_of_part(step, part, &begin, &end);
    for (int64_t row = begin; row < end && bounds.bad_row < 0 && !stops_at(step, row); row++)
        if (!wrap_row(step, row, &bounds))
            bounds.bad_row = row;
    step->bounds[part] = bounds;
}

static void number_part(void *argument, int64_t part)
{
    struct step *step = argument;
    const struct pairs_search *search = step->search;
    int32_t *histogram = step->bin->histogram + part * search->most_cells;
    int64_t begin = 0, end = 0;
    rows_of_part(step, part, &begin, &end);
    memset(histogram, 0, (size_t)step->bin->cell_count * sizeof *histogram);
    for (int64_t row = begin; row < end && !stops_at(step, row); row++) {
        double x[3];
        int64_t number = 0;
        pairs_unsorted_point(search, step->bin, row, x);
        for (int k = 0; k < 3; k++)
            if (search->grid.count[k] > 1)
                number += pairs_cell_of(&search->grid, pairs_fraction(search->lattice, x, k), k) *
                          search->stride[k];
        step->bin->cell[row] = (int32_t)number;
        histogram[number]++;
    }
}

/* Histograms become the places of each part's next point of a cell. */
static void add_up(struct step *step)
{
    struct pairs_bin *bin = step->bin;
    int32_t place = 0;
    for (int64_t cell = 0; cell < bin->cell_count; cell++) {
        bin->begin[cell] = place;
        for (int32_t part = 0; part < step->parts; part++) {
            int32_t *next = &bin->histogram[part * step->search->most_cells + cell];
            const int32_t count = *next;
            *next = place;
            place += count;
        }
    }
    bin->begin[bin->cell_count] = place;
}

static void place_part(void *argument, int64_t part)
{
    struct step *step = argument;
    struct pairs_bin *bin = step->bin;
    int32_t *next = bin->histogram + part * step->search->most_cells;
    int64_t begin = 0, end = 0;
    rows_of_part(step, part, &begin, &end);
    for (int64_t row = begin; row < end && !stops_at(step, row); row++)
        bin->index[next[bin->cell[row]]++] = (int32_t)row;
}

#define DEFINE_GATHER(real)                                                                        \
    static void gather_##real(struct pairs_bin *bin, bool radii, int64_t begin, int64_t end)       \
    {                                                                                              \
        const real *from = bin->unsorted;                                                          \
        real *x = bin->sorted[0], *y = bin->sorted[1], *z = bin->sorted[2];                        \
        real *radius = bin->sorted[3];                                                             \
        for (int64_t place = begin; place < end; place++) {                                        \
            const real *row = &from[4 * (int64_t)bin->index[place]];                               \
            x[place] = row[0];                                                                     \
            y[place] = row[1];                                                                     \
            z[place] = row[2];                                                                     \
            if (radii)                                                                             \
                radius[place] = row[3];                                                            \
            bin->index[place] += (int32_t)bin->first;                                              \
        }                                                                                          \
    }

DEFINE_GATHER(float)
DEFINE_GATHER(double)

static void gather_part(void *argument, int64_t part)
{
    struct step *step = argument;
    int64_t begin = 0, end = 0;
    rows_of_part(step, part, &begin, &end);
    const bool radii = !kith_array_is_none(step->radii);
    while (begin < end && !kith_context_stops(step->context)) {
        const int64_t stop = end - begin < rows_between_looks ? end : begin + rows_between_looks;
        if (step->search->problem->dtype == KITH_F32)
            gather_float(step->bin, radii, begin, stop);
        else
            gather_double(step->bin, radii, begin, stop);
        begin = stop;
    }
}

/* The points and the targets of a search, or the points alone if they are the targets. */
struct both {
    kith_context *context;
    struct pairs_search *search;
    int32_t threads;
    struct step steps[pairs_set_count];
    int32_t step_count;
};

static kith_status each_part(struct both *both, kith_task *task)
{
    for (int32_t k = 0; k < both->step_count; k++)
        KITH_TRY(kith_for_each(both->context, both->threads, both->steps[k].parts, task,
                               &both->steps[k]));
    return KITH_OK;
}

static void set_up(kith_context *context, struct pairs_search *search, int32_t threads,
                   struct both *both)
{
    const struct pairs_problem *problem = search->problem;
    *both = (struct both){context, search, threads, {{0}}, problem->two_sets ? 2 : 1};
    const int32_t parts = threads < most_parts ? threads : most_parts;
    both->steps[0] = (struct step){.context = context,
                                   .search = search,
                                   .bin = &search->points,
                                   .rows = problem->points,
                                   .radii = problem->point_radii,
                                   .parts = parts};
    both->steps[1] = (struct step){.context = context,
                                   .search = search,
                                   .bin = &search->targets,
                                   .rows = problem->targets,
                                   .radii = problem->target_radii,
                                   .parts = parts};
}

static kith_status fail_at_row(const struct step *step, bool queries, int64_t row)
{
    const int64_t at = step->bin->first + row;
    for (int64_t c = 0; c < step->rows.shape[1]; c++)
        if (!isfinite(pairs_get(step->rows, at, c)))
            return pairs_fail_at_number(queries ? "queries" : "positions", at,
                                        pairs_get(step->rows, at, c), false);
    if (!kith_array_is_none(step->radii)) {
        const double radius = pairs_get(step->radii, at, 0);
        if (!isfinite(radius) || radius < 0)
            return pairs_fail_at_number(queries ? "query_radii" : "radii", at, radius, true);
    }
    return pairs_fail_at_far_point(queries ? "queries" : "positions", at);
}

/* Joins the parts' bounds; of both sets if all is well. */
static kith_status join_bounds(const struct both *both, struct bounds *joined)
{
    double radius[pairs_set_count] = {0};
    *joined = both->steps[0].bounds[0];
    for (int32_t set = 0; set < both->step_count; set++)
        for (int32_t part = 0; part < both->steps[set].parts; part++) {
            const struct bounds *bounds = &both->steps[set].bounds[part];
            if (bounds->bad_row >= 0)
                return fail_at_row(&both->steps[set], set == 1, bounds->bad_row);
            for (int k = 0; k < 3; k++) {
                joined->low[k] = fmin(joined->low[k], bounds->low[k]);
                joined->high[k] = fmax(joined->high[k], bounds->high[k]);
            }
            radius[set] = fmax(radius[set], bounds->radius);
        }
    joined->radius = radius[0] + radius[both->step_count - 1];
    for (int k = 0; k < 3; k++)
        if (!(joined->low[k] <= joined->high[k])) /* periodic, or no points */
            joined->low[k] = joined->high[k] = 0;
    return KITH_OK;
}

/* Medians of some points' components in the basis. */
static void find_typical(const struct pairs_search *search, double typical[3])
{
    enum { most_samples = 65 };
    const int64_t count = search->points.count;
    const int64_t samples = count < most_samples ? count : most_samples;
    for (int k = 0; k < 3; k++) {
        double sample[most_samples] = {0};
        for (int64_t s = 0; s < samples; s++) {
            double x[3];
            pairs_unsorted_point(search, &search->points, s * count / samples, x);
            sample[s] = pairs_fraction(search->lattice, x, k);
        }
        sort_reals(samples, sample);
        typical[k] = sample[samples / 2];
    }
}

/* Makes cells large enough that their number fits the memory. Returns whether they had to be made
 * larger. */
static bool choose_grid(struct pairs_search *search, double edge, double reach,
                        const struct bounds *bounds)
{
    bool enlarged = false;
    for (;;) {
        search->grid =
            pairs_grid_choose(search->lattice, edge, reach, bounds->low, bounds->high, bounds->low);
        if (search->grid.total <= (double)search->most_cells)
            break;
        edge *= fmax(1.1, cbrt(search->grid.total / (double)search->most_cells));
        enlarged = true;
    }
    pairs_number_cells(search);
    search->points.cell_count = search->targets.cell_count = (int64_t)search->grid.total;
    return enlarged;
}

/* Points that meet each other in cells, against points. */
static bool is_crowded(const struct pairs_bin *bin)
{
    const double most_for_each = 64;
    double together = 0;
    for (int64_t cell = 0; cell < bin->cell_count; cell++) {
        const double count = bin->begin[cell + 1] - bin->begin[cell];
        together += count * count;
    }
    return together > most_for_each * (double)bin->count;
}

/* The distance within which points are looked for, and the cells' edges. */
static void choose_lengths(const struct pairs_search *search, const struct bounds *bounds,
                           double *edge, double *reach)
{
    const struct pairs_problem *problem = search->problem;
    double largest = 0;
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fmax(fabs(bounds->low[k]), fabs(bounds->high[k])));
    *reach = pairs_safe_distance(search->lattice, problem->dtype, problem->cutoff + bounds->radius,
                                 largest);
    *edge = *reach;
    if (problem->method == KITH_PAIRS_BRUTE_FORCE ||
        (problem->method == KITH_PAIRS_AUTO && search->points.count <= 16))
        *edge = INFINITY;
}

kith_status pairs_bin_system(kith_context *context, struct pairs_search *search, int32_t threads,
                             bool alone)
{
    struct both both;
    struct bounds bounds;
    double edge = 0, reach = 0;
    set_up(context, search, threads, &both);
    KITH_TRY(each_part(&both, wrap_part));
    KITH_TRY(join_bounds(&both, &bounds));
    choose_lengths(search, &bounds, &edge, &reach);
    KITH_TRY(pairs_check_images(search->lattice, reach, search->problem->unit));
    const bool enlarged = choose_grid(search, edge, reach, &bounds);
    KITH_TRY(each_part(&both, number_part));
    for (int32_t k = 0; k < both.step_count; k++)
        add_up(&both.steps[k]);
    search->crowded = enlarged && is_crowded(&search->points);
    if (search->crowded && !alone)
        return KITH_OK;
    if (search->crowded) {
        double typical[3];
        find_typical(search, typical);
        KITH_TRY(pairs_bin_sparsely(context, threads, search, edge, reach, bounds.low, bounds.high,
                                    typical));
        KITH_TRY(each_part(&both, gather_part));
        pairs_keep_occupied(search);
    } else {
        KITH_TRY(each_part(&both, place_part));
        KITH_TRY(each_part(&both, gather_part));
    }
    if (!search->problem->two_sets)
        search->targets = search->points;
    return KITH_OK;
}
