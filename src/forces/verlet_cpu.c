/* Forces by a Verlet list on the CPU: sums in units, and accelerations, energy and virial of them.
 */

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "forces/verlet_places.h"
#include "forces/verlet_totals.h"
#include "law/compiled.h"
#include "ranks/ranks.h"

enum { most_particles = INT32_MAX - 1024 };

/* Bits of the largest force and value of a pair; sums have room for 2^16 of these. Units are powers
 * of 16. */
enum {
    pair_bits = 46,
    unit_step = 4,
    most_neighbors = 1 << 16,
    most_exponent = 960,
    least_exponent_float = -80 /* the reciprocal of the unit is a float */
};

/* Of one thread; decides how many threads to wake. */
static const double forces_a_second = 1e7;

struct job {
    kith_context *context;
    const struct forces_problem *problem;
    const struct cutoff_law *law;
    struct verlet *verlet;
    struct verlet_problem of_kernel;
    verlet_kernel *kernel;
    int64_t threads, sum_count;
    bool has_totals;                 /* the pass sums these, too */
    struct verlet_sums *sums;        /* of each thread, and of a domain those with ghosts, */
    struct verlet_wide (*across)[3]; /* and what they sum across the images; or NULL */
    atomic_long next;
};

bool verlet_suits(const struct forces_problem *problem, const struct cutoff_law *law)
{
    const struct law_view *view = &law->view;
    const struct pairs_lattice *lattice = problem->space.lattice;
    if (!problem->space.repeats || !problem->self || problem->accumulate || !problem->law ||
        problem->potential || (problem->space.totals && problem->dtype != KITH_F64) ||
        problem->target_half_softening2 || problem->target_count == 0 ||
        problem->target_count > most_particles || !view->is_central ||
        (view->formula && (view->uses_mass || view->uses_charge) && !view->is_symmetric) ||
        !verlet_excluded_suits(problem))
        return false;
    for (int k = 0; k < 3; k++)
        if (lattice->periodic[k] && problem->space.cutoff > 4 * lattice->height[k])
            return false;
    return true;
}

static kith_status make_room(struct job *job)
{
    struct verlet *verlet = job->verlet;
    const int64_t numbers = 3 * verlet->list.cluster_room * verlet->list.lanes;
    if (job->threads > verlet->thread_room) {
        unsigned long long **forces = NULL;
        KITH_TRY(kith_allocate(job->threads, sizeof *forces, "Verlet list", &forces));
        if (verlet->forces)
            memcpy(forces, verlet->forces, (size_t)verlet->thread_room * sizeof *forces);
        free(verlet->forces);
        verlet->forces = forces;
        for (; verlet->thread_room < job->threads; verlet->thread_room++)
            KITH_TRY(kith_allocate(numbers, sizeof **forces, "Verlet list",
                                   &forces[verlet->thread_room]));
    }
    return KITH_OK;
}

/* Sums of the threads, all 0. */
static kith_status clear_sums(struct job *job)
{
    const int64_t images = job->verlet->list.image_count;
    memset(job->sums, 0, (size_t)job->sum_count * sizeof *job->sums);
    if (!job->has_totals)
        return KITH_OK;
    if (!job->across)
        KITH_TRY(kith_allocate(job->sum_count * images, sizeof *job->across, "Verlet list",
                               &job->across));
    memset(job->across, 0, (size_t)(job->sum_count * images) * sizeof *job->across);
    for (int64_t k = 0; k < job->sum_count; k++)
        job->sums[k].across = job->across + k * images;
    return KITH_OK;
}

static void sum_in_lane(void *argument, int64_t k)
{
    struct job *job = argument;
    const struct verlet_list *list = &job->verlet->list;
    unsigned long long *force = job->verlet->forces[k];
    if (list->all_clusters == 0)
        return;
    memset(force, 0, (size_t)(3 * list->all_clusters * list->lanes) * sizeof *force);
    for (;;) {
        const int64_t t = list->first_task + atomic_fetch_add(&job->next, 1);
        if (t >= list->end_task || kith_context_stops(job->context))
            return;
        const struct verlet_task *task = &list->tasks[t];
        job->kernel(&job->of_kernel, task->segments, task->first_with_ghosts, task->entries, force,
                    &job->sums[k]);
        if (task->segment_count > task->first_with_ghosts)
            job->kernel(&job->of_kernel, task->segments + task->first_with_ghosts,
                        task->segment_count - task->first_with_ghosts, task->entries, force,
                        &job->sums[job->threads + k]);
    }
}

