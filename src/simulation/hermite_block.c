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

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/threads.h"
#include "forces/solver.h"
#include "simulation/integrator.h"
#include "simulation/massive.h"

/* Positions and velocities are those at the time of the simulation, LOST_POSITION and LOST_VELOCITY
 * what did not fit into START and START_VELOCITY; accelerations and jerks, and
 * START to TIMES, those at the start of each body's step. */
enum {
    START = JERK + 1,
    START_VELOCITY,
    SNAP,
    CRACKLE,
    TIMES, /* in units of dt since the origin: where the step starts, and its length; 0: not begun
            */
    BLOCK_KEPT,
    TARGET_POSITION = BLOCK_KEPT, /* of those whose steps end, one after the other */
    TARGET_VELOCITY,
    TARGET_ACCELERATION,
    TARGET_JERK,
    TARGET_SOFTENING,
    BLOCK_ARRAYS
};

enum { bodies_of_task = 4096, most_halvings = 26 };

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

static double length(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* The time that block times count from. */
static double *origin_of(struct kith_simulation *simulation)
{
    return &simulation->clock.lost_time;
}

/* h in units of dt, as the half of a half …; at most 1. */
static double fitted(double wanted, double most)
{
    double step = most;
    for (int k = 0; k <= most_halvings && step > wanted; k++)
        step /= 2;
    return step;
}

static void begin_times(const struct block *block)
{
    const struct kith_simulation *simulation = block->simulation;
    for (int64_t i = 0; i < simulation->count; i++) {
        double a[3] = {0}, j[3] = {0};
        for (int32_t k = 0; k < simulation->dimensions; k++) {
            block->array[START][k][i] = block->array[POSITION][k][i];
            block->array[START_VELOCITY][k][i] = block->array[VELOCITY][k][i];
            a[k] = block->array[ACCELERATION][k][i];
            j[k] = block->array[JERK][k][i];
        }
        /* There are no higher derivatives yet. */
        const double wanted =
            length(j) > 0 ? sqrt(block->eta) / 4 * length(a) / length(j) : DBL_MAX;
        block->array[TIMES][0][i] = 0;
        block->array[TIMES][1][i] = fitted(wanted / block->dt, 1);
    }
}

static void predict_some(void *argument, int64_t task)
{
    const struct block *block = argument;
    const struct kith_simulation *simulation = block->simulation;
    const int64_t first = task * bodies_of_task, left = simulation->count - first;
    const int64_t end = first + (left < bodies_of_task ? left : bodies_of_task);
    const double *const start = block->array[TIMES][0];
    const double more = block->to_end ? 1 : 0;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        const double *x = block->array[START][k], *v = block->array[START_VELOCITY][k];
        const double *a = block->array[ACCELERATION][k], *j = block->array[JERK][k];
        const double *snap = block->array[SNAP][k], *crackle = block->array[CRACKLE][k];
        double *to = block->array[POSITION][k], *to_velocity = block->array[VELOCITY][k];
        for (int64_t i = first; i < end; i++) {
            const double s = (block->time - start[i]) * block->dt;
            const double b = more * snap[i], c = more * crackle[i];
            to[i] =
                x[i] + s * (v[i] + s * (a[i] / 2 + s * (j[i] / 6 + s * (b / 24 + s * c / 120))));
            to_velocity[i] = v[i] + s * (a[i] + s * (j[i] / 2 + s * (b / 6 + s * c / 24)));
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

/* The earliest end of a step, and the bodies whose steps end there. */
static void find_active(struct block *block)
{
    const double *start = block->array[TIMES][0], *step = block->array[TIMES][1];
    const int64_t count = block->simulation->count;
    block->time = (double)INFINITY;
    block->count = 0;
    for (int64_t i = 0; i < count; i++)
        block->time = fmin(block->time, start[i] + step[i]);
    for (int64_t i = 0; i < count; i++)
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
    massive_take(simulation, &problem);
    return forces_evaluate(simulation->context, simulation->solver, &problem,
                           &simulation->prepared);
}

/* Adds to START or START_VELOCITY, with what did not fit before. */
static void add(const struct block *block, int32_t array, int32_t k, int64_t i, double change)
{
    double *const sum = &block->array[array][k][i];
    double *const lost = &block->array[array - START + LOST_POSITION][k][i];
    const double all = change + *lost, now = *sum + all;
    *lost = all - (now - *sum);
    *sum = now;
    block->array[array - START + POSITION][k][i] = now;
}

/* Corrects a body, and chooses its next step. */
static void correct(const struct block *block, int64_t t)
{
    struct radau_clock *clock = &block->simulation->clock;
    const int64_t i = block->active[t];
    double *const start = &block->array[TIMES][0][i], *const step = &block->array[TIMES][1][i];
    const double h = *step * block->dt;
    double a[3] = {0}, j[3] = {0}, snap[3] = {0}, crackle[3] = {0};
    for (int32_t k = 0; k < block->simulation->dimensions; k++) {
        const double a0 = block->array[ACCELERATION][k][i], j0 = block->array[JERK][k][i];
        a[k] = block->array[TARGET_ACCELERATION][k][t];
        j[k] = block->array[TARGET_JERK][k][t];
        const double s = (6 * (a[k] - a0) - h * (4 * j0 + 2 * j[k])) / (h * h);
        crackle[k] = (12 * (a0 - a[k]) + 6 * h * (j0 + j[k])) / (h * h * h);
        const double v0 = block->array[START_VELOCITY][k][i];
        add(block, START, k, i,
            h * (v0 + h * (a0 / 2 + h * (j0 / 6 + h * (s / 24 + h * crackle[k] / 120)))));
        add(block, START_VELOCITY, k, i,
            h * (a0 + h * (j0 / 2 + h * (s / 6 + h * crackle[k] / 24))));
        snap[k] = s + h * crackle[k]; /* at the end */
        block->array[ACCELERATION][k][i] = a[k];
        block->array[JERK][k][i] = j[k];
        block->array[SNAP][k][i] = snap[k];
        block->array[CRACKLE][k][i] = crackle[k];
    }
    const double over = length(a) * length(snap) + length(j) * length(j);
    const double under = length(j) * length(crackle) + length(snap) * length(snap);
    const double wanted = under > 0 ? sqrt(block->eta * over / under) / block->dt : DBL_MAX;
    *start = block->time;
    clock->least_step = clock->least_step > 0 ? fmin(clock->least_step, h) : h;
    clock->most_step = fmax(clock->most_step, h);
    if (wanted >= 2 * *step && *step < 1 && fmod(block->time, 2 * *step) == 0)
        *step *= 2;
    else
        *step = fitted(wanted, *step);
}

static kith_status check_steps(const struct block *block)
{
    const double least = ldexp(1, -most_halvings);
    for (int64_t t = 0; t < block->count; t++)
        if (!(block->array[TIMES][1][block->active[t]] >= least))
            return kith_fail(
                KITH_INVALID_ARGUMENT,
                "the step of body %lld (from 0) became too short in hermite-block: "
                "bodies collide, or an acceleration is not finite; give a softening, or use ias15",
                (long long)block->active[t]);
    return KITH_OK;
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
        simulation->evaluations = 1 + simulation->body_steps / simulation->count;
    }
    simulation->steps++;
    simulation->start_steps = simulation->steps;
    return KITH_OK;
}

static kith_status take_leg(struct block *block, const struct radau_leg *leg)
{
    struct kith_simulation *simulation = block->simulation;
    if (simulation->count > 0 && block->array[TIMES][1][0] == 0) {
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

static kith_status adapt(struct kith_simulation *simulation, const struct radau_leg *leg)
{
    if (leg->until < simulation->start_time)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is hermite-block, which cannot integrate backwards; use another");
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

static kith_status check(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    (void)bodies;
    if (simulation->context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is hermite-block, which is not available on a GPU; "
                         "simulate on the CPU");
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
        memset(simulation->memory[array], 0,
               (size_t)(simulation->stride * simulation->dimensions) * sizeof(double));
    simulation->clock = (struct radau_clock){.next_step = simulation->dt};
}

const struct integrator_method hermite_block_method = {.check = check,
                                                       .begin = begin,
                                                       .adapt = adapt,
                                                       .arrays = BLOCK_ARRAYS,
                                                       .kept = BLOCK_KEPT,
                                                       .has_jerk = true,
                                                       .has_blocks = true};
