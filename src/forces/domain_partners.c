/* Excluded pairs of the particles of a rank. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/domain.h"
#include "forces/excluded.h"
#include "forces/verlet_places.h"

static const char what[] = "excluded pairs of a rank";

/* For the particles that this rank starts with: counts their partners, or, where next[i] is not
 * NULL but where the next one of particle i goes, fills them in. */
static void take_pairs(const struct domain *domain, kith_array pairs, int64_t *next)
{
    const struct domain_partners *partners = &domain->partners;
    const int64_t(*rows)[2] = (const int64_t(*)[2])pairs.data;
    const int64_t first = domain->count > 0 ? domain->numbers[0] : 0;
    for (int64_t k = 0; k < 2 * pairs.shape[0]; k++) {
        const int64_t i = rows[k / 2][k % 2] - first;
        if (i < 0 || i >= domain->count)
            continue;
        if (next)
            partners->numbers[next[i]++] = (int32_t)rows[k / 2][1 - k % 2];
        else
            partners->count[i]++;
    }
}

/* Where the partners of each particle begin; the caller frees it. */
static kith_status find_begin(const struct domain *domain, int64_t **begin)
{
    KITH_TRY(kith_allocate(domain->count + 1, sizeof **begin, what, begin));
    for (int64_t i = 0; i < domain->count; i++)
        (*begin)[i + 1] = (*begin)[i] + domain->partners.count[i];
    return KITH_OK;
}

static kith_status fill_in(struct domain *domain, kith_array pairs)
{
    struct domain_partners *partners = &domain->partners;
    int64_t *begin = NULL;
    take_pairs(domain, pairs, NULL);
    KITH_TRY(find_begin(domain, &begin));
    partners->total = partners->room = begin[domain->count];
    const kith_status status =
        kith_allocate(partners->room, sizeof *partners->numbers, what, &partners->numbers);
    if (status == KITH_OK)
        take_pairs(domain, pairs, begin);
    free(begin);
    return status;
}

kith_status domain_take_partners(struct domain *domain)
{
    const struct forces_problem *problem = &domain->problem;
    kith_array pairs;
    KITH_TRY(ranks_parcels_create(domain->context->ranks, &domain->partners.moving));
    KITH_TRY(excluded_check_pairs(problem->space.exclusions, domain->all));
    KITH_TRY(excluded_copy(problem->space.exclusions, &pairs));
    const kith_status status = excluded_count(problem) > 0 ? fill_in(domain, pairs) : KITH_OK;
    free(pairs.data);
    return status;
}

void domain_free_partners(struct domain *domain)
{
    struct domain_partners *partners = &domain->partners;
    free(partners->count);
    free(partners->numbers);
    free(partners->moved);
    ranks_parcels_free(&partners->moving);
}

static kith_status lengthen(struct domain_partners *partners, int64_t count)
{
    const int64_t room = count + count / 8;
    int32_t *more = NULL;
    if (count <= partners->room)
        return KITH_OK;
    KITH_TRY(kith_allocate(room, sizeof *more, what, &more));
    if (partners->total > 0)
        memcpy(more, partners->numbers, (size_t)partners->total * sizeof *more);
    free(partners->numbers);
    partners->numbers = more;
    partners->room = room;
    return KITH_OK;
}

void domain_announce_partners(struct domain *domain)
{
    struct domain_partners *partners = &domain->partners;
    const struct ranks *ranks = domain->context->ranks;
    int64_t *first = partners->moving.first_sent;
    if (!partners->are_there)
        return;
    memset(first, 0, ((size_t)ranks->size + 1) * sizeof *first);
    for (int64_t i = 0; i < domain->count; i++)
        if (domain->order[i] != ranks->rank)
            first[domain->order[i] + 1] += partners->count[i];
    for (int32_t k = 0; k < ranks->size; k++)
        first[k + 1] += first[k];
    ranks_parcels_announce(&partners->moving);
}

kith_status domain_reserve_partners(struct domain *domain)
{
    struct domain_partners *partners = &domain->partners;
    if (!partners->are_there)
        return KITH_OK;
    KITH_TRY(lengthen(partners, partners->total + ranks_parcels_received(&partners->moving)));
    return kith_allocate(ranks_parcels_sent(&partners->moving), sizeof *partners->moved, what,
                         &partners->moved);
}

