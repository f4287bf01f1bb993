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

/* How the solver direct walks all pairs. */
typedef enum kith_forces_method {
    KITH_FORCES_AUTO = 0,
    KITH_FORCES_DIRECT,    /* every pair, with the CPU's vectors or on the GPU */
    KITH_FORCES_SPLIT,     /* each body's sum by itself, sources split over lanes and blocks */
    KITH_FORCES_SYMMETRIC, /* each pair once for both bodies: the sources are the targets, and
                              V(i, j) is V(j, i); on a GPU not for formulas */
    KITH_FORCES_TILE_P,    /* GPU: p threads a tile of p × p, a target each (GPU Gems 3, ch. 31) */
    KITH_FORCES_TILE_P2    /* GPU: p² threads a tile, a pair each, sums in shared memory */
} kith_forces_method;

/* What is summed over the sources. */
typedef enum kith_forces_sum {
    KITH_FORCES_SUM_FORCE = 0, /* the force and the potential */
    KITH_FORCES_SUM_VALUE      /* the value alone, of any law: gravity's is an energy too */
} kith_forces_sum;

/* How a law is changed so that pairs do not end abruptly at the cutoff R. F = −dV/dr. */
typedef enum kith_shift {
    KITH_SHIFT_NONE = 0, /* V(r) */
    KITH_SHIFT_ENERGY,   /* V(r) − V(R) */
    KITH_SHIFT_FORCE     /* V(r) − V(R) + (r − R) F(R): the force is F(r) − F(R), radial */
} kith_shift;

/* Sums over all pairs, each pair once. */
typedef struct kith_forces_totals {
    double energy; /* U = Σ_{i<j} V(i, j) */
    /* W_ab = Σ_{i<j} (x_i − x_j)_a (F_ij)_b, row by row, F_ij the force on i by the nearest or any
     * other image of j: repulsion is positive. dU under a strain of cell and positions is
     * −Σ_ab W_ab strain_ab, and the pressure of N particles in D dimensions
     * (Σ m v² + Σ_a W_aa) / (D volume). */
    double virial[9];
    double volume; /* of a cell that is periodic along all axes (2D: its area); else 0 */
} kith_forces_totals;

/* What is around a periodic system, infinitely far away. */
typedef enum kith_boundary {
    KITH_BOUNDARY_TIN_FOIL = 0, /* a conductor: no field of the cell's dipole */
    KITH_BOUNDARY_VACUUM /* energy 2π/(3V) (M² − W Σ w x²) more: M = Σ w x of the positions
                            as given, W = Σ w */
} kith_boundary;

/* What the solvers ewald and pme take; all zero: chosen for the accuracy. */
typedef struct kith_ewald {
    double absolute_error; /* > 0: of the rms force, in its unit, in place of kith_accuracy.error */
    double alpha;          /* > 0: of erfc(α r), 1 / length */
    int32_t grid[3];       /* of pme */
    kith_boundary boundary;
} kith_ewald;

typedef struct kith_forces_options {
    double gravitational_constant; /* G; 0 means 1, as in kith_units; of gravity only */
    double softening;              /* ε ≥ 0, of every particle without a column softening */
    const kith_solver *solver;     /* NULL: direct, or with an accuracy what is fastest */
    kith_forces_method method;     /* of the solver direct */
    int32_t block;  /* p of TILE_P (1 to 1024) and TILE_P2 (1 to 32); 0: 256 and 16 */
    int32_t unroll; /* of TILE_P's loop: 1, 2, 4, 8, 16 or 32; 0: 16 */
    kith_forces_sum sum;
    const kith_law *law; /* NULL: gravity */
    double cutoff; /* R > 0: pairs at r < R only; 0: all pairs. Of ewald and pme the pairs that they
                      sum one by one; 0: chosen */
    const kith_cell *cell;      /* NULL: open space. A periodic cell needs a cutoff, ewald or pme */
    kith_shift shift;           /* of the law at the cutoff */
    bool tail;                  /* adds what is beyond the cutoff to the totals */
    kith_array exclusions;      /* p × 2, int64, on the host: pairs i, j that do not interact at
                                   their nearest images, with a cutoff or by ewald and pme; or none */
    kith_ewald ewald;           /* of ewald and pme */
    kith_forces_totals *totals; /* [out] or NULL; with a cutoff, or of ewald and pme */
    kith_accuracy accuracy;     /* of the solvers tree and fmm */
    kith_solver_report *report; /* [out] or NULL; not of simulations */
    /* Called before all pairs are summed where an approximate solver is expected to be at least
     * five times as fast, if solver, method and accuracy are not given (CPU); or NULL. A
     * simulation calls it once, when it is created. The result does not depend on it. */
    kith_advise *advise;
    void *advise_user; /* its argument */
} kith_forces_options;

