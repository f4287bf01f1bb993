/* The program as a job of MPI: KITH_MPIRUN starts it as 1, 2, 3, 5 and 8 processes. */

#include "program.h"

#include <stdarg.h>
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
    /* Its processes that name a file in their arguments. */
    "processes_of() { for one in /proc/[0-9]*; do\n"
    "  grep -qsx kith \"$one/comm\" && grep -qsz \"$1\" \"$one/cmdline\" && echo \"${one#/proc/}\"\n"
    "done; }\n"
    /* Open MPI: as root, on few processors, which other tests use too. */
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
    "export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none\n"
    "export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none\n";

static void run_shell(struct shell_result *result)
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
static const struct shell_result *shell(const char *script)
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

static void assert_works(const char *script)
{
    const struct shell_result *result = shell(script);
    if (result->exit_code != 0)
        fail_msg("%s\nexit code %d: %s", script, result->exit_code, result->out);
}

/* The job ends with this code, and one line of kith's, which has the words. */
static void assert_job_fails(const char *script, int code, const char *words)
{
    const struct shell_result *result = shell(script);
    const char *line = strstr(result->out, "kith "),
               *second = line ? strstr(line + 1, "\nkith ") : NULL;
    if (result->exit_code != code || !line || second || !has_fields(line, words))
        fail_msg("%s\nexit code %d, not %d; printed: %s", script, result->exit_code, code,
                 result->out);
}

static void make_bodies(void)
{
    if (!program_exists("p.csv"))
        assert_works("kith make plummer -n 1500 -o p.csv && kith make six -o six.csv && "
                     "kith make fcc -n 1372 --density 0.8 --temperature 2 -o argon.xyz");
}

static void test_forces_have_the_same_bits_for_any_number_of_processes(void **state)
{
    (void)state;
    make_bodies();
    assert_works(
        "kith forces p.csv --softening 0.01 -o 0.csv || exit\n"
        "for p in 1 2 3 5 8; do\n"
        "  job $p forces p.csv --softening 0.01 -o $p.csv || exit\n"
        "  cmp 0.csv $p.csv || exit\n"
        "done\n"
        "job 3 forces six.csv -o - >6.csv && kith forces six.csv | cmp - 6.csv || exit\n"
        "kith forces - <p.csv -o 0.npy && job 2 forces - <p.csv -o 2.npy && cmp 0.npy 2.npy");
}

/* By every solver that divides its work, of trees and of a box. */
static void test_solvers_have_the_same_bits_for_any_number_of_processes(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "p.csv --softening 0.01 --solver fmm --error 1e-4",
        "p.csv --softening 0.01 --law yukawa:0.4 --precision single",
        "p.csv --solver tree --error 1e-3",
        "argon.xyz --law lennard-jones --cutoff 2.5",
        "argon.xyz --law lennard-jones --cutoff 2 --tail --precision single",
        "p.csv --targets p.csv",
        "p.csv --targets p.csv --solver fmm --error 1e-3",
        "p.csv --targets six.csv --precision single",
        "argon.xyz --targets argon.xyz --law lennard-jones --cutoff 2.5",
    };
    make_bodies();
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char script[512];
        snprintf(script, sizeof script,
                 "set -o pipefail; totals() { sed -n -E '/\"(energy|virial|pressure)\"/p'; }\n"
                 "kith forces %s -o 0.npy --json | totals >0 || exit\n"
                 "for p in 1 2 3 5 8; do\n"
                 "  job $p forces %s -o $p.npy --json | totals >$p || exit\n"
                 "  cmp 0.npy $p.npy && cmp 0 $p || exit\n"
                 "done",
                 calls[k], calls[k]);
        assert_works(script);
    }
}

static void test_json_is_printed_once(void **state)
{
    (void)state;
    make_bodies();
    const struct shell_result *result = shell("job 3 forces p.csv --json 2>/dev/null");
    assert_int_equal(result->exit_code, 0);
    const char *first = strstr(result->out, "\"bodies\"");
    assert_non_null(first);
    assert_null(strstr(first + 1, "\"bodies\""));
    assert_non_null(strstr(first, "\"exchange_share\""));
}

