#include "kith/forces.h"

#include <math.h>
#include <stdlib.h>

#include "core/arguments.h"
#include "device/arrays.h"
#include "device/context.h"
#include "device/staging.h"
#include "forces/advice.h"
#include "forces/arguments.h"
#include "forces/backend.h"
#include "forces/excluded.h"
#include "forces/law_choice.h"
#include "forces/method.h"
#include "forces/mixing.h"
#include "forces/pack.h"
#include "forces/slice.h"
#include "forces/solver.h"
#include "law/law.h"
#include "ranks/bodies.h"
#include "ranks/ranks.h"

static const kith_forces_options defaults;

/* For arrays on the host and a solver that computes there. */
static kith_status compute_packed(kith_context *context, struct forces_arguments *arguments)
{
    const kith_solver *solver = arguments->solver;
    const kith_dtype dtype = solver->on_host ? KITH_F64 : arguments->sources.positions.dtype;
    struct forces_packed packed;
    KITH_TRY(forces_pack(context, arguments, dtype, &packed));
    forces_advise(context, arguments->options, &packed.problem);
    KITH_TRY(forces_solve(context, solver, &packed.problem));
    return forces_unpack(&packed, arguments);
}

/* What a solver does not take as slices is solved by all bodies. */
static kith_status solve_slice(kith_context *context, const kith_solver *solver,
                               struct forces_problem *own)
{
    struct forces_problem problem = *own;
    struct forces_wide wide = {0};
    problem.is_slice = forces_takes_slices(context, solver, own);
    kith_status status = KITH_OK;
    if (!problem.is_slice)
        status = forces_widen(context, own, &wide, &problem);
    if (status == KITH_OK)
        status = forces_solve(context, solver, &problem);
    if (status == KITH_OK && !problem.is_slice)
        status = forces_keep_own(context, &problem, own);
    forces_wide_free(context, &wide);
    return status;
}

/* Of the excluded pairs of all bodies those with a row of this rank's, which the caller frees with
 * free(own->data). */
static kith_status take_exclusions(const kith_context *context, const kith_solver *solver,
                                   struct forces_problem *problem, kith_array *own)
{
    struct forces_space *space = &problem->space;
    int64_t first = 0, count = 0;
    KITH_TRY(excluded_check(space->exclusions, solver, space->cutoff));
    KITH_TRY(excluded_check_rows(problem));
    space->has_exclusions = excluded_count(problem) > 0;
    ranks_rows(context, problem->source_count, &first, &count);
    KITH_TRY(excluded_copy_own(space->exclusions, first, first + count, own));
    space->exclusions = *own;
    return KITH_OK;
}

/* Of this rank's rows. */
static kith_status compute_slice(kith_context *context, struct forces_arguments *arguments)
{
    const kith_dtype dtype = arguments->sources.positions.dtype;
    struct forces_packed packed;
    struct forces_problem problem = {0};
    kith_status status = kith_context_check_cancelled(context);
    if (status == KITH_OK)
        status = forces_check_way(&arguments->way, arguments->law);
    if (status == KITH_OK)
        status = forces_check_arguments(arguments);
    if (status == KITH_OK)
        status =
            law_check_dimensions(arguments->law, kith_array_columns(arguments->sources.positions));
    KITH_TRY(ranks_agree(context, status));
    status = forces_pack(context, arguments, dtype, &packed);
    if (status == KITH_OK)
        status = forces_pack_send(&packed, arguments, &problem);
    KITH_TRY(ranks_agree(context, status));
    problem.source_count = arguments->all;
    problem.target_count = problem.self ? arguments->all : arguments->all_targets;
    kith_array exclusions = kith_array_none();
    status = take_exclusions(context, arguments->solver, &problem, &exclusions);
    status = ranks_agree(context, status);
    if (status == KITH_OK) {
        forces_advise(context, arguments->options, &problem);
        status = solve_slice(context, arguments->solver, &problem);
    }
    free(exclusions.data);
    KITH_TRY(status);
    status = forces_pack_receive(&packed);
    if (status == KITH_OK)
        status = forces_unpack(&packed, arguments);
    return ranks_agree(context, status);
}

static kith_status compute_in_place(kith_context *context, const struct forces_arguments *arguments)
{
    if (arguments->solver->on_host)
        return kith_fail(
            KITH_UNSUPPORTED,
            "solver is %s, which computes on the host, but the arrays are elsewhere; copy them to "
            "the host",
            arguments->solver->name);
    return forces_backend_of(context)->evaluate_in_place(context, arguments);
}

