#ifndef TESTS_PROPERTY_H
#define TESTS_PROPERTY_H

/* Random calls of the library, and what must hold of each. A case follows from the seed, the
 * property's name and the case's number alone, so that it can be made again by itself:
 * KITH_TEST_SEED and KITH_TEST_CASE do that. */

#include "testing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "random_numbers.h"

struct property {
    struct random_numbers random; /* this case's own */
    kith_context *context;        /* any instruction set and number of threads, or a GPU's */
    kith_context *other;          /* the same instruction set, other threads; or context itself */
    bool on_gpu;
};

/* Checks one case; errors are reported by cmocka's fail_msg. */
typedef void property_case(struct property *p);

property_case forces_are_those_of_the_reference, forces_of_laws_are_those_of_the_reference,
    matrices_are_those_of_the_reference, matrices_of_formulas_are_those_of_the_reference,
    pairs_are_those_of_the_definition, nearest_points_are_those_of_the_definition,
    lists_are_kept_as_they_would_be_made, collisions_are_those_of_the_reference,
    batches_are_counted_as_each_alone, groups_are_the_sites, products_are_those_of_the_entries,
    matrices_are_the_same_from_any_source, steps_are_the_same_however_they_are_taken,
    ensembles_are_their_systems, files_give_back_what_was_written;

/* Spoils arguments of a call; the call must report it or be harmless. */
property_case bad_calls_are_told;

/* Every call of the library that a property makes is counted. */
extern int64_t property_calls;
#define counted(call) (property_calls++, (call))

static inline bool chance(struct property *p, double probability)
{
    return random_uniform(&p->random, 0, 1) < probability;
}

/* low … high, both included. */
static inline int64_t whole(struct property *p, int64_t low, int64_t high)
{
    return low + (int64_t)random_uniform(&p->random, 0, (double)(high - low + 1));
}

/* Sizes where kernels have their corners: few, around whole vectors and blocks, sometimes many. */
int64_t any_size(struct property *p, int64_t most);

kith_dtype any_real(struct property *p);

/* Memory of this case: freed when it ends. Filled with a pattern that is no usual number. */
void *case_memory(size_t bytes);

/* An array on the host in any layout: dense, with gaps, by columns, backwards. Its memory is the
 * case's. */
struct laid_array {
    kith_array array;
    unsigned char *block, *before; /* all of its memory now, and as it was made */
    size_t bytes;
};

struct laid_array any_layout(struct property *p, kith_dtype dtype, int32_t ndim, int64_t rows,
                             int64_t columns);

/* Fails if anything but the array's elements was written to. */
void assert_gaps_untouched(const struct laid_array *laid);

double array_get(kith_array array, int64_t i, int64_t j);
void array_put(kith_array array, int64_t i, int64_t j, double value);

/* Fails unless both have the same bits in each element. */
void assert_same_bits(const char *what, kith_array a, kith_array b);

/* A single-threaded context on the CPU, for references. */
kith_context *plain_context(void);

#endif
