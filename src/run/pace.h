#ifndef RUN_PACE_H
#define RUN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* The number of steps between checks, and the schedule of checkpoints. All times are seconds of
 * kith_clock. */
struct pace {
    double checkpoint_seconds; /* between checkpoints, if they are cheap */
    double published_at;       /* the last one, or the beginning */
    double publish_at;         /* the next one */
    double report_at;
    double check_seconds; /* between checks */
    double steps;         /* that take about as long as is allowed without a check */
    double fewest;        /* at least this many */
};

/* The first checkpoint comes at the beginning if less than a second is requested, else after a
 * second.
 *
 *   check_seconds  between two checks, as far as steps allow
 *   fewest         minimum number of steps of one call, ≥ 1 */
void pace_begin(struct pace *pace, double checkpoint_seconds, double check_seconds, int64_t fewest,
                double now);

/* Steps to take now, 1 ≤ … ≤ most. */
int64_t pace_steps(const struct pace *pace, int64_t most);

/* Learns how long steps take. */
void pace_took(struct pace *pace, int64_t steps, double seconds);

/* Whether it is time to report the progress; ten times a second at most. */
bool pace_reports(struct pace *pace, double now);

/* Whether it is time to publish a checkpoint. */
bool pace_publishes(const struct pace *pace, double now);

/* A checkpoint was published, and took this many seconds. Returns the time between checkpoints, as
 * it was or is to be: more than checkpoint_seconds where steps or checkpoints take long. */
double pace_published(struct pace *pace, double now, double seconds);

#endif
