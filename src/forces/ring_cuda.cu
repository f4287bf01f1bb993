/* Symmetric all-pairs forces on the GPU: chooses a variant. */

#include "core/status.h"
#include "cuda/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/ring_launch_cuda.cuh"

/* Targets of a lane, warps of a block, groups of sources between two barriers, blocks of a
 * multiprocessor: the fastest of some twenty that were tried on an H200, in Tflop/s.
 *
 *     float                16 384   65 536  262 144        double            16 384  131 072
 *     4,  4, 1, 8            46.4     52.2     52.8        4, 4, 1, 4          22.5     23.8
 *     8,  4, 1, 5            45.9     55.1     56.1        8, 4, 1, 2          22.7     25.7
 *     8,  8, 1, 2            45.5     56.7     58.2        6, 4, 1, 2          23.1     26.1
 *     8,  8, 2, 2            42.1     57.2     58.8        4, 8, 2, 1          23.3     26.3
 *     8, 16, 2, 1            43.4     57.3     60.3        6, 8, 2, 1          22.9     26.9
 *    12,  8, 1, 2            36.1     54.8     59.5        8, 8, 2, 1          22.9     27.4
 *
 * The limit is how fast registers can be read: one 32-bit register of each of two banks a cycle, so
 * that a multiply-add of three registers takes two cycles unless one of them is kept from the
 * instruction before. Counted so, the float loop takes 22.6 cycles a pair (59 Tflop/s), of which 18
 * are for its instructions (74 Tflop/s). */
template <bool potential> using float_small = ring_variant<float, 8, 8, 1, 2, potential>;
template <bool potential> using float_large = ring_variant<float, 8, 16, 2, 1, potential>;
using double_acceleration = ring_variant<double, 8, 8, 2, 1, false>;
using double_potential = ring_variant<double, 6, 8, 2, 1, true>;

enum { large_in_float = 49152 };

kith_status forces_ring_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->dtype == KITH_F64)
        return problem->potential ? ring_forces<double_potential>(context, problem)
                                  : ring_forces<double_acceleration>(context, problem);
    if (problem->potential)
        return ring_forces<float_small<true>>(context, problem);
    return problem->target_count < large_in_float
               ? ring_forces<float_small<false>>(context, problem)
               : ring_forces<float_large<false>>(context, problem);
}
