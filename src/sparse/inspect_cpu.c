/* What a matrix on the host is like. Counts over rows are exact, those over entries come from a
 * sample: all of it takes about as long as one product. */
#include "sparse/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum {
    group_rows = 12, /* whole blocks of 2, 3 and 4 */
    sampled_groups = 512,
    stretch_entries = 32768,
    stretches = 8,
};

static int64_t length_of(const struct sparse_csr *csr, int64_t i)
{
    return csr->row_start[i + 1] - csr->row_start[i];
}

static void count_lengths(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    int64_t exactly[sparse_most_lengths + 1] = {0};
    for (int64_t i = 0; i < csr->rows; i++) {
        const int64_t length = length_of(csr, i);
        statistics->longest = length > statistics->longest ? length : statistics->longest;
        statistics->squares += (double)length * (double)length;
        exactly[length < sparse_most_lengths ? length : sparse_most_lengths]++;
    }
    statistics->empty = exactly[0];
    int64_t longer = exactly[sparse_most_lengths];
    for (int64_t k = sparse_most_lengths - 1; k >= 0; k--)
        statistics->at_least[k] = longer += exactly[k];
}

/* Whether the columns of each group of rows span fewer than 2^16. */
static bool fits_16(const struct sparse_csr *csr, int64_t group)
{
    int64_t first = csr->columns, last = 0;
    for (int64_t i = 0; i < csr->rows; i++) {
        if (i % group == 0)
            first = csr->columns, last = 0;
        if (length_of(csr, i) == 0)
            continue;
        const int64_t low = csr->column[csr->row_start[i]];
        const int64_t high = csr->column[csr->row_start[i + 1] - 1];
        first = low < first ? low : first;
        last = high > last ? high : last;
        if (last - first > UINT16_MAX)
            return false;
    }
    return true;
}

static void measure_spans(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    for (int64_t i = 0; i < csr->rows; i++) {
        if (length_of(csr, i) == 0)
            continue;
        const int64_t below = i - csr->column[csr->row_start[i]];
        const int64_t above = csr->column[csr->row_start[i + 1] - 1] - i;
        statistics->lower = below > statistics->lower ? below : statistics->lower;
        statistics->upper = above > statistics->upper ? above : statistics->upper;
    }
    statistics->index_fits_16 = fits_16(csr, (int64_t)1 << sparse_base_shift);
    for (int32_t k = 0; k < sparse_sell_heights; k++)
        statistics->sell_fits_16[k] =
            k > 0 ? statistics->sell_fits_16[0] : fits_16(csr, sparse_sell_window);
}

static void count_slots(const struct sparse_csr *csr, int32_t k,
                        struct sparse_statistics *statistics)
{
    const int64_t height = sparse_sell_height[k];
    for (int64_t start = 0; start < csr->rows; start += height) {
        int64_t longest = 0;
        for (int64_t i = start; i < start + height && i < csr->rows; i++)
            longest = length_of(csr, i) > longest ? length_of(csr, i) : longest;
        statistics->sell_slots_unsorted[k] += longest * height;
    }
}

