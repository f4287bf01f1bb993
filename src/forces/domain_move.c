/* Particles that go to other ranks. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/domain.h"
#include "forces/verlet_places.h"
#include "ranks/partition.h"

static const char what_moves[] = "particles that move";

/* Boxes are kept as long as no rank has more than this times the mean work. */
static const double most_uneven = 1.05;

/* What the list before had for each particle, and 1. */
static double find_work(struct domain *domain)
{
    const struct verlet_list *list = &domain->verlet->list;
    int64_t sum = domain->count;
    for (int64_t i = 0; i < domain->count; i++)
        domain->work[i] = 1;
    for (int64_t t = 0; domain->verlet->is_made && t < list->task_count; t++)
        for (int64_t s = 0; s < list->tasks[t].segment_count; s++) {
            const struct verlet_segment *segment = &list->tasks[t].segments[s];
            domain->work[segment->slot] += (uint32_t)segment->count;
            sum += segment->count;
        }
    return (double)sum;
}

static kith_status choose_boxes(struct domain *domain)
{
    double most = find_work(domain);
    unsigned long long sum = (unsigned long long)most;
    ranks_maximum(domain->context, &most, 1);
    ranks_add(domain->context, &sum, 1);
    if (domain->has_boxes && most * domain->context->ranks->size <= most_uneven * (double)sum)
        return KITH_OK;
    KITH_TRY(ranks_boxes_cut(domain->context, domain->count, (const double(*)[3])domain->wrapped,
                             domain->work, &domain->boxes));
    domain->has_boxes = true;
    return KITH_OK;
}

/* A particle on its way: its number, how many partners it has, and its columns. */
static int64_t record_bytes(const struct domain *domain)
{
    return (int64_t)sizeof *domain->numbers +
           (domain->partners.are_there ? (int64_t)sizeof *domain->partners.count : 0) +
           domain->columns * kith_dtype_bytes(domain->problem.dtype);
}

static void pack(const struct domain *domain, int64_t i, char *record)
{
    const size_t real = (size_t)kith_dtype_bytes(domain->problem.dtype);
    memcpy(record, &domain->numbers[i], sizeof *domain->numbers);
    record += sizeof *domain->numbers;
    if (domain->partners.are_there) {
        memcpy(record, &domain->partners.count[i], sizeof *domain->partners.count);
        record += sizeof *domain->partners.count;
    }
    for (int32_t k = 0; k < domain->columns; k++, record += real)
        memcpy(record, (const char *)domain->column[k] + (size_t)i * real, real);
}

static void unpack(struct domain *domain, int64_t i, const char *record)
{
    const size_t real = (size_t)kith_dtype_bytes(domain->problem.dtype);
    memcpy(&domain->numbers[i], record, sizeof *domain->numbers);
    record += sizeof *domain->numbers;
    if (domain->partners.are_there) {
        memcpy(&domain->partners.count[i], record, sizeof *domain->partners.count);
        record += sizeof *domain->partners.count;
    }
    for (int32_t k = 0; k < domain->columns; k++, record += real)
        memcpy((char *)domain->column[k] + (size_t)i * real, record, real);
}

/* Owners of particles, and how many go to each rank. */
static void find_owners(struct domain *domain)
{
    const struct ranks *ranks = domain->context->ranks;
    int64_t *first = domain->moving.first_sent;
    memset(first, 0, ((size_t)ranks->size + 1) * sizeof *first);
    for (int64_t i = 0; i < domain->count; i++) {
        domain->order[i] = ranks_box_of(&domain->boxes, domain->wrapped[i]);
        if (domain->order[i] != ranks->rank)
            first[domain->order[i] + 1]++;
    }
    for (int32_t k = 0; k < ranks->size; k++)
        first[k + 1] += first[k];
}

