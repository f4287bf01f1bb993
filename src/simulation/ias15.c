/* The integrator ias15, which chooses its steps: radau.h has the method, this file the interface
 * between a simulation and its kernels. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"
#include "simulation/advance_program.h"
#include "simulation/backend.h"
#include "simulation/integrator.h"
#include "simulation/radau_numbers.h"
#include "simulation/slice.h"

/* The arrays of a simulation are those of radau.h. */
_Static_assert(POSITION == (int)RADAU_POSITION && VELOCITY == (int)RADAU_VELOCITY &&
                   ACCELERATION == (int)RADAU_ACCELERATION,
               "the arrays are in another order");

const struct radau_kernels *radau_kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &radau_##isa,
    static const struct radau_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static bool is_on_cpu(const struct kith_simulation *simulation)
{
    return !simulation_backend_of(simulation->context)->radau_numbers;
}

static bool is_few(const struct kith_simulation *simulation)
{
    return simulation->is_fused && !simulation->slice && !simulation->problem.law &&
           simulation->count <= radau_most_bodies && advance_fits_masses(&simulation->problem);
}

/* Solvers may leave anything after the bodies, which kernels of a CPU read. */
static void clear_behind(struct kith_simulation *simulation, int32_t array)
{
    for (int32_t k = 0; k < simulation->dimensions && is_on_cpu(simulation); k++)
        memset((double *)simulation->vector[array][k] + simulation->count, 0,
               (size_t)(simulation->stride - simulation->count) * sizeof(double));
}

static kith_status evaluate(void *user, int32_t position, int32_t acceleration)
{
    struct kith_simulation *simulation = user;
    KITH_TRY(simulation_evaluate(simulation, position, acceleration));
    clear_behind(simulation, acceleration);
    return KITH_OK;
}

static void maximum(void *user, double *values, int32_t count)
{
    const struct kith_simulation *simulation = user;
    ranks_maximum(simulation->context, values, count);
}

static kith_status fail_stuck(const struct radau_clock *clock)
{
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "the step of ias15 became too short at time %.15g: bodies collide, or an "
                     "acceleration is not finite; give a softening",
                     clock->time);
}

static enum radau_end take_leg(struct kith_simulation *simulation, struct radau_problem *problem,
                               const struct radau_leg *leg)
{
    kith_context *context = simulation->context;
    const struct radau_kernels *kernels = radau_kernels_of(context);
    if (!is_on_cpu(simulation))
        return radau_numbers_take_leg(context, simulation_backend_of(context)->radau_numbers,
                                      problem, leg, &simulation->clock);
    return (is_few(simulation) ? kernels->of_few : kernels->of_any)(problem, leg,
                                                                    &simulation->clock);
}

static kith_status adapt(struct kith_simulation *simulation, const struct radau_leg *leg)
{
    struct radau_clock *clock = &simulation->clock;
    struct radau_problem problem = {.forces = &simulation->problem,
                                    .stride = simulation->stride,
                                    .evaluate = evaluate,
                                    .maximum = simulation->slice ? maximum : NULL,
                                    .user = simulation};
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        problem.array[array] = simulation->memory[array];
    clear_behind(simulation, ACCELERATION);
    clock->time = simulation->start_time;
    const enum radau_end end = take_leg(simulation, &problem, leg);
    simulation->steps += problem.steps;
    simulation->evaluations += problem.evaluations;
    simulation->start_time = clock->time;
    simulation->start_steps = simulation->steps;
    return end == radau_failed ? problem.status : end == radau_stuck ? fail_stuck(clock) : KITH_OK;
}

/* Positions in the order of their coordinates. */
struct place {
    double x[3];
    int64_t body;
};

static int compare_coordinates(const struct place *a, const struct place *b)
{
    for (int32_t k = 0; k < 3; k++)
        if (a->x[k] != b->x[k])
            return a->x[k] < b->x[k] ? -1 : 1;
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *first = a, *second = b;
    const int by_coordinates = compare_coordinates(first, second);
    return by_coordinates != 0 ? by_coordinates
                               : (first->body > second->body) - (first->body < second->body);
}

