/* Chaos of a trajectory by variational equations: kith/megno.h has the formulas.
 *
 * The bodies and their displacements are one state of the Gauss-Radau method of ias15.
 * Displacements are so small that neither the lengths of steps nor the ends of iterations depend on
 * them, and are divided by a power of two when they have grown. */

#include "kith/megno.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/context.h"
#include "initial/random.h"
#include "simulation/radau.h"

/* δ_0, and the largest δ, in units of the bodies' distances: 2 to this. */
enum { start_exponent = -100, most_exponent = -60, lanes_of_state = 8 };

struct flow {
    int64_t count, stride, sources;
    double *memory, *gm, softening2;
    int64_t *source; /* those with mass */
    double *array[RADAU_ARRAYS];
    double tau2, most2; /* of |δ|²; the largest of it */
    double growth;      /* that δ has been divided by, ln */
};

/* Over the time since the start. */
struct averages {
    double start, time;      /* time since the start */
    double log, rate;        /* L and dL/dt */
    double of_log, of_megno; /* ∫ L dt, ∫ Y dt */
    double megno;
    double first;           /* L at the start */
    double w, t, y, tt, ty; /* moments of L over the second half */
};

/* a_i = Σ_j G m_j d / s³ and δa_i = Σ_j G m_j (δd / s³ − 3 d (d·δd) / s⁵). */
static kith_status evaluate(void *user, int32_t position, int32_t acceleration)
{
    const struct flow *flow = user;
    const int64_t n = flow->count, stride = flow->stride;
    const double *x = flow->array[position];
    double *a = flow->array[acceleration];
    memset(a, 0, (size_t)(3 * stride) * sizeof *a);
    for (int64_t i = 0; i < n; i++) {
        double sum[3] = {0}, change[3] = {0};
        for (int64_t k = 0; k < flow->sources; k++) {
            const int64_t j = flow->source[k];
            double d[3], dd[3], s2 = flow->softening2, along = 0;
            if (j == i)
                continue;
            for (int32_t c = 0; c < 3; c++) {
                d[c] = x[c * stride + j] - x[c * stride + i];
                dd[c] = x[c * stride + n + j] - x[c * stride + n + i];
                s2 += d[c] * d[c];
                along += d[c] * dd[c];
            }
            const double factor = flow->gm[j] / (s2 * sqrt(s2)), second = 3 * along / s2;
            for (int32_t c = 0; c < 3; c++) {
                sum[c] += factor * d[c];
                change[c] += factor * (dd[c] - second * d[c]);
            }
        }
        for (int32_t c = 0; c < 3; c++) {
            a[c * stride + i] = sum[c];
            a[c * stride + n + i] = change[c];
        }
    }
    return KITH_OK;
}

/* |δ|², and half its derivative in *rate. */
static double size2(const struct flow *flow, double *rate)
{
    double size = 0, half = 0;
    for (int32_t c = 0; c < 3; c++)
        for (int64_t i = c * flow->stride + flow->count; i < c * flow->stride + 2 * flow->count;
             i++) {
            const double x = flow->array[RADAU_POSITION][i], v = flow->array[RADAU_VELOCITY][i];
            size += x * x + flow->tau2 * v * v;
            half += x * v + flow->tau2 * v * flow->array[RADAU_ACCELERATION][i];
        }
    *rate = half;
    return size;
}

static void scale(struct flow *flow, int32_t exponent)
{
    const double factor = ldexp(1, exponent);
    for (int32_t array = 0; array < RADAU_KEPT; array++)
        for (int32_t c = 0; c < 3; c++)
            for (int64_t i = 0; i < flow->count; i++)
                flow->array[array][c * flow->stride + flow->count + i] *= factor;
    flow->growth -= exponent * log(2);
}

static double mean_square(const double *vectors, int64_t count, int32_t dimensions)
{
    double square = 0;
    for (int32_t c = 0; c < dimensions; c++) {
        double mean = 0;
        for (int64_t i = 0; i < count; i++)
            mean += vectors[i * dimensions + c] / (double)count;
        for (int64_t i = 0; i < count; i++) {
            const double d = vectors[i * dimensions + c] - mean;
            square += d * d / (double)count;
        }
    }
    return square;
}

