#ifndef TESTS_RANKS_SHELL_JOBS_H
#define TESTS_RANKS_SHELL_JOBS_H

/* The program as a job of MPI, which KITH_MPIRUN starts. Include program.h before. */

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a shell did with a script in the tests' folder. There "job P" starts kith as P processes. */
struct shell_result {
    int exit_code;
    char out[1 << 14]; /* of both streams */
};

static const char prologue[] =
    "job() { processes=$1; shift; timeout 60 \"$KITH_MPIRUN\" -n \"$processes\" \"$KITH_PROGRAM\" \"$@\"; }\n"
    "kith() { \"$KITH_PROGRAM\" \"$@\"; }\n"
    /* "memory P …" runs kith as P processes and prints the peak memory of each, in kB. */
    "memory() { processes=$1; shift; timeout 60 \"$KITH_MPIRUN\" -n \"$processes\" \"$MEASURE\" "
    "memory \"$KITH_PROGRAM\" \"$@\"; }\n"
    /* "at_most SMALL N BYTES FILE…": the 8 processes of each file took at most BYTES for each of
     * their N / 8 bodies more than the least of those in SMALL. */
    "at_most() { base=$(sort -n $1 | head -1) most=$(($2 / 8 * $3 / 1024)) && shift 3\n"
    "for file; do\n"
    "  [ $(wc -l <$file) -eq 8 ] || exit\n"
    "  for kb in $(cat $file); do [ $((kb - base)) -le $most ] ||\n"
    "    { echo $file: $kb - $base is more than $most kB; exit 1; }; done\n"
    "done; }\n"
    /* Its processes that name a file in their arguments. */
    "processes_of() { for one in /proc/[0-9]*; do\n"
    "  grep -qsx kith \"$one/comm\" && grep -qsz \"$1\" \"$one/cmdline\" && echo \"${one#/proc/}\"\n"
    "done; }\n"
    /* Open MPI: as root, on few processors, which other tests use too. */
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
    "export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none\n"
    "export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none\n";

static inline void run_shell(struct shell_result *result)
{
    FILE *pipe = popen("exec bash -c \"$SCRIPT\" 2>&1", "r");
    assert_non_null(pipe);
    const size_t count = fread(result->out, 1, sizeof result->out - 1, pipe);
    result->out[count] = 0;
    const int status = pclose(pipe);
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Open MPI's launcher itself crashes now and then, as it forwards the last words of a process that
 * has ended (mca_iof_hnp of 4.1): such a script is run again. */
static inline const struct shell_result *shell(const char *script)
{
    static struct shell_result result;
    char command[4096];
    snprintf(command, sizeof command, "cd '%s' || exit\n%s%s", program_folder(), prologue, script);
    setenv("SCRIPT", command, 1);
    run_shell(&result);
    for (int k = 0; k < 3 && strstr(result.out, "mca_iof_hnp.so(orte_iof"); k++)
        run_shell(&result);
    return &result;
}

static inline void assert_works(const char *script)
{
    const struct shell_result *result = shell(script);
    if (result->exit_code != 0)
        fail_msg("%s\nexit code %d: %s", script, result->exit_code, result->out);
}

/* The job ends with this code, and one line of kith's, which has the words. */
static inline void assert_job_fails(const char *script, int code, const char *words)
{
    const struct shell_result *result = shell(script);
    const char *line = strstr(result->out, "kith "),
               *second = line ? strstr(line + 1, "\nkith ") : NULL;
    if (result->exit_code != code || !line || second || !has_fields(line, words))
        fail_msg("%s\nexit code %d, not %d; printed: %s", script, result->exit_code, code,
                 result->out);
}

static inline void make_bodies(void)
{
    if (!program_exists("p.csv"))
        assert_works("kith make plummer -n 1500 -o p.csv && kith make six -o six.csv && "
                     "awk -F, -v OFS=, 'NR == 1 {print $0, \"name\"} NR > 1 {print $0, NR % 3 ? "
                     "\"gas\" : \"star\"}' p.csv >kinds.csv &&\n"
                     "kith convert kinds.csv p.tipsy && kith convert kinds.csv p.hdf5 && "
                     "kith make fcc -n 1372 --density 0.8 --temperature 2 -o argon.xyz");
}

/* Runs a program, and prints its peak memory in kB. */
static inline int measure(char *const *arguments)
{
    struct rusage used;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0 || !WIFEXITED(status))
        return 1;
    printf("%ld\n", used.ru_maxrss);
    return WEXITSTATUS(status);
}

/* What main does first. Returns −1 to go on, or the exit code. */
static inline int begin_job_tests(int argc, char **argv)
{
    char self[1024] = "";
    if (argc > 2 && strcmp(argv[1], "memory") == 0)
        return measure(argv + 2);
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        setenv("MEASURE", self, 1);
    if (getenv("KITH_MPIRUN"))
        return -1;
    fprintf(stderr, "KITH_MPIRUN is not set: run the tests through ctest\n");
    return 1;
}

#endif
