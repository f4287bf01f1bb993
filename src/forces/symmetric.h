#ifndef FORCES_SYMMETRIC_H
#define FORCES_SYMMETRIC_H

#include "forces/law_sums_kernel.h"
#include "forces/problem.h"
#include "forces/symmetric_kernel.h"
#include "kith/context.h"

/* Whether forces_symmetric_cpu is to compute this: it is the method requested, or the faster one.
 * Of a law only if it is symmetric. */
bool forces_symmetric_suits(const kith_context *context, const struct forces_problem *problem,
                            bool is_formula);

/* Whether it takes such a problem of slices (forces/problem.h). */
bool forces_symmetric_takes_slices(const kith_context *context,
                                   const struct forces_problem *problem, bool is_formula);

const struct forces_symmetric_kernels *forces_symmetric_kernels_of(const kith_context *context,
                                                                   kith_dtype dtype);

/* The faster form on this processor, where masses allow it. */
enum symmetric_form forces_symmetric_preferred_form(void);

/* What a law other than gravity, or a formula, has for its sums. */
struct symmetric_law {
    const struct law_sums_problem *sums; /* of all bodies */
    forces_symmetric_kernel *kernel;
    law_sums_kernel *one_sided; /* for blocks with themselves */
    double seconds;             /* that one thread takes for one-sided sums */
};

/* Forces of bodies on each other, each pair evaluated once; law is NULL for gravity.
 *
 * The bodies are divided into blocks, whose interactions follow a cyclic schedule (forces/ring.h).
 * Each pair of blocks has memory of its own for its sums, in the problem's precision; a few rounds
 * of the ring at a time are added up in double, in the order of the rounds: neither depends on the
 * assignment to threads, so that the bits are the same for every number of threads.
 *
 * In a job each rank has some of the blocks, and sends the others their contributions while it
 * computes the next ones (forces/ring_ranks.h); all ranks get the results. Of slices the bodies of
 * a rank's tiles, and of the tiles that these meet next, come while it computes, and each rank gets
 * the results of its own rows. Same bits.
 *
 * Memory: D (+ 1 with potentials) components of 8 N numbers for the partial sums, whatever the
 * number of blocks, N for the blocks with themselves, and N doubles for the sums; of P ranks 24 N /
 * P, N / P and N / P on each; of slices 2 N / P and 8 blocks of each column of the bodies besides.
 */
kith_status forces_symmetric_cpu(kith_context *context, const struct forces_problem *problem,
                                 const struct symmetric_law *law);

#endif
