#include "forces/limit.h"

#include "core/clock.h"
#include "device/context.h"
#include "forces/symmetric.h"

/* Long enough for the clock, short enough to fit between two interruptions. */
enum { turns = 5000, runs = 100 };

double forces_limit(kith_context *context, kith_dtype dtype)
{
    const struct forces_symmetric_kernels *kernels = forces_symmetric_kernels_of(context, dtype);
    const enum symmetric_form form = forces_symmetric_preferred_form();
    double best = 0;
    for (int run = 0; run < runs; run++) {
        const double start = kith_clock();
        const int64_t interactions = kernels->limit(form, turns);
        const double rate = (double)interactions / (kith_clock() - start);
        best = rate > best ? rate : best;
    }
    return best;
}
