/* A dam that breaks: the water before, and where it goes. Deep water fills the middle of a channel,
 * shallow water (or none) outside; both walls break at t = 0. The channel is periodic, so nothing
 * needs a boundary. */

#ifndef DAM_H
#define DAM_H

#include "water.h"

static const double deep = 1.0, shallow = 0.4;         /* m */
static const double channel = 40, dam = 10, width = 1; /* m: −20 … 20, walls at ±10 */
static const kith_cell channel_cell = {{{40, 0, 0}, {0, 1, 0}, {0, 0, 0}}, {true, true, false}};

/* Fills left ≤ x < right with columns of particles, each of the water's volume. */
static inline void fill(struct water *water, double left, double right, double depth,
                        double spacing)
{
    static const double stagger[4] = {0.125, 0.625, 0.375, 0.875}; /* evens out what stretches */
    const int64_t across = (int64_t)round(width / spacing);
    const int64_t along =
        (int64_t)round((right - left) * width * depth / water->volume / (double)across);
    for (int64_t column = 0; column < along; column++)
        for (int64_t row = 0; row < across; row++) {
            double *at = water->position + 2 * water->count++;
            const double place = (double)column + stagger[row % 4];
            at[0] = left + place * (right - left) / (double)along;
            at[1] = ((double)row + 0.5) * width / (double)across;
        }
}

/* All particles at their positions and at rest. */
static inline struct water water_before(kith_context *context, int64_t wanted, double outside)
{
    const double water_there = width * (2 * dam * deep + (channel - 2 * dam) * outside);
    const double volume = water_there / (double)wanted;
    const int64_t room = 2 * wanted + 1000;
    struct water water = water_for(context, room);
    water.cell = &channel_cell;
    water.volume = volume;
    water.length = 1.45 * sqrt(volume / (outside > 0 ? outside : 0.25 * deep));
    if (outside > 0)
        fill(&water, -channel / 2, -dam, outside, sqrt(volume / outside));
    fill(&water, -dam, dam, deep, sqrt(volume / deep));
    if (outside > 0)
        fill(&water, dam, channel / 2, outside, sqrt(volume / outside));
    return water;
}

/* The depth between the rarefaction and the shock: where both give the water the same speed. */
static inline double middle_depth(double outside)
{
    double low = outside, high = deep;
    for (int k = 0; k < 200; k++) {
        const double h = 0.5 * (low + high);
        const double behind = 2 * (sqrt(gravity * deep) - sqrt(gravity * h));
        const double ahead = (h - outside) * sqrt(0.5 * gravity * (1 / h + 1 / outside));
        *(behind > ahead ? &low : &high) = h;
    }
    return 0.5 * (low + high);
}

/* The exact depth at the distance x from a dam that broke t ago (Stoker 1957, Water Waves, §10.8;
 * on a dry bed Ritter 1892). */
static inline double exact_depth(double x, double t, double outside)
{
    const double c = sqrt(gravity * deep), middle = outside > 0 ? middle_depth(outside) : 0;
    const double c_middle = sqrt(gravity * middle), speed = 2 * (c - c_middle);
    if (x < -c * t)
        return deep;
    if (x < (speed - c_middle) * t)
        return (2 * c - x / t) * (2 * c - x / t) / (9 * gravity);
    if (outside <= 0)
        return 0;
    return x < middle * speed / (middle - outside) * t ? middle : outside;
}

#endif
