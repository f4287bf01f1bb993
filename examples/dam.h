/* A dam that breaks: the water before, and where it goes. Deep water fills the middle of a channel,
 * shallow water (or none) outside; both walls break at t = 0. The channel is periodic, so nothing
 * needs a boundary; on a slope all water falls with the same acceleration. A tank is its right half
 * between two walls. */

#ifndef DAM_H
#define DAM_H

#include "water.h"

static const double deep = 1.0, shallow = 0.4;         /* m */
static const double channel = 40, dam = 10, width = 1; /* m: −20 … 20, walls at ±10 */

/* Fills left ≤ x < right with columns of particles, each of the same volume. */
static inline void fill(struct water *water, double left, double right, double depth, double volume)
{
    const double golden = (sqrt(5) - 1) / 2; /* a row's shift: stretched, rows stay even together */
    const int64_t across = (int64_t)round(width / sqrt(volume / depth));
    const int64_t along = (int64_t)round((right - left) * width * depth / volume / (double)across);
    for (int64_t column = 0; column < along; column++)
        for (int64_t row = 0; row < across; row++) {
            const double place = (double)column + fmod(golden * ((double)row + 0.5), 1);
            add_particle(water, &water->count,
                         (struct particle){left + place * (right - left) / (double)along,
                                           ((double)row + 0.5) * width / (double)across, volume,
                                           volume / depth});
        }
}

/* A square lattice behind the line x = at, as wide as the support, on the side of the sign. */
static inline void add_wall(struct water *water, double at, double side, double depth,
                            double volume)
{
    const int64_t across = (int64_t)round(width / sqrt(volume / depth));
    const double spacing = width / (double)across;
    for (int64_t column = 0; (double)column * spacing < water->reach; column++)
        for (int64_t row = 0; row < across; row++)
            add_particle(water, &water->walls,
                         (struct particle){at + side * ((double)column + 0.5) * spacing,
                                           ((double)row + 0.5) * spacing, spacing * spacing * depth,
                                           spacing * spacing});
}

/* Water of `wanted` particles in the channel or, with walls, in the tank. */
static inline void dam_before(struct water *water, int64_t wanted, double outside, bool has_walls)
{
    const double tip = outside > 0 ? 0 : 0.5, finer = 8; /* m of the water at each wall */
    const double all =
        width * (2 * (dam + tip * (finer - 1)) * deep + (channel - 2 * dam) * outside);
    const double volume = (has_walls ? all / 2 : all) / (double)wanted;
    set_reach(water, 3 * sqrt(volume / (outside > 0 ? outside : 0.3 * deep)));
    water->cell = (kith_cell){{{channel, 0, 0}, {0, width, 0}}, {!has_walls, true, false}};
    if (outside > 0 && !has_walls)
        fill(water, -channel / 2, -dam, outside, volume);
    fill(water, has_walls ? 0 : -dam + tip, dam - tip, deep, volume);
    if (tip > 0) {
        fill(water, -dam, -dam + tip, deep, volume / finer);
        fill(water, dam - tip, dam, deep, volume / finer);
    }
    if (outside > 0)
        fill(water, dam, channel / 2, outside, volume);
    if (!has_walls)
        return;
    water->left = 0;
    water->right = channel / 2;
    add_wall(water, water->left, -1, deep, volume);
    add_wall(water, water->right, 1, outside > 0 ? outside : 0.25 * deep, volume);
}

/* The depth between the rarefaction and the shock: where both give the water the same speed. */
static inline double middle_depth(double outside)
{
    double low = outside, high = deep;
    for (int k = 0; k < 200; k++) {
        const double depth = 0.5 * (low + high);
        const double behind = 2 * (sqrt(gravity * deep) - sqrt(gravity * depth));
        const double ahead = (depth - outside) * sqrt(0.5 * gravity * (1 / depth + 1 / outside));
        *(behind > ahead ? &low : &high) = depth;
    }
    return 0.5 * (low + high);
}

static inline double middle_speed(double outside)
{
    return 2 * (sqrt(gravity * deep) - sqrt(gravity * middle_depth(outside)));
}

/* The depth that the shock leaves at a wall which it has come back from: there its jump stops the
 * water. */
static inline double depth_at_wall(double outside)
{
    const double middle = middle_depth(outside), speed = middle_speed(outside);
    double low = middle, high = 10 * deep;
    for (int k = 0; k < 200; k++) {
        const double depth = 0.5 * (low + high);
        const double jump = (depth - middle) * sqrt(0.5 * gravity * (1 / depth + 1 / middle));
        *(jump < speed ? &low : &high) = depth;
    }
    return 0.5 * (low + high);
}

/* The exact depth at the distance x from a dam that broke t ago (Stoker 1957, Water Waves, §10.8;
 * on a dry bed Ritter 1892), and after the shock has met a wall at `wall`, if it has. */
static inline double exact_depth(double x, double t, double outside, double wall)
{
    const double c = sqrt(gravity * deep), middle = outside > 0 ? middle_depth(outside) : 0;
    const double c_middle = sqrt(gravity * middle), speed = 2 * (c - c_middle);
    if (x < -c * t)
        return deep;
    if (x < (speed - c_middle) * t)
        return (2 * c - x / t) * (2 * c - x / t) / (9 * gravity);
    if (outside <= 0)
        return 0;
    const double shock = middle * speed / (middle - outside), met = wall / shock;
    if (t < met)
        return x < shock * t ? middle : outside;
    const double high = depth_at_wall(outside);
    const double back = middle * speed / (high - middle); /* speed of the shock on its way back */
    return x < wall - back * (t - met) ? middle : high;
}

#endif
