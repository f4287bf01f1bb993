/* No command takes a file that it reads for its output, by whatever name. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_inputs(void)
{
    program_write("p.csv", "x,y,z,m\n0,0,0,1\n1,0,0,2\n0,1,0,3\n");
    program_write("b.csv", "x,y,z\n0,0,0\n1,0,0\n0,1,0\n");
    program_write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 2\n");
    assert_succeeded(program_run("matrix @p.csv --law distance --reduce sum -o @v.npy"));
    assert_succeeded(program_run("matrix @p.csv --law distance -o @V.npy"));
    unlink(program_file("soft.csv"));
    unlink(program_file("hard.csv"));
}

static void assert_unchanged(const char *name, const char *before)
{
    char *after = program_read(name);
    assert_non_null(after);
    assert_string_equal(after, before);
    free(after);
}

/* The command's output is the input, a symbolic link to it, and a hard one. */
static void assert_input_kept(const char *name, const char *command, const char *rest)
{
    char *before = program_read(name);
    assert_non_null(before);
    unlink(program_file("soft.csv"));
    unlink(program_file("hard.csv"));
    assert_int_equal(symlink(name, program_file("soft.csv")), 0);
    assert_int_equal(link(program_file(name), program_file("hard.csv")), 0);
    const char *const outputs[] = {name, "soft.csv", "hard.csv"};
    for (int k = 0; k < 3; k++) {
        const struct program_result *result = program_run("%s @%s %s", command, outputs[k], rest);
        assert_refused(result, 1, "output");
        assert_unchanged(name, before);
    }
    free(before);
}

static void test_every_command_keeps_its_inputs(void **state)
{
    (void)state;
    make_inputs();
    assert_input_kept("p.csv", "convert @p.csv", "--to csv");
    assert_input_kept("p.csv", "forces @p.csv -o", "--to csv");
    assert_input_kept("p.csv", "pairs @p.csv --cutoff 2 -o", "--to csv");
    assert_input_kept("p.csv", "matrix @p.csv --law distance --reduce sum -o", "--to csv");
    assert_input_kept("b.csv", "matrix @p.csv --columns @b.csv --law distance --reduce min -o",
                      "--to csv");
    assert_input_kept("b.csv", "collisions @b.csv --list", "");
    assert_input_kept("p.csv", "plot @p.csv --what chain -o", "--to png");
    assert_input_kept("A.mtx", "plot @A.mtx --what spy -o", "--to png");
}

static void test_vectors_are_kept(void **state)
{
    (void)state;
    make_inputs();
    assert_refused(program_run("matrix @p.csv --law distance --times @v.npy -o @v.npy"), 1,
                   "output");
    assert_refused(program_run("multiply @A.mtx -x @v.npy -o @v.npy"), 1, "output");
    assert_refused(program_run("matrix @V.npy --from npy --law distance -o @V.npy"), 1, "output");
}

/* What is appended to the input is read as input, or spoils it. */
static void test_standard_output_is_no_input(void **state)
{
    (void)state;
    char command[1024];
    make_inputs();
    char *before = program_read("p.csv");
    static const char *const commands[] = {"convert p.csv -", "forces p.csv", "forces - <p.csv",
                                           "pairs p.csv --cutoff 2", "run p.csv --dt 1 --until 1"};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        snprintf(command, sizeof command, "cd %s && \"$KITH_PROGRAM\" %s >>p.csv 2>errors",
                 program_folder(), commands[k]);
        assert_int_equal(WEXITSTATUS(system(command)), 1);
        assert_unchanged("p.csv", before);
    }
    free(before);
}

static void test_a_file_of_an_ensemble_is_kept(void **state)
{
    (void)state;
    make_inputs();
    mkdir(program_file("systems"), 0700);
    assert_succeeded(program_run("make six -o @systems/1.csv"));
    assert_succeeded(program_run("make six -o @systems/2.h5 --to csv"));
    char *before = program_read("systems/2.h5");
    assert_refused(program_run("run @systems --from csv --dt 0.1 --until 1 -o @systems/2.h5"), 1,
                   "output");
    assert_unchanged("systems/2.h5", before);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_command_keeps_its_inputs),
        cmocka_unit_test(test_vectors_are_kept),
        cmocka_unit_test(test_standard_output_is_no_input),
        cmocka_unit_test(test_a_file_of_an_ensemble_is_kept),
    };
    return cmocka_run_group_tests_name("same file", tests, NULL, NULL);
}
