#include "core/bad_row.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

void kith_bad_row_message(const char *name, int64_t row, double value, const char *remedy)
{
    kith_fail_message("row %lld of %s has %g; give %s%s", (long long)row, name, value, remedy,
                      isinf(value) ? " (single precision holds at most 3.4e38)" : "");
}

/* |d| is at most twice it along each axis; another factor of two is for rounding. */
double kith_largest_coordinate(kith_dtype dtype, int64_t dimensions)
{
    const double greatest = dtype == KITH_F32 ? (double)FLT_MAX : DBL_MAX;
    return sqrt(greatest / (8 * (double)dimensions));
}

kith_status kith_fail_at_far_row(const char *name, int64_t row, double value, kith_dtype dtype,
                                 int64_t dimensions)
{
    char remedy[96];
    snprintf(remedy, sizeof remedy,
             "coordinates of at most %.2g, whose distances squared %s precision holds",
             kith_largest_coordinate(dtype, dimensions), dtype == KITH_F32 ? "single" : "double");
    return kith_fail_at_row(name, row, value, remedy);
}
