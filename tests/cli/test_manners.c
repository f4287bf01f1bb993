/* The program among others: pipes, standard input and output, suggestions, streams that close. */

#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

/* What a shell did with a script, in which kith is the program and the folder is the tests'. */
struct shell_result {
    int exit_code;
    char out[1 << 14];
};

static const struct shell_result *shell(const char *script)
{
    static struct shell_result result;
    char command[4096];
    snprintf(command, sizeof command, "cd '%s' && kith() { \"$KITH_PROGRAM\" \"$@\"; }\n%s",
             program_folder(), script);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t count = fread(result.out, 1, sizeof result.out - 1, pipe);
    result.out[count] = 0;
    const int status = pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return &result;
}

static void assert_prints(const char *script, const char *expected)
{
    const struct shell_result *result = shell(script);
    if (result->exit_code != 0 || strcmp(result->out, expected) != 0)
        fail_msg("%s\nexit code %d, printed '%s', not '%s'", script, result->exit_code, result->out,
                 expected);
}

/* The script prints on stderr, which it joins to its output. */
static void assert_complains(const char *script, int code, const char *fields)
{
    const struct shell_result *result = shell(script);
    if (result->exit_code != code || !has_fields(result->out, fields))
        fail_msg("%s\nexit code %d, printed '%s', which lacks '%s'", script, result->exit_code,
                 result->out, fields);
}

static void write_pair(void)
{
    program_write("pair.csv", "x,y,z,m\n0,0,0,3\n2,0,0,5\n");
}

static const char accelerations[] = "ax,ay,az,potential\n1.25,0,0,-2.5\n-0.75,0,0,-1.5\n";

static void test_bodies_of_every_streaming_format_come_through_a_pipe(void **state)
{
    (void)state;
    write_pair();
    assert_prints("cat pair.csv | kith forces - --method reference", accelerations);
    assert_prints("kith forces - --method reference < pair.csv", accelerations);
    assert_prints("cat pair.csv | kith forces /dev/stdin --method reference", accelerations);
    assert_prints("kith convert pair.csv - --to npy | kith forces - --method reference",
                  accelerations);
    assert_prints("kith convert pair.csv - --to tipsy | kith forces - --method reference",
                  accelerations);
    assert_prints("kith convert pair.csv - --to xyz | kith forces - --method reference",
                  accelerations);
    assert_prints("kith convert pair.csv - --to xyz | kith forces - --method reference --from xyz",
                  accelerations);
    assert_prints("{ kith convert pair.csv - --to xyz; kith convert pair.csv - --to xyz; } |"
                  "kith convert - - --from xyz --frame 1",
                  "m,x,y,z\n3,0,0,0\n5,2,0,0\n");
}

static void test_every_command_reads_standard_input(void **state)
{
    (void)state;
    write_pair();
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 3\n");
    assert_prints("cat pair.csv | kith pairs - --cutoff 3", "i,j,distance\n0,1,2\n1,0,2\n");
    assert_prints("cat pair.csv | kith matrix - --law distance --reduce sum", "sum\n2\n2\n");
    assert_prints("kith make six --seed 3 | kith collisions - 2>/dev/null; echo $?", "1\n");
    assert_prints("printf 'x,y\\n1,2\\n1,2\\n' | kith collisions -", "1\n");
    assert_prints("kith make lattice-walk -n 9 --batch 2 -o w.npy; cat w.npy | "
                  "kith collisions - --batch > a; kith collisions w.npy --batch | cmp - a",
                  "");
    assert_prints(
        "kith multiply a.mtx -o y.npy; gzip -c a.mtx | kith multiply - -o - | cmp - y.npy", "");
    assert_prints("kith multiply a.mtx -o y.npy; cat y.npy | kith multiply a.mtx -x - -o z.npy; "
                  "kith multiply a.mtx -x y.npy -o - | cmp - z.npy",
                  "");
    assert_prints("kith make six | kith run - --dt 0.1 --until 1 -q -o a.h5; kith make six -o "
                  "six.csv -q; kith run six.csv --dt 0.1 --until 1 -q -o b.h5; kith convert a.h5 "
                  "a.csv; kith convert b.h5 - | cmp - a.csv",
                  "");
    assert_prints("cat pair.csv | kith plot - --what chain -o - --to svg | head -c 5", "<?xml");
}

