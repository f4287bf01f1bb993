#ifndef KITH_FORCES_H
#define KITH_FORCES_H

#include "kith/array.h"
#include "kith/cell.h"
#include "kith/context.h"
#include "kith/law.h"
#include "kith/particles.h"
#include "kith/solver.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the solver direct evaluates all pairs. */
typedef enum kith_forces_method {
    KITH_FORCES_AUTO = 0,
    KITH_FORCES_DIRECT,    /* every pair, with the CPU's vectors or on the GPU */
    KITH_FORCES_SPLIT,     /* one sum per body, sources split over lanes and blocks */
    KITH_FORCES_SYMMETRIC, /* each pair once for both bodies: the sources are the targets, and
                              V(i, j) is V(j, i); on a GPU not for formulas */
    KITH_FORCES_TILE_P, /* GPU: p threads per tile of p × p, one target each (GPU Gems 3, ch. 31) */
    KITH_FORCES_TILE_P2, /* GPU: p² threads per tile, one pair each, sums in shared memory */
    KITH_FORCES_TENSOR /* GPU from compute capability 8.0 on: gravity in float; far pairs on tensor
                          cores */
} kith_forces_method;

/* What is summed over the sources. */
typedef enum kith_forces_sum {
    KITH_FORCES_SUM_FORCE = 0, /* the force and the potential */
    KITH_FORCES_SUM_VALUE      /* the value alone, of any law, as an energy also for gravity */
} kith_forces_sum;

/* How a law is modified so that it ends continuously at the cutoff R. F = −dV/dr. */
typedef enum kith_shift {
    KITH_SHIFT_NONE = 0, /* V(r) */
    KITH_SHIFT_ENERGY,   /* V(r) − V(R) */
    KITH_SHIFT_FORCE     /* V(r) − V(R) + (r − R) F(R): the force is F(r) − F(R), radial */
} kith_shift;

/* Sums over all pairs, each pair once. */
typedef struct kith_forces_totals {
    double energy; /* U = Σ_{i<j} V(i, j) */
    /* W_ab = Σ_{i<j} (x_i − x_j)_a (F_ij)_b, row by row, F_ij the force on i from an image of j;
     * repulsion is positive. dU under a strain of cell and positions is −Σ_ab W_ab strain_ab, and
     * the pressure of N particles in D dimensions (Σ m v² + Σ_a W_aa) / (D volume). */
    double virial[9];
    double volume; /* of a cell that is periodic along all axes (2D: its area); else 0 */
} kith_forces_totals;

/* The boundary condition of a periodic system at infinity. */
typedef enum kith_boundary {
    KITH_BOUNDARY_TIN_FOIL = 0, /* a conductor: no field of the cell's dipole */
    KITH_BOUNDARY_VACUUM /* energy 2π/(3V) (M² − W Σ w x²) more: M = Σ w x of the positions
                            as given, W = Σ w */
} kith_boundary;

/* Settings of the solvers ewald and pme; all zero: chosen for the accuracy. */
typedef struct kith_ewald {
    double absolute_error; /* > 0: rms error of the forces, in their unit, instead of
                              kith_accuracy.error */
    double alpha;          /* > 0: of erfc(α r), 1 / length */
    int32_t grid[3];       /* of pme */
    kith_boundary boundary;
} kith_ewald;

