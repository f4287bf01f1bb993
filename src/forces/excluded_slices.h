#ifndef FORCES_EXCLUDED_SLICES_H
#define FORCES_EXCLUDED_SLICES_H

#include "forces/cutoff_partition.h"
#include "ranks/parcels.h"

/* Collective: the excluded pairs of the bodies that a rank gets. A pair comes with the body of its
 * first row, from the rank that has it, and is kept where that of the second is there, too: else it
 * is beyond the cutoff of the rank's targets.
 *
 *   sources  how the bodies have come; origin: their rows at the ranks that have them, increasing
 *   held     [out] pairs of rows of the bodies here; freed with free(held->data)
 *
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status excluded_send(const struct cutoff_partition *partition,
                          const struct ranks_parcels *sources, const int32_t *origin,
                          kith_array *held);

#endif