static void test_results_go_to_standard_output_in_every_format_that_streams(void **state)
{
    (void)state;
    write_pair();
    assert_prints("kith forces pair.csv -o - --to npy > a; kith forces pair.csv -o a.npy; "
                  "cmp a a.npy",
                  "");
    assert_prints("kith pairs pair.csv --cutoff 3 -o - --to npy > a; "
                  "kith pairs pair.csv --cutoff 3 -o a.npy; cmp a a.npy",
                  "");
    assert_prints("kith pairs pair.csv --cutoff 3 -o - --to mtx",
                  "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 2\n2 1 2\n");
    assert_prints("kith matrix pair.csv --law distance -o - > a; "
                  "kith matrix pair.csv --law distance -o a.npy; cmp a a.npy",
                  "");
    assert_prints("kith matrix pair.csv --law distance --reduce sum --to npy -o - | head -c 6 | "
                  "tail -c 5",
                  "NUMPY");
    assert_prints("printf 'x,y\\n1,2\\n1,2\\n' | kith collisions - --list -", "i,j\n0,1\n");
}

static void test_hdf5_does_not_stream_and_says_so(void **state)
{
    (void)state;
    assert_prints("kith run six --dt 0.1 --until 1 -q -o run.h5", "");
    assert_complains("cat run.h5 | kith convert - a.csv 2>&1", 1, "HDF5");
    assert_complains("kith plot - --what orbits -o a.png < run.h5 2>&1", 1, "H5MD");
    assert_complains("kith run six --dt 0.1 --until 1 -o - 2>&1", 2, "H5MD");
}

static void test_standard_input_is_read_once(void **state)
{
    (void)state;
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    assert_complains("cat a.mtx | kith multiply - -x - --json 2>&1", 2, "inputs '-'");
    assert_complains("kith forces - 2>&1 < /dev/null", 1, "empty");
    assert_complains("kith forces - 2>&1 <&-", 1, "standard input");
    assert_complains("printf 'x,y\\n1,oops\\n' | kith forces - 2>&1", 1, "/dev/stdin: line 2");
}

static void test_the_program_ends_quietly_when_nobody_reads(void **state)
{
    (void)state;
    /* By SIGPIPE, as others do; where that is ignored, with a line that says why. */
    assert_prints("{ kith make plummer -n 20000; echo $? >&3; } 3>code 2>err | head -n 1; "
                  "cat code err",
                  "m,x,y,z,vx,vy,vz\n141\n");
    assert_complains("trap '' PIPE; { kith make plummer -n 20000; echo $? >&3; } 3>code 2>err | "
                     "true; cat code err",
                     0, "1 /dev/stdout Broken pipe");
}

static void test_streams_that_are_closed_or_full_are_told(void **state)
{
    (void)state;
    write_pair();
    program_write("beads.csv", "x,y\n1,2\n1,2\n");
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    static const char *const commands[] = {"forces pair.csv",
                                           "forces pair.csv --json",
                                           "matrix pair.csv --law distance -o -",
                                           "matrix pair.csv --law distance --reduce sum",
                                           "pairs pair.csv --cutoff 3",
                                           "pairs pair.csv --cutoff 3 --count-only",
                                           "pairs pair.csv --cutoff 3 -o - --to mtx",
                                           "collisions beads.csv",
                                           "collisions beads.csv --list -",
                                           "multiply a.mtx -o -",
                                           "make plummer -n 5",
                                           "make plummer -n 5 -o /dev/fd/1",
                                           "run six --dt 0.1 --until 0.1",
                                           "plot pair.csv --what chain -o - --to svg",
                                           "convert pair.csv -",
                                           "info",
                                           "--help",
                                           "run --help",
                                           "--version",
                                           "help make"};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        char script[256];
        snprintf(script, sizeof script, "kith %s 2>&1 >&-", commands[k]);
        assert_complains(script, 1, "standard output");
        assert_complains(script, 1, "closed");
        snprintf(script, sizeof script, "kith %s 2>&1 >/dev/full", commands[k]);
        assert_complains(script, 1, "written");
    }
    static const char *const readers[] = {"forces -",
                                          "matrix - --law distance --reduce sum",
                                          "pairs - --cutoff 1",
                                          "collisions -",
                                          "convert - a.csv",
                                          "multiply - -o a.npy",
                                          "plot - --what chain -o a.svg"};
    for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++) {
        char script[256];
        snprintf(script, sizeof script, "kith %s 2>&1 <&-", readers[k]);
        assert_complains(script, 1, "standard input closed");
    }
    assert_complains("kith make plummer -n 5 -o /dev/stderr 2>&-; echo $?", 0, "1\n");
    assert_complains("kith make plummer -n 5 --to csv -o /dev/fd/7 7>&- 2>&1", 1, "closed");
    /* No message goes to a file that took the place of a closed stream. */
    assert_complains("kith forces none.csv -o lost.csv 2>&-; echo $?; ls lost.csv 2>&1", 2, "1\n");
    assert_prints("kith forces pair.csv --method reference 2>&-", accelerations);
    assert_prints("kith forces pair.csv --method reference <&-", accelerations);
}

