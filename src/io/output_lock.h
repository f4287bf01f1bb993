#ifndef IO_OUTPUT_LOCK_H
#define IO_OUTPUT_LOCK_H

#include "core/status.h"

/* Locks an output for one writer during its run.
 *
 * The lock is flock on .NAME.kith-lock next to the output, which holds the writer's process id and
 * host. The system releases it with the process, so that the lock file of a killed process locks
 * nothing. */
struct output_lock {
    char *path;     /* NULL if nothing is locked */
    int descriptor; /* open for as long as it is locked */
};

/* Takes the lock. An output next to which no file can be created, or whose file system has no
 * locks, is not locked: the writer reports why.
 *
 *   lock  [out] close with output_lock_release
 *
 * Errors: KITH_IO_ERROR (another writer, named in the message), KITH_OUT_OF_MEMORY. */
kith_status output_lock_take(const char *output, struct output_lock *lock);

/* Removes the lock, keeps the thread's message; one of zeros is fine. */
void output_lock_release(struct output_lock *lock);

#endif
