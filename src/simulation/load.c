/* The memory of a simulation: allocated, and filled from bodies, at first and later. */

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/bad_row.h"
#include "core/memory.h"
#include "forces/charges.h"
#include "forces/solver.h"
#include "forces/space.h"
#include "ranks/ranks.h"
#include "simulation/domain.h"
#include "simulation/hybrid.h"
#include "simulation/integrator.h"
#include "simulation/massive.h"
#include "simulation/slice.h"
#include "simulation/thermostat.h"
#include "simulation/whfast_slice.h"

static double largest(const double *numbers, int64_t count)
{
    double found = 0;
    for (int64_t i = 0; numbers && i < count; i++)
        found = fmax(found, fabs(numbers[i]));
    return found;
}

/* Whether numbers up to `largest` can be kept as they are, to be seen in place
 * (kith_simulation_view): the kernels are then in range if s⁶ is, of the largest lengths and of
 * their last bits. */
static bool can_be_shown(const struct kith_simulation *simulation, double largest)
{
    const bool is_double = simulation->dtype == KITH_F64;
    const double low = is_double ? 0x1p-60 : 0x1p-10, high = is_double ? 0x1p120 : 0x1p20;
    return largest == 0 || (largest >= low && largest <= high);
}

/* Squares of all distances are finite: with a law the unit of length is 1. */
static kith_status check_distances(const struct kith_simulation *simulation,
                                   const kith_bodies *bodies)
{
    const double largest = kith_largest_coordinate(simulation->dtype);
    const int64_t first = simulation->slice ? simulation->slice->first : 0;
    if (!simulation->law.law || simulation->space.cutoff > 0 || simulation->solver->is_periodic)
        return KITH_OK;
    for (int64_t k = 0; k < bodies->count * bodies->dimensions; k++)
        if (fabs(bodies->position[k]) > largest)
            return kith_fail_at_row("positions", first + k / bodies->dimensions,
                                    bodies->position[k], kith_remedy_of_far(simulation->dtype));
    return KITH_OK;
}

/* Products of charges are finite. */
static kith_status check_charges(const struct kith_simulation *simulation,
                                 const kith_bodies *bodies)
{
    const double largest =
        forces_largest_charge(simulation->solver, simulation->law.law, simulation->dtype);
    const int64_t first = simulation->slice ? simulation->slice->first : 0;
    for (int64_t k = 0; bodies->charge && k < bodies->count; k++)
        if (fabs(bodies->charge[k]) > largest)
            return kith_fail_at_row("charges", first + k, bodies->charge[k],
                                    forces_remedy_of_charge(simulation->dtype));
    return KITH_OK;
}

/* A unit of length that was chosen stays until simulation_fill: when bodies merge or are
 * removed, and when that is read from a checkpoint, lengths keep their bits.
 * What the bodies cover in one step counts as a length too: a lone body may start at the origin. */
static kith_status choose_units(struct kith_simulation *simulation, const kith_bodies *bodies)
{
    const int64_t numbers = bodies->count * bodies->dimensions;
    if (simulation->law.law || simulation->solver->is_periodic) {
        simulation->shows_masses = true;
        simulation->units = (struct forces_units){1, 1};
        simulation->problem.gravitational_constant = simulation->law.law ? 1 : simulation->law.g;
        return KITH_OK;
    }
    double length = largest(bodies->position, numbers);
    length =
        fmax(length, simulation->softening_of_bodies ? largest(bodies->softening, bodies->count)
                                                     : simulation->softening);
    length = fmax(length, largest(bodies->velocity, numbers) * simulation->dt);
    double most[2] = {length, bodies->mass ? largest(bodies->mass, bodies->count) : 1};
    if (simulation->slice)
        ranks_maximum(simulation->context, most, 2);
    length = most[0];
    const double mass = most[1];
    /* Masses are never larger than 2: core/floors.h. */
    const struct forces_units units = {
        .length = simulation->units.length > 0       ? simulation->units.length
                  : can_be_shown(simulation, length) ? 1
                                                     : forces_unit_for(length),
        .mass = forces_unit_for(mass),
    };
    const double scaled = forces_scaled_g(simulation->law.g, units);
    const double limit = simulation->dtype == KITH_F64 ? DBL_MAX : (double)FLT_MAX;
    if (!(fabs(scaled) <= limit))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "G·mass/length³ is about %g, too large for %s precision; give bodies "
                         "and G in other units of time or length",
                         scaled, simulation->dtype == KITH_F64 ? "double" : "single");
    simulation->units = units;
    simulation->shows_masses = can_be_shown(simulation, mass);
    simulation->problem.gravitational_constant = scaled;
    return KITH_OK;
}