static void test_what_is_too_large_is_refused_at_once(void **state)
{
    (void)state;
    assert_refused(program_run("forces plummer -n 1e14"), 1, "2400000000000000 bytes");
    /* 128 TB; the limit keeps a program that begins to write from filling the disk. */
    assert_complains("ulimit -f 20000; kith matrix uniform-cube -n 4e6 --law distance -o V.npy "
                     "2>&1; echo $?; ls V.npy 2>/dev/null",
                     2, "V.npy 128000000000000 bytes 1\n");
}

static void test_what_a_killed_program_left_in_the_cache_is_removed(void **state)
{
    (void)state;
    write_pair();
    assert_prints(
        "mkdir -p cache/kith/build-killed cache/kith/build-in-use cache/kith/build-of-others; "
        "chmod -R go-w cache; echo >cache/kith/build-killed/law.c; "
        "touch -d '2 days ago' cache/kith/build-killed cache/kith/build-of-others; "
        "XDG_CACHE_HOME=$PWD/cache kith sum pair.csv --out n=1+r2; ls -d cache/kith/build*",
        "n\n5\n5\ncache/kith/build-in-use\ncache/kith/build-of-others\n");
}

static void test_charges_that_a_file_has_need_no_note(void **state)
{
    (void)state;
    program_write("ions.csv", "x,y,z,q\n0,0,0,1\n2,0,0,-1\n");
    write_pair();
    for (int k = 0; k < 2; k++)
        assert_prints(k ? "kith forces ions.csv --law coulomb --device cpu 2>&1 >/dev/null"
                        : "kith forces pair.csv --device cpu 2>&1 >/dev/null",
                      "");
}

static void test_what_is_mistyped_is_told_with_the_nearest(void **state)
{
    (void)state;
    assert_refused(program_run("rnu"), 2, "'rnu' 'run'");
    assert_refused(program_run("hlep"), 2, "'help'");
    assert_refused(program_run("--verison"), 2, "'--version'");
    assert_refused(program_run("help fources"), 2, "'forces'");
    assert_refused(program_run("bench fources"), 2, "'forces'");
    assert_refused(program_run("run --integartor leapfrog"), 2, "'--integrator'");
    assert_refused(program_run("forces a.csv --sofetning 1"), 2, "'--softening'");
    assert_refused(program_run("run a --integrator yoshda4"), 2, "'yoshida4'");
    assert_refused(program_run("forces a --law gravitty"), 2, "'gravity'");
    assert_refused(program_run("matrix a --law lenard-jones:1,2"), 2, "'lennard-jones'?");
    assert_refused(program_run("run a --law yukwa:1"), 2, "'yukawa'");
    assert_refused(program_run("bench forces --law yukwa:1"), 2, "'yukawa'");
    assert_refused(program_run("make plumer"), 2, "'plummer'");
    assert_refused(program_run("run plumer --dt 1 --until 1"), 1, "'plummer'");
    assert_refused(program_run("convert a b --to tispy"), 2, "'tipsy'");
    assert_refused(program_run("forces a --method symetric"), 2, "'symmetric'");
    assert_refused(program_run("collisions a --method hsah"), 2, "'hash'");
    assert_refused(program_run("multiply a.mtx --storage sel --json"), 2, "'sell'");
    assert_refused(program_run("forces a --precision doubel"), 2, "'double'");
    assert_refused(program_run("plot a --what orbit -o a.png"), 2, "'orbits'");
}

/* --format was the input's format, the output's or a matrix's storage, by command. */
static void test_an_old_name_is_refused_with_the_new_one(void **state)
{
    (void)state;
    assert_refused(program_run("forces a.csv --format csv"), 2, "'--from'");
    assert_refused(program_run("run a.csv --format=csv"), 2, "'--from'");
    assert_refused(program_run("matrix a.csv --format csv"), 2, "'--from'");
    assert_refused(program_run("pairs a.csv --format csv"), 2, "'--from'");
    assert_refused(program_run("collisions a.csv --format csv"), 2, "'--from'");
    assert_refused(program_run("make six --format csv"), 2, "'--to'");
    assert_refused(program_run("convert a b --format csv"), 2, "'--to'");
    assert_refused(program_run("multiply a.mtx --format sell"), 2, "'--storage'");
}

