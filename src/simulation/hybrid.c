/* The integrator hybrid: hybrid.h has the method, this file its steps. */

#include "simulation/hybrid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/integrator.h"

/* In units of the radius that a planet's mass gives it: radii of Hill (1878), with the distance
 * from the star instead of the semi-major axis. */
static const double most_hill_radii = 3;

enum { column_count = 26 };

static const struct hybrid_kernels *kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &hybrid_##isa,
    static const struct hybrid_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

static kith_status add_pair(struct hybrid_pairs *pairs, struct hybrid_pair pair)
{
    if (pairs->count == pairs->room) {
        const int64_t room = pairs->room > 0 ? 2 * pairs->room : 64;
        struct hybrid_pair *grown = NULL;
        KITH_TRY(kith_allocate(room, sizeof *grown, "close encounters", &grown));
        if (pairs->count > 0)
            memcpy(grown, pairs->pair, (size_t)pairs->count * sizeof *grown);
        free(pairs->pair);
        pairs->pair = grown;
        pairs->room = room;
    }
    pairs->pair[pairs->count++] = pair;
    return KITH_OK;
}

static bool is_before(struct hybrid_pair a, struct hybrid_pair b)
{
    return a.i != b.i ? a.i < b.i : a.j < b.j;
}

/* The union of two sets of close pairs. *has_more: the other has a pair that one does not have. */
static kith_status unite(const struct hybrid_close *one, const struct hybrid_close *other,
                         struct hybrid_close *both, bool *has_more)
{
    const struct hybrid_pairs *a = &one->pairs, *b = &other->pairs;
    both->pairs.count = 0;
    both->at_star = one->at_star || other->at_star;
    *has_more = other->at_star && !one->at_star;
    for (int64_t k = 0, m = 0; k < a->count || m < b->count;) {
        const bool takes_b = k == a->count || (m < b->count && is_before(b->pair[m], a->pair[k]));
        const bool is_same = !takes_b && m < b->count && !is_before(a->pair[k], b->pair[m]);
        *has_more = *has_more || takes_b;
        KITH_TRY(add_pair(&both->pairs, takes_b ? b->pair[m] : a->pair[k]));
        k += !takes_b;
        m += takes_b || is_same;
    }
    return KITH_OK;
}

static double *column(struct hybrid_step *step, int64_t k)
{
    return step->columns + k * kith_padded(step->room + 1);
}

static void load_masses(struct hybrid_step *step)
{
    struct hybrid_planets *planets = &step->planets;
    const struct forces_problem *forces = &step->simulation->problem;
    const double *mass = forces->source_mass;
    const int64_t wide = kith_padded(step->room + 1);
    if (planets->count != step->simulation->count - 1) /* bodies have merged */
        memset(step->columns, 0, (size_t)(column_count * wide) * sizeof *step->columns);
    memset(planets->source_gm, 0, (size_t)wide * sizeof *planets->source_gm);
    if (step->simulation->dimensions < 3) {
        memset(planets->q[2], 0, (size_t)wide * sizeof *planets->q[2]);
        memset(planets->v[2], 0, (size_t)wide * sizeof *planets->v[2]);
    }
    planets->count = step->simulation->count - 1;
    planets->sources = 0;
    for (int64_t i = planets->count; i < wide; i++)
        planets->q[0][i] = 1;
    step->star_mass = mass[0];
    step->star_gm = forces->gravitational_constant * mass[0];
    for (int64_t i = 0; i < planets->count; i++) {
        planets->mass[i] = mass[i + 1];
        planets->gm[i] = forces->gravitational_constant * mass[i + 1];
        planets->mu[i] = step->star_gm;
        planets->source[i] = mass[i + 1] > 0 ? planets->sources++ : -1;
        if (mass[i + 1] > 0)
            planets->source_gm[planets->source[i]] = planets->gm[i];
    }
}

static kith_status allocate_step(struct kith_simulation *simulation, struct hybrid_step *step)
{
    const int64_t count = simulation->count;
    *step = (struct hybrid_step){
        .simulation = simulation, .kernels = kernels_of(simulation->context), .room = count};
    KITH_TRY(kith_allocate(kith_padded(count + 1), column_count * (int64_t)sizeof(double),
                           "close encounters", &step->columns));
    KITH_TRY(kith_allocate(count, sizeof *step->source, "close encounters", &step->source));
    KITH_TRY(kith_allocate(count, sizeof *step->found, "close encounters", &step->found));
    struct hybrid_planets *planets = &step->planets;
    double **const numbers[] = {&planets->mass, &planets->gm, &planets->mu, &planets->reach,
                                &planets->source_gm};
    double **const vectors[] = {planets->q,    planets->v,   planets->source_q, step->start_x,
                                step->start_v, step->near_q, step->near_v};
    int64_t k = 0;
    for (int64_t m = 0; m < 5; m++)
        *numbers[m] = column(step, k++);
    for (int64_t m = 0; m < 7; m++)
        for (int32_t c = 0; c < 3; c++)
            vectors[m][c] = column(step, k++);
    planets->source = step->source;
    return hybrid_memory_make(count - 1, &step->memory);
}

