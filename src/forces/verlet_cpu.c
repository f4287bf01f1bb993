/* Forces by a Verlet list on the CPU: positions to slots, the list anew when it is used up, and
 * sums in units. */

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/tasks_ranks.h"
#include "forces/verlet.h"
#include "forces/verlet_list.h"
#include "law/compiled.h"
#include "ranks/ranks.h"

enum { slots_a_part = 1 << 12, most_particles = INT32_MAX - 1024 };

/* Bits of the largest force of a pair; sums have room for 2^16 of these. Units are powers of 16. */
enum { force_bits = 46, unit_step = 4, most_neighbors = 1 << 16, most_exponent = 960 };

/* Of one thread, to tell how many are worth waking. */
static const double forces_a_second = 1e7, slots_a_second = 1e8;

/* A skin that kith chooses is kept so that a list lasts this many steps, within these parts of the
 * cutoff: bits do not depend on it. */
static const double first_skin = 0.16, least_skin = 0.02, largest_skin = 0.5;
enum { least_life = 10, most_life = 30 };

/* Positions as of a cutoff and a cell: x is rounded to whole grids, which are moved as integers. */
struct grid {
    double length; /* a power of two */
    int64_t cell[3][3];
};

struct verlet {
    kith_dtype dtype;
    double cutoff, skin;
    struct grid grid;
    struct verlet_list list;
    bool is_made;
    int64_t life;         /* evaluations by the list */
    uint64_t (*moves)[3]; /* of each slot: what wraps it */
    void *weight;
    unsigned long long **forces; /* of each thread */
    int64_t thread_room;
    int exponent;           /* of the largest force, as it was */
    struct tasks_part part; /* over ranks, by the entries of the list before */
};

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
    atomic_bool is_far, is_used_up;
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

void verlet_free(struct verlet *verlet)
{
    if (!verlet)
        return;
    verlet_list_free(&verlet->list);
    free(verlet->moves);
    free(verlet->weight);
    for (int64_t k = 0; k < verlet->thread_room; k++)
        free(verlet->forces[k]);
    free(verlet->forces);
    tasks_free(&verlet->part);
    free(verlet);
}

static kith_status for_slots(struct job *job, kith_task *task)
{
    const int64_t count = job->problem->target_count;
    return kith_for_each(job->context,
                         kith_threads_for(job->context, (double)count / slots_a_second),
                         (count + slots_a_part - 1) / slots_a_part, task, job);
}

static int64_t end_of_part(const struct job *job, int64_t part)
{
    const int64_t end = (part + 1) * slots_a_part;
    return end < job->problem->target_count ? end : job->problem->target_count;
}

/* A grid on which positions of the cell, or of all particles where that is open, and their
 * differences are exact in the dtype: of the cell and the cutoff alone if the cell is closed. */
static void choose_grid(const struct forces_problem *problem, struct grid *grid)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    double extent = 4 * problem->space.cutoff, open = 0;
    int exponent = 0;
    bool is_open = false;
    for (int k = 0; k < 3; k++) {
        double longest = 0;
        for (int c = 0; c < 3; c++)
            longest = fmax(longest, fabs(lattice->basis[k][c]));
        if (lattice->periodic[k])
            extent += longest;
        else if (k < problem->dimensions)
            is_open = true;
    }
    for (int c = 0; c < problem->dimensions && is_open; c++)
        for (int64_t i = 0; i < problem->target_count; i++) {
            const double x = fabs(real_get(problem->dtype, problem->target_position[c], i));
            open = x > open ? x : open;
        }
    (void)frexp(extent + 2 * open, &exponent);
    grid->length = ldexp(1, exponent - (problem->dtype == KITH_F64 ? 53 : 24));
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            grid->cell[k][c] =
                lattice->periodic[k] ? llrint(lattice->basis[k][c] / grid->length) : 0;
}

/* Whole grids of a coordinate of row i; false if there are too many of them. */
static inline bool grids_of(const struct forces_problem *problem, double per_grid, int c, int64_t i,
                            int64_t *grids)
{
    const void *column = problem->target_position[c];
    const double x = column ? real_get(problem->dtype, column, i) * per_grid : 0;
    *grids = 0;
    if (!(fabs(x) < 0x1p62))
        return false;
    *grids = llrint(x);
    return true;
}

