/* The program's manners: exit codes, messages, JSON, and that nothing old is lost. */

#include "testing.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static void test_help_and_version_succeed(void **state)
{
    (void)state;
    static const char *const words[] = {
        "--help",         "make --help", "run --help", "forces --help", "plot --help",
        "convert --help", "info --help", "--version",  "run --version", "make --version"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        const struct program_result *result = program_run("%s", words[k]);
        assert_succeeded(result);
        assert_true(strlen(result->out) > 8);
        assert_string_equal(result->err, "");
    }
}

static void test_help_fits_eighty_columns(void **state)
{
    (void)state;
    static const char *const words[] = {"--help",        "make --help", "run --help",
                                        "forces --help", "plot --help", "convert --help"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        const char *line = program_run("%s", words[k])->out;
        while (*line) {
            const size_t length = strcspn(line, "\n");
            size_t columns = 0;
            for (size_t i = 0; i < length; i++)
                columns += ((unsigned char)line[i] & 0xc0) != 0x80;
            if (columns > 80)
                fail_msg("%s: %zu columns: %.*s", words[k], columns, (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
}

static void test_help_lists_the_tables(void **state)
{
    (void)state;
    assert_non_null(strstr(program_run("make --help")->out, "outer-solar-system"));
    assert_non_null(strstr(program_run("run --help")->out, "yoshida8"));
    assert_non_null(strstr(program_run("convert --help")->out, "tipsy"));
    const char *formats = strstr(program_run("convert --help")->out, "Formats:");
    assert_non_null(formats);
    assert_non_null(strstr(formats, "\n                      ")); /* a wrapped description */
}

static void test_wrong_usage_exits_with_2(void **state)
{
    (void)state;
    assert_refused(program_run("frobnicate"), 2, "'frobnicate'");
    assert_refused(program_run("run --frobnicate"), 2, "frobnicate");
    assert_refused(program_run("run a.csv --dt 1"), 2, "--until");
    assert_refused(program_run("run a.csv --until 1"), 2, "--dt");
    assert_refused(program_run("run --dt 1 --until 1"), 2, "FILE");
    assert_refused(program_run("run a.csv --dt 0 --until 1"), 2, "--dt 0");
    assert_refused(program_run("run a.csv --dt -1 --until 1"), 2, "--dt -1");
    assert_refused(program_run("run a.csv --dt nan --until 1"), 2, "--dt 'nan'");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --every 0"), 2, "--every 0");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --g 0"), 2, "--g 0");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --softening -1"), 2, "--softening -1");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --threads 0"), 2, "--threads 0");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --precision half"), 2, "--precision");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --device tpu"), 2, "--device 'tpu'");
    assert_refused(program_run("forces a.csv --law magic"), 2, "law 'magic'");
    assert_refused(program_run("forces a.csv --method magic"), 2, "--method 'magic'");
    assert_refused(program_run("make"), 2, "KIND");
    assert_refused(program_run("make plummer -n -5"), 2, "-n -5");
    assert_refused(program_run("make no-such-kind"), 2, "plummer");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --integrator magic"), 2, "leapfrog");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --every 2 --every-time 1"), 2,
                   "--every --every-time");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --every-time 0"), 2, "--every-time");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --pressure-every 0 -o a.h5"), 2,
                   "--pressure-every");
    assert_refused(program_run("run a.csv --dt 1 --until 1 --pressure-every 2"), 2,
                   "--pressure-every -o");
    assert_refused(program_run("convert a.csv"), 2, "");
    assert_refused(program_run("run --resume"), 2, "--resume -o");
}

static void test_bad_input_exits_with_1_and_one_line(void **state)
{
    (void)state;
    program_write("nan.csv", "x,y,z\n1,2,3\n4,nan,6\n");
    program_write("short.csv", "x,y,z\n1,2,3\n4,5\n");
    program_write("nox.csv", "y,z\n1,2\n");
    program_write("empty.csv", "");
    program_write("two.csv", "x,y,z,m\n0,0,0,1\n1,0,0,1\n");
    assert_refused(program_run("forces @missing.csv"), 1, "missing.csv");
    assert_refused(program_run("forces @nan.csv"), 1, "line 3");
    assert_refused(program_run("forces @short.csv"), 1, "line 3");
    assert_refused(program_run("forces @nox.csv"), 1, "x");
    assert_refused(program_run("forces @empty.csv"), 1, "empty");
    assert_refused(program_run("forces @two.csv -o @a.xyzzy"), 2, "a.xyzzy");
    assert_refused(program_run("forces @two.csv -o @nowhere/a.csv"), 1, "nowhere");
    assert_refused(program_run("forces @two.csv -o /dev/full"), 1, "/dev/full");
    assert_refused(program_run("forces @two.csv --softening file"), 1, "softening");
    assert_refused(program_run("forces @two.csv --device cuda:1000"), 1, "cuda");
    assert_refused(program_run("convert @two.csv @two.xyzzy"), 2, "xyzzy");
    assert_refused(program_run("make plummer -n 10 -o @nowhere/p.csv"), 1, "nowhere");
    assert_refused(program_run("make plummer -n 10 -o /dev/full --to csv"), 1, "/dev/full");
    assert_refused(program_run("run @two.csv --dt 0.1 --until -1"), 1, "until -1");
    assert_refused(program_run("run @two.csv --dt 0.1 --until 1 -o @run.csv"), 2, "h5");
    assert_refused(program_run("run @two.csv --dt 0.1 --until 1 -o -"), 2, "stream");
}

