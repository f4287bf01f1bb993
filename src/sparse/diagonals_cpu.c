#include "sparse/diagonals.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/threads.h"

enum { rows_a_task = 8192 };

struct marking {
    const struct sparse_csr *csr;
    atomic_uchar *is_used;
};

/* Several threads may mark a diagonal; most find it marked. */
static void mark_some_rows(void *argument, int64_t task)
{
    const struct marking *marking = argument;
    const struct sparse_csr *csr = marking->csr;
    for (int64_t i = task * rows_a_task; i < (task + 1) * rows_a_task && i < csr->rows; i++) {
        atomic_uchar *of_row = marking->is_used + csr->rows - i;
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++)
            if (!atomic_load_explicit(&of_row[csr->column[k]], memory_order_relaxed))
                atomic_store_explicit(&of_row[csr->column[k]], 1, memory_order_relaxed);
    }
}

kith_status sparse_mark_diagonals(kith_context *context, const struct sparse_csr *csr,
                                  unsigned char **is_used)
{
    struct marking marking = {.csr = csr};
    _Static_assert(sizeof(atomic_uchar) == 1, "a mark is a byte");
    KITH_TRY(
        kith_allocate(csr->rows + csr->columns + 1, 1, "finding the diagonals", &marking.is_used));
    const double seconds = 1e-9 * (double)(csr->nonzeros + csr->rows);
    const kith_status status =
        kith_for_each(context, kith_threads_for(context, seconds),
                      (csr->rows + rows_a_task - 1) / rows_a_task, mark_some_rows, &marking);
    if (status == KITH_OK)
        *is_used = (unsigned char *)marking.is_used;
    else
        free(marking.is_used);
    return status;
}
