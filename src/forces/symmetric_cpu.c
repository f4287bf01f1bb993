#include "forces/symmetric.h"

#include <string.h>

#include "core/isa.h"
#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "forces/direct.h"
#include "forces/method.h"
#include "forces/ring.h"
#include "forces/ring_ranks.h"
#include "forces/symmetric_kernel.h"
#include "forces/symmetric_run.h"
#include "ranks/bodies.h"

/* Fewer bodies are faster one-sided, unless kith tune has found another number. A formula has a
 * second kernel to be compiled, which takes a second or two. */
enum { least_bodies = 192, least_bodies_of_formula = 1024 };

/* Number of blocks, unless they would leave a block's sums too long to add in single precision, or
 * too short to be worth a meeting. */
enum { usual_blocks = 48, least_block = 64, most_block = 1024 };

/* Below this many bodies every rank computes all of them: to exchange sums would take longer. */
enum { least_bodies_of_ranks = 1024 };

bool forces_symmetric_suits(const kith_context *context, const struct forces_problem *problem,
                            bool is_formula)
{
    if (problem->way.method == KITH_FORCES_SPLIT || problem->target_count == 0)
        return false;
    if (problem->way.method == KITH_FORCES_SYMMETRIC)
        return true;
    const int64_t least =
        forces_least_symmetric(context, problem->dtype, least_bodies, least_bodies);
    return problem->self && !problem->jerk[0] && problem->target_count >= least &&
           (!is_formula || problem->target_count >= least_bodies_of_formula);
}

bool forces_symmetric_takes_slices(const kith_context *context,
                                   const struct forces_problem *problem, bool is_formula)
{
    return context->ranks && context->device.kind == KITH_CPU && problem->self &&
           problem->system_count == 0 && !problem->jerk[0] && !problem->potential_rate &&
           problem->target_count >= least_bodies_of_ranks &&
           forces_symmetric_suits(context, problem, is_formula);
}