typedef struct kith_forces_options {
    double gravitational_constant; /* G; 0 means 1, as in kith_units; for gravity only */
    double softening;              /* ε ≥ 0, without a column softening */
    const kith_solver *solver; /* NULL: direct, or with an accuracy the faster of direct and fmm */
    kith_forces_method method; /* of the solver direct */
    int32_t block;             /* p of TILE_P (1 to 1024) and TILE_P2 (1 to 32); 0: 256 and 16 */
    int32_t unroll;            /* of TILE_P's loop: 1, 2, 4, 8, 16 or 32; 0: 16 */
    kith_forces_sum sum;
    const kith_law *law; /* NULL: gravity */
    double cutoff; /* R > 0: pairs at r < R only; 0: all pairs. Of ewald and pme the pairs that they
                      sum one by one; 0: chosen */
    const kith_cell *cell;      /* NULL: open space. A periodic cell needs a cutoff, ewald or pme */
    kith_shift shift;           /* of the law at the cutoff */
    bool tail;                  /* adds the contribution beyond the cutoff to the totals */
    kith_array exclusions;      /* p × 2, int64, on the host: pairs i, j that do not interact at
                                   their nearest images, with a cutoff or by ewald and pme; or none */
    kith_ewald ewald;           /* of ewald and pme */
    kith_forces_totals *totals; /* [out] or NULL; with a cutoff, or of ewald and pme */
    kith_accuracy accuracy;     /* of the solvers tree and fmm */
    kith_solver_report *report; /* [out] or NULL; not of simulations */
    /* Called before all pairs are summed if an approximate solver is expected to be at least five
     * times as fast, and solver, method and accuracy are not given (CPU); or NULL. A simulation
     * calls it once, when it is created. Results do not depend on it. */
    kith_advise *advise;
    void *advise_user; /* its argument */
} kith_forces_options;

