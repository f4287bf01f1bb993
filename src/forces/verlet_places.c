#include "forces/verlet_places.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "law/compiled.h"
#include "ranks/ranks.h"

/* Of one thread; decides how many threads to wake. */
static const double slots_a_second = 1e8;

/* A skin that kith chooses is kept so that a list lasts this many steps, within these parts of the
 * cutoff: bits do not depend on it. */
static const double first_skin = 0.16, least_skin = 0.02, largest_skin = 0.5;
enum { least_life = 10, most_life = 30 };

static void free_slots(struct verlet *verlet)
{
    free(verlet->moves);
    free(verlet->weight);
    free(verlet->charge);
    free(verlet->row);
    for (int64_t k = 0; k < verlet->thread_room; k++)
        free(verlet->forces[k]);
    free(verlet->forces);
    verlet->moves = NULL;
    verlet->weight = verlet->charge = verlet->row = NULL;
    verlet->forces = NULL;
    verlet->thread_room = 0;
}

void verlet_free(struct verlet *verlet)
{
    if (!verlet)
        return;
    verlet_list_free(&verlet->list);
    free_slots(verlet);
    tasks_free(&verlet->part);
    free(verlet);
}

kith_status verlet_for_slots(kith_context *context, int64_t count, kith_task *task, void *argument)
{
    return kith_for_each(context, kith_threads_for(context, (double)count / slots_a_second),
                         (count + verlet_slots_a_part - 1) / verlet_slots_a_part, task, argument);
}

static kith_status for_slots(struct verlet_placing *placing, kith_task *task)
{
    return verlet_for_slots(placing->context, placing->problem->target_count, task, placing);
}

static int64_t end_of_part(const struct verlet_placing *placing, int64_t part)
{
    return verlet_end_of_part(part, placing->problem->target_count);
}

double verlet_open_extent(const struct forces_problem *problem)
{
    double open = 0;
    bool is_open = false;
    for (int k = 0; k < problem->dimensions; k++)
        is_open = is_open || !problem->space.lattice->periodic[k];
    for (int c = 0; c < problem->dimensions && is_open; c++)
        for (int64_t i = 0; i < problem->target_count; i++) {
            const double x = fabs(real_get(problem->dtype, problem->target_position[c], i));
            open = x > open ? x : open;
        }
    return open;
}

/* A grid on which positions of the cell, or of all particles where that is open, and their
 * differences are exact in the dtype: of the cell and the cutoff alone if the cell is closed. */
void verlet_choose_grid(const struct forces_problem *problem, double open, struct verlet_grid *grid)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    double extent = 4 * problem->space.cutoff;
    int exponent = 0;
    for (int k = 0; k < 3; k++) {
        double longest = 0;
        for (int c = 0; c < 3; c++)
            longest = fmax(longest, fabs(lattice->basis[k][c]));
        if (lattice->periodic[k])
            extent += longest;
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
    struct verlet_placing *placing = argument;
    struct verlet *verlet = placing->verlet;
    const struct verlet_list *list = &verlet->list;
    const int64_t end = end_of_part(placing, part);
    const double grid = verlet->grid.length, per_grid = 1 / grid;
    const double limit = verlet->skin * verlet->skin / 4 * (1 - 0x1p-20);
    bool is_near = true, is_used_up = false, has_moved = false;
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++) {
        const struct verlet_point *point = &list->points[slot];
        const int64_t first = verlet_place(list, slot);
        double moved2 = 0;
        for (int c = 0; c < 3; c++) {
            int64_t grids;
            is_near = grids_of(placing->problem, per_grid, c, point->row, &grids) && is_near;
            const double x = (double)(int64_t)((uint64_t)grids + verlet->moves[slot][c]) * grid;
            const double d = x - point->x[c];
            moved2 += d * d;
            const int64_t at = first + (int64_t)c * list->lanes;
            has_moved = has_moved || real_get(verlet->dtype, list->position, at) != x;
            real_set(verlet->dtype, list->position, at, x);
        }
        is_used_up = is_used_up || moved2 > limit;
    }
    if (!is_near)
        atomic_store(&placing->is_far, true);
    if (is_used_up)
        atomic_store(&placing->is_used_up, true);
    if (has_moved)
        atomic_store(&placing->has_moved, true);
}

