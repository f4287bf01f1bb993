/* What a matrix on the host is like. Counts of rows and diagonals and the symmetry of few diagonals
 * are exact; blocks and lines are estimated from samples of at most a fixed size. Of a million rows
 * this takes as long as one product, of smaller matrices as long as many. */
#include "sparse/statistics.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"
#include "sort/search.h"
#include "sparse/diagonals.h"
#include "sparse/inspect_rows.h"

enum {
    group_rows = 12, /* whole blocks of 2, 3 and 4 */
    sampled_groups = 512,
    stretch_entries = 32768,
    near_entries = 1024, /* whose lines stay in the first level of the cache */
    stretches = 8,
    first_rows = 4096, /* whose diagonals are counted first */
    rows_a_task = 8192,
};

/* How many diagonals the first rows have: where these are too many already nobody needs to know how
 * many there are. */
static int64_t count_first_diagonals(const struct sparse_csr *csr, unsigned char *seen)
{
    int64_t diagonals = 0;
    for (int64_t i = 0; i < csr->rows && i < first_rows && diagonals <= sparse_most_diagonals; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            unsigned char *mark = &seen[csr->column[k] - i + csr->rows];
            diagonals += !*mark;
            *mark = 1;
        }
    return diagonals;
}

static kith_status count_diagonals(kith_context *context, const struct sparse_csr *csr,
                                   struct sparse_statistics *statistics)
{
    unsigned char *seen = NULL;
    KITH_TRY(kith_allocate(csr->rows + csr->columns, 1, "counting the diagonals", &seen));
    statistics->diagonals = count_first_diagonals(csr, seen);
    free(seen);
    if (statistics->diagonals > sparse_most_diagonals)
        return KITH_OK;
    KITH_TRY(sparse_mark_diagonals(context, csr, &seen));
    statistics->diagonals = 0;
    for (int64_t p = 0; p < csr->rows + csr->columns; p++)
        statistics->diagonals += seen[p];
    free(seen);
    return KITH_OK;
}

/* The lengths are constant, so that nothing is called. */
static bool same_bits(const struct sparse_csr *csr, int64_t k, int64_t l)
{
    if (csr->dtype == KITH_F64)
        return memcmp((const double *)csr->value + k, (const double *)csr->value + l, 8) == 0;
    return memcmp((const float *)csr->value + k, (const float *)csr->value + l, 4) == 0;
}

/* The entry in row i and column j, or −1. */
static int64_t find_entry(const struct sparse_csr *csr, int64_t i, int64_t j)
{
    const int64_t end = csr->row_start[i + 1];
    const int64_t at = search_32(csr->column, csr->row_start[i], end, j);
    return at < end && csr->column[at] == j ? at : -1;
}

struct mirroring {
    const struct sparse_csr *csr;
    atomic_bool failed;
    atomic_llong excess; /* of entries above the diagonal over those below */
};

/* Each entry above the diagonal has its like below. */
static void mirror_some_rows(void *argument, int64_t task)
{
    struct mirroring *mirroring = argument;
    const struct sparse_csr *csr = mirroring->csr;
    int64_t excess = 0;
    for (int64_t i = task * rows_a_task; i < (task + 1) * rows_a_task && i < csr->rows; i++) {
        if (atomic_load_explicit(&mirroring->failed, memory_order_relaxed))
            return;
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t j = csr->column[k];
            excess += (j > i) - (j < i);
            const int64_t mirrored = j > i ? find_entry(csr, j, i) : k;
            if (mirrored < 0 || !same_bits(csr, k, mirrored))
                atomic_store(&mirroring->failed, true);
        }
    }
    atomic_fetch_add(&mirroring->excess, excess);
}

