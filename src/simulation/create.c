/* Simulations and ensembles: their arguments checked, made and freed. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/context.h"
#include "forces/law_choice.h"
#include "forces/method.h"
#include "forces/mixing.h"
#include "forces/solver.h"
#include "io/bodies.h"
#include "law/law.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "simulation/integrator.h"
#include "simulation/slice.h"
#include "simulation/substeps.h"
#include "simulation/thermostat.h"
#include "simulation/watch.h"

static kith_status check_softening_of_bodies(bool wanted, const kith_bodies *bodies)
{
    if (wanted && !bodies->softening && bodies->count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "the bodies have no softening lengths of their "
                                                "own; add that column or give one softening");
    return KITH_OK;
}

static kith_status check_options(const kith_simulation_options *options,
                                 const struct integrator_method *method, const kith_bodies *bodies)
{
    if (!(options->dt > 0) || !isfinite(options->dt))
        return kith_fail(KITH_INVALID_ARGUMENT, "dt is %g; give a finite step greater than 0",
                         options->dt);
    const kith_forces_options *forces = &options->forces;
    if (!(forces->softening >= 0) || !isfinite(forces->softening))
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a finite length ≥ 0",
                         forces->softening);
    if (!isfinite(forces->gravitational_constant))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational constant is %g; give a finite number",
                         forces->gravitational_constant);
    if (forces->sum != KITH_FORCES_SUM_FORCE)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "forces.sum is %d; it must be KITH_FORCES_SUM_FORCE, which moves bodies",
                         (int)forces->sum);
    if (options->precision != KITH_F64 && options->precision != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "precision is dtype %d; give KITH_F64 or KITH_F32",
                         (int)options->precision);
    if (!(options->eta >= 0) || !isfinite(options->eta))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "eta is %g; give a number greater than 0, or 0 for the default",
                         options->eta);
    if (options->eta > 0 && method != &hermite_block_method)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "eta is %g, but the integrator is %s; leave eta out or use hermite-block",
                         options->eta, options->integrator ? options->integrator : "leapfrog");
    if (!(options->skin >= 0) || !isfinite(options->skin))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "skin is %g; give a finite length greater than 0, or 0 for the default",
                         options->skin);
    if (options->skin > 0 && forces->cutoff == 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "skin is %g and cutoff is 0; give a cutoff, or leave the skin out",
                         options->skin);
    return check_softening_of_bodies(options->softening_of_bodies, bodies);
}

static kith_status check_law(const struct law_choice *choice,
                             const kith_simulation_options *options,
                             const struct integrator_method *method, const kith_bodies *bodies)
{
    if (!choice->law)
        return KITH_OK;
    KITH_TRY(law_check_dimensions(choice->law, bodies->dimensions));
    KITH_TRY(law_check_dimensions(choice->law->near, bodies->dimensions));
    const char *name = kith_law_text(choice->law);
    if (options->forces.gravitational_constant != 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational constant is %g and the law is %.60s, which has none; set "
                         "the law's own parameters",
                         options->forces.gravitational_constant, name);
    if (method->has_jerk)
        KITH_TRY(forces_check_jerk(choice->law));
    return KITH_OK;
}

/* `first` is the number of the first of the bodies. */
static kith_status check_masses_of_law(const struct law_choice *choice, bool is_ensemble,
                                       int64_t systems, const kith_bodies *bodies, int64_t first)
{
    for (int64_t row = 0; choice->law && bodies->mass && row < bodies->count; row++) {
        if (bodies->mass[row] > 0)
            continue;
        const int64_t count = bodies->count / systems;
        const kith_status status =
            kith_fail(KITH_INVALID_ARGUMENT,
                      "mass of body %lld (from 0) is %g; give a mass > 0, by which its force is "
                      "divided",
                      (long long)(first + row % count), bodies->mass[row]);
        return is_ensemble
                   ? kith_fail_within(status, "system %lld (from 0): ", (long long)(row / count))
                   : status;
    }
    return KITH_OK;
}

/* *mixed is the law of the bodies' ε and σ, or NULL (forces/mixing.h); the caller frees it. */
static kith_status mix(const struct law_choice *choice, bool is_ensemble, bool is_watched,
                       const kith_bodies *bodies, kith_law **mixed)
{
    KITH_TRY(forces_mix(choice->law, "the bodies", bodies->epsilon, bodies->sigma, mixed));
    const char *what = !*mixed       ? NULL
                       : is_ensemble ? "of an ensemble"
                       : is_watched  ? "with collisions, encounters or escapes"
                                     : NULL;
    return what ? kith_fail(KITH_UNSUPPORTED,
                            "the bodies have columns epsilon and sigma, which are not mixed %s; "
                            "leave them out, or simulate without that",
                            what)
                : KITH_OK;
}

