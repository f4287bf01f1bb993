/* The solvers ewald and pme: all pairs and their periodic images (mesh/periodic.h, mesh/pme.h). */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/backend.h"
#include "forces/excluded.h"
#include "forces/near.h"
#include "forces/solver.h"
#include "forces/weights.h"
#include "law/law.h"
#include "mesh/pme.h"

static kith_status check_numbers(const struct forces_problem *problem)
{
    const kith_ewald *ewald = problem->space.ewald;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"absolute_error", ewald->absolute_error}, {"alpha", ewald->alpha}};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        if (!isfinite(numbers[k].value) || numbers[k].value < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s is %g; it must be greater than 0, or 0 for none", numbers[k].name,
                             numbers[k].value);
    if (ewald->absolute_error > 0 && problem->accuracy.error > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "error is %g and absolute_error is %g; give one of them",
                         problem->accuracy.error, ewald->absolute_error);
    if ((unsigned)ewald->boundary > KITH_BOUNDARY_VACUUM)
        return kith_fail(KITH_INVALID_ARGUMENT, "boundary is %d; give a kith_boundary",
                         (int)ewald->boundary);
    if (ewald->boundary == KITH_BOUNDARY_VACUUM && !problem->space.cell->periodic[2])
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "boundary is vacuum in a cell that is not periodic along its vector c, "
                         "where the boundary is open; leave it out");
    return KITH_OK;
}

/* Whether the second law ends at a cutoff. */
static bool has_cut_law(const struct forces_problem *problem)
{
    return near_law(problem) && problem->space.cutoff > 0;
}

/* The problem of a second law, lennard-jones, without a cutoff: its results are added, and its
 * setting is chosen. */
static bool take_second(const struct forces_problem *problem, struct forces_problem *second)
{
    static const kith_ewald chosen = {0};
    if (!near_law(problem) || has_cut_law(problem))
        return false;
    *second = *problem;
    second->law = near_law(problem);
    second->accumulate = true;
    second->report = NULL;
    second->accuracy.order = 0;
    second->space.ewald = &chosen;
    return true;
}

/* Whether the law is lennard-jones alone: V = strength (1/r⁶ − repulsion/r¹²). */
static bool find_sixth(const struct forces_problem *problem, struct forces_weights *law,
                       double *repulsion)
{
    if (!problem->law || !problem->law->info || near_law(problem) || problem->target_weight ||
        strcmp(problem->law->info->name, "lennard-jones") != 0)
        return false;
    const double epsilon = problem->law->parameter[0], sigma = problem->law->parameter[1];
    *repulsion = pow(sigma, 6);
    *law = (struct forces_weights){.strength = -4 * epsilon * *repulsion};
    return true;
}

/* What pme has of lennard-jones. */
static kith_status suits_sixth(const kith_context *context, const struct forces_problem *problem)
{
    if (context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is pme, which sums the images of lennard-jones on the CPU; use "
                         "that, or the solver cutoff");
    if (!problem->space.cell->periodic[2] ||
        problem->space.ewald->boundary != KITH_BOUNDARY_TIN_FOIL)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is pme, which sums the images of lennard-jones in cells that are "
                         "periodic along three vectors, without a boundary; use such a cell, or "
                         "the solver cutoff");
    return KITH_OK;
}

static kith_status suits_any(const char *name, bool has_sixth, const struct forces_problem *problem)
{
    struct forces_weights law;
    double repulsion;
    const kith_cell *cell = problem->space.cell;
    if (!cell || !cell->periodic[0] || !cell->periodic[1])
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which needs a cell that is periodic along its vectors a "
                         "and b; give the particles such a cell",
                         name);
    if (problem->dimensions != 3)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, but the positions have %d dimensions; it supports 3", name,
                         (int)problem->dimensions);
    if (!problem->self || problem->system_count > 0)
        return kith_fail(
            KITH_UNSUPPORTED,
            "solver is %s, which computes the forces of one system on itself; leave the targets "
            "out",
            name);
    if (problem->jerk[0] || problem->potential_rate)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which has no derivatives of forces; use an integrator "
                         "without them",
                         name);
    if (problem->source_half_softening2 || problem->softening2 > 0 || problem->softening2_at)
        return kith_fail(KITH_UNSUPPORTED,
                         "softening is given, but the solver %s does not support it; leave it out",
                         name);
    if (has_sixth && find_sixth(problem, &law, &repulsion))
        return check_numbers(problem);
    if (!forces_find_weights(problem, &law) || law.is_logarithm)
        return kith_fail(
            KITH_UNSUPPORTED,
            "solver is %s, which supports gravity, coulomb and other laws of the form weight over "
            "distance%s; use one of them",
            name, has_sixth ? ", and lennard-jones alone" : "");
    if (problem->law && law.source != law.target)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, but the targets have charges of their own; leave them out",
                         name);
    return check_numbers(problem);
}

