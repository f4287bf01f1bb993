#ifndef TESTS_BEADS_H
#define TESTS_BEADS_H

/* Beads for the tests of collisions. */

#include "testing.h"

#include <stdlib.h>

#include "random_numbers.h"

static inline kith_array new_beads(kith_dtype dtype, int64_t n, int64_t dimensions)
{
    return kith_array_matrix(calloc((size_t)(n * dimensions) + 1, sizeof(int64_t)), dtype, n,
                             dimensions);
}

static inline void put_bead(kith_array beads, int64_t i, int64_t c, int64_t value)
{
    const int64_t at = i * beads.strides[0] + c * beads.strides[1];
    if (beads.dtype == KITH_I32)
        ((int32_t *)beads.data)[at] = (int32_t)value;
    else
        ((int64_t *)beads.data)[at] = value;
}

static inline int64_t get_bead(kith_array beads, int64_t i, int64_t c)
{
    const int64_t at = i * beads.strides[0] + c * beads.strides[1];
    return beads.dtype == KITH_I32 ? ((int32_t *)beads.data)[at] : ((int64_t *)beads.data)[at];
}

/* 0 … count − 1. */
static inline int64_t random_below(struct random_numbers *random, int64_t count)
{
    return (int64_t)random_uniform(random, 0, (double)count);
}

/* A walk of unit steps from anywhere near the origin. */
static inline void fill_walk(struct random_numbers *random, kith_array beads)
{
    const int64_t d = beads.shape[1];
    int64_t at[3];
    for (int64_t c = 0; c < d; c++)
        at[c] = random_below(random, 100) - 50;
    for (int64_t i = 0; i < beads.shape[0]; i++) {
        for (int64_t c = 0; c < d; c++)
            put_bead(beads, i, c, at[c]);
        at[random_below(random, d)] += random_below(random, 2) ? 1 : -1;
    }
}

/* Points of a cube of a number of sites per side, whose lowest corner is at low. */
static inline void fill_cube(struct random_numbers *random, kith_array beads, int64_t low,
                             int64_t side)
{
    for (int64_t i = 0; i < beads.shape[0]; i++)
        for (int64_t c = 0; c < beads.shape[1]; c++)
            put_bead(beads, i, c, low + random_below(random, side));
}

/* Points anywhere in the range of the type, its ends among them, some of them several times. */
static inline void fill_extremes(struct random_numbers *random, kith_array beads)
{
    const int64_t low = beads.dtype == KITH_I32 ? INT32_MIN : INT64_MIN;
    const int64_t high = beads.dtype == KITH_I32 ? INT32_MAX : INT64_MAX;
    for (int64_t i = 0; i < beads.shape[0]; i++)
        for (int64_t c = 0; c < beads.shape[1]; c++) {
            const int64_t way = random_below(random, 4);
            const int64_t near = random_below(random, 3);
            const int64_t any = (int64_t)random_uniform(random, (double)low, (double)high * 0.999);
            const int64_t other = i > 0 ? get_bead(beads, random_below(random, i), c) : any;
            put_bead(beads, i, c,
                     way == 0   ? low + near
                     : way == 1 ? high - near
                     : way == 2 ? any
                                : other);
        }
}

static inline kith_context *cpu_context(int32_t threads)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

static inline int64_t count_by(kith_context *context, kith_collisions_method method,
                               kith_array beads)
{
    int64_t count = -1;
    assert_ok(kith_collisions_count(context, &(kith_collisions_options){method}, beads, &count));
    return count;
}

#endif
