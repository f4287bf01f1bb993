/* Particles that go to other ranks. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/domain.h"
#include "forces/verlet_places.h"

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

/* A particle on its way: its number, then its columns. */
static int64_t record_bytes(const struct domain *domain)
{
    return (int64_t)sizeof *domain->numbers +
           domain->columns * kith_dtype_bytes(domain->problem.dtype);
}

static void pack(const struct domain *domain, int64_t i, char *record)
{
    const size_t real = (size_t)kith_dtype_bytes(domain->problem.dtype);
    memcpy(record, &domain->numbers[i], sizeof *domain->numbers);
    record += sizeof *domain->numbers;
    for (int32_t k = 0; k < domain->columns; k++, record += real)
        memcpy(record, (const char *)domain->column[k] + (size_t)i * real, real);
}

static void unpack(struct domain *domain, int64_t i, const char *record)
{
    const size_t real = (size_t)kith_dtype_bytes(domain->problem.dtype);
    memcpy(&domain->numbers[i], record, sizeof *domain->numbers);
    record += sizeof *domain->numbers;
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
    const int64_t gone = ranks_parcels_sent(moving), come = ranks_parcels_received(moving);
    kith_status status = domain_reserve(domain, domain->count - gone + come);
    if (status == KITH_OK)
        status = kith_allocate(gone, bytes, "particles that move", &out);
    if (status == KITH_OK)
        status = kith_allocate(come, bytes, "particles that move", &in);
    status = ranks_agree(domain->context, status);
    if (status == KITH_OK) {
        take_out(domain, out);
        ranks_parcels_exchange(moving, bytes, out, in);
        for (int64_t k = 0; in && k < come; k++)
            unpack(domain, domain->count++, in + k * bytes);
        status = ranks_agree(domain->context, domain_point(domain));
    }
    free(out);
    free(in);
    return status;
}
