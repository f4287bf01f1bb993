/* When an approximate solver is worth its error. */

#include "forces/advice.h"

#include "device/context.h"
#include "forces/direct.h"
#include "forces/solver.h"
#include "forces/weights.h"
#include "tree/tree.h"

/* On an H200: all pairs, of each once where the targets are the sources. */
static double direct_seconds_cuda(const struct forces_problem *problem)
{
    const double seconds_of_call = 50e-6;
    const double seconds_of_pair =
        (problem->dtype == KITH_F64 ? 2 : 1) * (problem->self ? 0.35e-12 : 0.6e-12);
    return seconds_of_call +
           seconds_of_pair * (double)problem->target_count * (double)problem->source_count;
}

double forces_direct_seconds(const kith_context *context, const struct forces_problem *problem)
{
    const double of_estimate = problem->self ? 0.4 : 0.6; /* with AVX-512 */
    if (context->device.kind != KITH_CPU)
        return direct_seconds_cuda(problem);
    return of_estimate *
           forces_seconds_of(context, problem->dtype, problem->target_count, problem->source_count);
}

double forces_fmm_seconds(const kith_context *context, const struct forces_problem *problem,
                          const kith_accuracy *accuracy)
{
    struct forces_weights weights;
    const bool is_any = forces_find_weights_of_any(problem, &weights) && weights.any;
    const struct tree_problem sums = {.dtype = problem->dtype,
                                      .dimensions = problem->dimensions,
                                      .law = is_any ? expansion_series : expansion_inverse,
                                      .self = problem->self,
                                      .target_count = problem->target_count,
                                      .source_count = problem->source_count,
                                      .softening2 = problem->softening2};
    const struct tree_request wanted = {
        .error = accuracy->error, .theta = accuracy->theta, .order = accuracy->order};
    const struct tree_request request = context->device.kind == KITH_CPU
                                            ? tree_choose(&sums, &wanted)
                                            : tree_choose_cuda(&sums, &wanted);
    return context->device.kind == KITH_CPU ? tree_seconds(context, &sums, &request)
                                            : tree_seconds_cuda(&sums, &request);
}

void forces_advise(const kith_context *context, const kith_forces_options *options,
                   const struct forces_problem *problem)
{
    const double least_gain = 5;
    const kith_accuracy accuracy = {.error = TREE_DEFAULT_ERROR};
    const kith_accuracy *given = &options->accuracy;
    if (!options->advise || options->solver || options->cutoff > 0 ||
        options->method != KITH_FORCES_AUTO || given->error > 0 || given->theta > 0)
        return;
    struct forces_problem approximate = *problem;
    approximate.accuracy = accuracy;
    if (forces_solver_fmm.suits(context, &approximate) != KITH_OK)
        return;
    const double direct = forces_direct_seconds(context, problem);
    const double fmm = forces_fmm_seconds(context, problem, &accuracy);
    const kith_solver_advice advice = {.solver = &forces_solver_fmm,
                                       .error = accuracy.error,
                                       .seconds = fmm / context->threads,
                                       .direct_seconds = direct / context->threads};
    if (direct >= least_gain * fmm)
        options->advise(options->advise_user, &advice);
}
