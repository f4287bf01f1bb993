#ifndef INITIAL_RECIPE_H
#define INITIAL_RECIPE_H

#include "core/poll.h"
#include "kith/initial.h"

/* What a kind of initial conditions can do, in addition to its public row. */
struct initial_recipe {
    /* Fills in bodies that have the count, dimensions and columns wanted, all numbers 0. The
     * options have been checked, and their defaults put in. Never fails. */
    void (*fill)(const kith_initial_options *options, kith_bodies *bodies);
    /* Instead of fill, where memory may run out or the caller may want to stop. */
    kith_status (*make)(const kith_initial_options *options, struct poll_state *poll,
                        kith_bodies *bodies);
    unsigned columns; /* kith_column flags */
    bool can_be_flat;
    bool takes_eccentricity;
    double default_mass_ratio; /* 0: takes none */
    int64_t minimum_count;
};

/* few_body.c */
void initial_two_body(const kith_initial_options *options, kith_bodies *bodies);
void initial_lagrange(const kith_initial_options *options, kith_bodies *bodies);
void initial_figure_eight(const kith_initial_options *options, kith_bodies *bodies);
void initial_six(const kith_initial_options *options, kith_bodies *bodies);

/* solar_system.c */
void initial_solar_system(const kith_initial_options *options, kith_bodies *bodies);
void initial_outer_solar_system(const kith_initial_options *options, kith_bodies *bodies);

/* planets.c */
kith_status initial_planets(const kith_initial_options *options, struct poll_state *poll,
                            kith_bodies *bodies);

/* spheres.c */
kith_status initial_plummer(const kith_initial_options *options, struct poll_state *poll,
                            kith_bodies *bodies);
kith_status initial_hernquist(const kith_initial_options *options, struct poll_state *poll,
                              kith_bodies *bodies);

/* uniform.c */
kith_status initial_uniform_cube(const kith_initial_options *options, struct poll_state *poll,
                                 kith_bodies *bodies);
kith_status initial_uniform_sphere(const kith_initial_options *options, struct poll_state *poll,
                                   kith_bodies *bodies);

/* disk.c */
kith_status initial_disk(const kith_initial_options *options, struct poll_state *poll,
                         kith_bodies *bodies);

/* galaxies.c */
kith_status initial_galaxies(const kith_initial_options *options, struct poll_state *poll,
                             kith_bodies *bodies);

/* crystals.c */
kith_status initial_fcc(const kith_initial_options *options, struct poll_state *poll,
                        kith_bodies *bodies);
kith_status initial_bcc(const kith_initial_options *options, struct poll_state *poll,
                        kith_bodies *bodies);
kith_status initial_nacl(const kith_initial_options *options, struct poll_state *poll,
                         kith_bodies *bodies);

/* lattice.c */
kith_status initial_lattice(const kith_initial_options *options, struct poll_state *poll,
                            kith_bodies *bodies);
kith_status initial_lattice_walk(const kith_initial_options *options, struct poll_state *poll,
                                 kith_bodies *bodies);

#endif
