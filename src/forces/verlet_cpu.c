/* Forces by a Verlet list on the CPU: sums in units, and accelerations of them. */

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "forces/verlet_places.h"
#include "law/compiled.h"
#include "ranks/ranks.h"

enum { most_particles = INT32_MAX - 1024 };

/* Bits of the largest force of a pair; sums have room for 2^16 of these. Units are powers of 16. */
enum { force_bits = 46, unit_step = 4, most_neighbors = 1 << 16, most_exponent = 960 };

/* Of one thread, to tell how many are worth waking. */
static const double forces_a_second = 1e7;

struct job {
    kith_context *context;
    const struct forces_problem *problem;
    const struct cutoff_law *law;
    struct verlet *verlet;
    struct verlet_problem of_kernel;
    verlet_kernel *kernel;
    int64_t threads;
    double *largest; /* of each thread: F/d */
    atomic_long next;
    double unit;
    int64_t sums;  /* arrays of forces that are to be added up, */
    uint64_t zero; /* and what each subtraction from a cluster has put in */
};

bool verlet_suits(const struct forces_problem *problem, const struct cutoff_law *law)
{
    const struct law_view *view = &law->view;
    const struct pairs_lattice *lattice = problem->space.lattice;
    if (!problem->space.repeats || !problem->self || problem->accumulate || !problem->law ||
        problem->potential || problem->space.totals || problem->target_half_softening2 ||
        problem->target_count == 0 || problem->target_count > most_particles || !view->is_central ||
        (view->formula && (view->uses_mass || view->uses_charge)) ||
        (view->formula && problem->space.shift == KITH_SHIFT_FORCE))
        return false;
    for (int k = 0; k < 3; k++)
        if (lattice->periodic[k] && problem->space.cutoff > 4 * lattice->height[k])
            return false;
    return true;
}

static kith_status make_room(struct job *job)
{
    struct verlet *verlet = job->verlet;
    const int64_t numbers = 3 * verlet->list.clusters * verlet->list.lanes;
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

static void sum_in_lane(void *argument, int64_t k)
{
    struct job *job = argument;
    const struct verlet_list *list = &job->verlet->list;
    unsigned long long *force = job->verlet->forces[k];
    memset(force, 0, (size_t)(3 * list->clusters * list->lanes) * sizeof *force);
    for (;;) {
        const int64_t t = list->first_task + atomic_fetch_add(&job->next, 1);
        if (t >= list->end_task || kith_context_stops(job->context))
            return;
        const struct verlet_task *task = &list->tasks[t];
        const double largest =
            job->kernel(&job->of_kernel, task->segments, task->segment_count, task->entries, force);
        if (!(largest <= job->largest[k])) /* a NaN stays */
            job->largest[k] = isnan(job->largest[k]) ? job->largest[k] : largest;
    }
}

/* The exponent of the unit for forces as large as these. */
static int exponent_of(const struct job *job, double largest)
{
    int exponent = 0;
    (void)frexp(largest * job->problem->space.cutoff * (1 + 0x1p-20), &exponent);
    if (largest == 0 || exponent < -most_exponent)
        exponent = -most_exponent;
    return (exponent + 4096 + unit_step - 1) / unit_step * unit_step - 4096;
}

/* The largest of all threads, and ranks, which have summed with this status. A NaN is larger than
 * any number, and so are its bits. */
static kith_status find_largest(const struct job *job, kith_status status, double *largest)
{
    int64_t bits = INT64_MAX;
    *largest = 0;
    for (int64_t k = 0; k < job->threads && !isnan(*largest); k++)
        if (!(job->largest[k] <= *largest))
            *largest = job->largest[k];
    if (!job->verlet->part.is_divided)
        return status;
    if (!isnan(*largest))
        memcpy(&bits, largest, sizeof bits);
    KITH_TRY(ranks_agree_on(job->context, status, &bits));
    memcpy(largest, &bits, sizeof bits);
    return KITH_OK;
}

/* Sums in units; done is false if they would not fit. */
static kith_status sum(struct job *job, bool *done)
{
    struct verlet *verlet = job->verlet;
    *done = false;
    for (int turn = 0; turn < 2; turn++) {
        job->unit = ldexp(1, verlet->exponent - force_bits);
        job->of_kernel.magic = 0x1.8p52 * job->unit;
        memset(job->largest, 0, (size_t)job->threads * sizeof *job->largest);
        atomic_store(&job->next, 0);
        double largest = 0;
        kith_status status =
            kith_for_each(job->context, (int32_t)job->threads, job->threads, sum_in_lane, job);
        if (status == KITH_OK)
            status = kith_context_check_cancelled(job->context);
        KITH_TRY(find_largest(job, status, &largest));
        if (!isfinite(largest * job->problem->space.cutoff))
            return KITH_OK;
        const int exponent = exponent_of(job, largest);
        *done = exponent == verlet->exponent;
        if (*done || exponent > most_exponent)
            return KITH_OK;
        verlet->exponent = exponent;
    }
    return KITH_OK;
}

/* The sums of a slot's component of this process, of which its cluster has this many subtractions.
 */
static uint64_t sum_of(const struct job *job, int64_t place, int32_t touched)
{
    uint64_t total = (uint64_t)touched * job->zero;
    for (int64_t k = 0; k < job->sums; k++)
        total += job->verlet->forces[k][place];
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
            job->verlet->forces[0][place] = sum_of(job, place, list->touched[slot / list->lanes]);
        }
}

