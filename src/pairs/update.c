/* Verlet lists: a list with a skin is kept as long as no point has moved by more than half of it.
 */

#include "pairs/update.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "core/team.h"
#include "pairs/memory.h"
#include "pairs/stage.h"

enum { rows_of_task = 8192 };
static const double seconds_of_row = 2e-9, seconds_of_pair = 4e-9;

static bool same_shape(kith_array a, kith_array b)
{
    return a.ndim == b.ndim && a.dtype == b.dtype && a.device.kind == b.device.kind &&
           a.device.index == b.device.index &&
           (a.ndim == 0 || (a.shape[0] == b.shape[0] && (a.ndim == 1 || a.shape[1] == b.shape[1])));
}

static bool same_options(const kith_pairs_options *a, const kith_pairs_options *b)
{
    return a->cutoff == b->cutoff && a->skin == b->skin && a->quantities == b->quantities &&
           a->half == b->half && a->unsorted == b->unsorted && a->narrow == b->narrow &&
           a->memory_limit == b->memory_limit && a->method == b->method &&
           same_shape(a->queries, b->queries) && same_shape(a->radii, b->radii) &&
           same_shape(a->query_radii, b->query_radii) &&
           same_shape(a->exclusion_offsets, b->exclusion_offsets) &&
           same_shape(a->exclusions, b->exclusions) &&
           same_shape(a->system_offsets, b->system_offsets) &&
           same_shape(a->query_system_offsets, b->query_system_offsets);
}

static int64_t offsets_bytes(kith_array offsets)
{
    return kith_array_is_none(offsets) ? 0 : offsets.shape[0] * (int64_t)sizeof(int64_t);
}

/* The cells and the offsets of systems after each other. */
static int64_t cells_bytes(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    const int64_t cells =
        arguments->cell ? pairs_system_count(arguments) * (int64_t)sizeof(kith_cell) : 0;
    return cells + offsets_bytes(options->system_offsets) +
           offsets_bytes(options->query_system_offsets);
}

/* Compares or stores one of them; a cell's padding is nobody's. */
static bool visit(char **at, const void *now, int64_t bytes, bool store)
{
    char *begin = *at;
    *at += bytes;
    if (bytes == 0)
        return true;
    if (store)
        memcpy(begin, now, (size_t)bytes);
    return store || memcmp(begin, now, (size_t)bytes) == 0;
}

static bool visit_cells(const struct pairs_arguments *arguments, char *at, bool store)
{
    const kith_pairs_options *options = &arguments->options;
    bool same = true;
    for (int64_t s = 0; arguments->cell && s < pairs_system_count(arguments); s++) {
        const kith_cell *cell = &arguments->cell[s];
        same = visit(&at, cell->vectors, sizeof cell->vectors, store) && same;
        same = visit(&at, cell->periodic, sizeof cell->periodic, store) && same;
    }
    same =
        visit(&at, options->system_offsets.data, offsets_bytes(options->system_offsets), store) &&
        same;
    return visit(&at, options->query_system_offsets.data,
                 offsets_bytes(options->query_system_offsets), store) &&
           same;
}

static bool same_problem(const struct pairs_arguments *arguments, const struct pairs_kept *kept)
{
    return kept->valid && same_options(&arguments->options, &kept->options) &&
           same_shape(arguments->positions, kept->shape) &&
           (arguments->cell != NULL) == kept->has_cell &&
           visit_cells(arguments, kept->cells.data, false);
}

static int64_t dense_bytes(kith_array array)
{
    return kith_array_is_none(array)
               ? 0
               : array.shape[0] * array.shape[1] * kith_dtype_bytes(array.dtype);
}

/* Remembers what the list was made of. */
static kith_status keep(const struct pairs_arguments *arguments, struct pairs_kept *kept)
{
    const kith_array queries = arguments->options.queries;
    const int64_t bytes = dense_bytes(arguments->positions);
    KITH_TRY(pairs_host_buffer_grow(&kept->cells, cells_bytes(arguments) + 1, "the cells"));
    KITH_TRY(pairs_host_buffer_grow(&kept->positions, bytes + dense_bytes(queries) + 1,
                                    "the positions of a list's making"));
    visit_cells(arguments, kept->cells.data, true);
    pairs_copy_dense(arguments->positions, kept->positions.data);
    if (!kith_array_is_none(queries))
        pairs_copy_dense(queries, (char *)kept->positions.data + bytes);
    kept->options = arguments->options;
    kept->shape = arguments->positions;
    kept->has_cell = arguments->cell != NULL;
    kept->valid = true;
    return KITH_OK;
}

/* Points now and then, for the tasks that look how far they have gone. */
struct movement {
    kith_array now, then;
    double limit2;
    atomic_bool far;
};

static void look(void *argument, int64_t task)
{
    struct movement *movement = argument;
    const int64_t rows = movement->now.shape[0], begin = task * rows_of_task;
    const int64_t end = begin + rows_of_task < rows ? begin + rows_of_task : rows;
    double largest = 0;
    for (int64_t row = begin; row < end; row++) {
        double r2 = 0;
        for (int64_t c = 0; c < movement->now.shape[1]; c++) {
            const double d = pairs_get(movement->now, row, c) - pairs_get(movement->then, row, c);
            r2 += d * d;
        }
        largest = r2 <= largest ? largest : r2; /* keeps NaN */
    }
    if (!(largest <= movement->limit2))
        atomic_store_explicit(&movement->far, true, memory_order_relaxed);
}