const struct forces_symmetric_kernels *forces_symmetric_kernels_of(const kith_context *context,
                                                                   kith_dtype dtype)
{
#define IN_DOUBLE(isa) &forces_symmetric_double_##isa,
#define IN_FLOAT(isa)  &forces_symmetric_float_##isa,
    static const struct forces_symmetric_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct forces_symmetric_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

/* Adding forces pays where additions have pipes of their own. */
enum symmetric_form forces_symmetric_preferred_form(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") ? sums_are_forces : sums_are_accelerations;
#else
    return sums_are_accelerations;
#endif
}

/* Forces are normal numbers if the masses are not below these: the other factor of a force, d/s³,
 * may be down to 2^-42 (forces/pack.h) where the largest mass is about 1. */
static bool has_small_masses(const struct symmetric_run *run)
{
    const struct forces_problem *problem = run->problem;
    const double least = problem->dtype == KITH_F64 ? 0x1p-450 : 0x1p-40;
    int64_t first = 0, count = problem->source_count;
    if (problem->is_slice)
        ranks_rows(run->context, problem->source_count, &first, &count);
    for (int64_t i = 0; i < count; i++)
        if (!(real_get(problem->dtype, problem->source_mass, i) >= least))
            return true;
    return false;
}

static void choose_form(struct symmetric_run *run)
{
    run->form = run->law ? sums_are_forces : forces_symmetric_preferred_form();
    run->has_small_masses = !run->law && (run->form == sums_are_forces || run->problem->is_slice) &&
                            has_small_masses(run);
    if (run->has_small_masses)
        run->form = sums_are_accelerations;
}

static int64_t choose_block(int64_t count)
{
    const int64_t block = kith_padded(count / usual_blocks + 1);
    return block < least_block ? least_block : block > most_block ? most_block : block;
}

/* The problem's columns, of all bodies; of gravity the masses are copied, and are 0 after the last.
 */
static void take_columns(struct symmetric_run *run, char *memory)
{
    const struct forces_problem *problem = run->problem;
    const int64_t bytes = kith_dtype_bytes(problem->dtype), count = problem->source_count;
    run->columns = (struct symmetric_columns){.charge = problem->source_charge,
                                              .half_softening2 = problem->source_half_softening2};
    for (int32_t c = 0; c < problem->dimensions; c++)
        run->columns.position[c] = problem->source_position[c];
    run->target_mass = at(problem->target_mass, problem->dtype, run->origin);
    if (run->law) {
        run->columns.weight = run->law->sums->source_weight;
        return;
    }
    run->columns.weight = memory;
    memcpy(memory, problem->source_mass, (size_t)(count * bytes));
    memset(memory + count * bytes, 0, (size_t)((run->stride - count) * bytes));
}

static void take_tiles(struct symmetric_run *run)
{
    const int32_t ranks = run->ranks ? run->ranks->size : 1;
    const int32_t rank = run->ranks ? run->ranks->rank : 0;
    run->first_tile = ranks_first(run->tiles, ranks, rank);
    run->end_tile = ranks_first(run->tiles, ranks, rank + 1);
    run->origin = run->first_tile * run->block;
    run->room = (run->end_tile - run->first_tile) * run->block;
}

static kith_status begin(struct symmetric_run *run)
{
    const struct forces_problem *problem = run->problem;
    const int64_t bytes = kith_dtype_bytes(problem->dtype), count = problem->source_count;
    run->kernels = forces_symmetric_kernels_of(run->context, problem->dtype);
    run->kernel = run->law ? run->law->kernel : run->kernels->meet;
    choose_form(run);
    run->threads = kith_threads_for(
        run->context,
        0.5 * (run->law ? run->law->seconds
                        : forces_seconds_of(run->context, problem->dtype, count, count)));
    run->fields = !run->law ? problem->dimensions : run->law->sums->acceleration[0] ? 3 : 0;
    run->components = run->fields + (problem->potential ? 1 : 0);
    run->stride = kith_padded(count);
    run->block = choose_block(count);
    run->tiles = (count + run->block - 1) / run->block;
    run->ranks = count >= least_bodies_of_ranks ? run->context->ranks : NULL;
    run->caller = pthread_self();
    take_tiles(run);

    const int32_t parts = run->ranks ? KITH_MESSAGE_BATCHES : 1, sides = run->ranks ? 3 : 2;
    const int64_t columns = run->room * bytes * run->components;
    const int64_t bytes_of_sums = run->room * run->components * (int64_t)sizeof(double);
    const int64_t bytes_of_bodies =
        problem->is_slice ? symmetric_bytes_of_slice(run) : run->stride * bytes;
    void *memory = NULL;
    KITH_TRY(cpu_scratch(
        run->context,
        bytes_of_sums + bytes_of_bodies + (1 + sides * parts * rounds_at_once) * columns, &memory));
    run->sums = memory;
    char *column = (char *)memory + bytes_of_sums;
    run->bodies = column;
    if (!problem->is_slice)
        take_columns(run, column);
    run->alone = column += bytes_of_bodies;
    for (int32_t k = 0; k < parts * rounds_at_once; k++) {
        struct round *round = &run->parts[k / rounds_at_once].rounds[k % rounds_at_once];
        round->of_targets = column += columns;
        round->of_sources = column += columns;
        round->sent = run->ranks ? column += columns : NULL;
    }
    return KITH_OK;
}

/* The columns from body begin on, of [components][room]. */
static struct symmetric_sums sums_at(const struct symmetric_run *run, const void *columns,
                                     int64_t begin)
{
    const kith_dtype dtype = run->problem->dtype;
    struct symmetric_sums sums = {{NULL}, NULL};
    for (int32_t c = 0; c < run->fields; c++)
        sums.field[c] = at(columns, dtype, place_of(run, c, begin));
    if (run->problem->potential)
        sums.potential = at(columns, dtype, place_of(run, run->fields, begin));
    return sums;
}

static struct symmetric_bodies block_at(const struct symmetric_run *run, int64_t tile)
{
    const struct forces_problem *problem = run->problem;
    const struct symmetric_columns *columns = &run->columns;
    const int64_t left = problem->source_count - tile * run->block;
    const int64_t first = symmetric_slot(run, tile) * run->block;
    struct symmetric_bodies bodies = {.count = left < run->block ? left : run->block,
                                      .weight = at(columns->weight, problem->dtype, first),
                                      .charge = at(columns->charge, problem->dtype, first),
                                      .half_softening2 =
                                          at(columns->half_softening2, problem->dtype, first)};
    for (int32_t c = 0; c < problem->dimensions; c++)
        bodies.position[c] = at(columns->position[c], problem->dtype, first);
    return bodies;
}

static void meet_itself_by_gravity(const struct symmetric_run *run,
                                   const struct symmetric_bodies *bodies,
                                   const struct symmetric_sums *sums)
{
    struct forces_problem alone = *run->problem;
    alone.gravitational_constant = 1;
    alone.target_count = alone.source_count = bodies->count;
    alone.source_mass = bodies->weight;
    alone.target_half_softening2 = alone.source_half_softening2 = bodies->half_softening2;
    for (int32_t c = 0; c < alone.dimensions; c++) {
        alone.target_position[c] = alone.source_position[c] = bodies->position[c];
        alone.acceleration[c] = sums->field[c];
    }
    alone.potential = sums->potential;
    forces_one_sided_serial(run->context, &alone);
}

static void meet_itself_by_law(const struct symmetric_run *run,
                               const struct symmetric_bodies *bodies,
                               const struct symmetric_sums *sums)
{
    struct law_sums_problem alone = *run->law->sums;
    alone.target_count = alone.source_count = bodies->count;
    alone.target_weight = alone.source_weight = bodies->weight;
    alone.target_charge = alone.source_charge = bodies->charge;
    alone.target_half_softening2 = alone.source_half_softening2 = bodies->half_softening2;
    alone.target_mass = NULL;
    for (int32_t c = 0; c < 3; c++) {
        alone.target_position[c] = alone.source_position[c] = bodies->position[c];
        alone.acceleration[c] = sums->field[c];
    }
    alone.value = sums->potential;
    run->law->one_sided(&alone, 0, bodies->count);
}

/* A block with itself: an eighth more arithmetic than each pair once, of a small part of all. */
static void meet_itself(const struct symmetric_run *run, int64_t tile)
{
    const struct symmetric_bodies bodies = block_at(run, tile);
    const struct symmetric_sums sums = sums_at(run, run->alone, tile * run->block);
    if (run->law)
        meet_itself_by_law(run, &bodies, &sums);
    else
        meet_itself_by_gravity(run, &bodies, &sums);
}

/* The short block, the last, is the one of the sources: it has no padding that does not interact.
 */
static void take_law(const struct symmetric_law *law, struct symmetric_meeting *pairs)
{
    const struct symmetric_meeting given = *pairs;
    pairs->numbers = &law->sums->numbers;
    pairs->weighting = law->sums->weighting;
    pairs->is_central = law->sums->is_central;
    if (given.targets.count < given.sources.count) {
        pairs->targets = given.sources;
        pairs->sources = given.targets;
        pairs->of_targets = given.of_sources;
        pairs->of_sources = given.of_targets;
    }
}

static void meet(void *argument, int64_t task)
{
    const struct symmetric_run *run = argument;
    const struct ring_chunk chunk = run->part->chunk;
    const struct ring_meeting meeting =
        ring_meeting_at(chunk, ring_first_meeting(chunk, run->first_tile) + task);
    if (run->ranks && pthread_equal(pthread_self(), run->caller))
        run->ranks->library->progress(run->ranks->state);
    if (meeting.offset == 0) {
        meet_itself(run, meeting.tile);
        return;
    }
    const int64_t partner = ring_partner(chunk.tiles, meeting.tile, meeting.offset);
    const bool is_own = partner >= run->first_tile && partner < run->end_tile;
    const struct round *round = &run->part->rounds[meeting.offset - chunk.first_offset];
    struct symmetric_meeting pairs = {
        .dimensions = run->problem->dimensions,
        .form = run->form,
        .softening2 = run->problem->softening2,
        .targets = block_at(run, meeting.tile),
        .sources = block_at(run, partner),
        .of_targets = sums_at(run, round->of_targets, meeting.tile * run->block),
        .of_sources = is_own ? sums_at(run, round->of_sources, partner * run->block)
                             : sums_at(run, round->sent, meeting.tile * run->block),
    };
    if (run->law)
        take_law(run->law, &pairs);
    run->kernel(&pairs);
}

/* Sums by gravity are accelerations or potentials times scale and, if they are forces, times the
 * masses. */
#define DEFINE_ENDS(real)                                                                          \
    static void begin_sums_##real(double *restrict sums, const real *restrict column,              \
                                  const real *restrict mass, double scale, int64_t count)          \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            sums[i] = scale * (double)column[i] * (mass ? (double)mass[i] : 1);                    \
    }                                                                                              \
                                                                                                   \
    static void end_sums_##real(const double *restrict sums, real *restrict result,                \
                                const real *restrict mass, double scale, int64_t count)            \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) /* + 0: no −0 */                                     \
            result[i] = (real)(scale * sums[i] / (mass ? (double)mass[i] : 1) + 0.0);              \
    }

