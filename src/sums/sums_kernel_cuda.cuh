/* Sums over pairs on a GPU, for one set of formulas, precision and reduction
 * (formulas_cuda_body.h): compiled at run time by NVRTC only.
 *
 * A thread has a target. Which sources are its pairs the arithmetic of cells/geometry.h says.
 * Results of a batch of them are added up in REAL, and batches in double precision, in the order of
 * the sources. */

#include "sums/sums_kernel_cuda.h"

#include "sums/formulas_cuda_body.h"

#define CELLS_DIMENSIONS SUMS_DIMENSIONS
#include "cells/walk.h"

#if SUMS_IN_FLOAT
#define OF_REAL(name) name##_float
#else
#define OF_REAL(name) name##_double
#endif

enum { threads = sums_cuda_threads, fields_j = (3 + SUMS_COLUMNS_J + SUMS_MORE_AXES + 3) / 4 * 4 };

enum { sum_of_values, least_value, greatest_value, count_of_values, log_of_exponentials };

/* The results of a target (reduction.h). */
template <class real> struct reduced {
    real value[SUMS_OUTPUTS], rest[SUMS_OUTPUTS];
};

LAW_INLINE double infinity()
{
    return __longlong_as_double(0x7ff0000000000000);
}

template <class real> LAW_INLINE reduced<real> nothing()
{
    struct reduced<real> none;
#pragma unroll
    for (int k = 0; k < SUMS_OUTPUTS; k++) {
        none.value[k] = SUMS_REDUCTION == least_value ? (real)infinity()
                        : SUMS_REDUCTION == greatest_value || SUMS_REDUCTION == log_of_exponentials
                            ? -(real)infinity()
                            : 0;
        none.rest[k] = 0;
    }
    return none;
}

/* NaN wins. */
template <class real> LAW_INLINE real greater_of(real a, real b)
{
    return b > a || b != b ? b : a;
}

template <class real> LAW_INLINE real lesser_of(real a, real b)
{
    return b < a || b != b ? b : a;
}

template <class real> LAW_INLINE real origin_of(real greatest)
{
    const real infinite = (real)infinity();
    return greatest == infinite || greatest == -infinite ? 0 : greatest;
}

template <class real> LAW_INLINE real scaled(real rest, real value, real origin)
{
    return rest > 0 ? rest * law_exp(value - origin) : rest;
}

/* Joins result k with another. */
template <class real>
LAW_INLINE void join(struct reduced<real> *to, int k, const real value, const real rest)
{
    if (SUMS_REDUCTION == least_value) {
        to->value[k] = lesser_of(to->value[k], value);
    } else if (SUMS_REDUCTION == greatest_value) {
        to->value[k] = greater_of(to->value[k], value);
    } else if (SUMS_REDUCTION == log_of_exponentials) {
        const real greatest = greater_of(to->value[k], value), origin = origin_of(greatest);
        to->rest[k] = scaled(to->rest[k], to->value[k], origin) + scaled(rest, value, origin);
        to->value[k] = greatest;
    } else {
        to->value[k] += value;
    }
}

LAW_INLINE void join_all(struct reduced<double> *to, const struct reduced<REAL> &batch)
{
#pragma unroll
    for (int k = 0; k < SUMS_OUTPUTS; k++)
        join<double>(to, k, batch.value[k], batch.rest[k]);
}

LAW_INLINE void add_pair(const struct sums_constants &law, const struct sums_pair &pair,
                         struct reduced<REAL> *batch)
{
    REAL factor[SUMS_OUTPUTS], value[SUMS_OUTPUTS];
    sums_values(&law, &pair, value, factor);
#pragma unroll
    for (int k = 0; k < SUMS_OUTPUTS; k++) {
        if (SUMS_DIVERGES(k) && pair.s2 == 0)
            continue;
        const REAL product = SUMS_IS_PRODUCT(k) ? value[k] * factor[k] : value[k];
        const REAL counted = product != 0 ? 1 : 0;
        join<REAL>(batch, k, SUMS_REDUCTION == count_of_values ? counted : product, 1);
    }
}

