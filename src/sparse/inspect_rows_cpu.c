/* Lengths of rows and spans of their columns, by tasks with rows of their own. */
#include "sparse/inspect_rows.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/threads.h"

/* Rows of a task: whole windows of sell, and whole groups that share a base of their columns. */
enum { rows_a_task = 16 * sparse_sell_window };

/* What a task has found. Lengths from sparse_most_lengths on are counted together. */
struct part {
    int64_t exactly[sparse_most_lengths + 1];
    int64_t longest, lower, upper;
    int64_t length_changes;
    int64_t slots[sparse_sell_heights], slots_unsorted[sparse_sell_heights];
    bool group_too_wide, window_too_wide;
};

struct inspection {
    const struct sparse_csr *csr;
    struct part *parts;
};

static int64_t length_of(const struct sparse_csr *csr, int64_t i)
{
    return csr->row_start[i + 1] - csr->row_start[i];
}

/* The columns of some rows. */
struct span {
    int64_t first, last;
};

static bool is_too_wide(struct span span)
{
    return span.last - span.first > UINT16_MAX;
}

static void convert_to_double(struct span *span, struct span by)
{
    span->first = by.first < span->first ? by.first : span->first;
    span->last = by.last > span->last ? by.last : span->last;
}

static void inspect_spans(const struct sparse_csr *csr, int64_t begin, int64_t end,
                          struct part *part)
{
    const int64_t group_rows = (int64_t)1 << sparse_base_shift;
    const struct span none = {csr->columns, 0};
    struct span group = none, window = none;
    for (int64_t i = begin; i < end; i++) {
        if (i % group_rows == 0)
            group = none;
        if (i % sparse_sell_window == 0)
            window = none;
        if (length_of(csr, i) == 0)
            continue;
        const struct span row = {csr->column[csr->row_start[i]],
                                 csr->column[csr->row_start[i + 1] - 1]};
        part->lower = i - row.first > part->lower ? i - row.first : part->lower;
        part->upper = row.last - i > part->upper ? row.last - i : part->upper;
        convert_to_double(&group, row);
        convert_to_double(&window, row);
        part->group_too_wide |= is_too_wide(group);
        part->window_too_wide |= is_too_wide(window);
    }
}

static void count_slots(const struct sparse_csr *csr, int64_t begin, int64_t end, int32_t k,
                        struct part *part)
{
    const int64_t height = sparse_sell_height[k];
    for (int64_t start = begin; start < end; start += height) {
        int64_t longest = 0;
        for (int64_t i = start; i < start + height && i < end; i++)
            longest = length_of(csr, i) > longest ? length_of(csr, i) : longest;
        part->slots_unsorted[k] += longest * height;
    }
}

