/* The Hermite method of order 4 with individual steps in blocks (Makino 1991, PASJ 43, 859; Makino
 * & Aarseth 1992, PASJ 44, 141). Steps are dt divided by powers of two, and a body's step begins at
 * a multiple of its length, so that many bodies end their steps together. A block step goes to the
 * earliest of the ends: it predicts all bodies to that time,
 *
 *     x = x_i + s v_i + s² a_i / 2 + s³ j_i / 6,  v = v_i + s a_i + s² j_i / 2,  s = t − t_i,
 *
 * evaluates accelerations and jerks of those whose steps end there, by all, and corrects them with
 * the snap and crackle of the Hermite interpolation. A body's next step is at most Aarseth's (1985)
 *
 *     h² = η (|a| |a''| + |a'|²) / (|a'| |a'''| + |a''|²),
 *
 * half of its last step or less, or twice that where it is time for it. Between steps bodies are
 * where snap and crackle of their last steps put them, so that frames change no step. */

#include <math.h>
#include <stdlib.h>

#include "device/threads.h"
#include "forces/solver.h"
#include "simulation/backend.h"
#include "simulation/blocks.h"
#include "simulation/integrator.h"
#include "simulation/massive.h"

_Static_assert(POSITION == (int)BLOCK_POSITION && VELOCITY == (int)BLOCK_VELOCITY &&
                   LOST_VELOCITY == (int)BLOCK_LOST_VELOCITY &&
                   ACCELERATION == (int)BLOCK_ACCELERATION && JERK == (int)BLOCK_JERK,
               "the arrays are in another order");

/* After the arrays of blocks.h, on the CPU those of the bodies whose steps end, one after the
 * other. */
enum {
    TARGET_POSITION = BLOCK_KEPT,
    TARGET_VELOCITY,
    TARGET_ACCELERATION,
    TARGET_JERK,
    TARGET_SOFTENING,
    BLOCK_ARRAYS
};

enum { bodies_of_task = 4096 };

static const double default_eta = 0.02, seconds_of_body = 20e-9;

struct block {
    struct kith_simulation *simulation;
    double *array[BLOCK_ARRAYS][3];
    double dt, eta;
    double time; /* in units of dt since the origin, where the step goes */
    int64_t *active;
    int64_t count;
    bool to_end; /* predict with snap and crackle */
};

/* The time that block times count from. */
static double *origin_of(struct kith_simulation *simulation)
{
    return &simulation->clock.lost_time;
}

static void begin_times(const struct block *block)
{
    const struct kith_simulation *simulation = block->simulation;
    for (int64_t i = 0; i < simulation->count; i++) {
        double a[3] = {0}, j[3] = {0};
        for (int32_t k = 0; k < simulation->dimensions; k++) {
            block->array[BLOCK_START][k][i] = block->array[POSITION][k][i];
            block->array[BLOCK_START_VELOCITY][k][i] = block->array[VELOCITY][k][i];
            a[k] = block->array[ACCELERATION][k][i];
            j[k] = block->array[JERK][k][i];
        }
        block->array[BLOCK_TIMES][0][i] = 0;
        block->array[BLOCK_TIMES][1][i] = blocks_first_step(block->eta, block->dt, a, j);
    }
}

static void predict_some(void *argument, int64_t task)
{
    const struct block *block = argument;
    const struct kith_simulation *simulation = block->simulation;
    const int64_t first = task * bodies_of_task, left = simulation->count - first;
    const int64_t end = first + (left < bodies_of_task ? left : bodies_of_task);
    const double *const begun = block->array[BLOCK_TIMES][0];
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        const double *x = block->array[BLOCK_START][k], *v = block->array[BLOCK_START_VELOCITY][k];
        const double *a = block->array[ACCELERATION][k], *j = block->array[JERK][k];
        const double *snap = block->array[BLOCK_SNAP][k];
        const double *crackle = block->array[BLOCK_CRACKLE][k];
        double *to = block->array[POSITION][k], *to_velocity = block->array[VELOCITY][k];
        for (int64_t i = first; i < end; i++) {
            const double s = (block->time - begun[i]) * block->dt;
            const double start[4] = {x[i], v[i], a[i], j[i]};
            if (block->to_end)
                blocks_place(s, start, snap[i], crackle[i], &to[i], &to_velocity[i]);
            else
                blocks_predict(s, start, &to[i], &to_velocity[i]);
        }
    }
}

static kith_status predict(struct block *block)
{
    const struct kith_simulation *simulation = block->simulation;
    const int64_t tasks = (simulation->count + bodies_of_task - 1) / bodies_of_task;
    const double seconds = (double)simulation->count * seconds_of_body;
    return kith_for_each(simulation->context, kith_threads_for(simulation->context, seconds), tasks,
                         predict_some, block);
}

