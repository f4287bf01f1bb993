#ifndef MESH_TRANSFORM_H
#define MESH_TRANSFORM_H

#include "core/status.h"
#include "kith/array.h"

/* Real transforms of a grid by FFTW, plane by plane and then along the first axis, so that planes
 * and rows can be divided among threads. FFTW_ESTIMATE plans without timing anything: the same bits
 * on every run and for every number of threads. */
struct transform {
    kith_dtype dtype;
    int32_t grid[3];
    int64_t pitch; /* reals from a row to the next, two at least of them beyond its end; even */
    int64_t plane; /* reals from a plane to the next; even */
    void *points;  /* and the waves, in place; aligned to 64 bytes, and so are rows */
    void *plans[4];
};

/* Errors: KITH_OUT_OF_MEMORY. */
kith_status transform_make(struct transform *transform);
void transform_free(struct transform *transform);

/* A plane: points to waves, and back. */
void transform_plane(const struct transform *transform, int64_t plane, bool back);
/* Waves along the first axis: of all (., row, .), in place. */
void transform_row(const struct transform *transform, int64_t row, bool back);

#endif
