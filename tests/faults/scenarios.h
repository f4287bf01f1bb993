#ifndef FAULTS_SCENARIOS_H
#define FAULTS_SCENARIOS_H

#include <stdint.h>

#include "kith/kith.h"

/* Every public function on small input: what tests with faults, and the soak, go through.
 *
 * A scenario makes what it needs, calls, and frees all of it, also after a failure. */

struct call {
    kith_context *context;
    const char *folder; /* for files, of this thread's own */
    uint64_t digest;    /* of all results: the same bits give the same number */
};

struct scenario {
    const char *name;
    kith_status (*run)(struct call *call);
};

/* Ends with a row whose name is NULL. */
extern const struct scenario scenarios_of_computing[];
extern const struct scenario scenarios_of_files[];
extern const struct scenario scenarios_on_device[]; /* with a context on a GPU; CUDA builds alone */

/* Takes results into the digest. */
void fold(struct call *call, const void *data, int64_t bytes);

/* Runs a scenario in a context of its own. */
kith_status scenario_run(const struct scenario *scenario, const kith_context_options *options,
                         const char *folder, uint64_t *digest);

#endif
