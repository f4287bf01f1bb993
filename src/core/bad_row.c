#include "core/bad_row.h"

#include <math.h>

void kith_bad_row_message(const char *name, int64_t row, double value, const char *remedy)
{
    kith_fail_message("row %lld of %s has %g; give %s%s", (long long)row, name, value, remedy,
                      isinf(value) ? " (single precision holds at most 3.4e38)" : "");
}