static void load_state(struct flow *flow, const kith_bodies *bodies, uint64_t seed)
{
    const int32_t d = bodies->dimensions;
    const double place2 = mean_square(bodies->position, bodies->count, d);
    const double speed2 = mean_square(bodies->velocity, bodies->count, d);
    flow->tau2 = speed2 > 0 ? place2 / speed2 : 1;
    const double length = ldexp(sqrt(place2), start_exponent);
    flow->most2 = ldexp((double)bodies->count * place2, 2 * most_exponent);
    for (int64_t i = 0; i < bodies->count; i++) {
        struct random_stream random = random_begin(seed, RANDOM_MEGNO, i);
        double unit[2][3] = {{0}};
        random_direction(&random, d, unit[0]);
        random_direction(&random, d, unit[1]);
        for (int32_t c = 0; c < d; c++) {
            double *x = flow->array[RADAU_POSITION] + c * flow->stride + i;
            double *v = flow->array[RADAU_VELOCITY] + c * flow->stride + i;
            x[0] = bodies->position[i * d + c];
            v[0] = bodies->velocity[i * d + c];
            x[flow->count] = length * unit[0][c];
            v[flow->count] = length / sqrt(flow->tau2) * unit[1][c];
        }
    }
}

static kith_status make_flow(const kith_megno_options *options, const kith_bodies *bodies,
                             struct flow *flow)
{
    const double own = bodies->units.gravitational_constant;
    const double g = options->gravitational_constant != 0 ? options->gravitational_constant
                     : own != 0                           ? own
                                                          : 1;
    flow->count = bodies->count;
    flow->stride = (2 * bodies->count + lanes_of_state - 1) / lanes_of_state * lanes_of_state;
    flow->softening2 = options->softening * options->softening;
    KITH_TRY(kith_allocate(RADAU_ARRAYS * 3 * flow->stride, sizeof *flow->memory,
                           "variational equations", &flow->memory));
    KITH_TRY(kith_allocate(bodies->count, sizeof *flow->gm, "variational equations", &flow->gm));
    KITH_TRY(
        kith_allocate(bodies->count, sizeof *flow->source, "variational equations", &flow->source));
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        flow->array[array] = flow->memory + array * 3 * flow->stride;
    for (int64_t i = 0; i < bodies->count; i++) {
        flow->gm[i] = g * (bodies->mass ? bodies->mass[i] : 1);
        if (flow->gm[i] != 0)
            flow->source[flow->sources++] = i;
    }
    load_state(flow, bodies, options->seed);
    return evaluate(flow, RADAU_POSITION, RADAU_ACCELERATION);
}

/* To a time since the start, after a step: integrals by the corrected trapezoidal rule. */
static void average(struct averages *sums, struct flow *flow, double time, double whole)
{
    double half = 0;
    const double size = size2(flow, &half), h = time - sums->time;
    const double log_now = flow->growth + log(size) / 2, rate = half / size, before = sums->megno;
    sums->of_log += h / 2 * (sums->log + log_now) + h * h / 12 * (sums->rate - rate);
    sums->log = log_now;
    sums->rate = rate;
    sums->time = time;
    if (time == 0) {
        sums->first = log_now;
        return;
    }
    sums->megno = 2 * (log_now - sums->of_log / time);
    sums->of_megno += h / 2 * (before + sums->megno);
    if (time > whole / 2) {
        sums->w += h;
        sums->t += h * time;
        sums->y += h * (log_now - sums->first);
        sums->tt += h * time * time;
        sums->ty += h * time * (log_now - sums->first);
    }
    if (size > flow->most2)
        scale(flow, start_exponent - most_exponent);
}

