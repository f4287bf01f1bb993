/* A star and planets on orbits that the caller gives. */

#include <stdlib.h>

#include "core/memory.h"
#include "initial/recipe.h"

kith_status initial_planets(const kith_initial_options *options, struct poll_state *poll,
                            kith_bodies *bodies)
{
    (void)poll;
    kith_orbit *orbits = NULL;
    KITH_TRY(kith_allocate(options->planet_count, sizeof *orbits, "orbits", &orbits));
    bodies->mass[0] = options->star_mass == 0 ? 1 : options->star_mass;
    for (int64_t k = 0; k < options->planet_count; k++) {
        const kith_planet *planet = &options->planets[k];
        bodies->mass[k + 1] = planet->m;
        orbits[k] = (kith_orbit){.a = planet->a,
                                 .e = planet->e,
                                 .i = planet->i,
                                 .Omega = planet->Omega,
                                 .omega = planet->omega,
                                 .M = planet->M};
    }
    bodies->units.gravitational_constant = options->gravitational_constant;
    const kith_orbits_options about = {.coordinates = options->coordinates};
    const kith_status status = kith_orbits_place(&about, orbits, bodies);
    free(orbits);
    return status;
}
