#ifndef CLI_PLOT_PANEL_H
#define CLI_PLOT_PANEL_H

#include "plot_style.h"

/* Writes, as $tracks, where the positions are in a plane, times factor: of few bodies a block of
 * frames each; of many their last frame, with a color by density. Few bodies are also written, as
 * $bodies, at the end of their paths: spheres, the nearest last. length_per_em is that of the
 * graph, with the factor. */
bool panel_write_data(FILE *script, const struct plot *plot, const struct tracks *tracks,
                      const struct plane *plane, const struct span spans[2], double factor,
                      double length_per_em);

/* Writes what of a plot command draws $tracks and $bodies: paths from a dot at the start to a
 * sphere at the end and, if the key is here, the bodies' names; or points. */
void panel_write_elements(FILE *script, const struct plot *plot, const struct tracks *tracks,
                          bool has_key);

/* Widens spans to the shape of a box, so that both have one scale; returns that, length per pixel.
 */
double panel_fit(struct box box, struct span spans[2]);

/* Writes place and axes of a graph with the coordinates axes[0] across and axes[1] up. spans are
 * fitted, and yet without the unit's factor. */
void panel_write_axes(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                      const int axes[2], const struct span spans[2], struct unit unit);

#endif
