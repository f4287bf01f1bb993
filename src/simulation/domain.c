#include "simulation/domain.h"

#include <math.h>
#include <stdlib.h>

#include "core/philox.h"
#include "core/reals.h"
#include "device/threads.h"
#include "forces/domain.h"
#include "forces/solver.h"
#include "simulation/integrator.h"
#include "simulation/slice.h"
#include "simulation/thermostat.h"

/* The arrays that move with the bodies, and which columns their components are. */
enum { moved_arrays = ACCELERATION + 1, all_arrays = (1 << moved_arrays) - 1 };

struct simulation_domain {
    struct domain domain;
    int32_t column[moved_arrays][3], mass;
    unsigned gathered; /* bits of the arrays that are as they are here */
    bool is_barred;    /* positions or forces were too large for a list */
};

static const double bodies_a_second = 1e7;

/* The forces of a step. */
static struct forces_problem problem_of(const struct kith_simulation *simulation)
{
    struct forces_problem problem = simulation->problem;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        problem.target_position[k] = problem.source_position[k] = simulation->vector[POSITION][k];
        problem.acceleration[k] = simulation->vector[ACCELERATION][k];
    }
    return problem;
}

bool simulation_is_divided(const struct kith_simulation *simulation)
{
    if (simulation->solver != &forces_solver_cutoff || !simulation->context->ranks ||
        simulation->method->composition.stage_count == 0 || simulation->is_ensemble ||
        simulation->watch || simulation->massive)
        return false;
    if (simulation->domain)
        return !simulation->domain->is_barred;
    const struct forces_problem problem = problem_of(simulation);
    return domain_suits(simulation->context, &problem);
}

void simulation_drop_domain(struct kith_simulation *simulation)
{
    if (!simulation->domain)
        return;
    domain_free(&simulation->domain->domain);
    free(simulation->domain);
    simulation->domain = NULL;
}

static kith_status add_columns(struct kith_simulation *simulation)
{
    struct simulation_domain *divided = simulation->domain;
    for (int32_t array = 0; array < moved_arrays; array++)
        for (int32_t k = 0; k < simulation->dimensions; k++)
            KITH_TRY(domain_add_column(&divided->domain, simulation->vector[array][k],
                                       &divided->column[array][k]));
    return domain_add_column(&divided->domain, simulation->mass, &divided->mass);
}

/* From the arrays. Lists of all bodies are not needed any more. */
static kith_status divide(struct kith_simulation *simulation)
{
    kith_context *context = simulation->context;
    const struct forces_problem problem = problem_of(simulation);
    forces_forget(context, simulation->solver, &simulation->prepared);
    KITH_TRY(ranks_agree(
        context, kith_allocate(1, sizeof *simulation->domain, "simulation", &simulation->domain)));
    simulation->domain->gathered = all_arrays;
    KITH_TRY(
        domain_create(context, &problem, simulation->slice != NULL, &simulation->domain->domain));
    return ranks_agree(context, add_columns(simulation));
}

static kith_status gather(struct kith_simulation *simulation, unsigned arrays)
{
    struct simulation_domain *divided = simulation->domain;
    int32_t column[3 * moved_arrays], count = 0;
    void *of_all[3 * moved_arrays];
    if (!divided)
        return KITH_OK;
    for (int32_t array = 0; array < moved_arrays; array++)
        for (int32_t k = 0; arrays & ~divided->gathered & 1U << array && k < simulation->dimensions;
             k++) {
            column[count] = divided->column[array][k];
            of_all[count++] = simulation->vector[array][k];
        }
    if (count > 0)
        KITH_TRY(domain_gather(&divided->domain, count, column, of_all));
    divided->gathered |= arrays;
    return KITH_OK;
}

kith_status simulation_gather(struct kith_simulation *simulation, int32_t array)
{
    return array < moved_arrays ? gather(simulation, 1U << array) : KITH_OK;
}

kith_status simulation_gather_all(struct kith_simulation *simulation)
{
    return gather(simulation, all_arrays);
}

kith_status simulation_show(struct kith_simulation *simulation)
{
    kith_context *context = simulation->context;
    if (!simulation->domain || (simulation->stays_divided && !simulation->is_viewed))
        return KITH_OK;
    const bool goes_on = context->goes_on;
    context->goes_on = true;
    const kith_status status =
        simulation->is_viewed ? simulation_reunite(simulation) : simulation_gather_all(simulation);
    context->goes_on = goes_on;
    return status;
}

