#ifndef SIMULATION_IMAGES_H
#define SIMULATION_IMAGES_H

/* Simulations by the solvers that sum the images of a periodic cell, ewald and pme.
 *
 * Their setting (cutoff, α, grid, order) is chosen once, for the bodies of the start, and kept with
 * what is prepared: so the energy is one smooth function of the positions, and steps do not pay for
 * the choice. A resumed run chooses it from the same start. Of a slab, whose thickness changes, it
 * is chosen in every evaluation. */

#include "core/status.h"
#include "kith/simulation.h"

struct kith_simulation;

/* The cell of the options, or else the bodies'. */
kith_cell simulation_choose_cell(const kith_forces_options *options, const kith_bodies *bodies);

/* What the options have of it, to simulation->ewald, and the exclusions, which cutoffs have too,
 * copied to simulation->space.
 * Errors: KITH_INVALID_ARGUMENT (a skin), KITH_OUT_OF_MEMORY. */
kith_status simulation_take_images(const kith_simulation_options *options,
                                   struct kith_simulation *simulation);

/* Fills in the problem's space. */
void simulation_load_images(struct kith_simulation *simulation);

/* Chooses the setting for the bodies as they are, if none is prepared; nothing for other solvers.
 */
kith_status simulation_choose_images(struct kith_simulation *simulation);

void simulation_free_images(struct kith_simulation *simulation);

#endif
