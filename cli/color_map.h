#ifndef CLI_COLOR_MAP_H
#define CLI_COLOR_MAP_H

#include <stdint.h>

enum { color_map_stops = 33 };

/* A map from 0 … 1 to colors, 0xRRGGBB, evenly spaced: perceptually uniform, and in lightness
 * alone already a picture, so that no kind of color vision is needed. */
struct color_map {
    const char *name, *description;
    unsigned ink; /* of letters on the color of 0 */
    unsigned stops[color_map_stops];
};

/* The table, its first row the default; *count rows. */
const struct color_map *color_maps(int64_t *count);

/* The color of a value; below 0 and above 1 that of the end. */
unsigned color_map_at(const struct color_map *map, double value);

#endif
