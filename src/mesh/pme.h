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
 * are left out, also times that of |w|.
 *
 * Where particles are in phase in the waves that matter, as on a lattice whose sheets are far
 * apart, aliases add up. The error of particle i by aliases along an axis is 2 Re[e^{−i S·x_i}
 * Σ_j w_j T(x_j − x_i)], with T the transform of 4π e^{−k²/4α²}/k² √ε |k + S|: a field that reaches
 * about 4/α. It is summed at a sample of the particles; in_phase is its mean square over the one
 * above, at least 1, since a lattice may melt in a run. */

enum { pme_least_order = 4, pme_most_order = 8 };

/* Whether this build has it. */
bool pme_is_there(void);

/* What a pair within the cutoff takes, with the search for it, in seconds; a row of the points of a
 * particle's splines, spread and gathered; a point of the grid in the transforms. */
struct pme_costs {
    double pair, row, point;
};

/* The cheapest setting whose expected error is the requested one, by a model of the work; the force
 * is the rms force that a relative error is of.
 * Errors: KITH_INVALID_ARGUMENT (a grid smaller than the order, or too large). */
kith_status pme_choose(const struct periodic_system *system, const struct periodic_request *request,
                       double force, const struct pme_costs *costs,
                       struct periodic_setting *setting);

/* The mean square errors of the forces by aliases along each vector of the cell: as pme_choose
 * expects them without in_phase, and as the sums Σ_j w_j T(x_j − x_i) of the fields of aliases at
 * a sample of the particles, where state->cells has them (pme_aliases.c).
 * Errors: KITH_CANCELLED. */
void pme_expect_aliases(const struct periodic_system *system,
                        const struct periodic_setting *setting, double squares[3]);
kith_status pme_measure_aliases(kith_context *context, const struct periodic_state *state,
                                double squares[3]);

/* The same for particles that have been loaded, unless the state keeps one; measures what that
 * takes. */
kith_status pme_find_setting(kith_context *context, const struct periodic_request *request,
                             const struct pme_costs *costs, struct periodic_state *state);

/* Errors: KITH_INVALID_ARGUMENT: a grid that is given has fewer points than the order, or too many.
 */
kith_status pme_check_grid(const struct periodic_request *request, int32_t order);

/* Whether nothing is left to choose. */
bool pme_is_given(const struct periodic_request *request);

/* Whether single precision is enough for the mesh, and for the pairs. */
bool pme_is_coarse(const struct periodic_request *request);

/* What the images of a slab along its normal may add, relative. */
double pme_slab_error(const struct periodic_request *request);

/* The error of the polynomials of a pair (split.h). */
double pme_pair_error(const struct periodic_request *request, kith_dtype of_pairs);

/* Forces of all images, on the CPU. Pairs and mesh are in single precision where the error that is
 * requested permits; otherwise the pairs are in the particles' precision, the mesh in double. */
kith_status pme_cpu(kith_context *context, const kith_cell *cell,
                    const struct periodic_particles *particles,
                    const struct periodic_request *request, struct periodic_state *state);

/* What a device does with φ and ∇φ of each particle, in its memory; columns are of the particles'
 * dtype, NULL if not requested:
 *
 *     potential = strength w φ,    acceleration = −strength w ∇φ / mass      w, mass NULL: ones */
struct pme_delivery {
    double strength;
    const void *weight, *mass;
    void *acceleration[3], *potential;
    int64_t acceleration_stride, potential_stride;
    bool adds; /* to what is there */
    /* Pairs that do not interact: particle k with excluded[excluded_begin[k]] …
     * excluded[excluded_begin[k + 1] − 1], each pair from both sides; NULL: none. */
    const int64_t *excluded_begin;
    const int32_t *excluded;
    const bool *bad; /* there: results are NaN; NULL: numbers are known to be finite */
    bool wants_totals;
};

/* pme on a device with memory of its own, where the particles are; *kept is NULL at first, and kept
 * from call to call. State has the setting, and where they are requested the energy, the virial and
 * the rms force: then, and where a setting is chosen, the host waits for the device. Pairs and mesh
 * are in the precisions of pme_cpu, and so are results of the same bits on every run.
 *
 * is_there  KITH_OK, or KITH_UNSUPPORTED with what to install
 *
 * Excluded pairs are those of the delivery. A slab is measured by the host in each call.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED, KITH_INVALID_ARGUMENT (as of periodic_load),
 *         KITH_UNSUPPORTED (no cuFFT, too many particles or images). */
struct pme_backend {
    kith_status (*is_there)(void);
    kith_status (*evaluate)(kith_context *context, const kith_cell *cell,
                            const struct periodic_particles *particles,
                            const struct periodic_request *request,
                            const struct pme_delivery *delivery, struct periodic_state *state,
                            void **kept);
    void (*free)(kith_context *context, void *kept);
};

/* Adds the waves to state's potential, gradient and virial; dtype: of the mesh. */
kith_status pme_add_waves(kith_context *context, kith_dtype dtype, struct periodic_state *state);

#endif
