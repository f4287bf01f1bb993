/* Steps of whfast for one instruction set: whfast.h has the method. */

#include "simulation/whfast.h"

#include "kith/ensemble.h"
#include "simulation/whfast_frames.h"

/* Of one or two vectors of planets, in registers but for what is loaded by lanes. */
enum { most_vectors = 2 };
SIMD_INLINE void step_vectors(struct whfast_planets *planets, const int64_t slots,
                              const bool is_jacobi, double h, int64_t steps)
{
    const struct whfast_layout layout = {false, slots, whfast_lanes};
    const size_t bytes = (size_t)(3 * slots) * sizeof(vdouble);
    vdouble q[3 * most_vectors], v[3 * most_vectors];
    vdouble lost_q[3 * most_vectors], lost_v[3 * most_vectors];
    vdouble x[3 * most_vectors], a[3 * most_vectors];
    vdouble pull[3 * most_vectors], terms[3 * most_vectors];
    struct whfast_planets here = *planets, *p = &here;
    memcpy(q, p->q, bytes);
    memcpy(v, p->v, bytes);
    memcpy(lost_q, p->lost_q, bytes);
    memcpy(lost_v, p->lost_v, bytes);
    p->q = q;
    p->v = v;
    p->lost_q = lost_q;
    p->lost_v = lost_v;
    p->x = x;
    p->a = a;
    p->pull = pull;
    p->terms = terms;
    for (int64_t step = 0; step < steps; step++) {
        step_at_once(p, layout, whfast_default, is_jacobi, h);
        drift_center(p, h);
    }
    memcpy(planets->q, q, bytes);
    memcpy(planets->v, v, bytes);
    memcpy(planets->lost_q, lost_q, bytes);
    memcpy(planets->lost_v, lost_v, bytes);
    memcpy(planets->center, p->center, sizeof p->center);
    memcpy(planets->lost_center, p->lost_center, sizeof p->lost_center);
}

static void step_jacobi(struct whfast_planets *p, double h, int64_t steps)
{
    if (p->layout.slots == 1)
        step_vectors(p, 1, true, h, steps);
    else
        step_vectors(p, 2, true, h, steps);
}

static void step_heliocentric(struct whfast_planets *p, double h, int64_t steps)
{
    if (p->layout.slots == 1)
        step_vectors(p, 1, false, h, steps);
    else
        step_vectors(p, 2, false, h, steps);
}

static void step_planets(struct whfast_planets *p, enum whfast_kernel kernel, double h,
                         int64_t steps)
{
    if (p->layout.is_systems || p->layout.slots > most_vectors || kernel != whfast_default)
        step_any(p, kernel, h, steps);
    else if (p->is_jacobi)
        step_jacobi(p, h, steps);
    else
        step_heliocentric(p, h, steps);
}

/* Goes between a problem's arrays and planets: body i of the one system is lane i − 1; in an
 * ensemble s is the system of the first lane. */
struct whfast_place {
    const struct whfast_problem *problem;
    struct whfast_part part;
    int64_t system; /* −1: the one */
};

/* Whether what the leading planets do is stored, and the star. */
SIMD_INLINE bool stores_leading(const struct whfast_place *place)
{
    return place->part.count == 0;
}

SIMD_INLINE int64_t at_body(const struct whfast_place *place, int64_t body, int32_t lane)
{
    return place->system < 0 ? body
                             : body * place->problem->forces->system_stride + place->system + lane;
}

/* Element [planet k of lane] of vectors. */
SIMD_INLINE double *element(const struct whfast_planets *p, vdouble *vectors, int32_t c,
                            int64_t planet, int32_t lane)
{
    vdouble *component = vectors + c * p->layout.slots;
    return (double *)component + (p->layout.is_systems ? planet * whfast_lanes + lane : planet);
}

static int32_t systems_in(const struct whfast_place *place)
{
    return place->system < 0 ? 1 : whfast_lanes;
}

static double *whfast_take(double **memory, int64_t slots)
{
    double *taken = *memory;
    *memory += slots * whfast_lanes;
    return taken;
}

