#ifndef TESTS_TREE_ON_CPU_H
#define TESTS_TREE_ON_CPU_H

/* Trees on the CPU, and the errors of their sums. */

#include "tree/solve.h"
#include "tree_errors.h"

static inline kith_context *context_with(int32_t threads)
{
    kith_context *context = NULL;
    assert_ok(kith_context_create(
        &(kith_context_options){.device = {KITH_CPU, 0}, .threads = threads}, &context));
    return context;
}

static inline struct errors solve(kith_context *context, const struct tree_problem *problem,
                                  const struct direct_sum *exact, const struct tree_request *wanted,
                                  struct tree_state *state)
{
    const struct tree_request request = tree_choose(problem, wanted);
    static struct tree_results results;
    assert_ok(tree_solve_cpu(context, problem, &request, state));
    for (int64_t k = 0; k < problem->target_count; k++) {
        const int64_t i = state->target_tree->order[k];
        results.potential[i] = at(problem->dtype, state->potential, k);
        for (int c = 0; c < 3; c++)
            results.gradient[i][c] =
                c < problem->dimensions ? at(problem->dtype, state->gradient[c], k) : 0;
    }
    return errors_of(problem, exact, &results);
}

#endif
