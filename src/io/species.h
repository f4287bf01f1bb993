#ifndef IO_SPECIES_H
#define IO_SPECIES_H

#include "core/status.h"
#include "kith/bodies.h"

/* Names met so far, each with the row of the first body that has it: a hash table. All zero: empty;
 * free it with species_free. */
struct species {
    int64_t count, room; /* a power of two, at least twice the count; or 0 */
    struct species_entry {
        kith_name name;
        int32_t row;
        bool is_used;
    } * entries;
};

/* The row of the first body with this name: *first is `row` if the name is new.
 * Errors: KITH_OUT_OF_MEMORY. Cost: O(1). */
kith_status species_of(struct species *species, const char *name, int32_t row, int32_t *first);

void species_free(struct species *species);

#endif
