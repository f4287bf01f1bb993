#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of a monotonic clock. */
double kith_clock(void);

#ifdef __cplusplus
}
#endif

#endif
