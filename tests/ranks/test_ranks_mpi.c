/* The program as a job of MPI of 1, 2, 3, 5 and 8 processes. */

#include "program.h"

#include "shell_jobs.h"

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
        "p.csv --solver tree --error 1e-3 --check 30",
        "p.tipsy --softening 0.01",
        "p.hdf5 --targets p.tipsy --softening 0.01",
        "argon.xyz --law lennard-jones --cutoff 2.5",
        "argon.xyz --law lennard-jones --cutoff 2 --tail --precision single",
        "p.csv --targets p.csv",
        "p.csv --targets p.csv --solver fmm --error 1e-3 --check 2000",
        "p.csv --targets six.csv --precision single",
        "p.csv --targets six.csv --solver tree --error 1e-2",
        "p.csv --targets six.csv --law 'expr:m_i*m_j*exp(-r)'",
        "p.csv --method split --softening 0.01",
        "argon.xyz --targets argon.xyz --law lennard-jones --cutoff 2.5",
        "argon.xyz --law lennard-jones --cutoff 2.5 --exclude bonds.csv",
        "p.csv --cutoff 0.3 --precision single --exclude bonds.csv",
    };
    make_bodies();
    assert_works("for k in $(seq 0 2 1370); do echo $k,$((k + 1)); done >bonds.csv");
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char script[512];
        snprintf(
            script, sizeof script,
            "set -o pipefail; totals() { sed -n -E '/\"(energy|virial|pressure|rms|p99|max)\"/p'; }\n"
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
                 "[ $(grep -c '\"exchange_by\":.*\"MPI\"' bench.json) -eq 8 ] &&\n"
                 "[ $(grep -c '\"rows\"' bench.json) -eq 1 ]");
    assert_job_fails("job 2 bench ranks direct --quick --device cuda:63", 1, "device");
    assert_works("! job 2 bench ranks --quick --device cuda:63 --json 2>err >out && ! [ -s out ]");
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
    check_resuming("argon.xyz --law lennard-jones --cutoff 2.5 --dt 0.004 --every 17 "
                   "--exclude bonds.csv --thermostat bussi:3,0.05",
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
        "p.tipsy --softening 0.02 --dt 0.001 --until 0.004",
        "p.hdf5 --softening 0.02 --dt 0.001 --until 0.004 --integrator yoshida4",
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

int main(int argc, char **argv)
{
    const int code = begin_job_tests(argc, argv);
    if (code >= 0)
        return code;
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
        cmocka_unit_test(test_what_fails_on_one_process_ends_all),
        cmocka_unit_test(test_signals_leave_a_checkpoint),
        cmocka_unit_test(test_a_process_that_dies_ends_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