/* Over ranks: the sums of all of them, which are exact, come to all. */
static kith_status add_ranks(struct job *job)
{
    const struct verlet_list *list = &job->verlet->list;
    memcpy(&job->zero, &job->of_kernel.magic, sizeof job->zero);
    job->sums = job->threads;
    if (!job->verlet->part.is_divided)
        return KITH_OK;
    KITH_TRY(ranks_agree(job->context, verlet_for_slots(job->context, job->problem->target_count,
                                                        combine_part, job)));
    ranks_add(job->context, job->verlet->forces[0], 3 * list->clusters * list->lanes);
    job->zero = 0;
    job->sums = 1;
    return KITH_OK;
}

static void store_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct forces_problem *problem = job->problem;
    const struct verlet *verlet = job->verlet;
    const struct verlet_list *list = &verlet->list;
    const int64_t end = verlet_end_of_part(part, job->problem->target_count);
    const void *masses = job->law->target_mass;
    int32_t touched = 0;
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++) {
        if ((slot & (list->lanes - 1)) == 0) /* a part begins with a cluster */
            touched = list->touched[slot / list->lanes];
        const int64_t row = list->points[slot].row, first = verlet_place(list, slot);
        const double mass = masses ? real_get(problem->dtype, masses, row) : 1;
        const double unit = job->unit / mass;
        for (int c = 0; c < 3; c++) {
            const uint64_t total = sum_of(job, first + (int64_t)c * list->lanes, touched);
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
    job->kernel = (dtype == KITH_F64 ? kernels->in_double : kernels->in_float)[kind];
    return KITH_OK;
}

static void fill_in_kernel(struct job *job)
{
    const struct forces_space *space = &job->problem->space;
    const bool narrow = job->problem->dtype == KITH_F32;
    job->of_kernel = (struct verlet_problem){
        .numbers = job->law->view.numbers,
        .weighting = job->law->view.form.weighting,
        .limit = narrow ? (double)pairs_limit_float((float)space->cutoff)
                        : pairs_limit_double(space->cutoff),
        .softening2 = job->problem->softening2,
        .slope_at_cutoff = space->shift == KITH_SHIFT_FORCE ? job->law->slope_at_cutoff : 0,
        .position = job->verlet->list.position,
        .weight = job->verlet->weight,
        .translations = (const double(*)[3])job->verlet->list.translations,
    };
}

kith_status verlet_forces_cpu(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, struct verlet **verlet, bool *done)
{
#define ADDRESS(isa) &verlet_kernels_##isa,
    static const struct verlet_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct verlet_kernels *kernels = each_isa[context->isa];
    struct job job = {.context = context, .problem = problem, .law = law};
    *done = false;
    bool is_far = false;
    KITH_TRY(verlet_take_places(context, problem, law, kernels, verlet, &is_far));
    if (is_far)
        return KITH_OK;
    job.verlet = *verlet;
    KITH_TRY(find_kernel(&job, kernels));
    fill_in_kernel(&job);
    job.threads = kith_threads_for(context, (double)problem->target_count / forces_a_second);
    KITH_TRY(make_room(&job));
    KITH_TRY(kith_allocate(job.threads, sizeof *job.largest, "Verlet list", &job.largest));
    kith_status status = sum(&job, done);
    free(job.largest);
    if (status == KITH_OK && *done)
        status = add_ranks(&job);
    if (status == KITH_OK && *done)
        status = verlet_for_slots(context, problem->target_count, store_part, &job);
    return status;
}
