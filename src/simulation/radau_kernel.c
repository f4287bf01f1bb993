/* Steps of ias15 for one instruction set: radau.h has the formulas. */

#include "simulation/radau.h"

#include <string.h>

#include "core/floors.h"
#include "simulation/radau_step.h"

static bool evaluate_by_call(void *argument, int32_t position, int32_t lost, int32_t acceleration)
{
    struct radau_problem *problem = argument;
    (void)lost;
    problem->status = problem->evaluate(problem->user, position, acceleration);
    return problem->status == KITH_OK;
}

static enum radau_end take_steps_of_any(struct radau_problem *problem, const struct radau_leg *leg,
                                        struct radau_clock *clock)
{
    const struct attempt at = {problem->array, problem->stride / lanes, problem->forces->dimensions,
                               problem->forces->dimensions * (problem->stride / lanes), problem};
    return take_leg(&at, leg, clock, problem, evaluate_by_call, problem);
}

/* Few bodies, in as little memory as they need. */
struct few {
    double *array[RADAU_ARRAYS];
    int32_t bodies, sources, vectors;
    int64_t evaluations;
    int32_t source[radau_most_bodies]; /* the bodies that have mass */
    double mass[radau_most_bodies];    /* theirs */
    double half_softening2[radau_most_bodies];
    /* G, and 0 after the bodies. It comes last: at the distance 0 of a body from itself 1/s³ is
     * next to the largest number. */
    double g[radau_most_bodies];
    double memory[RADAU_ARRAYS * 3 * radau_most_bodies];
};

SIMD_INLINE void evaluate_few(struct few *few, const int32_t dimensions, const double *position,
                              const double *lost, double *acceleration)
{
    const int32_t wide = few->vectors * lanes;
    few->evaluations++;
    for (int32_t i = 0; i < wide; i += lanes) {
        vdouble x[3], low[3], sum[3] = {{0}};
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++) {
            x[c] = simd_load(position + c * wide + i);
            low[c] = simd_load(lost + c * wide + i);
        }
        const vdouble softening2 = simd_load(few->half_softening2 + i) + S2_FLOOR_DOUBLE;
        for (int32_t k = 0; k < few->sources; k++) {
            const int32_t j = few->source[k];
            vdouble d[3], s2 = softening2 + simd_all(few->half_softening2[j]);
            SIMD_UNROLL
            for (int32_t c = 0; c < dimensions; c++) {
                d[c] = (simd_all(position[c * wide + j]) - x[c]) +
                       (simd_all(lost[c * wide + j]) - low[c]);
                s2 = simd_fma(d[c], d[c], s2);
            }
            const vdouble factor = simd_all(few->mass[k]) * simd_rsqrt3_scaled(s2);
            SIMD_UNROLL
            for (int32_t c = 0; c < dimensions; c++)
                sum[c] = simd_fma(factor, d[c], sum[c]);
        }
        const vdouble g = simd_load(few->g + i);
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            simd_store(acceleration + c * wide + i, sum[c] * g);
    }
}

#define DEFINE_EVALUATE(dimensions)                                                                \
    static __attribute__((noinline)) bool evaluate_in_##dimensions(                                \
        void *argument, int32_t position, int32_t lost, int32_t acceleration)                      \
    {                                                                                              \
        struct few *few = argument;                                                                \
        evaluate_few(few, dimensions, few->array[position], few->array[lost],                      \
                     few->array[acceleration]);                                                    \
        return true;                                                                               \
    }
DEFINE_EVALUATE(2)
DEFINE_EVALUATE(3)

static void load_few(const struct radau_problem *problem, struct few *few)
{
    const struct forces_problem *forces = problem->forces;
    const double *mass = forces->source_mass, *softening = forces->source_half_softening2;
    const double g = forces->gravitational_constant / SIMD_RSQRT3_SCALE_DOUBLE;
    few->bodies = (int32_t)forces->target_count;
    few->vectors = (few->bodies + lanes - 1) / lanes;
    few->sources = 0;
    few->evaluations = 0;
    const int32_t wide = few->vectors * lanes;
    for (int32_t i = 0; i < wide; i++) {
        const bool there = i < few->bodies;
        few->g[i] = there ? g : 0;
        few->half_softening2[i] = !there ? 0 : softening ? softening[i] : forces->softening2 / 2;
        if (there && mass[i] != 0) {
            few->source[few->sources] = i;
            few->mass[few->sources++] = mass[i];
        }
    }
    for (int32_t array = 0; array < RADAU_ARRAYS; array++) {
        few->array[array] = few->memory + array * 3 * wide;
        for (int32_t c = 0; c < forces->dimensions && array < RADAU_KEPT; c++)
            for (int32_t i = 0; i < wide; i++)
                few->array[array][c * wide + i] = problem->array[array][c * problem->stride + i];
    }
}

static void store_few(const struct radau_problem *problem, const struct few *few)
{
    const int32_t wide = few->vectors * lanes;
    for (int32_t array = 0; array < RADAU_KEPT; array++)
        for (int32_t c = 0; c < problem->forces->dimensions; c++)
            memcpy(problem->array[array] + c * problem->stride, few->array[array] + c * wide,
                   (size_t)few->bodies * sizeof(double));
}

static enum radau_end take_steps_of_few(struct radau_problem *problem, const struct radau_leg *leg,
                                        struct radau_clock *clock)
{
    struct few few;
    load_few(problem, &few);
    const int32_t dimensions = problem->forces->dimensions;
    const struct attempt at = {few.array, few.vectors, dimensions, dimensions * few.vectors,
                               problem};
    const enum radau_end end =
        take_leg(&at, leg, clock, problem, dimensions == 3 ? evaluate_in_3 : evaluate_in_2, &few);
    problem->evaluations += few.evaluations;
    store_few(problem, &few);
    return end;
}

const struct radau_kernels KITH_ISA_SYMBOL(radau) = {
    .of_few = take_steps_of_few,
    .of_any = take_steps_of_any,
};
