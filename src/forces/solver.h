#ifndef FORCES_SOLVER_H
#define FORCES_SOLVER_H

#include "core/status.h"
#include "forces/problem.h"
#include "kith/context.h"
#include "kith/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether diagnostics may take the potentials that a simulation's forces come with, and what these
 * add to the accelerations: in double precision they must have the bits of an evaluation for the
 * diagnostics alone, in single precision keep the error that was requested. */
enum solver_potentials {
    other_potentials, /* they may not, or the accelerations may have other bits with them */
    added_potentials, /* time; the accelerations have the same bits */
    free_potentials   /* nothing */
};

/* A force solver: one file and one row in solvers.c. kith_forces_compute, simulations and their
 * diagnostics call it through this struct alone, with a problem in the memory of the context's
 * device, or in the host's if on_host.
 *
 * suits    KITH_OK, or KITH_UNSUPPORTED with the reason why this solver does not support the
 * problem. It inspects which columns and outputs the problem has, not their content, and is called
 * once before any prepare. prepare  Builds in *prepared data that can be kept from call to call (a
 * tree, cells, a mesh). It is called before each evaluate, with NULL at first and then with its
 * previous result for the same bodies, which it keeps, or rebuilds if they have moved too far.
 * NULL: nothing is kept. evaluate Fills in the problem's outputs, or adds to them if
 * problem->accumulate. free     Frees what prepare made; not called for NULL. potentials
 * Those of such a problem; NULL: other_potentials. */
struct kith_solver {
    const char *name, *summary;
    bool is_periodic; /* takes a periodic cell, and nothing but one */
    bool has_cutoff;  /* takes a cutoff, and any cell */
    bool on_host; /* supports only problems in host memory and double precision, with every context
                   */
    kith_status (*suits)(const kith_context *context, const struct forces_problem *problem);
    kith_status (*prepare)(kith_context *context, const struct forces_problem *problem,
                           void **prepared);
    kith_status (*evaluate)(kith_context *context, void *prepared,
                            const struct forces_problem *problem);
    void (*free)(kith_context *context, void *prepared);
    enum solver_potentials (*potentials)(const kith_context *context,
                                         const struct forces_problem *problem);
};

extern const struct kith_solver forces_solver_direct, forces_solver_reference, forces_solver_tree,
    forces_solver_fmm, forces_solver_cutoff, forces_solver_ewald, forces_solver_pme;
extern const struct kith_solver forces_solver_auto; /* not of the table */

/* The solver of the options; checks that their method belongs to it.
 * Errors: KITH_INVALID_ARGUMENT (an unknown method, or of another solver). */
kith_status forces_choose_solver(const kith_forces_options *options, const kith_solver **solver);

/* suits; in a job of several ranks also checks that the solver divides its work. */
kith_status forces_check_suits(const kith_context *context, const struct kith_solver *solver,
                               const struct forces_problem *problem);

/* prepare, if there is one, and evaluate. */
static inline kith_status forces_evaluate(kith_context *context, const struct kith_solver *solver,
                                          const struct forces_problem *problem, void **prepared)
{
    if (solver->prepare)
        KITH_TRY(solver->prepare(context, problem, prepared));
    return solver->evaluate(context, *prepared, problem);
}

/* Frees what was prepared, if anything was. */
void forces_forget(kith_context *context, const struct kith_solver *solver, void **prepared);

/* A problem that is solved once: suits, prepare, evaluate and free. */
kith_status forces_solve(kith_context *context, const struct kith_solver *solver,
                         const struct forces_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
