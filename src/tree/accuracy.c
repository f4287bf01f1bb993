/* Orders, leaves and tolerances for a requested error. */

#include "tree/accuracy.h"

#include <math.h>

#include "device/context.h"
#include "tree/expansion_kernel.h"
#include "tree/solve.h"

/* How the estimates of tree/acceptance.h compare with the error of the sum: measured, so that it is
 * kept by all distributions of tests/test_tree_accuracy.c. */
static const double share = 0.6, share_of_groups = 2, coherent = 20;

/* Cubic lattices have no multipoles of degree 1, 2 and 3, which would stand for their error. In
 * single precision higher orders round off more than they add. */
enum { least_order = 4, default_order = 4, most_order_of_float = 10 };

/* From order 16 on, clusters within a softening had a thousand times the error in double. */
enum { most_order_of_softened = 14 };

double tree_least_error(kith_dtype dtype)
{
    return dtype == KITH_F64 ? 1e-13 : 3e-6;
}

/* The order that takes least time for an error of 10^−digits: from there on each further one saves
 * less than it costs. */
static int32_t order_for(const struct tree_problem *problem, bool groups, double error)
{
    const bool is_softened = problem->softening2 > 0 && problem->dimensions == 3;
    const int32_t most = problem->dtype == KITH_F32 ? most_order_of_float
                         : is_softened              ? most_order_of_softened
                                                    : expansion_max_order;
    const double digits = -log10(error);
    const double order = groups ? 1 + digits : digits < 7 ? 1 + 2 * digits : 8 + digits;
    return (int32_t)fmin(fmax(round(order), least_order), most);
}

/* Points of a leaf: the dearer the expansions, the more are summed directly. */
static int32_t leaf_for(int32_t order)
{
    return order <= 6 ? 64 : order <= 8 ? 96 : order <= 15 ? 128 : 192;
}

struct tree_request tree_choose(const struct tree_problem *problem,
                                const struct tree_request *request)
{
    struct tree_request chosen = *request;
    if (chosen.error == 0 && chosen.theta == 0)
        chosen.error = TREE_DEFAULT_ERROR;
    if (chosen.order == 0)
        chosen.order =
            chosen.error > 0 ? order_for(problem, chosen.groups, chosen.error) : default_order;
    if (chosen.theta == 0)
        chosen.theta = TREE_MOST_THETA;
    if (chosen.leaf == 0)
        chosen.leaf = leaf_for(chosen.order);
    return chosen;
}

struct tree_rule tree_rule_for(const struct tree_problem *problem,
                               const struct tree_request *request)
{
    return (struct tree_rule){
        .walk = request->groups ? tree_walk_groups
                : problem->self ? tree_walk_mutual
                                : tree_walk_one_way,
        .order = request->error > 0 ? request->order : 0,
        .logarithm = problem->law == expansion_logarithm,
        .theta = request->theta,
        .share = (request->groups ? share_of_groups : share) * request->error,
        .coherent = coherent * request->error,
    };
}

double tree_estimate_error(const struct tree_request *request)
{
    const double of_fmm = 0.25, of_groups = 0.02; /* measured, within a factor of ten */
    if (request->error > 0)
        return request->error;
    return (request->groups ? of_groups : of_fmm) * pow(request->theta, request->order + 2);
}

const struct expansion_operators *tree_operators(const kith_context *context, kith_dtype dtype)
{
#define ADDRESS(isa) &expansion_##isa,
    static const struct expansion_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct expansion_kernels *kernels = each_isa[context->isa];
    return dtype == KITH_F64 ? &kernels->in_double : &kernels->in_float;
}

double tree_seconds(const kith_context *context, const struct tree_problem *problem,
                    const struct tree_request *request)
{
    /* Measured on Plummer models with AVX-512; of a source, of a target and order². */
    const double seconds_of_call = 1e-4, seconds_of_source = 0.25e-6, seconds_of_vector = 0.4e-6;
    const double lanes =
        (double)tree_near_kernels_of(context)->bytes / (double)kith_dtype_bytes(problem->dtype);
    const double of_basis = problem->dimensions == 2 ? 0.5 : problem->softening2 > 0 ? 1.5 : 1;
    const double of_target = of_basis * seconds_of_vector / lanes * request->order * request->order;
    return seconds_of_call + seconds_of_source * (double)problem->source_count +
           of_target * (double)problem->target_count;
}