static void test_options_that_getopt_refuses_are_one_line(void **state)
{
    (void)state;
    assert_refused(program_run("run --zzzzzz"), 2, "'--zzzzzz' --help");
    assert_refused(program_run("run -z"), 2, "'-z'");
    assert_refused(program_run("run -qz"), 2, "'-z'");
    assert_refused(program_run("run --HANG"), 2, "'--HANG'");
    assert_refused(program_run("run a.csv --dt"), 2, "--dt");
    assert_refused(program_run("run a.csv -o"), 2, "-o FILE");
    assert_refused(program_run("run a.csv --resume=yes"), 2, "--resume");
    assert_refused(program_run("run a.csv --s 1"), 2, "'--s'");
    /* Cut short, one letter with its value, the value of an option, and what is behind "--". */
    assert_succeeded(program_run("run six --dt 0.1 --unt 0.2 -qo@short.h5"));
    assert_refused(program_run("run --dt --until 1"), 2, "--dt '--until'");
    assert_refused(program_run("forces -- --frobnicate"), 1, "--frobnicate");
}

static void test_help_is_a_command_too(void **state)
{
    (void)state;
    char *first = strdup(program_run("run --help")->out);
    assert_string_equal(program_run("help run")->out, first);
    free(first);
    first = strdup(program_run("bench forces --help")->out);
    assert_string_equal(program_run("help bench forces")->out, first);
    free(first);
    first = strdup(program_run("--help")->out);
    assert_string_equal(program_run("help")->out, first);
    free(first);
}

static void test_help_shows_topics(void **state)
{
    (void)state;
    static const char *const topics[] = {"units",    "formats", "laws",
                                         "accuracy", "devices", "formulas"};
    char *list = strdup(program_run("help")->out);
    for (size_t k = 0; k < sizeof topics / sizeof topics[0]; k++) {
        if (!strstr(list, topics[k]))
            fail_msg("kith help does not list %s", topics[k]);
        const struct program_result *page = program_run("help %s", topics[k]);
        assert_succeeded(page);
        assert_non_null(strstr(page->out, "Examples:\n  kith "));
    }
    free(list);
    assert_non_null(strstr(program_run("help laws")->out, "\n  yukawa:L "));
    assert_non_null(strstr(program_run("help formats")->out, "\n  tipsy "));
    assert_non_null(strstr(program_run("help accuracy")->out, "\n  fmm "));
    assert_refused(program_run("help unit"), 2, "'units'");
    assert_refused(program_run("help xyzzy"), 2, "help");
    assert_refused(program_run("help units laws"), 2, "'laws'");
    assert_refused(program_run("help run a b"), 2, "'b'");
}

/* Options of pme are not among those of whfast. */
static void test_options_are_listed_below_their_heading(void **state)
{
    (void)state;
    const char *help = program_run("run --help")->out;
    static const char *const order[] = {" Accuracy:", "--theta",  "--alpha",
                                        " Planets",   "--kernel", " Cutoff"};
    size_t found = 0;
    while (found < sizeof order / sizeof order[0] && (help = strstr(help, order[found])))
        found++;
    assert_int_equal(found, sizeof order / sizeof order[0]);
}

static void test_a_run_that_keeps_nothing_says_so(void **state)
{
    (void)state;
    assert_true(has_fields(program_run("run six --dt 0.1 --until 1")->err, "note -o"));
    assert_true(has_fields(program_run("run six --dt 0.1 --until 1 --json")->err, "note -o"));
    assert_string_equal(program_run("run six --dt 0.1 --until 1 -q")->err, "");
    assert_string_equal(program_run("run six --dt 0.1 --until 1 -o @kept.h5")->err, "");
}

static void test_steps_that_pass_over_encounters_are_noted(void **state)
{
    (void)state;
    program_run("make plummer -n 1024 --seed 1 -o @plummer.csv -q");
    const char *const run = "run @plummer.csv --integrator hermite-block --until 0.5 --json --dt";
    assert_true(has_fields(program_run("%s 1", run)->err, "note encounters --dt --softening"));
    assert_null(strstr(program_run("%s 0.015625", run)->err, "encounters"));
    assert_string_equal(program_run("%s 1 -q", run)->err, "");
}

/* No escape sequences where nobody sees them, nor where they are not wanted. */
static void test_nothing_but_text_goes_to_files(void **state)
{
    (void)state;
    assert_prints("{ kith run six --dt 0.001 --until 30 2>&1; kith --help; kith run --help; "
                  "kith info; } | grep -c \"$(printf '\\033')\"; true",
                  "0\n");
}