void hybrid_step_free(struct hybrid_step *step)
{
    if (!step)
        return;
    free(step->columns);
    free(step->source);
    free(step->found);
    free(step->close.pairs.pair);
    free(step->at_end.pairs.pair);
    free(step->both.pairs.pair);
    hybrid_memory_free(&step->memory);
    free(step);
}

/* The simulation's, for bodies that are no more than it has room for. */
static kith_status make_step(struct kith_simulation *simulation)
{
    if (simulation->hybrid && simulation->count <= simulation->hybrid->room)
        return KITH_OK;
    hybrid_step_free(simulation->hybrid);
    simulation->hybrid = NULL;
    struct hybrid_step *step = NULL;
    KITH_TRY(kith_allocate(1, sizeof *step, "close encounters", &step));
    const kith_status status = allocate_step(simulation, step);
    if (status == KITH_OK)
        simulation->hybrid = step;
    else
        hybrid_step_free(step);
    return status;
}

/* Component c of all bodies, or NULL of the third in two dimensions. */
static double *vector_of(const struct hybrid_step *step, int32_t array, int32_t c)
{
    return c < step->simulation->dimensions ? step->simulation->vector[array][c] : NULL;
}

static void keep_start(struct hybrid_step *step)
{
    const size_t bytes = (size_t)step->simulation->count * sizeof(double);
    for (int32_t c = 0; c < 3 && vector_of(step, POSITION, c); c++) {
        memcpy(step->start_x[c], vector_of(step, POSITION, c), bytes);
        memcpy(step->start_v[c], vector_of(step, VELOCITY, c), bytes);
    }
}

static void bring_start_back(struct hybrid_step *step)
{
    const size_t bytes = (size_t)step->simulation->count * sizeof(double);
    for (int32_t c = 0; c < 3 && vector_of(step, POSITION, c); c++) {
        memcpy(vector_of(step, POSITION, c), step->start_x[c], bytes);
        memcpy(vector_of(step, VELOCITY, c), step->start_v[c], bytes);
    }
}

/* Whether h is longer than τ of the Kepler motion of planet i. With the distance r, the velocity v
 * and u = x·v,
 *
 *     a = −μ x / r³,   |a'|² = μ² (v² + 3 u² / r²) / r⁶,
 *     a'' = μ (x (3 v² / r⁵ − 2 μ / r⁶ − 15 u² / r⁷) + 6 u v / r⁵). */
static bool is_near_star(const struct hybrid_step *step, int64_t i)
{
    const struct hybrid_planets *planets = &step->planets;
    double r2 = 0, v2 = 0, u = 0, second2 = 0;
    for (int32_t c = 0; c < 3; c++) {
        const double x = planets->q[c][i], v = planets->v[c][i];
        r2 += x * x;
        v2 += v * v;
        u += x * v;
    }
    const double mu = step->star_gm, r = sqrt(r2), u2 = u * u / r2;
    const double along = (3 * v2 - 2 * mu / r - 15 * u2) / r2, across = 6 * u / r2;
    for (int32_t c = 0; c < 3; c++) {
        const double second = along * planets->q[c][i] + across * planets->v[c][i];
        second2 += second * second;
    }
    /* All over μ / r³. */
    const double rate2 = v2 + 3 * u2, tau2 = 2 * r2 / (rate2 + r * sqrt(second2));
    return step->h * step->h > tau2;
}

static int compare(const void *a, const void *b)
{
    const struct hybrid_pair *one = a, *other = b;
    return is_before(*one, *other) ? -1 : is_before(*other, *one);
}

/* What is close to a planet with mass. Those without are not close to each other: their reach is 0.
 */
static kith_status add_found(struct hybrid_step *step, int32_t i, struct hybrid_close *close)
{
    const int64_t found = step->kernels->find(&step->planets, fabs(step->h) / 2, i, step->found);
    for (int64_t k = 0; k < found; k++) {
        const int32_t j = step->found[k];
        KITH_TRY(add_pair(&close->pairs,
                          i < j ? (struct hybrid_pair){i, j} : (struct hybrid_pair){j, i}));
    }
    return KITH_OK;
}

