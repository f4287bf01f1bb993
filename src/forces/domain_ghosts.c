/* Particles of other ranks that are near those of a rank. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "forces/domain.h"
#include "forces/verlet_places.h"

static const char what[] = "ghosts of a rank";

/* What the particles of a rank span: low > high if it has none. */
struct extent {
    double low[3], high[3];
};

static struct extent extent_of(const struct domain *domain)
{
    struct extent extent;
    for (int c = 0; c < 3; c++) {
        extent.low[c] = (double)INFINITY;
        extent.high[c] = -(double)INFINITY;
    }
    for (int64_t i = 0; i < domain->count; i++)
        for (int c = 0; c < 3; c++) {
            const double x = domain->wrapped[i][c];
            extent.low[c] = x < extent.low[c] ? x : extent.low[c];
            extent.high[c] = x > extent.high[c] ? x : extent.high[c];
        }
    return extent;
}

/* The square of the distance of two extents, of which the first is moved. */
static double distance2(const struct extent *a, const double translation[3], const struct extent *b)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const double below = b->low[c] - (a->high[c] + translation[c]);
        const double above = a->low[c] + translation[c] - b->high[c];
        const double gap = below > 0 ? below : above > 0 ? above : 0;
        sum += gap * gap;
    }
    return sum;
}

static bool is_empty(const struct extent *extent)
{
    return extent->low[0] > extent->high[0];
}

struct finding {
    struct domain *domain;
    struct extent *extents; /* of all ranks */
    int64_t *near;          /* the images that bring this rank near another */
    double limit;
    int64_t count;
};

static kith_status add_sent(struct domain *domain, int64_t count, int64_t i)
{
    if (count == domain->sent_room) {
        const int64_t room = 2 * count + 256;
        int32_t *more = NULL;
        KITH_TRY(kith_allocate(room, sizeof *more, what, &more));
        if (count > 0)
            memcpy(more, domain->sent, (size_t)count * sizeof *more);
        free(domain->sent);
        domain->sent = more;
        domain->sent_room = room;
    }
    domain->sent[count] = (int32_t)i;
    return KITH_OK;
}

/* This rank's particles that are near another rank's extent. */
static kith_status find_near(struct finding *finding, int32_t rank)
{
    struct domain *domain = finding->domain;
    const struct verlet_list *list = &domain->verlet->list;
    const struct extent *mine = &finding->extents[domain->context->ranks->rank];
    const struct extent *other = &finding->extents[rank];
    int64_t near = 0;
    for (int64_t t = 0; t < list->image_count; t++)
        if (distance2(mine, list->translations[t], other) <= finding->limit)
            finding->near[near++] = t;
    for (int64_t i = 0; near > 0 && i < domain->count; i++) {
        struct extent point;
        memcpy(point.low, domain->wrapped[i], sizeof point.low);
        memcpy(point.high, domain->wrapped[i], sizeof point.high);
        for (int64_t t = 0; t < near; t++)
            if (distance2(&point, list->translations[finding->near[t]], other) <= finding->limit) {
                KITH_TRY(add_sent(domain, finding->count++, i));
                break;
            }
    }
    return KITH_OK;
}

static kith_status find_sent(struct finding *finding)
{
    struct domain *domain = finding->domain;
    const struct ranks *ranks = domain->context->ranks;
    for (int32_t k = 0; k < ranks->size; k++) {
        domain->ghosts.first_sent[k] = finding->count;
        if (k != ranks->rank && !is_empty(&finding->extents[k]) &&
            !is_empty(&finding->extents[ranks->rank]))
            KITH_TRY(find_near(finding, k));
    }
    domain->ghosts.first_sent[ranks->size] = finding->count;
    return KITH_OK;
}

static kith_status find_all_sent(struct domain *domain, double distance)
{
    const struct ranks *ranks = domain->context->ranks;
    /* More than the distance by what rounding does. */
    struct finding finding = {.domain = domain, .limit = distance * distance * (1 + 0x1p-12)};
    kith_status status =
        kith_allocate(ranks->size, sizeof *finding.extents, what, &finding.extents);
    if (status == KITH_OK)
        status = kith_allocate(domain->verlet->list.image_count, sizeof *finding.near, what,
                               &finding.near);
    status = ranks_agree(domain->context, status);
    if (status == KITH_OK) {
        finding.extents[ranks->rank] = extent_of(domain);
        for (int32_t k = 0; k <= ranks->size; k++)
            domain->ghosts.first_sent[k] = k;
        ranks_gather_parts(domain->context, finding.extents, sizeof *finding.extents,
                           domain->ghosts.first_sent);
        status = ranks_agree(domain->context, find_sent(&finding));
    }
    free(finding.extents);
    free(finding.near);
    return status;
}

