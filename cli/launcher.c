#include "launcher.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The number of processes, and which of them this is: Open MPI, MPICH and Intel MPI, MVAPICH, and
 * the step of a Slurm job. The first variable that is set decides. */
static const struct {
    const char *size, *rank;
} variables[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                 {"PMI_SIZE", "PMI_RANK"},
                 {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                 {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

static bool read_number(const char *variable, int64_t *number)
{
    const char *text = getenv(variable);
    return text && cli_read_integer(text, number) && *number >= 0;
}

static bool find_in(const char *size, const char *rank, struct launcher *found)
{
    struct launcher launcher = {.variable = size, .value = getenv(size)};
    if (!read_number(size, &launcher.size) || launcher.size == 0)
        return false;
    if (!read_number(rank, &launcher.rank))
        launcher.rank = 0;
    *found = launcher;
    return true;
}

/* A batch script has the variables of its job although it is one process; only what srun starts in
 * it is several. */
static bool find_in_slurm_job(struct launcher *found)
{
    const char *environment = getenv("ENVIRONMENT");
    const bool is_batch_script = environment && strcmp(environment, "BATCH") == 0;
    return getenv("SLURM_PROCID") && !is_batch_script &&
           find_in("SLURM_NTASKS", "SLURM_PROCID", found);
}

struct launcher launcher_find(void)
{
    struct launcher found = {0};
    for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++)
        if (find_in(variables[k].size, variables[k].rank, &found))
            return found;
    if (find_in_slurm_job(&found))
        return found;
    if (read_number("PMIX_RANK", &found.rank))
        found = (struct launcher){"PMIX_RANK", getenv("PMIX_RANK"), 0, found.rank};
    return found;
}

int launcher_refuse(const char *command, const struct launcher *launcher, const char *reason)
{
    if (launcher->rank > 0)
        return exit_failed;
    return cli_fail_with(command, "%s is %s: mpirun or srun has started several processes, and %s",
                         launcher->variable, launcher->value, reason);
}