/* What is close for the bodies as they are. */
static kith_status find_close(struct hybrid_step *step, struct hybrid_close *close)
{
    struct hybrid_planets *planets = &step->planets;
    close->pairs.count = 0;
    close->at_star = false;
    for (int32_t c = 0; c < 3 && vector_of(step, POSITION, c); c++) {
        const double *x = vector_of(step, POSITION, c), *v = vector_of(step, VELOCITY, c);
        for (int64_t i = 0; i < planets->count; i++) {
            planets->q[c][i] = x[i + 1] - x[0];
            planets->v[c][i] = v[i + 1] - v[0];
        }
    }
    for (int64_t i = 0; i < planets->count; i++) {
        double r2 = 0;
        for (int32_t c = 0; c < 3; c++)
            r2 += planets->q[c][i] * planets->q[c][i];
        planets->reach[i] =
            most_hill_radii * sqrt(r2) * cbrt(planets->mass[i] / (3 * step->star_mass));
        close->at_star = close->at_star || is_near_star(step, i);
    }
    for (int64_t i = 0; i < planets->count; i++)
        if (planets->source[i] >= 0)
            KITH_TRY(add_found(step, (int32_t)i, close));
    if (planets->sources < planets->count && close->pairs.count > 1)
        qsort(close->pairs.pair, (size_t)close->pairs.count, sizeof *close->pairs.pair, compare);
    return KITH_OK;
}

static kith_status judge(struct hybrid_step *step, bool *is_over)
{
    KITH_TRY(find_close(step, &step->at_end));
    KITH_TRY(unite(&step->close, &step->at_end, &step->both, is_over));
    *is_over = !*is_over;
    return KITH_OK;
}

static bool is_nothing(const struct hybrid_close *close)
{
    return close->pairs.count == 0 && !close->at_star;
}

/* A step with what is close at its start, and if there is more at its end, again with that too. */
static kith_status take_one(struct hybrid_step *step)
{
    struct kith_simulation *simulation = step->simulation;
    bool is_over = false;
    keep_start(step);
    KITH_TRY(hybrid_watch_pairs(simulation, &step->close));
    simulation->evaluations++;
    if (is_nothing(&step->close)) {
        KITH_TRY(whfast_step_bodies(simulation, step->h));
        KITH_TRY(judge(step, &is_over));
        if (is_over)
            return KITH_OK;
    } else {
        KITH_TRY(hybrid_encounter(step, &step->close));
        KITH_TRY(judge(step, &is_over));
    }
    if (!is_over) {
        bring_start_back(step);
        KITH_TRY(hybrid_watch_pairs(simulation, &step->both));
        simulation->evaluations++;
        KITH_TRY(hybrid_encounter(step, &step->both));
        KITH_TRY(find_close(step, &step->at_end));
    }
    return step->h == simulation->dt ? whfast_prepare(simulation) : KITH_OK;
}

static kith_status take_steps(struct hybrid_step *step, int64_t steps)
{
    struct kith_simulation *simulation = step->simulation;
    KITH_TRY(find_close(step, &step->close));
    for (int64_t k = 0; k < steps; k++) {
        const kith_status status = take_one(step);
        if (status != KITH_OK) {
            bring_start_back(step);
            simulation->lacks_forces = true;
            return status;
        }
        simulation->steps++;
        const struct hybrid_close start = step->close;
        step->close = step->at_end;
        step->at_end = start;
    }
    return KITH_OK;
}

/* Positions and velocities are those of the bodies after every step. */
static kith_status take(struct kith_simulation *simulation, double h, int64_t steps)
{
    if (simulation->count == 0) {
        simulation->steps += steps;
        return KITH_OK;
    }
    KITH_TRY(make_step(simulation));
    simulation->hybrid->h = h;
    load_masses(simulation->hybrid);
    const kith_status status = take_steps(simulation->hybrid, steps);
    if (h != simulation->dt)
        simulation->lacks_forces = true;
    return status;
}

static kith_status prepare(struct kith_simulation *simulation)
{
    const struct watch *watch = simulation->watch;
    if (watch && simulation->count > 0 && watch->row[0] != 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "body 0, the star of integrator hybrid, has been removed; use ias15");
    return whfast_prepare(simulation);
}

static kith_status check(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    if (simulation->context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is hybrid, which is not available on a GPU; simulate on "
                         "the CPU");
    KITH_TRY(whfast_check(simulation, bodies, "hybrid"));
    if (simulation->is_ensemble)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is hybrid, which follows encounters of one system, and this "
                         "is an ensemble; simulate its systems one by one");
    return KITH_OK;
}

const struct integrator_method hybrid_method = {.check = check,
                                                .prepare = prepare,
                                                .take = take,
                                                .arrays = WHFAST_ARRAYS,
                                                .kept = WHFAST_ARRAYS};
