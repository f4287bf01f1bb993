/* A lake at rest, 1 m deep and 8 m long between two walls, over a bump of 0.5 m. Water and bed are
 * on one square lattice, each with the volume that its height has there. */

#ifndef LAKE_H
#define LAKE_H

#include "water.h"

static const double lake_length = 8, lake_width = 2, lake_level = 1; /* m */

/* The height of the bed. */
static const char *const lake_bed =
    "0.5 * exp(-8 * ((x_i - 4) * (x_i - 4) + (y_i - 1) * (y_i - 1)))";

static inline double lake_bed_at(double x, double y)
{
    return 0.5 * exp(-8 * ((x - 4) * (x - 4) + (y - 1) * (y - 1)));
}

/* Two walls, and between them and over the bump one square lattice. */
static inline void lake_before(struct water *water, int64_t wanted)
{
    const int64_t across = (int64_t)round(sqrt((double)wanted * lake_width / lake_length));
    const double spacing = lake_width / (double)across, part = spacing * spacing;
    const int64_t along = (int64_t)round(lake_length / spacing);
    const int64_t layers = 6;                             /* more than the support is long */
    set_reach_on_lattice(water, 5.05 * spacing, spacing); /* 80 neighbors */
    water->cell = (kith_cell){{{2 * lake_length, 0, 0}, {0, lake_width, 0}}, {false, true, false}};
    water->left = 0;
    water->right = (double)along * spacing;
    water->bed = lake_bed;
    for (int is_wall = 0; is_wall < 2; is_wall++)
        for (int64_t column = -layers; column < along + layers; column++)
            for (int64_t row = 0; row < across; row++) {
                const double at[2] = {((double)column + 0.5) * spacing,
                                      ((double)row + 0.5) * spacing};
                const double depth = lake_level - lake_bed_at(at[0], at[1]);
                if ((column < 0 || column >= along) == is_wall)
                    add_particle(water, is_wall ? &water->walls : &water->count,
                                 (struct particle){at[0], at[1], part * depth, part});
            }
}

#endif
