#ifndef FAULTS_DEVICE_FAULTS_H
#define FAULTS_DEVICE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* Calls of the CUDA runtime that fail when a test wants it.
 *
 * The linker puts the functions of this file before the runtime's (device_faults_calls in
 * CMakeLists.txt names them): those that take something of the device, and those that give it work.
 * One that fails does nothing, and says cudaErrorMemoryAllocation then and when the last error is
 * requested, as the runtime does. What is taken is kept account of until it is given back.
 * cudaMalloc, which kith does not use, is the tests' own and left alone. */
enum device_fault {
    device_fault_taking, /* memory, page-locked memory, pools, streams, events */
    device_fault_work    /* copies, kernels, and what orders them */
};

/* The n-th call of a kind from now on fails (1, 2, …; 0: none does), and all after it if lasting.
 * For one thread at a time. */
void device_faults_begin(enum device_fault kind, int64_t n, bool lasting);

/* The calling thread's calls neither fail nor count, from now on. */
void device_faults_spare(void);

/* No more faults; returns how many calls of the kind there were since the beginning. */
int64_t device_faults_end(void);

/* What the program has taken and not given back yet: how many things, and bytes of memory on the
 * device and page-locked. */
int64_t device_objects(void);
int64_t device_bytes(void);

#endif
