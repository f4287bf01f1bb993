/* Steps of ias15 of one simulation whose numbers are on a device: control is the host's. */

#include "simulation/radau_numbers.h"

#include "core/simd_scalar.h"

struct attempt {
    kith_context *context;
    const struct radau_numbers_backend *backend;
    const struct radau_numbers *numbers;
    struct radau_problem *problem;
};

struct found {
    double change, scale;
};

/* The first failure, which the next evaluation reports. */
static void note(const struct attempt *at, kith_status status)
{
    if (at->problem->status == KITH_OK)
        at->problem->status = status;
}

static void guess_terms(const struct attempt *at, double q)
{
    note(at, at->backend->guess(at->context, at->numbers, q));
}

static void pass_node(const struct attempt *at, int32_t n, double h, struct found *found)
{
    note(at, at->backend->pass(at->context, at->numbers, n, h, &found->change, &found->scale));
}

static double largest_lane(const struct attempt *at, double largest)
{
    (void)at;
    return largest;
}

static void largest_of_ranks(const struct attempt *at, double *values, int32_t count)
{
    (void)at;
    (void)values;
    (void)count;
}

static double shortest_time2(const struct attempt *at, double h, double scale)
{
    double time2 = 0;
    note(at, at->backend->time2(at->context, at->numbers, h, scale, &time2));
    return time2;
}

static void finish_step(const struct attempt *at, double h, bool continued)
{
    note(at, at->backend->finish(at->context, at->numbers, h, continued));
}

#include "simulation/radau_control.h"

static bool evaluate_by_call(void *argument, int32_t position, int32_t lost, int32_t acceleration)
{
    struct radau_problem *problem = argument;
    (void)lost;
    if (problem->status == KITH_OK)
        problem->status = problem->evaluate(problem->user, position, acceleration);
    return problem->status == KITH_OK;
}

enum radau_end radau_numbers_take_leg(kith_context *context,
                                      const struct radau_numbers_backend *backend,
                                      struct radau_problem *problem, const struct radau_leg *leg,
                                      struct radau_clock *clock)
{
    struct radau_numbers numbers = {.bodies = problem->forces->target_count,
                                    .stride = problem->stride,
                                    .dimensions = problem->forces->dimensions};
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        numbers.array[array] = problem->array[array];
    const struct attempt at = {context, backend, &numbers, problem};
    return take_leg(&at, leg, clock, problem, evaluate_by_call, problem);
}