bool verlet_wrap(const struct forces_problem *problem, const struct verlet_grid *grid, int64_t i,
                 double x[3])
{
    const double per_grid = 1 / grid->length;
    bool is_near = true;
    int64_t grids[3];
    int32_t n[3];
    for (int c = 0; c < 3; c++) {
        is_near = grids_of(problem, per_grid, c, i, &grids[c]) && is_near;
        x[c] = (double)grids[c] * grid->length;
    }
    is_near = pairs_wrap(problem->space.lattice, x, n) && is_near;
    for (int c = 0; c < 3; c++) {
        uint64_t wrapped = (uint64_t)grids[c];
        for (int k = 0; k < 3; k++)
            wrapped -= (uint64_t)n[k] * (uint64_t)grid->cell[k][c];
        x[c] = (double)(int64_t)wrapped * grid->length;
    }
    return is_near;
}

/* Wraps the points, which are in the order of the last list. */
static void wrap_part(void *argument, int64_t part)
{
    struct verlet_placing *placing = argument;
    struct verlet *verlet = placing->verlet;
    const int64_t end = end_of_part(placing, part);
    bool is_near = true;
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++) {
        struct verlet_point *point = &verlet->list.points[slot];
        is_near = verlet_wrap(placing->problem, &verlet->grid, point->row, point->x) && is_near;
    }
    if (!is_near)
        atomic_store(&placing->is_far, true);
}

/* A column by slot, of ones where it is absent. */
static void place(const struct verlet *verlet, const void *from, int64_t slot, void *to)
{
    if (to)
        real_set(verlet->dtype, to, slot,
                 from ? real_get(verlet->dtype, from, verlet->list.points[slot].row) : 1);
}

/* After the points have their slots: what wraps a row, as it was, and columns. */
static void place_part(void *argument, int64_t part)
{
    struct verlet_placing *placing = argument;
    struct verlet *verlet = placing->verlet;
    const int64_t end = end_of_part(placing, part);
    const double grid = verlet->grid.length, per_grid = 1 / grid;
    const void *weights = verlet_weights(placing->problem, placing->law);
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++) {
        const struct verlet_point *point = &verlet->list.points[slot];
        for (int c = 0; c < 3; c++) {
            int64_t grids;
            (void)grids_of(placing->problem, per_grid, c, point->row, &grids);
            verlet->moves[slot][c] = (uint64_t)(int64_t)(point->x[c] * per_grid) - (uint64_t)grids;
        }
        place(verlet, weights, slot, verlet->weight);
        place(verlet, placing->law->source_charge, slot, verlet->charge);
        const int64_t number = placing->numbers ? placing->numbers[point->row] : point->row;
        if (verlet->row && verlet->dtype == KITH_F64)
            ((int64_t *)verlet->row)[slot] = number;
        else if (verlet->row)
            ((int32_t *)verlet->row)[slot] = (int32_t)number;
        if (verlet->list.excluded.slot)
            verlet->list.excluded.slot[point->row] = (int32_t)slot;
    }
}

kith_status verlet_place_rows(struct verlet_placing *placing)
{
    return for_slots(placing, place_part);
}

kith_status verlet_refresh(struct verlet_placing *placing)
{
    return for_slots(placing, refresh_part);
}

kith_status verlet_choose_images(const struct forces_problem *problem, double distance,
                                 struct verlet *verlet)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    const struct verlet_grid *grid = &verlet->grid;
    struct verlet_list *list = &verlet->list;
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
void verlet_choose_skin(const struct forces_problem *problem, struct verlet *verlet)
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

static kith_status search(const struct verlet_placing *placing, verlet_search *of_isa,
                          double distance)
{
    struct verlet *verlet = placing->verlet;
    struct verlet_list *list = &verlet->list;
    tasks_divide(&verlet->part);
    list->first_task = verlet->part.first;
    list->end_task = verlet->part.end;
    const kith_status status = verlet_list_search(placing->context, of_isa, distance, list);
    if (!verlet->part.is_divided)
        return status;
    KITH_TRY(ranks_agree(placing->context, status));
    for (int64_t t = list->first_task; t < list->end_task; t++)
        verlet->part.work[t] = (double)list->tasks[t].entry_count;
    tasks_gather(&verlet->part, verlet->part.work, sizeof *verlet->part.work, 1, list->task_count);
    return KITH_OK;
}