/* Four numbers of a record, which is aligned to them: of shared memory, and of the device's. */
#if SUMS_IN_FLOAT
LAW_INLINE void take4(const float4 four, REAL to[4])
{
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

LAW_INLINE void read4(const REAL *from, REAL to[4])
{
    take4(*(const float4 *)from, to);
}

LAW_INLINE void load4(const REAL *from, REAL to[4])
{
    take4(__ldg((const float4 *)from), to);
}
#else
LAW_INLINE void take4(const double2 first, const double2 last, REAL to[4])
{
    to[0] = first.x, to[1] = first.y, to[2] = last.x, to[3] = last.y;
}

LAW_INLINE void read4(const REAL *from, REAL to[4])
{
    take4(*(const double2 *)from, *((const double2 *)from + 1), to);
}

LAW_INLINE void load4(const REAL *from, REAL to[4])
{
    take4(__ldg((const double2 *)from), __ldg((const double2 *)from + 1), to);
}
#endif

LAW_INLINE const REAL *record_of(const struct sums_cuda_problem &problem, int j)
{
    return (const REAL *)problem.sources.records + (long long)j * fields_j;
}

/* A target in registers; pair has its columns. */
struct target {
    int slot;
    bool is_there;
    REAL at[3], more[SUMS_MORE_AXES + 1];
};

LAW_INLINE struct target begin_target(const struct sums_cuda_side &targets, struct sums_pair *pair)
{
    struct target target = {};
    *pair = {};
    target.slot = (int)(blockIdx.x * threads + threadIdx.x);
    target.is_there = target.slot < targets.count;
    if (!target.is_there)
        return target;
    const REAL *record = (const REAL *)targets.records + (long long)target.slot * targets.fields;
    for (int c = 0; c < 3; c++)
        target.at[c] = record[c];
    for (int c = 0; c < SUMS_COLUMNS_I; c++)
        pair->column[c] = record[3 + c];
    for (int c = 0; c < SUMS_MORE_AXES; c++)
        target.more[c] = record[3 + SUMS_COLUMNS_I + c];
    return target;
}

/* d and r² as cells/geometry.h has them, or fused where no cutoff decides; t is added if the source
 * is moved. */
LAW_INLINE REAL vector_to(const struct target &target, const REAL *source, const bool moved,
                          const REAL t[3], REAL d[3])
{
    REAL s2 = 0;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        d[c] = 0;
        if (c >= SUMS_DIMENSIONS)
            continue;
        d[c] = OF_REAL(pairs_add)(source[c], -target.at[c]);
        if (moved)
            d[c] = OF_REAL(pairs_add)(d[c], t[c]);
        const REAL square = OF_REAL(pairs_multiply)(d[c], d[c]);
        if (c == 0)
            s2 = square;
        else
            s2 = SUMS_ALL_PAIRS ? law_fma(d[c], d[c], s2) : OF_REAL(pairs_add)(s2, square);
    }
    return s2;
}

/* The pair with a source's record; its columns that d does not have. */
LAW_INLINE void set_pair(const struct target &target, const REAL record[fields_j], const bool moved,
                         const REAL t[3], struct sums_pair *pair)
{
    pair->s2 = vector_to(target, record, moved, t, pair->d);
    for (int c = 0; c < SUMS_COLUMNS_J; c++)
        pair->column[SUMS_COLUMNS_I + c] = record[3 + c];
    for (int c = 0; c < SUMS_MORE_AXES; c++) {
        const REAL along = record[3 + SUMS_COLUMNS_J + c] - target.more[c];
        pair->s2 = law_fma(along, along, pair->s2);
    }
}

LAW_INLINE void load_pair(const struct sums_cuda_problem &problem, const struct target &target,
                          int j, const bool moved, const REAL t[3], struct sums_pair *pair)
{
    REAL record[fields_j];
    for (int first = 0; first < fields_j; first += 4)
        load4(record_of(problem, j) + first, record + first);
    set_pair(target, record, moved, t, pair);
}

LAW_INLINE void store(const struct sums_cuda_problem &problem, int slot,
                      const struct reduced<double> &total)
{
    const long long row = problem.targets.order ? problem.targets.order[slot] : slot;
    REAL *to = (REAL *)problem.results + row * problem.row_stride;
#pragma unroll
    for (int k = 0; k < SUMS_OUTPUTS; k++) {
        double result = total.value[k];
        if (SUMS_REDUCTION == log_of_exponentials && result - result == 0) /* it is finite */
            result += law_log(total.rest[k]);
        to[k * problem.column_stride] = (REAL)result;
    }
}

/* Adds the pairs of all threads. */
LAW_INLINE void count_pairs(const struct sums_cuda_problem &problem, long long pairs)
{
    if (!problem.pairs)
        return;
    for (int offset = 16; offset > 0; offset /= 2)
        pairs += __shfl_xor_sync(0xffffffffu, pairs, offset);
    if (threadIdx.x % 32 == 0 && pairs > 0)
        atomicAdd(problem.pairs, (unsigned long long)pairs);
}

#if SUMS_ALL_PAIRS
#include "sums/all_cuda_body.h"
#elif SUMS_LISTED
#include "sums/listed_cuda_body.h"
#else
#include "sums/near_cuda_body.h"
#endif
