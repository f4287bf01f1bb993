#ifndef CORE_PROCESSOR_H
#define CORE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The processor's model name, or its architecture if it has none. */
void processor_name(char *name, size_t bytes);

/* The number of cores of the system. */
int32_t processor_cores(void);

/* Threads to compute with: those of OMP_NUM_THREADS (of a list the first; then it is requested), or
 * one for each core that the process may run on. */
int32_t processor_threads(bool *is_asked);

#endif
