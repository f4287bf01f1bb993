/* Orders, leaves and tolerances for a requested error. */

#include "tree/accuracy.h"

#include <math.h>

#include "device/context.h"
#include "tree/solve.h"

/* How the estimates of tree/acceptance.h compare with the error of the sum: measured, so that it is
 * kept by all distributions of tests/tree/test_tree_accuracy.c. */
static const double share = 0.6, share_of_groups = 1.5, share_of_points = 0.4;

/* What the expansion of a cell may leave out of the field of a far one's weight, as multiples of
 * the requested error: at the point that is farthest from its center, and as the rms over its
 * points, as the error falls by p powers of the distance from the center: √(3 / (2 p + 3)) times as
 * much. */
static const double most_error = 30, most_rms_error = 10;

/* What M2L of a lower order may leave out, of the bound of a pair. */
static const double part_of_lower_orders = 0.3;

/* Of other laws: tests/tree/test_tree_laws.c. Low orders, as a GPU takes, need less below some
 * error: for points within the length of a law one body of a hundred had four times the error. */
static const double part_of_any_law = 0.5, part_of_low_orders = 0.25, error_of_low_orders = 3e-6,
                    coherent = 15;

/* Cubic lattices have no multipoles of degree 1, 2 and 3, which would estimate their error. In
 * single precision higher orders round off more than they add: of laws by series order 10 had twice
 * the requested error of 1e-5 on nested clusters. */
enum {
    least_order = 4,
    default_order = 4,
    most_order_of_float = 10,
    most_order_of_float_series = 9
};

/* From order 15 on, clusters within a softening, or within the length of a law, had up to a
 * thousand times the error in double. */
enum { most_order_of_full = 14 };

/* Groups on the CPU have cells that act as points down to this error, which is found from
 * multipoles of the default order. */
static const double least_error_of_points = 1e-6;

double tree_least_error(kith_dtype dtype)
{
    return dtype == KITH_F64 ? 1e-13 : 3e-6;
}

static bool is_full(const struct tree_problem *problem)
{
    return problem->dimensions == 3 &&
           (problem->softening2 > 0 || problem->law == expansion_series);
}

static int32_t most_order(const struct tree_problem *problem)
{
    if (problem->dtype == KITH_F32)
        return problem->law == expansion_series ? most_order_of_float_series : most_order_of_float;
    if (tree_basis_for(problem) == expansion_harmonic)
        return expansion_max_order;
    return is_full(problem) ? most_order_of_full : expansion_max_full;
}

/* The order that takes least time for an error of 10^−digits: from there on each further one saves
 * less than it costs. */
static int32_t order_for(const struct tree_problem *problem, bool groups, double error)
{
    const int32_t most = most_order(problem);
    const double digits = -log10(error), by_digits = digits < 6 ? 2 + 2 * digits : 8 + digits;
    const bool by_rotations =
        tree_basis_for(problem) == expansion_harmonic && problem->dtype == KITH_F64 && digits > 3.5;
    /* In single precision M2L is a small part of the time. */
    const int32_t more = problem->dtype == KITH_F32 || digits > 4.5 ? 1 : 0;
    const double order = groups             ? 1 + digits
                         : by_rotations     ? 6 + 2 * digits
                         : is_full(problem) ? by_digits - 1
                                            : by_digits + more;
    return (int32_t)fmin(fmax(round(order), least_order), most);
}

/* Points of a leaf: the dearer the expansions, the more are summed directly. */
static int32_t leaf_for(const struct tree_problem *problem, const struct tree_request *request)
{
    const int32_t least = problem->dtype == KITH_F64 && !request->points ? 64 : 112;
    return request->order <= 8 ? least : 128;
}

enum { order_of_rotations = 12 };

/* The same of a GPU, where M2L is fast up to some order (tree/m2l_cuda.cu), and at orders 12 and 14
 * in double precision, by rotations (tree/rotate_cuda.cu). */