static kith_status suits(const kith_context *context, const struct forces_problem *problem)
{
    if (context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED, "solver is ewald, which computes on the CPU; use that, "
                                           "or the solver pme");
    KITH_TRY(suits_any("ewald", false, problem));
    const int32_t *grid = problem->space.ewald->grid;
    if (grid[0] != 0 || grid[1] != 0 || grid[2] != 0 || problem->accuracy.order != 0 ||
        problem->accuracy.theta > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is given, but the solver ewald has none; leave it out",
                         problem->accuracy.theta > 0   ? "theta"
                         : problem->accuracy.order > 0 ? "order"
                                                       : "grid");
    return KITH_OK;
}

static kith_status check_grid(const int32_t grid[3])
{
    for (int c = 0; c < 3; c++)
        if (grid[c] < 0 || (grid[c] > 0) != (grid[0] > 0))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "grid is %d, %d, %d; give three numbers of points, or zeros",
                             (int)grid[0], (int)grid[1], (int)grid[2]);
    return KITH_OK;
}

/* What a device has of pme. */
static kith_status suits_device(const kith_context *context, const char *instead)
{
    const struct pme_backend *backend = forces_backend_of(context)->pme;
    if (!backend && !pme_is_there())
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is pme, but this build has no FFTW; install libfftw3-dev and "
                         "build again, or use the solver %s",
                         instead);
    return backend ? backend->is_there() : KITH_OK;
}

static kith_status suits_pme(const kith_context *context, const struct forces_problem *problem)
{
    const kith_accuracy *wanted = &problem->accuracy;
    const double least = problem->dtype == KITH_F64 ? 1e-11 : 1e-6;
    struct forces_weights law;
    struct forces_problem second;
    double repulsion;
    KITH_TRY(suits_any("pme", true, problem));
    const bool is_sixth = find_sixth(problem, &law, &repulsion);
    const bool has_second = take_second(problem, &second);
    KITH_TRY(suits_device(context, is_sixth || has_second ? "cutoff" : "ewald"));
    if (is_sixth || has_second)
        KITH_TRY(suits_sixth(context, has_second ? &second : problem));
    if (wanted->theta > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "theta is given, but the solver pme has none; leave it out");
    if (wanted->order != 0 && (wanted->order < pme_least_order || wanted->order > pme_most_order))
        return kith_fail(KITH_INVALID_ARGUMENT, "order is %d; for pme it must be from %d to %d",
                         (int)wanted->order, (int)pme_least_order, (int)pme_most_order);
    if (wanted->error > 0 && wanted->error < least)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "error is %g, but the solver pme reaches only %g in this precision; request that, or "
            "use the solver ewald",
            wanted->error, least);
    return check_grid(problem->space.ewald->grid);
}

struct images_state {
    struct periodic_state periodic, second; /* second: of a second law without a cutoff */
    struct near_state near;
    void *on_device; /* what its backend keeps */
    struct excluded_cuda excluded;
};

static void free_excluded(kith_context *context, struct images_state *state)
{
    if (state->excluded.begin)
        forces_backend_of(context)->free_excluded(context, &state->excluded);
}

static void free_images(kith_context *context, void *kept)
{
    struct images_state *state = kept;
    if (state->on_device)
        forces_backend_of(context)->pme->free(context, state->on_device);
    free_excluded(context, state);
    near_free(context, &state->near);
    periodic_free(&state->periodic);
    periodic_free(&state->second);
    free(state);
}

/* The memory of the last call, in its context: to take it from the system again would cost as much
 * as a tenth of the sums. */
static const struct device_slot_kind spare_images = {.free = free_images};

static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           void **prepared)
{
    void **spare = device_slot(context, &spare_images);
    if (!*prepared && spare && *spare) {
        *prepared = *spare;
        *spare = NULL;
    }
    if (!*prepared)
        KITH_TRY(kith_allocate(1, sizeof(struct images_state), "ewald", prepared));
    struct images_state *state = *prepared;
    /* A slab's thickness changes in a run. */
    state->periodic.keeps = problem->space.repeats && problem->space.cell->periodic[2];
    state->second.keeps = state->periodic.keeps;
    return has_cut_law(problem) ? near_prepare(problem, &state->near) : KITH_OK;
}

