/* The solvers tree and fmm on a GPU: the tree's results in the order and units of the problem. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_state.h"
#include "device/reals_cuda.cuh"
#include "forces/deliver_cuda.cuh"
#include "forces/tree_sums.h"
#include "tree/solve_cuda.h"

enum { threads = 256 };

static kith_status prepare(void **state)
{
    return kith_allocate(1, sizeof(struct tree_state_cuda), "a tree", state);
}

static void forget(kith_context *context, void *state)
{
    tree_free_cuda(context, (struct tree_state_cuda *)state);
    free(state);
}

/* Writes a sum to its output, or adds it. */
template <typename real>
static __device__ inline void put(const struct forces_problem &problem, int64_t i, int value,
                                  double sum)
{
    real *column = (real *)(value < 3 ? problem.acceleration[value] : problem.potential);
    const real before = column && problem.accumulate ? column[i] : (real)0;
    deliver<real>(problem, i, value, sum);
    if (column && problem.accumulate)
        column[i] += before;
}

/* A target a thread; strength is −1 for gravity, as deliver knows G and turns the sign of
 * potentials. order NULL: there was nothing to sum. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    deliver_sums(const struct forces_problem problem, double strength, const void *weights,
                 const uint32_t *order, const real4_of<real> *results)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k >= problem.target_count)
        return;
    const int64_t i = order ? order[k] : k;
    const real4_of<real> result = order ? results[k] : real4_of<real>{0, 0, 0, 0};
    const double weight = weights ? (double)((const real *)weights)[i] : 1.0;
    const double of_potential = -strength * weight;
    const double of_gradient =
        problem.law ? of_potential / (double)((const real *)problem.target_mass)[i] : of_potential;
    put<real>(problem, i, 0, of_gradient * (double)result.x);
    put<real>(problem, i, 1, of_gradient * (double)result.y);
    if (problem.dimensions == 3)
        put<real>(problem, i, 2, of_gradient * (double)result.z);
    put<real>(problem, i, 3, of_potential * (double)result.w);
}

template <typename real>
static kith_status deliver_all(kith_context *context, const struct forces_tree_sums *sums,
                               const struct tree_state_cuda *tree)
{
    const struct forces_problem *problem = sums->problem;
    const double strength = problem->law ? sums->weights.strength : -1;
    const bool is_solved = problem->source_count > 0 && tree->target_tree;
    const int64_t blocks = (problem->target_count + threads - 1) / threads;
    if (blocks == 0)
        return KITH_OK;
    deliver_sums<real><<<(unsigned)blocks, threads, 0, cuda_stream(context)>>>(
        *problem, strength, sums->weights.target, is_solved ? tree->target_tree->order : NULL,
        (const real4_of<real> *)tree->results.memory);
    return cuda_check_launch("bringing results to their places");
}

/* Whether the numbers are good, and ε²: both may be in the device's memory. */
static kith_status find_softening(kith_context *context, const struct forces_problem *problem,
                                  double *softening2, bool *good)
{
    struct forces_measured measured = {};
    *good = true;
    if (problem->delivery.measured) {
        KITH_TRY(cuda_copy_out(context, &measured, problem->delivery.measured, sizeof measured));
        *good = !measured.bad;
    }
    if (problem->softening2_at)
        KITH_TRY(cuda_copy_out(context, softening2, problem->softening2_at, sizeof *softening2));
    return KITH_OK;
}

static kith_status evaluate(kith_context *context, const struct forces_tree_sums *sums, void *state,
                            struct tree_report *report)
{
    struct tree_state_cuda *tree = (struct tree_state_cuda *)state;
    struct tree_problem problem = sums->sums;
    bool good = true;
    KITH_TRY(tree_check_stream_cuda(context));
    KITH_TRY(find_softening(context, sums->problem, &problem.softening2, &good));
    const struct tree_request request = tree_choose_cuda(&problem, &sums->wanted);
    tree->target_tree = NULL; /* of a solution that does not come about */
    tree->report = {};
    if (good)
        KITH_TRY(tree_solve_cuda(context, &problem, &request, tree));
    *report = tree->report;
    return problem.dtype == KITH_F64 ? deliver_all<double>(context, sums, tree)
                                     : deliver_all<float>(context, sums, tree);
}

extern "C" const struct forces_tree_backend forces_tree_cuda = {prepare, evaluate, forget};
