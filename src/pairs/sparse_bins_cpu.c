/* Cells for points that are so unevenly spread that a table of all cells would be too large, or its
 * cells too full: only cells that have points are kept, sorted by their number. So that this number
 * fits into 64 bits, each axis first loses what is empty of it: a gap between coordinates that have
 * points is made one wider than the reach. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "pairs/search.h"

static const double most_numbers = 0x1p62;

/* The coordinates along an axis that have points, ascending, and what becomes of them. A table for
 * looking them up: open addressing, a power of two of slots. */
struct axis {
    int64_t *value, *compact;
    int64_t count;
    int64_t *slot; /* index into the above, or −1 */
    int64_t slots;
};

static int64_t slot_of(const struct axis *axis, int64_t value)
{
    uint64_t at = (uint64_t)value * 0x9e3779b97f4a7c15U;
    for (at ^= at >> 32;; at++) {
        const int64_t slot = (int64_t)(at & (uint64_t)(axis->slots - 1));
        if (axis->slot[slot] < 0 || axis->value[axis->slot[slot]] == value)
            return slot;
    }
}

static void free_axis(struct axis *axis)
{
    free(axis->value);
    free(axis->compact);
    free(axis->slot);
}

static kith_status make_axis(int64_t most, struct axis *axis)
{
    *axis = (struct axis){.slots = 16};
    while (axis->slots < 2 * most)
        axis->slots *= 2;
    KITH_TRY(kith_allocate(most + 1, 8, "the cells that have points", &axis->value));
    KITH_TRY(kith_allocate(most + 1, 8, "the cells that have points", &axis->compact));
    KITH_TRY(kith_allocate(axis->slots, 8, "the cells that have points", &axis->slot));
    memset(axis->slot, 0xff, (size_t)axis->slots * 8);
    return KITH_OK;
}

