/* What neither part of the sum has, on a GPU (periodic_finish): the term of a vacuum or of a slab,
 * and excluded pairs. */

#include "cells/nearest_image.h"
#include "mesh/excluded_pair.h"
#include "mesh/numbers_cuda.cuh"
#include "mesh/place_cuda.cuh"
#include "mesh/sum_cuda.cuh"

enum { moments = 9, virials = 6 };

/* A position as given, from the mean of all. */
template <typename real>
static __device__ void get(const struct pme_cuda_problem &problem, int64_t row, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = (double)((const real *)problem.position[c])[row] -
               problem.totals[pme_cuda_positions + c] / (double)problem.count;
}

template <int values>
static __device__ void store_parts(const struct pme_cuda_problem &problem, const double *sums)
{
    for (int k = 0; k < values; k++) {
        const double sum = sum_of_block<threads>(sums[k]);
        if (threadIdx.x == 0)
            problem.parts[blockIdx.x * values + k] = sum;
    }
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    sum_positions(const struct pme_cuda_problem problem)
{
    double sums[3] = {0, 0, 0};
    for (int64_t row = own_number(); row < problem.count; row += pme_cuda_parts * threads)
        for (int c = 0; c < 3; c++)
            sums[c] += (double)((const real *)problem.position[c])[row];
    store_parts<3>(problem, sums);
}

/* Σ w x; Σ w x_a x_b. */
template <typename real>
static __global__ void __launch_bounds__(threads) sum_moments(const struct pme_cuda_problem problem)
{
    double sums[moments] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int64_t row = own_number(); row < problem.count; row += pme_cuda_parts * threads) {
        const double w = problem.weight ? (double)((const real *)problem.weight)[row] : 1;
        double x[3];
        get<real>(problem, row, x);
        for (int c = 0; c < 3; c++) {
            sums[c] += w * x[c];
            sums[3 + c] += w * x[c] * x[c];
            sums[6 + c] += w * x[(c + 1) % 3] * x[(c + 2) % 3];
        }
    }
    store_parts<moments>(problem, sums);
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    add_boundary(const struct pme_cuda_problem problem)
{
    const int64_t row = own_number();
    if (row >= problem.count)
        return;
    const double total = problem.totals[pme_cuda_weights];
    const struct pme_cuda_dipole of_all =
        pme_cuda_dipole(&problem.boundary, problem.totals + pme_cuda_moments);
    double x[3];
    get<real>(problem, row, x);
    pme_cuda_project(&problem.boundary, x);
    double along = 0, x2 = 0;
    for (int c = 0; c < 3; c++) {
        along += of_all.dipole[c] * x[c];
        x2 += x[c] * x[c];
    }
    double *sum = problem.sums[row];
    sum[0] += problem.boundary.factor *
              (along - (of_all.trace + total * x2) / 2 - total * problem.boundary.constant);
    for (int c = 0; c < 3; c++)
        sum[1 + c] += problem.boundary.factor * (of_all.dipole[c] - total * x[c]);
}

/* The pairs of a particle that do not interact, at their nearest images: of equally near ones the
 * same from both sides. */
template <typename real>
static __device__ void exclude_pair(const struct pme_cuda_problem &problem, int64_t row,
                                    const struct pme_cuda_place &own, int64_t partner,
                                    double virial[virials])
{
    const enum periodic_part part = !problem.has_far    ? periodic_near
                                    : !problem.has_near ? periodic_far
                                                        : periodic_all;
    struct pme_cuda_place other;
    int32_t image[3];
    double d[3], value, slope;
    load<real>(problem, partner, &other);
    const bool is_first = row < partner;
    pairs_nearest_image(&problem.lattice, is_first ? own.x : other.x, is_first ? other.x : own.x,
                        image);
    for (int k = 0; k < 3; k++)
        image[k] = is_first ? image[k] : -image[k];
    double r2 = 0;
    for (int c = 0; c < 3; c++) {
        d[c] = other.x[c] - own.x[c] + pairs_translation(&problem.lattice, image, c);
        r2 += d[c] * d[c];
    }
    if (!(r2 > 0))
        return;
    excluded_pair(part, problem.alpha, r2, &value, &slope);
    double *sum = problem.sums[row];
    sum[0] -= other.w * value;
    for (int c = 0; c < 3; c++) {
        sum[1 + c] -= other.w * slope * d[c];
        virial[c] -= 0.5 * own.w * other.w * slope * d[c] * d[c];
        virial[3 + c] -= 0.5 * own.w * other.w * slope * d[(c + 1) % 3] * d[(c + 2) % 3];
    }
}

template <typename real>
static __global__ void __launch_bounds__(threads) exclude(const struct pme_cuda_problem problem)
{
    const struct pme_delivery &to = problem.delivery;
    double virial[virials] = {0, 0, 0, 0, 0, 0};
    for (int64_t row = own_number(); row < problem.count; row += pme_cuda_parts * threads) {
        struct pme_cuda_place own;
        const int64_t begin = to.excluded_begin[row], end = to.excluded_begin[row + 1];
        if (begin < end)
            load<real>(problem, row, &own);
        for (int64_t k = begin; k < end; k++) {
            bool is_again = false; /* a pair that is named twice is excluded once */
            for (int64_t before = begin; before < k; before++)
                is_again = is_again || to.excluded[before] == to.excluded[k];
            if (!is_again)
                exclude_pair<real>(problem, row, own, to.excluded[k], virial);
        }
    }
    store_parts<virials>(problem, virial);
}

template <typename real>
static kith_status finish(kith_context *context, const struct pme_cuda_problem *problem)
{
    const cudaStream_t stream = cuda_stream(context);
    if (problem->boundary.factor > 0) {
        const unsigned blocks = (unsigned)((problem->count + threads - 1) / threads);
        sum_positions<real><<<pme_cuda_parts, threads, 0, stream>>>(*problem);
        KITH_TRY(pme_cuda_add_parts(stream, pme_cuda_parts, 3, problem->parts,
                                    problem->totals + pme_cuda_positions));
        sum_moments<real><<<pme_cuda_parts, threads, 0, stream>>>(*problem);
        KITH_TRY(pme_cuda_add_parts(stream, pme_cuda_parts, moments, problem->parts,
                                    problem->totals + pme_cuda_moments));
        add_boundary<real><<<blocks, threads, 0, stream>>>(*problem);
        KITH_TRY(cuda_check_launch("adding the boundary"));
    }
    if (!problem->delivery.excluded_begin)
        return KITH_OK;
    exclude<real><<<pme_cuda_parts, threads, 0, stream>>>(*problem);
    KITH_TRY(cuda_check_launch("excluding pairs"));
    return pme_cuda_add_parts(stream, pme_cuda_parts, virials, problem->parts,
                              problem->totals + pme_cuda_excluded);
}

kith_status pme_cuda_finish(kith_context *context, const struct pme_cuda_problem *problem)
{
    return problem->dtype == KITH_F64 ? finish<double>(context, problem)
                                      : finish<float>(context, problem);
}
