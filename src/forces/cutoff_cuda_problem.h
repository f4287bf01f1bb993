#ifndef FORCES_CUTOFF_CUDA_PROBLEM_H
#define FORCES_CUTOFF_CUDA_PROBLEM_H

/* Forces within a cutoff as the kernels of a GPU see them; nvcc and NVRTC read this. */

#include "forces/law_sums_problem.h"

/* How the law ends at the cutoff: kith_shift. */
enum cutoff_cuda_shift { cutoff_cuda_plain, cutoff_cuda_shift_energy, cutoff_cuda_shift_force };

/* Threads that share the pairs of a target, and threads of a block. */
enum { cutoff_cuda_lanes = 8, cutoff_cuda_block = 128 };

/* The energy, then the virial. */
enum { cutoff_cuda_totals = 10 };

/* An image of the cell as one number: 10 bits of each component plus cutoff_cuda_image_zero. */
enum { cutoff_cuda_image_bits = 10, cutoff_cuda_image_zero = 1 << 9 };

/* Columns are by row, of floats or doubles; NULL: ones, of softenings zeros. The pairs of the k-th
 * target, which is row order[k], are begin[k] … begin[k + 1] − 1. */
struct cutoff_cuda_problem {
    struct law_numbers numbers;
    enum law_weighting weighting;
    enum cutoff_cuda_shift shift;
    int is_central;
    double cutoff, softening2;
    double basis[3][3];                                  /* of the cell */
    const void *target_position[3], *source_position[3]; /* wrapped */
    const void *target_weight, *source_weight;           /* of a custom law the masses */
    const void *target_charge, *source_charge;           /* of a custom law */
    const void *target_half_softening2, *source_half_softening2;
    const void *target_mass, *total_weight;

    long long count;
    const unsigned *order;
    const long long *begin;
    const int *partner;
    const unsigned *image;

    /* NULL if not requested. Results are times `factor`, NaN if *bad, and added to what is there if
     * `accumulates`. */
    void *acceleration[3], *value;
    long long acceleration_stride, value_stride;
    double factor;
    const bool *bad;
    int accumulates;
    double *totals; /* cutoff_cuda_totals of each block */
};

#endif