/* Strong and weak scaling by 1, 2 and 3 ranks, of two solvers; printed once. */
static void test_bench_has_a_row_for_each_number_of_ranks(void **state)
{
    (void)state;
    assert_works("job 3 bench ranks cutoff direct -n 1500 --quick --json >bench.json || exit\n"
                 "[ $(grep -c '\"busy_seconds\"' bench.json) -eq 12 ] &&\n"
                 "[ $(grep -c '\"rows\"' bench.json) -eq 1 ]");
    assert_job_fails("job 2 bench ranks --device cuda", 1, "--device");
}

/* A run of three parts by 2, 5 processes and 1 is that of one process: six frames after the first.
 */
static void check_resuming(const char *options, int64_t bodies, double part)
{
    char script[1024];
    snprintf(script, sizeof script,
             "rm -f whole.h5 run.h5\n"
             "kith run %s --until %g -o whole.h5 || exit\n"
             "job 2 run %s --until %g -o run.h5 || exit\n"
             "job 5 run --resume --until %g -o run.h5 || exit\n"
             "kith run --resume --until %g -o run.h5",
             options, 3 * part, options, part, 2 * part, 3 * part);
    assert_works(script);
    kith_trajectory *a = NULL, *b = NULL;
    assert_ok(kith_trajectory_open(program_file("whole.h5"), &a));
    assert_ok(kith_trajectory_open(program_file("run.h5"), &b));
    assert_int_equal(kith_trajectory_frames(a), 7);
    assert_int_equal(kith_trajectory_frames(b), 7);
    kith_trajectory_close(a);
    kith_trajectory_close(b);
    for (int frame = 1; frame <= 7; frame++) {
        kith_bodies *whole = NULL, *resumed = NULL;
        const kith_read_options read = {.frame = frame};
        assert_ok(kith_bodies_read(program_file("whole.h5"), &read, &whole));
        assert_ok(kith_bodies_read(program_file("run.h5"), &read, &resumed));
        const size_t bytes = (size_t)bodies * 3 * sizeof(double);
        assert_memory_equal(whole->position, resumed->position, bytes);
        assert_memory_equal(whole->velocity, resumed->velocity, bytes);
        kith_bodies_free(whole);
        kith_bodies_free(resumed);
    }
}

static void test_runs_resume_with_other_numbers_of_processes(void **state)
{
    (void)state;
    make_bodies();
    check_resuming("p.csv --dt 0.001 --softening 0.02 --every 2", 1500, 0.004);
}

static void test_runs_by_trees_resume_with_other_numbers_of_processes(void **state)
{
    (void)state;
    make_bodies();
    check_resuming("p.csv --dt 0.001 --softening 0.02 --every 2 --solver fmm --error 1e-3", 1500,
                   0.004);
}

/* A hundred steps of a liquid. */
static void test_runs_in_boxes_resume_with_other_numbers_of_processes(void **state)
{
    (void)state;
    make_bodies();
    check_resuming("argon.xyz --law lennard-jones --cutoff 2.5 --dt 0.004 --every 17", 1372,
                   34 * 0.004);
    shell("for k in $(seq 0 2 1370); do echo $k,$((k + 1)); done >bonds.csv");
    check_resuming("argon.xyz --law lennard-jones --cutoff 2.5 --dt 0.004 --every 17 "
                   "--exclude bonds.csv",
                   1372, 34 * 0.004);
}

/* As often as they can be, the first before the first step: when, the clock of the first process
 * says. */
static void test_checkpoints_between_steps_change_nothing(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "argon.xyz --law lennard-jones --cutoff 2.5 --dt 0.004 --until 0.2",
        "p.csv --softening 0.02 --dt 0.001 --until 0.01",
    };
    make_bodies();
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char script[1024];
        snprintf(script, sizeof script,
                 "kith run %s -o often.h5 && kith convert often.h5 0.csv || exit\n"
                 "job 3 run %s --checkpoint-every 1e-9 -o often.h5 || exit\n"
                 "kith convert often.h5 3.csv && cmp 0.csv 3.csv",
                 calls[k], calls[k]);
        assert_works(script);
    }
}