DEFINE_ENDS(double)
DEFINE_ENDS(float)

static double scale_of(const struct symmetric_run *run, int32_t component)
{
    const double sign = component == run->fields ? -1 : 1;
    if (run->law)
        return 1;
    return sign * run->kernels->field_scale;
}

static const void *masses_in_sums(const struct symmetric_run *run, int64_t tile)
{
    return run->form == sums_are_forces ? block_at(run, tile).weight : NULL;
}

static void begin_sums(const struct symmetric_run *run, int32_t component, int64_t tile,
                       int64_t count)
{
    const int64_t first = place_of(run, component, tile * run->block);
    const void *column = at(run->alone, run->problem->dtype, first);
    const void *mass = run->law ? NULL : masses_in_sums(run, tile);
    if (run->problem->dtype == KITH_F64)
        begin_sums_double(run->sums + first, column, mass, scale_of(run, component), count);
    else
        begin_sums_float(run->sums + first, column, mass, scale_of(run, component), count);
}

/* The results of a slice are not at the tiles of the rank yet: they are in the place of the fields
 * of blocks on themselves, which have been added. */
static void *result_at(const struct symmetric_run *run, int32_t component, int64_t begin)
{
    const struct forces_problem *problem = run->problem;
    void *result = component == run->fields ? problem->potential : problem->acceleration[component];
    return result && problem->is_slice
               ? at(run->alone, problem->dtype, place_of(run, component, begin))
               : at(result, problem->dtype, begin);
}

