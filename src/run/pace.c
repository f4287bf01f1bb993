#include "run/pace.h"

#include <math.h>

static const double default_checkpoint_seconds = 10, first_checkpoint_seconds = 1;
static const double report_seconds = 0.1;

/* A checkpoint must not cost more than a twentieth of the time. */
static const double most_of_time = 1.0 / 20;

void pace_begin(struct pace *pace, double checkpoint_seconds, double check_seconds, int64_t fewest,
                double now)
{
    const double wanted = checkpoint_seconds > 0 ? checkpoint_seconds : default_checkpoint_seconds;
    const double first = wanted < first_checkpoint_seconds ? 0 : first_checkpoint_seconds;
    *pace = (struct pace){.checkpoint_seconds = wanted,
                          .published_at = now,
                          .publish_at = now + first,
                          .report_at = now,
                          .check_seconds = check_seconds,
                          .steps = (double)fewest,
                          .fewest = (double)fewest};
}

int64_t pace_steps(const struct pace *pace, int64_t most)
{
    return pace->steps < (double)most ? (int64_t)pace->steps : most;
}

void pace_took(struct pace *pace, int64_t steps, double seconds)
{
    const double fitting = (double)steps * pace->check_seconds / fmax(seconds, 1e-9);
    pace->steps = fmax(pace->fewest, fmin(fitting, 2 * pace->steps));
}

bool pace_reports(struct pace *pace, double now)
{
    if (now < pace->report_at)
        return false;
    pace->report_at = now + report_seconds;
    return true;
}

bool pace_publishes(const struct pace *pace, double now)
{
    return now >= pace->publish_at;
}

double pace_published(struct pace *pace, double now, double seconds)
{
    const double before = now - pace->published_at;
    const double next = fmax(pace->checkpoint_seconds, seconds / most_of_time);
    pace->published_at = now;
    pace->publish_at = now + next;
    return fmax(before, next);
}