static int32_t order_for_cuda(const struct tree_problem *problem, bool groups, double error)
{
    const double digits = -log10(error);
    const bool is_harmonic = problem->dimensions == 3 && !is_full(problem);
    if (!groups && is_harmonic && problem->dtype == KITH_F64 && digits > 4.5 && digits < 7.5)
        return order_of_rotations;
    const double fast = is_full(problem) ? 6 : 8, more = is_harmonic ? 2 : 0;
    const double of_fmm = digits < 7.5 ? fmin(2 * digits + more, fast) : 2 * digits - 2;
    const double order = 2 * round(0.5 * (groups ? 1 + digits : of_fmm));
    const int32_t most = most_order(problem);
    return (int32_t)fmin(fmax(order, least_order), fmin(most, expansion_max_full));
}

/* Small leaves where pairs of points take the longest, and where few points leave a GPU waiting for
 * its largest leaves. */
static int32_t leaf_for_cuda(const struct tree_problem *problem, const struct tree_request *request)
{
    const int64_t few = 300000;
    const double small_error = 3e-5;
    const bool has_few = !request->groups && problem->source_count < few;
    const bool is_exact = !request->groups && request->error > 0 && request->error < small_error;
    const int32_t of_low_orders = has_few || is_exact ? 64 : 96;
    return request->order <= 8 ? of_low_orders : request->order <= 10 ? 128 : 192;
}

static struct tree_request
choose(const struct tree_problem *problem, const struct tree_request *request,
       int32_t (*order)(const struct tree_problem *problem, bool groups, double error),
       int32_t (*leaf)(const struct tree_problem *problem, const struct tree_request *request))
{
    struct tree_request chosen = *request;
    if (chosen.error == 0 && chosen.theta == 0)
        chosen.error = TREE_DEFAULT_ERROR;
    if (chosen.order == 0)
        chosen.order =
            chosen.error > 0 ? order(problem, chosen.groups, chosen.error) : default_order;
    if (chosen.theta == 0)
        chosen.theta = TREE_MOST_THETA;
    if (chosen.leaf == 0)
        chosen.leaf = leaf(problem, &chosen);
    return chosen;
}

struct tree_request tree_choose(const struct tree_problem *problem,
                                const struct tree_request *request)
{
    struct tree_request wanted = *request;
    const bool is_exact = request->error > 0 && request->error < least_error_of_points;
    wanted.points = request->groups && problem->law != expansion_series &&
                    (problem->source_half_softening2 ||
                     (request->theta == 0 && request->order == 0 && !is_exact));
    if (wanted.points)
        wanted.order = default_order;
    return choose(problem, &wanted, order_for, leaf_for);
}

struct tree_request tree_choose_cuda(const struct tree_problem *problem,
                                     const struct tree_request *request)
{
    return choose(problem, request, order_for_cuda, leaf_for_cuda);
}

static double part_of_law(const struct tree_problem *problem, const struct tree_request *request)
{
    const bool is_low = request->order <= 8 && request->error < error_of_low_orders;
    if (problem->law != expansion_series)
        return 1;
    return is_low ? part_of_low_orders : part_of_any_law;
}

bool tree_has_solid(const struct tree_problem *problem, const struct tree_request *request)
{
    const int32_t least = 9;
    return problem->dtype == KITH_F64 && !request->groups && request->order >= least &&
           tree_basis_for(problem) == expansion_harmonic;
}

enum expansion_basis tree_basis_for(const struct tree_problem *problem)
{
    const bool is_harmonic = problem->softening2 == 0 && problem->law == expansion_inverse;
    return problem->dimensions == 2 ? expansion_plane
           : is_harmonic            ? expansion_harmonic
                                    : expansion_full;
}

/* The largest ρ_B / r of tree/acceptance.h: the root of u^p (p + 1 + p u) = limit. */
static double angle_for(int32_t order, double error)
{
    const double limit = error * fmin(most_error, most_rms_error * sqrt((2 * order + 3) / 3.0));
    const int steps = 20; /* of which each divides the error of u by more than p */
    double u = TREE_MOST_THETA;
    for (int k = 0; k < steps; k++)
        u = pow(limit / (order + 1 + order * u), 1.0 / order);
    return u;
}