static void test_standard_output_that_is_full_exits_with_1(void **state)
{
    (void)state;
    assert_int_not_equal(system("\"$KITH_PROGRAM\" info >/dev/full 2>/dev/null"), 0);
    assert_int_not_equal(
        system("\"$KITH_PROGRAM\" run six --dt 0.01 --until 0.1 >/dev/full 2>/dev/null"), 0);
}

static void test_devices_without_an_extension_take_csv(void **state)
{
    (void)state;
    program_write("pair.csv", "x,y,z,m\n0,0,0,3\n2,0,0,5\n");
    assert_refused(program_run("make plummer -o /dev/full"), 1, "No space left");
    assert_refused(program_run("forces @pair.csv -o /dev/full"), 1, "No space left");
    assert_refused(program_run("convert @pair.csv /dev/full"), 1, "No space left");
    static const char *const outputs[] = {"-", "/dev/stdout"};
    for (int k = 0; k < 2; k++) {
        assert_string_equal(program_run("convert @pair.csv %s", outputs[k])->out,
                            "m,x,y,z\n3,0,0,0\n5,2,0,0\n");
        assert_string_equal(
            program_run("forces @pair.csv --method reference -o %s", outputs[k])->out,
            "ax,ay,az,potential\n1.25,0,0,-2.5\n-0.75,0,0,-1.5\n");
        const struct program_result *result = program_run("make six -o %s", outputs[k]);
        assert_int_equal(strncmp(result->out, "m,x,y,z", 7), 0);
        assert_string_equal(result->err, "");
    }
}

static void test_two_bodies_attract_by_the_formula(void **state)
{
    (void)state;
    program_write("pair.csv", "x,y,z,m\n0,0,0,3\n2,0,0,5\n");
    assert_succeeded(program_run("forces @pair.csv --method reference -o @pair-acc.csv"));
    char *text = program_read("pair-acc.csv");
    assert_string_equal(text, "ax,ay,az,potential\n1.25,0,0,-2.5\n-0.75,0,0,-1.5\n");
    free(text);
}

static void test_tables_go_by_extension_in_any_case(void **state)
{
    (void)state;
    program_write("two.csv", "x,y\n0,0\n1,0\n");
    assert_int_equal(program_run("forces @two.csv -o @a.CSV")->exit_code, 0);
    assert_true(program_exists("a.CSV"));
}

static void test_forces_in_the_plane_have_three_columns(void **state)
{
    (void)state;
    program_write("flat.csv", "x,y\n0,0\n0,2\n");
    const struct program_result *result = program_run("forces @flat.csv --method reference");
    assert_succeeded(result);
    assert_string_equal(result->out, "ax,ay,potential\n0,0.25,-0.5\n0,-0.25,-0.5\n");
}