/* Bodies that have mass and no softening; of a slice as they are numbered among all. */
static int64_t list_points(const struct kith_simulation *simulation, const kith_bodies *bodies,
                           struct place *places)
{
    const int64_t first = simulation->slice ? simulation->slice->first : 0;
    int64_t count = 0;
    for (int64_t i = 0; i < bodies->count; i++) {
        const bool is_softened =
            simulation->softening_of_bodies ? bodies->softening[i] > 0 : simulation->softening > 0;
        if (is_softened || (bodies->mass && bodies->mass[i] == 0))
            continue;
        places[count] = (struct place){.body = first + i};
        for (int32_t k = 0; k < bodies->dimensions; k++)
            places[count].x[k] = bodies->position[i * bodies->dimensions + k];
        count++;
    }
    return count;
}

static kith_status fail_together(const struct place *a, const struct place *b)
{
    return kith_fail(
        KITH_INVALID_ARGUMENT,
        "bodies %lld and %lld (from 0) are at the same position, with masses and without "
        "softening, where ias15 has no step; move one or give a softening",
        (long long)(a->body < b->body ? a->body : b->body),
        (long long)(a->body < b->body ? b->body : a->body));
}

static kith_status check_own(const struct place *places, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        if (compare_coordinates(&places[k - 1], &places[k]) == 0)
            return fail_together(&places[k - 1], &places[k]);
    return KITH_OK;
}

static int find_coordinates(const void *a, const void *b)
{
    return compare_coordinates(a, b);
}

/* Of a rank's sorted places, against pieces of those of the others. */
static kith_status check_others(kith_context *context, const struct place *places, int64_t count)
{
    enum { piece = 256 };
    const struct ranks *ranks = context->ranks;
    const int64_t room = (int64_t)ranks->size * piece;
    struct place *window = NULL;
    double most = (double)count;
    kith_status status = kith_allocate(room, sizeof *window, "places of the bodies", &window);
    KITH_TRY(ranks_agree(context, status));
    ranks_maximum(context, &most, 1);
    for (int64_t done = 0; (double)done < most; done += piece) {
        struct place *own = window + (int64_t)ranks->rank * piece;
        for (int64_t k = 0; k < piece; k++)
            own[k] = done + k < count ? places[done + k] : (struct place){.body = -1};
        ranks_gather(context, window, sizeof *window, room, piece);
        for (int64_t k = 0; k < room && status == KITH_OK; k++) {
            const bool is_other = k / piece != ranks->rank && window[k].body >= 0;
            const struct place *same =
                is_other && count > 0
                    ? bsearch(&window[k], places, (size_t)count, sizeof *places, find_coordinates)
                    : NULL;
            if (same)
                status = fail_together(same, &window[k]);
        }
    }
    free(window);
    return ranks_agree(context, status);
}

static kith_status check_apart(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    struct place *places = NULL;
    if (simulation->law.law)
        return KITH_OK;
    kith_status status =
        kith_allocate(bodies->count, sizeof *places, "places of the bodies", &places);
    const int64_t count = status == KITH_OK ? list_points(simulation, bodies, places) : 0;
    if (count > 0)
        qsort(places, (size_t)count, sizeof *places, compare_places);
    if (status == KITH_OK)
        status = check_own(places, count);
    status = slice_agree(simulation, status);
    if (status == KITH_OK && simulation->slice)
        status = check_others(simulation->context, places, count);
    free(places);
    return status;
}

kith_status ias15_check(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    if (simulation->dtype != KITH_F64)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is ias15, which needs double precision, but precision is "
                         "single; use double");
    return check_apart(simulation, bodies);
}

static void begin(struct kith_simulation *simulation)
{
    for (int32_t array = LOST_POSITION; array < RADAU_KEPT; array++)
        simulation_clear(simulation, array);
    simulation->clock = (struct radau_clock){.next_step = simulation->dt};
}

const struct integrator_method ias15_method = {.check = ias15_check,
                                               .begin = begin,
                                               .adapt = adapt,
                                               .for_systems = &ias15_systems_method,
                                               .arrays = RADAU_ARRAYS,
                                               .kept = RADAU_KEPT};