/* From every kind of input, with names and in a cell, wrapped or not: the file of one process, byte
 * for byte, as its path and the command are the same. */
static void test_runs_write_the_bytes_of_one_process(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "p.csv --softening 0.02 --dt 0.001 --until 0.004",
        "p.npy --softening 0.02 --dt 0.001 --until 0.004 --integrator hermite4",
        "named.csv --softening 0.02 --dt 0.001 --until 0.004 --precision single",
        "argon.h5 --law lennard-jones --cutoff 2.5 --dt 0.004 --until 0.4 --every 10 --wrap",
        "argon.xyz --law lennard-jones --cutoff 2.5 --dt 0.004 --until 0.04 --integrator rk4",
        "large.h5 --law lennard-jones --cutoff 2.5 --dt 0.004 --until 0.008 --every 1 --wrap",
        /* Frames of two chunks, which their ranks compress. */
        "chunks.h5 --law lennard-jones --cutoff 2.5 --dt 0.004 --until 0.008 --every 1",
    };
    make_bodies();
    assert_works(
        "kith convert p.csv p.npy && kith convert argon.xyz argon.h5 &&\n"
        "  kith make fcc -n 32000 --density 0.8 --temperature 2 -o large.h5 &&\n"
        "  kith make fcc -n 48668 --density 0.8 --temperature 2 -o chunks.h5 &&\n"
        "  awk -F, -v OFS=, 'NR == 1 {print $0, \"name\"} NR > 1 {print $0, \"n\" NR % 3}' p.csv "
        ">named.csv");
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char script[1024];
        snprintf(script, sizeof script,
                 "kith run %s -o same.h5 --checkpoint-every 100 && mv same.h5 one.h5 || exit\n"
                 "for p in 2 3 5 8; do\n"
                 "  job $p run %s -o same.h5 --checkpoint-every 100 || exit\n"
                 "  cmp one.h5 same.h5 || exit\n"
                 "done",
                 calls[k], calls[k]);
        assert_works(script);
    }
}

/* Bodies that have merged are in a checkpoint, which all processes get. */
static void test_runs_with_mergers_resume_with_other_numbers_of_processes(void **state)
{
    (void)state;
    make_bodies();
    assert_works(
        "rm -f whole.h5 run.h5\n"
        "awk -F, -v OFS=, 'NR == 1 {print $0, \"radius\"} NR > 1 {print $0, 0.02}' p.csv >r.csv\n"
        "o='r.csv --softening 0.02 --dt 0.001 --every 4 --collisions merge'\n"
        "kith run $o --until 0.012 -o whole.h5 || exit\n"
        "job 2 run $o --until 0.004 -o run.h5 || exit\n"
        "job 3 run --resume --until 0.008 -o run.h5 || exit\n"
        "kith run --resume --until 0.012 -o run.h5 || exit\n"
        "kith convert whole.h5 0.csv && kith convert run.h5 3.csv || exit\n"
        "[ $(wc -l <0.csv) -lt 1490 ] && cmp 0.csv 3.csv");
}

/* At most bytes_of_atom for each of the N / P bodies of a process, those of the smallest run apart:
 * its state, the same in its box, both in a frame, its part of the list and of the ghosts. A column
 * set of all N bodies would take another 448 bytes of each at P = 8. */
enum { atoms_measured = 500000, bytes_of_atom = 1450 };

static void test_no_process_holds_all_bodies(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(
        script, sizeof script,
        "kith make fcc -n %d --density 0.8 --temperature 2 -o many.h5 || exit\n"
        "o='--law lennard-jones --cutoff 2.5 --dt 0.002 --threads 1 --quiet'\n"
        "memory 8 run argon.xyz $o --until 0.004 -o memory.h5 >few || exit\n"
        "memory 8 run many.h5 $o --until 0.004 -o memory.h5 >first || exit\n"
        "memory 8 run --resume --until 0.006 --threads 1 --quiet -o memory.h5 >second || exit\n"
        "base=$(sort -n few | head -1) && most=$((%d / 8 * %d / 1024))\n"
        "[ $(cat first second | wc -l) -eq 16 ] || exit\n"
        "for kb in $(cat first second); do\n"
        "  [ $((kb - base)) -le $most ] || { echo $kb - $base is more than $most kB; exit 1; }\n"
        "done\n"
        "rm -f many.h5 memory.h5",
        atoms_measured, atoms_measured, bytes_of_atom);
    assert_works(script);
}