/* All pairs have no periodic images. */
static kith_status check_open(const kith_bodies *bodies, const kith_solver *solver, double cutoff)
{
    for (int32_t k = 0; k < bodies->dimensions && cutoff == 0 && !solver->is_periodic; k++)
        if (bodies->periodic[k])
            return kith_fail(KITH_UNSUPPORTED,
                             "the bodies are periodic along cell vector %c, and forces without a "
                             "cutoff have no periodic images; give a cutoff or the solver pme, or "
                             "make the bodies not periodic to simulate open space",
                             "abc"[k]);
    return KITH_OK;
}

static kith_status check_masses(const kith_bodies *bodies, int64_t first)
{
    for (int64_t i = 0; bodies->mass && i < bodies->count; i++)
        if (bodies->mass[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "mass of body %lld (from 0) is %g; give a mass ≥ 0",
                             (long long)(first + i), bodies->mass[i]);
    return KITH_OK;
}

static kith_status check_systems(const kith_bodies *bodies, int64_t systems)
{
    KITH_TRY(kith_ensemble_check(bodies, systems));
    const int64_t count = systems > 0 ? bodies->count / systems : 0;
    if (count > kith_most_bodies_of_system)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the systems have %lld bodies each; an ensemble takes at most %d: "
                         "simulate larger systems one by one",
                         (long long)count, kith_most_bodies_of_system);
    for (int64_t s = 0; s < systems; s++) {
        const kith_bodies one = kith_ensemble_system(bodies, systems, s);
        const kith_status status = check_masses(&one, 0);
        if (status != KITH_OK)
            return kith_fail_within(status, "system %lld (from 0): ", (long long)s);
    }
    return KITH_OK;
}

static kith_status copy_slice(const struct simulation_slice *slice,
                              struct kith_simulation *simulation)
{
    if (!slice)
        return KITH_OK;
    KITH_TRY(kith_allocate(1, sizeof *slice, "simulation", &simulation->slice));
    *simulation->slice = *slice;
    return KITH_OK;
}

/* From bodies that were checked; slice is NULL if they are all. */
static kith_status create(kith_context *context, const kith_simulation_options *options,
                          bool is_ensemble, int64_t systems, const kith_bodies *bodies,
                          const struct simulation_slice *slice, kith_simulation **simulation)
{
    const struct integrator_method *method = NULL;
    KITH_TRY(integrator_find(options->integrator, &method));
    if (is_ensemble && method->for_systems)
        method = method->for_systems;
    KITH_TRY(check_options(options, method, bodies));
    struct whfast_choice whfast;
    KITH_TRY(whfast_choose(options, &whfast));
    const kith_solver *solver = NULL;
    KITH_TRY(forces_choose_solver(&options->forces, &solver));
    KITH_TRY(check_open(bodies, solver, options->forces.cutoff));
    const kith_cell cell = simulation_choose_cell(&options->forces, bodies);
    KITH_TRY(substeps_choose(options, solver, &cell, &method));
    KITH_TRY(watch_check(options, bodies));
    KITH_TRY(thermostat_check(options, is_ensemble));
    struct law_choice choice;
    KITH_TRY(forces_choose_law(options->forces.law, options->forces.gravitational_constant,
                               bodies->units.gravitational_constant, &choice));
    KITH_TRY(check_law(&choice, options, method, bodies));
    struct forces_way way = {options->forces.method, options->forces.block, options->forces.unroll,
                             0, 0};
    KITH_TRY(forces_check_way(&way, choice.law));
    KITH_TRY(check_masses_of_law(&choice, is_ensemble, systems, bodies, slice ? slice->first : 0));

    kith_law *mixed = NULL;
    struct kith_simulation *created = NULL;
    kith_status status = mix(&choice, is_ensemble, watch_is_wanted(options), bodies, &mixed);
    if (status == KITH_OK)
        status = kith_allocate(1, sizeof *created, "simulation", &created);
    if (status != KITH_OK) {
        kith_law_free(mixed);
        return status;
    }
    created->context = context;
    created->method = method;
    created->dtype = options->precision;
    created->dimensions = bodies->dimensions;
    created->is_ensemble = is_ensemble;
    created->systems = systems;
    created->count = systems > 0 ? bodies->count / systems : 0;
    created->dt = options->dt;
    created->softening = options->forces.softening;
    created->eta = options->eta;
    created->substeps = options->substeps;
    created->softening_of_bodies = options->softening_of_bodies;
    created->whfast = whfast;
    created->thermostat = options->thermostat;
    created->law = choice;
    created->mixed = mixed;
    created->solver = solver;
    created->is_fused = solver == &forces_solver_direct && way.method <= KITH_FORCES_DIRECT &&
                        !mixed && options->thermostat.kind == KITH_THERMOSTAT_NONE;
    created->problem.way = way;
    created->problem.accuracy = options->forces.accuracy;
    created->space = (struct forces_space){.cutoff = options->forces.cutoff,
                                           .shift = options->forces.shift,
                                           .tail = options->forces.tail,
                                           .repeats = true,
                                           .skin = options->skin};
    created->cell = cell;
    created->start_time = bodies->time;

    status = copy_slice(slice, created);
    if (status == KITH_OK)
        status = simulation_take_images(options, created);
    if (status == KITH_OK)
        status = watch_create(context, options, is_ensemble, bodies, &created->watch);
    if (status == KITH_OK && method->check)
        status = method->check(created, bodies);
    if (status == KITH_OK)
        status = simulation_load(created, bodies);
    if (status == KITH_OK)
        status = simulation_check_solver(created, &options->forces);
    if (status == KITH_OK)
        status = simulation_choose_images(created);
    if (status == KITH_OK)
        status = simulation_allocate_potentials(created);
    if (status == KITH_OK)
        status = integrator_prepare(created);
    if (status != KITH_OK) {
        kith_simulation_free(created);
        return status;
    }
    *simulation = created;
    return KITH_OK;
}