/* Those that go, by rank; those that stay move up. */
static void take_out(struct domain *domain, char *out)
{
    const struct ranks *ranks = domain->context->ranks;
    const int64_t bytes = record_bytes(domain);
    const size_t real = (size_t)kith_dtype_bytes(domain->problem.dtype);
    int64_t *first = domain->moving.first_sent, stay = 0;
    for (int64_t i = 0; i < domain->count; i++) {
        const int32_t owner = domain->order[i];
        if (owner != ranks->rank && out)
            pack(domain, i, out + first[owner]++ * bytes);
        else
            domain->order[stay++] = (int32_t)i;
    }
    for (int32_t k = ranks->size; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
    domain->count = stay;
    for (int64_t i = 0; i < stay; i++)
        domain->numbers[i] = domain->numbers[domain->order[i]];
    for (int64_t i = 0; i < stay && domain->partners.are_there; i++)
        domain->partners.count[i] = domain->partners.count[domain->order[i]];
    for (int32_t k = 0; k < domain->columns; k++) {
        char *column = domain->column[k];
        for (int64_t i = 0; i < stay; i++)
            memmove(column + (size_t)i * real, column + (size_t)domain->order[i] * real, real);
    }
}

kith_status domain_move(struct domain *domain)
{
    struct ranks_parcels *moving = &domain->moving;
    const int64_t bytes = record_bytes(domain);
    char *out = NULL, *in = NULL;
    KITH_TRY(choose_boxes(domain));
    find_owners(domain);
    ranks_parcels_announce(moving);
    domain_announce_partners(domain);
    const int64_t gone = ranks_parcels_sent(moving), come = ranks_parcels_received(moving);
    kith_status status = domain_reserve(domain, domain->count - gone + come);
    if (status == KITH_OK)
        status = domain_reserve_partners(domain);
    if (status == KITH_OK)
        status = kith_allocate(gone, bytes, what_moves, &out);
    if (status == KITH_OK)
        status = kith_allocate(come, bytes, what_moves, &in);
    status = ranks_agree(domain->context, status);
    if (status == KITH_OK) {
        domain_take_out_partners(domain);
        take_out(domain, out);
        ranks_parcels_exchange(moving, bytes, out, in);
        for (int64_t k = 0; in && k < come; k++)
            unpack(domain, domain->count++, in + k * bytes);
        domain_exchange_partners(domain);
        status = ranks_agree(domain->context, domain_point(domain));
    }
    free(out);
    free(in);
    return status;
}

/* How many particles go back to each rank, and in `order` to which. */
static void find_homes(const struct domain *domain, struct ranks_parcels *parcels)
{
    const int32_t size = domain->context->ranks->size;
    int64_t *first = parcels->first_sent;
    memset(first, 0, ((size_t)size + 1) * sizeof *first);
    for (int64_t i = 0; i < domain->count; i++) {
        domain->order[i] = ranks_owner(domain->all, size, domain->numbers[i]);
        first[domain->order[i] + 1]++;
    }
    for (int32_t k = 0; k < size; k++)
        first[k + 1] += first[k];
}

/* Numbers of this rank's particles, or the reals of a column, in the order of the ranks they go to;
 * first_sent is as before. */
static void sort_by_home(const struct domain *domain, struct ranks_parcels *parcels,
                         const void *from, int64_t bytes, char *to)
{
    const int32_t size = domain->context->ranks->size;
    int64_t *first = parcels->first_sent;
    for (int64_t i = 0; i < domain->count; i++)
        memcpy(to + first[domain->order[i]]++ * bytes, (const char *)from + i * bytes,
               (size_t)bytes);
    for (int32_t k = size; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
}

/* Values of particles that are sent to their home ranks, with the numbers that they have there. */
struct homecoming {
    struct ranks_parcels parcels;
    int64_t home, homes; /* the first of the particles at home here, and how many these are */
    int64_t *numbers;
    char *out, *in;
};

static kith_status begin_homecoming(const struct domain *domain, struct homecoming *coming)
{
    const struct ranks *ranks = domain->context->ranks;
    coming->home = ranks_first(domain->all, ranks->size, ranks->rank);
    coming->homes = ranks_first(domain->all, ranks->size, ranks->rank + 1) - coming->home;
    KITH_TRY(ranks_parcels_create(ranks, &coming->parcels));
    KITH_TRY(kith_allocate(coming->homes, sizeof *coming->numbers, what_moves, &coming->numbers));
    KITH_TRY(kith_allocate(domain->count, sizeof(int64_t), what_moves, &coming->out));
    return kith_allocate(coming->homes, sizeof(double), what_moves, &coming->in);
}

/* A column comes home to `to`, where particle `home` is the first. */
static void bring_home(const struct domain *domain, struct homecoming *coming, const void *column,
                       char *to)
{
    const int64_t real = kith_dtype_bytes(domain->problem.dtype);
    sort_by_home(domain, &coming->parcels, column, real, coming->out);
    ranks_parcels_exchange(&coming->parcels, real, coming->out, coming->in);
    for (int64_t i = 0; i < coming->homes; i++)
        memcpy(to + (coming->numbers[i] - coming->home) * real, coming->in + i * real,
               (size_t)real);
}

static void bring_all_home(const struct domain *domain, struct homecoming *coming, int32_t columns,
                           const int32_t *column, void *const *made_of)
{
    const struct ranks *ranks = domain->context->ranks;
    const int64_t real = kith_dtype_bytes(domain->problem.dtype);
    find_homes(domain, &coming->parcels);
    ranks_parcels_announce(&coming->parcels);
    sort_by_home(domain, &coming->parcels, domain->numbers, sizeof *domain->numbers, coming->out);
    ranks_parcels_exchange(&coming->parcels, sizeof *coming->numbers, coming->out, coming->numbers);
    for (int32_t k = 0; k < columns; k++) {
        char *to = made_of[k];
        const int64_t place = domain->is_of_slice ? 0 : coming->home;
        bring_home(domain, coming, domain->column[column[k]], to + place * real);
    }
    for (int32_t k = 0; k < ranks->size; k++)
        ranks->first[k] = ranks_first(domain->all, ranks->size, k);
    ranks->first[ranks->size] = domain->all;
    for (int32_t k = 0; k < columns && !domain->is_of_slice; k++)
        ranks_gather_parts(domain->context, made_of[k], real, ranks->first);
}

kith_status domain_gather(const struct domain *domain, int32_t columns, const int32_t *column,
                          void *const *made_of)
{
    struct homecoming coming = {.numbers = NULL};
    const kith_status status = ranks_agree(domain->context, begin_homecoming(domain, &coming));
    if (status == KITH_OK)
        bring_all_home(domain, &coming, columns, column, made_of);
    ranks_parcels_free(&coming.parcels);
    free(coming.numbers);
    free(coming.out);
    free(coming.in);
    return status;
}
