/* Charges whose products are in range. */

#include "forces/charges.h"

#include <float.h>
#include <math.h>

#include "forces/solver.h"
#include "law/law.h"

double forces_largest_charge(const kith_solver *solver, const kith_law *law, kith_dtype dtype)
{
    const double finite = dtype == KITH_F32 ? (double)FLT_MAX : DBL_MAX;
    const double factors = 16; /* more than those of 1/s and 1/s³ in the kernels */
    struct law_view view;
    if (!law || (solver != &forces_solver_direct && solver != &forces_solver_cutoff &&
                 solver != &forces_solver_auto))
        return (double)INFINITY;
    law_look(law, &view);
    if (view.formula || view.weight != law_weight_charge || view.form.weighting != law_product)
        return (double)INFINITY;
    const double constant = view.form.kind == law_inverse ? fabs(view.numbers.c[0]) : 1;
    return sqrt(finite / factors) / sqrt(fmax(1, constant));
}

const char *forces_remedy_of_charge(kith_dtype dtype)
{
    return dtype == KITH_F32 ? "charges whose products single precision holds, or use double "
                               "precision or the solver fmm"
                             : "charges whose products double precision holds";
}
