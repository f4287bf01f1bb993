#ifndef COLLISIONS_THREAD_MAPS_H
#define COLLISIONS_THREAD_MAPS_H

/* The pairs of n beads that each thread evaluates in five distributions of work, as plain
 * arithmetic that the CPU and CUDA kernels share. Rows are i, columns j; a number is the thread.
 *
 * n-steps, thread i takes what is right of the diagonal in row i. (Multi row: so do the blocks of
 * threads (I, J), each with segment I's rows and segment J's columns, J ≥ I.)
 *
 *   N = 4   . 0 0 0      N = 5   . 0 0 0 0
 *           . . 1 1              . . 1 1 1
 *           . . . 2              . . . 2 2
 *           . . . .              . . . . 3
 *                                . . . . .
 *
 * half-steps, thread i takes the beads that follow i on a ring:
 *
 *   N = 4   . 0 0 3      N = 5   . 0 0 3 4
 *           . . 1 1              . . 1 1 4
 *           . . . 2              . . . 2 2
 *           . . . .              . . . . 3
 *                                . . . . .
 *
 * single-steps-all-threads, thread i·N + j takes the pair (i, j) if i < j (B … J are 11 … 19):
 *
 *   N = 4   . 1 2 3      N = 5   . 1 2 3 4
 *           . . 6 7              . . 7 8 9
 *           . . . B              . . . D E
 *           . . . .              . . . . J
 *                                . . . . .
 *
 * single-steps-half-threads, the walk through an N × N matrix in steps of N + 1 places, row after
 * row and round again, below the diagonal reflected. Its first N places are the diagonal;
 * thread 0 is at the place after it:
 *
 *   N = 4   . 0 4 3      N = 5   . 0 5 8 4
 *           . . 1 5              . . 1 6 9
 *           . . . 2              . . . 2 7
 *           . . . .              . . . . 3
 *                                . . . . . */

#include <stdint.h>

#include "core/both_sides.h"

struct collisions_pair {
    int64_t i, j;
};

/* n-steps: thread i takes the beads i + 1 … i + steps. */
KITH_BOTH_SIDES static inline int64_t collisions_n_steps(int64_t n, int64_t i)
{
    return n - 1 - i;
}

/* half-steps, on a ring: (n − 1) / 2 beads for all, and one more for the first half if n is even.
 */
KITH_BOTH_SIDES static inline int64_t collisions_half_steps(int64_t n, int64_t i)
{
    return (n - 1) / 2 + (n % 2 == 0 && i < n / 2);
}

/* The bead this many steps after i in cyclic order. */
KITH_BOTH_SIDES static inline int64_t collisions_on_ring(int64_t n, int64_t i, int64_t step)
{
    return i + step < n ? i + step : i + step - n;
}

/* Of n·n threads; those with i < j have work. */
KITH_BOTH_SIDES static inline struct collisions_pair collisions_all_threads(int64_t n,
                                                                            int64_t thread)
{
    const struct collisions_pair pair = {thread / n, thread % n};
    return pair;
}

/* Of n (n − 1) / 2 threads. (n + 1)·(d·n + i) = (i + d)·n + i modulo n²: row i + d, column i. */
KITH_BOTH_SIDES static inline struct collisions_pair collisions_half_threads(int64_t n,
                                                                             int64_t thread)
{
    const int64_t d = thread / n + 1, column = thread % n;
    const int64_t row = collisions_on_ring(n, column, d);
    const struct collisions_pair pair = {row < column ? row : column, row < column ? column : row};
    return pair;
}

#endif