static kith_status find_symmetry(kith_context *context, const struct sparse_csr *csr,
                                 bool *is_symmetric)
{
    struct mirroring mirroring = {.csr = csr};
    const double seconds = 4e-9 * (double)csr->nonzeros;
    *is_symmetric = false;
    if (csr->rows != csr->columns)
        return KITH_OK;
    KITH_TRY(kith_for_each(context, kith_threads_for(context, seconds),
                           (csr->rows + rows_a_task - 1) / rows_a_task, mirror_some_rows,
                           &mirroring));
    *is_symmetric = !atomic_load(&mirroring.failed) && atomic_load(&mirroring.excess) == 0;
    return KITH_OK;
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

/* Blocks of a size: as many to a row as in the sampled groups. Entries beyond that, in rows too
 * long to be counted, are those of dense rows: a block of their own each. Groups with such a row
 * are not typical and left out. */
static double extrapolate_blocks(const struct sparse_statistics *statistics, double rows,
                                 double entries, double blocks)
{
    const double all = (double)statistics->nonzeros;
    double in_long_rows = all;
    for (int k = 1; k < sparse_most_lengths; k++)
        in_long_rows -= (double)statistics->at_least[k];
    if (entries == 0) /* without a sample: no two entries in a block */
        return all;
    const double dense =
        fmax(0, fmin(in_long_rows, all - entries * (double)statistics->rows / rows));
    return blocks * (all - dense) / entries + dense;
}

static void estimate_blocks(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    const int64_t groups = csr->rows / group_rows;
    const int64_t samples = groups < sampled_groups ? groups : sampled_groups;
    const double typical = 8 * ((double)csr->nonzeros / (double)(groups + 1) + group_rows);
    int64_t sampled = 0, entries = 0, blocks[5] = {0};
    for (int64_t s = 0; s < samples; s++) {
        const int64_t start = groups * s / samples * group_rows;
        const int64_t in_group = csr->row_start[start + group_rows] - csr->row_start[start];
        if (in_group > stretch_entries || (double)in_group > typical)
            continue;
        sampled += group_rows;
        entries += in_group;
        for (int64_t size = 2; size <= 4; size++)
            for (int64_t r = 0; r < group_rows; r += size)
                blocks[size] += blocks_of_rows(csr, start + r, size);
    }
    for (int size = 2; size <= 4; size++)
        statistics->blocks[size] =
            extrapolate_blocks(statistics, (double)sampled, (double)entries, (double)blocks[size]);
}

/* The share of a sample's entries that are the first to use their line of x in their part of it;
 * `part_of` is 0 for each line. */
static double share_of_lines(const struct sparse_csr *csr, int64_t count, int64_t part_entries,
                             int32_t *part_of)
{
    const int64_t per_line = 64 / kith_dtype_bytes(csr->dtype);
    int64_t lines = 0, entries = 0;
    int32_t part = 0;
    for (int64_t s = 0; s < count; s++) {
        const int64_t start = csr->nonzeros / count * s, left = csr->nonzeros - start;
        const int64_t end = start + (left < stretch_entries ? left : stretch_entries);
        for (int64_t k = start; k < end; k++, entries++) {
            part += (k - start) % part_entries == 0;
            int32_t *mark = &part_of[csr->column[k] / per_line];
            lines += *mark != part;
            *mark = part;
        }
    }
    return entries > 0 ? (double)lines / (double)entries : 0;
}

static kith_status sample_lines(const struct sparse_csr *csr, struct sparse_statistics *statistics)
{
    const int64_t lines = csr->columns / (64 / kith_dtype_bytes(csr->dtype)) + 1;
    const int64_t most = csr->nonzeros / stretch_entries + 1;
    const int64_t count = most < stretches ? most : stretches;
    int32_t *part_of = NULL;
    KITH_TRY(kith_allocate(lines, 2 * sizeof *part_of, "sampling columns", &part_of));
    statistics->lines_per_entry = share_of_lines(csr, count, stretch_entries, part_of);
    statistics->near_lines_per_entry = share_of_lines(csr, count, near_entries, part_of + lines);
    free(part_of);
    return KITH_OK;
}

kith_status sparse_inspect_cpu(kith_context *context, const struct sparse_csr *csr,
                               struct sparse_statistics *statistics)
{
    *statistics = (struct sparse_statistics){
        .rows = csr->rows, .columns = csr->columns, .nonzeros = csr->nonzeros, .dtype = csr->dtype};
    KITH_TRY(sparse_inspect_rows(context, csr, statistics));
    estimate_blocks(csr, statistics);
    KITH_TRY(count_diagonals(context, csr, statistics));
    if (statistics->diagonals <= sparse_most_diagonals)
        KITH_TRY(find_symmetry(context, csr, &statistics->symmetric));
    return sample_lines(csr, statistics);
}
