#ifndef MESH_WAVES_KERNEL_H
#define MESH_WAVES_KERNEL_H

#include "core/isa.h"
#include "mesh/splines.h"

/* Reals of a row of the grid that continue it beyond its end, periodically: splines are added to
 * and read from it without wrapping. Also the length of a row of the splines' tables. */
enum { waves_padding = 16 };

/* A grid, and particles in the order of the planes where their splines begin. */
struct waves_mesh {
    int32_t order, grid[3];
    int64_t pitch; /* reals from a row to the next */
    int64_t plane; /* from a plane to the next */
    void *points;
    const void *value, *slope; /* splines.h: [order][waves_padding] */
    const int32_t *first[3];
    const void *offset[3], *weight; /* t of splines.h */
};

/* Waves (x, y, 0 … count − 1) of a row, k = start + l step, and what they are multiplied by:
 * scale flat[l] e^{−k² fall}/k². flat has waves_chunk elements more; twice[l] counts a wave and its
 * conjugate. */
enum { waves_chunk = 64 };
struct waves_row {
    int64_t count;
    double start[3], step[3], scale, fall;
    const double *flat, *twice;
};

/* Adds particles begin … end − 1, whose splines all begin in one plane, to the planes low … high −
 * 1 of the grid. */
typedef void waves_spread(const struct waves_mesh *mesh, int64_t begin, int64_t end, int32_t low,
                          int32_t high);
/* What was added beyond the ends of a plane's rows goes to where they begin; and back. */
typedef void waves_edges(const struct waves_mesh *mesh, int64_t plane);
/* Of each particle the potential and its derivatives along the axes of the grid, per spacing. */
typedef void waves_gather(const struct waves_mesh *mesh, int64_t begin, int64_t end,
                          double (*sums)[4]);
/* Multiplies, by the above or, of 1/r⁶, by scale flat[l] h(b), b² = k² fall, with
 *     h(b) = (1 − 2b²) e^{−b²} + 2√π b³ erfc(b)
 * and there e b = 6 fall (e^{−b²} − √π b erfc(b))/h e; adds Σ e, Σ e b, Σ e b l and Σ e b l², of
 * the waves' energies e and b = 2 (1/k² + fall). */
typedef void waves_multiply(const struct waves_row *row, void *waves, double sums[4]);

struct waves_kernels {
    waves_spread *spread;
    waves_edges *fold, *extend;
    waves_gather *gather;
    waves_multiply *multiply, *multiply_sixth;
};

#define WAVES_DECLARE(isa)                                                                         \
    extern const struct waves_kernels mesh_waves_float_##isa, mesh_waves_double_##isa;
KITH_EACH_ISA(WAVES_DECLARE)
#undef WAVES_DECLARE

#endif
