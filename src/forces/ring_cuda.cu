/* Symmetric all-pairs forces on the GPU: chooses a variant. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/ring_gravity_cuda.cuh"
#include "forces/ring_launch_cuda.cuh"

/* Targets of a lane, warps of a block, groups of sources between two barriers, blocks of a
 * multiprocessor: the fastest of those tried on an H200 (nvcc 13.0), in Tflop/s.
 *
 *     float            16 384   65 536  262 144      double          16 384   65 536  131 072
 *      4,  4, 1, 8       43.7     48.8     49.4      4, 8, 2, 1        23.3     25.6     26.3
 *      8,  4, 1, 5       41.9     50.0     50.9      6, 8, 2, 1        22.9     26.6     26.9
 *      8,  8, 1, 2       41.9     51.2     52.8      8, 8, 2, 1        23.0     27.1     27.5
 *      8,  8, 2, 2       42.0     57.3     58.8
 *      8, 16, 2, 1       43.3     57.3     60.3      float, with potential
 *     12,  8, 1, 2       35.7     53.8     58.5      8, 8, 1, 2        33.5     40.5     41.5
 *     12, 16, 1, 1       33.0     53.2     59.7      6, 8, 2, 2        35.5     42.2     43.4
 *
 * Later, of whole calls with other forms of the loop, in Tflop/s:
 *
 *     float                     8704   16 384   32 768   65 536  131 072  262 144  1 048 576
 *      8,  4, 1, 4              26.9     42.3     51.9     54.6
 *      8, 16, 2, 1, forces      15.6     40.0     52.5     59.0     61.8     62.9     63.5
 *     14, 12, 2, 1, forces                                          59.1     62.9     63.8
 *     16, 12, 2, 1, forces                                          58.6     62.9     64.7
 *
 * With sums flushed each 512 or 1024 sources, by kernel times, twice:
 *
 *     float                   12 288       16 384       20 480       24 576       32 768
 *      8,  4, 1, 4          40.5, 40.5   43.9, 43.9   48.1, 48.0
 *      8,  4, 1, 3          41.2, 41.0   47.0, 46.6   50.1, 49.8   52.1, 51.8   52.8, 52.6
 *      8,  4, 1, 3, forces  38.7, 39.2   45.2, 45.4   48.5, 49.0   50.9, 51.2   52.5, 53.4
 *      8,  2, 1, 6          42.7, 42.7   46.7, 46.6   49.0, 49.0   50.8, 50.8   51.5, 52.5
 *      8, 16, 2, 1, forces                                         49.3, 49.2   52.1, 51.9
 *
 * What limits the float loop is reading registers, one of each of two banks a cycle: a multiply-add
 * of three registers takes two cycles unless one is kept from the instruction before. So counted in
 * the machine code, the loop of a variant takes c cycles per pair, and 1338 / c Tflop/s is what it
 * can give at best. The issue of its instructions alone would be 18 (74 Tflop/s). The compiler's
 * choice of registers is luck: the order of statements in approach and exchange moves c by 20 %,
 * and unrelated code by 5 %. Here c is 20.7 for float_large, 20.9 for float_huge, 21.9 for
 * float_small.
 */
using float_small = ring_variant<ring_gravity<float, false>, 8, 4, 1, 3, 2>;
using float_large = ring_variant<ring_gravity<float, false, sums_are_forces>, 8, 16, 2, 1, 2>;
using float_large_of_any_mass = ring_variant<ring_gravity<float, false>, 8, 16, 2, 1, 2>;
using float_huge = ring_variant<ring_gravity<float, false, sums_are_forces>, 14, 12, 2, 1, 2, true>;
using float_huge_of_any_mass = ring_variant<ring_gravity<float, false>, 14, 12, 2, 1, 2, true>;
using float_potential = ring_variant<ring_gravity<float, true>, 6, 8, 2, 2>;
using double_acceleration = ring_variant<ring_gravity<double, false>, 8, 8, 2, 1>;
using double_potential = ring_variant<ring_gravity<double, true>, 6, 8, 2, 1>;

enum { large_in_float = 32769, huge_in_float = 196608 };

/* The largest tiles have the fewest instructions per pair, and are padded with the more bodies
 * without mass.
 */
static bool is_huge(int64_t count)
{
    const int64_t of_huge = ring_padded<float_huge>(count);
    const int64_t of_large = ring_padded<float_large>(count);
    return count >= huge_in_float && (double)of_huge < 1.0075 * (double)of_large;
}

kith_status forces_ring_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->dtype == KITH_F64)
        return problem->potential ? ring_forces<double_potential>(context, problem)
                                  : ring_forces<double_acceleration>(context, problem);
    if (!problem->potential && problem->target_count < large_in_float)
        return ring_forces<float_small>(context, problem);
    return forces_ring_if_needed_cuda(context, problem, NULL);
}

kith_status forces_ring_if_needed_cuda(kith_context *context, const struct forces_problem *problem,
                                       const int *needed)
{
    if (problem->potential)
        return ring_forces_if_needed<float_potential, float_potential>(context, problem, needed);
    return is_huge(problem->target_count)
               ? ring_forces_if_needed<float_huge, float_huge_of_any_mass>(context, problem, needed)
               : ring_forces_if_needed<float_large, float_large_of_any_mass>(context, problem,
                                                                             needed);
}

template <typename variant> static int64_t scratch_bytes(kith_context *context, int64_t count)
{
    const struct ring_plan plan = ring_plan_for<variant>(context, count);
    return ring_scratch_bytes<variant>(&plan);
}

int64_t forces_ring_scratch_bytes_cuda(kith_context *context, const struct forces_problem *problem)
{
    const int64_t count = problem->target_count;
    return problem->potential ? scratch_bytes<float_potential>(context, count)
           : is_huge(count)   ? scratch_bytes<float_huge>(context, count)
                              : scratch_bytes<float_large>(context, count);
}