/* Gravity of all sources at all targets, with Plummer softening, or the sums of another law.
 *
 *     a_i = G Σ_j m_j (x_j − x_i) / (r² + ε²)^{3/2}        r = |x_j − x_i|
 *     φ_i = −G Σ_j m_j / (r² + ε²)^{1/2}
 *
 * A pair with r² + ε² = 0 contributes nothing, to either sum. If the targets are the sources, j = i
 * is left out. With a column softening, ε² of a pair is (ε_i² + ε_j²) / 2: symmetric, and the
 * common ε if all are equal.
 *
 * By another law (kith/law.h), or with sum KITH_FORCES_SUM_VALUE,
 *
 *     a_i = Σ_j F_ij / m_i      F_ij = −∂V(i, j)/∂x_i
 *     φ_i = Σ_j V(i, j)         the energy of body i, not divided by its mass; ½ Σ φ is that of all
 *
 * with s² = r² + ε² for r² in V. The masses of the targets, the sources' masses if they are the
 * targets, must be greater than 0 where accelerations are requested. The table of laws
 * defines V and F at s = 0. Laws with charges take the column q. Nothing is scaled: forces, and for
 * float distances from about 1e-12 to 1e19, must be in the range of the arrays' precision. The law
 * gravity is the gravity above unless values are summed.
 *
 * With a cutoff R the sums go over the pairs at |d| < R, d = x_j − x_i + S·cell, at every periodic
 * image S of j (of i = j those with S ≠ 0): the full list of kith_pairs_compute. r = |d|, which
 * may be softened. A shift changes the law, which must be one of r alone, by what it is at the
 * cutoff. The tail is the integral over r > R at uniform density, of the unshifted law, in three
 * dimensions: it is added to the energy and to the diagonal of the virial, and must converge.
 * Pairs of exclusions are left out at their nearest image, however close they are; on the CPU.
 *
 * With columns epsilon and sigma the law lennard-jones has, for each pair, ε = √(ε_i ε_j) and
 * σ = (σ_i + σ_j)/2 (Lorentz 1881; Berthelot 1898), in the place of its own, which must be 1. Both
 * columns or none are given, on both sides; by the solvers direct, cutoff and
 * reference, without a tail. They need a C compiler, as formulas do.
 *
 * The solver (kith/solver.h) walks the pairs: direct, in the arrays' precision; cutoff, those of a
 * cell list; reference, the
 * formula as a loop in double precision on the host, one thread; tree and fmm, which approximate
 * the far pairs to the requested accuracy, on the CPU, for gravity, coulomb, log2d and
 * other laws of weights over the distance with one softening (kith_accuracy; without one an error
 * of 1e-4). An error below 3e-6 in float and 1e-13 in double is refused. ewald and pme sum all
 * periodic images of a cell, in three dimensions on the CPU: see below. With a cutoff and no solver
 * it is cutoff; with an accuracy and no solver, direct or fmm is taken, whichever is faster by a
 * model of the work. The method is one of direct, for comparisons: KITH_FORCES_AUTO takes the one
 * measured to be the fastest, by default or on this device (kith/tuning.h). The tiles are for
 * learning (docs/gpu-tiling.md); they have one softening for all bodies, and in float blocks of
 * fewer than 64 threads may pass the error below: with one thread it is 7.6e-6 for 262 144 bodies.
 *
 * In a periodic cell the solvers ewald and pme sum, for gravity, coulomb and other laws k w_i w_j /
 * r,
 *
 *     φ_i = k w_i Σ_S Σ_j w_j / |x_j − x_i + S·cell|      without the terms at distance 0
 *
 * over all images S, as Ewald (1921) does: the value of a neutral cell inside a conductor
 * (kith_boundary). A net charge is neutralised by a uniform background; of masses this subtracts
 * the mean density. In a cell that is periodic along a and b alone, a slab, the images are those of
 * two dimensions; nothing is then neutralised (Yeh & Berkowitz 1999; Ballenegger, Arnold & Cerdà
 * 2009). The parts of the sum are cut off for the error that is requested (kith_accuracy; 1e-12, in
 * float 1e-6, if none is) by the estimates of Kolafa & Perram (1992). Without softening, and
 * without targets of their own. Cost: O(n^{3/2}). pme has the smooth part of the sum on a grid
 * (Hockney & Eastwood 1988; Essmann et al. 1995), with splines of order 4 to 8 and FFTW: an error
 * of 1e-4 unless one is requested, at least 1e-11 (float 1e-6), and O(n log n).
 *
 *   context       where to compute
 *   options       NULL for G = 1, ε = 0
 *   targets       n particles; NULL: the sources themselves
 *   sources       m particles, n × 2 or n × 3
 *   acceleration  [out] n × 2 or n × 3, or none
 *   potential     [out] n, or none; the only output of KITH_FORCES_SUM_VALUE
 *
 * The targets are the sources also where their positions are absent or the same view of the same
 * memory. They then have the sources' columns; a column q of their own is that with which they feel
 * the sources. Targets that are not the sources need no masses but with a law other than gravity,
 * and have a column softening if and only if the sources have one.
 *
 * All arrays have one dtype and are on one device; outputs must not overlap inputs. Units: any
 * consistent ones.
 *
 * Arrays on the host serve every context, and are copied to the device and back if it has one; the
 * call then returns when the results are there. Arrays on a CUDA device are computed on there, by a
 * context on that device, and nothing is copied or waited for: the call returns when the work is on
 * the context's stream. So a number that is not finite is found after the return: all results are
 * then NaN, and kith_context_synchronize gives the error. A second call with the same sizes
 * allocates nothing and can be captured in a CUDA graph, which may be replayed, with other numbers
 * in the same arrays, as long as the context lives. The solvers tree and fmm wait for the device,
 * and are refused in a capture.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices, names of columns, log2d and positions
 * that are not n × 2, ε < 0, a cutoff < 0, missing in a periodic cell or not taken by the solver,
 * periodic vectors that are linearly dependent, a shift or a tail that the law does not support, a
 * number that is not finite, or a mass that is not greater than 0 where it must be: the message
 * names the row; G, or accelerations, where there are none; a first call, or arrays on the host,
 * while the stream is being captured), KITH_UNSUPPORTED (arrays on a device and a context on the
 * CPU, or a solver that computes on the host; a formula, and no compiler; a solver or a method that
 * the device does not support, or not for these arguments), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 *
 * Cost: n·m pairs, O(n + m) memory, kept by the context for the next call; with a cutoff O(n + m +
 * pairs).
 *
 * Error: relative, in the norm over all bodies: 1e-6 in float, 1e-14·√m in double; where
 * pulls cancel, and with a law, of the sums of their magnitudes (with a law, times the error of a
 * pair, kith/law.h). In float up to 4e-6 where many pulls are equal, as of bodies on a lattice, or
 * where a body is close to another and most others on one side. Bodies lighter than 1e-280 (float:
 * 1e-20) of the heaviest lose digits of their pull.
 *
 * Bits: the same on every run and for every number of threads; on a device, the same for arrays on
 * the host and for arrays there, of any strides. */
