#include "sparse/assemble.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"

/* A part may be as long as half of the matrix. */
enum { entries_between_looks = 1 << 20, rows_between_looks = 1 << 14 };

/* A counting sort by column: rows ascend in each column because each part of the rows is walked in
 * order, and its entries follow those of the parts before it. The result is the same for any
 * number of parts. */
struct transposing {
    const kith_context *context;
    const struct sparse_csr *csr;
    struct sparse_csr *made;
    int64_t parts;
    int64_t *next; /* parts × columns: numbers of entries, then where the next one goes */
};

static int64_t first_row(const struct transposing *transposing, int64_t part)
{
    return transposing->csr->rows * part / transposing->parts;
}

static void count_part(void *argument, int64_t part)
{
    const struct transposing *transposing = argument;
    const struct sparse_csr *csr = transposing->csr;
    int64_t *count = transposing->next + part * csr->columns;
    const int64_t end = csr->row_start[first_row(transposing, part + 1)];
    int64_t k = csr->row_start[first_row(transposing, part)];
    while (k < end && !kith_context_stops(transposing->context)) {
        const int64_t stop = end - k < entries_between_looks ? end : k + entries_between_looks;
        for (; k < stop; k++)
            count[csr->column[k]]++;
    }
}

static void place_parts(const struct transposing *transposing)
{
    const int64_t columns = transposing->csr->columns;
    int64_t start = 0;
    for (int64_t j = 0; j < columns; j++) {
        transposing->made->row_start[j] = start;
        for (int64_t part = 0; part < transposing->parts; part++) {
            int64_t *next = &transposing->next[part * columns + j];
            const int64_t length = *next;
            *next = start;
            start += length;
        }
    }
    transposing->made->row_start[columns] = start;
}

static void move_part(void *argument, int64_t part)
{
    const struct transposing *transposing = argument;
    const struct sparse_csr *csr = transposing->csr, *made = transposing->made;
    int64_t *next = transposing->next + part * csr->columns;
    for (int64_t i = first_row(transposing, part); i < first_row(transposing, part + 1); i++) {
        if (i % rows_between_looks == 0 && kith_context_stops(transposing->context))
            return;
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t at = next[csr->column[k]]++;
            made->column[at] = (int32_t)i;
            if (csr->dtype == KITH_F64)
                ((double *)made->value)[at] = ((const double *)csr->value)[k];
            else
                ((float *)made->value)[at] = ((const float *)csr->value)[k];
        }
    }
}

/* A part a thread, as far as their counts are fewer than the entries. */
static int64_t parts_for(const kith_context *context, const struct sparse_csr *csr)
{
    const int64_t most = csr->nonzeros / (2 * csr->columns + 1) + 1;
    return context->threads < most ? context->threads : most;
}

kith_status sparse_transpose_cpu(kith_context *context, const struct sparse_csr *csr,
                                 struct sparse_csr *made)
{
    struct transposing transposing = {context, csr, made, parts_for(context, csr), NULL};
    KITH_TRY(sparse_csr_allocate(csr->columns, csr->rows, csr->nonzeros, csr->dtype, made));
    KITH_TRY(kith_allocate(transposing.parts * csr->columns, sizeof *transposing.next,
                           "transposing the matrix", &transposing.next));
    const int32_t threads = kith_threads_for(context, 4e-9 * (double)csr->nonzeros);
    kith_status status =
        kith_for_each(context, threads, transposing.parts, count_part, &transposing);
    if (status == KITH_OK) {
        place_parts(&transposing);
        status = kith_for_each(context, threads, transposing.parts, move_part, &transposing);
    }
    free(transposing.next);
    return status;
}