static void forget(kith_context *context, void *prepared)
{
    struct images_state *state = prepared;
    void **spare = device_slot(context, &spare_images);
    if (!spare || *spare) {
        free_images(context, state);
        return;
    }
    free_excluded(context, state);
    near_free(context, &state->near);
    state->near = (struct near_state){0};
    state->periodic.is_chosen = state->second.is_chosen = false;
    *spare = state;
}

static void put(const struct forces_problem *problem, bool adds, void *column, int64_t i,
                double value)
{
    if (!column)
        return;
    const double sum = adds ? periodic_at(problem->dtype, column, i) + value : value;
    if (problem->dtype == KITH_F64)
        ((double *)column)[i] = sum;
    else
        ((float *)column)[i] = (float)sum;
}

/* The contributions of the second law stay. */
static void deliver(const struct forces_problem *problem, bool has_near,
                    const struct forces_weights *law, const struct periodic_state *state)
{
    const bool adds = problem->accumulate || has_near;
    for (int64_t i = 0; i < problem->target_count; i++) {
        const double w = law->target ? periodic_at(problem->dtype, law->target, i) : 1;
        const double of_potential = law->strength * w;
        const double of_gradient =
            problem->law ? of_potential / periodic_at(problem->dtype, problem->target_mass, i)
                         : of_potential;
        put(problem, adds, problem->potential, i, of_potential * state->potential[i]);
        for (int c = 0; c < 3; c++)
            put(problem, adds, problem->acceleration[c], i, -of_gradient * state->gradient[c][i]);
    }
}

static void report_totals(const struct forces_problem *problem, bool adds, double strength,
                          const struct periodic_state *state)
{
    kith_forces_totals *totals = problem->space.totals;
    if (!totals)
        return;
    if (!adds)
        *totals = (kith_forces_totals){0};
    totals->energy += strength * state->energy;
    for (int k = 0; k < 9; k++)
        totals->virial[k] += strength * state->virial[k / 3][k % 3];
    totals->volume = state->system.is_slab ? 0 : state->system.volume;
}

static void report(const struct kith_solver *solver, const struct forces_problem *problem,
                   double requested, const struct periodic_state *state)
{
    const double force = fmax(state->force_rms, periodic_least_force(&state->system));
    if (!problem->report)
        return;
    *problem->report = (kith_solver_report){
        .solver = solver,
        .order = state->setting.order,
        .error_requested = requested,
        .error_estimated = force > 0 ? state->setting.force_error / force : 0,
        .cutoff = state->setting.cutoff,
        .alpha = state->setting.alpha,
        .prepare_seconds = state->setting.seconds,
    };
    memcpy(problem->report->grid, state->setting.grid, sizeof state->setting.grid);
}

/* Solves and delivers on a device with memory of its own. */
static kith_status sum_on_device(kith_context *context, const struct forces_problem *problem,
                                 const struct periodic_particles *particles,
                                 const struct periodic_request *request, bool has_near,
                                 struct forces_weights *law, struct images_state *images)
{
    const struct forces_backend *backend = forces_backend_of(context);
    const struct forces_delivery *to = &problem->delivery;
    KITH_TRY(backend->take_excluded(context, problem, &images->excluded));
    struct pme_delivery delivery = {.strength = law->strength,
                                    .weight = law->target,
                                    .mass = problem->law ? problem->target_mass : NULL,
                                    .potential = problem->potential,
                                    .acceleration_stride = 1,
                                    .potential_stride = 1,
                                    .adds = problem->accumulate || has_near,
                                    .excluded_begin = images->excluded.begin,
                                    .excluded = images->excluded.partner,
                                    .wants_totals = problem->space.totals || problem->report};
    for (int c = 0; c < 3; c++)
        delivery.acceleration[c] = problem->acceleration[c];
    if (to->measured) {
        law->strength *= ldexp(to->g_fraction, to->g_exponent);
        delivery.strength = law->strength;
        delivery.acceleration_stride = to->acceleration_stride;
        delivery.potential_stride = to->potential_stride;
        delivery.bad = backend->bad_of(to->measured);
    }
    return backend->pme->evaluate(context, problem->space.cell, particles, request, &delivery,
                                  &images->periodic, &images->on_device);
}

typedef kith_status periodic_sum(kith_context *context, const kith_cell *cell,
                                 const struct periodic_particles *particles,
                                 const struct periodic_request *request,
                                 struct periodic_state *state);

