/* Pluto's resonance with Neptune: why two orbits that cross in the picture never meet.
 *
 *     pluto_resonance [OUTPUT.csv]
 *
 * Follows the outer solar system for 100 000 years and watches the angle
 *
 *     φ = 3 λ_Pluto − 2 λ_Neptune − ϖ_Pluto
 *
 * (λ: mean longitude, ϖ: longitude of the pericenter). φ librates about 180° with a period of 20
 * 000 years (Cohen & Hubbard 1965, AJ 70, 10; Williams & Benson 1971, AJ 76, 167): when Pluto comes
 * to its pericenter, inside Neptune's orbit, Neptune is far away. Writes time and φ to OUTPUT.csv,
 * which pluto_resonance.gp draws, and prints the range of φ. */

#include <math.h>

#include "example.h"
#include "orbit.h"

enum { neptune = 4, pluto = 5, body_count = 6, samples = 1000 };

static const double pi = 3.14159265358979323846;
static const double step_days = 40;
static const int64_t steps_a_sample = 913; /* 99.99 years of 365.25 days */

/* Elements about the barycenter of all bodies, with all their mass: about the Sun they would
 * tremble with Jupiter's pull on it. */
static struct orbit barycentric_orbit(const kith_bodies *bodies, int body)
{
    double mass = 0, x[3] = {0}, v[3] = {0};
    for (int i = 0; i < body_count; i++)
        mass += bodies->mass[i];
    for (int k = 0; k < 3; k++) {
        x[k] = bodies->position[3 * body + k];
        v[k] = bodies->velocity[3 * body + k];
        for (int i = 0; i < body_count; i++) {
            x[k] -= bodies->mass[i] / mass * bodies->position[3 * i + k];
            v[k] -= bodies->mass[i] / mass * bodies->velocity[3 * i + k];
        }
    }
    return osculating_orbit(bodies->units.gravitational_constant * mass, x, v);
}

/* φ in degrees, from 0 to 360. */
static double resonance_angle(const kith_bodies *bodies)
{
    const struct orbit outer = barycentric_orbit(bodies, pluto);
    const struct orbit inner = barycentric_orbit(bodies, neptune);
    const double angle =
        3 * outer.mean_longitude - 2 * inner.mean_longitude - outer.pericenter_longitude;
    const double turn = fmod(angle * 180 / pi, 360);
    return turn < 0 ? turn + 360 : turn;
}

/* Says the range of φ; 0 if it librates about 180°. */
static int report(const double *degrees)
{
    double least = degrees[0], most = degrees[0];
    for (int k = 1; k <= samples; k++) {
        least = fmin(least, degrees[k]);
        most = fmax(most, degrees[k]);
    }
    const int librates = least > 60 && most < 300;
    printf("phi %s: from %.1f to %.1f degrees in 100 000 years\n",
           librates ? "librates about 180 degrees" : "circulates", least, most);
    return librates ? 0 : 1;
}

int main(int argc, char **argv)
{
    static double years[samples + 1], degrees[samples + 1];
    const kith_simulation_options options = {.dt = step_days};
    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    kith_simulation *simulation = NULL;
    must(kith_context_create(NULL, &context));
    must(kith_initial_make("outer-solar-system", NULL, &bodies));
    must(kith_simulation_create(context, &options, bodies, &simulation));

    for (int k = 0; k <= samples; k++) {
        must(kith_simulation_get_bodies(simulation, bodies));
        years[k] = bodies->time / 365.25;
        degrees[k] = resonance_angle(bodies);
        must(kith_simulation_step(simulation, steps_a_sample));
    }

    const kith_table_column columns[] = {
        {"years", kith_array_vector(years, KITH_F64, samples + 1)},
        {"resonance_angle_degrees", kith_array_vector(degrees, KITH_F64, samples + 1)},
    };
    if (argc > 1)
        must(kith_table_write(argv[1], NULL, 2, columns));
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return report(degrees);
}
