#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

/* Seconds of a monotonic clock. */
double kith_clock(void);

#endif
