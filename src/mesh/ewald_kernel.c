/* Structure factors, and what they do to particles, for one instruction set. */

#include "mesh/ewald_kernel.h"

struct complex_number {
    double real, imaginary;
};

/* w e^{2πi (h f_0 + k f_1)} */
static inline struct complex_number start(const struct ewald_powers *powers,
                                          const struct ewald_column *column, int64_t particle,
                                          double weight)
{
    const int64_t at_h = particle * powers->stride + powers->most[0] + column->h;
    const int64_t at_k = particle * powers->stride + powers->most[1] + column->k;
    const double a = powers->real[0][at_h], b = powers->imaginary[0][at_h];
    const double c = powers->real[1][at_k], d = powers->imaginary[1][at_k];
    return (struct complex_number){weight * (a * c - b * d), weight * (a * d + b * c)};
}

static inline int64_t first_of(const struct ewald_powers *powers, const struct ewald_column *column,
                               int64_t particle)
{
    return particle * powers->stride + powers->most[2] + column->first;
}

static void gather(const struct ewald_powers *powers, const struct ewald_waves *waves)
{
    for (int64_t at = 0; at < waves->column_count; at++) {
        const struct ewald_column *column = &waves->columns[at];
        double *restrict real = waves->real + column->at;
        double *restrict imaginary = waves->imaginary + column->at;
        for (int64_t p = 0; p < powers->count; p++) {
            const struct complex_number z = start(powers, column, p, powers->weight[p]);
            const int64_t first = first_of(powers, column, p);
            const double *restrict t_real = powers->real[2] + first;
            const double *restrict t_imaginary = powers->imaginary[2] + first;
#pragma omp simd
            for (int32_t l = 0; l < column->count; l++) {
                real[l] += z.real * t_real[l] - z.imaginary * t_imaginary[l];
                imaginary[l] += z.real * t_imaginary[l] + z.imaginary * t_real[l];
            }
        }
    }
}

static void spread(const struct ewald_powers *powers, const struct ewald_waves *waves,
                   double (*sums)[4])
{
    for (int64_t at = 0; at < waves->column_count; at++) {
        const struct ewald_column *column = &waves->columns[at];
        const double *restrict real = waves->real + column->at;
        const double *restrict imaginary = waves->imaginary + column->at;
        for (int64_t p = 0; p < powers->count; p++) {
            const int64_t first = first_of(powers, column, p);
            const double *restrict t_real = powers->real[2] + first;
            const double *restrict t_imaginary = powers->imaginary[2] + first;
            double a = 0, b = 0, l_a = 0, l_b = 0; /* Σ t A*, Σ l t A* */
#pragma omp simd reduction(+ : a, b, l_a, l_b)
            for (int32_t l = 0; l < column->count; l++) {
                const double re = t_real[l] * real[l] + t_imaginary[l] * imaginary[l];
                const double im = t_imaginary[l] * real[l] - t_real[l] * imaginary[l];
                const double number = column->first + l;
                a += re;
                b += im;
                l_a += number * re;
                l_b += number * im;
            }
            const struct complex_number z = start(powers, column, p, 1);
            const double minus_imaginary = -(z.real * b + z.imaginary * a);
            sums[p][0] += z.real * a - z.imaginary * b;
            sums[p][1] += column->h * minus_imaginary;
            sums[p][2] += column->k * minus_imaginary;
            sums[p][3] -= z.real * l_b + z.imaginary * l_a;
        }
    }
}

const struct ewald_kernels KITH_ISA_SYMBOL(mesh_ewald) = {.gather = gather, .spread = spread};
