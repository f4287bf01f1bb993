#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdio.h>

#include "cli.h"
#include "color_map.h"
#include "plot_picture.h"
#include "resonance.h"

struct plot;

/* A kind of plot: a row of the table in plot.c.
 *
 * draw reads the run and writes the whole gnuplot script with its data; on failure it prints the
 * reason and returns exit_failed. Of a kind for files of bodies the trajectory is NULL. */
struct plot_kind {
    const char *name, *description;
    const char *extensions; /* of the pictures it comes as, space-separated */
    int width;              /* in pixels, unless the user gives one */
    bool not_a_run;         /* draws another file, see its description */
    bool of_pairs;          /* wants --cutoff */
    double columns;         /* the width, in font sizes; 0: draw writes the picture itself */
    int (*draw)(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
};

/* What the user requested. */
struct plot {
    const char *command;                               /* for messages: "kith plot" */
    const char *input, *input_format, *output, *title; /* input_format: NULL by extension */
    const struct plot_kind *kind;
    const struct picture_format *format;
    int width, height;           /* pixels; 0: by kind, and as the data need */
    int64_t first_frame, frames; /* of the run, from 0 */
    int64_t system;              /* of an ensemble, from 0 */
    bool system_given;
    double cutoff, box[3];              /* of pairs; the cell's sides */
    int box_sides;                      /* 0: the file's cell, or none */
    double line_of_sight[3];            /* of density: towards the eye */
    const struct color_map *colors;     /* likewise */
    kith_orbit_coordinates coordinates; /* of elements */
    struct resonance resonance;         /* likewise: an angle below them, or none */
    double seconds;                     /* of a film; 0: by its frames */
    bool dark, quiet;
};

/* The row of a name, or NULL. */
const struct plot_kind *plot_kind_named(const char *name);

int plot_draw_orbits(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_planes(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_space(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_energy(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_elements(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_density(const struct plot *plot, kith_trajectory *trajectory, FILE *picture);
int plot_draw_film(const struct plot *plot, kith_trajectory *trajectory, FILE *picture);
int plot_draw_scene(const struct plot *plot, kith_trajectory *trajectory, FILE *picture);
int plot_draw_chain(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_distances(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_neighbors(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_spy(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_row_lengths(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_megno(const struct plot *plot, kith_trajectory *trajectory, FILE *script);
int plot_draw_animation(const struct plot *plot, kith_trajectory *trajectory, FILE *script);

/* Zeroed memory for count × bytes, which is freed with free(); on failure prints the reason and
 * returns NULL. */
void *plot_allocate(const struct plot *plot, int64_t count, size_t bytes);

#endif
