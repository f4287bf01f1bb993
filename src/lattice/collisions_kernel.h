#ifndef COLLISIONS_KERNEL_H
#define COLLISIONS_KERNEL_H

#include "core/isa.h"
#include "lattice/box.h"

/* The kernels of an instruction set. Beads are dense rows. */
struct collisions_kernels {
    /* Lowest and highest coordinates of rows > 0 beads; the third is 0 in 2D. */
    void (*extent_32)(const void *beads, int64_t rows, int64_t columns, int64_t low[3],
                      int64_t high[3]);
    void (*extent_64)(const void *beads, int64_t rows, int64_t columns, int64_t low[3],
                      int64_t high[3]);

    /* keys[k] = Σ_c step[c]·(x_c − origin[c]) of row k, modulo 2^64. */
    void (*keys_32)(const void *beads, int64_t rows, int64_t columns, const uint64_t origin[3],
                    const uint64_t step[3], uint64_t *keys);
    void (*keys_64)(const void *beads, int64_t rows, int64_t columns, const uint64_t origin[3],
                    const uint64_t step[3], uint64_t *keys);

    /* Equal pairs i < j of count keys with begin ≤ i < begin + collisions_targets. */
    int64_t (*equal_pairs_32)(const uint32_t *keys, int64_t count, int64_t begin);
    int64_t (*equal_pairs_64)(const uint64_t *keys, int64_t count, int64_t begin);

    /* The dense conformation of up to collisions_most_of_batch beads; see batch_kernel_body.h. */
    bool (*conformation_32)(const void *beads, int64_t rows, int64_t columns,
                            const unsigned char *hydrophobic, void *scratch, int64_t *collisions,
                            int64_t *contacts);
    bool (*conformation_64)(const void *beads, int64_t rows, int64_t columns,
                            const unsigned char *hydrophobic, void *scratch, int64_t *collisions,
                            int64_t *contacts);
};

/* Targets that equal_pairs takes at once: divides the work into tasks. */
enum { collisions_targets = 128 };

/* Of the context. */
const struct collisions_kernels *collisions_kernels_of(const kith_context *context);

#define COLLISIONS_DECLARE_KERNELS(isa) extern const struct collisions_kernels collisions_##isa;
KITH_EACH_ISA(COLLISIONS_DECLARE_KERNELS)
#undef COLLISIONS_DECLARE_KERNELS

#endif