/* For arrays on the host and a device with memory of its own. */
static kith_status compute_staged(kith_context *context, struct forces_arguments *arguments)
{
    struct staging staging = {.context = context, .reads_once = true};
    kith_array *const outputs[] = {&arguments->acceleration, &arguments->potential,
                                   &arguments->acceleration_derivative,
                                   &arguments->potential_derivative};
    particles_stage(&staging, &arguments->sources);
    particles_stage(&staging, &arguments->targets);
    staging_add(&staging, &arguments->source_directions, false);
    staging_add(&staging, &arguments->target_directions, false);
    for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; k++)
        staging_add(&staging, outputs[k], true);
    KITH_TRY(staging_send(&staging));
    return staging_receive(&staging, compute_in_place(context, arguments));
}

static kith_status check_and_compute(kith_context *context, struct forces_arguments *arguments)
{
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(forces_check_way(&arguments->way, arguments->law));
    KITH_TRY(forces_check_arguments(arguments));
    KITH_TRY(
        law_check_dimensions(arguments->law, kith_array_columns(arguments->sources.positions)));
    if (forces_on_device(arguments))
        return compute_in_place(context, arguments);
    return staging_is_needed(context, arguments->sources.positions) && !arguments->solver->on_host
               ? compute_staged(context, arguments)
               : compute_packed(context, arguments);
}

static void leave_out(struct forces_arguments *arguments, enum particles_column column,
                      bool of_targets_alone)
{
    arguments->targets.column[column] = kith_array_none();
    if (!of_targets_alone)
        arguments->sources.column[column] = kith_array_none();
}

/* Takes the columns epsilon and sigma, where the law is lennard-jones; *made is then the law. */
static kith_status choose_mixing(struct forces_arguments *arguments, kith_law **made)
{
    const struct particles_side *sources = &arguments->sources, *targets = &arguments->targets;
    const bool has_epsilon = !kith_array_is_none(sources->column[particles_epsilon]);
    const bool has_sigma = !kith_array_is_none(sources->column[particles_sigma]);
    const bool has_targets = !kith_array_is_none(targets->positions);
    kith_law *mixed = NULL;
    KITH_TRY(forces_mix(arguments->law, "sources", has_epsilon, has_sigma, &mixed));
    arguments->mixes = mixed != NULL;
    if (!mixed) {
        leave_out(arguments, particles_epsilon, false);
        leave_out(arguments, particles_sigma, false);
        return KITH_OK;
    }
    *made = mixed;
    arguments->law = mixed;
    arguments->uses_charges = true;
    if (has_targets && (kith_array_is_none(targets->column[particles_epsilon]) ||
                        kith_array_is_none(targets->column[particles_sigma])))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the sources have columns epsilon and sigma and the targets do not; give "
                         "both to both");
    return KITH_OK;
}

/* Fills in the law and what follows from it. *made is a law that the caller frees, or NULL: the
 * values of gravity are summed like those of any law. */
static kith_status choose_law(const kith_forces_options *options,
                              struct forces_arguments *arguments, kith_law **made)
{
    const double g = options->gravitational_constant;
    struct law_choice choice;
    KITH_TRY(forces_choose_law(options->law, g, 0, &choice));
    if (choice.law && g != 0)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "gravitational_constant is %g, but the law is %.60s, which has none; set the law's "
            "own parameters",
            g, kith_law_text(choice.law));
    if (!choice.law && options->sum == KITH_FORCES_SUM_VALUE) {
        const kith_law_parameter strength = {"G", choice.g};
        KITH_TRY(kith_law_parse("gravity", 1, &strength, made));
        choice = (struct law_choice){*made, 1, false};
    }
    arguments->law = choice.law;
    arguments->gravitational_constant = choice.g;
    arguments->uses_charges = choice.uses_charges;
    arguments->space.absolute_error =
        options->ewald.absolute_error / (choice.g != 0 ? fabs(choice.g) : 1);
    KITH_TRY(choose_mixing(arguments, made));
    if (!choice.law)
        leave_out(arguments, particles_m, true);
    if (!choice.uses_charges)
        leave_out(arguments, particles_q, false);
    return KITH_OK;
}

static kith_status check_sum(const kith_forces_options *options, kith_array acceleration)
{
    if ((unsigned)options->sum > KITH_FORCES_SUM_VALUE)
        return kith_fail(KITH_INVALID_ARGUMENT, "sum is %d; give a kith_forces_sum",
                         (int)options->sum);
    if (options->sum == KITH_FORCES_SUM_VALUE && !kith_array_is_none(acceleration))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "sum is KITH_FORCES_SUM_VALUE, but acceleration is given; leave it out: potential "
            "receives the sums");
    return KITH_OK;
}

static void take_array(const kith_array *array, kith_array *to)
{
    if (!kith_array_is_none(*array))
        *to = *array;
}