static kith_status allocate_arrays(struct kith_simulation *simulation)
{
    const struct device_services *services = simulation->context->services;
    const int64_t bytes_each = kith_dtype_bytes(simulation->dtype);
    const struct system_layout layout = simulation_layout(simulation, simulation->systems);
    simulation->stride = kith_padded(layout.numbers > 0 ? layout.numbers : 1);
    for (int32_t array = 0; array < simulation->method->arrays; array++) {
        KITH_TRY(services->allocate(simulation->context, simulation->stride,
                                    bytes_each * simulation->dimensions, "state of the simulation",
                                    &simulation->memory[array]));
        for (int32_t k = 0; k < simulation->dimensions; k++)
            simulation->vector[array][k] =
                (char *)simulation->memory[array] + k * simulation->stride * bytes_each;
    }
    return KITH_OK;
}

enum number { number_itself, number_half_square, number_root };

/* A number a body: numbers[i] / unit, or half of its square, or its root; 1 / unit where numbers
 * are absent. *memory is allocated the first time. */
static kith_status load_column(struct kith_simulation *simulation, const double *numbers,
                               double unit, enum number what, void **memory)
{
    if (!*memory)
        KITH_TRY(simulation->context->services->allocate(simulation->context, simulation->stride,
                                                         kith_dtype_bytes(simulation->dtype),
                                                         "masses", memory));
    const struct system_layout layout = simulation_layout(simulation, simulation->systems);
    double *column = NULL;
    KITH_TRY(kith_allocate(layout.numbers, sizeof *column, "masses", &column));
    for (int64_t s = 0, row = 0; s < simulation->systems; s++)
        for (int64_t i = 0; i < simulation->count; i++, row++) {
            const double scaled = (numbers ? numbers[row] : 1) / unit;
            column[i * layout.step + s] = what == number_half_square ? scaled * scaled / 2
                                          : what == number_root      ? sqrt(scaled)
                                                                     : scaled;
        }
    const kith_status status = simulation_write(simulation, column, *memory);
    free(column);
    return status;
}

/* The space in the simulation's units. */
static kith_status load_space(struct kith_simulation *simulation)
{
    struct forces_problem *problem = &simulation->problem;
    const double length = simulation->units.length;
    problem->space = simulation->space;
    if (simulation->solver->is_periodic)
        simulation_load_images(simulation);
    if (simulation->solver->is_periodic || problem->space.cutoff == 0)
        return KITH_OK;
    problem->space.cutoff /= length;
    problem->space.skin /= length;
    problem->space.cell = &simulation->cell;
    problem->space.ewald = &simulation->ewald;
    return forces_space_set(simulation->dimensions, length, &simulation->lattice, &problem->space);
}

