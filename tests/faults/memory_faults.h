#ifndef FAULTS_MEMORY_FAULTS_H
#define FAULTS_MEMORY_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that runs out when a test wants it: a shared library that stands before malloc.
 *
 * It counts what the program asks for: kith itself, and the C library, cJSON and zlib on its
 * behalf. What HDF5 and the loader ask for is given and not counted.
 *
 * In a program that is linked with it the functions below rule. Preloaded (LD_PRELOAD) it obeys the
 * environment: KITH_TEST_MEMORY is n, as below, with a + after it for lasting, and the number of
 * allocations is written to the file KITH_TEST_COUNT at the end. Only a program called kith is
 * meddled with, none that it starts. */

/* The n-th allocation from now on fails (1, 2, …; 0: none does), and all after it if lasting. */
void memory_faults_begin(int64_t n, bool lasting);

/* No more faults; returns how many allocations there were since the beginning. */
int64_t memory_faults_end(void);

/* Blocks that the program has not freed yet. */
int64_t memory_blocks(void);

#endif
