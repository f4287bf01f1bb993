#ifndef VIEW_PROCESSOR_H
#define VIEW_PROCESSOR_H

#include <time.h>

/* Processor time of the calling thread, in seconds. */
static inline double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
