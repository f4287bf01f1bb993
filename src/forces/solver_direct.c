/* The solver direct: every pair, by the kernels of the context's device. */

#include "core/memory.h"
#include "device/context.h"
#include "forces/backend.h"
#include "forces/method.h"
#include "forces/solver.h"

static kith_status suits(const kith_context *context, const struct forces_problem *problem)
{
    if (problem->system_count > 0 && problem->way.method > KITH_FORCES_DIRECT)
        return kith_fail(KITH_UNSUPPORTED,
                         "method supports a single system, but there are %lld; use auto",
                         (long long)problem->system_count);
    if (problem->accumulate && problem->delivery.measured)
        return kith_fail(KITH_UNSUPPORTED, "the results go to the caller's arrays and cannot be "
                                           "added to them there");
    return forces_check_method(problem, context->device.kind == KITH_CPU);
}

/* The results of a problem, a component each. */
enum { result_count = 8 };

static void list_results(struct forces_problem *problem, void **results[result_count])
{
    for (int32_t c = 0; c < 3; c++) {
        results[c] = &problem->acceleration[c];
        results[3 + c] = &problem->jerk[c];
    }
    results[6] = &problem->potential;
    results[7] = &problem->potential_rate;
}

/* Evaluates into memory of its own and adds that, so that no kernel has to know. */
static kith_status accumulate(kith_context *context, const struct forces_problem *problem)
{
    const struct device_services *services = context->services;
    const double factor[] = {1, 1};
    const int64_t rows = problem->system_count > 0 ? problem->system_stride : 1;
    const int64_t numbers = problem->target_count * rows;
    const int64_t bytes = kith_padded(numbers) * kith_dtype_bytes(problem->dtype);
    struct forces_problem sums = *problem, wanted = *problem;
    void **of_sums[result_count], **of_wanted[result_count];
    list_results(&sums, of_sums);
    list_results(&wanted, of_wanted);

    char *memory = NULL;
    KITH_TRY(services->allocate(context, result_count, bytes, "sums to be added", &memory));
    for (int32_t k = 0; k < result_count; k++)
        if (*of_wanted[k])
            *of_sums[k] = memory + k * bytes;
    sums.accumulate = false;
    kith_status status = forces_backend_of(context)->evaluate(context, &sums);
    for (int32_t k = 0; k < result_count && status == KITH_OK; k++) {
        const void *const terms[] = {*of_wanted[k], *of_sums[k]};
        if (*of_wanted[k])
            status = services->combine(context, problem->dtype, numbers, 2, factor, terms,
                                       *of_wanted[k]);
    }
    services->release(context, memory);
    return status;
}

static kith_status evaluate(kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    (void)prepared;
    return problem->accumulate ? accumulate(context, problem)
                               : forces_backend_of(context)->evaluate(context, problem);
}

/* Kernels of a law compute its value and its derivative together, and may round otherwise; the
 * energy of direct sums is of double precision. */
static enum solver_potentials potentials(const kith_context *context,
                                         const struct forces_problem *problem)
{
    const bool is_known =
        context->device.kind == KITH_CPU && !problem->law && problem->dtype == KITH_F64;
    return is_known ? added_potentials : other_potentials;
}

const struct kith_solver forces_solver_direct = {
    .name = "direct",
    .summary = "every pair, in the precision of the numbers, on every device",
    .suits = suits,
    .evaluate = evaluate,
    .potentials = potentials,
};
