#ifndef CLI_PLOT_PROJECTION_H
#define CLI_PLOT_PROJECTION_H

#include "color_map.h"
#include "raster.h"
#include "splat.h"

/* Colors of surface densities: asinh(σ / dark) over asinh(white / dark), linear in what is sparse
 * and logarithmic in what is dense (Lupton, Gunn & Szalay 1999). Both are masses over areas. */
struct tone {
    double dark, white;
};

/* Bodies projected along a line of sight: what all pictures of a run share. */
struct projection {
    const struct plot *plot;
    struct window window;
    struct tone tone;
    kith_units units; /* the names */
};

/* The plane across plot's line of sight: x to the right and y up seen along z, z up otherwise. */
struct plane projection_plane(const struct plot *plot);

/* The spans of bodies in a plane. Of many, all but the outermost hundredth on each side are in
 * them, and a sixth more, so that a few escaping bodies do not reduce the others to a dot. False,
 * with a message, if memory runs out. */
bool projection_span(const struct plot *plot, const kith_bodies *bodies, struct plane plane,
                     struct span spans[2]);

/* Widens the spans to a picture's shape, with one scale. */
void projection_fit(struct window *window);

/* The tone that suits a splat: white is the density that one pixel in 5000 exceeds, and below dark
 * is a fiftieth of the mass. False, with a message, if memory runs out. */
bool projection_choose_tone(const struct projection *projection, const struct splat *splat,
                            struct tone *tone);

/* Paints a splat, then title, time if it is a number, scale bar and color bar. */
void projection_paint(const struct projection *projection, const struct splat *splat, double time,
                      struct raster *raster);

#endif