/* The same of a tree: state, own bodies, their cells and multipoles, and those of other processes
 * that they need. The tree of all N bodies would take 7900. */
enum { bodies_measured = 200000, bytes_of_body = 4200 };

static void test_no_process_has_the_tree_of_all_bodies(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(
        script, sizeof script,
        "kith make plummer -n %d -o many.h5 || exit\n"
        "o='--solver fmm --error 1e-3 --softening 0.01 --dt 0.001 --threads 1 --quiet'\n"
        "memory 8 run p.csv $o --until 0.001 -o memory.h5 >few || exit\n"
        "memory 8 run many.h5 $o --until 0.001 -o memory.h5 >first || exit\n"
        "base=$(sort -n few | head -1) && most=$((%d / 8 * %d / 1024))\n"
        "[ $(cat first | wc -l) -eq 8 ] || exit\n"
        "for kb in $(cat first); do\n"
        "  [ $((kb - base)) -le $most ] || { echo $kb - $base is more than $most kB; exit 1; }\n"
        "done\n"
        "rm -f many.h5 memory.h5",
        bodies_measured, bodies_measured, bytes_of_body);
    assert_works(script);
}

/* Forces are of rows that each process reads and writes alone. With the columns of all bodies these
 * would take 3300 bytes of each body that a process has. */
enum { bytes_of_body_of_forces = 2700 };

static void test_no_process_has_all_bodies_of_forces(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(
        script, sizeof script,
        "kith make plummer -n %d -o many.h5 || exit\n"
        "o='--solver fmm --error 1e-3 --softening 0.01 --threads 1'\n"
        "memory 8 forces p.csv $o -o few.npy >few || exit\n"
        "memory 8 forces many.h5 $o -o many.npy >all || exit\n"
        "base=$(sort -n few | head -1) && most=$((%d / 8 * %d / 1024))\n"
        "[ $(cat all | wc -l) -eq 8 ] || exit\n"
        "for kb in $(cat all); do\n"
        "  [ $((kb - base)) -le $most ] || { echo $kb - $base is more than $most kB; exit 1; }\n"
        "done\n"
        "rm -f many.h5 many.npy few.npy",
        bodies_measured, bodies_measured, bytes_of_body_of_forces);
    assert_works(script);
}

static void test_what_fails_on_one_process_ends_all(void **state)
{
    (void)state;
    make_bodies();
    assert_job_fails("job 3 forces none.csv", 1, "none.csv");
    assert_job_fails("job 3 run p.csv --dt -1 --until 1", 2, "--dt -1");
    assert_job_fails("job 2 run p.csv --dt 1 --until 1 -o none/run.h5", 1, "none/run.h5");
    assert_job_fails("job 2 forces p.csv -o /dev/full", 1, "No space left");
    assert_job_fails("job 3 forces p.csv --solver reference", 1, "solver reference");
    assert_job_fails("job 2 run six --ensemble 5 --dt 0.1 --until 1", 1, "ensemble");
    assert_job_fails("job 2 pairs p.csv --cutoff 0.1 -o pairs.csv", 1, "MPI");
    /* Other arguments on the last process, which fails alone. */
    assert_job_fails(
        "job 2 forces p.csv -o 0.csv : -n 1 \"$KITH_PROGRAM\" forces p.csv --threads 0", 2,
        "--threads 0");
    assert_job_fails("{ head -1000 p.csv; echo nan,0,0,0,0,0,1; } >nan.csv; job 3 forces nan.csv",
                     1, "line 1001");
    assert_job_fails("sed '1002s/ [^ ]*/ 1e300/' argon.xyz >far.xyz; "
                     "job 3 forces far.xyz --law lennard-jones --cutoff 2.5",
                     1, "row 999 of positions");
    assert_job_fails("job 3 run nan.csv --dt 1 --until 1", 1, "line 1001");
    assert_job_fails("job 2 sum p.csv --cutoff 0.1 --out n=1", 1, "MPI");
    assert_false(program_exists("pairs.csv"));
}

