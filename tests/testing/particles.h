#ifndef TESTS_PARTICLES_H
#define TESTS_PARTICLES_H

/* Particles as an argument: positions, then {name, values} a column. */

#include "kith/particles.h"

#define PARTICLES(x, ...) (&(kith_particles){.positions = (x), .columns = {__VA_ARGS__}})
#define POINTS(x)         (&(kith_particles){.positions = (x)})

#endif
