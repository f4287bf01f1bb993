/* Cells for points that are so unevenly spread that a table of all cells would be too large, or its
 * cells too full: only cells that have points are kept, sorted by their number. So that this number
 * fits into 64 bits, each axis first loses what is empty of it: its coordinates are sorted, and a
 * gap between two of them is made at most one wider than the reach. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"
#include "pairs/search.h"
#include "pairs/stage.h"
#include "sort/sort.h"

static const double most_numbers = 0x1p62;

enum { rows_of_block = 1 << 16 };

/* What is kept from call to call, by a list: of all rows, the points' first. */
struct pairs_uneven {
    struct pairs_buffer key;        /* uint64: the numbers of cells; at last sorted in each set */
    struct pairs_buffer coordinate; /* uint64: along an axis, in all cells; sorted */
    struct pairs_buffer compact;    /* int64: the same without gaps, by row */
    struct pairs_buffer order;      /* uint32: what a sort made of the rows */
    struct pairs_buffer scratch;    /* of a sort */
    struct pairs_buffer blocks;     /* int64: a coordinate without gaps where each block begins */
};

/* The numbering of all rows, along one axis at a time. */
struct numbering {
    kith_context *context;
    struct pairs_search *search;
    struct pairs_uneven *uneven;
    int64_t points, count; /* rows: of the points, of both sets */
    int32_t threads;
    int k;                  /* the axis */
    struct pairs_grid full; /* before compression */
};

static const char what[] = "the cells that have points";

static int64_t blocks_of(const struct numbering *numbering)
{
    return (numbering->count + rows_of_block - 1) / rows_of_block;
}

static int64_t end_of(const struct numbering *numbering, int64_t block)
{
    const int64_t end = (block + 1) * rows_of_block;
    return end < numbering->count ? end : numbering->count;
}

static void find_coordinates(void *argument, int64_t block)
{
    const struct numbering *numbering = argument;
    const struct pairs_search *search = numbering->search;
    uint64_t *coordinate = numbering->uneven->coordinate.data;
    for (int64_t row = block * rows_of_block; row < end_of(numbering, block); row++) {
        const bool is_target = row >= numbering->points;
        double x[3];
        pairs_unsorted_point(search, is_target ? &search->targets : &search->points,
                             is_target ? row - numbering->points : row, x);
        coordinate[row] = (uint64_t)pairs_cell_of(
            &numbering->full, pairs_fraction(search->lattice, x, numbering->k), numbering->k);
    }
}

/* From the sorted coordinate before this one, at most one more than the reach. */
static int64_t gap_before(const struct numbering *numbering, int64_t at)
{
    const uint64_t *sorted = numbering->uneven->coordinate.data;
    const int64_t reach = numbering->full.reach[numbering->k];
    const int64_t gap = at > 0 ? (int64_t)(sorted[at] - sorted[at - 1]) : 0;
    return gap <= reach ? gap : reach + 1;
}

static void sum_gaps(void *argument, int64_t block)
{
    const struct numbering *numbering = argument;
    int64_t sum = 0;
    for (int64_t at = block * rows_of_block; at < end_of(numbering, block); at++)
        sum += gap_before(numbering, at);
    ((int64_t *)numbering->uneven->blocks.data)[block] = sum;
}

static void close_gaps(void *argument, int64_t block)
{
    const struct numbering *numbering = argument;
    const uint32_t *order = numbering->uneven->order.data;
    int64_t *compact = numbering->uneven->compact.data;
    int64_t coordinate = ((const int64_t *)numbering->uneven->blocks.data)[block];
    for (int64_t at = block * rows_of_block; at < end_of(numbering, block); at++)
        compact[order[at]] = coordinate += gap_before(numbering, at);
}

/* Adds the coordinates to the keys. */
static void number_rows(void *argument, int64_t block)
{
    const struct numbering *numbering = argument;
    const uint64_t count = (uint64_t)numbering->search->grid.count[numbering->k];
    const int64_t *compact = numbering->uneven->compact.data;
    uint64_t *key = numbering->uneven->key.data;
    for (int64_t row = block * rows_of_block; row < end_of(numbering, block); row++)
        key[row] = key[row] * count + (uint64_t)compact[row];
}

/* Sums of the blocks before each one; returns that of all. */
static int64_t add_up(int64_t *sums, int64_t count)
{
    int64_t before = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t here = sums[k];
        sums[k] = before;
        before += here;
    }
    return before;
}

/* Of numbers below this one. */
static int32_t bits_below(double number)
{
    int32_t bits = 0;
    while (ldexp(1, bits) < number)
        bits++;
    return bits;
}

static kith_status each_block(struct numbering *numbering, kith_task *task)
{
    return kith_for_each(numbering->context, numbering->threads, blocks_of(numbering), task,
                         numbering);
}

