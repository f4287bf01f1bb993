#include "forces/domain.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/excluded.h"
#include "forces/verlet_places.h"
#include "ranks/partition.h"

static const char what[] = "particles of a rank";

/* To exchange the ghosts of fewer would take longer. */
enum { fewest_particles = 1024 };

bool domain_suits(const kith_context *context, const struct forces_problem *problem)
{
    struct cutoff_law law = {0};
    if (!context->ranks || context->ranks->size < 2 || context->device.kind != KITH_CPU ||
        problem->target_count < fewest_particles || problem->space.totals || problem->report ||
        cutoff_take_law(problem, &law) != KITH_OK)
        return false;
    const bool suits = verlet_suits(problem, &law);
    cutoff_drop_law(&law);
    return suits;
}

/* The problem's columns besides positions. */
static const void **field_of(struct forces_problem *problem, int k)
{
    const void **const fields[domain_fields] = {&problem->target_mass, &problem->source_mass,
                                                &problem->target_weight, &problem->target_charge,
                                                &problem->source_charge};
    return fields[k];
}

kith_status domain_point(struct domain *domain)
{
    struct forces_problem *problem = &domain->problem;
    const int32_t dimensions = problem->dimensions;
    problem->target_count = problem->source_count = domain->count;
    for (int32_t c = 0; c < dimensions; c++) {
        problem->target_position[c] = problem->source_position[c] = domain->column[c];
        problem->acceleration[c] = domain->column[dimensions + c];
    }
    for (int k = 0; k < domain_fields; k++)
        *field_of(problem, k) = domain->field[k] < 0 ? NULL : domain->column[domain->field[k]];
    return cutoff_take_law(problem, &domain->law);
}

/* In place of an array of a rank's particles a longer one. */
static kith_status lengthen(void *memory, int64_t bytes_each, int64_t count, int64_t room)
{
    void *less = NULL, *more = NULL;
    KITH_TRY(kith_allocate(room, bytes_each, what, &more));
    memcpy(&less, memory, sizeof less);
    if (less)
        memcpy(more, less, (size_t)(count * bytes_each));
    free(less);
    memcpy(memory, &more, sizeof more);
    return KITH_OK;
}

kith_status domain_reserve(struct domain *domain, int64_t count)
{
    const int64_t room = count + count / 8 + 64, now = domain->count;
    if (count <= domain->room)
        return KITH_OK;
    for (int32_t k = 0; k < domain->columns; k++)
        KITH_TRY(lengthen(&domain->column[k], kith_dtype_bytes(domain->problem.dtype), now, room));
    KITH_TRY(lengthen(&domain->numbers, sizeof *domain->numbers, now, room));
    KITH_TRY(lengthen(&domain->wrapped, sizeof *domain->wrapped, now, room));
    KITH_TRY(lengthen(&domain->work, sizeof *domain->work, now, room));
    KITH_TRY(lengthen(&domain->order, sizeof *domain->order, now, room));
    KITH_TRY(lengthen(&domain->scratch, sizeof(double), now, room));
    if (domain->partners.are_there)
        KITH_TRY(lengthen(&domain->partners.count, sizeof *domain->partners.count, now, room));
    domain->room = room;
    return KITH_OK;
}

/* The first of the particles that this rank starts with. */
static int64_t first_of(const struct domain *domain)
{
    const struct ranks *ranks = domain->context->ranks;
    return ranks_first(domain->all, ranks->size, ranks->rank);
}

kith_status domain_add_column(struct domain *domain, const void *made_of, int32_t *column)
{
    const int64_t real = kith_dtype_bytes(domain->problem.dtype);
    const int64_t place = domain->is_of_slice ? 0 : first_of(domain);
    const int32_t columns = domain->columns;
    for (*column = 0; *column < columns; ++*column)
        if (domain->made_of[*column] == made_of)
            return KITH_OK;
    KITH_TRY(kith_allocate(domain->room, real, what, &domain->column[columns]));
    memcpy(domain->column[columns], (const char *)made_of + place * real,
           (size_t)(domain->count * real));
    domain->made_of[columns] = made_of;
    domain->columns++;
    return KITH_OK;
}