/* The earliest end of a step, and the bodies whose steps end there. Without bodies a step is dt. */
static void find_active(struct block *block)
{
    const struct kith_simulation *simulation = block->simulation;
    const double *start = block->array[BLOCK_TIMES][0], *step = block->array[BLOCK_TIMES][1];
    block->time = (double)INFINITY;
    block->count = 0;
    if (simulation->count == 0)
        block->time = (simulation->start_time - simulation->clock.lost_time) / simulation->dt + 1;
    for (int64_t i = 0; i < simulation->count; i++)
        block->time = fmin(block->time, start[i] + step[i]);
    for (int64_t i = 0; i < simulation->count; i++)
        if (start[i] + step[i] == block->time)
            block->active[block->count++] = i;
}

static void gather(const struct block *block, int32_t from, int32_t to)
{
    for (int32_t k = 0; k < block->simulation->dimensions; k++)
        for (int64_t t = 0; t < block->count; t++)
            block->array[to][k][t] = block->array[from][k][block->active[t]];
}

static kith_status evaluate(const struct block *block)
{
    struct kith_simulation *simulation = block->simulation;
    struct forces_problem problem = simulation->problem;
    gather(block, POSITION, TARGET_POSITION);
    gather(block, VELOCITY, TARGET_VELOCITY);
    problem.self = false;
    problem.target_count = block->count;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        problem.source_position[k] = block->array[POSITION][k];
        problem.source_velocity[k] = block->array[VELOCITY][k];
        problem.target_position[k] = block->array[TARGET_POSITION][k];
        problem.target_velocity[k] = block->array[TARGET_VELOCITY][k];
        problem.acceleration[k] = block->array[TARGET_ACCELERATION][k];
        problem.jerk[k] = block->array[TARGET_JERK][k];
    }
    const double *softening = simulation->half_softening2;
    for (int64_t t = 0; softening && t < block->count; t++)
        block->array[TARGET_SOFTENING][0][t] = softening[block->active[t]];
    if (softening)
        problem.target_half_softening2 = block->array[TARGET_SOFTENING][0];
    KITH_TRY(massive_take(simulation, &problem));
    return forces_evaluate(simulation->context, simulation->solver, &problem,
                           &simulation->prepared);
}

/* Adds to START or START_VELOCITY, with what did not fit before. */
static void add(const struct block *block, int32_t array, int32_t k, int64_t i, double change)
{
    double *const sum = &block->array[array][k][i];
    blocks_add(change, sum, &block->array[array - BLOCK_START + LOST_POSITION][k][i]);
    block->array[array - BLOCK_START + POSITION][k][i] = *sum;
}

/* Corrects a body, and chooses its next step. */
static void correct(const struct block *block, int64_t t)
{
    struct radau_clock *clock = &block->simulation->clock;
    const int64_t i = block->active[t];
    double *const step = &block->array[BLOCK_TIMES][1][i];
    const double h = *step * block->dt;
    double a[3] = {0}, j[3] = {0}, snap[3] = {0}, crackle[3] = {0};
    for (int32_t k = 0; k < block->simulation->dimensions; k++) {
        a[k] = block->array[TARGET_ACCELERATION][k][t];
        j[k] = block->array[TARGET_JERK][k][t];
        const struct blocks_end end =
            blocks_correct(h, block->array[BLOCK_START_VELOCITY][k][i],
                           block->array[ACCELERATION][k][i], block->array[JERK][k][i], a[k], j[k]);
        add(block, BLOCK_START, k, i, end.moved);
        add(block, BLOCK_START_VELOCITY, k, i, end.kicked);
        block->array[ACCELERATION][k][i] = a[k];
        block->array[JERK][k][i] = j[k];
        block->array[BLOCK_SNAP][k][i] = snap[k] = end.snap;
        block->array[BLOCK_CRACKLE][k][i] = crackle[k] = end.crackle;
    }
    block->array[BLOCK_TIMES][0][i] = block->time;
    clock->least_step = clock->least_step > 0 ? fmin(clock->least_step, h) : h;
    clock->most_step = fmax(clock->most_step, h);
    *step = blocks_next_step(block->eta, block->dt, block->time, *step, a, j, snap, crackle);
}

static kith_status fail_stuck(int64_t body)
{
    return kith_fail(
        KITH_INVALID_ARGUMENT,
        "the step of body %lld (from 0) became too short in hermite-block: "
        "bodies collide, or an acceleration is not finite; give a softening, or use ias15",
        (long long)body);
}

static kith_status check_steps(const struct block *block)
{
    for (int64_t t = 0; t < block->count; t++)
        if (blocks_is_stuck(block->array[BLOCK_TIMES][1][block->active[t]]))
            return fail_stuck(block->active[t]);
    return KITH_OK;
}

/* Evaluations of all bodies as many as those of each on average. */
static void count_evaluations(struct kith_simulation *simulation)
{
    const int64_t count = simulation->count > 0 ? simulation->count : 1;
    simulation->evaluations = 1 + simulation->body_steps / count;
}

