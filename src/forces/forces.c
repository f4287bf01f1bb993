#include "kith/forces.h"

#include <string.h>

#include "core/arguments.h"
#include "core/context.h"
#include "forces/arguments.h"
#include "forces/forces_reference.h"
#include "forces/law_choice.h"
#include "forces/method.h"
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
    [KITH_FORCES_SPLIT] = {solve_on_backend, false},
    [KITH_FORCES_SYMMETRIC] = {solve_on_backend, false},
    [KITH_FORCES_TILE_P] = {solve_on_backend, false},
    [KITH_FORCES_TILE_P2] = {solve_on_backend, false},
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

static kith_status check_and_compute(kith_context *context, const struct forces_method *method,
                                     struct forces_arguments *arguments)
{
    KITH_TRY(forces_check_way(&arguments->way, arguments->law));
    KITH_TRY(forces_check_arguments(context->device, arguments));
    return forces_on_device(arguments) ? compute_in_place(context, method, arguments)
                                       : compute_packed(context, method, arguments);
}

/* Two views of the same positions; what has another ndim is refused later. */
static bool same_view(kith_array a, kith_array b)
{
    return a.data && a.data == b.data && a.ndim == 2 && b.ndim == 2 && a.dtype == b.dtype &&
           a.device.kind == b.device.kind && a.device.index == b.device.index &&
           memcmp(a.shape, b.shape, 2 * sizeof a.shape[0]) == 0 &&
           memcmp(a.strides, b.strides, 2 * sizeof a.strides[0]) == 0;
}

/* Fills in the law and what follows from it. *made is a law that the caller frees, or NULL: the
 * values of gravity are summed like those of any law. */
static kith_status choose_law(const kith_forces_options *options,
                              struct forces_arguments *arguments, kith_law **made)
{
    const double g = options->gravitational_constant;
    struct law_choice choice;
    KITH_TRY(forces_choose_law(options->law, g, &choice));
    if (choice.law && g != 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational_constant is %g and the law is %.60s, which has none; set "
                         "the law's own parameters",
                         g, kith_law_text(choice.law));
    if (!choice.law && options->sum == KITH_FORCES_SUM_VALUE) {
        const kith_law_parameter strength = {"G", choice.g};
        KITH_TRY(kith_law_parse("gravity", 1, &strength, made));
        choice = (struct law_choice){*made, 1, false};
    }
    arguments->law = choice.law;
    arguments->gravitational_constant = choice.g;
    arguments->uses_charges = choice.uses_charges;
    if (!choice.law)
        arguments->target_masses = kith_array_none();
    if (!choice.uses_charges)
        arguments->source_charges = arguments->target_charges = kith_array_none();
    return KITH_OK;
}

static kith_status check_sum(const kith_forces_options *options, kith_array acceleration)
{
    if ((unsigned)options->sum > KITH_FORCES_SUM_VALUE)
        return kith_fail(KITH_INVALID_ARGUMENT, "sum is %d; give a kith_forces_sum",
                         (int)options->sum);
    if (options->sum == KITH_FORCES_SUM_VALUE && !kith_array_is_none(acceleration))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "sum is KITH_FORCES_SUM_VALUE and acceleration is given; leave it out: "
                         "potential takes the sums");
    return KITH_OK;
}

kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                kith_array targets, kith_array sources, kith_array masses,
                                kith_array acceleration, kith_array potential)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    const kith_forces_options chosen = options ? *options : (kith_forces_options){0};
    struct forces_arguments arguments = {
        .targets = same_view(targets, sources) ? kith_array_none() : targets,
        .sources = sources,
        .masses = masses,
        .target_softening = chosen.target_softening,
        .source_softening = chosen.source_softening,
        .acceleration = acceleration,
        .potential = potential,
        .target_masses = chosen.target_masses,
        .target_charges = chosen.target_charges,
        .source_charges = chosen.source_charges,
        .softening = chosen.softening,
        .way = {.method = chosen.method, .block = chosen.block, .unroll = chosen.unroll},
        .context = context,
    };
    const struct forces_method *method = NULL;
    KITH_TRY(choose_method(chosen.method, &method));
    KITH_TRY(check_sum(&chosen, acceleration));
    kith_law *made = NULL;
    KITH_TRY(choose_law(&chosen, &arguments, &made));
    const kith_status status = check_and_compute(context, method, &arguments);
    kith_law_free(made);
    return status;
}