/* What both functions take. */
static kith_status take_arguments(kith_context *context, const kith_forces_options *options,
                                  const kith_particles *targets, const kith_particles *sources,
                                  struct forces_arguments *arguments)
{
    kith_clear(arguments, sizeof *arguments);
    arguments->softening = options->softening;
    arguments->space = (struct forces_space){.cell = options->cell,
                                             .cutoff = options->cutoff,
                                             .shift = options->shift,
                                             .tail = options->tail,
                                             .exclusions = options->exclusions,
                                             .ewald = &options->ewald,
                                             .totals = options->totals};
    arguments->accuracy = options->accuracy;
    arguments->report = options->report;
    arguments->options = options;
    arguments->way = (struct forces_way){
        .method = options->method, .block = options->block, .unroll = options->unroll};
    arguments->context = context;
    KITH_TRY(particles_take(&particles_sources, sources, &arguments->sources));
    arguments->targets.argument = &particles_targets;
    if (targets && targets != sources)
        KITH_TRY(particles_take(&particles_targets, targets, &arguments->targets));
    particles_share(&arguments->sources, &arguments->targets);
    return KITH_OK;
}

/* The forces of `all` bodies, of which the arrays have a slice, as of the targets; of those in the
 * arrays if it is 0. */
static kith_status compute(kith_context *context, const kith_forces_options *options,
                           const kith_particles *targets, int64_t all_targets,
                           const kith_particles *sources, int64_t all, kith_array acceleration,
                           kith_array potential)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    const kith_forces_options *chosen = options ? options : &defaults;
    struct forces_arguments arguments;
    KITH_TRY(take_arguments(context, chosen, targets, sources, &arguments));
    arguments.all = all;
    arguments.all_targets = all_targets;
    take_array(&acceleration, &arguments.acceleration);
    take_array(&potential, &arguments.potential);
    KITH_TRY(forces_choose_solver(chosen, &arguments.solver));
    KITH_TRY(check_sum(chosen, acceleration));
    kith_law *made = NULL;
    kith_status status = choose_law(chosen, &arguments, &made);
    if (status == KITH_OK && all > 0)
        status = compute_slice(context, &arguments);
    else if (status == KITH_OK)
        status = check_and_compute(context, &arguments);
    kith_law_free(made);
    return status;
}

kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                const kith_particles *targets, const kith_particles *sources,
                                kith_array acceleration, kith_array potential)
{
    return compute(context, options, targets, 0, sources, 0, acceleration, potential);
}

kith_status forces_compute_slice(kith_context *context, const kith_forces_options *options,
                                 const kith_particles *targets, int64_t all_targets,
                                 const kith_particles *sources, int64_t all,
                                 kith_array acceleration, kith_array potential)
{
    return compute(context, options, targets, all_targets, sources, all, acceleration, potential);
}

static kith_status check_directions(const struct forces_arguments *arguments)
{
    KITH_TRY(forces_check_derivative(&arguments->way));
    if (!forces_is_derivative(arguments))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "target_directions and source_directions are empty; "
                         "give at least one of them");
    return KITH_OK;
}

/* *made is a law that the caller frees, or NULL: −1/s of a source's mass, or what choose_law has
 * made. */
static kith_status choose_derivative(const kith_forces_options *options,
                                     struct forces_arguments *arguments, kith_law **made)
{
    const kith_law_parameter strength = {"k", -1};
    KITH_TRY(choose_law(options, arguments, made));
    if (arguments->law)
        return forces_check_jerk(arguments->law);
    KITH_TRY(kith_law_parse("coulomb", 1, &strength, made));
    arguments->law_of_unit_mass = *made;
    return KITH_OK;
}

kith_status kith_forces_derivative(kith_context *context, const kith_forces_options *options,
                                   const kith_particles *targets, const kith_particles *sources,
                                   kith_array target_directions, kith_array source_directions,
                                   kith_array acceleration_derivative,
                                   kith_array potential_derivative)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    const kith_forces_options *chosen = options ? options : &defaults;
    struct forces_arguments arguments;
    KITH_TRY(take_arguments(context, chosen, targets, sources, &arguments));
    take_array(&target_directions, &arguments.target_directions);
    take_array(&source_directions, &arguments.source_directions);
    take_array(&acceleration_derivative, &arguments.acceleration_derivative);
    take_array(&potential_derivative, &arguments.potential_derivative);
    KITH_TRY(forces_choose_solver(chosen, &arguments.solver));
    KITH_TRY(check_sum(chosen, acceleration_derivative));
    KITH_TRY(check_directions(&arguments));
    kith_law *made = NULL;
    kith_status status = choose_derivative(chosen, &arguments, &made);
    if (status == KITH_OK)
        status = check_and_compute(context, &arguments);
    kith_law_free(made);
    return status;
}