static kith_status take_block_step(struct block *block, const struct radau_leg *leg)
{
    struct kith_simulation *simulation = block->simulation;
    struct radau_clock *clock = &simulation->clock;
    const double origin = *origin_of(simulation);
    find_active(block);
    const double time = origin + block->time * block->dt;
    clock->previous_time = simulation->start_time;
    block->to_end = !(time < leg->until) && time != leg->until;
    if (block->to_end) { /* also without bodies */
        block->time = (leg->until - origin) / block->dt;
        simulation->start_time = leg->until;
    } else {
        KITH_TRY(predict(block));
        KITH_TRY(evaluate(block));
        for (int64_t t = 0; t < block->count; t++)
            correct(block, t);
        KITH_TRY(check_steps(block));
        simulation->start_time = time;
        simulation->body_steps += block->count;
        count_evaluations(simulation);
    }
    simulation->steps++;
    simulation->start_steps = simulation->steps;
    return KITH_OK;
}

static kith_status take_leg(struct block *block, const struct radau_leg *leg)
{
    struct kith_simulation *simulation = block->simulation;
    if (simulation->count > 0 && block->array[BLOCK_TIMES][1][0] == 0) {
        *origin_of(simulation) = simulation->start_time;
        begin_times(block);
    }
    bool has_moved = false;
    for (int64_t step = 0; step < leg->steps; step++) {
        if (simulation->start_time == leg->until || simulation->start_time >= leg->pause)
            break;
        KITH_TRY(take_block_step(block, leg));
        has_moved = true;
    }
    /* Those in the middle of their steps are where their snap and crackle put them. */
    block->to_end = true;
    return has_moved ? predict(block) : KITH_OK;
}

/* A leg on a device that takes whole block steps. */
static kith_status take_leg_by(kith_context *context, struct kith_simulation *simulation,
                               const struct radau_leg *leg)
{
    struct radau_clock *clock = &simulation->clock;
    struct blocks_problem problem = {.forces = &simulation->problem,
                                     .dt = simulation->dt,
                                     .eta = simulation->eta > 0 ? simulation->eta : default_eta,
                                     .time = simulation->start_time,
                                     .previous_time = clock->previous_time,
                                     .least_step = clock->least_step / simulation->dt,
                                     .most_step = clock->most_step / simulation->dt};
    for (int32_t array = 0; array < BLOCK_KEPT; array++)
        for (int32_t k = 0; k < simulation->dimensions; k++)
            problem.array[array][k] = simulation->vector[array][k];
    double first = 0; /* step */
    KITH_TRY(
        context->services->copy_out(context, &first, problem.array[BLOCK_TIMES][1], sizeof first));
    if (first == 0)
        *origin_of(simulation) = simulation->start_time;
    problem.origin = *origin_of(simulation);
    KITH_TRY(simulation_backend_of(context)->blocks(context, leg, &problem));
    if (problem.stuck >= 0)
        return fail_stuck(problem.stuck);
    clock->previous_time = problem.previous_time;
    clock->least_step = problem.least_step * simulation->dt;
    clock->most_step = problem.most_step * simulation->dt;
    simulation->start_time = problem.time;
    simulation->steps += problem.steps;
    simulation->start_steps = simulation->steps;
    simulation->body_steps += problem.body_steps;
    count_evaluations(simulation);
    return KITH_OK;
}

static kith_status take_leg_here(struct kith_simulation *simulation, const struct radau_leg *leg)
{
    struct block block = {.simulation = simulation,
                          .dt = simulation->dt,
                          .eta = simulation->eta > 0 ? simulation->eta : default_eta};
    for (int32_t array = 0; array < BLOCK_ARRAYS; array++)
        for (int32_t k = 0; k < simulation->dimensions; k++)
            block.array[array][k] = simulation->vector[array][k];
    KITH_TRY(
        kith_allocate(simulation->count, sizeof *block.active, "bodies of a block", &block.active));
    const kith_status status = take_leg(&block, leg);
    free(block.active);
    return status;
}

static kith_status adapt(struct kith_simulation *simulation, const struct radau_leg *leg)
{
    if (leg->until < simulation->start_time)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is hermite-block, which cannot integrate backwards; use another");
    if (simulation->count > 0 && simulation->context->device.kind != KITH_CPU)
        return take_leg_by(simulation->context, simulation, leg);
    return take_leg_here(simulation, leg);
}

static kith_status check(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    (void)bodies;
    if (simulation->context->device.kind != KITH_CPU && !simulation->is_fused)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is hermite-block, which on a GPU supports only the solver "
                         "direct with its default method; use these, or simulate on the CPU");
    if (simulation->dtype != KITH_F64)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is hermite-block, which needs double precision, but precision is single; "
            "use double");
    if (simulation->is_ensemble)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is hermite-block, which chooses the steps of one system, but this is an "
            "ensemble; simulate its systems one by one");
    if (simulation->law.law)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is hermite-block, which supports only gravity, but there is another law; "
            "use hermite4 or ias15");
    return KITH_OK;
}

static void begin(struct kith_simulation *simulation)
{
    for (int32_t array = LOST_POSITION; array < BLOCK_KEPT; array++)
        simulation_clear(simulation, array);
    simulation->clock = (struct radau_clock){.next_step = simulation->dt};
}

const struct integrator_method hermite_block_method = {.check = check,
                                                       .begin = begin,
                                                       .adapt = adapt,
                                                       .arrays = BLOCK_ARRAYS,
                                                       .kept = BLOCK_KEPT,
                                                       .has_jerk = true,
                                                       .has_blocks = true};