bool tree_has_orders(const struct tree_problem *problem, const struct tree_request *request)
{
    return tree_has_solid(problem, request) && request->error > 0;
}

void tree_make_orders(const struct tree_request *request, struct tree_orders *orders)
{
    const int32_t p = request->order;
    orders->part = part_of_lower_orders;
    orders->least = least_order + p % 2;
    for (int32_t q = orders->least; q < p; q += 2) {
        double ratio = 1;
        orders->angle[q] = angle_for(q, request->error);
        for (int32_t k = 0; k <= q; k++) {
            orders->ratio[q][k] = ratio;
            ratio *= (double)(q - k) / (p - k);
        }
    }
}

struct tree_rule tree_rule_for(const struct tree_problem *problem,
                               const struct tree_request *request)
{
    const double part = part_of_law(problem, request);
    const double of_groups = request->points ? share_of_points : share_of_groups;
    const int32_t order = request->error == 0 ? 0 : request->points ? 2 : request->order;
    return (struct tree_rule){
        .walk = request->groups ? tree_walk_groups
                : problem->self ? tree_walk_mutual
                                : tree_walk_one_way,
        .order = order,
        .points = request->points,
        .softening2 = problem->softening2,
        .logarithm = problem->law == expansion_logarithm,
        .theta = request->theta,
        .share = part * (request->groups ? of_groups : share) * request->error,
        .angle = order > 0 ? angle_for(order, request->error) : 1,
        .coherent = coherent * request->error,
    };
}

struct tree_report tree_report_of(const struct tree_problem *problem,
                                  const struct tree_request *request,
                                  const struct tree_counts *counts, int64_t cells)
{
    const double targets = problem->target_count > 0 ? (double)problem->target_count : 1;
    return (struct tree_report){
        .order = request->points ? 1 : request->order,
        .leaf = request->leaf,
        .theta = request->theta,
        .error_requested = request->error,
        .near_per_target = (double)counts->near_pairs / targets,
        .far_per_target = (double)counts->far / targets,
        .cells = cells,
    };
}

double tree_seconds(const kith_context *context, const struct tree_problem *problem,
                    const struct tree_request *request)
{
    /* Measured on Plummer models with AVX-512; of a source, of a target and order². */
    const double seconds_of_call = 1e-4, seconds_of_source = 0.3e-6, seconds_of_vector = 0.15e-6;
    const double seconds_of_orders = 5.7e-9; /* of order³, where pairs have their own orders */
    const double lanes = (double)tree_near_kernels_of(context, problem->dtype)->lanes;
    const double of_basis = problem->dimensions == 2 ? 0.5 : is_full(problem) ? 1.5 : 1;
    const double by_order = tree_has_orders(problem, request) ? seconds_of_orders * request->order
                                                              : of_basis * seconds_of_vector;
    const double of_target = by_order / lanes * request->order * request->order;
    return seconds_of_call + seconds_of_source * (double)problem->source_count +
           of_target * (double)problem->target_count;
}

double tree_seconds_cuda(const struct tree_problem *problem, const struct tree_request *request)
{
    /* Measured on Plummer models of 10⁵ to 10⁷ points by errors of 1e-3 to 1e-7. What does not grow
     * with them is the longest chain of a tree of eleven generations: of making its cells 0.08 ms,
     * of their spheres 0.05, of the walks for the field and the lists 0.12 and 0.14, of sums up and
     * down 0.1; and 20 short kernels and three waits of the host, 0.2. */
    const double seconds_of_call = 0.7e-3, digits = request->error > 0 ? -log10(request->error) : 3;
    const double of_dtype = problem->dtype == KITH_F64 ? 2 : 1;
    const double of_law = problem->law == expansion_series ? 14 : 1; /* by yukawa:0.5 */
    const double of_point = 4.5e-9 * of_dtype * of_law * pow(1.7, digits - 3);
    return seconds_of_call + of_point * (double)problem->target_count;
}