static void insert(struct axis *axis, int64_t value)
{
    const int64_t slot = slot_of(axis, value);
    if (axis->slot[slot] < 0) {
        axis->slot[slot] = axis->count;
        axis->value[axis->count++] = value;
    }
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of coordinates that are left of an axis of so many cells. */
static int64_t compress(struct axis *axis, int64_t cells, int64_t reach, bool periodic)
{
    if (axis->count == 0)
        return 1;
    qsort(axis->value, (size_t)axis->count, 8, by_value);
    memset(axis->slot, 0xff, (size_t)axis->slots * 8);
    for (int64_t k = 0; k < axis->count; k++)
        axis->slot[slot_of(axis, axis->value[k])] = k;
    for (int64_t k = 1; k < axis->count; k++) {
        const int64_t gap = axis->value[k] - axis->value[k - 1];
        axis->compact[k] = axis->compact[k - 1] + (gap <= reach ? gap : reach + 1);
    }
    const int64_t last = axis->count - 1;
    const int64_t gap = periodic ? cells - axis->value[last] + axis->value[0] : 1;
    return axis->compact[last] + (gap <= reach ? gap : periodic ? reach + 1 : 1);
}

static const struct pairs_bin *bin_of(const struct pairs_search *search, int set)
{
    return set == 0 ? &search->points : &search->targets;
}

static int64_t coordinate(const struct pairs_search *search, const struct pairs_grid *grid,
                          const struct pairs_bin *bin, int64_t row, int k)
{
    double x[3];
    pairs_unsorted_point(search, bin, row, x);
    return pairs_cell_of(grid, pairs_fraction(search->lattice, x, k), k);
}

/* Adds the coordinates along axis k to the keys. */
static kith_status number_along(struct pairs_search *search, int k, struct axis *axis,
                                struct pairs_occupied *occupied)
{
    const struct pairs_grid full = search->grid;
    const int sets = search->problem->two_sets ? 2 : 1;
    const int64_t both = search->points.count + (sets == 2 ? search->targets.count : 0);
    KITH_TRY(make_axis(both, axis));
    for (int set = 0; set < sets; set++)
        for (int64_t row = 0; row < bin_of(search, set)->count; row++)
            insert(axis, coordinate(search, &full, bin_of(search, set), row, k));
    search->grid.count[k] =
        compress(axis, search->grid.count[k], search->grid.reach[k], search->grid.periodic[k]);
    for (int set = 0; set < sets; set++)
        for (int64_t row = 0; row < bin_of(search, set)->count; row++) {
            struct pairs_entry *entry = &occupied->entries[set][row];
            const int64_t cell = coordinate(search, &full, bin_of(search, set), row, k);
            entry->row = (int32_t)row;
            entry->key = (entry->key * search->grid.count[k]) +
                         axis->compact[axis->slot[slot_of(axis, cell)]];
        }
    return KITH_OK;
}

/* All three axes; *numbers is how many cells that gives, which may be too many for a key. */
static kith_status number_rows(struct pairs_search *search, struct pairs_occupied *occupied,
                               double *numbers)
{
    *numbers = 1;
    for (int k = 0; k < 3 && *numbers <= most_numbers; k++) {
        struct axis axis;
        const kith_status status = number_along(search, k, &axis, occupied);
        free_axis(&axis);
        KITH_TRY(status);
        *numbers *= (double)search->grid.count[k];
    }
    return KITH_OK;
}

/* By key, keeping the order of equal ones: by eleven bits at a time, from the lowest. */
static kith_status sort_entries(struct pairs_entry **entries, int64_t count, double numbers)
{
    enum { bits = 11, digits = 1 << bits };
    struct pairs_entry *other = NULL;
    KITH_TRY(kith_allocate(count + 1, sizeof *other, "sorting points into cells", &other));
    for (int shift = 0; ldexp(1, shift) < numbers; shift += bits) {
        int64_t next[digits] = {0};
        int64_t place = 0;
        for (int64_t k = 0; k < count; k++)
            next[((*entries)[k].key >> shift) & (digits - 1)]++;
        for (int digit = 0; digit < digits; digit++) {
            const int64_t many = next[digit];
            next[digit] = place;
            place += many;
        }
        for (int64_t k = 0; k < count; k++)
            other[next[((*entries)[k].key >> shift) & (digits - 1)]++] = (*entries)[k];
        struct pairs_entry *sorted = other;
        other = *entries;
        *entries = sorted;
    }
    free(other);
    return KITH_OK;
}

static void place_rows(struct pairs_bin *bin, const struct pairs_entry *entries)
{
    bin->cell_count = 0;
    for (int64_t k = 0; k < bin->count; k++) {
        if (k == 0 || entries[k].key != entries[k - 1].key)
            bin->begin[bin->cell_count++] = (int32_t)k;
        bin->index[k] = entries[k].row;
    }
    bin->begin[bin->cell_count] = (int32_t)bin->count;
}

kith_status pairs_bin_sparsely(struct pairs_search *search, double edge, double reach,
                               const double low[3], const double high[3], const double typical[3],
                               struct pairs_occupied *occupied)
{
    const int sets = search->problem->two_sets ? 2 : 1;
    double numbers = 0;
    for (;;) {
        for (int set = 0; set < sets; set++) {
            free(occupied->entries[set]);
            KITH_TRY(kith_allocate(bin_of(search, set)->count + 1, sizeof(struct pairs_entry),
                                   "sorting points into cells", &occupied->entries[set]));
        }
        search->grid = pairs_grid_choose(search->lattice, edge, reach, low, high, typical);
        KITH_TRY(number_rows(search, occupied, &numbers));
        if (numbers <= most_numbers)
            break;
        edge *= 2;
    }
    search->grid.total = numbers;
    pairs_number_cells(search);
    for (int set = 0; set < sets; set++) {
        struct pairs_bin *bin = set == 0 ? &search->points : &search->targets;
        KITH_TRY(sort_entries(&occupied->entries[set], bin->count, numbers));
        place_rows(bin, occupied->entries[set]);
    }
    return KITH_OK;
}

void pairs_keep_occupied(struct pairs_search *search, struct pairs_occupied *occupied)
{
    for (int set = 0; set < (search->problem->two_sets ? 2 : 1); set++) {
        struct pairs_bin *bin = set == 0 ? &search->points : &search->targets;
        bin->key = bin->unsorted;
        for (int64_t cell = 0; occupied->entries[set] && cell < bin->cell_count; cell++)
            bin->key[cell] = occupied->entries[set][bin->begin[cell]].key;
        free(occupied->entries[set]);
    }
}