/* The exponent of the unit for pairs as large as this. */
static int exponent_of(double largest, kith_dtype dtype)
{
    const int least = dtype == KITH_F64 ? -most_exponent : least_exponent_float;
    int exponent = 0;
    (void)frexp(largest * (1 + 0x1p-20), &exponent);
    if (largest == 0 || exponent < least)
        exponent = least;
    return (exponent + 4096 + unit_step - 1) / unit_step * unit_step - 4096;
}

/* The largest of all ranks, which have summed with this status. A NaN is larger than any number,
 * and so are its bits. */
static kith_status agree_on_largest(const struct job *job, kith_status status, double *largest)
{
    int64_t bits = INT64_MAX;
    if (!job->verlet->part.is_divided && !job->verlet->is_of_domain)
        return status;
    if (!isnan(*largest))
        memcpy(&bits, largest, sizeof bits);
    KITH_TRY(ranks_agree_on(job->context, status, &bits));
    memcpy(largest, &bits, sizeof bits);
    return KITH_OK;
}

/* The largest F and V of a pair, of all threads and ranks. */
static kith_status find_largest(const struct job *job, kith_status status, double *force,
                                double *value)
{
    *force = *value = 0;
    for (int64_t k = 0; k < job->sum_count; k++) {
        if (!isnan(*force) && !(job->sums[k].largest <= *force))
            *force = job->sums[k].largest;
        if (!isnan(*value) && !(job->sums[k].largest_value <= *value))
            *value = job->sums[k].largest_value;
    }
    KITH_TRY(agree_on_largest(job, status, force));
    *force *= job->problem->space.cutoff;
    return job->has_totals ? agree_on_largest(job, KITH_OK, value) : KITH_OK;
}

/* A pass with the units as they are. */
static kith_status pass(struct job *job, double *largest_force, double *largest_value)
{
    const struct verlet *verlet = job->verlet;
    job->of_kernel.magic = ldexp(0x1.8p52, verlet->exponent - pair_bits);
    job->of_kernel.value_magic = ldexp(0x1.8p52, verlet->value_exponent - pair_bits);
    kith_status status = clear_sums(job);
    atomic_store(&job->next, 0);
    if (status == KITH_OK)
        status = kith_for_each(job->context, (int32_t)job->threads, job->threads, sum_in_lane, job);
    if (status == KITH_OK)
        status = kith_context_check_cancelled(job->context);
    return find_largest(job, status, largest_force, largest_value);
}

/* Sums in units; done is false if they would not fit. Totals that would not are left out if they
 * are only expected. */
static kith_status sum(struct job *job, bool *done)
{
    struct verlet *verlet = job->verlet;
    const kith_dtype dtype = job->problem->dtype;
    *done = false;
    for (int turn = 0; turn < 3; turn++) {
        double force = 0, value = 0;
        KITH_TRY(pass(job, &force, &value));
        const int exponent = isfinite(force) ? exponent_of(force, dtype) : INT_MAX;
        const int of_value = isfinite(value) ? exponent_of(value, dtype) : INT_MAX;
        if (exponent > most_exponent)
            return KITH_OK;
        if (job->has_totals && of_value > most_exponent) {
            if (job->problem->space.totals)
                return KITH_OK;
            job->has_totals = false;
        }
        *done = exponent == verlet->exponent &&
                (!job->has_totals || of_value == verlet->value_exponent);
        if (*done)
            return KITH_OK;
        verlet->exponent = exponent;
        verlet->value_exponent = job->has_totals ? of_value : verlet->value_exponent;
    }
    return KITH_OK;
}