static bool has_moved(kith_context *context, kith_array now, void *then, double most)
{
    struct movement movement = {
        .now = now,
        .then = kith_array_matrix(then, now.dtype, now.shape[0], now.shape[1]),
        .limit2 = most * most,
    };
    const int64_t rows = now.shape[0];
    kith_for_each(context, kith_threads_for(context, (double)rows * seconds_of_row),
                  (rows + rows_of_task - 1) / rows_of_task, look, &movement);
    return atomic_load(&movement.far);
}

static bool may_be_kept(const struct pairs_arguments *arguments, const struct pairs_kept *kept)
{
    const kith_array positions = arguments->positions, queries = arguments->options.queries;
    const double most = arguments->options.skin / 2;
    if (!same_problem(arguments, kept))
        return false;
    if (has_moved(arguments->context, positions, kept->positions.data, most))
        return false;
    return kith_array_is_none(queries) ||
           !has_moved(arguments->context, queries,
                      (char *)kept->positions.data + dense_bytes(positions), most);
}

/* The rows of a kept list whose vectors and distances a task brings up to date. */
struct refreshing {
    const struct pairs_arguments *arguments;
    kith_pairs *pairs;
};

static int64_t index_at(kith_array indices, int64_t p)
{
    return indices.dtype == KITH_I32 ? ((const int32_t *)indices.data)[p]
                                     : ((const int64_t *)indices.data)[p];
}

static void store(kith_array array, int64_t at, double value)
{
    if (array.dtype == KITH_F32)
        ((float *)array.data)[at] = (float)value;
    else
        ((double *)array.data)[at] = value;
}

static void refresh_pair(const struct refreshing *refreshing, const kith_cell *cell, int64_t i,
                         int64_t p)
{
    const kith_array positions = refreshing->arguments->positions;
    const kith_array targets = pairs_targets(refreshing->arguments);
    const kith_pairs *pairs = refreshing->pairs;
    const int64_t j = index_at(pairs->j, p), dimensions = positions.shape[1];
    const int32_t *shift = (const int32_t *)pairs->shifts.data + p * dimensions;
    double r2 = 0;
    for (int64_t c = 0; c < dimensions; c++) {
        double d = pairs_get(positions, j, c) - pairs_get(targets, i, c), moved = 0;
        for (int64_t k = 0; cell && k < dimensions; k++)
            if (cell->periodic[k])
                moved += shift[k] * cell->vectors[k][c];
        d += moved;
        r2 += d * d;
        if (!kith_array_is_none(pairs->vectors))
            store(pairs->vectors, p * dimensions + c, d);
    }
    if (!kith_array_is_none(pairs->distances))
        store(pairs->distances, p, sqrt(r2));
}

static void refresh_rows(void *argument, int64_t task)
{
    const struct refreshing *refreshing = argument;
    const struct pairs_arguments *arguments = refreshing->arguments;
    const kith_array offsets = kith_array_is_none(arguments->options.queries)
                                   ? arguments->options.system_offsets
                                   : arguments->options.query_system_offsets;
    const int64_t *row = refreshing->pairs->offsets.data;
    const int64_t rows = refreshing->pairs->row_count, begin = task * rows_of_task;
    const int64_t end = begin + rows_of_task < rows ? begin + rows_of_task : rows;
    int64_t system = 0;
    for (int64_t i = begin; i < end; i++) {
        while (!kith_array_is_none(offsets) && ((const int64_t *)offsets.data)[system + 1] <= i)
            system++;
        for (int64_t p = row[i]; p < row[i + 1]; p++)
            refresh_pair(refreshing, arguments->cell ? &arguments->cell[system] : NULL, i, p);
    }
}

static bool has_lengths(const kith_pairs_options *options)
{
    return (options->quantities & (KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES)) != 0;
}

static void refresh(const struct pairs_arguments *arguments, kith_pairs *pairs)
{
    struct refreshing refreshing = {arguments, pairs};
    kith_for_each(arguments->context,
                  kith_threads_for(arguments->context, (double)pairs->count * seconds_of_pair),
                  (pairs->row_count + rows_of_task - 1) / rows_of_task, refresh_rows, &refreshing);
}

kith_status pairs_update(const struct pairs_arguments *arguments, kith_pairs **pairs, bool *rebuilt)
{
    struct pairs_arguments made = *arguments;
    const bool refreshed = has_lengths(&arguments->options);
    if (rebuilt)
        *rebuilt = false;
    if (refreshed) /* what refreshing needs besides */
        made.options.quantities |= KITH_PAIRS_J | KITH_PAIRS_SHIFTS;
    KITH_TRY(pairs_check_arguments(&made));
    if (arguments->positions.device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED, "positions is not in the host's memory, and lists are "
                                           "kept there only; use kith_pairs_compute");
    if (*pairs && may_be_kept(&made, &(*pairs)->memory->kept)) {
        if (refreshed)
            refresh(arguments, *pairs);
        return KITH_OK;
    }
    if (rebuilt)
        *rebuilt = true;
    KITH_TRY(pairs_compute(&made, pairs));
    return keep(&made, &(*pairs)->memory->kept);
}
