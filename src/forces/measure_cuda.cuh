#ifndef FORCES_MEASURE_CUDA_CUH
#define FORCES_MEASURE_CUDA_CUH

/* Inspects the numbers of arrays on the device: finds the largest ones, by which units are chosen,
 * and the first NaN or infinity. */

#include <math.h>

#include "core/memory.h"
#include "device/deferred_error.h"
#include "particles/columns.h"

/* An array of the arguments. */
struct view {
    const void *data;
    int64_t rows, row_stride, column_stride;
    int32_t columns;          /* 3 at most */
    enum particles_unit unit; /* numbers without one have no part in the choice of units */
    double least, most;
    const char *name, *remedy, *far; /* in the host's memory: only handed on */
};

/* The arguments, in the order in which arguments.c inspects them. */
enum {
    view_targets,
    view_target_columns,
    view_sources = view_target_columns + particles_column_count,
    view_source_columns,
    view_target_directions = view_source_columns + particles_column_count,
    view_source_directions,
    view_count
};
enum { row_bits = 48 };

/* The arrays that are given. A kernel that starts reads its arguments from memory that no cache
 * holds, so that few bodies wait for each line of them: absent arrays take no room before the
 * present ones. */
struct inputs {
    double softening;
    double mass_of_all; /* 1 without masses, else 0 */
    bool keeps_units;   /* those of the arrays: with a law */
    signed char count;
    signed char place[view_count]; /* of an argument in view; −1: absent */
    struct view view[view_count];
};

/* What is found. The largest of two is taken for each, which does not depend on the order. */
struct extremes {
    double length, mass;
    unsigned long long worst; /* ~(view << 48 | row) of the first bad number's row; 0: none */
};

template <typename real>
__device__ inline real number_at(const struct view &view, int64_t row, int32_t column)
{
    return ((const real *)view.data)[row * view.row_stride + column * view.column_stride];
}

template <typename real> __device__ inline bool is_bad(const struct view &view, real number)
{
    return !(fabs(number) <= (real)view.most) || number < (real)view.least;
}

__device__ inline void take_larger(struct extremes &a, const struct extremes &b)
{
    a.length = fmax(a.length, b.length);
    a.mass = fmax(a.mass, b.mass);
    a.worst = a.worst > b.worst ? a.worst : b.worst;
}

/* Of the rows first, first + step, … of all views. */
template <typename real>
__device__ inline struct extremes look_at(const struct inputs &inputs, int64_t first, int64_t step)
{
    struct extremes found = {};
    for (int k = 0; k < inputs.count; k++) {
        const struct view &view = inputs.view[k];
        real largest = 0;
#pragma unroll 4
        for (int64_t row = first; row < view.rows; row += step) {
            bool bad = false;
#pragma unroll
            for (int c = 0; c < 3; c++) { /* the last column again: no branch before a load */
                const real number = number_at<real>(view, row, min(c, view.columns - 1));
                bad |= is_bad(view, number);
                largest = fmax(largest, fabs(number));
            }
            const unsigned long long here = ~((unsigned long long)k << row_bits | row);
            found.worst = bad && here > found.worst ? here : found.worst;
        }
        if (view.unit == particles_unit_mass)
            found.mass = fmax(found.mass, (double)largest);
        else if (view.unit == particles_unit_length)
            found.length = fmax(found.length, (double)largest);
    }
    return found;
}

/* Of all threads, a multiple of 32 and at most 1024; each gets it. */
__device__ inline struct extremes largest_of_block(struct extremes found)
{
    __shared__ struct extremes of_warps[32];
    for (int distance = 16; distance > 0; distance /= 2) {
        const struct extremes other = {
            __shfl_xor_sync(0xffffffff, found.length, distance),
            __shfl_xor_sync(0xffffffff, found.mass, distance),
            __shfl_xor_sync(0xffffffff, found.worst, distance),
        };
        take_larger(found, other);
    }
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = found;
    __syncthreads();
    for (int w = 0; w < (int)blockDim.x / 32; w++)
        take_larger(found, of_warps[w]);
    return found;
}

/* Records the error in the row that worst names. */
template <typename real>
__device__ inline void tell(const struct inputs &inputs, unsigned long long worst,
                            struct cuda_deferred_error *deferred)
{
    const struct view &view = inputs.view[~worst >> row_bits];
    const int64_t row = ~worst & ((1ull << row_bits) - 1);
    int32_t column = 0;
    while (!is_bad(view, number_at<real>(view, row, column)))
        column++;
    deferred->row = row;
    const real value = number_at<real>(view, row, column);
    deferred->value = value;
    deferred->remedy = isfinite(value) && fabs(value) > (real)view.most ? view.far : view.remedy;
    __threadfence_system();
    deferred->array = view.name;
}

#endif