static void end_sums(const struct symmetric_run *run, int32_t component, int64_t tile,
                     int64_t count)
{
    const struct forces_problem *problem = run->problem;
    const int64_t begin = tile * run->block;
    const double *sums = run->sums + place_of(run, component, begin);
    const bool is_potential = component == run->fields;
    const double scale = run->law ? 1 : problem->gravitational_constant / scale_of(run, component);
    const void *of_law =
        is_potential ? NULL : at(run->target_mass, problem->dtype, begin - run->origin);
    const void *mass = run->law ? of_law : masses_in_sums(run, tile);
    void *result = result_at(run, component, begin);
    if (!result)
        return;
    if (problem->dtype == KITH_F64)
        end_sums_double(sums, result, mass, scale, count);
    else
        end_sums_float(sums, result, mass, scale, count);
}

/* Adds to the sums of a tile what each round of the chunk has brought it. */
static void add_rounds(const struct symmetric_run *run, int32_t component, int64_t tile,
                       int64_t count)
{
    const struct ring_chunk chunk = run->part->chunk;
    const int64_t first = place_of(run, component, tile * run->block);
    const void *columns[2 * rounds_at_once];
    int32_t column_count = 0;
    for (int64_t offset = chunk.first_offset; offset < chunk.end_offset; offset++) {
        const struct round *round = &run->part->rounds[offset - chunk.first_offset];
        if (offset == 0)
            continue;
        if (offset != ring_half_offset(chunk.tiles) || tile < chunk.tiles / 2)
            columns[column_count++] = at(round->of_targets, run->problem->dtype, first);
        if (offset < ring_end_visited(chunk, tile))
            columns[column_count++] = at(round->of_sources, run->problem->dtype, first);
    }
    run->kernels->add(run->sums + first, columns, column_count, count);
}

