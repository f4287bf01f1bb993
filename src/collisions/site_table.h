#ifndef COLLISIONS_SITE_TABLE_H
#define COLLISIONS_SITE_TABLE_H

#include "collisions/box.h"

/* Sites of a table with open addressing, for beads anywhere: also where a box has no keys, and to
 * look for sites with no bead. */

/* A power of two that keeps the table at most half full. */
static inline int64_t site_table_slots(int64_t sites)
{
    int64_t slots = 16;
    while (slots < 2 * sites)
        slots *= 2;
    return slots;
}

/* Collisions of all beads. Errors: KITH_OUT_OF_MEMORY. Cost: 24 to 96 bytes a bead. */
kith_status site_table_collisions(const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count);

/* Pairs at distance 1 that are no neighbours along the chain; of beads with a flag, unless
 * hydrophobic is NULL. Errors and cost alike. */
kith_status site_table_contacts(const struct collisions_problem *problem,
                                const struct collisions_box *box, const unsigned char *hydrophobic,
                                int64_t *count);

#endif
