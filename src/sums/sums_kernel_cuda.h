#ifndef SUMS_SUMS_KERNEL_CUDA_H
#define SUMS_SUMS_KERNEL_CUDA_H

/* The arguments of the kernels of sums on a GPU. NVRTC also compiles this file. REAL is the
 * problem's dtype; all memory is the device's. */

#include "cells/grid.h"
#include "law/law_numbers.h"

enum {
    sums_cuda_threads = 128,
    sums_cuda_room = 48,   /* pairs that a target collects before they are evaluated */
    sums_cuda_of_run = 12, /* for which there is to be room before the next run */
    sums_cuda_group = 4    /* candidates whose positions are read at once */
};

/* Targets or sources by their slot: the index after sorting, or the row. A record is x, y, z, then
 * columns, in a multiple of four numbers. Sources within a cutoff have no records: the columns
 * themselves, one after the other. */
struct sums_cuda_side {
    const void *records;
    const uint32_t *order; /* the row of a slot; NULL: slot k is row k */
    int32_t fields;        /* of a record */
    int32_t count;
};

/* A list that the caller keeps (sums_list.h). */
struct sums_cuda_list {
    const int64_t *offsets;
    const void *j;
    const int32_t *shifts; /* NULL: none */
    int32_t is_narrow, includes_self;
    int64_t count;
    unsigned long long *bad_row, *bad_pair; /* at least ~ of the first one; 0: none */
};

struct sums_cuda_problem {
    struct law_numbers numbers;
    double limit;
    struct sums_cuda_side targets, sources;
    int32_t leaves_out_self; /* the target of a slot is the source of the same number */
    int32_t parts;           /* all pairs: of the sources, whose results are joined */
    int64_t part_sources;
    double *value, *rest; /* part × target × output; of several parts */
    struct pairs_lattice lattice;
    const void *positions[3]; /* within a cutoff: of the sources by slot, and of some more */
    const struct cells_grid *grid;
    const int32_t *begin;
    struct sums_cuda_list list;
    void *results;
    int64_t row_stride, column_stride;
    unsigned long long *pairs; /* their number is added; NULL: not requested */
};

#define SUMS_CUDA_FILE "sums/sums_kernel_cuda.cuh"

#endif