/* The names of files, by which processes are found, are not those of tests beside this one. */

/* Signals that a launcher sends to its processes, or to one of them. */
static void test_signals_leave_a_checkpoint(void **state)
{
    (void)state;
    make_bodies();
    assert_works(
        "job 3 run p.csv --dt 0.0001 --until 9 --softening 0.02 -o ranks_stopped.h5 2>err &\n"
        "while ! [ -e ranks_stopped.h5 ] && kill -0 $!; do sleep 0.1; done\n"
        "for one in $(pgrep -x kith); do\n"
        "  grep -qz ranks_stopped.h5 /proc/$one/cmdline && kill -TERM $one && break\n"
        "done\n"
        "wait $!; [ $? -eq 143 ] || { cat err; exit 1; }\n"
        "grep -q 'holds a checkpoint' err && kith convert ranks_stopped.h5 ranks_stopped.csv");
}

/* Within 10 s, with a checkpoint that can be resumed: by every kind of exchange. */
static void test_a_process_that_dies_ends_the_others(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "p.csv --softening 0.02",
        "p.csv --softening 0.02 --solver fmm --error 1e-3",
        "argon.xyz --law lennard-jones --cutoff 2.5",
    };
    make_bodies();
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char script[1024];
        snprintf(
            script, sizeof script,
            "rm -f ranks_killed.h5\n"
            "job 3 run %s --dt 0.0001 --until 9 -o ranks_killed.h5 2>err &\n"
            "while ! [ -e ranks_killed.h5 ] && kill -0 $!; do sleep 0.1; done\n"
            "kill -KILL $(processes_of ranks_killed.h5 | tail -1); begin=$SECONDS; wait $!\n"
            "[ $? -ne 0 ] && [ $((SECONDS - begin)) -le 10 ] || { cat err; exit 1; }\n"
            "kith convert ranks_killed.h5 ranks_killed.csv &&\n"
            "  kith run --resume --until 0.01 -o ranks_killed.h5 2>err || grep -q 'before' err",
            calls[k]);
        assert_works(script);
    }
}

/* Runs a program, and prints its peak memory in kB. */
static int measure(char *const *arguments)
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

int main(int argc, char **argv)
{
    char self[1024] = "";
    if (argc > 2 && strcmp(argv[1], "memory") == 0)
        return measure(argv + 2);
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        setenv("MEASURE", self, 1);
    if (!getenv("KITH_MPIRUN")) {
        fprintf(stderr, "KITH_MPIRUN is not set: run the tests through ctest\n");
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_have_the_same_bits_for_any_number_of_processes),
        cmocka_unit_test(test_solvers_have_the_same_bits_for_any_number_of_processes),
        cmocka_unit_test(test_json_is_printed_once),
        cmocka_unit_test(test_bench_has_a_row_for_each_number_of_ranks),
        cmocka_unit_test(test_runs_resume_with_other_numbers_of_processes),
        cmocka_unit_test(test_runs_by_trees_resume_with_other_numbers_of_processes),
        cmocka_unit_test(test_runs_in_boxes_resume_with_other_numbers_of_processes),
        cmocka_unit_test(test_checkpoints_between_steps_change_nothing),
        cmocka_unit_test(test_runs_write_the_bytes_of_one_process),
        cmocka_unit_test(test_runs_with_mergers_resume_with_other_numbers_of_processes),
        cmocka_unit_test(test_no_process_holds_all_bodies),
        cmocka_unit_test(test_no_process_has_the_tree_of_all_bodies),
        cmocka_unit_test(test_no_process_has_all_bodies_of_forces),
        cmocka_unit_test(test_what_fails_on_one_process_ends_all),
        cmocka_unit_test(test_signals_leave_a_checkpoint),
        cmocka_unit_test(test_a_process_that_dies_ends_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