static kith_status allocate(struct domain *domain)
{
    const struct ranks *ranks = domain->context->ranks;
    struct forces_problem *problem = &domain->problem;
    int32_t column;
    KITH_TRY(ranks_boxes_create(ranks->size, &domain->boxes));
    KITH_TRY(ranks_parcels_create(ranks, &domain->moving));
    KITH_TRY(ranks_parcels_create(ranks, &domain->ghosts));
    const int64_t first = first_of(domain);
    const int64_t count = ranks_first(domain->all, ranks->size, ranks->rank + 1) - first;
    KITH_TRY(domain_reserve(domain, count));
    domain->count = count;
    for (int64_t i = 0; i < count; i++)
        domain->numbers[i] = first + i;
    KITH_TRY(domain_take_partners(domain));
    for (int32_t c = 0; c < problem->dimensions; c++)
        KITH_TRY(domain_add_column(domain, problem->target_position[c], &column));
    for (int32_t c = 0; c < problem->dimensions; c++)
        KITH_TRY(domain_add_column(domain, problem->acceleration[c], &column));
    for (int k = 0; k < domain_fields; k++) {
        domain->field[k] = -1;
        if (*field_of(problem, k))
            KITH_TRY(domain_add_column(domain, *field_of(problem, k), &domain->field[k]));
    }
    KITH_TRY(domain_point(domain));
    KITH_TRY(verlet_create(problem, verlet_kernels_of(domain->context, problem->dtype),
                           &domain->verlet));
    domain->verlet->is_of_domain = true;
    return KITH_OK;
}

kith_status domain_create(kith_context *context, const struct forces_problem *problem,
                          bool is_of_slice, struct domain *domain)
{
    *domain = (struct domain){.context = context,
                              .problem = *problem,
                              .all = problem->target_count,
                              .is_of_slice = is_of_slice,
                              .partners.are_there = excluded_any(problem)};
    return ranks_agree(context, allocate(domain));
}

void domain_free(struct domain *domain)
{
    for (int32_t k = 0; k < domain->columns; k++)
        free(domain->column[k]);
    free(domain->numbers);
    free(domain->wrapped);
    free(domain->work);
    free(domain->order);
    free(domain->scratch);
    free(domain->sent);
    free(domain->out);
    free(domain->in);
    free(domain->ghost_slot);
    free(domain->place_out);
    free(domain->place_in);
    ranks_boxes_free(&domain->boxes);
    ranks_parcels_free(&domain->moving);
    ranks_parcels_free(&domain->ghosts);
    domain_free_partners(domain);
    cutoff_drop_law(&domain->law);
    verlet_free(domain->verlet);
    *domain = (struct domain){0};
}

/* What all ranks do next: the largest that any of them needs. */
enum need { keeps_found, moves, needs_list, has_no_list };

static kith_status agree_on_need(const struct domain *domain, kith_status status, enum need *need)
{
    int64_t most = *need;
    status = ranks_agree_on(domain->context, status, &most);
    *need = (enum need)most;
    return status;
}

static struct verlet_placing placing_of(const struct domain *domain)
{
    return (struct verlet_placing){.context = domain->context,
                                   .problem = &domain->problem,
                                   .law = &domain->law,
                                   .verlet = domain->verlet,
                                   .numbers = domain->numbers};
}

/* The places of particles and ghosts as they are now, if the list is valid for them. */
static kith_status refresh(struct domain *domain, enum need *need)
{
    const struct ranks *ranks = domain->context->ranks;
    struct verlet_placing placing = placing_of(domain);
    kith_status status = verlet_refresh(&placing);
    *need = atomic_load(&placing.is_far) || atomic_load(&placing.is_used_up) ? needs_list
            : atomic_load(&placing.has_moved)                                ? moves
                                                                             : keeps_found;
    domain_post_ghosts(domain);
    status = agree_on_need(domain, status, need);
    ranks->library->wait(ranks->state, 1);
    if (status != KITH_OK || *need >= needs_list)
        return status;
    domain_take_ghosts(domain);
    domain->verlet->life++;
    if (*need == moves)
        domain->verlet->found.is_there = false;
    return KITH_OK;
}

