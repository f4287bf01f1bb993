/* Energies, momenta and the like, from the state as doubles, whatever the simulation's precision.
 */

#include <stddef.h>

#include "core/arguments.h"
#include "ranks/ranks.h"
#include "simulation/diagnostics.h"
#include "simulation/slice.h"
#include "simulation/state.h"

/* A sum with its rounding errors carried along (Neumaier 1974, ZAMM 54, 39). */
struct sum {
    double sum, lost;
};

static void add(struct sum *sum, double term)
{
    const double total = sum->sum + term;
    if (fabs(sum->sum) >= fabs(term))
        sum->lost += (sum->sum - total) + term;
    else
        sum->lost += (term - total) + sum->sum;
    sum->sum = total;
}

static double value(struct sum sum)
{
    return sum.sum + sum.lost;
}

/* What the diagnostics are made of, in the simulation's units; each adds up over systems. */
enum {
    MASS,
    TWICE_KINETIC,
    TWICE_POTENTIAL,
    MOMENT, /* Σ m x */
    MOMENTUM = MOMENT + 3,
    ANGULAR_MOMENTUM = MOMENTUM + 3,
    TWICE_KINETIC_IN_FRAME = ANGULAR_MOMENTUM + 3, /* of the system's center of mass */
    VIRIAL_IN_FRAME,
    FREEDOM, /* D (N − 1) */
    VOLUME,  /* 0 without one */
    VIRIAL,
    PARTS = VIRIAL + 9
};

/* One system of a sample: its body i is element i·step of each column. */
struct system_view {
    int64_t count, step;
    bool potential_is_energy;
    const double *position[3], *velocity[3], *acceleration[3], *mass;
    const double *potential; /* NULL: the energy is in the totals */
};

static struct system_view view_of(const struct sample *sample, int64_t s)
{
    struct system_view view = {.count = sample->count,
                               .step = sample->layout.step,
                               .potential_is_energy = sample->potential_is_energy,
                               .mass = sample->mass + s,
                               .potential = sample->has_totals ? NULL : sample->potential + s};
    for (int32_t k = 0; k < 3; k++) {
        view.position[k] = sample->position[k] + s;
        view.velocity[k] = sample->velocity[k] + s;
        view.acceleration[k] = sample->acceleration[k] + s;
    }
    return view;
}

static void sum_in_space(void *argument, void *parts)
{
    const struct system_view *view = argument;
    struct sum *part = parts;
    const double *const *x = view->position, *const *v = view->velocity;
    for (int64_t i = 0, at = 0; i < view->count; i++, at += view->step) {
        const double mass = view->mass[at];
        add(&part[MASS], mass);
        if (view->potential)
            add(&part[TWICE_POTENTIAL],
                (view->potential_is_energy ? 1 : mass) * view->potential[at]);
        for (int32_t k = 0; k < 3; k++) {
            const int32_t p = (k + 1) % 3, q = (k + 2) % 3;
            add(&part[TWICE_KINETIC], mass * v[k][at] * v[k][at]);
            add(&part[MOMENT + k], mass * x[k][at]);
            add(&part[MOMENTUM + k], mass * v[k][at]);
            add(&part[ANGULAR_MOMENTUM + k], mass * x[p][at] * v[q][at]);
            add(&part[ANGULAR_MOMENTUM + k], -mass * x[q][at] * v[p][at]);
        }
    }
}

/* T and W in the frame of the center of mass, where neither a bulk motion nor a far origin counts.
 * Of massless bodies the center is 0. */
static void sum_in_frame(void *argument, void *parts)
{
    const struct system_view *view = argument;
    struct sum *part = parts;
    const double mass = value(part[MASS]);
    for (int32_t k = 0; k < 3; k++) {
        const double center = mass > 0 ? value(part[MOMENT + k]) / mass : 0;
        const double center_velocity = mass > 0 ? value(part[MOMENTUM + k]) / mass : 0;
        for (int64_t i = 0, at = 0; i < view->count; i++, at += view->step) {
            const double x = view->position[k][at] - center;
            const double v = view->velocity[k][at] - center_velocity;
            add(&part[TWICE_KINETIC_IN_FRAME], view->mass[at] * v * v);
            add(&part[VIRIAL_IN_FRAME], view->mass[at] * x * view->acceleration[k][at]);
        }
    }
}

/* Of all bodies in their order, whoever has them. */
static void sum_bodies(const struct sample *sample, ranks_work *sum, struct system_view *view,
                       struct sum part[PARTS])
{
    if (sample->of_slice)
        ranks_in_turn(sample->of_slice, sum, view, part, PARTS * (int64_t)sizeof *part);
    else
        sum(view, part);
}

static void sum_totals(const struct sample *sample, struct sum part[PARTS])
{
    const kith_forces_totals *totals = &sample->totals;
    add(&part[FREEDOM], sample->dimensions * (double)(sample->bodies - 1));
    add(&part[TWICE_POTENTIAL], 2 * totals->energy);
    add(&part[VOLUME], totals->volume);
    for (int32_t k = 0; k < 9; k++)
        add(&part[VIRIAL + k], totals->virial[k]);
}

