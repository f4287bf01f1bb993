#include "sparse/sort_rows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"

/* Rows are sorted by keys: the column, and below it the place in the row, so that equal columns
 * stay in their order. */
enum { place_bits = 32, insertion_length = 48, rows_per_task = 4096 };

struct sorting {
    struct sparse_csr *csr;
    int64_t *length; /* of each row, without duplicates */
    atomic_int failed;
};

/* What one task sorts a row with; grows to the longest of its rows. */
struct room {
    int64_t count;
    uint64_t *keys;
    void *values;
};

static bool room_grow(struct room *room, int64_t count, kith_dtype dtype)
{
    if (count <= room->count)
        return true;
    free(room->keys);
    free(room->values);
    *room = (struct room){.count = count};
    return kith_allocate(count, sizeof *room->keys, "sorting a row", &room->keys) == KITH_OK &&
           kith_allocate(count, kith_dtype_bytes(dtype), "sorting a row", &room->values) == KITH_OK;
}

static bool is_sorted(const int32_t *column, int64_t length)
{
    for (int64_t k = 1; k < length; k++)
        if (column[k] <= column[k - 1])
            return false;
    return true;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_keys(uint64_t *keys, int64_t count)
{
    if (count > insertion_length) {
        qsort(keys, (size_t)count, sizeof *keys, compare_keys);
        return;
    }
    for (int64_t k = 1; k < count; k++) {
        const uint64_t key = keys[k];
        int64_t at = k;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Values in the order of the keys, equal columns added up; returns how many are left. */
#define DEFINE_GATHER(real)                                                                        \
    static int64_t gather_##real(const uint64_t *keys, const real *from, int64_t count,            \
                                 int32_t *column, real *value)                                     \
    {                                                                                              \
        int64_t at = -1;                                                                           \
        for (int64_t k = 0; k < count; k++) {                                                      \
            const int32_t here = (int32_t)(keys[k] >> place_bits);                                 \
            const real add = from[keys[k] & UINT32_MAX];                                           \
            if (at >= 0 && column[at] == here) {                                                   \
                value[at] += add;                                                                  \
            } else {                                                                               \
                column[++at] = here;                                                               \
                value[at] = add;                                                                   \
            }                                                                                      \
        }                                                                                          \
        return at + 1;                                                                             \
    }

DEFINE_GATHER(double)
DEFINE_GATHER(float)

static bool sort_row(struct sparse_csr *csr, int64_t i, struct room *room, int64_t *length)
{
    const int64_t start = csr->row_start[i], count = csr->row_start[i + 1] - start;
    int32_t *column = csr->column + start;
    *length = count;
    if (is_sorted(column, count))
        return true;
    /* Places are 32-bit: a row of more entries than that is sorted already, or has more than 2^31
     * duplicates. */
    if (count > UINT32_MAX || !room_grow(room, count, csr->dtype) || !room->values)
        return false;
    for (int64_t k = 0; k < count; k++)
        room->keys[k] = (uint64_t)column[k] << place_bits | (uint64_t)k;
    sort_keys(room->keys, count);

    const int64_t bytes = kith_dtype_bytes(csr->dtype);
    void *values = (char *)csr->value + start * bytes;
    memcpy(room->values, values, (size_t)(count * bytes));
    *length = csr->dtype == KITH_F64
                  ? gather_double(room->keys, room->values, count, column, values)
                  : gather_float(room->keys, room->values, count, column, values);
    return true;
}

static void sort_some_rows(void *argument, int64_t task)
{
    struct sorting *sorting = argument;
    struct room room = {0};
    const int64_t begin = task * rows_per_task, rows = sorting->csr->rows;
    const int64_t end = begin + rows_per_task < rows ? begin + rows_per_task : rows;
    for (int64_t i = begin;
         i < end && !atomic_load_explicit(&sorting->failed, memory_order_relaxed); i++)
        if (!sort_row(sorting->csr, i, &room, &sorting->length[i]))
            atomic_store(&sorting->failed, 1);
    free(room.keys);
    free(room.values);
}

/* Moves the rows together where duplicates have left gaps. */
static void close_gaps(struct sparse_csr *csr, const int64_t *length)
{
    const int64_t bytes = kith_dtype_bytes(csr->dtype);
    int64_t to = 0;
    for (int64_t i = 0; i < csr->rows; i++) {
        const int64_t from = csr->row_start[i];
        if (from != to && length[i] > 0) {
            memmove(csr->column + to, csr->column + from, (size_t)length[i] * sizeof *csr->column);
            memmove((char *)csr->value + to * bytes, (char *)csr->value + from * bytes,
                    (size_t)(length[i] * bytes));
        }
        csr->row_start[i] = to;
        to += length[i];
    }
    csr->row_start[csr->rows] = to;
    memset(csr->column + to, 0, (size_t)(csr->nonzeros - to) * sizeof *csr->column);
    csr->nonzeros = to;
}

kith_status sparse_sort_rows(kith_context *context, struct sparse_csr *csr)
{
    struct sorting sorting = {.csr = csr};
    KITH_TRY(kith_allocate(csr->rows, sizeof *sorting.length, "sorting the rows", &sorting.length));
    const double seconds = 2e-9 * (double)(csr->nonzeros + csr->rows);
    kith_status status =
        kith_for_each(context, kith_threads_for(context, seconds),
                      (csr->rows + rows_per_task - 1) / rows_per_task, sort_some_rows, &sorting);
    if (status == KITH_OK && atomic_load(&sorting.failed))
        status = kith_fail(KITH_OUT_OF_MEMORY, "no memory to sort the entries of a row");
    if (status == KITH_OK)
        close_gaps(csr, sorting.length);
    free(sorting.length);
    return status;
}
