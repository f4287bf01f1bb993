/* The orbits of several bodies about a star, in three kinds of coordinates. */

#include <math.h>

#include "core/arguments.h"
#include "kith/orbits.h"

/* Where some bodies are together: their center of mass and its velocity. */
struct center {
    double mass, position[3], velocity[3];
};

/* Adds a body; the mean moves by the body's fraction of the mass, which does not lose digits. */
static void add_body(struct center *center, double mass, const double position[3],
                     const double velocity[3])
{
    center->mass += mass;
    for (int k = 0; k < 3 && center->mass > 0; k++) {
        center->position[k] += mass / center->mass * (position[k] - center->position[k]);
        center->velocity[k] += mass / center->mass * (velocity[k] - center->velocity[k]);
    }
}

static double mass_of(const kith_bodies *bodies, int64_t body)
{
    return bodies->mass ? bodies->mass[body] : 1;
}

/* In three dimensions; false if the body has been removed. */
static bool get_body(const kith_bodies *bodies, int64_t body, double position[3],
                     double velocity[3])
{
    const int32_t d = bodies->dimensions;
    bool is_there = true;
    for (int32_t k = 0; k < 3; k++) {
        position[k] = k < d ? bodies->position[body * d + k] : 0;
        velocity[k] = k < d && bodies->velocity ? bodies->velocity[body * d + k] : 0;
        is_there = is_there && isfinite(position[k]) && isfinite(velocity[k]);
    }
    return is_there;
}

static struct center center_of_all(const kith_bodies *bodies)
{
    struct center center = {0};
    double position[3], velocity[3];
    for (int64_t body = 0; body < bodies->count; body++)
        if (get_body(bodies, body, position, velocity))
            add_body(&center, mass_of(bodies, body), position, velocity);
    return center;
}

static kith_status check_masses(const kith_bodies *bodies)
{
    for (int64_t body = 0; body < bodies->count; body++)
        if (!(mass_of(bodies, body) >= 0) || isinf(mass_of(bodies, body)))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "the mass of body %lld is %g; orbits need finite masses of at least 0",
                             (long long)body, mass_of(bodies, body));
    if (!(mass_of(bodies, 0) > 0))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the mass of body 0, the star, is %g; orbits need one greater than 0",
                         mass_of(bodies, 0));
    return KITH_OK;
}

static kith_status choose(const kith_orbits_options *options, const kith_bodies *bodies,
                          kith_orbits_options *chosen)
{
    *chosen = options ? *options : (kith_orbits_options){0};
    const double own = bodies->units.gravitational_constant;
    if (chosen->gravitational_constant == 0)
        chosen->gravitational_constant = own == 0 ? 1 : own;
    const double g = chosen->gravitational_constant;
    if (!(g > 0) || isinf(g))
        return kith_fail(KITH_INVALID_ARGUMENT, "G is %g; orbits need one greater than 0", g);
    if ((int)chosen->coordinates < KITH_HELIOCENTRIC || chosen->coordinates > KITH_BARYCENTRIC)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "coordinates is %d; give KITH_HELIOCENTRIC, KITH_JACOBI or "
                         "KITH_BARYCENTRIC",
                         (int)chosen->coordinates);
    return check_masses(bodies);
}

static kith_status check_bodies(const kith_bodies *bodies)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    if (bodies->count < 0 || (bodies->dimensions != 2 && bodies->dimensions != 3) ||
        (bodies->count > 0 && !bodies->position))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "bodies has %lld rows of %d dimensions; give at least 0 rows of 2 or 3",
                         (long long)bodies->count, (int)bodies->dimensions);
    return KITH_OK;
}

static const kith_orbit no_orbit = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

/* The mass that attracts a body, times G. */
static double mu_of(const kith_orbits_options *options, const struct center *origin, double mass)
{
    const bool has_it = options->coordinates == KITH_BARYCENTRIC;
    return options->gravitational_constant * (has_it ? origin->mass : origin->mass + mass);
}