static kith_status make_list(struct verlet_placing *placing, const struct verlet_kernels *kernels)
{
    struct verlet *verlet = placing->verlet;
    const struct forces_problem *problem = placing->problem;
    verlet_choose_skin(problem, verlet);
    const double distance = problem->space.cutoff + verlet->skin;
    verlet->is_made = verlet->found.is_there = false;
    verlet->life = 0;
    KITH_TRY(for_slots(placing, wrap_part));
    if (atomic_load(&placing->is_far))
        return KITH_OK;
    KITH_TRY(verlet_choose_images(problem, distance, verlet));
    KITH_TRY(verlet_list_arrange(placing->context, &verlet->list));
    KITH_TRY(verlet_place_rows(placing));
    KITH_TRY(search(placing, kernels->search, distance));
    verlet->is_made = true;
    return KITH_OK;
}

/* Columns that the kernel of the law takes. */
static kith_status create_columns(const struct law_view *view, int64_t slots,
                                  struct verlet *created)
{
    const bool has_weight = view->formula ? view->uses_mass : view->weight != law_weight_none;
    const bool has_charge = view->formula && view->uses_charge;
    const struct {
        bool is_wanted;
        void **column;
    } columns[] = {{has_weight, &created->weight},
                   {has_charge, &created->charge},
                   {view->formula && (has_weight || has_charge), &created->row}};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        if (columns[k].is_wanted)
            KITH_TRY(kith_allocate(slots, kith_dtype_bytes(created->dtype), "Verlet list",
                                   columns[k].column));
    return KITH_OK;
}

kith_status verlet_create(const struct forces_problem *problem,
                          const struct verlet_kernels *kernels, struct verlet **verlet)
{
    KITH_TRY(kith_allocate(1, sizeof **verlet, "Verlet list", verlet));
    (*verlet)->dtype = (*verlet)->list.dtype = problem->dtype;
    (*verlet)->cutoff = problem->space.cutoff;
    (*verlet)->list.lanes = kernels->slots;
    (*verlet)->list.particles = kernels->particles;
    return KITH_OK;
}

kith_status verlet_resize(const struct verlet_placing *placing, int64_t count, int64_t ghosts)
{
    struct verlet *verlet = placing->verlet;
    const int64_t before = verlet->list.cluster_room;
    KITH_TRY(verlet_list_resize(count, ghosts, &verlet->list));
    if (verlet->list.cluster_room == before)
        return KITH_OK;
    const int64_t slots = verlet->list.cluster_room * verlet->list.lanes;
    free_slots(verlet);
    KITH_TRY(kith_allocate(slots, sizeof *verlet->moves, "Verlet list", &verlet->moves));
    return create_columns(&placing->law->view, slots, verlet);
}

/* A list of all particles. */
static kith_status create(struct verlet_placing *placing, const struct verlet_kernels *kernels,
                          struct verlet **verlet)
{
    const struct forces_problem *problem = placing->problem;
    KITH_TRY(verlet_create(problem, kernels, verlet));
    placing->verlet = *verlet;
    KITH_TRY(verlet_resize(placing, problem->target_count, 0));
    for (int64_t i = 0; i < problem->target_count; i++)
        (*verlet)->list.points[i].row = i;
    KITH_TRY(tasks_create(placing->context, (*verlet)->list.task_count, problem->target_count,
                          &(*verlet)->part));
    return verlet_excluded_take(problem, &(*verlet)->list.excluded);
}

kith_status verlet_take_places(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, const struct verlet_kernels *kernels,
                               struct verlet **verlet, bool *is_far)
{
    struct verlet_placing placing = {.context = context, .problem = problem, .law = law};
    struct verlet_grid grid;
    if (!*verlet) {
        const kith_status status = create(&placing, kernels, verlet);
        if (status != KITH_OK) {
            verlet_free(*verlet);
            *verlet = NULL;
            return status;
        }
    }
    placing.verlet = *verlet;
    verlet_choose_grid(problem, verlet_open_extent(problem), &grid);
    if (memcmp(&grid, &placing.verlet->grid, sizeof grid) == 0 && placing.verlet->is_made) {
        KITH_TRY(verlet_refresh(&placing));
        if (!atomic_load(&placing.is_used_up) && !atomic_load(&placing.is_far)) {
            placing.verlet->life++;
            if (atomic_load(&placing.has_moved))
                placing.verlet->found.is_there = false;
            return KITH_OK;
        }
    }
    placing.verlet->grid = grid;
    KITH_TRY(make_list(&placing, kernels));
    *is_far = atomic_load(&placing.is_far);
    return KITH_OK;
}
