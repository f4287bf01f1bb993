#ifndef CLI_LAUNCHER_H
#define CLI_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* The launcher of this process, by its environment: mpirun, mpiexec or srun start several copies of
 * a program, which are one job only if they use MPI. */
struct launcher {
    const char *variable; /* that was found; NULL: an ordinary process */
    const char *value;
    int64_t size; /* number of processes; 0: several, of unknown number */
    int64_t rank; /* of this process, from 0; 0 where that is not said */
};

struct launcher launcher_find(void);

static inline bool launcher_has_several(const struct launcher *launcher)
{
    return launcher->variable && launcher->size != 1;
}

/* "COMMAND: several processes were started, and REASON" on stderr of the first of them: they would
 * all do the same work and write the same files. Returns exit_failed. */
int launcher_refuse(const char *command, const struct launcher *launcher, const char *reason);

#endif
