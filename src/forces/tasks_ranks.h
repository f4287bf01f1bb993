#ifndef FORCES_TASKS_RANKS_H
#define FORCES_TASKS_RANKS_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/context.h"

/* Tasks of unequal work over the ranks of a job: each has contiguous ones, of about the same. */
struct tasks_part {
    kith_context *context;
    int64_t count;
    int64_t first, end; /* of this rank */
    bool is_divided;    /* else these are all, and every rank does them */
    double *work;       /* of each task, in any unit; if it is divided */
    int64_t *firsts;    /* rank k has the tasks firsts[k] … firsts[k + 1] − 1 */
    int64_t *bounds;    /* room for a gather */
};

/* To exchange the forces on fewer would take longer. */
enum { tasks_least_targets = 1024 };

/* Tasks of this many targets in all; with fewer than tasks_least_targets every rank does all. Free
 * *part with tasks_free, after an error too. Errors: KITH_OUT_OF_MEMORY. */
kith_status tasks_create(kith_context *context, int64_t count, int64_t targets,
                         struct tasks_part *part);
/* The same, but however few targets there are they are divided. For ranks of a job alone. */
kith_status tasks_create_divided(kith_context *context, int64_t count, struct tasks_part *part);
void tasks_free(struct tasks_part *part);

/* Divides the tasks, if they are divided, by part->work, or by their number at first, when that is
 * 0. */
void tasks_divide(struct tasks_part *part);

/* Collective, if they are divided: of an array with this many elements per task, of which the last
 * may have fewer, each rank's come to all. */
void tasks_gather(const struct tasks_part *part, void *data, int64_t element_bytes,
                  int64_t elements_a_task, int64_t elements);

#endif