static int compare_lengths(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

/* The longest of each slice when a window's rows are in order of their lengths. */
static void count_sorted_slots(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    int64_t length[sparse_sell_window];
    for (int64_t start = 0; start < csr->rows; start += sparse_sell_window) {
        const int64_t left = csr->rows - start;
        const int64_t count = left < sparse_sell_window ? left : sparse_sell_window;
        bool descend = true;
        for (int64_t i = 0; i < count; i++) {
            length[i] = length_of(csr, start + i);
            descend = descend && (i == 0 || length[i] <= length[i - 1]);
        }
        if (!descend)
            qsort(length, (size_t)count, sizeof length[0], compare_lengths);
        for (int32_t k = 0; k < sparse_sell_heights; k++)
            for (int64_t i = 0; i < count; i += sparse_sell_height[k])
                statistics->sell_slots[k] += length[i] * sparse_sell_height[k];
    }
}

/* Marks the diagonals of a matrix until there are too many of them. */
static kith_status count_diagonals(const struct sparse_csr *csr,
                                   struct sparse_statistics *statistics)
{
    unsigned char *seen = NULL;
    KITH_TRY(kith_allocate(csr->rows + csr->columns, 1, "counting the diagonals", &seen));
    int64_t diagonals = 0;
    for (int64_t i = 0; i < csr->rows && diagonals <= sparse_most_diagonals; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            unsigned char *mark = &seen[csr->column[k] - i + csr->rows];
            diagonals += !*mark;
            *mark = 1;
        }
    statistics->diagonals = diagonals;
    free(seen);
    return KITH_OK;
}

static bool same_bits(const struct sparse_csr *csr, int64_t k, int64_t l)
{
    const size_t bytes = (size_t)kith_dtype_bytes(csr->dtype);
    return memcmp((const char *)csr->value + (size_t)k * bytes,
                  (const char *)csr->value + (size_t)l * bytes, bytes) == 0;
}

/* The entry in row i and column j, or −1. */
static int64_t find_entry(const struct sparse_csr *csr, int64_t i, int64_t j)
{
    int64_t low = csr->row_start[i], high = csr->row_start[i + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (csr->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < csr->row_start[i + 1] && csr->column[low] == j ? low : -1;
}

static bool is_symmetric(const struct sparse_csr *csr)
{
    if (csr->rows != csr->columns)
        return false;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t mirrored = find_entry(csr, csr->column[k], i);
            if (mirrored < 0 || !same_bits(csr, k, mirrored))
                return false;
        }
    return true;
}

/* How many blocks of a size the rows have: each row of blocks is a merge of its rows. */
static int64_t blocks_of_rows(const struct sparse_csr *csr, int64_t start, int64_t size)
{
    int64_t at[4] = {0}, blocks = 0;
    for (int64_t r = 0; r < size; r++)
        at[r] = csr->row_start[start + r];
    for (;; blocks++) {
        int64_t next = INT64_MAX;
        for (int64_t r = 0; r < size; r++)
            if (at[r] < csr->row_start[start + r + 1] && csr->column[at[r]] / size < next)
                next = csr->column[at[r]] / size;
        if (next == INT64_MAX)
            return blocks;
        for (int64_t r = 0; r < size; r++)
            while (at[r] < csr->row_start[start + r + 1] && csr->column[at[r]] / size == next)
                at[r]++;
    }
}

static void estimate_blocks(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    const int64_t groups = csr->rows / group_rows;
    const int64_t samples = groups < sampled_groups ? groups : sampled_groups;
    int64_t entries = 0, blocks[5] = {0};
    for (int64_t s = 0; s < samples; s++) {
        const int64_t start = groups * s / samples * group_rows;
        if (csr->row_start[start + group_rows] - csr->row_start[start] > stretch_entries)
            continue;
        entries += csr->row_start[start + group_rows] - csr->row_start[start];
        for (int64_t size = 2; size <= 4; size++)
            for (int64_t r = 0; r < group_rows; r += size)
                blocks[size] += blocks_of_rows(csr, start + r, size);
    }
    for (int size = 2; size <= 4; size++) /* without a sample: no two entries in a block */
        statistics->blocks[size] =
            entries > 0 ? (double)csr->nonzeros * (double)blocks[size] / (double)entries
                        : (double)csr->nonzeros;
}

static kith_status sample_lines(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    const int64_t per_line = 64 / kith_dtype_bytes(csr->dtype);
    int32_t *stretch_of = NULL; /* that used a line last */
    KITH_TRY(kith_allocate(csr->columns / per_line + 1, sizeof *stretch_of, "sampling columns",
                           &stretch_of));
    const int64_t most = csr->nonzeros / stretch_entries + 1;
    const int64_t count = most < stretches ? most : stretches;
    int64_t entries = 0, lines = 0;
    for (int64_t s = 0; s < count; s++) {
        const int64_t start = csr->nonzeros / count * s;
        for (int64_t k = start; k < start + stretch_entries && k < csr->nonzeros; k++, entries++) {
            int32_t *mark = &stretch_of[csr->column[k] / per_line];
            lines += *mark != s + 1;
            *mark = (int32_t)s + 1;
        }
    }
    statistics->lines_per_entry = entries > 0 ? (double)lines / (double)entries : 0;
    free(stretch_of);
    return KITH_OK;
}

kith_status sparse_inspect_cpu(kith_context *context, const struct sparse_csr *csr,
                               struct sparse_statistics *statistics)
{
    (void)context;
    *statistics = (struct sparse_statistics){
        .rows = csr->rows, .columns = csr->columns, .nonzeros = csr->nonzeros, .dtype = csr->dtype};
    count_lengths(csr, statistics);
    measure_spans(csr, statistics);
    for (int32_t k = 0; k < sparse_sell_heights; k++)
        count_slots(csr, k, statistics);
    count_sorted_slots(csr, statistics);
    estimate_blocks(csr, statistics);
    KITH_TRY(count_diagonals(csr, statistics));
    if (statistics->diagonals <= sparse_most_diagonals)
        statistics->symmetric = is_symmetric(csr);
    return sample_lines(csr, statistics);
}
