#ifndef MESH_PERIODIC_H
#define MESH_PERIODIC_H

/* Sums of weights over the distance in a cell that repeats along three vectors, or along two.
 *
 *     φ_i = Σ_S Σ_j w_j / |x_j − x_i + S·cell|      without the terms at distance 0
 *
 * converges only conditionally. Ewald's sum (Ewald 1921, Ann. Phys. 369, 253; de Leeuw, Perram &
 * Smith 1980, Proc. R. Soc. A 373, 27) gives it the value of a neutral cell in a conductor:
 *
 *     φ_i = Σ_{r < cutoff} w_j erfc(α r) / r − 2 α w_i / √π
 *         + 4π/V Σ_{k ≠ 0} e^{−k²/4α²} / k² Re[e^{i k·x_i} S*(k)] − π W / (V α²)
 *
 * with S(k) = Σ_j w_j e^{i k·x_j}, V the volume, W = Σ_j w_j. The last term is that of a uniform
 * background of −W/V, which makes the cell neutral: of masses it subtracts the mean density.
 *
 * In a vacuum instead of a conductor, with M = Σ w x and T = Σ w x², the energy ½ Σ w φ has the
 * term
 *
 *     2π/(3V) (M² − W T)
 *
 * more; the second part makes it independent of the origin for W ≠ 0.
 *
 * A slab repeats along the first two vectors. Its third is perpendicular to them and of a length L
 * such that images along it are further from each other than they are thick (Yeh & Berkowitz 1999,
 * J. Chem. Phys. 111, 3155; for W ≠ 0 Ballenegger, Arnold & Cerdà 2009, J. Chem. Phys. 131,
 * 094107); with z along it the energy has the term
 *
 *     2π/V (M_z² − W T_z − W² L² / 12)
 *
 * more. What is left of the images decreases as e^{−g (L − thickness)}, g the shortest vector of
 * the reciprocal lattice in the plane.
 *
 * Of lennard-jones, V = 4ε (σ¹²/r¹² − σ⁶/r⁶), the second term is summed over all images (Essmann et
 * al. 1995), the first, which decreases fast, within the cutoff:
 *
 *     φ_i = Σ_{r < cutoff} w_j [(1 + a² + a⁴/2) e^{−a²} / r⁶ − σ⁶/r¹²] − α⁶ w_i / 6
 *         + π^{3/2} α³/(3V) Σ_k h(k/2α) Re[e^{i k·x_i} S*(k)],        a = α r
 *     h(b) = (1 − 2b²) e^{−b²} + 2√π b³ erfc(b)
 *
 * and what pairs beyond the cutoff add at the mean density, with k = 0 among the waves; V is then
 * −4εσ⁶ times it. This sum converges, so that neither a background nor a boundary is needed.
 *
 * The virial is −∂E/∂ε for strains x → (1 + ε) x of particles and cell together. */

#include "cells/geometry.h"
#include "cells/grid.h"
#include "core/status.h"
#include "device/cpu.h"
#include "kith/cell.h"
#include "kith/context.h"

struct periodic_particles {
    int64_t count;
    kith_dtype dtype;        /* of the numbers below */
    const void *position[3]; /* as given */
    const void *weight;      /* NULL: ones */
};

/* The pairs within the cutoff alone, or all but them. A pair that is excluded loses erfc(α r)/r in
 * the one and erf(α r)/r in the other. */
enum periodic_part { periodic_all, periodic_near, periodic_far };

/* What is requested; what is 0 is chosen. */
struct periodic_request {
    double error;          /* of the forces w ∇φ, relative (kith/solver.h) */
    double absolute_error; /* or their rms error */
    double cutoff, alpha;
    int32_t grid[3], order; /* of pme */
    bool is_vacuum;
    bool wants_estimate; /* of the error, and the rms force that it is relative to */
    enum periodic_part part;
    bool is_sixth;                  /* of lennard-jones instead of 1/r, */
    double repulsion;               /* with this σ⁶ */
    int64_t exclusion_count;        /* pairs that do not interact at their nearest images, */
    const int64_t (*exclusions)[2]; /* of two different particles each */
};