/* Divides the memory. */
static void lay_out(struct whfast_planets *p, double *memory)
{
    const int64_t slots = p->layout.slots;
    vdouble **const vectors[] = {&p->q,  &p->v, &p->lost_q, &p->lost_v, &p->x,
                                 &p->dx, &p->a, &p->pull,   &p->terms};
    vdouble **const numbers[] = {&p->mass, &p->mu,      &p->share, &p->part,
                                 &p->jump, &p->inverse, &p->ratio, &p->kick};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        *vectors[k] = (vdouble *)whfast_take(&memory, 3 * slots);
    p->saved = (vdouble *)whfast_take(&memory, 12 * slots);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        *numbers[k] = (vdouble *)whfast_take(&memory, slots);
    p->source = (void *)memory;
    p->is_source = p->source + p->planets;
}

/* What follows from the masses, for the system of a lane. */
static void load_masses(const struct whfast_place *place, struct whfast_planets *p, int32_t lane)
{
    const struct forces_problem *forces = place->problem->forces;
    const double *mass = place->problem->mass;
    const int64_t leading = place->part.leading;
    const double g = forces->gravitational_constant / SIMD_RSQRT3_SCALE_DOUBLE;
    const double of_star = mass[at_body(place, 0, lane)];
    /* After the last system there is none. */
    const double star = of_star > 0 ? of_star : 1;
    double all = star, before = star;
    for (int64_t i = 0; i < leading; i++)
        all += mass[at_body(place, i + 1, lane)];
    p->g = g;
    if (p->layout.is_systems)
        SIMD_LANE(p->star_gm, lane) = g * of_star;
    else
        p->star_gm = simd_all(g * of_star);
    for (int64_t i = 0; i < p->planets; i++) {
        const double m = i < leading ? mass[at_body(place, i + 1, lane)] : 0;
        const struct whfast_numbers of = whfast_numbers_of(p->is_jacobi, g, star, before, m, all);
        *element(p, p->mass, 0, i, lane) = m;
        *element(p, p->mu, 0, i, lane) = of_star > 0 ? of.mu : 0;
        *element(p, p->share, 0, i, lane) = of.share;
        *element(p, p->part, 0, i, lane) = of.part;
        *element(p, p->jump, 0, i, lane) = of.jump;
        *element(p, p->inverse, 0, i, lane) = of.inverse;
        *element(p, p->ratio, 0, i, lane) = of.ratio;
        *element(p, p->kick, 0, i, lane) = of.kick;
        p->is_source[i] |= m != 0;
        before += m;
    }
}

static void load_sources(struct whfast_planets *p)
{
    p->sources = 0;
    for (int64_t i = 0; i < p->planets; i++)
        if (p->is_source[i])
            p->source[p->sources++] = (int32_t)i;
}

/* A component of the planets of a part, which are two ranges; without one it is 0. */
static void load_planets(const struct whfast_place *place, const double *lead, const double *all,
                         double *to)
{
    const struct whfast_part *part = &place->part;
    const size_t leading = (size_t)part->leading * sizeof *to;
    const size_t others = (size_t)part->count * sizeof *to;
    if (lead && all) {
        memcpy(to, lead, leading);
        memcpy(to + part->leading, all + part->first, others);
    } else {
        memset(to, 0, leading + others);
    }
}

SIMD_INLINE bool is_there(const struct whfast_place *place, int32_t lane)
{
    return place->system + lane < place->problem->forces->system_count;
}

/* Puts a vector of each planet, the first of which is element `first`, and of what is after them
 * that of bodies at rest. */
static void load_vectors(const struct whfast_place *place, struct whfast_planets *p,
                         double *const lead[3], double *const all[3], int64_t first, double behind,
                         vdouble *to)
{
    for (int32_t c = 0; c < 3; c++) {
        for (int64_t k = 0; k < p->layout.slots; k++)
            to[c * p->layout.slots + k] = simd_all(c == 0 ? behind : 0);
        if (place->system < 0) {
            load_planets(place, lead[c] ? lead[c] + first : NULL, all[c] ? all[c] + first : NULL,
                         element(p, to, c, 0, 0));
            continue;
        }
        for (int64_t i = 0; i < p->planets; i++)
            for (int32_t lane = 0; lane < whfast_lanes; lane++)
                if (is_there(place, lane))
                    *element(p, to, c, i, lane) =
                        all[c] ? all[c][at_body(place, first + i, lane)] : 0;
    }
}