KITH_API kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                         const kith_particles *targets,
                                         const kith_particles *sources, kith_array acceleration,
                                         kith_array potential);

/* How the results of kith_forces_compute change when bodies are displaced: their derivatives along
 * one direction a body. If x_i of a target moves with the velocity v_i, and x_j of a source with
 * w_j, then with u = w_j − v_i
 *
 *     Da_i = G Σ_j m_j [u / s³ − 3 (d·u) d / s⁵]      d = x_j − x_i, s² = |d|² + ε²
 *     Dφ_i = G Σ_j m_j d·u / s³
 *
 * and by another law, or with sum KITH_FORCES_SUM_VALUE,
 *
 *     Da_i = Σ_j (∂F_ij/∂d) u / m_i
 *     Dφ_i = Σ_j F_ij · u
 *
 * If the targets are the sources, v = w, and V(i, j) = V(j, i), then −m_i Da_i is row i of H v, H
 * the matrix of second derivatives of the energy (½ Σ m_i φ_i of gravity, else ½ Σ φ_i) by the
 * positions: a Hessian-vector product. Which pairs contribute is said at kith_forces_compute.
 *
 *   context                  where to compute
 *   options                  as of kith_forces_compute; method AUTO or DIRECT
 *   targets, sources         as of kith_forces_compute
 *   target_directions        n × 2 or n × 3, v; none: w if the targets are the sources, else zeros
 *   source_directions        m × 2 or m × 3, w; none: zeros. One of the two must be given
 *   acceleration_derivative  [out] n × 2 or n × 3, or none
 *   potential_derivative     [out] n, or none
 *
 * Arrays are of any strides, on the devices and of the dtypes that kith_forces_compute says; so are
 * results on a device, and what is found there after the return. Directions have any unit, and
 * are not scaled: in float their magnitudes must be between about 1e-10 and 1e30.
 *
 * Errors: those of kith_forces_compute; KITH_INVALID_ARGUMENT also where no directions are given,
 *         and for a formula too long for its second derivatives; KITH_UNSUPPORTED for other
 * methods.
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
