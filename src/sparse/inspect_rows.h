#ifndef SPARSE_INSPECT_ROWS_H
#define SPARSE_INSPECT_ROWS_H

#include "sparse/statistics.h"

/* What of the statistics is about the lengths of rows and the spans of their columns. */
kith_status sparse_inspect_rows(kith_context *context, const struct sparse_csr *csr,
                                struct sparse_statistics *statistics);

#endif