/* The sums of a slot's component, of this process. */
static uint64_t force_of(const void *user, int64_t place)
{
    const struct verlet *verlet = user;
    uint64_t total = 0;
    for (int64_t k = 0; k < verlet->found.sums; k++)
        total += verlet->forces[k][place];
    return total;
}

static void combine_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct verlet_list *list = &job->verlet->list;
    const int64_t end = verlet_end_of_part(part, job->problem->target_count);
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++)
        for (int c = 0; c < 3; c++) {
            const int64_t place = verlet_place(list, slot) + (int64_t)c * list->lanes;
            job->verlet->forces[0][place] = force_of(job->verlet, place);
        }
}

/* Over ranks: adds the sums of all of them, exactly, on all ranks. */
static kith_status add_ranks(struct job *job)
{
    const struct verlet_list *list = &job->verlet->list;
    struct verlet_found *found = &job->verlet->found;
    found->unit = ldexp(1, job->verlet->exponent - pair_bits);
    found->sums = job->threads;
    if (!job->verlet->part.is_divided)
        return KITH_OK;
    KITH_TRY(ranks_agree(job->context, verlet_for_slots(job->context, job->problem->target_count,
                                                        combine_part, job)));
    ranks_add(job->context, job->verlet->forces[0], 3 * list->clusters * list->lanes);
    found->sums = 1;
    return KITH_OK;
}

/* What the threads from `first` on have summed, to the sums of that one. */
static void add_threads(struct job *job, int64_t first)
{
    const int64_t images = job->verlet->list.image_count;
    struct verlet_wide *all = job->across[first * images];
    for (int64_t k = first + 1; k < first + job->threads; k++) {
        verlet_wide_add(&job->sums[first].energy, job->sums[k].energy);
        for (int64_t t = 0; t < 3 * images; t++)
            verlet_wide_add(&all[t], job->across[k * images][t]);
    }
}

/* The totals, of the sums of all threads and ranks. */
static kith_status find_totals(struct job *job)
{
    struct verlet *verlet = job->verlet;
    struct verlet_found *found = &verlet->found;
    const int64_t images = verlet->list.image_count;
    struct verlet_wide *all = job->across[0], energy;
    struct verlet_totals totals = {.across = (const struct verlet_wide(*)[3])job->across,
                                   .unit = found->unit};
    found->totals = (kith_forces_totals){.volume = job->problem->space.volume};
    for (int64_t first = 0; first < job->sum_count; first += job->threads)
        add_threads(job, first);
    energy = job->sums[0].energy;
    if (verlet->part.is_divided) {
        ranks_add(job->context, &energy.high, 2);
        ranks_add(job->context, &all->high, 6 * images);
    }
    if (verlet->is_of_domain) {
        totals.across_with_ghosts =
            (const struct verlet_wide(*)[3])(job->across + job->threads * images);
        verlet_wide_add_halves(job->context, &energy, job->sums[job->threads].energy);
    }
    found->totals.energy = verlet_wide_value(energy) * ldexp(1, verlet->value_exponent - pair_bits);
    return verlet_add_virial(job->context, verlet, force_of, verlet, &totals, &found->totals);
}

static void store_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct forces_problem *problem = job->problem;
    const struct verlet *verlet = job->verlet;
    const struct verlet_list *list = &verlet->list;
    const int64_t end = verlet_end_of_part(part, job->problem->target_count);
    const void *masses = job->law->target_mass;
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++) {
        const int64_t row = list->points[slot].row, first = verlet_place(list, slot);
        const double mass = masses ? real_get(problem->dtype, masses, row) : 1;
        const double unit = verlet->found.unit / mass;
        for (int c = 0; c < 3; c++) {
            const uint64_t total = force_of(verlet, first + (int64_t)c * list->lanes);
            if (problem->acceleration[c])
                real_set(problem->dtype, problem->acceleration[c], row,
                         (double)(int64_t)total * unit);
        }
    }
}

static kith_status find_kernel(struct job *job, const struct verlet_kernels *kernels)
{
    const enum law_kind kind = job->law->view.form.kind;
    const kith_dtype dtype = job->problem->dtype;
    if (kind == law_custom)
        return law_compile_cpu(job->context, job->problem->law, "forces/verlet_kernel.c",
                               "verlet_custom", dtype, &job->kernel);
    job->kernel = kernels->of_kind[kind];
    return KITH_OK;
}

