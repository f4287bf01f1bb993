#include "cells/lattice.h"

#include <string.h>

#include "core/vectors.h"

/* Periodic vectors whose parallelepiped is flatter than this, in relation to its edges, count as
 * linearly dependent: the rounding of their numbers decides what its volume is. */
static const double least_relative_volume = 1e-12;

/* A billion images of each point: counting them takes seconds a point. */
static const double most_images = 0x1p30;

static double length(const double a[3])
{
    return sqrt(dot(a, a));
}

static void scale(double factor, double a[3])
{
    for (int k = 0; k < 3; k++)
        a[k] *= factor;
}

/* Some unit vector at right angles to a. */
static void any_normal(const double a[3], double normal[3])
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(a[k]) < fabs(a[least]))
            least = k;
    double axis[3] = {0, 0, 0};
    axis[least] = 1;
    cross(a, axis, normal);
    scale(1 / length(normal), normal);
}

/* Fills in the vectors along which space is open. */
static void complete_basis(struct pairs_lattice *lattice)
{
    const bool *periodic = lattice->periodic;
    const int periodic_count = periodic[0] + periodic[1] + periodic[2];
    double(*basis)[3] = lattice->basis;
    if (periodic_count == 0)
        for (int k = 0; k < 3; k++)
            basis[k][k] = 1;
    if (periodic_count == 1) {
        const int k = periodic[0] ? 0 : periodic[1] ? 1 : 2;
        const int next = (k + 1) % 3, last = (k + 2) % 3;
        double direction[3];
        memcpy(direction, basis[k], sizeof direction);
        scale(1 / length(direction), direction);
        any_normal(direction, basis[next]);
        cross(direction, basis[next], basis[last]);
    }
    if (periodic_count == 2) {
        const int k = !periodic[0] ? 0 : !periodic[1] ? 1 : 2;
        cross(basis[(k + 1) % 3], basis[(k + 2) % 3], basis[k]);
        scale(1 / length(basis[k]), basis[k]);
    }
}

/* A power of two to divide the basis by, so that no volume of it leaves the range of doubles. */
static double unit_of_basis(const struct pairs_lattice *lattice)
{
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(lattice->basis[k / 3][k % 3]));
    const int exponent = ilogb(largest), limit = 1000;
    return ldexp(1, exponent < -limit ? -limit : exponent > limit ? limit : exponent);
}

/* The inverse's columns are the cross products over the volume; a height is 1 over a column's
 * length. False if the vectors are linearly dependent. */
static bool invert(struct pairs_lattice *lattice)
{
    const double unit = unit_of_basis(lattice);
    double basis[3][3];
    for (int k = 0; k < 9; k++)
        basis[k / 3][k % 3] = lattice->basis[k / 3][k % 3] / unit;
    for (int k = 0; k < 3; k++) {
        double column[3];
        cross(basis[(k + 1) % 3], basis[(k + 2) % 3], column);
        const double volume = dot(basis[k], column);
        const double edges = length(basis[0]) * length(basis[1]) * length(basis[2]);
        if (!(fabs(volume) > least_relative_volume * edges))
            return false;
        scale(1 / volume, column);
        lattice->height[k] = unit / length(column);
        for (int component = 0; component < 3; component++)
            lattice->inverse[component][k] = column[component] / unit;
    }
    return true;
}

static kith_status fail_at_dependent(const kith_cell *cell, double unit)
{
    double longest = 0;
    for (int k = 0; k < 9; k++)
        if (cell->periodic[k / 3])
            longest = fmax(longest, fabs(cell->vectors[k / 3][k % 3]));
    if (longest > 0 && longest / unit < 1e-100)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "the cell's vectors, %g long, are negligible compared with a distance of about %g; "
            "give a shorter distance or a larger cell",
            longest, unit);
    return kith_fail(
        KITH_INVALID_ARGUMENT,
        "the cell's periodic vectors, of (%g, %g, %g), (%g, %g, %g), (%g, %g, %g), are "
        "linearly dependent; give vectors that span a cell, or make it periodic along "
        "fewer of them",
        cell->vectors[0][0], cell->vectors[0][1], cell->vectors[0][2], cell->vectors[1][0],
        cell->vectors[1][1], cell->vectors[1][2], cell->vectors[2][0], cell->vectors[2][1],
        cell->vectors[2][2]);
}

kith_status pairs_lattice_make(const kith_cell *cell, int32_t dimensions, double unit,
                               struct pairs_lattice *lattice)
{
    static const kith_cell open_space = {.periodic = {false}};
    *lattice = (struct pairs_lattice){0};
    if (!cell)
        cell = &open_space;
    for (int k = 0; k < dimensions; k++) {
        for (int component = 0; component < dimensions; component++)
            if (!isfinite(cell->vectors[k][component]))
                return kith_fail(KITH_INVALID_ARGUMENT,
                                 "vector %d of the cell has %g; give finite numbers", k,
                                 cell->vectors[k][component]);
        lattice->periodic[k] = cell->periodic[k];
        for (int component = 0; cell->periodic[k] && component < dimensions; component++)
            lattice->basis[k][component] = cell->vectors[k][component] / unit;
        if (cell->periodic[k] && !(length(lattice->basis[k]) > 0))
            return fail_at_dependent(cell, unit);
    }
    if (dimensions == 2 && lattice->periodic[0] && lattice->periodic[1]) {
        double normal[3];
        cross(lattice->basis[0], lattice->basis[1], normal);
        if (!(length(normal) > 0))
            return fail_at_dependent(cell, unit);
    }
    if (dimensions == 2 && lattice->periodic[0] != lattice->periodic[1]) {
        /* The open vector stays in the plane. */
        const int k = lattice->periodic[0] ? 0 : 1;
        const double *a = lattice->basis[k], size = length(a);
        lattice->basis[1 - k][0] = -a[1] / size;
        lattice->basis[1 - k][1] = a[0] / size;
        lattice->basis[2][2] = 1;
    } else {
        complete_basis(lattice);
    }
    return invert(lattice) ? KITH_OK : fail_at_dependent(cell, unit);
}

kith_status pairs_check_images(const struct pairs_lattice *lattice, double distance, double unit)
{
    double images = 1;
    if (isinf(distance)) /* of the nearest points: as far as it takes */
        return KITH_OK;
    for (int k = 0; k < 3; k++)
        if (lattice->periodic[k])
            images *= 2 * ceil(distance / lattice->height[k]) + 1;
    if (images <= most_images)
        return KITH_OK;
    return kith_fail(KITH_UNSUPPORTED,
                     "about %g images of each point are within %g; the maximum is 2^30; give a "
                     "shorter distance, fewer points to look for, or a larger cell",
                     images, distance * unit);
}
