/* What each process of a job of MPI holds, and that bad snapshots end all of them. */

#include "program.h"

#include "shell_jobs.h"

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
        "at_most few %d %d first second\n"
        "rm -f many.h5 memory.h5",
        atoms_measured, atoms_measured, bytes_of_atom);
    assert_works(script);
}

/* The same with bonded pairs, which every process reads, 16 bytes each, and with a thermostat of
 * all velocities. With the columns of all bodies these took 5400 bytes. */
enum { bytes_of_bonded_atom = 1600 };

static void test_no_process_holds_all_molecules(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(script, sizeof script,
             "kith make fcc -n %d --density 0.8 --temperature 2 -o many.h5 || exit\n"
             "bonds() { seq 0 2 $1 | awk '{print $1 \",\" $1 + 1}'; }\n"
             "bonds 1370 >bonds.csv; bonds %d >all.csv\n"
             "o='--law lennard-jones --cutoff 2.5 --dt 0.002 --until 0.004 --threads 1 --quiet'\n"
             "o=\"$o --thermostat bussi:2,0.1\"\n"
             "memory 8 run argon.xyz $o --exclude bonds.csv -o memory.h5 >few || exit\n"
             "memory 8 run many.h5 $o --exclude all.csv -o memory.h5 >first || exit\n"
             "at_most few %d %d first\n"
             "rm -f many.h5 memory.h5",
             atoms_measured, atoms_measured - 2, atoms_measured, bytes_of_bonded_atom);
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
    snprintf(script, sizeof script,
             "kith make plummer -n %d -o many.h5 || exit\n"
             "o='--solver fmm --error 1e-3 --softening 0.01 --dt 0.001 --threads 1 --quiet'\n"
             "memory 8 run p.csv $o --until 0.001 -o memory.h5 >few || exit\n"
             "memory 8 run many.h5 $o --until 0.001 -o memory.h5 >first || exit\n"
             "at_most few %d %d first\n"
             "rm -f many.h5 memory.h5",
             bodies_measured, bodies_measured, bytes_of_body);
    assert_works(script);
}

/* Forces are of rows that each process reads and writes alone, and compares with direct sums. With
 * the columns of all bodies these would take 3300 bytes of each body that a process has. */
enum { bytes_of_body_of_forces = 2700 };

static void test_no_process_has_all_bodies_of_forces(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(script, sizeof script,
             "kith make plummer -n %d -o many.h5 || exit\n"
             "o='--solver fmm --error 1e-3 --softening 0.01 --threads 1'\n"
             "memory 8 forces p.csv $o -o few.npy >few || exit\n"
             "memory 8 forces many.h5 $o --check 10 -o many.npy >all || exit\n"
             "at_most few %d %d all\n"
             "rm -f many.h5 many.npy few.npy",
             bodies_measured, bodies_measured, bytes_of_body_of_forces);
    assert_works(script);
}

/* Direct sums at other targets, of which there may be fewer than processes: the sources stay in
 * slices. With the columns of all they would take 370 bytes of each source that a process has, and
 * 970 where there are few targets. */
enum { sources_measured = 1000000, bytes_of_source = 300 };

static void test_no_process_has_all_sources_of_other_targets(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(script, sizeof script,
             "kith make plummer -n %d -o many.h5 || exit\n"
             "o='--solver direct --softening 0.01 --threads 1'\n"
             "memory 8 forces p.csv $o -o few.npy >few || exit\n"
             "memory 8 forces many.h5 --targets p.csv $o -o many.npy >many || exit\n"
             "memory 8 forces many.h5 --targets six.csv $o -o many.npy >six || exit\n"
             "at_most few %d %d many six\n"
             "rm -f many.h5 many.npy few.npy",
             sources_measured, sources_measured, bytes_of_source);
    assert_works(script);
}

/* Snapshots pass through the first process in pieces: held there, they would take 900 bytes
 * (Gadget) and 590 (Tipsy) of each body that a process has. */
enum { snapshot_measured = 1000188, bytes_of_body_of_snapshots = 500 };

static void test_no_process_has_all_bodies_of_a_snapshot(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(script, sizeof script,
             "o='--law lennard-jones --cutoff 0.5 --precision single --threads 1'\n"
             "kith make fcc -n %d --density 0.8 -o many.hdf5 &&\n"
             "  kith convert many.hdf5 many.tipsy --quiet || exit\n"
             "memory 8 forces argon.xyz $o -o many.npy >few || exit\n"
             "memory 8 forces many.hdf5 $o -o many.npy >hdf5 || exit\n"
             "memory 8 forces many.tipsy $o -o many.npy >tipsy || exit\n"
             "at_most few %d %d hdf5 tipsy\n"
             "rm -f many.*",
             snapshot_measured, snapshot_measured, bytes_of_body_of_snapshots);
    assert_works(script);
}

