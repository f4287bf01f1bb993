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
#include "device/context.h"
#include "device/threads.h"
#include "pairs/search.h"
#include "pairs/sparse_axis.h"
#include "pairs/stage.h"

static const double most_numbers = 0x1p62;

enum { most_parts = 64, digit_bits = 11, digits = 1 << digit_bits };

/* A part may be as long as all rows. */
enum { rows_between_looks = 1 << 16 };

/* A row, and the number of its cell. */
struct entry {
    int64_t key;
    int32_t row;
    int32_t place; /* of its coordinate among those of its part */
};

/* A part of the rows of each set. */
struct part {
    struct sparse_axis axis;     /* their coordinates */
    struct pairs_buffer compact; /* what becomes of them, by number: int64 */
    kith_status status;
};

/* What is kept from call to call, by a list. */
struct pairs_uneven {
    struct part part[most_parts];
    struct sparse_axis all;                       /* coordinates of all parts */
    struct pairs_buffer compact, sorted;          /* of these */
    struct pairs_buffer entries[pairs_set_count]; /* rows of each set; at last by cell */
    struct pairs_buffer other, next;              /* of a pass of the sort */
};

/* The numbering of all rows, along one axis at a time. */
struct numbering {
    kith_context *context;
    struct pairs_search *search;
    struct pairs_uneven *uneven;
    int sets;
    int32_t threads, parts;
    int k;                  /* the axis */
    struct pairs_grid full; /* before compression */
};

static const char what[] = "the cells that have points";

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
    struct part *part = &numbering->uneven->part[number];
    part->status = KITH_OK;
    sparse_axis_clear(&part->axis);
    for (int set = 0; set < numbering->sets; set++) {
        const struct pairs_bin *bin = bin_of(numbering->search, set);
        struct entry *entries = numbering->uneven->entries[set].data;
        const int64_t end = begin_of(bin->count, number + 1, numbering->parts);
        for (int64_t row = begin_of(bin->count, number, numbering->parts); row < end; row++) {
            int64_t place = 0;
            if (row % rows_between_looks == 0 && kith_context_stops(numbering->context))
                return;
            part->status = sparse_axis_add(&part->axis, coordinate(numbering, bin, row), &place);
            if (part->status != KITH_OK)
                return;
            entries[row].place = (int32_t)place;
        }
    }
}

/* Adds them to the keys. */
static void number_rows(void *argument, int64_t number)
{
    const struct numbering *numbering = argument;
    const int64_t *compact = numbering->uneven->part[number].compact.data;
    const int64_t count = numbering->search->grid.count[numbering->k];
    for (int set = 0; set < numbering->sets; set++) {
        const int64_t rows = bin_of(numbering->search, set)->count;
        struct entry *entries = numbering->uneven->entries[set].data;
        const int64_t end = begin_of(rows, number + 1, numbering->parts);
        for (int64_t row = begin_of(rows, number, numbering->parts); row < end; row++) {
            struct entry *entry = &entries[row];
            entry->row = (int32_t)row;
            entry->key = (entry->key * count) + compact[entry->place];
        }
    }
}

/* Joins the parts' coordinates, compresses the axis, and returns to each part the new numbers of
 * its own. */
static kith_status join_parts(const struct numbering *numbering)
{
    const int k = numbering->k;
    struct pairs_uneven *uneven = numbering->uneven;
    struct pairs_grid *grid = &numbering->search->grid;
    int64_t number = 0;
    sparse_axis_clear(&uneven->all);
    for (int32_t p = 0; p < numbering->parts; p++) {
        struct part *part = &uneven->part[p];
        if (part->status != KITH_OK)
            return kith_fail(part->status, "no memory for %s", what);
        KITH_TRY(pairs_host_buffer_grow(&part->compact, 8 * (part->axis.count + 1), what));
        for (int64_t c = 0; c < part->axis.count; c++)
            KITH_TRY(sparse_axis_add(&uneven->all, part->axis.value[c], &number));
    }
    KITH_TRY(pairs_host_buffer_grow(&uneven->compact, 8 * (uneven->all.count + 1), what));
    KITH_TRY(pairs_host_buffer_grow(
        &uneven->sorted, (int64_t)sizeof(struct sparse_coordinate) * (uneven->all.count + 1),
        what));
    int64_t *compact = uneven->compact.data;
    grid->count[k] = sparse_axis_compress(&uneven->all, grid->count[k], grid->reach[k],
                                          grid->periodic[k], uneven->sorted.data, compact);
    for (int32_t p = 0; p < numbering->parts; p++) {
        const struct part *part = &uneven->part[p];
        for (int64_t c = 0; c < part->axis.count; c++) {
            KITH_TRY(sparse_axis_add(&uneven->all, part->axis.value[c], &number));
            ((int64_t *)part->compact.data)[c] = compact[number];
        }
    }
    return KITH_OK;
}

