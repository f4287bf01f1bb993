#ifndef CLI_LOAD_ENSEMBLE_H
#define CLI_LOAD_ENSEMBLE_H

#include "load.h"

/* The input of an ensemble: systems of the same number of bodies, one after the other. */
struct ensemble_input {
    int64_t systems;
    kith_bodies *bodies;
    char **paths; /* each system's file; NULL if they were made */
};

/* Whether the input's path is a directory. */
bool load_is_directory(const char *path);

/* Reads the files of a directory, sorted by name, or makes systems of a kind with the seed and
 * those that follow it.
 *
 *   systems   as many; for a directory −1 for as many as there are
 *   ensemble  [out] free with ensemble_input_free, also after a failure
 *
 * Returns an exit code. */
int load_ensemble(const char *command, const struct input_options *input, int64_t systems,
                  const char *output, bool quiet, struct ensemble_input *ensemble);
void ensemble_input_free(struct ensemble_input *ensemble);

#endif