static kith_diagnostics diagnostics_of(const struct sum part[PARTS], int32_t dimensions,
                                       struct forces_units units)
{
    const double energy = units.mass * units.length * units.length;
    const double mass = value(part[MASS]), virial = value(part[VIRIAL_IN_FRAME]);
    const double freedom = value(part[FREEDOM]);
    kith_diagnostics diagnostics = {
        .kinetic_energy = value(part[TWICE_KINETIC]) / 2 * energy,
        .potential_energy = value(part[TWICE_POTENTIAL]) / 2 * energy,
        .virial_ratio = virial == 0 ? (double)NAN : -value(part[TWICE_KINETIC_IN_FRAME]) / virial,
        .temperature =
            freedom > 0 ? value(part[TWICE_KINETIC_IN_FRAME]) * energy / freedom : (double)NAN,
    };
    double trace = value(part[TWICE_KINETIC]) * energy;
    for (int32_t k = 0; k < 9; k++)
        diagnostics.virial[k] = value(part[VIRIAL + k]) * energy;
    for (int32_t k = 0; k < dimensions; k++)
        trace += diagnostics.virial[4 * k];
    if (value(part[VOLUME]) > 0)
        diagnostics.pressure = trace / (dimensions * value(part[VOLUME]));
    diagnostics.total_energy = diagnostics.kinetic_energy + diagnostics.potential_energy;
    for (int32_t k = 0; k < 3; k++) {
        diagnostics.momentum[k] = value(part[MOMENTUM + k]) * (units.mass * units.length);
        diagnostics.angular_momentum[k] = value(part[ANGULAR_MOMENTUM + k]) * energy;
        diagnostics.center_of_mass[k] =
            mass > 0 ? value(part[MOMENT + k]) / mass * units.length : 0;
    }
    return diagnostics;
}

/* Adds up all systems of a sample, and fills in the diagnostics of each unless NULL. */
static void summarize(const struct sample *sample, struct forces_units units, struct sum all[PARTS],
                      kith_diagnostics *each)
{
    for (int64_t s = 0; s < sample->range.count; s++) {
        struct system_view view = view_of(sample, s);
        struct sum part[PARTS] = {0};
        sum_bodies(sample, sum_in_space, &view, part);
        sum_bodies(sample, sum_in_frame, &view, part);
        sum_totals(sample, part);
        for (int32_t k = 0; k < PARTS; k++)
            add(&all[k], value(part[k]));
        if (each)
            each[s] = diagnostics_of(part, sample->dimensions, units);
    }
}

int64_t diagnosed_at_once(const struct kith_simulation *simulation, int64_t systems)
{
    const int64_t most = (1 << 20) / (simulation->count > 0 ? simulation->count : 1);
    const int64_t fitting = most > kith_padding ? most / kith_padding * kith_padding : kith_padding;
    return systems < fitting ? systems : fitting;
}

void diagnose_sample(const struct sample *sample, struct forces_units units, kith_diagnostics *each)
{
    struct sum all[PARTS] = {0};
    summarize(sample, units, all, each);
}

static kith_status diagnose(struct kith_simulation *simulation, struct system_range range,
                            struct sum all[PARTS], kith_diagnostics *each)
{
    const int64_t at_once = diagnosed_at_once(simulation, range.count);
    struct sample sample;
    kith_status status = sample_allocate(simulation, at_once, false, &sample);
    for (int64_t done = 0; status == KITH_OK && done < range.count; done += at_once) {
        const int64_t left = range.count - done;
        const struct system_range some = {range.first + done, left < at_once ? left : at_once};
        status = sample_begin(simulation, some, &sample);
        if (status == KITH_OK)
            status = sample_finish(simulation);
        if (status == KITH_OK)
            summarize(&sample, simulation->units, all, each ? each + done : NULL);
    }
    sample_free(simulation, &sample);
    return status;
}

kith_status kith_simulation_diagnose(kith_simulation *simulation, kith_diagnostics *diagnostics)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    KITH_TRY(kith_check_pointer(diagnostics, "diagnostics"));
    struct sum all[PARTS] = {0};
    KITH_TRY(diagnose(simulation, simulation_all(simulation), all, NULL));
    *diagnostics = diagnostics_of(all, simulation->dimensions, simulation->units);
    return KITH_OK;
}

kith_status kith_simulation_diagnose_systems(kith_simulation *simulation, int64_t first,
                                             int64_t systems, kith_diagnostics *diagnostics)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    if (systems > 0)
        KITH_TRY(kith_check_pointer(diagnostics, "diagnostics"));
    const struct system_range range = {first, systems};
    struct sum all[PARTS] = {0};
    KITH_TRY(simulation_check_range(simulation, range));
    return diagnose(simulation, range, all, diagnostics);
}
