#include "kith/forces.h"

#include <string.h>

#include "core/context.h"
#include "forces/arguments.h"
#include "forces/forces_reference.h"
#include "forces/pack.h"

/* A way to solve a problem, in the order of kith_forces_method. */
struct forces_method {
    kith_status (*solve)(kith_context *context, const struct forces_problem *problem);
    bool only_in_double;
};

static kith_status solve_on_backend(kith_context *context, const struct forces_problem *problem)
{
    return context->backend->forces(context, problem);
}

static const struct forces_method methods[] = {
    [KITH_FORCES_AUTO] = {solve_on_backend, false},
    [KITH_FORCES_DIRECT] = {solve_on_backend, false},
    [KITH_FORCES_REFERENCE] = {forces_reference, true},
};

static kith_status choose_method(const kith_context *context, kith_forces_method wanted,
                                 const struct forces_method **method)
{
    if ((size_t)wanted >= sizeof methods / sizeof methods[0])
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_forces_method",
                         (int)wanted);
    if (context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED, "the context is not on the CPU, and forces are computed "
                                           "there only; make a context with device cpu");
    *method = &methods[wanted];
    return KITH_OK;
}

/* Two views of the same positions; what has another ndim is refused later. */
static bool same_view(kith_array a, kith_array b)
{
    return a.data == b.data && a.ndim == 2 && b.ndim == 2 && a.dtype == b.dtype &&
           a.device.kind == b.device.kind && a.device.index == b.device.index &&
           memcmp(a.shape, b.shape, 2 * sizeof a.shape[0]) == 0 &&
           memcmp(a.strides, b.strides, 2 * sizeof a.strides[0]) == 0;
}

kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                kith_array targets, kith_array sources, kith_array masses,
                                kith_array acceleration, kith_array potential)
{
    const kith_forces_options chosen = options ? *options : (kith_forces_options){0};
    const double g = chosen.gravitational_constant;
    struct forces_arguments arguments = {
        .targets = same_view(targets, sources) ? kith_array_none() : targets,
        .sources = sources,
        .masses = masses,
        .target_softening = chosen.target_softening,
        .source_softening = chosen.source_softening,
        .acceleration = acceleration,
        .potential = potential,
        .gravitational_constant = g == 0 ? 1 : g,
        .softening = chosen.softening,
    };
    const struct forces_method *method = NULL;
    KITH_TRY(choose_method(context, chosen.method, &method));
    KITH_TRY(forces_check_arguments(&arguments));

    struct forces_packed packed;
    const kith_dtype dtype = method->only_in_double ? KITH_F64 : sources.dtype;
    kith_status status = forces_pack(&arguments, dtype, &packed);
    if (status == KITH_OK)
        status = method->solve(context, &packed.problem);
    if (status == KITH_OK)
        forces_unpack(&packed, &arguments);
    forces_packed_free(&packed);
    return status;
}