static int compare_lengths(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

/* The lengths of a window's rows, the longest first. */
static void sort_lengths(const struct sparse_csr *csr, int64_t first, int64_t count,
                         int64_t length[sparse_sell_window])
{
    int64_t exactly[sparse_most_lengths] = {0}, longer = 0;
    for (int64_t i = 0; i < count; i++)
        if (length_of(csr, first + i) < sparse_most_lengths)
            exactly[length_of(csr, first + i)]++;
        else
            length[longer++] = length_of(csr, first + i);
    qsort(length, (size_t)longer, sizeof length[0], compare_lengths);
    for (int64_t l = sparse_most_lengths - 1; l >= 0; l--)
        for (int64_t k = 0; k < exactly[l]; k++)
            length[longer++] = l;
}

/* The longest of each slice when a window's rows are in order of their lengths. */
static void count_sorted_slots(const struct sparse_csr *csr, int64_t begin, int64_t end,
                               struct part *part)
{
    int64_t length[sparse_sell_window];
    for (int64_t start = begin; start < end; start += sparse_sell_window) {
        const int64_t left = end - start;
        const int64_t count = left < sparse_sell_window ? left : sparse_sell_window;
        sort_lengths(csr, start, count, length);
        for (int32_t k = 0; k < sparse_sell_heights; k++)
            for (int64_t i = 0; i < count; i += sparse_sell_height[k])
                part->slots[k] += length[i] * sparse_sell_height[k];
    }
}

/* Where stretches of rows of one length begin: the last of them, and the two before it. */
struct stretches {
    int64_t begin[3];
};

/* Whether the last stretch, which ends before row i, is as the one two before it, all three within
 * sparse_remembered_rows. */
static bool is_repeated(const struct sparse_csr *csr, const struct stretches *last, int64_t i)
{
    const int64_t first = last->begin[2];
    return first >= 0 && i - first <= sparse_remembered_rows &&
           last->begin[1] - first == i - last->begin[0] &&
           length_of(csr, first) == length_of(csr, last->begin[0]);
}

/* Begins so far before its rows that what is counted does not depend on where they begin. */
static int64_t count_length_changes(const struct sparse_csr *csr, int64_t begin, int64_t end)
{
    const int64_t before = begin - sparse_remembered_rows - 1;
    struct stretches last = {{before > 0 ? before : 0, -1, -1}};
    int64_t count = 0;
    for (int64_t i = last.begin[0] + 1; i < end; i++) {
        if (length_of(csr, i) == length_of(csr, i - 1))
            continue;
        count += i >= begin && !is_repeated(csr, &last, i);
        last = (struct stretches){{i, last.begin[0], last.begin[1]}};
    }
    return count;
}

static void inspect_some_rows(void *argument, int64_t task)
{
    const struct inspection *inspection = argument;
    const struct sparse_csr *csr = inspection->csr;
    struct part *part = &inspection->parts[task];
    const int64_t begin = task * rows_a_task, left = csr->rows - begin;
    const int64_t end = begin + (left < rows_a_task ? left : rows_a_task);
    for (int64_t i = begin; i < end; i++) {
        const int64_t length = length_of(csr, i);
        part->longest = length > part->longest ? length : part->longest;
        part->exactly[length < sparse_most_lengths ? length : sparse_most_lengths]++;
    }
    part->length_changes = count_length_changes(csr, begin, end);
    inspect_spans(csr, begin, end, part);
    for (int32_t k = 0; k < sparse_sell_heights; k++)
        count_slots(csr, begin, end, k, part);
    count_sorted_slots(csr, begin, end, part);
}

/* Adds what a part has found; at_least has the numbers of rows of exactly that length so far. */
static void add_part(const struct part *part, int64_t *longer, struct sparse_statistics *statistics)
{
    for (int64_t k = 0; k < sparse_most_lengths; k++)
        statistics->at_least[k] += part->exactly[k];
    *longer += part->exactly[sparse_most_lengths];
    statistics->longest = part->longest > statistics->longest ? part->longest : statistics->longest;
    statistics->length_changes += part->length_changes;
    statistics->lower = part->lower > statistics->lower ? part->lower : statistics->lower;
    statistics->upper = part->upper > statistics->upper ? part->upper : statistics->upper;
    statistics->index_fits_16 &= !part->group_too_wide;
    for (int32_t k = 0; k < sparse_sell_heights; k++) {
        statistics->sell_slots[k] += part->slots[k];
        statistics->sell_slots_unsorted[k] += part->slots_unsorted[k];
        statistics->sell_fits_16[k] &= !part->window_too_wide;
    }
}

kith_status sparse_inspect_rows(kith_context *context, const struct sparse_csr *csr,
                                struct sparse_statistics *statistics)
{
    const int64_t tasks = (csr->rows + rows_a_task - 1) / rows_a_task;
    struct inspection inspection = {.csr = csr};
    KITH_TRY(
        kith_allocate(tasks, sizeof *inspection.parts, "inspecting the rows", &inspection.parts));
    const kith_status status =
        kith_for_each(context, kith_threads_for(context, 1e-8 * (double)csr->rows), tasks,
                      inspect_some_rows, &inspection);
    int64_t longer = 0;
    statistics->index_fits_16 = true;
    for (int32_t k = 0; k < sparse_sell_heights; k++)
        statistics->sell_fits_16[k] = true;
    for (int64_t task = 0; task < tasks; task++)
        add_part(&inspection.parts[task], &longer, statistics);
    free(inspection.parts);
    statistics->empty = statistics->at_least[0];
    for (int64_t k = sparse_most_lengths - 1; k >= 0; k--)
        statistics->at_least[k] = longer += statistics->at_least[k];
    return status;
}
