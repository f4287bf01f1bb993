/* Verlet lists of arrays in the host's memory. */

#include "pairs/verlet.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

#include "device/context.h"
#include "device/threads.h"
#include "pairs/stage.h"

enum { rows_of_task = 8192 };
static const double seconds_of_row = 2e-9, seconds_of_pair = 4e-9;

static kith_status copy(kith_context *context, kith_array from, void *to)
{
    (void)context;
    pairs_copy_dense(from, to);
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

static kith_status has_moved(kith_context *context, kith_array now, void *then, double most,
                             bool *moved)
{
    struct movement movement = {
        .now = now,
        .then = kith_array_matrix(then, now.dtype, now.shape[0], now.shape[1]),
        .limit2 = most * most,
    };
    const int64_t rows = now.shape[0];
    KITH_TRY(kith_for_each(context, kith_threads_for(context, (double)rows * seconds_of_row),
                           (rows + rows_of_task - 1) / rows_of_task, look, &movement));
    *moved = atomic_load(&movement.far);
    return KITH_OK;
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
    const kith_array offsets = pairs_target_offsets(arguments);
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

static kith_status refresh(const struct pairs_arguments *arguments, kith_pairs *pairs)
{
    struct refreshing refreshing = {arguments, pairs};
    return kith_for_each(
        arguments->context,
        kith_threads_for(arguments->context, (double)pairs->count * seconds_of_pair),
        (pairs->row_count + rows_of_task - 1) / rows_of_task, refresh_rows, &refreshing);
}

const struct pairs_verlet pairs_verlet_cpu = {
    .copy = copy,
    .has_moved = has_moved,
    .refresh = refresh,
};