static kith_status take_leg(kith_context *context, struct flow *flow, double until, double whole,
                            struct radau_clock *clock, struct radau_problem *problem,
                            struct averages *sums)
{
    const struct radau_leg leg = {1, until, (double)INFINITY};
    while (clock->time != until) {
        KITH_TRY(kith_context_check_cancelled(context));
        if (radau_kernels_of(context)->of_any(problem, &leg, clock) != radau_done)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "the step became too short at time %.15g: bodies collide; give a "
                             "softening",
                             sums->start + clock->time);
        average(sums, flow, clock->time, whole);
    }
    return KITH_OK;
}

static kith_status follow(kith_context *context, const kith_megno_options *options, double start,
                          struct flow *flow, kith_megno_sample *samples, kith_megno *megno)
{
    const double whole = options->until - start;
    const int64_t legs = options->samples > 0 ? options->samples : 1;
    const struct forces_problem forces = {.dimensions = 3};
    struct radau_problem problem = {
        .forces = &forces, .stride = flow->stride, .evaluate = evaluate, .user = flow};
    struct radau_clock clock = {.next_step = options->dt > 0 ? options->dt : whole / 1000};
    struct averages sums = {.start = start};
    memcpy(problem.array, flow->array, sizeof problem.array);
    average(&sums, flow, 0, whole);
    for (int64_t k = 1; k <= legs; k++) {
        const double until = k == legs ? whole : whole * ((double)k / (double)legs);
        KITH_TRY(take_leg(context, flow, until, whole, &clock, &problem, &sums));
        if (options->samples > 0)
            samples[k - 1] =
                (kith_megno_sample){k == legs ? options->until : start + until, sums.megno,
                                    sums.of_megno / sums.time, sums.log - sums.first};
    }
    const double slope =
        (sums.w * sums.ty - sums.t * sums.y) / (sums.w * sums.tt - sums.t * sums.t);
    *megno = (kith_megno){.megno = sums.megno,
                          .mean_megno = sums.of_megno / sums.time,
                          .lyapunov_exponent = slope,
                          .lyapunov_time = slope > 0 ? 1 / slope : (double)INFINITY,
                          .steps = problem.steps};
    return KITH_OK;
}

static kith_status check(const kith_context *context, const kith_megno_options *options,
                         const kith_bodies *bodies)
{
    if (context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "MEGNO is not available on a GPU; use a context on the CPU");
    KITH_TRY(kith_bodies_check(bodies));
    if (bodies->count < 2)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "there are %lld bodies; MEGNO needs at least 2 that attract each other",
                         (long long)bodies->count);
    if (!bodies->velocity)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the bodies have no velocities, but MEGNO needs them; add velocities");
    for (int64_t i = 0; bodies->mass && i < bodies->count; i++)
        if (bodies->mass[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "mass of body %lld (from 0) is %g; give a mass ≥ 0", (long long)i,
                             bodies->mass[i]);
    if (!isfinite(options->until) || !(options->until > bodies->time))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "until is %g and the time of the bodies is %g; give a finite time after it",
            options->until, bodies->time);
    if (!(options->dt >= 0) || !isfinite(options->dt))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "dt is %g; give a finite step greater than 0, or 0 for the default",
                         options->dt);
    if (!(options->softening >= 0) || !isfinite(options->softening))
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a finite length ≥ 0",
                         options->softening);
    if (!isfinite(options->gravitational_constant))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational constant is %g; give a finite number",
                         options->gravitational_constant);
    if (options->samples < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "samples is %lld; give a number ≥ 0",
                         (long long)options->samples);
    return KITH_OK;
}

kith_status kith_megno_compute(kith_context *context, const kith_megno_options *options,
                               const kith_bodies *bodies, kith_megno_sample *samples,
                               kith_megno *megno)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(kith_check_pointer(options, "options"));
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    KITH_TRY(kith_check_pointer(megno, "megno"));
    KITH_TRY(check(context, options, bodies));
    if (options->samples > 0)
        KITH_TRY(kith_check_pointer(samples, "samples"));
    struct flow flow = {0};
    kith_status status = make_flow(options, bodies, &flow);
    if (status == KITH_OK)
        status = follow(context, options, bodies->time, &flow, samples, megno);
    free(flow.memory);
    free(flow.gm);
    free(flow.source);
    return status;
}