kith_status kith_simulation_create(kith_context *context, const kith_simulation_options *options,
                                   const kith_bodies *bodies, kith_simulation **simulation)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    *simulation = NULL;
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(kith_check_pointer(options, "options"));
    KITH_TRY(kith_bodies_check(bodies));
    KITH_TRY(check_masses(bodies, 0));
    return create(context, options, false, 1, bodies, NULL, simulation);
}

kith_status simulation_create_slice(kith_context *context, const kith_simulation_options *options,
                                    const kith_bodies *bodies, int64_t all,
                                    kith_simulation **simulation)
{
    const struct ranks *ranks = context->ranks;
    const struct simulation_slice slice = {.all = all,
                                           .first = ranks_first(all, ranks->size, ranks->rank)};
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    *simulation = NULL;
    KITH_TRY(bodies_check_rows(bodies, slice.first));
    KITH_TRY(check_masses(bodies, slice.first));
    return create(context, options, false, 1, bodies, &slice, simulation);
}

kith_status kith_simulation_create_ensemble(kith_context *context,
                                            const kith_simulation_options *options, int64_t systems,
                                            const kith_bodies *bodies, kith_simulation **simulation)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    *simulation = NULL;
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(kith_check_pointer(options, "options"));
    KITH_TRY(check_systems(bodies, systems));
    return create(context, options, true, systems, bodies, NULL, simulation);
}

static kith_status check_replacement(const kith_simulation *simulation, const kith_bodies *bodies)
{
    if (simulation->is_looked_at)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the simulation is in the middle of its heartbeat, which may inspect it; "
                         "change it after the call that takes the steps");
    if (simulation->is_ensemble)
        KITH_TRY(check_systems(bodies, simulation->systems));
    KITH_TRY(kith_bodies_check(bodies));
    KITH_TRY(check_masses(bodies, 0));
    KITH_TRY(check_open(bodies, simulation->solver, simulation->space.cutoff));
    KITH_TRY(check_masses_of_law(&simulation->law, simulation->is_ensemble, simulation->systems,
                                 bodies, 0));
    const int64_t count = simulation->systems * simulation->count;
    if (bodies->count != count || bodies->dimensions != simulation->dimensions)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the bodies are %lld in %d dimensions and the simulation has %lld in %d; "
                         "give as many, or make another simulation",
                         (long long)bodies->count, (int)bodies->dimensions, (long long)count,
                         (int)simulation->dimensions);
    KITH_TRY(check_softening_of_bodies(simulation->softening_of_bodies, bodies));
    if (simulation->mixed && !(bodies->epsilon && bodies->sigma) && bodies->count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the bodies have no column %s, and those of the simulation have epsilon "
                         "and sigma; give both",
                         bodies->epsilon ? "sigma" : "epsilon");
    return simulation->method->check ? simulation->method->check(simulation, bodies) : KITH_OK;
}

static kith_status begin_at(struct kith_simulation *simulation, double time)
{
    simulation->start_time = time;
    simulation->start_steps = simulation->steps;
    if (!simulation->method->adapt)
        simulation->clock.lost_time = 0;
    KITH_TRY(simulation_choose_images(simulation));
    return integrator_prepare(simulation);
}

kith_status kith_simulation_set_bodies(kith_simulation *simulation, const kith_bodies *bodies)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    if (simulation->watch) {
        KITH_TRY(watch_set_bodies(simulation, bodies));
        return begin_at(simulation, bodies->time);
    }
    KITH_TRY(check_replacement(simulation, bodies));
    double *at_rest = NULL;
    kith_bodies moving = *bodies;
    if (!bodies->velocity) {
        KITH_TRY(kith_allocate(bodies->count * bodies->dimensions, sizeof *at_rest, "velocities",
                               &at_rest));
        moving.velocity = at_rest;
    }
    kith_status status = simulation_fill(simulation, &moving);
    free(at_rest);
    KITH_TRY(status);
    return begin_at(simulation, bodies->time);
}

void kith_simulation_free(kith_simulation *simulation)
{
    if (!simulation)
        return;
    DEVICE_SCOPE(scope);
    (void)device_enter(simulation->context, &scope);
    kith_context_synchronize(simulation->context);
    simulation_release(simulation);
    watch_free(simulation->watch);
    free(simulation);
}
