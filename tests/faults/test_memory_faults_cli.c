/* Every allocation of every command fails once, and from one on: exit 1 with a sentence, or the
 * right result; never a crash, a file in part or one left behind. */

#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

#include "faulty_program.h"

struct command {
    const char *output, *line; /* output: in the folder out; NULL: standard output alone */
};

static const struct command commands[] = {
    {"out/a.csv", "make plummer -n 5 -o @out/a.csv"},
    {"out/b.npy", "convert @bodies.csv @out/b.npy"},
    {"out/acc.csv", "forces @bodies.csv --softening 0.1 --threads 1 -o @out/acc.csv"},
    {NULL, "forces @bodies.csv --law yukawa:2 --param k=3 --json --threads 1"},
    {"out/v.npy", "matrix @bodies.csv --law gravity --threads 1 -o @out/v.npy"},
    {NULL, "matrix @bodies.csv --law distance --reduce min --threads 1"},
    {"out/p.csv", "pairs @bodies.csv --cutoff 1.5 --box 4,4,4 --vectors --threads 1 -o @out/p.csv"},
    {NULL, "collisions @beads.csv --contacts --threads 1"},
    {"out/c.csv", "collisions @beads.csv --list @out/c.csv --threads 1"},
    {"out/y.npy", "multiply @a.mtx --threads 1 -o @out/y.npy"},
    {NULL, "info"},
#ifdef KITH_HAS_HDF5
    {"out/run.h5",
     "run @bodies.csv --dt 0.01 --until 0.02 --units AU,day --softening 1 --threads 1 --quiet -o "
     "@out/run.h5"},
    {"out/f.h5", "convert @two.xyz @out/f.h5 --frames all"},
    {"out/g.h5", "convert @two.h5 @out/g.h5 --frames all"},
    {"out/g.xyz", "convert @two.h5 @out/g.xyz --frames all"},
#endif
};

enum { command_count = sizeof commands / sizeof commands[0] };

static const char old_text[] = "what was there before\n";
static const struct content old = {(char *)old_text, sizeof old_text - 1};

static int make_inputs(void **state)
{
    (void)state;
    setenv("KITH_TUNING", "off", 1);
    program_write("bodies.csv", "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,1,0,0.5\n"
                                "0,2,0,1,0,0,0.25\n");
    program_write("two.xyz", "1\n\nH 0 0 0\n1\n\nH 0 1 0\n");
#ifdef KITH_HAS_HDF5
    assert_succeeded(program_run("run @bodies.csv --dt 0.01 --until 0.01 --softening 1 --quiet -o "
                                 "@two.h5"));
#endif
    program_write("beads.csv", "x,y,z\n0,0,0\n1,0,0\n0,0,0\n");
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2.5\n"
                           "2 1 -1\n2 2 4\n");
    return mkdir(program_file("out"), 0700);
}

static struct faulty_run run_command(const struct command *command, int64_t n, const char *how)
{
    char fault[32];
    snprintf(fault, sizeof fault, "%lld%s", (long long)n, how);
    if (command->output)
        program_write(command->output, old_text);
    const struct faulty_run run =
        run_faulty("KITH_TEST_MEMORY_FAULTS", "KITH_TEST_MEMORY", fault, command->line);
    if (run.calls < 0)
        fail_msg("'%s', allocation %s: died, %d: %s", command->line, fault, run.result->exit_code,
                 run.result->err);
    return run;
}

/* What it prints, without the numbers: times differ. */
static char *words_of(const char *text)
{
    char *words = calloc(1, strlen(text) + 1), *to = words;
    for (const char *from = text; *from; from++)
        if (!strchr("0123456789.e+-", *from))
            *to++ = *from;
    return words;
}

static void check(const struct command *command, int64_t n, const char *how, struct content whole,
                  const char *words, const struct program_result *result)
{
    const bool ok = result->exit_code == 0;
    if (!ok && (result->exit_code != 1 || strncmp(result->err, "kith", 4) != 0 ||
                !strchr(result->err, '\n') || strchr(result->err, '\n')[1]))
        fail_msg("'%s', allocation %lld%s: exit %d, '%s'", command->line, (long long)n, how,
                 result->exit_code, result->err);
    char *found = words_of(result->out);
    if (ok && strcmp(found, words) != 0)
        fail_msg("'%s', allocation %lld%s: '%s' instead of '%s'", command->line, (long long)n, how,
                 result->out, words);
    free(found);
    if (!command->output)
        return;
    if (!is_content(command->output, ok ? whole : old))
        fail_msg("'%s', allocation %lld%s: exit %d, and the file is not as it should be",
                 command->line, (long long)n, how, result->exit_code);
    if (files_in("out") != 1)
        fail_msg("'%s', allocation %lld%s: %d files are left", command->line, (long long)n, how,
                 files_in("out"));
}

static void test_every_command_without_memory_says_so(void **state)
{
    (void)state;
    for (int k = 0; k < command_count; k++) {
        const struct command *command = &commands[k];
        const struct faulty_run whole_run = run_command(command, 0, "");
        const int64_t all = whole_run.calls;
        assert_true(all > 0);
        char *words = words_of(whole_run.result->out);
        struct content whole = {0};
        if (command->output)
            whole = content_of_file(command->output);
        for (int64_t n = 1; n <= all; n++) {
            check(command, n, "", whole, words, run_command(command, n, "").result);
            check(command, n, "+", whole, words, run_command(command, n, "+").result);
        }
        print_message("%-8.8s %lld allocations\n", command->line, (long long)all);
        free(words);
        free(whole.bytes);
        if (command->output)
            assert_int_equal(remove(program_file(command->output)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_command_without_memory_says_so),
    };
    return cmocka_run_group_tests_name("memory_faults_cli", tests, make_inputs, NULL);
}
