#ifndef FORCES_RING_GROUPS_H
#define FORCES_RING_GROUPS_H

#include "forces/ring.h"

/* The offsets of a large ring are divided into groups of about the same cost, which several devices
 * can sum independently; the sums of groups are added in their order. Their number depends on the
 * tiles alone: 1, 2, 4 or 8, with at least 8 offsets in each. */
enum { ring_most_groups = 8, ring_least_offsets = 8 };

RING_FUNCTION int64_t ring_groups(int64_t tiles)
{
    int64_t groups = 1;
    while (groups < ring_most_groups && tiles / 2 >= 2 * groups * ring_least_offsets)
        groups *= 2;
    return groups;
}

/* The first offset of a group; of group ring_groups(tiles), ring_offsets(tiles). */
RING_FUNCTION int64_t ring_group_begin(int64_t tiles, int64_t groups, int64_t group)
{
    const int64_t of_half = ring_half_offset(tiles) >= 0 ? ring_step_cost / 2 : 0;
    const int64_t of_self = ring_step_cost - ring_self_step_cost;
    const int64_t cost = ring_step_cost * ring_offsets(tiles) - of_self - of_half;
    if (group == 0 || group == groups)
        return group == 0 ? 0 : ring_offsets(tiles);
    return (cost * group / groups + of_self + ring_step_cost / 2) / ring_step_cost;
}

#endif