void domain_take_out_partners(struct domain *domain)
{
    struct domain_partners *partners = &domain->partners;
    const struct ranks *ranks = domain->context->ranks;
    int64_t *first = partners->moving.first_sent, stay = 0, at = 0;
    if (!partners->are_there)
        return;
    for (int64_t i = 0; i < domain->count; i++) {
        const int32_t owner = domain->order[i], count = partners->count[i];
        const bool goes = owner != ranks->rank;
        int32_t *to = goes ? partners->moved + first[owner] : partners->numbers + stay;
        if (count > 0)
            memmove(to, partners->numbers + at, (size_t)count * sizeof *to);
        *(goes ? &first[owner] : &stay) += count;
        at += count;
    }
    for (int32_t k = ranks->size; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
    partners->total = stay;
}

void domain_exchange_partners(struct domain *domain)
{
    struct domain_partners *partners = &domain->partners;
    if (!partners->are_there)
        return;
    ranks_parcels_exchange(&partners->moving, sizeof *partners->numbers, partners->moved,
                           partners->numbers + partners->total);
    partners->total += ranks_parcels_received(&partners->moving);
    free(partners->moved);
    partners->moved = NULL;
}

/* The slots of particles and ghosts by number, in an open hash table of a power of two of places,
 * of which at least half are free. */
struct slots_by_number {
    struct {
        int32_t number, slot; /* slot −1: free */
    } * places;
    unsigned shift;
    uint32_t last;
};

static uint32_t place_of(const struct slots_by_number *table, int32_t number)
{
    uint32_t place = (uint32_t)((uint64_t)(uint32_t)number * 0x9e3779b97f4a7c15 >> table->shift);
    while (table->places[place].slot >= 0 && table->places[place].number != number)
        place = (place + 1) & table->last;
    return place;
}

static void put(struct slots_by_number *table, int64_t number, int64_t slot)
{
    const uint32_t place = place_of(table, (int32_t)number);
    table->places[place].number = (int32_t)number;
    table->places[place].slot = (int32_t)slot;
}

/* Those with partners, and all ghosts. */
static kith_status make_table(const struct domain *domain, struct slots_by_number *table)
{
    const int64_t ghosts = domain->verlet->list.ghosts;
    int64_t count = ghosts;
    for (int64_t i = 0; i < domain->count; i++)
        count += domain->partners.count[i] > 0;
    for (table->shift = 64; (int64_t)1 << (64 - table->shift) < 2 * count + 2;)
        table->shift--;
    table->last = (uint32_t)(((int64_t)1 << (64 - table->shift)) - 1);
    KITH_TRY(kith_allocate((int64_t)table->last + 1, sizeof *table->places, what, &table->places));
    memset(table->places, 0xff, ((size_t)table->last + 1) * sizeof *table->places);
    for (int64_t i = 0; i < domain->count; i++)
        if (domain->partners.count[i] > 0)
            put(table, domain->numbers[i], i);
    for (int64_t k = 0; k < ghosts; k++)
        put(table, domain->in[k].number, domain->ghost_slot[k]);
    return KITH_OK;
}

/* From the order before to that of the slots: particle k was order[k]. */
static kith_status reorder(struct domain *domain)
{
    struct domain_partners *partners = &domain->partners;
    int32_t *numbers = NULL, *count = domain->scratch;
    int64_t *begin = NULL, at = 0;
    kith_status status = find_begin(domain, &begin);
    if (status == KITH_OK)
        status = kith_allocate(partners->room, sizeof *numbers, what, &numbers);
    for (int64_t k = 0; status == KITH_OK && k < domain->count; k++) {
        const int32_t i = domain->order[k];
        count[k] = partners->count[i];
        if (count[k] > 0)
            memcpy(numbers + at, partners->numbers + begin[i], (size_t)count[k] * sizeof *numbers);
        at += count[k];
    }
    free(begin);
    KITH_TRY(status);
    if (domain->count > 0)
        memcpy(partners->count, count, (size_t)domain->count * sizeof *count);
    free(partners->numbers);
    partners->numbers = numbers;
    return KITH_OK;
}

/* The slots of partners that are here, which is where a list may find them. */
static void leave_out(const struct domain *domain, const struct slots_by_number *table,
                      struct verlet_excluded *excluded)
{
    const struct domain_partners *partners = &domain->partners;
    const int32_t *number = partners->numbers;
    int64_t found = 0;
    for (int64_t i = 0; i < domain->count; i++) {
        excluded->begin[i] = found;
        for (const int32_t *end = number + partners->count[i]; number < end; number++) {
            const int32_t slot = table->places[place_of(table, *number)].slot;
            if (slot >= 0)
                excluded->partners[found++] = slot;
        }
    }
    excluded->begin[domain->count] = found;
}

kith_status domain_arrange_partners(struct domain *domain)
{
    struct verlet_excluded *excluded = &domain->verlet->list.excluded;
    struct slots_by_number table = {.places = NULL};
    if (!domain->partners.are_there)
        return KITH_OK;
    KITH_TRY(reorder(domain));
    verlet_excluded_free(excluded);
    *excluded = (struct verlet_excluded){.begin = NULL};
    KITH_TRY(kith_allocate(domain->count + 1, sizeof *excluded->begin, what, &excluded->begin));
    KITH_TRY(kith_allocate(domain->partners.total, sizeof *excluded->partners, what,
                           &excluded->partners));
    KITH_TRY(make_table(domain, &table));
    leave_out(domain, &table, excluded);
    free(table.places);
    return KITH_OK;
}
