#ifndef COLLISIONS_CONFORMATION_H
#define COLLISIONS_CONFORMATION_H

#include <stdint.h>

/* A conformation is counted in an array of counters, one a site of its box and of a margin at the
 * upper ends, if there are at most this many sites: a random walk has about L^{3/2} / 2 of them, a
 * compact chain about L. */
static inline int64_t conformation_most_sites(int64_t beads)
{
    return 16 * beads + 4096;
}

#endif
