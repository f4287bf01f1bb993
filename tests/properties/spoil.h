#ifndef TESTS_PROPERTIES_SPOIL_H
#define TESTS_PROPERTIES_SPOIL_H

/* Good arguments of a call, some of which are then spoiled: NULL, of another dtype, shape or place,
 * negative, not finite, of a size that overflows, overlapping. */

#include "property.h"

enum slot_kind { POINTER, ARRAY, REAL, INT32, INT64, FEW, TEXT };

/* An argument, or a field of one. */
struct slot {
    enum slot_kind kind;
    void *at;
};

enum { most_slots = 40 };
struct slots {
    struct slot slot[most_slots];
    int count;
};

/* FEW is a number of things to be done: spoiled to what is refused or done immediately. TEXT is a
 * const char *. */
void slot_add(struct slots *slots, enum slot_kind kind, void *at);

void spoil(struct property *p, struct slots *slots);

/* Arrays with memory around them, so that a shape or stride that is a little off stays in it. Good
 * until the case ends; numbers in [0.1, 1], or small whole ones. */
kith_array roomy_array(struct property *p, kith_dtype dtype, int32_t ndim, int64_t rows,
                       int64_t columns);

/* A failure is a sentence on one line, and never a bug of kith's own. */
void assert_told(const char *call, kith_status status);

/* Each makes one kind of call with spoiled arguments. */
typedef void bad_call(struct property *p);
bad_call bad_forces, bad_matrix, bad_laws, bad_pairs, bad_collisions, bad_batches, bad_sparse,
    bad_products, bad_simulations, bad_steps, bad_runs, bad_bodies, bad_ensembles, bad_initial,
    bad_orbits, bad_files, bad_tables, bad_trajectories, bad_contexts, bad_lists;

#endif