/* Where particles are in the cell. */
static kith_status wrap(struct domain *domain, enum need *need)
{
    bool is_near = true;
    for (int64_t i = 0; i < domain->count; i++)
        is_near =
            verlet_wrap(&domain->problem, &domain->verlet->grid, i, domain->wrapped[i]) && is_near;
    *need = is_near ? needs_list : has_no_list;
    return agree_on_need(domain, KITH_OK, need);
}

/* The list of this rank's particles and ghosts. */
static kith_status search(struct domain *domain, double distance)
{
    struct verlet *verlet = domain->verlet;
    struct verlet_list *list = &verlet->list;
    struct verlet_placing placing = placing_of(domain);
    const struct verlet_kernels *kernels = verlet_kernels_of(domain->context, verlet->dtype);
    const int64_t ghosts = ranks_parcels_received(&domain->ghosts);
    KITH_TRY(verlet_resize(&placing, domain->count, ghosts));
    for (int64_t i = 0; i < domain->count; i++) {
        list->points[i].row = i;
        memcpy(list->points[i].x, domain->wrapped[i], sizeof list->points[i].x);
    }
    for (int64_t i = 0; i < ghosts; i++) {
        struct verlet_point *point = &list->points[verlet_first_ghost(list) + i];
        point->row = i;
        memcpy(point->x, domain->in[i].x, sizeof point->x);
    }
    KITH_TRY(verlet_list_arrange(domain->context, list));
    domain_arrange(domain);
    KITH_TRY(domain_arrange_partners(domain));
    KITH_TRY(verlet_place_rows(&placing));
    return verlet_list_search(domain->context, kernels->search, distance, list);
}

static kith_status make_list(struct domain *domain, enum need *need)
{
    struct verlet *verlet = domain->verlet;
    verlet_choose_skin(&domain->problem, verlet);
    const double distance = domain->problem.space.cutoff + verlet->skin;
    KITH_TRY(wrap(domain, need));
    if (*need == has_no_list)
        return KITH_OK;
    KITH_TRY(domain_move(domain));
    verlet->is_made = verlet->found.is_there = false;
    verlet->life = 0;
    KITH_TRY(wrap(domain, need));
    KITH_TRY(
        ranks_agree(domain->context, verlet_choose_images(&domain->problem, distance, verlet)));
    KITH_TRY(domain_find_ghosts(domain, distance));
    KITH_TRY(ranks_agree(domain->context, search(domain, distance)));
    verlet->is_made = true;
    return KITH_OK;
}

kith_status domain_evaluate(struct domain *domain, kith_forces_totals *totals, bool *done)
{
    struct verlet *verlet = domain->verlet;
    struct verlet_grid grid;
    enum need need = needs_list;
    double open = verlet_open_extent(&domain->problem);
    const bool *periodic = domain->problem.space.lattice->periodic;
    *done = false;
    if (!(periodic[0] && periodic[1] && (periodic[2] || domain->problem.dimensions == 2)))
        ranks_maximum(domain->context, &open, 1);
    verlet_choose_grid(&domain->problem, open, &grid);
    if (memcmp(&grid, &verlet->grid, sizeof grid) == 0 && verlet->is_made)
        KITH_TRY(refresh(domain, &need));
    verlet->grid = grid;
    if (need == needs_list)
        KITH_TRY(make_list(domain, &need));
    if (need == has_no_list)
        return KITH_OK;
    domain->problem.space.totals = totals;
    return verlet_forces_placed(domain->context, &domain->problem, &domain->law, verlet, done);
}
