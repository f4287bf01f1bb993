#ifndef COLLISIONS_CPU_METHODS_H
#define COLLISIONS_CPU_METHODS_H

#include "lattice/box.h"

/* The CPU's methods of counting; beads are dense rows, and the box is theirs. Scratch memory is the
 * context's (device/cpu.h). Errors: KITH_OUT_OF_MEMORY. */
typedef kith_status collisions_cpu_method(kith_context *context,
                                          const struct collisions_problem *problem,
                                          const struct collisions_box *box, int64_t *count);

/* The distributions of thread_maps.h; a task takes what a block of threads does. */
collisions_cpu_method collisions_n_steps_single_row_cpu;
collisions_cpu_method collisions_n_steps_multi_row_cpu;
collisions_cpu_method collisions_half_steps_cpu;
collisions_cpu_method collisions_all_threads_cpu;
collisions_cpu_method collisions_half_threads_cpu;

/* Every pair, with the CPU's vectors. */
collisions_cpu_method collisions_all_pairs_cpu;

/* A counter a site of a small box; else, if consecutive beads are mostly near each other, a table
 * of blocks of 64 sites; else collisions_hash_cpu. */
collisions_cpu_method collisions_linear_cpu;

/* Whether the linear method has a counter for every site of the box. */
bool collisions_sites_are_few(const struct collisions_problem *problem,
                              const struct collisions_box *box);

/* Beads partitioned by a hash of their sites into pieces that fit the second cache, and a table of
 * each piece's sites. */
collisions_cpu_method collisions_hash_cpu;

/* Sites sorted, and runs of equal ones. */
collisions_cpu_method collisions_sort_cpu;

/* All that a summary has, of beads with a flag unless hydrophobic is NULL. For any backend's
 * context: the memory is its own. Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status collisions_summarize_cpu(kith_context *context,
                                     const struct collisions_problem *problem,
                                     const unsigned char *hydrophobic,
                                     kith_collisions_summary *summary);

/* Numbers that are equal for beads at one site, and for no others: keys of the box, or numbers
 * from 0 on where it has no keys. Errors: KITH_OUT_OF_MEMORY. */
kith_status collisions_identify(kith_context *context, const struct collisions_problem *problem,
                                const struct collisions_box *box, uint64_t *site);

/* Whether those are less than 2^32. */
bool collisions_sites_are_short(const struct collisions_problem *problem,
                                const struct collisions_box *box);

#endif