static kith_status load_problem(struct kith_simulation *simulation, const kith_bodies *bodies)
{
    struct forces_problem *problem = &simulation->problem;
    problem->dtype = simulation->dtype;
    problem->dimensions = simulation->dimensions;
    problem->self = true;
    problem->target_count = problem->source_count = simulation_bodies(simulation);
    if (simulation->is_ensemble) {
        problem->system_count = simulation->systems;
        problem->system_stride = kith_padded(simulation->systems);
    }

    KITH_TRY(load_column(simulation, bodies->mass, simulation->units.mass, number_itself,
                         &simulation->mass));
    if (simulation->shows_masses)
        KITH_TRY(load_column(simulation, bodies->mass, 1, number_itself, &simulation->shown_mass));
    problem->source_mass = simulation->mass;
    simulation->last_with_mass = whfast_last_with_mass(bodies);
    if (simulation->law.law) {
        problem->law = simulation->law.law;
        problem->target_mass = simulation->mass;
    }
    if (simulation->mixed) {
        problem->law = simulation->mixed;
        KITH_TRY(load_column(simulation, bodies->epsilon, 1, number_root, &simulation->weight));
        problem->source_mass = problem->target_weight = simulation->weight;
    }
    if (simulation->mixed || simulation->law.uses_charges) {
        const double *charges = simulation->mixed ? bodies->sigma : bodies->charge;
        KITH_TRY(load_column(simulation, charges, 1, number_itself, &simulation->charge));
        problem->target_charge = problem->source_charge = simulation->charge;
    }
    if (simulation->softening_of_bodies) {
        KITH_TRY(load_column(simulation, bodies->softening, simulation->units.length,
                             number_half_square, &simulation->half_softening2));
        problem->target_half_softening2 = simulation->half_softening2;
        problem->source_half_softening2 = simulation->half_softening2;
    } else {
        const double softening = simulation->softening / simulation->units.length;
        problem->softening2 = softening * softening;
    }
    return load_space(simulation);
}

static kith_status forget_lost(struct kith_simulation *simulation)
{
    const double zero = 0;
    const int32_t of_what = POSITION;
    KITH_TRY(simulation_combine(simulation, 1, &zero, &of_what, LOST_POSITION));
    return simulation_combine(simulation, 1, &zero, &of_what, LOST_VELOCITY);
}

kith_status simulation_refill(struct kith_simulation *simulation, const kith_bodies *bodies)
{
    const int64_t first = simulation->slice ? simulation->slice->first : 0;
    KITH_TRY(
        slice_agree(simulation, thermostat_check_masses(&simulation->thermostat, bodies, first)));
    forces_forget(simulation->context, simulation->solver, &simulation->prepared);
    massive_free(simulation); /* there may be fewer bodies now */
    simulation->has_potentials = false;
    KITH_TRY(slice_agree(simulation, check_distances(simulation, bodies)));
    KITH_TRY(slice_agree(simulation, check_charges(simulation, bodies)));
    KITH_TRY(choose_units(simulation, bodies));
    KITH_TRY(slice_agree(simulation, load_problem(simulation, bodies)));
    KITH_TRY(massive_choose(simulation));
    KITH_TRY(simulation_write_vectors(simulation, POSITION, bodies->position));
    if (bodies->velocity)
        KITH_TRY(simulation_write_vectors(simulation, VELOCITY, bodies->velocity));
    if (simulation->method->begin)
        simulation->method->begin(simulation);
    else if (simulation->method->step)
        KITH_TRY(forget_lost(simulation));
    return KITH_OK;
}

kith_status simulation_fill(struct kith_simulation *simulation, const kith_bodies *bodies)
{
    simulation->units.length = 0;
    return simulation_refill(simulation, bodies);
}

kith_status simulation_load(struct kith_simulation *simulation, const kith_bodies *bodies)
{
    KITH_TRY(slice_agree(simulation, allocate_arrays(simulation)));
    return simulation_fill(simulation, bodies);
}

void simulation_release(struct kith_simulation *simulation)
{
    const struct device_services *services = simulation->context->services;
    simulation_drop_domain(simulation);
    slice_free(simulation);
    simulation_forget_recording(simulation);
    simulation_free_images(simulation);
    forces_forget(simulation->context, simulation->solver, &simulation->prepared);
    for (int32_t array = 0; array < MAX_ARRAYS; array++)
        services->release(simulation->context, simulation->memory[array]);
    free(simulation->planets);
    hybrid_step_free(simulation->hybrid);
    massive_free(simulation);
    services->release(simulation->context, simulation->kept);
    services->release(simulation->context, simulation->mass);
    services->release(simulation->context, simulation->potential);
    services->release(simulation->context, simulation->shown_mass);
    services->release(simulation->context, simulation->half_softening2);
    services->release(simulation->context, simulation->charge);
    services->release(simulation->context, simulation->weight);
    kith_law_free(simulation->mixed);
}