static void fill_in_kernel(struct job *job)
{
    const struct forces_space *space = &job->problem->space;
    const bool narrow = job->problem->dtype == KITH_F32;
    job->of_kernel = (struct verlet_problem){
        .numbers = job->law->view.numbers,
        .weighting = job->law->view.form.weighting,
        .shift = (enum cutoff_shift)space->shift,
        .cutoff = narrow ? (double)(float)space->cutoff : space->cutoff,
        .limit = narrow ? (double)pairs_limit_float((float)space->cutoff)
                        : pairs_limit_double(space->cutoff),
        .softening2 = job->problem->softening2,
        .slope_at_cutoff = job->law->slope_at_cutoff,
        .position = job->verlet->list.position,
        .weight = job->verlet->weight,
        .charge = job->verlet->charge,
        .row = job->verlet->row,
        .translations = (const double(*)[3])job->verlet->list.translations,
    };
}

/* A pass over the list: what it finds is kept. */
static kith_status find(struct job *job, const struct verlet_kernels *kernels, bool *done)
{
    struct verlet *verlet = job->verlet;
    verlet->found.is_there = false;
    KITH_TRY(find_kernel(job, kernels));
    fill_in_kernel(job);
    job->threads =
        kith_threads_for(job->context, (double)job->problem->target_count / forces_a_second);
    KITH_TRY(make_room(job));
    job->sum_count = job->threads * (verlet->is_of_domain ? 2 : 1);
    KITH_TRY(kith_allocate(job->sum_count, sizeof *job->sums, "Verlet list", &job->sums));
    kith_status status = sum(job, done);
    if (status == KITH_OK && *done)
        status = add_ranks(job);
    if (status == KITH_OK && *done && job->has_totals)
        status = find_totals(job);
    free(job->sums);
    free(job->across);
    verlet->found.is_there = status == KITH_OK && *done;
    verlet->found.has_totals = job->has_totals;
    return status;
}

/* Whether a pass is to sum totals: they are requested, or expected to be, before positions
 * change. */
static bool expects_totals(const struct forces_problem *problem, struct verlet *verlet)
{
    if (!problem->space.totals) {
        verlet->passes += !verlet->found.is_there;
        return verlet->dtype == KITH_F64 && verlet->passes == verlet->period;
    }
    if (verlet->passes > 0)
        verlet->period = verlet->passes;
    verlet->passes = 0;
    return true;
}

const struct verlet_kernels *verlet_kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &verlet_kernels_double_##isa,
#define IN_FLOAT(isa)  &verlet_kernels_float_##isa,
    static const struct verlet_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct verlet_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

kith_status verlet_forces_placed(kith_context *context, const struct forces_problem *problem,
                                 const struct cutoff_law *law, struct verlet *verlet, bool *done)
{
    struct job job = {.context = context, .problem = problem, .law = law, .verlet = verlet};
    job.has_totals = expects_totals(problem, verlet);
    const struct verlet_found *found = &verlet->found;
    *done = found->is_there && (found->has_totals || !problem->space.totals);
    if (!*done)
        KITH_TRY(find(&job, verlet_kernels_of(context, problem->dtype), done));
    if (!*done)
        return KITH_OK;
    if (problem->space.totals)
        *problem->space.totals = found->totals;
    return verlet_for_slots(context, problem->target_count, store_part, &job);
}

kith_status verlet_forces_cpu(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, struct verlet *of_dtype[2], bool *done)
{
    struct verlet **verlet = &of_dtype[problem->dtype == KITH_F64];
    bool is_far = false;
    *done = false;
    KITH_TRY(verlet_take_places(context, problem, law, verlet_kernels_of(context, problem->dtype),
                                verlet, &is_far));
    return is_far ? KITH_OK : verlet_forces_placed(context, problem, law, *verlet, done);
}

void verlet_free_both(struct verlet *of_dtype[2])
{
    verlet_free(of_dtype[0]);
    verlet_free(of_dtype[1]);
}
