#include "initial/disk.h"

#include <math.h>

#include "initial/center.h"
#include "initial/recipe.h"

static const double bulge_mass = 0.8;
static const double stars_mass = 0.2;
static const double bulge_size = 0.15;
static const double inner_edge = 0.3;
static const double outer_edge = 6;
static const double thickness = 0.05;
static const double toomre_q = 1.5;
static const double pi = 3.14159265358979323846;

/* A disk of unit mass: v² of its own rotation curve, and 2πΣ = e^-R, at steps of 1/8. */
static const double steps_per_length = 8;
static const double curve[][2] = {
#include "initial/disk_table.inc"
};

/* What a star at radius R needs to know. */
struct neighbourhood {
    double speed2;     /* v_c² of a circular orbit */
    double epicycle2;  /* κ² = 2 v_c²/R² + (dv_c²/dR)/R */
    double bulge_pull; /* vertical, per height */
    double density;    /* Σ */
};

static struct neighbourhood neighbourhood_at(double radius)
{
    const double place = radius * steps_per_length;
    const int32_t step = (int32_t)place;
    const double part = place - step;
    const double *low = curve[step];
    const double *high = curve[step + 1];
    const double disk_speed2 = stars_mass * (low[0] + part * (high[0] - low[0]));
    const double disk_slope = stars_mass * (high[0] - low[0]) * steps_per_length;

    const double r2 = radius * radius;
    const double softened2 = r2 + bulge_size * bulge_size;
    const double pull = bulge_mass / (softened2 * sqrt(softened2));
    const double bulge_slope = pull * radius * (2 - 3 * r2 / softened2);

    const double speed2 = pull * r2 + disk_speed2;
    return (struct neighbourhood){
        .speed2 = speed2,
        .epicycle2 = 2 * speed2 / r2 + (bulge_slope + disk_slope) / radius,
        .bulge_pull = pull,
        .density = stars_mass / (2 * pi) * (low[1] + part * (high[1] - low[1])),
    };
}

/* Density R e^-R between the edges: the sum of two exponential numbers. */
static double draw_radius(struct random_stream *stream)
{
    for (;;) {
        const double radius = random_exponential(stream) + random_exponential(stream);
        if (radius >= inner_edge && radius < outer_edge)
            return radius;
    }
}

/* Random speeds by Toomre's (1964) criterion, σ_R = 3.36 Q G Σ / κ and σ_φ = σ_R κ / 2Ω; they lower
 * the mean rotation by the asymmetric drift, v² = v_c² + σ_R² (1 − κ²/4Ω² + d ln(Σσ_R²)/d ln R)
 * with κ ∝ R^(-3/2) (Binney & Tremaine 2008, §4.8.2). The height is normal, with the σ_z that the
 * vertical virial theorem asks for, σ_z² = z² (bulge's pull) + 2 √π G Σ z. */
static void place_star(struct random_stream *stream, double position[3], double velocity[3])
{
    const double radius = draw_radius(stream);
    double outward[2];
    double plane[2];
    double vertical[2];
    random_direction(stream, 2, outward);
    random_normal_pair(stream, plane);
    random_normal_pair(stream, vertical);

    const struct neighbourhood here = neighbourhood_at(radius);
    const double sigma = 3.36 * toomre_q * here.density / sqrt(here.epicycle2);
    const double squeeze2 = here.epicycle2 * radius * radius / (4 * here.speed2);
    const double mean2 = here.speed2 + sigma * sigma * (4 - squeeze2 - 3 * radius);
    const double around = sqrt(fmax(mean2, 0)) + sigma * sqrt(squeeze2) * plane[1];
    const double radial = sigma * plane[0];

    for (int32_t k = 0; k < 2; k++)
        position[k] = radius * outward[k];
    velocity[0] = radial * outward[0] - around * outward[1];
    velocity[1] = radial * outward[1] + around * outward[0];
    position[2] = thickness * vertical[0];
    velocity[2] = vertical[1] * sqrt(thickness * thickness * here.bulge_pull +
                                     2 * sqrt(pi) * here.density * thickness);
}

double disk_mass(int64_t index, int64_t count)
{
    return index == 0 ? bulge_mass : stars_mass / (double)(count - 1);
}

void disk_place(struct random_stream *stream, int64_t index, double position[3], double velocity[3])
{
    if (index > 0) {
        place_star(stream, position, velocity);
        return;
    }
    for (int32_t k = 0; k < 3; k++)
        position[k] = velocity[k] = 0;
}

kith_status initial_disk(const kith_initial_options *options, struct poll_state *poll,
                         kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions == 2 ? 2 : 3;
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_DISK, i);
        double position[3];
        double velocity[3];
        disk_place(&stream, i, position, velocity);
        bodies->mass[i] = disk_mass(i, bodies->count);
        for (int32_t k = 0; k < d; k++) {
            bodies->position[i * d + k] = position[k];
            bodies->velocity[i * d + k] = velocity[k];
        }
    }
    initial_center(bodies);
    return KITH_OK;
}
