/* Symmetric all-pairs forces by laws of the table on the GPU. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/law_sums_cuda.h"
#include "forces/method.h"
#include "forces/ring_launch_cuda.cuh"
#include "forces/ring_law_cuda.cuh"

/* Fewer bodies are faster one-sided, unless kith tune has found another number. On an H200 the laws
 * of the table cross between 8192 and 12 288 bodies in float, in double cheap ones (coulomb,
 * lennard-jones) near 7000 and those that take an exponential or a logarithm near 12 288. */
enum { least_symmetric_float = 8449, least_symmetric_double = 12288 };

/* Tiles as gravity's without the loops that are made for it (ring_cuda.cu). */
template <typename pair>
using law_variant =
    ring_variant<pair, pair::potential ? 6 : 8, 8, 2, sizeof(typename pair::real) == 4 ? 2 : 1>;

/* A law has its own kernel that meets pairs; what adds is the same for all. */
template <typename real, bool potential> struct ring_kernels<ring_laws<real, potential>> {
    template <typename variant> static auto of(const struct ring_law_problem &problem)
    {
#define ENTRY(kind) ring_kernel<law_variant<ring_law<law_##kind, real, potential>>>,
        static ring_function<variant> *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
        return kernels[problem.kind];
    }
};

template <typename real>
static kith_status sum_by_law(kith_context *context, const struct ring_law_problem *problem)
{
    return problem->potential ? ring_forces<law_variant<ring_laws<real, true>>>(context, problem)
                              : ring_forces<law_variant<ring_laws<real, false>>>(context, problem);
}

bool forces_ring_law_suits(const kith_context *context, const struct forces_problem *problem,
                           const struct law_view *view)
{
    if (problem->way.method == KITH_FORCES_SPLIT || problem->way.method == KITH_FORCES_SYMMETRIC)
        return problem->way.method == KITH_FORCES_SYMMETRIC;
    const int64_t least = forces_least_symmetric(context, problem->dtype, least_symmetric_float,
                                                 least_symmetric_double);
    return forces_ring_has_law(view) && problem->self && !problem->target_half_softening2 &&
           problem->acceleration[0] && problem->target_count >= least;
}

kith_status forces_ring_law_cuda(kith_context *context, const struct forces_problem *problem,
                                 const struct law_view *view, const struct law_sums_problem *sums)
{
    struct ring_law_problem given;
    (struct forces_problem &)given = *problem;
    given.numbers = view->numbers;
    given.weight = sums->source_weight;
    given.kind = view->form.kind;
    return problem->dtype == KITH_F64 ? sum_by_law<double>(context, &given)
                                      : sum_by_law<float>(context, &given);
}