/* Positions of the slots as they are now, and whether one has moved too far for the list. */
static void refresh_part(void *argument, int64_t part)
{
    struct job *job = argument;
    struct verlet *verlet = job->verlet;
    const struct verlet_list *list = &verlet->list;
    const int64_t end = end_of_part(job, part);
    const double grid = verlet->grid.length, per_grid = 1 / grid;
    const double limit = verlet->skin * verlet->skin / 4 * (1 - 0x1p-20);
    bool is_near = true, is_used_up = false;
    for (int64_t slot = part * slots_a_part; slot < end; slot++) {
        const struct verlet_point *point = &list->points[slot];
        const int64_t first = verlet_place(list, slot);
        double moved2 = 0;
        for (int c = 0; c < 3; c++) {
            int64_t grids;
            is_near = grids_of(job->problem, per_grid, c, point->row, &grids) && is_near;
            const double x = (double)(int64_t)((uint64_t)grids + verlet->moves[slot][c]) * grid;
            const double d = x - point->x[c];
            moved2 += d * d;
            real_set(verlet->dtype, list->position, first + (int64_t)c * list->lanes, x);
        }
        is_used_up = is_used_up || moved2 > limit;
    }
    if (!is_near)
        atomic_store(&job->is_far, true);
    if (is_used_up)
        atomic_store(&job->is_used_up, true);
}

/* Wraps the points, which are in the order of the last list. */
static void wrap_part(void *argument, int64_t part)
{
    struct job *job = argument;
    struct verlet *verlet = job->verlet;
    const int64_t end = end_of_part(job, part);
    const double grid = verlet->grid.length, per_grid = 1 / grid;
    bool is_near = true;
    for (int64_t slot = part * slots_a_part; slot < end; slot++) {
        struct verlet_point *point = &verlet->list.points[slot];
        int64_t grids[3];
        double x[3];
        int32_t n[3];
        for (int c = 0; c < 3; c++) {
            is_near = grids_of(job->problem, per_grid, c, point->row, &grids[c]) && is_near;
            x[c] = (double)grids[c] * grid;
        }
        is_near = pairs_wrap(job->problem->space.lattice, x, n) && is_near;
        for (int c = 0; c < 3; c++) {
            uint64_t wrapped = (uint64_t)grids[c];
            for (int k = 0; k < 3; k++)
                wrapped -= (uint64_t)n[k] * (uint64_t)verlet->grid.cell[k][c];
            point->x[c] = (double)(int64_t)wrapped * grid;
        }
    }
    if (!is_near)
        atomic_store(&job->is_far, true);
}

/* After the points have their slots: what wraps a row, as it was, and columns. */
static void place_part(void *argument, int64_t part)
{
    struct job *job = argument;
    struct verlet *verlet = job->verlet;
    const int64_t end = end_of_part(job, part);
    const double grid = verlet->grid.length, per_grid = 1 / grid;
    const void *weights = job->law->view.weight == law_weight_charge ? job->law->source_charge
                                                                     : job->problem->source_mass;
    for (int64_t slot = part * slots_a_part; slot < end; slot++) {
        const struct verlet_point *point = &verlet->list.points[slot];
        for (int c = 0; c < 3; c++) {
            int64_t grids;
            (void)grids_of(job->problem, per_grid, c, point->row, &grids);
            verlet->moves[slot][c] = (uint64_t)(int64_t)(point->x[c] * per_grid) - (uint64_t)grids;
        }
        if (verlet->weight)
            real_set(verlet->dtype, verlet->weight, slot,
                     weights ? real_get(verlet->dtype, weights, point->row) : 1);
    }
}

static kith_status choose_images(const struct forces_problem *problem, const struct grid *grid,
                                 double distance, struct verlet_list *list)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    int32_t reach[3] = {0}, t[3];
    free(list->images);
    free(list->translations);
    list->images = NULL;
    list->translations = NULL;
    list->image_count = 1;
    for (int k = 0; k < 3; k++) {
        if (lattice->periodic[k])
            reach[k] = (int32_t)(distance / lattice->height[k]) + 1;
        list->image_count *= 2 * reach[k] + 1;
    }
    KITH_TRY(kith_allocate(list->image_count, sizeof *list->images, "images", &list->images));
    KITH_TRY(kith_allocate(list->image_count, sizeof *list->translations, "images",
                           &list->translations));
    int64_t k = 0;
    for (t[0] = -reach[0]; t[0] <= reach[0]; t[0]++)
        for (t[1] = -reach[1]; t[1] <= reach[1]; t[1]++)
            for (t[2] = -reach[2]; t[2] <= reach[2]; t[2]++, k++) {
                memcpy(list->images[k], t, sizeof t);
                for (int c = 0; c < 3; c++)
                    list->translations[k][c] =
                        (double)(t[0] * grid->cell[0][c] + t[1] * grid->cell[1][c] +
                                 t[2] * grid->cell[2][c]) *
                        grid->length;
            }
    return KITH_OK;
}

