/* Cells for points that are so unevenly spread that a table of all cells would be too large, or its
 * cells too full: only cells that have points are kept, sorted by their number. So that this number
 * fits into 64 bits, each axis first loses what is empty of it: a gap between coordinates that have
 * points is made one wider than the reach.
 *
 * Threads take parts of the rows; what each has found of an axis is then joined. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/team.h"
#include "pairs/search.h"
#include "pairs/sparse_axis.h"

static const double most_numbers = 0x1p62;

enum { most_parts = 64, digit_bits = 11, digits = 1 << digit_bits };

/* A part of the rows of each set. */
struct part {
    struct sparse_axis axis; /* their coordinates */
    int64_t *compact;        /* what becomes of them, by number */
    kith_status status;
};

/* The numbering of all rows, along one axis at a time. */
struct numbering {
    kith_context *context;
    struct pairs_search *search;
    struct pairs_entry **entries;
    int sets;
    int32_t threads, parts;
    int k;                  /* the axis */
    struct pairs_grid full; /* before compression */
    struct part part[most_parts];
};

static const struct pairs_bin *bin_of(const struct pairs_search *search, int set)
{
    return set == 0 ? &search->points : &search->targets;
}

static int64_t begin_of(int64_t count, int64_t part, int32_t parts)
{
    return count * part / parts;
}

static int64_t coordinate(const struct numbering *numbering, const struct pairs_bin *bin,
                          int64_t row)
{
    double x[3];
    pairs_unsorted_point(numbering->search, bin, row, x);
    return pairs_cell_of(&numbering->full,
                         pairs_fraction(numbering->search->lattice, x, numbering->k), numbering->k);
}

/* Finds the coordinates of a part's rows, and their numbers in the part. */
static void find_coordinates(void *argument, int64_t number)
{
    struct numbering *numbering = argument;
    struct part *part = &numbering->part[number];
    part->status = KITH_OK;
    for (int set = 0; set < numbering->sets; set++) {
        const struct pairs_bin *bin = bin_of(numbering->search, set);
        const int64_t end = begin_of(bin->count, number + 1, numbering->parts);
        for (int64_t row = begin_of(bin->count, number, numbering->parts); row < end; row++) {
            int64_t place = 0;
            part->status = sparse_axis_add(&part->axis, coordinate(numbering, bin, row), &place);
            if (part->status != KITH_OK)
                return;
            numbering->entries[set][row].place = (int32_t)place;
        }
    }
}

/* Adds them to the keys. */
static void number_rows(void *argument, int64_t number)
{
    const struct numbering *numbering = argument;
    const int64_t *compact = numbering->part[number].compact;
    const int64_t count = numbering->search->grid.count[numbering->k];
    for (int set = 0; set < numbering->sets; set++) {
        const int64_t rows = bin_of(numbering->search, set)->count;
        const int64_t end = begin_of(rows, number + 1, numbering->parts);
        for (int64_t row = begin_of(rows, number, numbering->parts); row < end; row++) {
            struct pairs_entry *entry = &numbering->entries[set][row];
            entry->row = (int32_t)row;
            entry->key = (entry->key * count) + compact[entry->place];
        }
    }
}

/* Joins the parts' coordinates, compresses the axis, and tells each part what became of its own. */
static kith_status join_parts(struct numbering *numbering, struct sparse_axis *all,
                              int64_t **compact)
{
    const int k = numbering->k;
    struct pairs_grid *grid = &numbering->search->grid;
    int64_t number = 0;
    for (int32_t p = 0; p < numbering->parts; p++) {
        struct part *part = &numbering->part[p];
        if (part->status != KITH_OK)
            return kith_fail(part->status, "no memory for the cells that have points");
        KITH_TRY(
            kith_allocate(part->axis.count + 1, 8, "the cells that have points", &part->compact));
        for (int64_t c = 0; c < part->axis.count; c++)
            KITH_TRY(sparse_axis_add(all, part->axis.value[c], &number));
    }
    KITH_TRY(kith_allocate(all->count + 1, 8, "the cells that have points", compact));
    KITH_TRY(sparse_axis_compress(all, grid->count[k], grid->reach[k], grid->periodic[k], *compact,
                                  &grid->count[k]));
    for (int32_t p = 0; p < numbering->parts; p++) {
        struct part *part = &numbering->part[p];
        for (int64_t c = 0; c < part->axis.count; c++) {
            KITH_TRY(sparse_axis_add(all, part->axis.value[c], &number));
            part->compact[c] = (*compact)[number];
        }
    }
    return KITH_OK;
}

static kith_status number_along(struct numbering *numbering)
{
    struct sparse_axis all = {0};
    int64_t *compact = NULL;
    numbering->full = numbering->search->grid;
    kith_for_each(numbering->context, numbering->threads, numbering->parts, find_coordinates,
                  numbering);
    const kith_status status = join_parts(numbering, &all, &compact);
    if (status == KITH_OK)
        kith_for_each(numbering->context, numbering->threads, numbering->parts, number_rows,
                      numbering);
    for (int32_t p = 0; p < numbering->parts; p++) {
        sparse_axis_free(&numbering->part[p].axis);
        free(numbering->part[p].compact);
        numbering->part[p].compact = NULL;
    }
    sparse_axis_free(&all);
    free(compact);
    return status;
}

