#ifndef COLLISIONS_BOX_H
#define COLLISIONS_BOX_H

#include "lattice/problem.h"

/* Of a coordinate in a key: so the linear method finds the sites of a block there. */
enum { collisions_least_bits = 3 };

/* The smallest box of sites with all beads in it, and keys of its sites.
 *
 * A key packs the coordinates, counted from one below the lowest, this many bits each; there is
 * room for one more at the upper end. So every site has a key of its own, and those one step
 * along axis c are at ± collisions_step(box, c), outside of the box too. */
struct collisions_box {
    int64_t low[3];
    uint64_t range[3]; /* highest − lowest */
    int32_t bits[3];
    int32_t shift[3];
    int32_t total_bits; /* more than 64: too many for keys */
};

/* Beads are dense rows here and below. Of no bead: the site 0. */
struct collisions_box collisions_box_of(const kith_context *context,
                                        const struct collisions_problem *problem);

/* Sites of the box, or INT64_MAX if there are more. */
int64_t collisions_box_sites(const struct collisions_box *box);

static inline bool collisions_box_has_keys(const struct collisions_box *box)
{
    return box->total_bits <= 64;
}

static inline uint64_t collisions_step(const struct collisions_box *box, int64_t c)
{
    return (uint64_t)1 << box->shift[c];
}

/* The keys of the beads begin … end − 1. */
void collisions_keys(const kith_context *context, const struct collisions_problem *problem,
                     const struct collisions_box *box, int64_t begin, int64_t end, uint64_t *keys);

/* Their sites' numbers instead, 0 … collisions_box_sites − 1, if these are less than INT64_MAX. */
void collisions_site_numbers(const kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, int64_t begin, int64_t end,
                             uint64_t *numbers);

/* A number with all bits of the key in all bits, another one for another key (the finalizer of
 * Appleby's MurmurHash3). */
KITH_BOTH_SIDES static inline uint64_t collisions_mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccd;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53;
    return key ^ key >> 33;
}

#endif
