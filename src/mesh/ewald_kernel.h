#ifndef MESH_EWALD_KERNEL_H
#define MESH_EWALD_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

/* Waves k = 2π (h b_0 + k b_1 + l b_2) with h and k in common: l = first … first + count − 1. */
struct ewald_column {
    int32_t h, k, first, count;
    int64_t at; /* of the first among all waves */
};

/* e^{2πi m f_c} of some particles, of component c at most[c] + m, −most[c] ≤ m ≤ most[c]. */
struct ewald_powers {
    int64_t count, stride; /* particles; numbers of one */
    int32_t most[3];
    const double *real[3], *imaginary[3];
    const double *weight;
};

struct ewald_waves {
    int64_t column_count;
    const struct ewald_column *columns;
    double *real, *imaginary; /* of each wave */
};

/* S(k) += Σ w e^{i k·x} */
typedef void ewald_gather_kernel(const struct ewald_powers *powers,
                                 const struct ewald_waves *waves);

/* Of each particle: Re Σ_k e^{i k·x} A*(k), and the sums of (h, k, l) times minus its imaginary
 * part. */
typedef void ewald_spread_kernel(const struct ewald_powers *powers, const struct ewald_waves *waves,
                                 double (*sums)[4]);

struct ewald_kernels {
    ewald_gather_kernel *gather;
    ewald_spread_kernel *spread;
};

#define EWALD_DECLARE(isa) extern const struct ewald_kernels mesh_ewald_##isa;
KITH_EACH_ISA(EWALD_DECLARE)
#undef EWALD_DECLARE

#endif