static void test_json_is_alone_on_stdout_and_has_the_keys(void **state)
{
    (void)state;
    program_write("pair.csv", "x,y,z,m\n0,0,0,3\n2,0,0,5\n");
    const struct program_result *forces = program_run("forces @pair.csv --json");
    assert_succeeded(forces);
    static const char *const forces_keys[] = {
        "bodies", "interactions_per_second", "gflops", "seconds", "device", "precision", "method"};
    for (size_t k = 0; k < sizeof forces_keys / sizeof forces_keys[0]; k++)
        assert_non_null(strstr(forces->out, forces_keys[k]));
    assert_int_equal(forces->out[0], '{');

    const struct program_result *run = program_run("run @pair.csv --dt 0.1 --until 1 --json");
    assert_succeeded(run);
    static const char *const run_keys[] = {"bodies",
                                           "steps",
                                           "dt",
                                           "dt_min",
                                           "dt_max",
                                           "body_steps",
                                           "time",
                                           "energy_initial",
                                           "energy_final",
                                           "relative_energy_error",
                                           "max_relative_energy_error",
                                           "momentum_error",
                                           "interactions_per_second",
                                           "gflops",
                                           "seconds",
                                           "device",
                                           "precision",
                                           "integrator",
                                           "solver"};
    for (size_t k = 0; k < sizeof run_keys / sizeof run_keys[0]; k++)
        assert_non_null(strstr(run->out, run_keys[k]));
    assert_true(program_json_number(run->out, "steps") == 10);
    assert_true(program_json_number(run->out, "time") == 1);
    assert_true(program_json_number(run->out, "dt") == 0.1);
    assert_true(program_json_number(run->out, "dt_min") == 0.1);
    assert_true(program_json_number(run->out, "dt_max") == 0.1);
    assert_true(program_json_number(run->out, "body_steps") == 20);
}

static void test_solvers_are_named_and_give_the_same_forces(void **state)
{
    (void)state;
    program_write("three.csv", "x,y,z,m\n0,0,0,1\n1,0,0,2\n0,1,0,3\n");
    const struct program_result *result =
        program_run("forces @three.csv --solver reference --json -o @r.csv");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"solver\":\t\"reference\""));
    result = program_run("forces @three.csv --solver auto --json -o @d.csv");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"solver\":\t\"direct\""));
    assert_int_equal(program_run("forces @three.csv --solver tre")->exit_code, 2);
    assert_refused(program_run("forces @three.csv --solver reference --method split"), 1, "method");
    result = program_run("run @three.csv --dt 0.01 --until 0.1 --solver reference --json");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"solver\":\t\"reference\""));
}

/* All pairs have no periodic images: a cell is left out by those who say so. */
static void test_a_periodic_cell_is_refused_where_there_are_no_images(void **state)
{
    (void)state;
    program_write("cell.xyz", "2\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3\n"
                              "H 0 0 0\nH 4 0 0\n");
    assert_refused(program_run("forces @cell.xyz"), 1, "--periodic");
    assert_refused(program_run("run @cell.xyz --dt 0.1 --until 1"), 1, "--periodic");
    assert_refused(program_run("forces @cell.xyz --periodic xyz"), 2, "--cutoff R");
    assert_succeeded(program_run("forces @cell.xyz --periodic none"));
    assert_succeeded(program_run("forces @cell.xyz --cutoff 3"));
    assert_succeeded(program_run("run @cell.xyz --periodic none --dt 0.1 --until 1"));
}

static void test_a_figure_that_is_not_a_number_is_null(void **state)
{
    (void)state;
    program_write("one.csv", "x,y,z,m\n0,0,0,1\n");
    const struct program_result *result = program_run("run @one.csv --dt 0.1 --until 1 --json");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"relative_energy_error\":\tnull"));
    result = program_run("run @one.csv --dt 0.1 --until 1");
    assert_succeeded(result);
    assert_null(strstr(result->out, "nan"));
}

static void test_no_bodies_and_one_body_are_valid(void **state)
{
    (void)state;
    program_write("none.csv", "x,y,z\n");
    program_write("one.csv", "x,y,z\n1,2,3\n");
    assert_string_equal(program_run("forces @none.csv")->out, "ax,ay,az,potential\n");
    assert_string_equal(program_run("forces @one.csv")->out, "ax,ay,az,potential\n0,0,0,0\n");
    assert_succeeded(program_run("run @none.csv --dt 1 --until 3 -o @none.h5"));
    assert_succeeded(program_run("run @one.csv --dt 1 --until 3 -o @one.h5"));
    assert_string_equal(program_run("make plummer -n 0")->out, "x,y,z\n");
    assert_succeeded(program_run("make plummer -n 1 -o @single.csv"));
}

static void test_a_failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    program_write("old.csv", "x,y,z\n1,2,3\n");
    program_write("bad.csv", "x,y,z\n1,2,oops\n");
    assert_refused(program_run("forces @bad.csv -o @old.csv"), 1, "oops");
    assert_refused(program_run("convert @bad.csv @old.csv"), 1, "oops");
    char *text = program_read("old.csv");
    assert_string_equal(text, "x,y,z\n1,2,3\n");
    free(text);
}

