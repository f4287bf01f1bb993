/* Every call that writes a file fails once, for every writer of the program: an error is reported
 * or the result is right, an old file is as it was, and nothing else is left. And what is to be on
 * the disk before a file gets its name is there before. */

#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

#include "faulty_program.h"

/* A command that writes one file in the folder out. */
struct writer {
    const char *output, *command;
    bool publishes; /* more than once: an earlier state may have taken the old file's place */
};

static const struct writer writers[] = {
    {"out/a.csv", "make plummer -n 5 -o @out/a.csv", false},
    {"out/a.xyz", "make plummer -n 5 -o @out/a.xyz", false},
    {"out/a.npy", "make plummer -n 5 -o @out/a.npy", false},
    {"out/a.tipsy", "make plummer -n 5 -o @out/a.tipsy", false},
    {"out/b.csv", "convert @bodies.csv @out/b.csv", false},
    {"out/f.xyz", "convert @two.xyz @out/f.xyz --frames all", false},
    {"out/acc.csv", "forces @bodies.csv -o @out/acc.csv", false},
    {"out/acc.npy", "forces @bodies.csv -o @out/acc.npy", false},
    {"out/v.npy", "matrix @bodies.csv --law gravity -o @out/v.npy", false},
    {"out/p.csv", "pairs @bodies.csv --cutoff 9 -o @out/p.csv", false},
    {"out/p.npy", "pairs @bodies.csv --cutoff 9 -o @out/p.npy", false},
    {"out/c.csv", "collisions @beads.csv --list @out/c.csv", false},
    {"out/y.npy", "multiply @a.mtx -o @out/y.npy", false},
#ifdef KITH_HAS_HDF5
    {"out/a.hdf5", "make plummer -n 5 -o @out/a.hdf5", false},
    {"out/a.h5", "make plummer -n 5 -o @out/a.h5", false},
    {"out/p.h5", "pairs @bodies.csv --cutoff 9 -o @out/p.h5", false},
    {"out/f.h5", "convert @two.xyz @out/f.h5 --frames all", false},
    {"out/g.h5", "convert @two.h5 @out/g.h5 --frames all", false},
    {"out/run.h5",
     "run @bodies.csv --dt 0.01 --until 0.02 --every 1 --checkpoint-every 1e-9 --softening 1 "
     "--threads 1 --quiet -o @out/run.h5",
     true},
#endif
};

enum { writer_count = sizeof writers / sizeof writers[0] };

static const char old_text[] = "what was there before\n";
static const struct content old = {(char *)old_text, sizeof old_text - 1};

