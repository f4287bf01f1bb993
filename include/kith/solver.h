#ifndef KITH_SOLVER_H
#define KITH_SOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A force solver: an algorithm for the sum over pairs. The library has a table of solvers; the
 * options of kith/forces.h and kith/simulation.h select one. */
typedef struct kith_solver kith_solver;

/* The accuracy of a solver that approximates far pairs; all zero: its default. */
typedef struct kith_accuracy {
    /* The rms over the targets of |Δa_i| / max(|a_i|, 0.1 Σ_j |a_ij|), and of the error of the
     * potential over Σ_j |φ_ij|, for the law log2d Σ_j |k q_i q_j| max(1, |ln s|); > 0, or 0: not
     * given. For ewald and pme: the rms of the error of the forces over their rms, or where they
     * vanish (as in a crystal) over a tenth of the force of two particles at the mean distance,
     * 0.1 k <w²> n^{2/3}, with n particles per unit volume and the mean square weight <w²>; of
     * lennard-jones 0.1 · 24 ε σ⁶ n^{7/3}. */
    double error;
    double theta;  /* instead of an error: opening angle, (0, 1); 0: not given */
    int32_t order; /* of the expansions, 1 to 20; 0: chosen */
} kith_accuracy;

/* What a solver chose and did. Members that do not apply to it are 0. */
typedef struct kith_solver_report {
    const kith_solver *solver;
    int32_t order, leaf;                     /* of the expansions; bodies of a leaf of the tree */
    double theta;                            /* largest opening angle */
    double error_requested, error_estimated; /* by tree and fmm: of a sample (docs/tree.md) */
    double p2p_per_body, m2l_per_body;       /* pairs of bodies and of cells per target */
    double cutoff, alpha;                    /* of ewald and pme (kith_ewald) */
    int32_t grid[3];                         /* of pme; order is that of its splines */
    double prepare_seconds;                  /* of pme: time to choose its settings */
} kith_solver_report;

/* A solver that is expected to be much faster than the direct sum. */
typedef struct kith_solver_advice {
    const kith_solver *solver;
    double error;          /* the kith_accuracy.error assumed */
    double seconds;        /* expected for one evaluation of the forces, within a factor of three */
    double direct_seconds; /* likewise, of the direct sum */
} kith_solver_advice;

typedef void kith_advise(void *user, const kith_solver_advice *advice);

typedef struct kith_solver_info {
    const char *name;    /* "direct" */
    const char *summary; /* one line */
    bool is_periodic;    /* requires a periodic cell */
} kith_solver_info;

/* Row k of the table of solvers, from 0, the default first; NULL past its end. Static memory. */
KITH_API const kith_solver *kith_solver_at(int64_t k);

/* The solver with a given name.
 *
 *   name    of the table; NULL or "auto": chosen, direct unless an accuracy is given
 *   solver  [out] static memory; NULL for auto, and on failure
 *
 * Errors: KITH_INVALID_ARGUMENT (unknown name: the message lists the known ones). */
KITH_API kith_status kith_solver_find(const char *name, const kith_solver **solver);

/* The description of a solver; NULL selects the default. */
KITH_API kith_solver_info kith_solver_describe(const kith_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
