#ifndef SPARSE_DIAGONALS_H
#define SPARSE_DIAGONALS_H

#include "core/status.h"
#include "kith/context.h"
#include "sparse/formats.h"

/* Which diagonals have entries: is_used[column − row + rows] is 1, else 0. Free the array of rows +
 * columns + 1 elements with free(). */
kith_status sparse_mark_diagonals(kith_context *context, const struct sparse_csr *csr,
                                  unsigned char **is_used);

#endif