static int make_inputs(void **state)
{
    (void)state;
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

static struct faulty_run run_writer(const struct writer *writer, const char *fault)
{
    return run_faulty("KITH_TEST_SYSTEM_FAULTS", "KITH_TEST_FAULT", fault, writer->command);
}

/* What a checkpoint leaves can be read. */
static bool is_readable(const struct writer *writer)
{
    return writer->publishes &&
           program_run("convert @%s @read.csv", writer->output)->exit_code == 0;
}

static void check(const struct writer *writer, const char *fault, struct content whole,
                  const struct program_result *result)
{
    char words[256];
    const bool ok = result->exit_code == 0;
    snprintf(words, sizeof words, "%s with %s: exit %d, '%.120s'", writer->output, fault,
             result->exit_code, result->err);
    if (!ok)
        assert_refused(result, 1, "");
    if (!ok && strstr(fault, "short"))
        fail_msg("%s: a short write is no failure", words);
    if (ok && !is_content(writer->output, whole))
        fail_msg("%s, and the file is not what it should be", words);
    if (!ok && !is_content(writer->output, old) && !is_readable(writer))
        fail_msg("%s, and the old file is gone", words);
    if (files_in("out") != 1)
        fail_msg("%s, and %d files are left", words, files_in("out"));
}

/* Returns how many calls there are to fail. */
static int64_t fail_each_call(const struct writer *writer, const char *what, struct content whole)
{
    for (int64_t n = 1;; n++) {
        char fault[32];
        snprintf(fault, sizeof fault, "%lld:%s", (long long)n, what);
        program_write(writer->output, old_text);
        const struct faulty_run run = run_writer(writer, fault);
        if (run.calls < 0)
            fail_msg("%s with %s died: %d", writer->output, fault, run.result->exit_code);
        check(writer, fault, whole, run.result);
        if (run.calls < n)
            return n - 1;
    }
}

static void test_every_write_that_fails_is_told_and_leaves_the_old_file(void **state)
{
    static const char *const faults[] = {"enospc+", "eio", "eintr", "short"};
    (void)state;
    for (int k = 0; k < writer_count; k++) {
        const struct writer *writer = &writers[k];
        program_write(writer->output, old_text);
        assert_succeeded(run_writer(writer, "0:eio").result);
        struct content whole = content_of_file(writer->output);
        int64_t calls = 0;
        for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
            calls += fail_each_call(writer, faults[f], whole);
        print_message("%-12s %lld faults\n", writer->output, (long long)calls);
        assert_true(calls >= 4 * 4); /* at least open, write, fsync, rename */
        free(whole.bytes);
        assert_int_equal(remove(program_file(writer->output)), 0);
    }
}

/* Reads a journal and keeps of each path whether what was written to it is on the disk. */
struct book {
    struct entry {
        char path[512];
        bool is_dirty;
    } entries[64];
    int count;
};

static struct entry *entry_of(struct book *book, const char *path)
{
    for (int k = 0; k < book->count; k++)
        if (strcmp(book->entries[k].path, path) == 0)
            return &book->entries[k];
    assert_in_range(book->count, 0, 63);
    struct entry *entry = &book->entries[book->count++];
    snprintf(entry->path, sizeof entry->path, "%s", path);
    entry->is_dirty = false;
    return entry;
}

static char *folder_of(char *path)
{
    static char folder[512];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    return folder;
}

/* Power may go after any line: a name must never lead to what is not on the disk. Returns the
 * number of renamings. */
static int check_journal(FILE *journal)
{
    struct book book = {0};
    char what[16], path[512], second[512], line[1100];
    int renamings = 0;
    while (fgets(line, sizeof line, journal)) {
        const int words = sscanf(line, "%15s %511s %511s", what, path, second);
        assert_in_range(words, 2, 3);
        const bool is_link = strcmp(what, "link") == 0;
        if (is_link || strcmp(what, "rename") == 0) {
            if (entry_of(&book, path)->is_dirty)
                fail_msg("%s gets a name before it is on the disk", path);
            if (is_link)
                continue;
            entry_of(&book, folder_of(second))->is_dirty = true; /* until the new name is there */
            renamings++;
        } else {
            entry_of(&book, path)->is_dirty = strcmp(what, "sync") != 0;
        }
    }
    for (int k = 0; k < book.count; k++)
        if (book.entries[k].is_dirty && strstr(book.entries[k].path, "/out/") &&
            !strstr(book.entries[k].path, "kith-"))
            fail_msg("%s is not on the disk at the end", book.entries[k].path);
    return renamings;
}

static void test_a_file_is_on_the_disk_before_it_gets_its_name(void **state)
{
    (void)state;
    for (int k = 0; k < writer_count; k++) {
        setenv("KITH_TEST_JOURNAL", program_file(".journal"), 1);
        assert_succeeded(run_writer(&writers[k], "0:eio").result);
        unsetenv("KITH_TEST_JOURNAL");
        FILE *journal = fopen(program_file(".journal"), "r");
        assert_non_null(journal);
        const int renamings = check_journal(journal);
        fclose(journal);
        assert_true(writers[k].publishes ? renamings > 1 : renamings == 1);
        assert_int_equal(remove(program_file(".journal")), 0);
        assert_int_equal(remove(program_file(writers[k].output)), 0);
    }
}

/* A folder in which nobody can make a file, not even root. */
static void test_a_folder_that_takes_no_files_is_told(void **state)
{
    (void)state;
    assert_refused(program_run("make plummer -n 5 -o /proc/a.csv"), 1, "/proc/a.csv");
    assert_refused(program_run("forces @bodies.csv -o /proc/a.csv"), 1, "/proc/a.csv");
    assert_refused(program_run("matrix @bodies.csv --law gravity -o /proc/v.npy"), 1,
                   "/proc/v.npy");
    assert_refused(program_run("pairs @bodies.csv --cutoff 9 -o /proc/p.npy"), 1, "/proc/p.npy");
    assert_refused(program_run("collisions @beads.csv --list /proc/c.csv"), 1, "/proc/c.csv");
    assert_refused(program_run("multiply @a.mtx -o /proc/y.npy"), 1, "/proc/y.npy");
}

/* The other commands are in test_cli. */
static void test_a_full_device_is_told(void **state)
{
    (void)state;
    assert_refused(program_run("matrix @bodies.csv --law gravity -o /dev/full"), 1, "/dev/full");
    assert_refused(program_run("pairs @bodies.csv --cutoff 9 -o /dev/full"), 1, "/dev/full");
    assert_refused(program_run("collisions @beads.csv --list /dev/full"), 1, "/dev/full");
    assert_refused(program_run("multiply @a.mtx -o /dev/full"), 1, "/dev/full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_write_that_fails_is_told_and_leaves_the_old_file),
        cmocka_unit_test(test_a_file_is_on_the_disk_before_it_gets_its_name),
        cmocka_unit_test(test_a_folder_that_takes_no_files_is_told),
        cmocka_unit_test(test_a_full_device_is_told),
    };
    return cmocka_run_group_tests_name("write_faults", tests, make_inputs, NULL);
}
