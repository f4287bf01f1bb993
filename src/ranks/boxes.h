#ifndef RANKS_BOXES_H
#define RANKS_BOXES_H

#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"

/* Space in a box for each rank, by recursive bisection (Berger & Bokhari 1987, IEEE Trans. Comput.
 * C-36, 570): a plane divides it between one half of the ranks and the other, and further planes
 * divide the parts. The outer boxes have no end. */
struct ranks_boxes {
    int32_t parts;
    int32_t *axis; /* of the plane between ranks k − 1 and k, 1 ≤ k < parts, */
    double *at;    /* and where it is */
};

/* One box for each of so many ranks; free it with ranks_boxes_free, after an error too.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status ranks_boxes_create(int32_t parts, struct ranks_boxes *boxes);
void ranks_boxes_free(struct ranks_boxes *boxes);

/* Whose box a point is in. */
static inline int32_t ranks_box_of(const struct ranks_boxes *boxes, const double x[3])
{
    int32_t begin = 0, end = boxes->parts;
    while (end - begin > 1) {
        const int32_t middle = begin + (end - begin) / 2;
        if (x[boxes->axis[middle]] < boxes->at[middle])
            end = middle;
        else
            begin = middle;
    }
    return begin;
}

/* Collective: puts the planes so that boxes have about the same weight of the points of all ranks;
 * of one process, of its own. Each is within 2^-24 of the points' extent along an axis of where it
 * would be best.
 *
 *   count    of this rank's points, which may be 0
 *   weights  of these, positive; NULL: ones
 *
 * Errors: those of ranks_agree, KITH_OUT_OF_MEMORY. Cost: O(count log parts). */
kith_status ranks_boxes_cut(kith_context *context, int64_t count, const double (*x)[3],
                            const uint32_t *weights, struct ranks_boxes *boxes);

#endif
