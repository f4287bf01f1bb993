/* What a matrix on the host is like. Counts of rows and diagonals and the symmetry of few diagonals
 * are exact; blocks and lines are estimated from samples of at most a fixed size. Of a million rows
 * this takes as long as one product, of smaller matrices as long as many. */
#include "sparse/statistics.h"

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
    *statistics = (struct sparse_statistics){
        .rows = csr->rows, .columns = csr->columns, .nonzeros = csr->nonzeros, .dtype = csr->dtype};
    KITH_TRY(sparse_inspect_rows(context, csr, statistics));
    estimate_blocks(csr, statistics);
    KITH_TRY(count_diagonals(context, csr, statistics));
    if (statistics->diagonals <= sparse_most_diagonals)
        KITH_TRY(find_symmetry(context, csr, &statistics->symmetric));
    return sample_lines(csr, statistics);
}
