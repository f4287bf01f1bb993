#ifndef MESH_PME_H
#define MESH_PME_H

#include "mesh/periodic.h"

/* Ewald's sum with the waves on a mesh (Hockney & Eastwood 1988, §8; Essmann et al. 1995, J. Chem.
 * Phys. 103, 8577): weights are spread to a grid by B-splines of order p, 4 to 8, transformed,
 * multiplied by
 *
 *     4π/V e^{−k²/4α²}/k² Π_c U_c²/(Σ_m U_c(n_c + m K_c)²)²,    U_c(n) = (sin(πn/K_c)/(πn/K_c))^p
 *
 * transformed back, and gathered by the same splines and by their derivatives. The factors of U
 * minimize the rms error where e^{−k²/4α²} of aliases is negligible compared with that of the wave.
 *
 * With ε the square of U at an alias over U² at the wave, S the distance of the two, the mean
 * square error of the force is Σw²/N (4π/V)² Σw² Σ_k e^{−k²/2α²}/k⁴ Σ ε (k² + |k + S|²), waves of
 * other particles taken as independent; and a particle's own aliases pull it with about √2 w² 4π/V
 * Σ_k e^{−k²/4α²}/k² √ε S along each axis, and so do others that are nearer than a spacing. Where
 * weights cluster, both squares are taken times the mean of |Σ w e^{i k·x}|²/Σ w² over the longest
 * waves, and the latter, as the pairs that
 * are left out, also times that of |w|. */

enum { pme_least_order = 4, pme_most_order = 8 };

/* Whether this build has it. */
bool pme_is_there(void);

/* The cheapest setting whose expected error is the requested one, by a model of the work; the force
 * is the rms force that a relative error is of, dtype that of pairs and mesh.
 * Errors: KITH_INVALID_ARGUMENT (a grid smaller than the order, or too large). */
kith_status pme_choose(const struct periodic_system *system, const struct periodic_request *request,
                       double force, kith_dtype dtype, struct periodic_setting *setting);

/* Forces of all images, on the CPU. Pairs and mesh are in single precision where the error that is
 * requested permits; otherwise the pairs are in the particles' precision, the mesh in double. */
kith_status pme_cpu(kith_context *context, const kith_cell *cell,
                    const struct periodic_particles *particles,
                    const struct periodic_request *request, struct periodic_state *state);

/* Adds the waves to state's potential, gradient and virial; dtype: of the mesh. */
kith_status pme_add_waves(kith_context *context, kith_dtype dtype, struct periodic_state *state);

#endif
