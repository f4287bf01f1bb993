/* Masses on a grid of pixels, smoothed where bodies are sparse. */

#include "splat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_levels = 8 };

static const float bodies_of_a_cell = 16;

/* A grid of cells of 2^level pixels. */
struct level {
    int width, height;
    float *mass, *count;
};

struct splatter {
    struct level levels[most_levels];
    int count;
};

static bool allocate_level(struct level *level, int width, int height)
{
    const size_t cells = (size_t)width * (size_t)height;
    *level =
        (struct level){width, height, calloc(cells, sizeof(float)), calloc(cells, sizeof(float))};
    return level->mass && level->count;
}

/* Levels up to cells of a 32nd of the picture. */
struct splatter *splat_begin(int width, int height)
{
    struct splatter *splatter = calloc(1, sizeof *splatter);
    if (!splatter)
        return NULL;
    const int shorter = width < height ? width : height;
    bool done = true;
    for (int k = 0; done && k < most_levels && (k == 0 || shorter >> k >= 32); k++) {
        const int round = (1 << k) - 1;
        done = allocate_level(&splatter->levels[k], (width + round) >> k, (height + round) >> k);
        splatter->count++;
    }
    if (done)
        return splatter;
    splat_end(splatter);
    return NULL;
}

void splat_end(struct splatter *splatter)
{
    if (!splatter)
        return;
    for (int k = 0; k < splatter->count; k++) {
        free(splatter->levels[k].mass);
        free(splatter->levels[k].count);
    }
    free(splatter);
}

/* The cell that a cell beyond the rim is the mirror image of. */
static int reflected(int cell, int count)
{
    const int inside = cell < 0 ? -1 - cell : cell >= count ? 2 * count - 1 - cell : cell;
    return inside < 0 ? 0 : inside >= count ? count - 1 : inside;
}

/* The three cells around a place on an axis, and their shares of a quadratic B-spline. */
static void spread(double place, int count, int cells[3], float shares[3])
{
    const int cell = (int)place;
    const float d = (float)(place - cell) - 0.5f;
    for (int k = 0; k < 3; k++)
        cells[k] = reflected(cell + k - 1, count);
    shares[0] = 0.5f * (0.5f - d) * (0.5f - d);
    shares[1] = 0.75f - d * d;
    shares[2] = 0.5f * (0.5f + d) * (0.5f + d);
}

static void add_body(struct level *level, const double place[2], float mass)
{
    int columns[3], rows[3];
    float across[3], up[3];
    spread(place[0], level->width, columns, across);
    spread(place[1], level->height, rows, up);
    for (int r = 0; r < 3; r++) {
        float *row = level->mass + (size_t)rows[r] * (size_t)level->width;
        const float share = mass * up[r];
        for (int c = 0; c < 3; c++)
            row[columns[c]] += share * across[c];
    }
    level->count[(size_t)rows[1] * (size_t)level->width + (size_t)columns[1]] += 1;
}

/* The mean of the masses, so that float holds any mass in its unit; 1 without masses. */
static double mean_mass(const kith_bodies *bodies)
{
    double sum = 0;
    for (int64_t i = 0; bodies->mass && i < bodies->count; i++)
        sum += fabs(bodies->mass[i]);
    return sum > 0 ? sum / (double)bodies->count : 1;
}

static void add_bodies(struct level *level, const struct window *window, const kith_bodies *bodies,
                       double unit)
{
    const double scale[2] = {window->width / (window->spans[0].high - window->spans[0].low),
                             window->height / (window->spans[1].high - window->spans[1].low)};
    const int32_t d = bodies->dimensions;
    const bool massive = bodies->mass;
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *x = bodies->position + i * d;
        const double position[3] = {x[0], x[1], d == 3 ? x[2] : 0};
        const double place[2] = {
            (along(window->plane.across, position) - window->spans[0].low) * scale[0],
            (window->spans[1].high - along(window->plane.up, position)) * scale[1]};
        if (place[0] >= 0 && place[0] < level->width && place[1] >= 0 && place[1] < level->height)
            add_body(level, place, massive ? (float)(bodies->mass[i] / unit) : 1);
    }
}

/* How many bodies each cell has, from the next finer level. */
static void count_level(struct level *coarse, const struct level *fine)
{
    for (int row = 0; row < fine->height; row++) {
        const float *from = fine->count + (size_t)row * (size_t)fine->width;
        float *to = coarse->count + (size_t)(row / 2) * (size_t)coarse->width;
        for (int column = 0; column < fine->width; column++)
            to[column / 2] += from[column];
    }
}