/* Lists that do not last cost more than what a longer skin adds to them. */
static void choose_skin(const struct forces_problem *problem, struct verlet *verlet)
{
    const double cutoff = problem->space.cutoff;
    if (problem->space.skin > 0)
        verlet->skin = fmin(problem->space.skin, cutoff);
    else if (verlet->skin == 0)
        verlet->skin = first_skin * cutoff;
    else if (verlet->is_made && verlet->life < least_life)
        verlet->skin = fmin(1.25 * verlet->skin, largest_skin * cutoff);
    else if (verlet->is_made && verlet->life > most_life)
        verlet->skin = fmax(0.8 * verlet->skin, least_skin * cutoff);
}

static kith_status search(const struct job *job, verlet_search *of_isa, double distance)
{
    struct verlet *verlet = job->verlet;
    struct verlet_list *list = &verlet->list;
    tasks_divide(&verlet->part);
    list->first_task = verlet->part.first;
    list->end_task = verlet->part.end;
    const kith_status status = verlet_list_search(job->context, of_isa, distance, list);
    if (!verlet->part.is_divided)
        return status;
    KITH_TRY(ranks_agree(job->context, status));
    for (int64_t t = list->first_task; t < list->end_task; t++)
        verlet->part.work[t] = (double)list->tasks[t].entry_count;
    tasks_gather(&verlet->part, verlet->part.work, sizeof *verlet->part.work, 1, list->task_count);
    return KITH_OK;
}

static kith_status make_list(struct job *job, const struct verlet_kernels *kernels)
{
    struct verlet *verlet = job->verlet;
    const struct forces_problem *problem = job->problem;
    choose_skin(problem, verlet);
    const double distance = problem->space.cutoff + verlet->skin;
    verlet->is_made = false;
    verlet->life = 0;
    KITH_TRY(for_slots(job, wrap_part));
    if (atomic_load(&job->is_far))
        return KITH_OK;
    KITH_TRY(choose_images(problem, &verlet->grid, distance, &verlet->list));
    KITH_TRY(verlet_list_arrange(job->context, &verlet->list));
    KITH_TRY(for_slots(job, place_part));
    KITH_TRY(search(job, verlet->dtype == KITH_F64 ? kernels->search_double : kernels->search_float,
                    distance));
    verlet->is_made = true;
    return KITH_OK;
}

static kith_status create(const struct job *job, const struct verlet_kernels *kernels,
                          struct verlet **verlet)
{
    const struct forces_problem *problem = job->problem;
    const bool is_double = problem->dtype == KITH_F64;
    struct verlet *created = NULL;
    KITH_TRY(kith_allocate(1, sizeof *created, "Verlet list", &created));
    *verlet = created;
    created->dtype = problem->dtype;
    created->cutoff = problem->space.cutoff;
    KITH_TRY(verlet_list_create(problem->target_count,
                                is_double ? kernels->lanes_double : kernels->lanes_float,
                                problem->dtype, &created->list));
    const int64_t slots = created->list.clusters * created->list.lanes;
    for (int64_t i = 0; i < problem->target_count; i++)
        created->list.points[i].row = i;
    KITH_TRY(tasks_create(job->context, created->list.task_count, problem->target_count,
                          &created->part));
    KITH_TRY(kith_allocate(slots, sizeof *created->moves, "Verlet list", &created->moves));
    if (job->law->view.weight != law_weight_none)
        KITH_TRY(kith_allocate(slots, kith_dtype_bytes(problem->dtype), "Verlet list",
                               &created->weight));
    return KITH_OK;
}

/* The list, valid for the positions as they are; is_far if there is none. */
static kith_status take_list(struct job *job, const struct verlet_kernels *kernels,
                             struct verlet **verlet)
{
    struct grid grid;
    if (!*verlet) {
        const kith_status status = create(job, kernels, verlet);
        if (status != KITH_OK) {
            verlet_free(*verlet);
            *verlet = NULL;
            return status;
        }
    }
    job->verlet = *verlet;
    choose_grid(job->problem, &grid);
    if (memcmp(&grid, &job->verlet->grid, sizeof grid) == 0 && job->verlet->is_made) {
        KITH_TRY(for_slots(job, refresh_part));
        if (!atomic_load(&job->is_used_up) && !atomic_load(&job->is_far)) {
            job->verlet->life++;
            return KITH_OK;
        }
    }
    job->verlet->grid = grid;
    return make_list(job, kernels);
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
    const int64_t end = end_of_part(job, part);
    for (int64_t slot = part * slots_a_part; slot < end; slot++)
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
    KITH_TRY(ranks_agree(job->context, for_slots(job, combine_part)));
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
    const int64_t end = end_of_part(job, part);
    const void *masses = job->law->target_mass;
    int32_t touched = 0;
    for (int64_t slot = part * slots_a_part; slot < end; slot++) {
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
    KITH_TRY(take_list(&job, kernels, verlet));
    if (atomic_load(&job.is_far))
        return KITH_OK;
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
        status = for_slots(&job, store_part);
    return status;
}
