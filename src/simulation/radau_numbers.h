#ifndef SIMULATION_RADAU_NUMBERS_H
#define SIMULATION_RADAU_NUMBERS_H

#include "kith/context.h"
#include "simulation/radau.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of one simulation of ias15, in the memory of a device: array[a][c·stride + i]. */
struct radau_numbers {
    double *array[RADAU_ARRAYS];
    int64_t bodies, stride;
    int32_t dimensions;
};

/* The arithmetic of a step (simulation/radau_arithmetic.h) on a device, for all numbers; what
 * control takes from them is returned to the host, which waits for it. */
struct radau_numbers_backend {
    kith_status (*guess)(kith_context *context, const struct radau_numbers *numbers, double q);

    /* pass_node. After the last node, n = radau_terms: *change is the largest change of h² b_6 and
     * *scale the largest h² a_0. */
    kith_status (*pass)(kith_context *context, const struct radau_numbers *numbers, int32_t n,
                        double h, double *change, double *scale);

    /* The square of the shortest τ in units of h. */
    kith_status (*time2)(kith_context *context, const struct radau_numbers *numbers, double h,
                         double scale, double *time2);
    kith_status (*finish)(kith_context *context, const struct radau_numbers *numbers, double h,
                          bool continued);
};

/* The steps of a leg of one simulation there, as radau_kernels take them on a CPU. */
enum radau_end radau_numbers_take_leg(kith_context *context,
                                      const struct radau_numbers_backend *backend,
                                      struct radau_problem *problem, const struct radau_leg *leg,
                                      struct radau_clock *clock);

/* On a GPU. Bits: the same on every run; they differ from a CPU's by rounding. */
extern const struct radau_numbers_backend radau_numbers_cuda;

#ifdef __cplusplus
}
#endif

#endif
