#ifndef TESTS_TREE_SCENE_H
#define TESTS_TREE_SCENE_H

/* Distributions of points that trees must cope with, in columns. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random_numbers.h"

enum { scene_most = 8192 };

struct tree_scene {
    int32_t dimensions;
    int64_t count;
    double x[3][scene_most + 64], weight[scene_most + 64];
    float x_float[3][scene_most + 64], weight_float[scene_most + 64];
};

static const char *const scene_names[] = {
    "plummer",         "cube",       "sphere",  "hernquist", "disk",    "two clusters",
    "nested clusters", "line",       "lattice", "one place", "outlier", "mass ratios",
    "charges",         "sparse halo"};
enum { scene_kinds = sizeof scene_names / sizeof scene_names[0] };

static inline void scene_on_sphere(struct random_numbers *numbers, double radius, double x[3])
{
    const double z = random_uniform(numbers, -1, 1), s = sqrt(1 - z * z);
    const double angle = random_uniform(numbers, 0, 6.283185307179586);
    x[0] = radius * s * cos(angle);
    x[1] = radius * s * sin(angle);
    x[2] = radius * z;
}

static inline void scene_gaussian(struct random_numbers *numbers, double width, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = width * sqrt(-2 * log(random_uniform(numbers, 1e-12, 1))) *
               cos(random_uniform(numbers, 0, 6.283185307179586));
}

static inline void scene_place(struct random_numbers *numbers, const char *kind, int64_t i,
                               double x[3], double *weight)
{
    const double u = random_uniform(numbers, 1e-9, 1);
    const int64_t side = 16;
    if (strcmp(kind, "plummer") == 0) {
        scene_on_sphere(numbers, 1 / sqrt(pow(u, -2.0 / 3) - 1 + 1e-9), x);
    } else if (strcmp(kind, "sphere") == 0) {
        scene_on_sphere(numbers, cbrt(u), x);
    } else if (strcmp(kind, "hernquist") == 0) {
        const double s = sqrt(0.999 * u);
        scene_on_sphere(numbers, s / (1 - s), x);
    } else if (strcmp(kind, "disk") == 0) {
        scene_on_sphere(numbers, -log(u), x);
        x[2] *= 0.01;
    } else if (strcmp(kind, "two clusters") == 0) {
        scene_gaussian(numbers, 1, x);
        x[0] += i % 2 ? 100 : -100;
    } else if (strcmp(kind, "nested clusters") == 0) {
        scene_gaussian(numbers, pow(10, -6.0 * (double)(i % 8) / 7), x);
    } else if (strcmp(kind, "line") == 0) {
        x[0] = u;
        x[1] = x[2] = 0;
    } else if (strcmp(kind, "lattice") == 0) {
        const int64_t row = i / side, layer = row / side;
        x[0] = (double)(i % side);
        x[1] = (double)(row % side);
        x[2] = (double)layer;
    } else if (strcmp(kind, "one place") == 0) {
        x[0] = x[1] = x[2] = 0.3;
    } else if (strcmp(kind, "sparse halo") == 0) {
        scene_on_sphere(numbers, i % 50 ? 0.01 * cbrt(u) : pow(10, 3 * u - 1), x);
    } else if (strcmp(kind, "cube") == 0 || strcmp(kind, "charges") == 0) {
        for (int c = 0; c < 3; c++)
            x[c] = random_uniform(numbers, 0, 1);
    } else {
        scene_gaussian(numbers, 1, x);
    }
    if (strcmp(kind, "outlier") == 0 && i == 0)
        x[0] = 1e6;
    if (strcmp(kind, "mass ratios") == 0)
        *weight *= pow(10, -12 * u);
    if (strcmp(kind, "charges") == 0 && i % 2)
        *weight = -*weight;
}

static inline void scene_fill(struct tree_scene *scene, struct random_numbers *numbers,
                              const char *kind, int32_t dimensions, int64_t count)
{
    scene->dimensions = dimensions;
    scene->count = count;
    for (int64_t i = 0; i < count; i++) {
        double x[3] = {0, 0, 0}, weight = 1 / (double)count;
        scene_place(numbers, kind, i, x, &weight);
        for (int c = 0; c < 3; c++) {
            scene->x[c][i] = c < dimensions ? x[c] : 0;
            scene->x_float[c][i] = (float)scene->x[c][i];
        }
        scene->weight[i] = weight;
        scene->weight_float[i] = (float)weight;
    }
}

#endif