static void test_npy_has_the_precision_of_the_computation(void **state)
{
    (void)state;
    write_pair();
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    static const char *const commands[] = {
        "forces pair.csv -o -  --to npy", "matrix pair.csv --law distance -o -",
        "matrix pair.csv --law distance --symmetric -o -",
        "matrix pair.csv --law distance --reduce sum --to npy -o -", "multiply a.mtx -o -"};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        char script[256];
        snprintf(script, sizeof script, "kith %s | head -c 24 | tail -c 3", commands[k]);
        assert_prints(script, "<f8");
        snprintf(script, sizeof script, "kith %s --precision single | head -c 24 | tail -c 3",
                 commands[k]);
        assert_prints(script, "<f4");
    }
}

static int unfinished_files(void)
{
    int count = 0;
    DIR *directory = opendir(program_folder());
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strncmp(entry->d_name, ".kith-", 6) == 0;
    closedir(directory);
    return count;
}

/* Where the file system has files without a name. */
static void test_a_program_that_is_killed_leaves_no_file(void **state)
{
    (void)state;
    const int probe = open(program_folder(), O_WRONLY | O_TMPFILE, 0600);
    const bool has_unnamed = probe >= 0;
    close(probe);
    program_write("kept.csv", "x,y\n1,2\n");
    for (int k = 0; k < 6; k++) {
        const int process = program_start("make plummer -n 2000000 -o @kept.csv");
        usleep(100000 * (unsigned)(k + 1));
        kill(process, k % 2 ? SIGINT : SIGKILL);
        waitpid(process, NULL, 0);
    }
    char *kept = program_read("kept.csv");
    assert_string_equal(kept, "x,y\n1,2\n");
    free(kept);
    if (has_unnamed)
        assert_int_equal(unfinished_files(), 0);
}

/* Whether a process has come to where it catches a signal. */
static bool catches(int process, int number)
{
    char path[64], line[128];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "SigCgt:", 7) == 0)
            caught = strtoull(line + 7, NULL, 16);
    if (file)
        fclose(file);
    return caught >> (number - 1) & 1;
}

/* A step of this many bodies takes minutes. */
static void test_a_signal_ends_a_run_within_a_step(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (int k = 0; k < 2; k++) {
        int status = 0;
        const int process = program_start("run plummer -n 2000000 --dt 1 --until 9 -q -o @long.h5");
        for (int tenths = 0; !catches(process, signals[k]) && tenths < 600; tenths++)
            usleep(100000);
        usleep(3000000);
        assert_int_equal(waitpid(process, &status, WNOHANG), 0);
        kill(process, signals[k]);
        assert_int_equal(waitpid(process, &status, 0), process);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signals[k]);
    }
    assert_int_equal(unfinished_files(), 0);
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_of_every_streaming_format_come_through_a_pipe),
        cmocka_unit_test(test_every_command_reads_standard_input),
        cmocka_unit_test(test_results_go_to_standard_output_in_every_format_that_streams),
        cmocka_unit_test(test_hdf5_does_not_stream_and_says_so),
        cmocka_unit_test(test_standard_input_is_read_once),
        cmocka_unit_test(test_the_program_ends_quietly_when_nobody_reads),
        cmocka_unit_test(test_streams_that_are_closed_or_full_are_told),
        cmocka_unit_test(test_what_is_too_large_is_refused_at_once),
        cmocka_unit_test(test_what_a_killed_program_left_in_the_cache_is_removed),
        cmocka_unit_test(test_charges_that_a_file_has_need_no_note),
        cmocka_unit_test(test_what_is_mistyped_is_told_with_the_nearest),
        cmocka_unit_test(test_an_old_name_is_refused_with_the_new_one),
        cmocka_unit_test(test_options_that_getopt_refuses_are_one_line),
        cmocka_unit_test(test_help_is_a_command_too),
        cmocka_unit_test(test_help_shows_topics),
        cmocka_unit_test(test_options_are_listed_below_their_heading),
        cmocka_unit_test(test_a_run_that_keeps_nothing_says_so),
        cmocka_unit_test(test_steps_that_pass_over_encounters_are_noted),
        cmocka_unit_test(test_nothing_but_text_goes_to_files),
        cmocka_unit_test(test_npy_has_the_precision_of_the_computation),
        cmocka_unit_test(test_a_program_that_is_killed_leaves_no_file),
        cmocka_unit_test(test_a_signal_ends_a_run_within_a_step),
    };
    return cmocka_run_group_tests_name("manners", tests, NULL, NULL);
}
