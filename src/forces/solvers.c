/* The table of force solvers. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/context.h"
#include "forces/excluded.h"
#include "forces/solver.h"
#include "forces/space.h"
#include "tree/expansion.h"

static const kith_solver *const solvers[] = {
    &forces_solver_direct, &forces_solver_reference, &forces_solver_tree, &forces_solver_fmm,
    &forces_solver_cutoff, &forces_solver_ewald,     &forces_solver_pme,
};
enum { solver_count = sizeof solvers / sizeof solvers[0] };

const kith_solver *kith_solver_at(int64_t k)
{
    return k >= 0 && k < solver_count ? solvers[k] : NULL;
}

kith_solver_info kith_solver_describe(const kith_solver *solver)
{
    const kith_solver *chosen = solver ? solver : solvers[0];
    return (kith_solver_info){chosen->name, chosen->summary, chosen->is_periodic};
}

kith_status kith_solver_find(const char *name, const kith_solver **solver)
{
    if (!solver)
        return kith_fail(KITH_INVALID_ARGUMENT, "solver is NULL; give an address for it");
    *solver = NULL;
    if (!name || strcmp(name, "auto") == 0)
        return KITH_OK;
    char names[256] = "auto";
    size_t used = strlen(names);
    for (int32_t k = 0; k < solver_count; k++) {
        if (strcmp(name, solvers[k]->name) == 0) {
            *solver = solvers[k];
            return KITH_OK;
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, ", %s", solvers[k]->name);
    }
    return kith_fail(KITH_INVALID_ARGUMENT, "solver is '%.60s'; it must be one of %s", name, names);
}

static kith_status check_accuracy(const kith_accuracy *accuracy)
{
    const double error = accuracy->error, theta = accuracy->theta;
    if (!isfinite(error) || error < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "error is %g; it must be greater than 0, or 0 for none", error);
    if (!(theta >= 0 && theta < 1))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "theta is %g; it must be greater than 0 and less than 1, or 0 for none",
                         theta);
    if (error > 0 && theta > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "error is %g and theta is %g; give one of them",
                         error, theta);
    if (accuracy->order < 0 || accuracy->order > expansion_max_full)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "order is %d; it must be 1 to %d, or 0 for the best", (int)accuracy->order,
                         (int)expansion_max_full);
    return KITH_OK;
}

kith_status forces_choose_solver(const kith_forces_options *options, const kith_solver **solver)
{
    const kith_forces_method method = options->method;
    if ((unsigned)method > KITH_FORCES_TENSOR)
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_forces_method",
                         (int)method);
    KITH_TRY(check_accuracy(&options->accuracy));
    const bool approximates = options->accuracy.error > 0 || options->accuracy.theta > 0;
    *solver = options->solver                              ? options->solver
              : options->cutoff > 0                        ? &forces_solver_cutoff
              : approximates && method == KITH_FORCES_AUTO ? &forces_solver_auto
                                                           : solvers[0];
    if (method != KITH_FORCES_AUTO && *solver != &forces_solver_direct)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "method is given, but only the solver direct has methods, and solver is %s; leave the "
            "method out",
            (*solver)->name);
    return forces_check_space(options, *solver);
}

void forces_forget(kith_context *context, const struct kith_solver *solver, void **prepared)
{
    if (*prepared)
        solver->free(context, *prepared);
    *prepared = NULL;
}

static bool divides_its_work(const struct kith_solver *solver)
{
    return solver == &forces_solver_direct || solver == &forces_solver_tree ||
           solver == &forces_solver_fmm || solver == &forces_solver_auto ||
           solver == &forces_solver_cutoff;
}

kith_status forces_check_suits(const kith_context *context, const struct kith_solver *solver,
                               const struct forces_problem *problem)
{
    if (context->ranks && !divides_its_work(solver))
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which runs in one process, but this job has several "
                         "(MPI); use direct, tree, fmm or cutoff, or one process",
                         solver->name);
    if (context->ranks && problem->system_count > 0)
        return kith_fail(
            KITH_UNSUPPORTED,
            "there are %lld systems, which run in one process, but this job has several (MPI); "
            "use one process",
            (long long)problem->system_count);
    KITH_TRY(excluded_check(problem->space.exclusions, solver, problem->space.cutoff));
    return solver->suits(context, problem);
}

kith_status forces_solve(kith_context *context, const struct kith_solver *solver,
                         const struct forces_problem *problem)
{
    void *prepared = NULL;
    KITH_TRY(forces_check_suits(context, solver, problem));
    const kith_status status = forces_evaluate(context, solver, problem, &prepared);
    forces_forget(context, solver, &prepared);
    return status;
}
