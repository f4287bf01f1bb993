#include <math.h>

#include "initial/center.h"
#include "initial/disk.h"
#include "initial/recipe.h"

/* Pericenter distance, and the start on the orbit as D = tan(ν/2) of the true anomaly: by Barker's
 * equation √(2p³/μ) (|D| + |D|³/3) before the pericenter, that is 13.2 for μ = 2. */
static const double pericenter = 2;
static const double start = -2;

/* One of the two galaxies: how it differs from disk.h's, where it is and how it moves. The disk is
 * tilted about the x axis, which points to the pericenter. */
struct galaxy {
    double mass, size;
    double tilt_cosine, tilt_sine;
    double position[2], velocity[2];
};

/* Parabolic relative orbit in the x–y plane, with D = tan(ν/2), G = 1 and μ the sum of masses:
 * r = p (1 − D², 2D), v = √(2μ/p) (−D, 1) / (1 + D²). */
static void put_on_orbit(struct galaxy pair[2])
{
    const double total = pair[0].mass + pair[1].mass;
    const double speed = sqrt(2 * total / pericenter) / (1 + start * start);
    const double position[2] = {pericenter * (1 - start * start), pericenter * 2 * start};
    const double velocity[2] = {-speed * start, speed};
    for (int32_t k = 0; k < 2; k++) {
        pair[0].position[k] = -position[k] * pair[1].mass / total;
        pair[1].position[k] = position[k] * pair[0].mass / total;
        pair[0].velocity[k] = -velocity[k] * pair[1].mass / total;
        pair[1].velocity[k] = velocity[k] * pair[0].mass / total;
    }
}

static void tilt(const struct galaxy *galaxy, double vector[3])
{
    const double y = vector[1];
    vector[1] = galaxy->tilt_cosine * y - galaxy->tilt_sine * vector[2];
    vector[2] = galaxy->tilt_sine * y + galaxy->tilt_cosine * vector[2];
}

/* Scales, tilts and moves a body of disk.h's galaxy. */
static void move_to(const struct galaxy *galaxy, double position[3], double velocity[3])
{
    const double speed = sqrt(galaxy->mass / galaxy->size);
    for (int32_t k = 0; k < 3; k++) {
        position[k] *= galaxy->size;
        velocity[k] *= speed;
    }
    tilt(galaxy, position);
    tilt(galaxy, velocity);
    for (int32_t k = 0; k < 2; k++) {
        position[k] += galaxy->position[k];
        velocity[k] += galaxy->velocity[k];
    }
}

/* The first galaxy's part of the bodies, by mass, so that all stars weigh about the same. */
static int64_t count_of_first(int64_t count, double mass_ratio)
{
    const int64_t first = (int64_t)((double)count / (1 + mass_ratio) + 0.5);
    return first < 1 ? 1 : first > count - 1 ? count - 1 : first;
}

/* Fills in count bodies of one galaxy, its center of mass on the orbit. */
static kith_status place_galaxy(const struct galaxy *galaxy, int64_t first, int64_t count,
                                uint64_t seed, struct poll_state *poll, const kith_bodies *bodies)
{
    const int64_t bulge = disk_bulge_count(count);
    kith_bodies part = *bodies;
    part.count = count;
    part.mass += first;
    part.position += 3 * first;
    part.velocity += 3 * first;
    for (int64_t i = 0; i < count; i++) {
        KITH_TRY(kith_check_poll_at(poll, first + i));
        struct random_stream stream = random_begin(seed, RANDOM_GALAXIES, first + i);
        part.mass[i] = galaxy->mass / (double)count;
        disk_place(&stream, i < bulge, part.position + 3 * i, part.velocity + 3 * i);
    }
    initial_center(&part);
    for (int64_t i = 0; i < count; i++)
        move_to(galaxy, part.position + 3 * i, part.velocity + 3 * i);
    return KITH_OK;
}

/* Disks of one surface density: the size is proportional to the root of the mass. */
kith_status initial_galaxies(const kith_initial_options *options, struct poll_state *poll,
                             kith_bodies *bodies)
{
    const double ratio = options->mass_ratio;
    struct galaxy pair[2] = {
        {.mass = 1, .size = 1, .tilt_cosine = 24.0 / 25, .tilt_sine = 7.0 / 25},
        {.mass = ratio, .size = sqrt(ratio), .tilt_cosine = 3.0 / 5, .tilt_sine = -4.0 / 5},
    };
    put_on_orbit(pair);

    const int64_t first = count_of_first(bodies->count, ratio);
    const int64_t second = bodies->count - first;
    KITH_TRY(place_galaxy(&pair[0], 0, first, options->seed, poll, bodies));
    KITH_TRY(place_galaxy(&pair[1], first, second, options->seed, poll, bodies));
    initial_center(bodies);
    return KITH_OK;
}
