#ifndef CPU_TEAM_H
#define CPU_TEAM_H

#include "kith/context.h"

/* The threads of a context.
 *
 * A job is a number of tasks; whoever is free takes the next one. The caller takes part, and at the
 * end it waits only for tasks that another thread has begun: a thread that the system has not let
 * run is not missed. So a job takes hardly longer than it would on one thread, however busy the
 * machine is. (The barrier of an OpenMP loop waits for every thread of the team.) */
struct cpu_team;

typedef void cpu_task(void *argument, int64_t k);

/* How many threads to do work with that takes one thread so many seconds: one, unless waking the
 * others costs less than a twentieth of it. */
int32_t cpu_threads_for(const kith_context *context, double seconds);

/* Calls task(argument, k) once for each k < count, on at most so many threads of the context, the
 * caller's among them; returns when all are done. In what order, and by whom, is left to chance. */
void cpu_for_each(kith_context *context, int32_t threads, int64_t count, cpu_task *task,
                  void *argument);

/* A team without threads yet: they start with the first job for more than one. NULL if there is no
 * memory. */
struct cpu_team *cpu_team_create(int32_t most_threads);
void cpu_team_free(struct cpu_team *team);

#endif