kith_status simulation_reunite(struct kith_simulation *simulation)
{
    KITH_TRY(gather(simulation, all_arrays));
    simulation_drop_domain(simulation);
    return KITH_OK;
}

/* Steps that this rank's bodies take. */
struct stepping {
    struct kith_simulation *simulation;
    struct simulation_domain *divided;
    double h;
    struct cutoff_noise noise;
};

static void *component(const struct simulation_domain *divided, int32_t array, int32_t k)
{
    return divided->domain.column[divided->column[array][k]];
}

/* array += factor · from, as simulation_accumulate. */
static kith_status accumulate(const struct stepping *stepping, double factor, int32_t from,
                              int32_t array)
{
    const struct kith_simulation *simulation = stepping->simulation;
    const struct simulation_domain *divided = stepping->divided;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        const void *const in[4] = {component(divided, from, k)};
        KITH_TRY(simulation->context->services->accumulate(
            simulation->context, simulation->dtype, divided->domain.count, 1, &factor, in,
            component(divided, array, k), component(divided, array + LOST_POSITION, k)));
    }
    return KITH_OK;
}

enum { bodies_a_part = 1 << 12 };

static void stir_part(void *argument, int64_t part)
{
    const struct stepping *stepping = argument;
    const struct domain *domain = &stepping->divided->domain;
    const int64_t begin = part * bodies_a_part, left = domain->count - begin;
    const int64_t end = begin + (left < bodies_a_part ? left : bodies_a_part);
    const int32_t dimensions = stepping->simulation->dimensions;
    void *velocity[3] = {NULL};
    for (int32_t k = 0; k < dimensions; k++)
        velocity[k] = component(stepping->divided, VELOCITY, k);
    for (int64_t i = begin; i < end; i++)
        thermostat_stir_body(&stepping->noise, stepping->simulation->dtype, dimensions,
                             domain->numbers[i], i, domain->column[stepping->divided->mass],
                             velocity);
}

static kith_status rescale(const struct stepping *stepping, double h)
{
    const struct simulation_domain *divided = stepping->divided;
    struct thermostat_bodies bodies = {.dtype = stepping->simulation->dtype,
                                       .dimensions = stepping->simulation->dimensions,
                                       .count = divided->domain.count,
                                       .mass = divided->domain.column[divided->mass]};
    for (int32_t k = 0; k < bodies.dimensions; k++)
        bodies.velocity[k] = component(divided, VELOCITY, k);
    return thermostat_rescale(stepping->simulation, &bodies, true, h);
}

static kith_status stir(struct stepping *stepping, double h)
{
    const int64_t count = stepping->divided->domain.count;
    kith_context *context = stepping->simulation->context;
    stepping->noise = thermostat_noise(stepping->simulation, h);
    return kith_for_each(context, kith_threads_for(context, (double)count / bodies_a_second),
                         (count + bodies_a_part - 1) / bodies_a_part, stir_part, stepping);
}

static kith_status drift(struct stepping *stepping, double h)
{
    if (stepping->simulation->thermostat.kind == KITH_THERMOSTAT_NONE)
        return accumulate(stepping, h, VELOCITY, POSITION);
    KITH_TRY(accumulate(stepping, h / 2, VELOCITY, POSITION));
    KITH_TRY(stepping->simulation->thermostat.kind == KITH_THERMOSTAT_BUSSI ? rescale(stepping, h)
                                                                            : stir(stepping, h));
    return accumulate(stepping, h / 2, VELOCITY, POSITION);
}

/* The accelerations at the positions. If there is no list for these, the state goes back to the
 * arrays, and the rest of the step is taken there. */
static kith_status evaluate(const struct stepping *stepping, bool *done)
{
    struct kith_simulation *simulation = stepping->simulation;
    KITH_TRY(domain_evaluate(&stepping->divided->domain, NULL, done));
    if (*done) {
        simulation->evaluations++;
        return KITH_OK;
    }
    KITH_TRY(gather(simulation, all_arrays));
    stepping->divided->is_barred = true;
    return simulation_evaluate(simulation, POSITION, ACCELERATION);
}