static kith_status evaluate_by(const struct kith_solver *solver, periodic_sum *sum,
                               double default_error, kith_context *context,
                               struct images_state *images, struct periodic_state *state,
                               const struct forces_problem *problem)
{
    const kith_ewald *ewald = problem->space.ewald;
    struct forces_weights law;
    double repulsion = 0;
    const bool is_sixth = find_sixth(problem, &law, &repulsion);
    if (!is_sixth && !forces_find_weights(problem, &law))
        return kith_fail(KITH_UNSUPPORTED, "solver is %s, which does not support this law",
                         solver->name);
    const double strength = law.strength != 0 ? fabs(law.strength) : 1;
    const double error = problem->accuracy.error > 0 ? problem->accuracy.error : default_error;
    struct periodic_particles particles = {
        .count = problem->target_count, .dtype = problem->dtype, .weight = law.source};
    for (int c = 0; c < 3; c++)
        particles.position[c] = problem->source_position[c];
    kith_array exclusions;
    KITH_TRY(excluded_check_rows(problem));
    const bool has_near = has_cut_law(problem) && problem->space.part != forces_far;
    if (has_near)
        KITH_TRY(near_evaluate(context, problem, &images->near));
    KITH_TRY(excluded_copy(problem->space.exclusions, &exclusions));
    struct periodic_request request = {
        .error = error,
        .absolute_error = problem->space.absolute_error / strength,
        .cutoff = near_law(problem) ? 0 : problem->space.cutoff, /* or it is near_law's */
        .alpha = ewald->alpha,
        .order = problem->accuracy.order,
        .is_vacuum = ewald->boundary == KITH_BOUNDARY_VACUUM,
        .wants_estimate = problem->report != NULL,
        .is_sixth = is_sixth,
        .repulsion = repulsion,
        .part = problem->space.part == forces_near  ? periodic_near
                : problem->space.part == forces_far ? periodic_far
                                                    : periodic_all,
        .exclusion_count = kith_array_is_none(exclusions) ? 0 : exclusions.shape[0],
        .exclusions = (const int64_t(*)[2])exclusions.data,
    };
    for (int c = 0; c < 3; c++)
        request.grid[c] = ewald->grid[c];
    const bool on_device = forces_backend_of(context)->pme != NULL;
    const kith_status status =
        on_device ? sum_on_device(context, problem, &particles, &request, has_near, &law, images)
                  : sum(context, problem->space.cell, &particles, &request, state);
    free(exclusions.data);
    KITH_TRY(status);
    if (!on_device)
        deliver(problem, has_near, &law, state);
    report_totals(problem, has_cut_law(problem) || state == &images->second, law.strength, state);
    report(solver, problem, ewald->absolute_error > 0 ? 0 : error, state);
    return KITH_OK;
}

static kith_status evaluate(kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    struct images_state *images = prepared;
    return evaluate_by(&forces_solver_ewald, ewald_cpu, problem->dtype == KITH_F64 ? 1e-12 : 1e-6,
                       context, images, &images->periodic, problem);
}

static kith_status evaluate_pme(kith_context *context, void *prepared,
                                const struct forces_problem *problem)
{
    struct images_state *images = prepared;
    struct forces_problem first = *problem, second;
    if (!take_second(problem, &second))
        return evaluate_by(&forces_solver_pme, pme_cpu, 1e-4, context, images, &images->periodic,
                           problem);
    first.space.absolute_error /= sqrt(2); /* of two that are independent */
    second.space.absolute_error /= sqrt(2);
    KITH_TRY(
        evaluate_by(&forces_solver_pme, pme_cpu, 1e-4, context, images, &images->periodic, &first));
    KITH_TRY(
        evaluate_by(&forces_solver_pme, pme_cpu, 1e-4, context, images, &images->second, &second));
    if (problem->report)
        problem->report->prepare_seconds += images->second.setting.seconds;
    return KITH_OK;
}

const struct kith_solver forces_solver_ewald = {
    .name = "ewald",
    .summary = "all pairs and periodic images by Ewald summation, to 1e-12",
    .is_periodic = true,
    .suits = suits,
    .prepare = prepare,
    .evaluate = evaluate,
    .free = forget,
};

const struct kith_solver forces_solver_pme = {
    .name = "pme",
    .summary = "all pairs and periodic images by particle-mesh Ewald, to a requested error",
    .is_periodic = true,
    .suits = suits_pme,
    .prepare = prepare,
    .evaluate = evaluate_pme,
    .free = forget,
};