static void store_planets(const struct whfast_place *place, const double *from, double *lead,
                          double *all)
{
    const struct whfast_part *part = &place->part;
    for (int64_t i = 0; stores_leading(place) && i < part->leading; i++)
        lead[i] = from[i] + 0.0;
    for (int64_t i = 0; i < part->count; i++)
        all[part->first + i] = from[part->leading + i] + 0.0;
}

/* + 0 makes −0 to 0: which of them it is depends on the layout. */
static void store_vectors(const struct whfast_place *place, struct whfast_planets *p, vdouble *from,
                          int64_t first, double *const lead[3], double *const all[3])
{
    for (int32_t c = 0; c < 3 && all[c]; c++) {
        if (place->system < 0)
            store_planets(place, element(p, from, c, 0, 0), lead[c] + first, all[c] + first);
        for (int64_t i = 0; place->system >= 0 && i < p->planets; i++)
            for (int32_t lane = 0; lane < whfast_lanes; lane++)
                if (is_there(place, lane))
                    all[c][at_body(place, first + i, lane)] = *element(p, from, c, i, lane) + 0.0;
    }
}

/* A vector of each system. */
static void load_vector(const struct whfast_place *place, double *const from[3], int64_t body,
                        vdouble to[3])
{
    for (int32_t c = 0; c < 3; c++)
        for (int32_t lane = 0; lane < whfast_lanes; lane++) {
            const int32_t of = place->system < 0 ? 0 : lane;
            SIMD_LANE(to[c], lane) = from[c] ? from[c][at_body(place, body, of)] : 0;
        }
}

static void store_vector(const struct whfast_place *place, const vdouble from[3], int64_t body,
                         double *const to[3])
{
    if (!stores_leading(place))
        return;
    for (int32_t c = 0; c < 3; c++)
        for (int32_t lane = 0; to[c] && lane < systems_in(place); lane++)
            if (place->system < 0 || is_there(place, lane))
                to[c][at_body(place, body, lane)] = SIMD_LANE(from[c], lane) + 0.0;
}

static void load_bodies(const struct whfast_place *place, struct whfast_planets *p)
{
    const struct whfast_arrays *lead = &place->problem->lead, *all = &place->problem->all;
    vdouble star[3], star_velocity[3];
    load_vector(place, lead->position, 0, star);
    load_vector(place, lead->velocity, 0, star_velocity);
    load_vectors(place, p, lead->position, all->position, 1, 1, p->q);
    load_vectors(place, p, lead->velocity, all->velocity, 1, 0, p->v);
    for (int32_t c = 0; c < 3; c++)
        for (int64_t i = 0; i < p->planets; i++)
            for (int32_t lane = 0; lane < systems_in(place); lane++) {
                *element(p, p->q, c, i, lane) -= SIMD_LANE(star[c], lane);
                *element(p, p->v, c, i, lane) -= SIMD_LANE(star_velocity[c], lane);
            }
    begin_planets(p, star, star_velocity);
}

static void load_kept(const struct whfast_place *place, struct whfast_planets *p)
{
    const struct whfast_arrays *lead = &place->problem->lead, *all = &place->problem->all;
    const int64_t center = place->problem->center;
    load_vectors(place, p, lead->kept_position, all->kept_position, 0, 1, p->q);
    load_vectors(place, p, lead->kept_velocity, all->kept_velocity, 0, 0, p->v);
    load_vectors(place, p, lead->lost_position, all->lost_position, 0, 0, p->lost_q);
    load_vectors(place, p, lead->lost_velocity, all->lost_velocity, 0, 0, p->lost_v);
    load_vector(place, lead->kept_position, center, p->center);
    load_vector(place, lead->kept_velocity, center, p->center_velocity);
    load_vector(place, lead->lost_position, center, p->lost_center);
}