static kith_status number_along(struct numbering *numbering)
{
    numbering->full = numbering->search->grid;
    KITH_TRY(kith_for_each(numbering->context, numbering->threads, numbering->parts,
                           find_coordinates, numbering));
    KITH_TRY(join_parts(numbering));
    return kith_for_each(numbering->context, numbering->threads, numbering->parts, number_rows,
                         numbering);
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
    const struct entry *from;
    struct entry *to;
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
static kith_status sort_entries(const struct numbering *numbering, int set, double numbers)
{
    struct pairs_uneven *uneven = numbering->uneven;
    struct pass pass = {.count = bin_of(numbering->search, set)->count,
                        .parts = numbering->parts,
                        .next = uneven->next.data};
    for (; ldexp(1, pass.shift) < numbers; pass.shift += digit_bits) {
        const struct pairs_buffer from = uneven->entries[set];
        pass.from = from.data;
        pass.to = uneven->other.data;
        KITH_TRY(
            kith_for_each(numbering->context, numbering->threads, pass.parts, count_digits, &pass));
        add_up(&pass);
        KITH_TRY(kith_for_each(numbering->context, numbering->threads, pass.parts, scatter, &pass));
        uneven->entries[set] = uneven->other;
        uneven->other = from;
    }
    return KITH_OK;
}

static void place_rows(struct pairs_bin *bin, const struct entry *entries)
{
    bin->cell_count = 0;
    for (int64_t k = 0; k < bin->count; k++) {
        if (k == 0 || entries[k].key != entries[k - 1].key)
            bin->begin[bin->cell_count++] = (int32_t)k;
        bin->index[k] = entries[k].row;
    }
    bin->begin[bin->cell_count] = (int32_t)bin->count;
}

/* All entries have room for the larger set, as sorting exchanges them. */
static kith_status take_memory(const struct numbering *numbering)
{
    struct pairs_uneven *uneven = numbering->uneven;
    const struct pairs_search *search = numbering->search;
    const int64_t points = search->points.count, targets = search->targets.count;
    const int64_t rows = points > targets ? points : targets;
    const int64_t bytes = (rows + 1) * (int64_t)sizeof(struct entry);
    for (int set = 0; set < numbering->sets; set++)
        KITH_TRY(pairs_host_buffer_grow(&uneven->entries[set], bytes, what));
    KITH_TRY(pairs_host_buffer_grow(&uneven->other, bytes, what));
    return pairs_host_buffer_grow(
        &uneven->next, (int64_t)numbering->parts * digits * (int64_t)sizeof(int64_t), what);
}

/* Cells so large that their numbers fit a key; the entries get these. */
static kith_status choose_cells(struct numbering *numbering, double edge, double reach,
                                const double low[3], const double high[3], const double typical[3],
                                double *numbers)
{
    struct pairs_search *search = numbering->search;
    for (;;) {
        for (int set = 0; set < numbering->sets; set++)
            memset(numbering->uneven->entries[set].data, 0,
                   (size_t)bin_of(search, set)->count * sizeof(struct entry));
        search->grid = pairs_grid_choose(search->lattice, edge, reach, low, high, typical);
        KITH_TRY(number_all(numbering, numbers));
        if (*numbers <= most_numbers)
            return KITH_OK;
        edge *= 2;
    }
}

kith_status pairs_bin_sparsely(kith_context *context, int32_t threads, struct pairs_search *search,
                               double edge, double reach, const double low[3], const double high[3],
                               const double typical[3])
{
    if (!*search->uneven)
        KITH_TRY(kith_allocate(1, sizeof **search->uneven, what, search->uneven));
    struct numbering numbering = {
        .context = context,
        .search = search,
        .uneven = *search->uneven,
        .sets = search->problem->two_sets ? 2 : 1,
        .threads = threads,
        .parts = threads < most_parts ? threads : most_parts,
    };
    double numbers = 0;
    KITH_TRY(take_memory(&numbering));
    KITH_TRY(choose_cells(&numbering, edge, reach, low, high, typical, &numbers));
    search->grid.total = numbers;
    pairs_number_cells(search);
    for (int set = 0; set < numbering.sets; set++) {
        KITH_TRY(sort_entries(&numbering, set, numbers));
        place_rows(set == 0 ? &search->points : &search->targets,
                   numbering.uneven->entries[set].data);
    }
    return KITH_OK;
}

void pairs_keep_occupied(struct pairs_search *search)
{
    for (int set = 0; set < (search->problem->two_sets ? 2 : 1); set++) {
        struct pairs_bin *bin = set == 0 ? &search->points : &search->targets;
        const struct entry *entries = (*search->uneven)->entries[set].data;
        bin->key = bin->unsorted;
        for (int64_t cell = 0; cell < bin->cell_count; cell++)
            bin->key[cell] = entries[bin->begin[cell]].key;
    }
}

void pairs_uneven_free(struct pairs_uneven *uneven)
{
    if (!uneven)
        return;
    for (int p = 0; p < most_parts; p++) {
        sparse_axis_free(&uneven->part[p].axis);
        free(uneven->part[p].compact.data);
    }
    sparse_axis_free(&uneven->all);
    struct pairs_buffer *const buffers[] = {&uneven->compact,    &uneven->sorted,
                                            &uneven->entries[0], &uneven->entries[1],
                                            &uneven->other,      &uneven->next};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        free(buffers[k]->data);
    free(uneven);
}
