#ifndef TESTS_EXPANSION_SCENE_H
#define TESTS_EXPANSION_SCENE_H

/* Two clusters of charges, each in a cell with two children, and the direct sums between them. */

#include "expansion_operators.h"

enum { bodies_a_cell = 37, sources = 2 * bodies_a_cell, targets = 2 * bodies_a_cell };

/* Two families of cells: 0 is a parent with children 1 and 2, which hold the sources; 3 a parent
 * with children 4 and 5, which hold the targets. */
enum { source_parent, source_child, target_parent = 3, target_child, cells = 6 };

/* Lengths of both clusters' children, and the distance of the parents in units of their sum. */
struct geometry {
    double source_length, target_length, separation, unit;
    bool mixed_charges;
};

struct scene {
    struct expansion expansion;
    double source[4][sources], target[3][targets];   /* as given */
    double potential[targets], gradient[3][targets]; /* direct sums */
    double absolute_potential, absolute_gradient;    /* the largest of Σ |terms| */
    double center[cells][4];                         /* with the size */
};

static inline double round_to(bool single, double x)
{
    return single ? (double)(float)x : x;
}

/* Bodies in a ball about a center, and the cell's record. */
static inline void make_cell(struct random_numbers *random, bool single, bool plane, double length,
                             const double center[3], double *const x[3], double header[4])
{
    double radius = 0;
    for (int32_t axis = 0; axis < 3; axis++)
        header[axis] = round_to(single, center[axis]);
    for (int64_t k = 0; k < bodies_a_cell; k++) {
        double d[3] = {0}, d2 = 2;
        while (d2 > 1) {
            for (int32_t axis = 0; axis < 3; axis++)
                d[axis] = plane && axis == 2 ? 0 : random_uniform(random, -1, 1);
            d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        }
        for (int32_t axis = 0; axis < 3; axis++)
            x[axis][k] = round_to(single, header[axis] + length * d[axis]);
        radius = fmax(radius, length * sqrt(d2));
    }
    header[3] = expansion_size(radius, 0);
}

static inline void make_family(struct random_numbers *random, bool single, bool plane,
                               double length, const double center[3], double *const x[3],
                               double header[3][4])
{
    for (int32_t child = 0; child < 2; child++) {
        double at[3], *const of_child[3] = {x[0] + child * bodies_a_cell,
                                            x[1] + child * bodies_a_cell,
                                            x[2] + child * bodies_a_cell};
        for (int32_t axis = 0; axis < 3; axis++)
            at[axis] = plane && axis == 2
                           ? 0
                           : center[axis] + (child ? -1 : 1) * length * (0.5 + 0.1 * (double)axis);
        make_cell(random, single, plane, length, at, of_child, header[1 + child]);
    }
    for (int32_t axis = 0; axis < 3; axis++)
        header[0][axis] = round_to(single, center[axis]);
    header[0][3] = expansion_size(2.2 * length, 0);
}

static inline void sum_directly(struct scene *scene)
{
    for (int64_t i = 0; i < targets; i++) {
        double absolute[2] = {0};
        for (int64_t j = 0; j < sources; j++) {
            double d[3], s2 = scene->expansion.softening2;
            for (int32_t axis = 0; axis < 3; axis++) {
                d[axis] = scene->source[axis][j] - scene->target[axis][i];
                s2 += d[axis] * d[axis];
            }
            const bool logarithm = scene->expansion.law == expansion_logarithm;
            const double charge = scene->source[3][j];
            const double slope = charge * (logarithm ? -1 : 1 / sqrt(s2)) / s2;
            const double term = charge * (logarithm ? log(s2) / 2 : 1 / sqrt(s2));
            scene->potential[i] += term;
            for (int32_t axis = 0; axis < 3; axis++)
                scene->gradient[axis][i] += slope * d[axis];
            absolute[0] += fabs(term);
            absolute[1] += fabs(slope) * sqrt(s2);
        }
        scene->absolute_potential = fmax(scene->absolute_potential, absolute[0]);
        scene->absolute_gradient = fmax(scene->absolute_gradient, absolute[1]);
    }
}

static inline struct scene *make_scene(struct random_numbers *random, bool single,
                                       struct expansion expansion, struct geometry geometry)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->expansion = expansion;
    const bool plane = expansion.basis == expansion_plane;
    const double a = geometry.source_length * geometry.unit,
                 b = geometry.target_length * geometry.unit;
    double direction[3] = {random_uniform(random, -1, 1), random_uniform(random, -1, 1),
                           plane ? 0 : random_uniform(random, -1, 1)};
    const double norm = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                             direction[2] * direction[2]);
    double center[3] = {0.3 * a, -0.2 * a, plane ? 0 : 0.1 * a};
    double *const from[3] = {scene->source[0], scene->source[1], scene->source[2]};
    double *const to[3] = {scene->target[0], scene->target[1], scene->target[2]};
    make_family(random, single, plane, a, center, from, scene->center);
    for (int32_t axis = 0; axis < 3; axis++)
        center[axis] += geometry.separation * 2.2 * (a + b) * direction[axis] / norm;
    make_family(random, single, plane, b, center, to, scene->center + target_parent);
    for (int64_t j = 0; j < sources; j++)
        scene->source[3][j] =
            round_to(single, random_uniform(random, geometry.mixed_charges ? -1 : 0.5, 1));
    scene->expansion.softening2 *= a * a;
    sum_directly(scene);
    return scene;
}

/* The records, locals and columns of a scene in one real type. */
struct typed {
    void *multipoles, *locals, *source[4], *target[3], *field[4];
};

static inline struct typed make_typed(const struct scene *scene, bool single)
{
    struct typed typed;
    const int64_t length = expansion_record_length(&scene->expansion);
    typed.multipoles = new_reals(single, cells * length);
    typed.locals = new_reals(single, cells * expansion_local_length(&scene->expansion));
    for (int64_t cell = 0; cell < cells; cell++)
        for (int64_t k = 0; k < 4; k++)
            set_real(single, typed.multipoles, cell * length + k, scene->center[cell][k]);
    for (int32_t column = 0; column < 4; column++) {
        typed.source[column] = new_reals(single, sources);
        typed.field[column] = new_reals(single, targets);
        for (int64_t j = 0; j < sources; j++)
            set_real(single, typed.source[column], j, scene->source[column][j]);
    }
    for (int32_t column = 0; column < 3; column++) {
        typed.target[column] = new_reals(single, targets);
        for (int64_t i = 0; i < targets; i++)
            set_real(single, typed.target[column], i, scene->target[column][i]);
    }
    return typed;
}

static inline void free_typed(struct typed *typed)
{
    free(typed->multipoles);
    free(typed->locals);
    for (int32_t column = 0; column < 4; column++) {
        free(typed->source[column]);
        free(typed->field[column]);
        if (column < 3)
            free(typed->target[column]);
    }
}

#endif
