#ifndef COLLISIONS_SITE_TABLE_H
#define COLLISIONS_SITE_TABLE_H

#include "lattice/box.h"

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

/* Collisions of all beads. Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. Cost: 24 to 96 bytes per
 * bead.
 */
kith_status site_table_collisions(const kith_context *context,
                                  const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count);

/* All that a summary has, of beads with a flag unless hydrophobic is NULL. Errors and cost alike.
 */
kith_status site_table_summarize(const kith_context *context,
                                 const struct collisions_problem *problem,
                                 const struct collisions_box *box, const unsigned char *hydrophobic,
                                 kith_collisions_summary *summary);

#endif
