#ifndef TREE_WALK_SPANS_CUDA_CUH
#define TREE_WALK_SPANS_CUDA_CUH

/* The targets of a walk of which a device has a range of the points (walk_cuda.cu). */

#include "tree/octree_cuda.h"

enum { span_threads = 64 };
static_assert((int)octree_most_generations <= (int)span_threads, "a thread has a generation");

/* The targets with points of a range: of each generation they follow each other. Those of
 * generation g begin with cell first[g] and have the numbers number[g] … number[g + 1] − 1. */
struct walk_spans {
    int32_t generations;
    int32_t first[octree_most_generations], number[octree_most_generations + 1];
};

/* The numbers that one generation's targets have: up to end, and what makes a number the cell's. */
struct walk_span {
    int32_t generation, end, shift;
};

/* The target with this number, no less than that of the call before; end: there are fewer. spans
 * NULL: they are first … end − 1. */
static __device__ inline int32_t target_of_number(const struct walk_spans *spans, int32_t first,
                                                  int32_t end, int32_t number,
                                                  struct walk_span *span)
{
    if (!spans)
        return first + number;
    while (number >= span->end) {
        if (span->generation == spans->generations)
            return end;
        span->end = spans->number[span->generation + 1];
        span->shift = spans->first[span->generation] - spans->number[span->generation];
        span->generation++;
    }
    return number + span->shift;
}

struct generations {
    int32_t count, first[octree_most_generations + 1];
};

/* Of the cells first … end − 1 those with points in the range; a thread a generation. */
static __global__ void __launch_bounds__(span_threads)
    find_spans(const struct octree_cell *cells, const struct generations generations, int32_t first,
               int32_t end, struct octree_range range, struct walk_spans *spans)
{
    __shared__ int32_t counts[octree_most_generations];
    const int32_t g = (int32_t)threadIdx.x;
    if (g < generations.count) {
        const int32_t begin = generations.first[g] > first ? generations.first[g] : first;
        const int32_t after = generations.first[g + 1] < end ? generations.first[g + 1] : end;
        int32_t low = begin, high = after > begin ? after : begin;
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (cells[middle].first + cells[middle].count <= range.first)
                low = middle + 1;
            else
                high = middle;
        }
        const int32_t from = low;
        high = after > low ? after : low;
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (cells[middle].first < range.end)
                low = middle + 1;
            else
                high = middle;
        }
        spans->first[g] = from;
        counts[g] = low - from;
    }
    __syncthreads();
    if (g > 0)
        return;
    int32_t number = 0;
    for (int32_t k = 0; k < generations.count; k++) {
        spans->number[k] = number;
        number += counts[k];
    }
    spans->number[generations.count] = number;
    spans->generations = generations.count;
}

#endif
