#ifndef COLLISIONS_KERNEL_H
#define COLLISIONS_KERNEL_H

#include "core/isa.h"
#include "lattice/box.h"

/* The kernels of an instruction set, of integers of 32 or 64 bits. Beads are dense rows of them. */
struct collisions_kernels {
    /* Lowest and highest coordinates of rows > 0 beads; the third is 0 in 2D. */
    void (*extent)(const void *beads, int64_t rows, int64_t columns, int64_t low[3],
                   int64_t high[3]);

    /* keys[k] = Σ_c step[c]·(x_c − origin[c]) of row k, modulo 2^64. */
    void (*keys)(const void *beads, int64_t rows, int64_t columns, const uint64_t origin[3],
                 const uint64_t step[3], uint64_t *keys);

    /* Equal pairs i < j of count keys with begin ≤ i < begin + collisions_targets; the keys are
     * unsigned integers of as many bits. */
    int64_t (*equal_pairs)(const void *keys, int64_t count, int64_t begin);

    /* The dense conformation of up to collisions_most_of_batch beads: collisions and contacts (of
     * flagged beads, unless hydrophobic is NULL; contacts may be NULL); false if it is too spread
     * out. */
    bool (*conformation)(const void *beads, int64_t rows, int64_t columns,
                         const unsigned char *hydrophobic, void *scratch, int64_t *collisions,
                         int64_t *contacts);
};

/* Targets that equal_pairs takes at once: divides the work into tasks. */
enum { collisions_targets = 128 };

/* Of the context and of KITH_I32 or KITH_I64. */
const struct collisions_kernels *collisions_kernels_of(const kith_context *context,
                                                       kith_dtype dtype);

#define COLLISIONS_DECLARE_KERNELS(isa)                                                            \
    extern const struct collisions_kernels collisions_32_##isa, collisions_64_##isa;
KITH_EACH_ISA(COLLISIONS_DECLARE_KERNELS)
#undef COLLISIONS_DECLARE_KERNELS

#endif
