#ifndef CLI_COLLISIONS_H
#define CLI_COLLISIONS_H

#include "load.h"

struct collisions_options {
    struct common_options common;
    struct input_options input;
    const char *list, *sequence;
    kith_collisions_method method;
    bool contacts, batch;
};

/* Counts and prints; returns an exit code. */
int collisions_of_one(const char *command, const struct collisions_options *collisions,
                      kith_context *context, kith_array beads);
int collisions_of_batch(const char *command, const struct collisions_options *collisions,
                        kith_context *context, kith_array beads);

#endif
