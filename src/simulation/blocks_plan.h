#ifndef SIMULATION_BLOCKS_PLAN_H
#define SIMULATION_BLOCKS_PLAN_H

/* How the pairs of a block step are divided over the blocks of threads of a GPU. */

#include <stdint.h>

#include "core/both_sides.h"

enum { blocks_threads = 256, blocks_most_rounds = 8, blocks_least_sources = 32 /* of a part */ };

/* The targets of a step in groups of `targets`, a power of two, and the sources in parts: an item
 * is a group and a part, and blocks of threads take items in turn. */
struct blocks_plan {
    int64_t items, part_sources;
    int32_t targets, parts;
};

/* The sources of a group in as few parts as keep nine tenths of the device busy in rounds of one
 * item each. */
KITH_BOTH_SIDES static inline struct blocks_plan blocks_plan_of(int64_t bodies, int64_t count,
                                                                int32_t grid)
{
    struct blocks_plan plan = {0, 0, 1, 1};
    const int32_t enough = count >= 2048 ? 256 : count >= 1024 ? 128 : 64;
    while (plan.targets < enough && plan.targets < count)
        plan.targets *= 2;
    const int32_t groups = (int32_t)((count + plan.targets - 1) / plan.targets);
    const int64_t lanes = blocks_threads / plan.targets;
    const int64_t least = lanes < blocks_least_sources ? (int64_t)blocks_least_sources : lanes;
    const int32_t most_parts = bodies > least ? (int32_t)(bodies / least) : 1;
    double best = 0;
    int32_t parts = 1;
    for (int32_t rounds = 1; rounds <= blocks_most_rounds && best < 0.9; rounds++) {
        int32_t some = groups > 0 ? rounds * grid / groups : 1;
        some = some < 1 ? 1 : some > most_parts ? most_parts : some;
        const int32_t items = some * groups, all = (items + grid - 1) / grid * grid;
        const double busy = all > 0 ? (double)items / all : 1;
        parts = busy > best ? some : parts;
        best = busy > best ? busy : best;
    }
    const int64_t part = (bodies + parts - 1) / parts;
    plan.part_sources = (part + 7) / 8 * 8;
    plan.parts = (int32_t)((bodies + plan.part_sources - 1) / plan.part_sources);
    plan.items = (int64_t)groups * plan.parts;
    return plan;
}

/* At least items·targets of every plan. */
static inline int64_t blocks_most_sums(int64_t bodies, int32_t grid)
{
    const int64_t of_rounds = (int64_t)blocks_most_rounds * grid * blocks_threads;
    const int64_t of_parts = (bodies + blocks_threads) * (bodies / blocks_least_sources + 1);
    return (of_rounds < of_parts ? of_rounds : of_parts) + bodies + blocks_threads;
}

#endif