static void test_convert_keeps_every_bit(void **state)
{
    (void)state;
    assert_succeeded(program_run("make plummer -n 100 --seed 3 -o @p.csv"));
    assert_succeeded(program_run("convert @p.csv @p.xyz"));
    assert_succeeded(program_run("convert @p.xyz @p.h5"));
    assert_succeeded(program_run("convert @p.h5 @p.hdf5"));
    assert_succeeded(program_run("convert @p.hdf5 @p2.csv"));
    assert_succeeded(program_run("forces @p.csv -o @a1.csv"));
    assert_succeeded(program_run("forces @p2.csv -o @a2.csv"));
    char *first = program_read("a1.csv"), *second = program_read("a2.csv");
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void test_results_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    assert_succeeded(program_run("make plummer -n 3001 -o @big.csv"));
    assert_succeeded(program_run("forces @big.csv --threads 1 -o @t1.csv"));
    assert_succeeded(program_run("forces @big.csv --threads 3 -o @t3.csv"));
    char *first = program_read("t1.csv"), *second = program_read("t3.csv");
    assert_string_equal(first, second);
    free(first);
    free(second);
}

/* Waits until a run has its temporary file, whose name holds the output's: it heeds signals then.
 */
static void wait_for_temporary(const char *output)
{
    for (int tries = 0; tries < 6000; tries++) {
        bool there = false;
        DIR *folder = opendir(program_folder());
        assert_non_null(folder);
        for (const struct dirent *entry; (entry = readdir(folder));)
            there = there || strstr(entry->d_name, output);
        closedir(folder);
        if (there)
            return;
        usleep(10000);
    }
    fail_msg("%s was not begun within a minute", output);
}

static void test_a_signal_writes_a_checkpoint_to_resume_from(void **state)
{
    (void)state;
    assert_succeeded(program_run("make six --seed 1 -o @six.csv"));
    const char *options = "--dt 0.0001 --until 1000 --softening 0.1 --every 10000 --threads 1";
    assert_succeeded(program_run("run @six.csv %s -o @whole.h5", options));

    const pid_t process = program_start("run @six.csv %s -o @cut.h5", options);
    wait_for_temporary("cut.h5");
    usleep(100000); /* some steps */
    kill(process, SIGTERM);
    int status = 0;
    waitpid(process, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 143);
    assert_true(program_exists("cut.h5"));

    assert_succeeded(program_run("run @six.csv %s --resume -o @cut.h5", options));
    assert_succeeded(program_run("convert @whole.h5 @whole.csv"));
    assert_succeeded(program_run("convert @cut.h5 @cut.csv"));
    char *whole = program_read("whole.csv"), *cut = program_read("cut.csv");
    assert_string_equal(whole, cut);
    free(whole);
    free(cut);
}

static int64_t frames_in(const char *name)
{
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(program_file(name), &trajectory));
    const int64_t frames = kith_trajectory_frames(trajectory);
    kith_trajectory_close(trajectory);
    return frames;
}

static void test_a_killed_run_by_fmm_resumes_bit_for_bit(void **state)
{
    (void)state;
    const char *options = "--dt 0.002 --until 2 --softening 0.05 --solver fmm --error 1e-2 "
                          "--every 10 --threads 1 --checkpoint-every 0.01 -q";
    assert_succeeded(program_run("make plummer -n 1000 --seed 8 -o @fmm.csv"));
    assert_succeeded(program_run("run @fmm.csv %s -o @unhurt.h5", options));
    int64_t frames = 0;
    for (int tries = 0; tries < 60 && frames < 2; tries++) { /* the first is the start */
        const pid_t process = program_start("run @fmm.csv %s --resume -o @killed.h5", options);
        usleep(500000 * (1 + (unsigned)tries / 4));
        kill(process, SIGKILL);
        int status = 0;
        waitpid(process, &status, 0);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        if (program_exists("killed.h5"))
            frames = frames_in("killed.h5");
    }
    assert_true(frames >= 2);
    assert_succeeded(program_run("run @fmm.csv %s --resume -o @killed.h5", options));
    assert_succeeded(program_run("convert @unhurt.h5 @unhurt.csv"));
    assert_succeeded(program_run("convert @killed.h5 @killed.csv"));
    char *unhurt = program_read("unhurt.csv"), *killed = program_read("killed.csv");
    assert_string_equal(unhurt, killed);
    free(unhurt);
    free(killed);
}

