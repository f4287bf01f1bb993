#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli.h"
#include "launcher.h"
#include "load.h"

/* The program as one of the ranks of a job of MPI. All ranks parse the same command line and do the
 * same; rank 0 reads the input, writes the output and prints. In an ordinary process each of these
 * functions does what its comment states for one process. */

/* Begins the job that a launcher has started this process for: from now on the other ranks print
 * nothing, but for the message of one that has failed alone, and all ranks end with the same exit
 * code, the largest of any. Returns exit_ok, or that of launcher_refuse, if this build has no MPI
 * or was started by a different MPI. */
int job_begin(const char *command, const struct launcher *launcher);

/* kith_context_create, of a context of the job: on the CPU, with the processors of this machine
 * divided among its ranks unless the options have a number of threads. Returns an exit code. */
int job_create_context(const char *command, const kith_context_options *options,
                       kith_context **context);

/* The number of this rank among those of its machine; 0 of one process. */
int32_t job_rank_of_machine(void);

/* The number of ranks; 1 of one process. */
int32_t job_size(void);

/* Does work on the first `ranks` ranks of the job, with a context of these, each on a device of its
 * own and with one thread, while the others wait. Returns an exit code on all ranks: not exit_ok if
 * any has failed. */
typedef int job_work(void *argument, kith_context *context);
int job_do_on_first(const char *command, int32_t ranks, kith_device device, job_work *work,
                    void *argument);

/* On the ranks that do such work: waits for what the devices of all compute. */
kith_status job_synchronize(kith_context *context);

/* On the ranks that do such work: the largest of a value of each. */
int64_t job_largest(kith_context *context, int64_t value);

/* On the ranks that do such work: whether exchanges between their devices go on as they do now, by
 * NCCL or by the host. The first ones go by the host. */
bool job_exchange_is_settled(const kith_context *context);

/* By what the ranks of a context exchange: "NCCL", "MPI", or for devices "MPI, GPU memory" or "MPI,
 * host memory"; NULL for one rank. *why_not_nccl is the reason, or NULL if NCCL is used or was not
 * tried. */
const char *job_passage(const kith_context *context, const char **why_not_nccl);

/* Seconds that this rank of a context's has waited for others and copied between its device and the
 * host, and processor seconds that it has computed. */
double job_waited(const kith_context *context);
double job_worked(void);

/* load_bodies on rank 0, for all. Of one process load_bodies. */
int job_load_bodies(const char *command, kith_context *context, const struct input_options *input,
                    const char *output, bool quiet, kith_bodies **bodies);

/* The same, but each rank gets its own rows alone (ranks/bodies.h: ranks_deal_bodies): *all is the
 * number of bodies of all ranks. Of one process load_bodies; *all is then 0. */
int job_load_rows(const char *command, kith_context *context, const struct input_options *input,
                  const char *output, bool quiet, kith_bodies **bodies, int64_t *all);

/* The part of the time since the bodies were loaded that this rank has waited for others; 0 of one
 * process. */
double job_exchange_share(void);

/* Whether this rank writes files; true of one process. */
bool job_writes(void);

/* Whether there are several ranks. */
bool job_is_divided(void);

/* Whether another rank has failed, and prints why. */
bool job_failed_elsewhere(void);

/* The MPI that kith info prints: "Open MPI v4.1.4", or NULL in a build without it. */
const char *job_mpi_version(void);

#endif
