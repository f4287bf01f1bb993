#ifndef RANKS_MPI_H
#define RANKS_MPI_H

#include "ranks/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks of MPI_COMM_WORLD. The library kith does not depend on MPI: a program that is started
 * by mpirun links this file and MPI, and joins its contexts to the job. */

/* Initializes MPI, which is then used by the calling thread alone. Returns whether that worked. */
bool ranks_mpi_begin(struct ranks *ranks);

/* Finalizes it. */
void ranks_mpi_end(struct ranks *ranks);

/* Collective: the first ranks, as many, as a job of their own, one at a time; false on the others.
 */
bool ranks_mpi_begin_some(int32_t size, struct ranks *ranks);
void ranks_mpi_end_some(struct ranks *ranks);

/* "Open MPI v4.1.4": of the library that is in use, its first words. */
const char *ranks_mpi_version(void);

/* Seconds that this rank has waited for others so far: for messages, and in collective calls. */
double ranks_mpi_waited(void);

/* Seconds of the processor that this process has had, without those in which it waited. */
double ranks_mpi_worked(void);

/* Collective: the number of this rank among those of its machine. */
int32_t ranks_mpi_rank_of_machine(void);

/* The number of processors of this machine for each of its ranks. */
int32_t ranks_mpi_threads(void);

#ifdef __cplusplus
}
#endif

#endif