/* Within a cutoff with a tail, at fewer targets than a rank would be given in a run, or with bonded
 * pairs, which every process reads. With the columns of all bodies these would take 2000 bytes (the
 * tail and the pairs) and 1000 of each body that a process has. */
enum { bytes_of_body_within_cutoff = 700 };

static void test_no_process_has_all_bodies_within_a_cutoff(void **state)
{
    (void)state;
    char script[1024];
    make_bodies();
    snprintf(script, sizeof script,
             "o='--law lennard-jones --cutoff 1.3 --threads 1 --quiet'\n"
             "kith make fcc -n %d --density 0.8 -o many.h5 &&\n"
             "  kith make fcc -n 500 --density 0.0004 -o targets.h5 || exit\n"
             "memory 8 forces argon.xyz $o --tail -o many.npy >few || exit\n"
             "memory 8 forces many.h5 $o --tail -o many.npy >tail || exit\n"
             "memory 8 forces many.h5 --targets targets.h5 $o -o many.npy >targets || exit\n"
             "seq 0 2 %d | awk '{print $1 \",\" $1 + 1}' >all.csv\n"
             "memory 8 forces many.h5 --exclude all.csv $o -o many.npy >bonded || exit\n"
             "at_most few %d %d tail targets bonded\n"
             "rm -f many.* targets.h5",
             snapshot_measured, snapshot_measured - 2, snapshot_measured,
             bytes_of_body_within_cutoff);
    assert_works(script);
}

/* Within 20 s, with the start of the job: a number that is not finite in a row of the last process,
 * a file that is cut. */
static void test_faults_of_snapshots_end_all_processes(void **state)
{
    (void)state;
    static const char *const faults[][2] = {
        /* A record of Tipsy is 48 bytes of gas and 44 of a star, after a header of 32. */
        {"cp p.tipsy bad.tipsy && printf '\\377\\377\\377\\377' |\n"
         "dd of=bad.tipsy bs=1 seek=$((32 + 48 * 1000 + 44 * 450)) conv=notrunc status=none; "
         "time_of job 3 forces bad.tipsy",
         "record of body 1450"},
        {"head -c -1000 p.tipsy >cut.tipsy; time_of job 3 run cut.tipsy --dt 1 --until 1 -o bad.h5",
         "cut.tipsy: truncated"},
        {"awk -F, -v OFS=, 'NR == 1500 {$1 = 1234.5} 1' p.csv >bad.csv && "
         "kith convert bad.csv bad.hdf5 --quiet || exit\n"
         "at=$(LC_ALL=C grep -obUaP '\\x00\\x00\\x00\\x00\\x00\\x4a\\x93\\x40' bad.hdf5 | cut -d: -f1) && "
         "printf '\\377\\377\\377\\377\\377\\377\\377\\377' |\n"
         "  dd of=bad.hdf5 bs=1 seek=$at conv=notrunc status=none\n"
         "time_of job 5 run bad.hdf5 --dt 1 --until 1 -o bad.h5",
         "mass body 1498"},
        {"head -c 60000 p.hdf5 >cut.hdf5; time_of job 2 forces cut.hdf5", "cut.hdf5 truncated"},
    };
    make_bodies();
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        char script[1024];
        snprintf(script, sizeof script,
                 "time_of() { begin=$SECONDS; \"$@\"; code=$?\n"
                 "  [ $((SECONDS - begin)) -le 20 ] && exit $code; exit 99; }\n%s",
                 faults[k][0]);
        assert_job_fails(script, 1, faults[k][1]);
    }
    assert_false(program_exists("bad.h5"));
}

int main(int argc, char **argv)
{
    const int code = begin_job_tests(argc, argv);
    if (code >= 0)
        return code;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_process_holds_all_bodies),
        cmocka_unit_test(test_no_process_holds_all_molecules),
        cmocka_unit_test(test_no_process_has_the_tree_of_all_bodies),
        cmocka_unit_test(test_no_process_has_all_bodies_of_forces),
        cmocka_unit_test(test_no_process_has_all_sources_of_other_targets),
        cmocka_unit_test(test_no_process_has_all_bodies_of_a_snapshot),
        cmocka_unit_test(test_no_process_has_all_bodies_within_a_cutoff),
        cmocka_unit_test(test_faults_of_snapshots_end_all_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