/* What was chosen. */
struct periodic_setting {
    double cutoff, alpha;
    double wave_limit; /* of plain sums: the largest |k| */
    int32_t grid[3], order;
    double force_error; /* expected rms error of the forces */
    double seconds;     /* that the choice took */
};

enum { periodic_waves = 13 };

/* The cell in the form of the sums, and totals of the particles. */
struct periodic_system {
    struct pairs_lattice lattice;
    double volume, area; /* area: of a slab's cell in its plane */
    bool is_slab;
    double normal[3]; /* of a slab */
    int64_t count;
    bool is_sixth;         /* of periodic_request */
    double repulsion;      /* likewise */
    double total, squares; /* Σ w, Σ w² */
    double middle[3];      /* of the coordinates */
    double thickness;      /* of a slab */
    /* Means of |Σ w e^{i k·x}|²/Σ w² over the longest waves, and likewise of |w|; at least 1, as
     * for independent positions. */
    double correlation, crowding;
    /* The first of these of each wave: those of indices −1, 0 and 1 along the vectors, of which
     * wave k has the digits of 14 + k in base 3, less 1. */
    double of_wave[periodic_waves];
    double in_phase[3]; /* factors of the square error by aliases along the vectors (pme.h); ≥ 1 */
};

/* Particles in the order of cells, as the last sum over pairs within a cutoff left them. */
struct periodic_cells {
    struct cells_grid grid;
    double cutoff;
    double *at[4]; /* x, y, z and w */
    const int32_t *begin;
};

/* Memory that is kept, and the results in the order of the particles. */
struct periodic_state {
    struct cpu_memory memory[4];
    bool keeps;     /* the setting, once it is chosen */
    bool is_chosen; /* it is */
    struct periodic_system system;
    struct periodic_setting setting;
    struct periodic_cells cells;
    double *position[3], *weight;    /* in double, positions in the cell */
    double *potential, *gradient[3]; /* φ, ∇φ */
    double energy, virial[3][3];     /* of ½ Σ w φ */
    double force_rms;                /* of w ∇φ */
};

/* Fills in state->system, position and weight, for a cell that is periodic along its three vectors
 * or the first two; error: what a slab's images may add, relative.
 * Errors: KITH_OUT_OF_MEMORY, KITH_INVALID_ARGUMENT (a degenerate cell, a particle 2^30 cells
 *         away). */
kith_status periodic_load(kith_context *context, const kith_cell *cell, double error,
                          const struct periodic_particles *particles, struct periodic_state *state);

/* The cell alone, periodic along its three vectors; what is measured of particles is unknown.
 * Errors: KITH_INVALID_ARGUMENT (a degenerate cell). */
kith_status periodic_take_cell(const kith_cell *cell, int64_t count,
                               struct periodic_system *system);

/* Potentials, gradients and virial before a part is added to them. */
void periodic_clear(struct periodic_state *state);

/* Takes ½ Σ w φ, and adds what neither part of the sum has: the background, the boundary or the
 * slab's term, and excluded pairs. The virial then has those terms too.
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status periodic_finish(kith_context *context, const struct periodic_particles *particles,
                            const struct periodic_request *request, struct periodic_state *state);

/* The minimum of the force that errors are relative to, used where forces vanish. */
double periodic_least_force(const struct periodic_system *system);

/* Ewald summation, with both sums truncated for the requested error. */
kith_status ewald_cpu(kith_context *context, const kith_cell *cell,
                      const struct periodic_particles *particles,
                      const struct periodic_request *request, struct periodic_state *state);

void periodic_free(struct periodic_state *state);

static inline double periodic_at(kith_dtype dtype, const void *column, int64_t i)
{
    return dtype == KITH_F64 ? ((const double *)column)[i] : (double)((const float *)column)[i];
}

#endif
