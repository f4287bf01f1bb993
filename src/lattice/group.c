#include <stdlib.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/context.h"
#include "lattice/arguments.h"
#include "lattice/order.h"
#include "sort/sort.h"

/* Where the run of beads at the site of order[begin] ends. */
static int64_t end_of_run(const struct collisions_problem *problem, const uint32_t *order,
                          int64_t begin)
{
    int64_t end = begin + 1;
    while (end < problem->count && collisions_same_site(problem, order[begin], order[end]))
        end++;
    return end;
}

/* Counts; also how many beads the groups have. */
static int64_t summarize(const struct collisions_problem *problem, const uint32_t *order,
                         kith_collisions_groups *groups)
{
    int64_t members = 0;
    for (int64_t begin = 0, end = 0; begin < problem->count; begin = end) {
        end = end_of_run(problem, order, begin);
        const int64_t beads = end - begin;
        groups->sites++;
        groups->collisions += collisions_of(beads);
        groups->max_at_site = beads > groups->max_at_site ? beads : groups->max_at_site;
        groups->group_count += beads > 1;
        members += beads > 1 ? beads : 0;
    }
    return members;
}

/* The places in order where groups begin, and in which sequence: that of their first members. */
static kith_status find_groups(kith_context *context, const struct collisions_problem *problem,
                               const uint32_t *order, int64_t count, int64_t *place,
                               uint32_t *sequence)
{
    uint64_t *first = NULL; /* members, and the sort's memory */
    int64_t found = 0;
    KITH_TRY(kith_allocate(count * (int64_t)sizeof *first + sort_scratch_bytes(count), 1,
                           "the groups' order", &first));
    for (int64_t begin = 0, end = 0; begin < problem->count; begin = end) {
        end = end_of_run(problem, order, begin);
        if (end - begin < 2)
            continue;
        first[found] = order[begin];
        place[found++] = begin;
    }
    const int32_t bits = 64 - __builtin_clzll((uint64_t)problem->count);
    const kith_status status = sort_keys_cpu(context, count, bits, first, sequence, first + count);
    free(first);
    return status;
}

static kith_status fill(kith_context *context, const struct collisions_problem *problem,
                        const uint32_t *order, kith_collisions_groups *groups)
{
    const int64_t members = summarize(problem, order, groups), count = groups->group_count;
    KITH_TRY(kith_allocate(count + 1, sizeof(int64_t), "the groups", &groups->begin));
    KITH_TRY(kith_allocate(members, sizeof(int64_t), "the groups' beads", &groups->member));
    if (count == 0)
        return KITH_OK;
    int64_t *place = NULL, filled = 0;
    KITH_TRY(kith_allocate(count, (int64_t)(sizeof *place + sizeof(uint32_t)), "the groups' order",
                           &place));
    uint32_t *sequence = (uint32_t *)(place + count);
    const kith_status status = find_groups(context, problem, order, count, place, sequence);
    for (int64_t g = 0; g < count && status == KITH_OK; g++) {
        const int64_t begin = place[sequence[g]], end = end_of_run(problem, order, begin);
        for (int64_t k = begin; k < end; k++)
            groups->member[filled++] = order[k];
        groups->begin[g + 1] = filled;
    }
    free(place);
    return status;
}

static kith_status group(kith_context *context, struct collisions_problem *problem,
                         kith_collisions_groups *groups)
{
    uint32_t *order = NULL;
    void *copy = NULL;
    groups->beads = problem->count;
    KITH_TRY(collisions_make_dense(problem, &copy));
    kith_status status = kith_allocate(problem->count, sizeof *order, "sorting the beads", &order);
    if (status == KITH_OK) {
        const struct collisions_box box = collisions_box_of(context, problem);
        status = collisions_order(context, problem, &box, order);
    }
    if (status == KITH_OK)
        status = fill(context, problem, order, groups);
    free(order);
    free(copy);
    return status;
}

kith_status kith_collisions_group(kith_context *context, kith_array beads,
                                  kith_collisions_groups **groups)
{
    KITH_TRY(kith_check_pointer(groups, "groups"));
    struct collisions_problem problem;
    kith_collisions_groups *made = NULL;
    *groups = NULL;
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(collisions_check_host_beads(context, beads, &problem));
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(kith_allocate(1, sizeof *made, "the groups", &made));
    const kith_status status = group(context, &problem, made);
    if (status != KITH_OK) {
        kith_collisions_groups_free(made);
        return status;
    }
    *groups = made;
    return KITH_OK;
}

void kith_collisions_groups_free(kith_collisions_groups *groups)
{
    if (!groups)
        return;
    free(groups->begin);
    free(groups->member);
    free(groups);
}

kith_status kith_collisions_pairs(const kith_collisions_groups *groups, int64_t *pairs)
{
    KITH_TRY(kith_check_pointer(groups, "groups"));
    if (groups->collisions > 0)
        KITH_TRY(kith_check_pointer(pairs, "pairs"));
    /* For each bead, the place after it in member, and its group's end. */
    int64_t *after = NULL, written = 0;
    KITH_TRY(kith_allocate(groups->beads, 2 * (int64_t)sizeof *after, "the pairs' order", &after));
    for (int64_t g = 0; g < groups->group_count; g++)
        for (int64_t k = groups->begin[g]; k < groups->begin[g + 1]; k++) {
            after[2 * groups->member[k]] = k + 1;
            after[2 * groups->member[k] + 1] = groups->begin[g + 1];
        }
    for (int64_t i = 0; i < groups->beads; i++)
        for (int64_t k = after[2 * i]; k < after[2 * i + 1]; k++) {
            pairs[2 * written] = i;
            pairs[2 * written++ + 1] = groups->member[k];
        }
    free(after);
    return KITH_OK;
}