static kith_status compute_one(const kith_orbits_options *options, const kith_bodies *bodies,
                               int64_t body, struct center *origin, kith_orbit *orbit)
{
    double position[3], velocity[3], x[3], v[3];
    const double mass = mass_of(bodies, body);
    *orbit = no_orbit;
    if (!get_body(bodies, body, position, velocity))
        return KITH_OK;
    for (int k = 0; k < 3; k++) {
        x[k] = position[k] - origin->position[k];
        v[k] = velocity[k] - origin->velocity[k];
    }
    const kith_status status = kith_orbit_compute(mu_of(options, origin, mass), x, v, orbit);
    if (status != KITH_OK)
        return kith_fail_within(status, "body %lld: ", (long long)body);
    if (options->coordinates == KITH_JACOBI)
        add_body(origin, mass, position, velocity);
    return KITH_OK;
}

kith_status kith_orbits_compute(const kith_orbits_options *options, const kith_bodies *bodies,
                                kith_orbit *orbits)
{
    kith_orbits_options chosen;
    double position[3], velocity[3];
    KITH_TRY(check_bodies(bodies));
    if (bodies->count < 2)
        return KITH_OK;
    KITH_TRY(kith_check_pointer(orbits, "orbits"));
    KITH_TRY(choose(options, bodies, &chosen));

    const bool has_star = get_body(bodies, 0, position, velocity);
    struct center origin = {0};
    if (chosen.coordinates == KITH_BARYCENTRIC)
        origin = center_of_all(bodies);
    else if (has_star)
        add_body(&origin, mass_of(bodies, 0), position, velocity);
    for (int64_t body = 1; body < bodies->count; body++) {
        if (has_star)
            KITH_TRY(compute_one(&chosen, bodies, body, &origin, &orbits[body - 1]));
        else
            orbits[body - 1] = no_orbit;
    }
    return KITH_OK;
}

/* Puts the body on its orbit about the origin. */
static kith_status place_one(const kith_orbits_options *options, const kith_orbit *orbit,
                             int64_t body, struct center *origin, kith_bodies *bodies)
{
    double *position = bodies->position + 3 * body, *velocity = bodies->velocity + 3 * body;
    const double mass = mass_of(bodies, body);
    const kith_status status =
        kith_orbit_place(mu_of(options, origin, mass), orbit, position, velocity);
    if (status != KITH_OK)
        return kith_fail_within(status, "body %lld: ", (long long)body);
    for (int k = 0; k < 3; k++) {
        position[k] += origin->position[k];
        velocity[k] += origin->velocity[k];
    }
    if (options->coordinates == KITH_JACOBI)
        add_body(origin, mass, position, velocity);
    return KITH_OK;
}

/* The star balances the others about the origin. */
static void balance(kith_bodies *bodies)
{
    for (int64_t body = 1; body < bodies->count; body++)
        for (int k = 0; k < 3; k++) {
            const double ratio = mass_of(bodies, body) / mass_of(bodies, 0);
            bodies->position[k] -= ratio * bodies->position[3 * body + k];
            bodies->velocity[k] -= ratio * bodies->velocity[3 * body + k];
        }
}

static void subtract_center(kith_bodies *bodies)
{
    const struct center center = center_of_all(bodies);
    for (int64_t k = 0; k < 3 * bodies->count; k++) {
        bodies->position[k] -= center.position[k % 3];
        bodies->velocity[k] -= center.velocity[k % 3];
    }
}

kith_status kith_orbits_place(const kith_orbits_options *options, const kith_orbit *orbits,
                              kith_bodies *bodies)
{
    kith_orbits_options chosen;
    KITH_TRY(check_bodies(bodies));
    if (bodies->count == 0)
        return KITH_OK;
    if (bodies->count > 1)
        KITH_TRY(kith_check_pointer(orbits, "orbits"));
    if (bodies->dimensions != 3 || !bodies->velocity)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "bodies has %d dimensions and %s velocities; give 3, and velocities",
                         (int)bodies->dimensions, bodies->velocity ? "has" : "no");
    KITH_TRY(choose(options, bodies, &chosen));

    struct center origin = {.mass = mass_of(bodies, 0)};
    for (int64_t body = 1; chosen.coordinates == KITH_BARYCENTRIC && body < bodies->count; body++)
        origin.mass += mass_of(bodies, body);
    for (int k = 0; k < 3; k++)
        bodies->position[k] = bodies->velocity[k] = 0;
    for (int64_t body = 1; body < bodies->count; body++)
        KITH_TRY(place_one(&chosen, &orbits[body - 1], body, &origin, bodies));
    if (chosen.coordinates == KITH_BARYCENTRIC)
        balance(bodies);
    else
        subtract_center(bodies);
    return KITH_OK;
}