static void store_kept(const struct whfast_place *place, struct whfast_planets *p)
{
    const struct whfast_arrays *lead = &place->problem->lead, *all = &place->problem->all;
    const int64_t center = place->problem->center;
    store_vectors(place, p, p->q, 0, lead->kept_position, all->kept_position);
    store_vectors(place, p, p->v, 0, lead->kept_velocity, all->kept_velocity);
    store_vectors(place, p, p->lost_q, 0, lead->lost_position, all->lost_position);
    store_vectors(place, p, p->lost_v, 0, lead->lost_velocity, all->lost_velocity);
    store_vector(place, p->center, center, lead->kept_position);
    store_vector(place, p->center_velocity, center, lead->kept_velocity);
    store_vector(place, p->lost_center, center, lead->lost_position);
}

/* Positions and velocities at the end of the last step. */
static void store_bodies(const struct whfast_place *place, struct whfast_planets *p)
{
    const struct whfast_problem *problem = place->problem;
    const struct whfast_arrays *lead = &problem->lead, *all = &problem->all;
    const double h = problem->h;
    vdouble star[3], star_velocity[3];
    drift_any(p, -first_drift(problem->choice.kernel) * h);
    drift_center(p, -first_drift(problem->choice.kernel) * h);
    correct_back(p, problem->choice.corrector, h);
    end_planets(p, star, star_velocity);
    store_vectors(place, p, p->q, 1, lead->position, all->position);
    store_vectors(place, p, p->v, 1, lead->velocity, all->velocity);
    store_vector(place, star, 0, lead->position);
    store_vector(place, star_velocity, 0, lead->velocity);
}

/* At least one, so that sums have something to add. */
static int64_t slots_of(bool is_systems, int64_t planets)
{
    const int64_t slots = is_systems ? planets : (planets + whfast_lanes - 1) / whfast_lanes;
    return slots > 0 ? slots : 1;
}

static void take_steps(const struct whfast_place *place, double *memory)
{
    const struct whfast_problem *problem = place->problem;
    const int64_t planets = place->part.leading + place->part.count;
    const bool is_systems = place->system >= 0;
    struct whfast_planets p = {.layout = {is_systems, slots_of(is_systems, planets), whfast_lanes},
                               .planets = planets,
                               .is_jacobi = problem->choice.coordinates == whfast_jacobi};
    const int64_t slots = p.layout.slots;
    lay_out(&p, memory);
    memset(p.mass, 0, (size_t)(8 * slots) * sizeof(vdouble));
    for (int64_t i = 0; i < planets; i++)
        p.is_source[i] = 0;
    for (int32_t lane = 0; lane < systems_in(place); lane++)
        load_masses(place, &p, lane);
    load_sources(&p);
    if (problem->begins) {
        load_bodies(place, &p);
        correct(&p, problem->choice.corrector, problem->h);
        drift_any(&p, first_drift(problem->choice.kernel) * problem->h);
        drift_center(&p, first_drift(problem->choice.kernel) * problem->h);
    } else {
        load_kept(place, &p);
    }
    step_planets(&p, problem->choice.kernel, problem->h, problem->steps);
    store_kept(place, &p);
    if (problem->ends)
        store_bodies(place, &p);
}

static void step_one(const struct whfast_problem *problem, const struct whfast_part *part,
                     double *memory)
{
    const struct whfast_place place = {problem, *part, -1};
    take_steps(&place, memory);
}

enum {
    most_planets = kith_most_bodies_of_system - 1,
    most_numbers = most_planets * (whfast_lanes * whfast_numbers_of_slot + 1)
};

static void step_systems(const struct whfast_problem *problem, int64_t begin, int64_t end)
{
    _Alignas(SIMD_BYTES) double memory[most_numbers];
    for (int64_t s = begin; s < end; s += whfast_lanes) {
        const struct whfast_place place = {problem, {problem->forces->target_count - 1, 0, 0}, s};
        take_steps(&place, memory);
    }
}

static int64_t numbers_of(int64_t planets)
{
    const int64_t numbers =
        slots_of(false, planets) * whfast_lanes * whfast_numbers_of_slot + planets;
    return (numbers + whfast_lanes - 1) / whfast_lanes * whfast_lanes;
}

const struct whfast_kernels KITH_ISA_SYMBOL(whfast) = {
    .one = step_one, .systems = step_systems, .numbers_of = numbers_of};