static kith_status number_along(struct numbering *numbering)
{
    const int k = numbering->k;
    const struct pairs_uneven *uneven = numbering->uneven;
    struct pairs_grid *grid = &numbering->search->grid;
    const uint64_t *sorted = uneven->coordinate.data;
    numbering->full = *grid;
    KITH_TRY(each_block(numbering, find_coordinates));
    KITH_TRY(sort_keys_cpu(numbering->context, numbering->count, bits_below((double)grid->count[k]),
                           uneven->coordinate.data, uneven->order.data, uneven->scratch.data));
    KITH_TRY(each_block(numbering, sum_gaps));
    const int64_t last = add_up(uneven->blocks.data, blocks_of(numbering));
    KITH_TRY(each_block(numbering, close_gaps));
    int64_t around = 1;
    if (grid->periodic[k]) {
        around = grid->count[k] - (int64_t)(sorted[numbering->count - 1] - sorted[0]);
        around = around <= grid->reach[k] ? around : grid->reach[k] + 1;
    }
    grid->count[k] = last + around;
    return each_block(numbering, number_rows);
}

/* All three axes; *numbers is how many cells that gives, which may be too many for a key. */
static kith_status number_all(struct numbering *numbering, double *numbers)
{
    *numbers = 1;
    memset(numbering->uneven->key.data, 0, (size_t)numbering->count * sizeof(uint64_t));
    for (numbering->k = 0; numbering->k < 3 && *numbers <= most_numbers; numbering->k++) {
        KITH_TRY(number_along(numbering));
        *numbers *= (double)numbering->search->grid.count[numbering->k];
    }
    return KITH_OK;
}

static uint64_t *keys_of(const struct pairs_search *search, bool of_targets)
{
    return (uint64_t *)(*search->uneven)->key.data + (of_targets ? search->points.count : 0);
}

static kith_status sort_rows(const struct numbering *numbering, bool of_targets, double numbers)
{
    struct pairs_search *search = numbering->search;
    struct pairs_bin *bin = of_targets ? &search->targets : &search->points;
    const uint32_t *order = numbering->uneven->order.data;
    uint64_t *key = keys_of(search, of_targets);
    KITH_TRY(sort_keys_cpu(numbering->context, bin->count, bits_below(numbers), key,
                           numbering->uneven->order.data, numbering->uneven->scratch.data));
    bin->cell_count = 0;
    for (int64_t k = 0; k < bin->count; k++) {
        if (k == 0 || key[k] != key[k - 1])
            bin->begin[bin->cell_count++] = (int32_t)k;
        bin->index[k] = (int32_t)order[k];
    }
    bin->begin[bin->cell_count] = (int32_t)bin->count;
    return KITH_OK;
}

static kith_status take_memory(const struct numbering *numbering)
{
    struct pairs_uneven *uneven = numbering->uneven;
    const int64_t count = numbering->count;
    KITH_TRY(pairs_host_buffer_grow(&uneven->key, 8 * count, what));
    KITH_TRY(pairs_host_buffer_grow(&uneven->coordinate, 8 * count, what));
    KITH_TRY(pairs_host_buffer_grow(&uneven->compact, 8 * count, what));
    KITH_TRY(pairs_host_buffer_grow(&uneven->order, 4 * count, what));
    KITH_TRY(pairs_host_buffer_grow(&uneven->scratch, sort_scratch_bytes(count), what));
    return pairs_host_buffer_grow(&uneven->blocks, 8 * blocks_of(numbering), what);
}

kith_status pairs_bin_sparsely(kith_context *context, int32_t threads, struct pairs_search *search,
                               double edge, double reach, const double low[3], const double high[3],
                               const double typical[3])
{
    const int64_t points = search->points.count;
    const bool two_sets = search->problem->two_sets;
    if (!*search->uneven)
        KITH_TRY(kith_allocate(1, sizeof **search->uneven, what, search->uneven));
    struct numbering numbering = {.context = context,
                                  .search = search,
                                  .uneven = *search->uneven,
                                  .points = points,
                                  .count = points + (two_sets ? search->targets.count : 0),
                                  .threads = threads};
    double numbers = INFINITY;
    KITH_TRY(take_memory(&numbering));
    while (numbers > most_numbers) { /* of too small cells */
        search->grid = pairs_grid_choose(search->lattice, edge, reach, low, high, typical);
        KITH_TRY(number_all(&numbering, &numbers));
        edge *= 2;
    }
    search->grid.total = numbers;
    pairs_number_cells(search);
    KITH_TRY(sort_rows(&numbering, false, numbers));
    return two_sets ? sort_rows(&numbering, true, numbers) : KITH_OK;
}

void pairs_keep_occupied(struct pairs_search *search)
{
    for (int set = 0; set < (search->problem->two_sets ? 2 : 1); set++) {
        struct pairs_bin *bin = set == 0 ? &search->points : &search->targets;
        const uint64_t *key = keys_of(search, set == 1);
        bin->key = bin->unsorted;
        for (int64_t cell = 0; cell < bin->cell_count; cell++)
            bin->key[cell] = (int64_t)key[bin->begin[cell]];
    }
}

void pairs_uneven_free(struct pairs_uneven *uneven)
{
    if (!uneven)
        return;
    struct pairs_buffer *const buffers[] = {&uneven->key,   &uneven->coordinate, &uneven->compact,
                                            &uneven->order, &uneven->scratch,    &uneven->blocks};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        free(buffers[k]->data);
    free(uneven);
}
