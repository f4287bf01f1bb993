#include "kith/forces.h"

#include <string.h>

#include "core/context.h"
#include "forces/arguments.h"
#include "forces/forces_reference.h"
#include "forces/pack.h"

/* A way to solve a packed problem, in the order of kith_forces_method. */
struct forces_method {
    kith_status (*solve)(kith_context *context, const struct forces_packed *packed);
    bool only_on_host; /* and in double precision */
};

static kith_status solve_on_backend(kith_context *context, const struct forces_packed *packed)
{
    const struct kith_backend *backend = context->backend;
    if (packed->memory == packed->own_memory)
        return backend->forces(context, &packed->problem);

    const int64_t inputs = packed->layout.input_bytes, outputs = packed->layout.bytes - inputs;
    KITH_TRY(backend->copy_in(context, packed->own_memory, packed->memory, inputs));
    KITH_TRY(backend->forces(context, &packed->own));
    return backend->copy_out(context, (char *)packed->memory + inputs,
                             (const char *)packed->own_memory + inputs, outputs);
}

static kith_status solve_by_reference(kith_context *context, const struct forces_packed *packed)
{
    return forces_reference(context, &packed->problem);
}

static const struct forces_method methods[] = {
    [KITH_FORCES_AUTO] = {solve_on_backend, false},
    [KITH_FORCES_DIRECT] = {solve_on_backend, false},
    [KITH_FORCES_REFERENCE] = {solve_by_reference, true},
};

static kith_status choose_method(kith_forces_method wanted, const struct forces_method **method)
{
    if ((size_t)wanted >= sizeof methods / sizeof methods[0])
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_forces_method",
                         (int)wanted);
    *method = &methods[wanted];
    return KITH_OK;
}

/* For arrays on the host, whatever the context's device. */
static kith_status compute_packed(kith_context *context, const struct forces_method *method,
                                  const struct forces_arguments *arguments)
{
    const kith_dtype dtype = method->only_on_host ? KITH_F64 : arguments->sources.dtype;
    struct forces_packed packed;
    KITH_TRY(forces_pack(context, arguments, dtype, &packed));
    KITH_TRY(method->solve(context, &packed));
    forces_unpack(&packed, arguments);
    return KITH_OK;
}

static kith_status compute_in_place(kith_context *context, const struct forces_method *method,
                                    const struct forces_arguments *arguments)
{
    if (method->only_on_host)
        return kith_fail(KITH_UNSUPPORTED, "method is the reference, which computes on the host, "
                                           "and the arrays are not there; copy them to the host");
    KITH_TRY(kith_context_check_cancelled(context));
    return context->backend->forces_in_place(context, arguments);
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
        .context = context,
    };
    const struct forces_method *method = NULL;
    KITH_TRY(choose_method(chosen.method, &method));
    KITH_TRY(forces_check_arguments(context->device, &arguments));
    return forces_on_device(&arguments) ? compute_in_place(context, method, &arguments)
                                        : compute_packed(context, method, &arguments);
}