/* Gravity of all sources at all targets, with Plummer softening, or the sums of another law.
 *
 *     a_i = G Σ_j m_j (x_j − x_i) / (r² + ε²)^{3/2}        r = |x_j − x_i|
 *     φ_i = −G Σ_j m_j / (r² + ε²)^{1/2}
 *
 * A pair with r² + ε² = 0 contributes to neither sum. If the targets are the sources, j = i is left
 * out. With a column softening, ε² of a pair is (ε_i² + ε_j²) / 2.
 *
 * Under any other law (kith/law.h), or with sum KITH_FORCES_SUM_VALUE,
 *
 *     a_i = Σ_j F_ij / m_i      F_ij = −∂V(i, j)/∂x_i
 *     φ_i = Σ_j V(i, j)         the energy of body i, not divided by its mass
 *
 * so that ½ Σ φ_i is the total energy, with s² = r² + ε² in place of r². If accelerations are
 * requested, the masses of the targets (of the sources, if these are the targets) must be greater
 * than 0. The table of laws defines V and F at s = 0. Laws with charges use the column q. Nothing
 * is scaled: forces must be in the range of the arrays' precision, and in float distances between
 * about 1e-12 and 1e12. Charges of direct and cutoff whose products overflow are refused. The law
 * gravity is the same as no law unless values are summed.
 *
 * With a cutoff R the sums are over the pairs at |d| < R, d = x_j − x_i + S·cell, with every
 * periodic image S of j (for i = j those with S ≠ 0): the full list of kith_pairs_compute. r = |d|,
 * which may be softened. A shift subtracts the value of the law, or of the force, at the cutoff;
 * the law must depend on r alone. The tail is the integral of the unshifted law over r > R at
 * uniform density, in three dimensions, which must converge; it is added to the energy and to the
 * diagonal of the virial. Excluded pairs are left out at their nearest image, at any distance.
 *
 * With columns epsilon and sigma the law lennard-jones has, for each pair, ε = √(ε_i ε_j) and σ =
 * (σ_i + σ_j)/2 (Lorentz 1881; Berthelot 1898) instead of its own parameters, which must be 1.
 * Targets and sources have both columns or neither. Supported by the solvers direct, cutoff and
 * reference, without a tail. They need a C compiler, as formulas do.
 *
 * Solvers (kith/solver.h): direct evaluates every pair in the arrays' precision; cutoff the pairs
 * of a cell list; reference the formula as a loop in double precision on the host, with one thread;
 * tree and fmm approximate far pairs to the requested accuracy (kith_accuracy; 1e-4 by default),
 * for smooth laws of the distance (docs/tree.md), with one softening; tree on the CPU also with a
 * column softening, without an order, for gravity and laws w_i w_j / r. An error below 3e-6 in
 * float or 1e-13 in double is refused. ewald and pme sum all periodic images of a cell, in three
 * dimensions: see below. Without a solver it is cutoff if there is a cutoff; with an accuracy the
 * faster of direct and fmm by a cost model; otherwise direct. The method is one of the solver
 * direct, for comparisons: KITH_FORCES_AUTO takes the one measured to be the fastest, by default or
 * on this device (kith/tuning.h). The tiles are textbook kernels (docs/gpu-tiling.md); they support
 * one softening for all bodies, and in float blocks of fewer than 64 threads may exceed the error
 * below: with one thread it is 7.6e-6 for 262 144 bodies.
 *
 * In a periodic cell the solvers ewald and pme sum, for gravity, coulomb and other laws k w_i w_j /
 * r,
 *
 *     φ_i = k w_i Σ_S Σ_j w_j / |x_j − x_i + S·cell|      without the terms at distance 0
 *
 * over all images S, as Ewald (1921) does: the value of a neutral cell inside a conductor
 * (kith_boundary). A net charge is neutralized by a uniform background; for masses this subtracts
 * the mean density. In a cell that is periodic along a and b only, a slab, the images are those in
 * the plane, and nothing is neutralized (Yeh & Berkowitz 1999; Ballenegger, Arnold & Cerdà 2009).
 * The parts of the sum are cut off for the requested error (kith_accuracy; by default 1e-12, in
 * float 1e-6) by the estimates of Kolafa & Perram (1992). Softening and separate targets are not
 * supported. Cost: O(n^{3/2}). pme has the smooth part of the sum on a grid (Hockney & Eastwood
 * 1988; Essmann et al. 1995), with splines of order 4 to 8 and FFTW: an error of 1e-4 by default
 * and at least 1e-11 (float 1e-6), and O(n log n). On a GPU there is pme alone, by cuFFT; the host
 * waits where it chooses a setting, and for totals and a report. Where single precision is enough
 * for the error, coordinates have 48 bits there: the force of a pair at a distance d may be off by
 * 2⁻⁴⁶ L/d of it, L the length of the cell. Two particles nearer than 3e-13 of the cutoff where
 * single precision is enough, or 1e-102 elsewhere, count as at the same position.
 *
 * On a CPU pme also sums all images of the law lennard-jones, alone or added to coulomb
 * (kith/law_sum.h) without a cutoff, without mixing columns, in a cell that is periodic along three
 * vectors: −4εσ⁶/r⁶ on the grid (Essmann et al. 1995), 4εσ¹²/r¹² within the cutoff, to the error
 * relative to the rms force of that law. Pairs beyond the cutoff are added to energies and virial
 * at the mean density.
 *
 *   context       where to compute
 *   options       NULL for G = 1, ε = 0
 *   targets       n particles; NULL: the sources themselves
 *   sources       m particles, n × 2 or n × 3
 *   acceleration  [out] n × 2 or n × 3, or none
 *   potential     [out] n, or none; the only output of KITH_FORCES_SUM_VALUE
 *
 * The targets are the sources also if their positions are absent or the same view of the same
 * memory. They then have the sources' columns; a column q of their own is their charge as targets.
 * Other targets need masses only under laws other than gravity, and have a column softening if and
 * only if the sources have one.
 *
 * All arrays have one dtype and are on one device; outputs must not overlap inputs. Units: any
 * consistent ones.
 *
 * Arrays on the host can be used with every context; a context on a GPU copies them there and back,
 * and the call returns when the results are complete. Arrays on a CUDA device need a context on
 * that device; nothing is copied, and the call returns when its work is enqueued on the context's
 * stream. NaN or infinity in them is therefore found later: all results are then NaN, and
 * kith_context_synchronize returns the error. A second call with the same sizes allocates nothing
 * and can be captured in a CUDA graph, which may be replayed with other values in the same arrays
 * as long as the context exists. The solvers tree and fmm wait for the device, and are refused in a
 * capture.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices, names of columns, log2d and positions
 *         that are not n × 2, ε < 0, a cutoff < 0, missing in a periodic cell or not supported by
 *         the solver, periodic vectors that are linearly dependent, a shift or a tail that the law
 *         does not support, an error that the solver does not reach, a number that is not finite,
 *         or a mass that is not greater than 0 where it must be: the message names the row; G
 *         under a law without it, or acceleration with KITH_FORCES_SUM_VALUE; a first call, or
 *         arrays on the host, while the stream is being captured), KITH_UNSUPPORTED (arrays on a
 *         device and a context on the CPU, or a solver that computes on the host; a formula, and
 *         no compiler; a solver or a method that the device does not support, or not for these
 *         arguments), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 *
 * Cost: n·m pairs, O(n + m) memory, kept by the context for the next call; with a cutoff O(n + m +
 *       pairs).
 *
 * Error: relative, in the norm over all bodies: 1e-6 in float, 1e-14·√m in double; where
 *        contributions cancel, and under a law, relative to the sums of their magnitudes (under a
 *        law, times the error of a pair, kith/law.h). In float up to 4e-6 where many contributions
 *        are equal, as for bodies on a lattice, or where one is much larger than the others. Masses
 *        less than 1e-280 (float: 1e-20) of the largest lose digits.
 *
 * Bits: the same on every run and for every number of threads; on a device, the same for arrays on
 *       the host and for arrays there, of any strides. */