static void test_a_run_takes_a_kind_and_remembers_units(void **state)
{
    (void)state;
    assert_succeeded(program_run("make plummer -n 20 --seed 9 -o @made.csv"));
    assert_succeeded(program_run("run @made.csv --dt 0.1 --until 1 -q --units pc,Myr -o @made.h5"));
    assert_succeeded(
        program_run("run plummer -n 20 --seed 9 --dt 0.1 --until 1 -q --units pc,Myr -o @kind.h5"));
    assert_succeeded(program_run("convert @made.h5 @made-end.csv"));
    assert_succeeded(program_run("convert @kind.h5 @kind-end.csv"));
    char *made = program_read("made-end.csv"), *kind = program_read("kind-end.csv");
    assert_string_equal(made, kind);
    free(made);
    free(kind);

    kith_trajectory *trajectory = NULL;
    kith_name length, mass;
    assert_ok(kith_trajectory_open(program_file("kind.h5"), &trajectory));
    kith_trajectory_unit(trajectory, "length", length);
    kith_trajectory_unit(trajectory, "mass", mass);
    kith_trajectory_close(trajectory);
    assert_string_equal(length, "pc");
    assert_string_equal(mass, "");
    assert_refused(program_run("run @made.csv --seed 1 --dt 1 --until 1"), 1, "");
    assert_refused(program_run("run @made.csv --units pc --dt 1 --until 1"), 2, "--units");
}

static void test_an_output_that_is_the_input_is_refused(void **state)
{
    (void)state;
    program_write("both.csv", "x,y,z\n1,2,3\n");
    assert_refused(program_run("forces @both.csv -o @both.csv"), 1, "output");
    char *text = program_read("both.csv");
    assert_string_equal(text, "x,y,z\n1,2,3\n");
    free(text);
    assert_succeeded(program_run("run six --dt 0.1 --until 1 -q -o @both.h5"));
    assert_refused(program_run("run @both.h5 --dt 0.1 --until 2 -o @both.h5"), 1, "output");
}

static void test_standard_output_keeps_its_place_in_a_file(void **state)
{
    (void)state;
    char command[1024];
    program_write("dots.csv", "x,y\n1,2\n");
    snprintf(command, sizeof command, "{ echo before; %s convert %s -; echo after; } > %s",
             getenv("KITH_PROGRAM"), program_file("dots.csv"), program_file("dots.out"));
    assert_int_equal(system(command), 0);
    char *text = program_read("dots.out");
    assert_string_equal(text, "before\nx,y\n1,2\nafter\n");
    free(text);
}

static void test_a_run_that_overflows_is_an_error(void **state)
{
    (void)state;
    assert_refused(program_run("run six --dt 1e300 --until 1e305"), 1, "smaller");
}

static void test_info_tells_formats_devices_and_threads(void **state)
{
    (void)state;
    const struct program_result *result = program_run("info --json");
    assert_succeeded(result);
    static const char *const words[] = {"version", "instruction_sets", "threads", "devices",
                                        "cpu",     "formats",          "csv",     "h5md",
                                        "tipsy"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        assert_non_null(strstr(result->out, words[k]));
    assert_succeeded(program_run("info"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help_and_version_succeed),
        cmocka_unit_test(test_help_fits_eighty_columns),
        cmocka_unit_test(test_help_lists_the_tables),
        cmocka_unit_test(test_wrong_usage_exits_with_2),
        cmocka_unit_test(test_bad_input_exits_with_1_and_one_line),
        cmocka_unit_test(test_standard_output_that_is_full_exits_with_1),
        cmocka_unit_test(test_devices_without_an_extension_take_csv),
        cmocka_unit_test(test_two_bodies_attract_by_the_formula),
        cmocka_unit_test(test_tables_go_by_extension_in_any_case),
        cmocka_unit_test(test_forces_in_the_plane_have_three_columns),
        cmocka_unit_test(test_json_is_alone_on_stdout_and_has_the_keys),
        cmocka_unit_test(test_solvers_are_named_and_give_the_same_forces),
        cmocka_unit_test(test_a_periodic_cell_is_refused_where_there_are_no_images),
        cmocka_unit_test(test_a_figure_that_is_not_a_number_is_null),
        cmocka_unit_test(test_no_bodies_and_one_body_are_valid),
        cmocka_unit_test(test_a_failed_write_keeps_the_old_file),
        cmocka_unit_test(test_convert_keeps_every_bit),
        cmocka_unit_test(test_results_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_a_signal_writes_a_checkpoint_to_resume_from),
        cmocka_unit_test(test_a_killed_run_by_fmm_resumes_bit_for_bit),
        cmocka_unit_test(test_a_run_takes_a_kind_and_remembers_units),
        cmocka_unit_test(test_an_output_that_is_the_input_is_refused),
        cmocka_unit_test(test_standard_output_keeps_its_place_in_a_file),
        cmocka_unit_test(test_a_run_that_overflows_is_an_error),
        cmocka_unit_test(test_info_tells_formats_devices_and_threads),
    };
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