/* All three axes; *numbers is how many cells that gives, which may be too many for a key. */
static kith_status number_all(struct numbering *numbering, double *numbers)
{
    *numbers = 1;
    for (numbering->k = 0; numbering->k < 3 && *numbers <= most_numbers; numbering->k++) {
        KITH_TRY(number_along(numbering));
        *numbers *= (double)numbering->search->grid.count[numbering->k];
    }
    return KITH_OK;
}

/* A pass of the sort, by eleven bits. */
struct pass {
    const struct pairs_entry *from;
    struct pairs_entry *to;
    int64_t count;
    int shift;
    int32_t parts;
    int64_t *next; /* of each part, digits: how many, then where the next one goes */
};

static int64_t digit_of(const struct pass *pass, int64_t entry)
{
    return (pass->from[entry].key >> pass->shift) & (digits - 1);
}

static void count_digits(void *argument, int64_t part)
{
    const struct pass *pass = argument;
    int64_t *next = pass->next + part * digits;
    memset(next, 0, digits * sizeof *next);
    const int64_t end = begin_of(pass->count, part + 1, pass->parts);
    for (int64_t k = begin_of(pass->count, part, pass->parts); k < end; k++)
        next[digit_of(pass, k)]++;
}

static void scatter(void *argument, int64_t part)
{
    const struct pass *pass = argument;
    int64_t *next = pass->next + part * digits;
    const int64_t end = begin_of(pass->count, part + 1, pass->parts);
    for (int64_t k = begin_of(pass->count, part, pass->parts); k < end; k++)
        pass->to[next[digit_of(pass, k)]++] = pass->from[k];
}

static void add_up(const struct pass *pass)
{
    int64_t place = 0;
    for (int digit = 0; digit < digits; digit++)
        for (int32_t part = 0; part < pass->parts; part++) {
            const int64_t many = pass->next[part * digits + digit];
            pass->next[part * digits + digit] = place;
            place += many;
        }
}

/* By key, keeping the order of equal ones: by eleven bits at a time, from the lowest. */
static kith_status sort_entries(const struct numbering *numbering, struct pairs_entry **entries,
                                int64_t count, double numbers)
{
    struct pairs_entry *other = NULL;
    struct pass pass = {.count = count, .parts = numbering->parts};
    KITH_TRY(kith_allocate((int64_t)pass.parts * digits, sizeof *pass.next,
                           "sorting points into cells", &pass.next));
    const kith_status status =
        kith_allocate(count + 1, sizeof *other, "sorting points into cells", &other);
    for (; status == KITH_OK && ldexp(1, pass.shift) < numbers; pass.shift += digit_bits) {
        pass.from = *entries;
        pass.to = other;
        kith_for_each(numbering->context, numbering->threads, pass.parts, count_digits, &pass);
        add_up(&pass);
        kith_for_each(numbering->context, numbering->threads, pass.parts, scatter, &pass);
        other = *entries;
        *entries = pass.to;
    }
    free(pass.next);
    free(other);
    return status;
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

/* Cells so large that their numbers fit a key; the entries get these. */
static kith_status choose_cells(struct numbering *numbering, double edge, double reach,
                                const double low[3], const double high[3], const double typical[3],
                                double *numbers)
{
    struct pairs_search *search = numbering->search;
    for (;;) {
        for (int set = 0; set < numbering->sets; set++) {
            free(numbering->entries[set]);
            KITH_TRY(kith_allocate(bin_of(search, set)->count + 1, sizeof(struct pairs_entry),
                                   "sorting points into cells", &numbering->entries[set]));
        }
        search->grid = pairs_grid_choose(search->lattice, edge, reach, low, high, typical);
        KITH_TRY(number_all(numbering, numbers));
        if (*numbers <= most_numbers)
            return KITH_OK;
        edge *= 2;
    }
}

kith_status pairs_bin_sparsely(kith_context *context, int32_t threads, struct pairs_search *search,
                               double edge, double reach, const double low[3], const double high[3],
                               const double typical[3], struct pairs_occupied *occupied)
{
    struct numbering *numbering = NULL;
    KITH_TRY(kith_allocate(1, sizeof *numbering, "sorting points into cells", &numbering));
    numbering->context = context;
    numbering->search = search;
    numbering->entries = occupied->entries;
    numbering->sets = search->problem->two_sets ? 2 : 1;
    numbering->threads = threads;
    numbering->parts = threads < most_parts ? threads : most_parts;
    double numbers = 0;
    kith_status status = choose_cells(numbering, edge, reach, low, high, typical, &numbers);
    search->grid.total = numbers;
    pairs_number_cells(search);
    for (int set = 0; status == KITH_OK && set < numbering->sets; set++) {
        struct pairs_bin *bin = set == 0 ? &search->points : &search->targets;
        status = sort_entries(numbering, &occupied->entries[set], bin->count, numbers);
        if (status == KITH_OK)
            place_rows(bin, occupied->entries[set]);
    }
    free(numbering);
    return status;
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
