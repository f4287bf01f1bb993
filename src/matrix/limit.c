#include "matrix/limit.h"

#include <math.h>
#include <stddef.h>

#include "core/clock.h"
#include "device/context.h"
#include "law/law.h"
#include "matrix/matrix_kernel.h"

static const struct matrix_kernels *const kernels_of_isa[] = {
#define ENTRY(isa) &matrix_##isa,
    KITH_EACH_ISA(ENTRY)
#undef ENTRY
};

/* The best of several short runs: nothing else counts. */
double matrix_limit(kith_context *context, const kith_law *law, kith_dtype dtype)
{
    const int64_t columns = 1 << 16;
    const struct matrix_kernels *kernels = kernels_of_isa[context->isa];
    const struct matrix_kernels_of_law *of_law =
        dtype == KITH_F32 ? &kernels->in_float : &kernels->in_double;
    struct law_view view;
    law_look(law, &view);
    matrix_limit_kernel *kernel = view.form.kind == law_gaussian  ? of_law->gaussian_limit
                                  : view.form.kind == law_inverse ? of_law->inverse_limit
                                                                  : NULL;
    double best = INFINITY;
    if (!kernel)
        return NAN;
    for (int k = 0; k < 50; k++) {
        const double begin = kith_clock();
        kernel(&view.numbers, columns);
        const double seconds = kith_clock() - begin;
        best = seconds < best ? seconds : best;
    }
    return (double)(columns * matrix_rows_at_once) / best;
}