/* A pixel's place between the middles of four cells of a level. */
struct between {
    size_t cells[4];
    float shares[4];
};

static struct between between_cells(const struct level *level, int k, int column, int row)
{
    const float size = (float)(1 << k);
    const float x = ((float)column + 0.5f) / size - 0.5f, y = ((float)row + 0.5f) / size - 0.5f;
    const int left = x < 0 ? -1 : (int)x, above = y < 0 ? -1 : (int)y;
    const float right_share = x - (float)left, below_share = y - (float)above;
    struct between between;
    for (int j = 0; j < 4; j++) {
        const int c = reflected(left + (j & 1), level->width);
        const int r = reflected(above + (j >> 1), level->height);
        between.cells[j] = (size_t)r * (size_t)level->width + (size_t)c;
        between.shares[j] =
            (j & 1 ? right_share : 1 - right_share) * (j >> 1 ? below_share : 1 - below_share);
    }
    return between;
}

static float count_around(const struct level *level, const struct between *between)
{
    float count = 0;
    for (int j = 0; j < 4; j++)
        count += between->shares[j] * level->count[between->cells[j]];
    return count;
}

static void add_between(struct level *level, const struct between *between, float mass)
{
    for (int j = 0; j < 4; j++)
        level->mass[between->cells[j]] += between->shares[j] * mass;
}

/* Moves the mass of a pixel to the level where a cell has enough bodies, or to two levels by how
 * near they are to that. */
static void move_pixel(struct splatter *splatter, int column, int row)
{
    struct level *finest = &splatter->levels[0];
    const size_t pixel = (size_t)row * (size_t)finest->width + (size_t)column;
    const float mass = finest->mass[pixel];
    float before = finest->count[pixel];
    struct between at, below = {{pixel}, {1}};
    if (mass == 0 || before >= bodies_of_a_cell)
        return;
    for (int k = 1; k < splatter->count; k++, below = at) {
        at = between_cells(&splatter->levels[k], k, column, row);
        const float count = count_around(&splatter->levels[k], &at);
        if (count < bodies_of_a_cell && k < splatter->count - 1) {
            before = count;
            continue;
        }
        const float share =
            count > bodies_of_a_cell ? (bodies_of_a_cell - before) / (count - before) : 1;
        const float coarse = share < 0 ? 0 : share * mass;
        finest->mass[pixel] -= mass;
        add_between(&splatter->levels[k], &at, coarse);
        add_between(&splatter->levels[k - 1], &below, mass - coarse);
        return;
    }
}

/* What a B-spline of a level is in those of the next finer one: 1 3 3 1 eighths on each axis. */
static void add_refined(struct level *fine, const struct level *coarse)
{
    static const float eighths[4] = {0.125f, 0.375f, 0.375f, 0.125f};
    for (int row = 0; row < coarse->height; row++)
        for (int column = 0; column < coarse->width; column++) {
            const float mass = coarse->mass[(size_t)row * (size_t)coarse->width + (size_t)column];
            if (mass == 0)
                continue;
            for (int r = 0; r < 4; r++) {
                const int to = reflected(2 * row + r - 1, fine->height);
                float *cells = fine->mass + (size_t)to * (size_t)fine->width;
                for (int c = 0; c < 4; c++)
                    cells[reflected(2 * column + c - 1, fine->width)] +=
                        eighths[r] * eighths[c] * mass;
            }
        }
}

static void clear(struct level *level)
{
    const size_t bytes = (size_t)level->width * (size_t)level->height * sizeof(float);
    memset(level->mass, 0, bytes);
    memset(level->count, 0, bytes);
}

void splat_bodies(struct splatter *splatter, const struct window *window, const kith_bodies *bodies,
                  struct splat *splat)
{
    struct level *levels = splatter->levels;
    for (int k = 0; k < splatter->count; k++)
        clear(&levels[k]);
    const double unit = mean_mass(bodies);
    add_bodies(&levels[0], window, bodies, unit);
    for (int k = 1; k < splatter->count; k++)
        count_level(&levels[k], &levels[k - 1]);
    for (int row = 0; row < levels[0].height; row++)
        for (int column = 0; column < levels[0].width; column++)
            move_pixel(splatter, column, row);
    for (int k = splatter->count - 1; k > 0; k--)
        add_refined(&levels[k - 1], &levels[k]);
    *splat = (struct splat){levels[0].width, levels[0].height, levels[0].mass, unit};
}