static kith_status make_room(struct domain *domain, int64_t out, int64_t in)
{
    const int64_t place = 3 * kith_dtype_bytes(domain->problem.dtype);
    if (out > domain->out_room) {
        free(domain->out);
        free(domain->place_out);
        domain->out = NULL;
        domain->place_out = NULL;
        domain->out_room = out + out / 8;
        KITH_TRY(kith_allocate(domain->out_room, sizeof *domain->out, what, &domain->out));
        KITH_TRY(kith_allocate(domain->out_room, place, what, &domain->place_out));
    }
    if (in <= domain->in_room)
        return KITH_OK;
    free(domain->in);
    free(domain->place_in);
    free(domain->ghost_slot);
    domain->in = NULL;
    domain->place_in = NULL;
    domain->ghost_slot = NULL;
    domain->in_room = in + in / 8;
    KITH_TRY(kith_allocate(domain->in_room, sizeof *domain->in, what, &domain->in));
    KITH_TRY(kith_allocate(domain->in_room, place, what, &domain->place_in));
    return kith_allocate(domain->in_room, sizeof *domain->ghost_slot, what, &domain->ghost_slot);
}

static double element(const struct domain *domain, const void *column, int64_t i)
{
    return column ? real_get(domain->problem.dtype, column, i) : 1;
}

kith_status domain_find_ghosts(struct domain *domain, double distance)
{
    KITH_TRY(find_all_sent(domain, distance));
    ranks_parcels_announce(&domain->ghosts);
    const int64_t out = ranks_parcels_sent(&domain->ghosts);
    const int64_t in = ranks_parcels_received(&domain->ghosts);
    KITH_TRY(ranks_agree(domain->context, make_room(domain, out, in)));
    const void *weights = verlet_weights(&domain->problem, &domain->law);
    for (int64_t k = 0; k < out; k++) {
        const int64_t i = domain->sent[k];
        struct domain_ghost *ghost = &domain->out[k];
        *ghost = (struct domain_ghost){
            .number = domain->numbers[i],
            .weight = element(domain, weights, i),
            .charge = element(domain, domain->law.source_charge, i),
        };
        memcpy(ghost->x, domain->wrapped[i], sizeof ghost->x);
    }
    ranks_parcels_exchange(&domain->ghosts, sizeof *domain->out, domain->out, domain->in);
    return KITH_OK;
}

/* Moves values from the previous order of the particles to that of the slots. */
static void reorder(struct domain *domain, void *column, size_t bytes_each)
{
    char *const sorted = domain->scratch;
    for (int64_t k = 0; k < domain->count; k++)
        memcpy(sorted + (size_t)k * bytes_each,
               (const char *)column + (size_t)domain->order[k] * bytes_each, bytes_each);
    memcpy(column, sorted, (size_t)domain->count * bytes_each);
}

static void place_ghost(struct domain *domain, int64_t slot)
{
    struct verlet *verlet = domain->verlet;
    const int64_t k = verlet->list.points[slot].row;
    const struct domain_ghost *ghost = &domain->in[k];
    domain->ghost_slot[k] = (int32_t)slot;
    if (verlet->weight)
        real_set(verlet->dtype, verlet->weight, slot, ghost->weight);
    if (verlet->charge)
        real_set(verlet->dtype, verlet->charge, slot, ghost->charge);
    if (verlet->row && verlet->dtype == KITH_F64)
        ((int64_t *)verlet->row)[slot] = ghost->number;
    else if (verlet->row)
        ((int32_t *)verlet->row)[slot] = (int32_t)ghost->number;
}

void domain_arrange(struct domain *domain)
{
    struct verlet_list *list = &domain->verlet->list;
    const size_t real = (size_t)kith_dtype_bytes(domain->problem.dtype);
    uint32_t *const slot_of = domain->work; /* which is counted again for the next list */
    for (int64_t k = 0; k < domain->count; k++) {
        domain->order[k] = (int32_t)list->points[k].row;
        slot_of[domain->order[k]] = (uint32_t)k;
        list->points[k].row = k;
    }
    for (int32_t k = 0; k < domain->columns; k++)
        reorder(domain, domain->column[k], real);
    reorder(domain, domain->numbers, sizeof *domain->numbers);
    for (int64_t k = 0; k < ranks_parcels_sent(&domain->ghosts); k++)
        domain->sent[k] = (int32_t)slot_of[domain->sent[k]];
    const int64_t first = verlet_first_ghost(list);
    for (int64_t k = 0; k < list->ghosts; k++)
        place_ghost(domain, first + k);
}

void domain_post_ghosts(struct domain *domain)
{
    const struct verlet_list *list = &domain->verlet->list;
    const kith_dtype dtype = domain->problem.dtype;
    for (int64_t k = 0; k < ranks_parcels_sent(&domain->ghosts); k++) {
        const int64_t at = verlet_place(list, domain->sent[k]);
        for (int64_t c = 0; c < 3; c++)
            real_set(dtype, domain->place_out, 3 * k + c,
                     real_get(dtype, list->position, at + c * list->lanes));
    }
    ranks_parcels_post(&domain->ghosts, 1, 3 * kith_dtype_bytes(dtype), domain->place_out,
                       domain->place_in);
}

void domain_take_ghosts(struct domain *domain)
{
    struct verlet_list *list = &domain->verlet->list;
    const kith_dtype dtype = domain->problem.dtype;
    for (int64_t k = 0; k < list->ghosts; k++) {
        const int64_t at = verlet_place(list, domain->ghost_slot[k]);
        for (int64_t c = 0; c < 3; c++)
            real_set(dtype, list->position, at + c * list->lanes,
                     real_get(dtype, domain->place_in, 3 * k + c));
    }
}