/* As composition_step. */
static kith_status step(struct stepping *stepping)
{
    struct kith_simulation *simulation = stepping->simulation;
    struct simulation_domain *divided = stepping->divided;
    const struct composition *composition = &simulation->method->composition;
    divided->gathered = 0;
    for (int32_t k = 0; k < composition->stage_count; k++) {
        const struct composition_stage stage = composition->stages[k];
        bool done = true;
        if (composition_evaluates(composition, simulation->method->kept > ACCELERATION, k))
            KITH_TRY(evaluate(stepping, &done));
        if (!done)
            return composition_finish_step(simulation, stepping->h, k, true);
        if (stage.kick != 0)
            KITH_TRY(accumulate(stepping, stage.kick * stepping->h, ACCELERATION, VELOCITY));
        if (stage.drift != 0)
            KITH_TRY(drift(stepping, stage.drift * stepping->h));
    }
    return KITH_OK;
}

/* Accelerations to begin with, if they are part of the state. */
static kith_status prepare(const struct stepping *stepping)
{
    struct kith_simulation *simulation = stepping->simulation;
    bool done = true;
    if (!simulation->lacks_forces)
        return KITH_OK;
    stepping->divided->gathered = 0;
    if (simulation->method->kept > ACCELERATION)
        KITH_TRY(evaluate(stepping, &done));
    simulation->lacks_forces = false;
    return KITH_OK;
}

kith_status simulation_step_divided(struct kith_simulation *simulation, double h, int64_t steps,
                                    int64_t *done)
{
    *done = 0;
    if (!simulation->domain)
        KITH_TRY(divide(simulation));
    struct stepping stepping = {.simulation = simulation, .divided = simulation->domain, .h = h};
    KITH_TRY(prepare(&stepping));
    while (*done < steps && !stepping.divided->is_barred) {
        KITH_TRY(step(&stepping));
        ++*done;
        simulation->steps++;
    }
    if (stepping.divided->is_barred)
        domain_free(&stepping.divided->domain);
    return KITH_OK;
}

kith_status simulation_prepare_divided(struct kith_simulation *simulation)
{
    const bool goes_on = simulation->context->goes_on;
    if (!simulation->domain)
        KITH_TRY(divide(simulation));
    const struct stepping stepping = {.simulation = simulation, .divided = simulation->domain};
    simulation->context->goes_on = true;
    const kith_status status = prepare(&stepping);
    simulation->context->goes_on = goes_on;
    if (stepping.divided->is_barred)
        domain_free(&stepping.divided->domain);
    return status;
}

static kith_status add_tail(struct kith_simulation *simulation, kith_forces_totals *totals)
{
    struct forces_problem problem = simulation->problem;
    struct cutoff_law law = {0};
    kith_status status = KITH_OK;
    if (!problem.space.tail)
        return KITH_OK;
    problem.is_slice = simulation->slice != NULL;
    problem.space.totals = totals;
    status = cutoff_take_law(&problem, &law);
    if (status == KITH_OK)
        status = cutoff_add_tail(simulation->context, &problem, &law);
    cutoff_drop_law(&law);
    return status;
}

kith_status simulation_diagnose_divided(struct kith_simulation *simulation,
                                        kith_forces_totals *totals, bool *done)
{
    *done = false;
    if (simulation->dtype != KITH_F64 || !simulation_is_divided(simulation))
        return KITH_OK;
    if (!simulation->domain)
        KITH_TRY(divide(simulation));
    KITH_TRY(domain_evaluate(&simulation->domain->domain, totals, done));
    if (!*done)
        return KITH_OK;
    simulation->domain->gathered &= ~(1U << ACCELERATION);
    KITH_TRY(simulation_gather(simulation, ACCELERATION));
    return ranks_agree(simulation->context, add_tail(simulation, totals));
}

kith_status simulation_diagnose_copies(struct kith_simulation *simulation,
                                       const struct forces_problem *copies, bool *done)
{
    struct domain domain;
    struct forces_problem problem = *copies;
    int32_t column[3];
    *done = false;
    if (!simulation->slice || !problem.space.totals || problem.space.tail ||
        !simulation_is_divided(simulation))
        return KITH_OK;
    problem.space.totals = NULL;
    kith_status status = domain_create(simulation->context, &problem, true, &domain);
    if (status == KITH_OK)
        status = domain_evaluate(&domain, copies->space.totals, done);
    for (int32_t c = 0; c < problem.dimensions; c++)
        column[c] = problem.dimensions + c;
    if (status == KITH_OK && *done)
        status = domain_gather(&domain, problem.dimensions, column, problem.acceleration);
    domain_free(&domain);
    return status;
}