KITH_API kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                         const kith_particles *targets,
                                         const kith_particles *sources, kith_array acceleration,
                                         kith_array potential);

/* Derivatives of the results of kith_forces_compute along one direction per body. If x_i of a
 * target moves with the velocity v_i, and x_j of a source with w_j, then with u = w_j − v_i
 *
 *     Da_i = G Σ_j m_j [u / s³ − 3 (d·u) d / s⁵]      d = x_j − x_i, s² = |d|² + ε²
 *     Dφ_i = G Σ_j m_j d·u / s³
 *
 * and under any other law, or with sum KITH_FORCES_SUM_VALUE,
 *
 *     Da_i = Σ_j (∂F_ij/∂d) u / m_i
 *     Dφ_i = Σ_j F_ij · u
 *
 * If the targets are the sources, v = w, and V(i, j) = V(j, i), then −m_i Da_i is row i of H v, H
 * the matrix of second derivatives of the energy (½ Σ m_i φ_i of gravity, else ½ Σ φ_i) by the
 * positions: a Hessian-vector product. The pairs are those of kith_forces_compute.
 *
 *   context                  where to compute
 *   options                  as of kith_forces_compute; method AUTO or DIRECT
 *   targets, sources         as of kith_forces_compute
 *   target_directions        n × 2 or n × 3, v; none: w if the targets are the sources, else zeros
 *   source_directions        m × 2 or m × 3, w; none: zeros. One of the two must be given
 *   acceleration_derivative  [out] n × 2 or n × 3, or none
 *   potential_derivative     [out] n, or none
 *
 * Strides, dtypes and devices of arrays, and deferred errors, are as for kith_forces_compute.
 * Directions have any unit, and are not scaled: in float their magnitudes must be between about
 * 1e-10 and 1e30.
 *
 * Errors: those of kith_forces_compute; KITH_INVALID_ARGUMENT also where no directions are given,
 *         and for a formula too long for its second derivatives; KITH_UNSUPPORTED for other
 *         methods.
 *
 * Cost: n·m pairs, each about twice the work of a force; O(n + m) memory, kept by the context.
 *
 * Error: ten times that of kith_forces_compute.
 *
 * Bits: the same on every run and for every number of threads. */
KITH_API kith_status kith_forces_derivative(
    kith_context *context, const kith_forces_options *options, const kith_particles *targets,
    const kith_particles *sources, kith_array target_directions, kith_array source_directions,
    kith_array acceleration_derivative, kith_array potential_derivative);

#ifdef __cplusplus
}
#endif

#endif
