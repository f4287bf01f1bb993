/* Energies, momenta and the like, from the state as doubles, whatever the simulation's precision.
 */

#include <stddef.h>

#include "core/arguments.h"
#include "device/threads.h"
#include "ranks/ranks.h"
#include "simulation/diagnostics.h"
#include "simulation/diagnostics_sums.h"
#include "simulation/slice.h"
#include "simulation/state.h"

/* What the diagnostics are made of: the sums over bodies, and those of a system. */
enum {
    FREEDOM = SUMS_OF_BODIES, /* D (N − 1) */
    VOLUME,                   /* 0 without one */
    VIRIAL,
    PARTS = VIRIAL + 9
};

/* Bodies of a block, whose sums a thread computes alone, and blocks whose sums are kept until they
 * are added. */
enum { block_bodies = 1024, blocks_at_once = 256 };

static const double bodies_a_second = 2e8; /* of one thread */

static const struct sum_kernels *kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &diagnostics_sums_##isa,
    static const struct sum_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static struct system_view view_of(const struct kith_simulation *simulation,
                                  const struct sample *sample, int64_t s)
{
    struct system_view view = {.count = sample->count,
                               .step = sample->layout.step,
                               .first = simulation->slice ? simulation->slice->first : 0,
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

static void add_sums(struct sum_pass pass, struct sum *to, const struct sum *part)
{
    for (int32_t k = pass.first; k < pass.past; k++) {
        sum_add(&to[k], part[k].sum);
        to[k].lost += part[k].lost;
    }
}

/* The sums of a block, from its lanes, of which there are at most as many as bodies. */
static void sum_lanes_of(struct sum_pass pass, const struct lane_sums *lanes, int64_t bodies,
                         struct sum block[SUMS_OF_BODIES])
{
    for (int32_t k = pass.first; k < pass.past; k++) {
        block[k] = (struct sum){0};
        for (int32_t l = 0; l < sum_lanes && l < bodies; l++) {
            sum_add(&block[k], lanes->sum[k][l]);
            block[k].lost += lanes->lost[k][l];
        }
    }
}

/* Sums over all bodies of a system, in the order of the bodies. */
struct summing {
    kith_context *context;
    const struct system_view *view;
    struct sum_pass pass;
    int64_t begin; /* of the blocks that are summed at once */
    struct sum (*block)[SUMS_OF_BODIES];
};

/* Where they have come to; the block that is open continues with the next body. */
struct sums_so_far {
    struct sum part[SUMS_OF_BODIES];
    struct lane_sums open;
};

static void sum_block(void *argument, int64_t k)
{
    const struct summing *summing = argument;
    const int64_t begin = summing->begin + k * block_bodies;
    struct lane_sums lanes = {0};
    summing->pass.kernel(summing->view, begin, begin + block_bodies, &lanes);
    sum_lanes_of(summing->pass, &lanes, block_bodies, summing->block[k]);
}

/* Bodies from begin on, in whole blocks. Returns the first body past them. */
static __attribute__((noinline)) int64_t add_blocks(const struct summing *all, int64_t begin,
                                                    int64_t blocks, struct sum *part)
{
    struct sum block[blocks_at_once][SUMS_OF_BODIES]; /* small systems need no such stack */
    for (int64_t some = 0; blocks > 0; blocks -= some, begin += some * block_bodies) {
        some = blocks < blocks_at_once ? blocks : blocks_at_once;
        struct summing summing = {all->context, all->view, all->pass, begin, block};
        const double seconds = (double)(some * block_bodies) / bodies_a_second;
        kith_for_each_whole(all->context, kith_threads_for(all->context, seconds), some, sum_block,
                            &summing);
        for (int64_t b = 0; b < some; b++)
            add_sums(all->pass, part, block[b]);
    }
    return begin;
}

/* Adds the open block, of a system of this many bodies. */
static void add_open(struct sum_pass pass, struct sums_so_far *sums, int64_t bodies)
{
    struct sum block[SUMS_OF_BODIES];
    sum_lanes_of(pass, &sums->open, bodies, block);
    add_sums(pass, sums->part, block);
}

static void sum_own(void *argument, void *state)
{
    const struct summing *summing = argument;
    struct sums_so_far *sums = state;
    const struct system_view *view = summing->view;
    const int64_t opened = view->first % block_bodies;
    const int64_t to_close = opened > 0 ? block_bodies - opened : 0;
    const int64_t lead = to_close < view->count ? to_close : view->count;
    if (lead > 0)
        summing->pass.kernel(view, 0, lead, &sums->open);
    if (lead > 0 && lead == to_close) {
        add_open(summing->pass, sums, block_bodies);
        sums->open = (struct lane_sums){0};
    }
    const int64_t blocks = (view->count - lead) / block_bodies;
    const int64_t rest = blocks > 0 ? add_blocks(summing, lead, blocks, sums->part) : lead;
    if (rest < view->count)
        summing->pass.kernel(view, rest, view->count, &sums->open);
}

/* Of all bodies in their order, whoever has them. */
static void sum_bodies(kith_context *context, const struct sample *sample, struct sum_pass pass,
                       const struct system_view *view, struct sum part[PARTS])
{
    struct summing summing = {.context = context, .view = view, .pass = pass};
    struct sums_so_far sums = {0};
    if (sample->of_slice)
        ranks_in_turn(sample->of_slice, sum_own, &summing, &sums, (int64_t)sizeof sums);
    else
        sum_own(&summing, &sums);
    add_open(pass, &sums, sample->bodies);
    add_sums(pass, part, sums.part);
}

/* The frame of the center of mass, where neither a bulk motion nor a far origin counts. Of massless
 * bodies the center is 0. */
static void find_center(const struct sum part[PARTS], struct system_view *view)
{
    const double mass = sum_value(part[MASS]);
    for (int32_t k = 0; k < 3; k++) {
        view->center[k] = mass > 0 ? sum_value(part[MOMENT + k]) / mass : 0;
        view->center_velocity[k] = mass > 0 ? sum_value(part[MOMENTUM + k]) / mass : 0;
    }
}

static void sum_totals(const struct sample *sample, struct sum part[PARTS])
{
    const kith_forces_totals *totals = &sample->totals;
    sum_add(&part[FREEDOM], sample->dimensions * (double)(sample->bodies - 1));
    sum_add(&part[TWICE_POTENTIAL], 2 * totals->energy);
    sum_add(&part[VOLUME], totals->volume);
    for (int32_t k = 0; k < 9; k++)
        sum_add(&part[VIRIAL + k], totals->virial[k]);
}

static kith_diagnostics diagnostics_of(const struct sum part[PARTS], int32_t dimensions,
                                       struct forces_units units)
{
    const double energy = units.mass * units.length * units.length;
    const double mass = sum_value(part[MASS]), virial = sum_value(part[VIRIAL_IN_FRAME]);
    const double freedom = sum_value(part[FREEDOM]);
    kith_diagnostics diagnostics = {
        .kinetic_energy = sum_value(part[TWICE_KINETIC]) / 2 * energy,
        .potential_energy = sum_value(part[TWICE_POTENTIAL]) / 2 * energy,
        .virial_ratio =
            virial == 0 ? (double)NAN : -sum_value(part[TWICE_KINETIC_IN_FRAME]) / virial,
        .temperature =
            freedom > 0 ? sum_value(part[TWICE_KINETIC_IN_FRAME]) * energy / freedom : (double)NAN,
    };
    double trace = sum_value(part[TWICE_KINETIC]) * energy;
    for (int32_t k = 0; k < 9; k++)
        diagnostics.virial[k] = sum_value(part[VIRIAL + k]) * energy;
    for (int32_t k = 0; k < dimensions; k++)
        trace += diagnostics.virial[4 * k];
    if (sum_value(part[VOLUME]) > 0)
        diagnostics.pressure = trace / (dimensions * sum_value(part[VOLUME]));
    diagnostics.total_energy = diagnostics.kinetic_energy + diagnostics.potential_energy;
    for (int32_t k = 0; k < 3; k++) {
        diagnostics.momentum[k] = sum_value(part[MOMENTUM + k]) * (units.mass * units.length);
        diagnostics.angular_momentum[k] = sum_value(part[ANGULAR_MOMENTUM + k]) * energy;
        diagnostics.center_of_mass[k] =
            mass > 0 ? sum_value(part[MOMENT + k]) / mass * units.length : 0;
    }
    return diagnostics;
}

/* Adds up all systems of a sample, and fills in the diagnostics of each unless NULL. */
static void summarize(const struct kith_simulation *simulation, const struct sample *sample,
                      struct sum all[PARTS], kith_diagnostics *each)
{
    kith_context *context = simulation->context;
    const struct sum_kernels *kernels = kernels_of(context);
    for (int64_t s = 0; s < sample->range.count; s++) {
        struct system_view view = view_of(simulation, sample, s);
        struct sum part[PARTS] = {0};
        sum_bodies(context, sample, kernels->in_space, &view, part);
        find_center(part, &view);
        sum_bodies(context, sample, kernels->in_frame, &view, part);
        sum_totals(sample, part);
        for (int32_t k = 0; k < PARTS; k++)
            sum_add(&all[k], sum_value(part[k]));
        if (each)
            each[s] = diagnostics_of(part, sample->dimensions, simulation->units);
    }
}

int64_t diagnosed_at_once(const struct kith_simulation *simulation, int64_t systems)
{
    const int64_t most = (1 << 20) / (simulation->count > 0 ? simulation->count : 1);
    const int64_t fitting = most > kith_padding ? most / kith_padding * kith_padding : kith_padding;
    return systems < fitting ? systems : fitting;
}

void diagnose_sample(const struct kith_simulation *simulation, const struct sample *sample,
                     kith_diagnostics *each)
{
    struct sum all[PARTS] = {0};
    summarize(simulation, sample, all, each);
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
            summarize(simulation, &sample, all, each ? each + done : NULL);
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