static void add_up(void *argument, int64_t task)
{
    const struct symmetric_run *run = argument;
    const struct ring_chunk chunk = run->part->chunk;
    const int64_t tile = run->first_tile + task;
    const int64_t left = run->problem->source_count - tile * run->block;
    const int64_t count = left < run->block ? left : run->block;
    for (int32_t component = 0; component < run->components; component++) {
        if (chunk.first_offset == 0)
            begin_sums(run, component, tile, count);
        add_rounds(run, component, tile, count);
        if (chunk.end_offset == ring_offsets(chunk.tiles))
            end_sums(run, component, tile, count);
    }
}

static kith_status add_part(struct symmetric_run *run, struct part *part)
{
    run->part = part;
    return kith_for_each(run->context, run->threads, run->end_tile - run->first_tile, add_up, run);
}

/* Waits for what the other ranks have for a part, and adds it up. All learn at the same part that
 * one of them is to be cancelled. */
static kith_status finish_part(struct symmetric_run *run, struct part *part)
{
    run->ranks->library->wait(run->ranks->state, part == run->parts ? 0 : 1);
    if (part->stops && !run->context->goes_on)
        atomic_store(&run->context->cancelled, true);
    return add_part(run, part);
}

static kith_status meet_all(struct symmetric_run *run, struct part *part)
{
    const struct ring_chunk chunk = part->chunk;
    run->part = part;
    return kith_for_each(run->context, run->threads,
                         ring_first_meeting(chunk, run->end_tile) -
                             ring_first_meeting(chunk, run->first_tile),
                         meet, run);
}

/* A part of the ring; while it is computed, the sums of the part before are in flight. */
static kith_status do_part(struct symmetric_run *run, struct part *part, struct part *before)
{
    const struct ranks *ranks = run->ranks;
    if (!ranks) {
        KITH_TRY(meet_all(run, part));
        return add_part(run, part);
    }
    const int32_t batch = part == run->parts ? 0 : 1;
    symmetric_exchange(run, part, false);
    symmetric_fetch(run, part->chunk.end_offset, part->chunk.end_offset + rounds_at_once,
                    1 - batch);
    KITH_TRY(meet_all(run, part));
    symmetric_exchange(run, part, true);
    part->stops = atomic_load(&run->context->cancel_wanted);
    ranks->library->post_maximum(ranks->state, batch, &part->stops, 1);
    if (!before && run->problem->is_slice)
        ranks->library->wait(ranks->state, 1 - batch);
    const kith_status status = before ? finish_part(run, before) : KITH_OK;
    if (status != KITH_OK)
        ranks->library->wait(ranks->state, batch);
    return status;
}

kith_status forces_symmetric_cpu(kith_context *context, const struct forces_problem *problem,
                                 const struct symmetric_law *law)
{
    struct symmetric_run run = {.context = context, .problem = problem, .law = law};
    KITH_TRY(symmetric_agree_on_form(&run, begin(&run)));
    if (problem->is_slice)
        symmetric_take_slice(&run, run.bodies);
    const int64_t offsets = ring_offsets(run.tiles);
    struct part *part = run.parts, *before = NULL;
    for (int64_t first = 0; first < offsets; first += rounds_at_once, before = part) {
        part = run.ranks && before == run.parts ? run.parts + 1 : run.parts;
        part->chunk = (struct ring_chunk){
            run.tiles, first, first + rounds_at_once < offsets ? first + rounds_at_once : offsets};
        KITH_TRY(do_part(&run, part, before));
    }
    if (!run.ranks)
        return KITH_OK;
    KITH_TRY(finish_part(&run, part));
    if (problem->is_slice)
        symmetric_keep_slice(&run);
    else
        symmetric_gather(&run);
    return KITH_OK;
}
