/* Commands that a signal stops, and runs that meet at one output. */

#include "testing.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

/* Some minutes of it. */
static const char long_run[] = "--dt 0.00001 --until 50000 --softening 0.1 --threads 1 -q";

/* Files in the program's folder whose names hold the word. */
static int files_named(const char *word)
{
    int count = 0;
    DIR *folder = opendir(program_folder());
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += strstr(entry->d_name, word) != NULL;
    closedir(folder);
    return count;
}

/* Waits until a run has its working file and has taken steps. */
static void wait_for_steps(const char *output)
{
    char word[64];
    snprintf(word, sizeof word, ".%s.kith-", output);
    for (int tries = 0; tries < 6000 && files_named(word) == 0; tries++)
        usleep(10000);
    assert_true(files_named(word) > 0);
    usleep(300000);
}

/* As a shell gives it. */
static int code_of(pid_t process)
{
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const struct {
    int number, code;
} signals[] = {{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 143}};

static void test_a_stopped_run_keeps_a_checkpoint_and_tells_the_signal(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const pid_t process = program_start("run six %s -o @stopped.h5", long_run);
        wait_for_steps("stopped.h5");
        kill(process, signals[k].number);
        assert_int_equal(code_of(process), signals[k].code);
        assert_int_equal(files_named("stopped.h5"), 1); /* no working file, no lock */
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_read(program_file("stopped.h5"), NULL, &bodies));
        kith_bodies_free(bodies);
        assert_int_equal(unlink(program_file("stopped.h5")), 0);
    }
}

static void test_every_command_ends_by_the_same_rule(void **state)
{
    (void)state;
    assert_succeeded(program_run("make plummer -n 400000 -q -o @many.tipsy"));
    static const char *const commands[] = {"forces @many.tipsy --threads 1 --json",
                                           "matrix @many.tipsy --law gravity --threads 1 "
                                           "--reduce sum --json"};
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 3; k++) {
            const pid_t process = program_start("%s", commands[c]);
            usleep(700000);
            kill(process, signals[k].number);
            assert_int_equal(code_of(process), signals[k].code);
        }
}

static void write_many_frames(const char *name, int frames)
{
    FILE *file = fopen(program_file(name), "w");
    assert_non_null(file);
    for (int k = 0; k < frames; k++)
        fprintf(file, "1\n\nH %d 0 0\n", k);
    assert_int_equal(fclose(file), 0);
}

static void test_a_stopped_conversion_of_frames_leaves_nothing(void **state)
{
    (void)state;
    write_many_frames("frames.xyz", 1000000);
    const pid_t process = program_start("convert @frames.xyz @half.h5 --frames all");
    for (int tries = 0; tries < 60000 && files_named(".half.h5.kith-") == 0; tries++)
        usleep(1000);
    kill(process, SIGTERM);
    assert_int_equal(code_of(process), 143);
    assert_int_equal(files_named("half.h5"), 0);
}

static void test_an_output_has_one_writer_at_a_time(void **state)
{
    (void)state;
    char holder[32];
    const pid_t first = program_start("run six %s --checkpoint-every 0.2 -o @one.h5", long_run);
    wait_for_steps("one.h5");
    snprintf(holder, sizeof holder, "process %d ", (int)first);
    assert_refused(program_run("run six --dt 0.1 --until 1 -o @one.h5"), 1, holder);
    assert_refused(program_run("run six %s --resume -o @one.h5", long_run), 1, holder);
    assert_int_equal(symlink("one.h5", program_file("alias.h5")), 0);
    for (int tries = 0; tries < 1000 && !program_exists("one.h5"); tries++)
        usleep(10000);
    assert_refused(program_run("run six --dt 0.1 --until 1 -o @alias.h5"), 1, holder);
    assert_succeeded(program_run("run six --dt 0.1 --until 1 -q -o @other.h5"));

    kill(first, SIGTERM);
    assert_int_equal(code_of(first), 143);
    assert_int_equal(files_named("one.h5"), 1);
    const struct program_result *result = program_run("convert @one.h5 @one.csv");
    assert_succeeded(result);
}

static void test_a_killed_run_locks_nothing(void **state)
{
    (void)state;
    const pid_t first = program_start("run six %s --checkpoint-every 0.1 -o @killed.h5", long_run);
    wait_for_steps("killed.h5");
    for (int tries = 0; tries < 1000 && !program_exists("killed.h5"); tries++)
        usleep(10000);
    kill(first, SIGKILL);
    assert_int_equal(code_of(first), 137);
    const pid_t second = program_start("run six %s --resume -o @killed.h5", long_run);
    wait_for_steps("killed.h5");
    kill(second, SIGTERM);
    assert_int_equal(code_of(second), 143);
    assert_succeeded(program_run("run six --dt 0.1 --until 1 -q -o @killed.h5"));
    assert_int_equal(files_named("killed.h5"), 1);
}

/* The first steps of this many bodies take longer than the time between checkpoints. */
static void test_checkpoints_begin_with_the_start_and_a_note_says_if_they_come_late(void **state)
{
    (void)state;
    const char *options = "--dt 1 --threads 1 --softening 0.1 --checkpoint-every 0.05 -o @slow.h5";
    const struct program_result *result = program_run("run plummer -n 12000 --until 3 %s", options);
    assert_succeeded(result);
    assert_true(has_fields(result->err, "note checkpoints"));
    assert_null(strstr(program_run("run six --dt 0.1 --until 1 -o @slow.h5")->err, "note"));
    assert_int_equal(unlink(program_file("slow.h5")), 0);

    const pid_t process = program_start("run plummer -n 60000 --until 9 %s", options);
    for (int tries = 0; tries < 6000 && !program_exists("slow.h5"); tries++)
        usleep(10000);
    kill(process, SIGKILL);
    assert_int_equal(code_of(process), 137);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_read(program_file("slow.h5"), NULL, &bodies));
    assert_true(bodies->time == 0); /* before the first step ends */
    kith_bodies_free(bodies);
}

static void test_a_run_killed_in_its_first_step_resumes(void **state)
{
    (void)state;
    const char *options = "--dt 0.125 --until 1 --threads 1 --softening 0.1 -q --every 3";
    const pid_t process =
        program_start("run plummer -n 9000 %s --checkpoint-every 0.001 -o @early.h5", options);
    for (int tries = 0; tries < 60000 && !program_exists("early.h5"); tries++)
        usleep(1000);
    kill(process, SIGKILL);
    assert_int_equal(code_of(process), 137);
    assert_succeeded(program_run("run --resume -q -o @early.h5"));
    assert_succeeded(program_run("run plummer -n 9000 %s -o @whole.h5", options));
    assert_succeeded(program_run("convert @early.h5 @early.csv"));
    assert_succeeded(program_run("convert @whole.h5 @whole.csv"));
    char *early = program_read("early.csv"), *whole = program_read("whole.csv");
    assert_string_equal(early, whole);
    free(early);
    free(whole);
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
    signal(SIGHUP, SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stopped_run_keeps_a_checkpoint_and_tells_the_signal),
        cmocka_unit_test(test_every_command_ends_by_the_same_rule),
        cmocka_unit_test(test_a_stopped_conversion_of_frames_leaves_nothing),
        cmocka_unit_test(test_an_output_has_one_writer_at_a_time),
        cmocka_unit_test(test_a_killed_run_locks_nothing),
        cmocka_unit_test(test_checkpoints_begin_with_the_start_and_a_note_says_if_they_come_late),
        cmocka_unit_test(test_a_run_killed_in_its_first_step_resumes),
    };
    return cmocka_run_group_tests_name("run_stopped", tests, NULL, NULL);
}
