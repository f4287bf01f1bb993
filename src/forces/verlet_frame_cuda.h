#ifndef FORCES_VERLET_FRAME_CUDA_H
#define FORCES_VERLET_FRAME_CUDA_H

/* The frame of a Verlet list on a GPU: the cell, where an open axis has a period so long that no
 * particle is near an image of another.
 *
 * Coordinates along an open axis lie within ±verlet_frame_reach of its period, which is a power of
 * two, at least 64 cutoffs, and the shortest that they fit: a function of the positions alone, and
 * so are the bits of forces. Steps that leave the frame, or would fit a shorter one, end as those
 * that use up a list do. */

#include "forces/problem.h"
#include "forces/verlet_share_cuda.h"

/* Chooses the skin, and what does not depend on positions. False if the cell is so small that a
 * pair may have two images within the search distance. */
bool verlet_begin_frame_cuda(const struct forces_problem *problem, struct verlet_cuda *verlet);

/* The frame of positions of which the components along open axes are at most these, and the cells
 * of its list. False if they are so far away that coordinates would be coarser than positions near
 * the origin. */
bool verlet_choose_frame_cuda(const float farthest[3], struct verlet_cuda *verlet);

#endif
