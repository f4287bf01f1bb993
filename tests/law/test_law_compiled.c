/* Formulas compiled for the CPU against the reference; the cache of what was compiled; compilers
 * and cache folders that are not as they should be. */

#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <float.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "core/memory.h"
#include "law/compiled.h"
#include "law/law_values_problem.h"
#include "law_testing.h"
#include "random_numbers.h"

enum { pairs = 61, columns = 11 };

static char *folder; /* the cache of this test */

static kith_context *cpu_context(void)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = 1};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

/* Pairs, the last of them at the same position, in the columns d, m_i, m_j, q_i, q_j. */
#define DEFINE_CHECK(real, epsilon)                                                                \
    static void check_##real(kith_context *context, const char *formula,                           \
                             struct random_numbers *random)                                        \
    {                                                                                              \
        static real column[columns][64];                                                           \
        for (int k = 0; k < pairs; k++)                                                            \
            for (int c = 0; c < 7; c++)                                                            \
                column[c][k] = (real)random_uniform(random, c < 3 ? 0.2 : 0.5, 1.5);               \
        for (int c = 0; c < 3; c++)                                                                \
            column[c][pairs - 1] = 0;                                                              \
        kith_law *law = law_of_formula(formula);                                                   \
        struct law_view view;                                                                      \
        law_look(law, &view);                                                                      \
        assert_int_equal(view.form.kind, law_custom);                                              \
        const struct law_values_problem problem = {.numbers = view.numbers,                        \
                                                   .count = pairs,                                 \
                                                   .d = {column[0], column[1], column[2]},         \
                                                   .w_i = column[3],                               \
                                                   .w_j = column[4],                               \
                                                   .q_i = column[5],                               \
                                                   .q_j = column[6],                               \
                                                   .value = column[7],                             \
                                                   .force = {column[8], column[9], column[10]}};   \
        law_values_kernel *kernel = NULL;                                                          \
        assert_ok(law_compile_cpu(context, law, "law/law_values_kernel.c", "law_values_custom",    \
                                  sizeof(real) == 8 ? KITH_F64 : KITH_F32, &kernel));              \
        kernel(&problem);                                                                          \
        for (int k = 0; k < pairs; k++) {                                                          \
            const kith_law_pair pair = {.d = {column[0][k], column[1][k], column[2][k]},           \
                                        .mass_i = column[3][k],                                    \
                                        .mass_j = column[4][k],                                    \
                                        .charge_i = column[5][k],                                  \
                                        .charge_j = column[6][k]};                                 \
            double value = 0, force[3];                                                            \
            assert_ok(kith_law_evaluate(law, &pair, &value, force));                               \
            double scale = fabs(value) + 1;                                                        \
            for (int c = 0; c < 3; c++)                                                            \
                scale += fabs(force[c]);                                                           \
            if (!(fabs((double)column[7][k] - value) <= 20 * (double)epsilon * scale))             \
                fail_msg("%s: value in " #real " is %.17g, not %.17g", formula,                    \
                         (double)column[7][k], value);                                             \
            for (int c = 0; c < 3; c++)                                                            \
                if (!(fabs((double)column[8 + c][k] - force[c]) <= 500 * (double)epsilon * scale)) \
                    fail_msg("%s: force in " #real " is %.17g, not %.17g", formula,                \
                             (double)column[8 + c][k], force[c]);                                  \
        }                                                                                          \
        kith_law_free(law);                                                                        \
    }

DEFINE_CHECK(float, FLT_EPSILON)
DEFINE_CHECK(double, DBL_EPSILON)

static void test_compiled_formulas_agree_with_the_reference(void **state)
{
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    char names[8][16];
    bool supported[8];
    for (int64_t k = 0; k < count; k++) {
        snprintf(names[k], sizeof names[k], "%s", list[k].name);
        supported[k] = list[k].supported;
    }
    for (int64_t k = 0; k < count; k++) {
        if (!supported[k])
            continue;
        setenv("KITH_ISA", names[k], 1);
        kith_context *context = cpu_context();
        /* All of them for the best set only: a compilation takes a second. */
        for (int formula = 0; formula < (k == 0 ? formula_count : 2); formula++) {
            check_double(context, formulas[formula], *state);
            check_float(context, formulas[formula], *state);
        }
        kith_context_free(context);
    }
    unsetenv("KITH_ISA");
}

/* The powers of either alone are not in a float's range. */
static void test_compiled_powers_of_quotients_stay_in_range(void **state)
{
    (void)state;
    static float d[3][64], value[64], force[3][64];
    kith_context *context = cpu_context();
    kith_law *law = law_of_formula("pow(L/r, 12) - pow(L/r, 6)");
    struct law_view view;
    assert_ok(kith_law_set(law, "L", 3.4e-10));
    law_look(law, &view);
    d[0][0] = 3.6e-10f;
    const struct law_values_problem problem = {.numbers = view.numbers,
                                               .count = 1,
                                               .d = {d[0], d[1], d[2]},
                                               .w_i = d[0],
                                               .w_j = d[0],
                                               .q_i = d[0],
                                               .q_j = d[0],
                                               .value = value,
                                               .force = {force[0], force[1], force[2]}};
    law_values_kernel *kernel = NULL;
    assert_ok(law_compile_cpu(context, law, "law/law_values_kernel.c", "law_values_custom",
                              KITH_F32, &kernel));
    kernel(&problem);
    const double t = pow(3.4 / 3.6, 6), slope = (-12 * t * t + 6 * t) / 3.6e-10;
    assert_true(fabs(value[0] - (t * t - t)) < 1e-5 && fabs(force[0][0] / slope - 1) < 1e-5);
    kith_law_free(law);
    kith_context_free(context);
}

/* How many entries of the cache begin so; the path of the last of them. */
static int entries(const char *beginning, char path[400])
{
    char name[300];
    snprintf(name, sizeof name, "%s/kith", folder);
    DIR *directory = opendir(name);
    int count = 0;
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, beginning, strlen(beginning)) == 0) {
            count++;
            if (path)
                snprintf(path, 400, "%.200s/%.150s", name, entry->d_name);
        }
    if (directory)
        closedir(directory);
    return count;
}

static kith_status compile(const char *expression)
{
    kith_context *context = cpu_context();
    kith_law *law = NULL;
    const kith_status status = kith_law_compile(context, expression, 0, NULL, &law);
    kith_law_free(law);
    kith_context_free(context);
    return status;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

static void empty_cache(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/kith", folder);
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_compiled_formulas_are_kept(void **state)
{
    (void)state;
    char path[400];
    struct stat first, second;
    empty_cache();
    assert_ok(compile("m_i*7/r"));
    assert_int_equal(entries("law-", path), 1);
    assert_int_equal(entries("build-", NULL), 0);
    assert_int_equal(stat(path, &first), 0);
    assert_int_equal(first.st_mode & 0777, 0700);
    assert_ok(compile("m_i * 7 / (r)")); /* the same operations */
    assert_int_equal(entries("law-", NULL), 1);
    assert_int_equal(stat(path, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    assert_ok(compile("m_i*8/r"));
    assert_int_equal(entries("law-", NULL), 2);
    snprintf(path, sizeof path, "%s/kith", folder);
    assert_int_equal(stat(path, &first), 0);
    assert_int_equal(first.st_mode & 0777, 0700);
}

/* A file of the cache that takes no room on the disk, last used this many days ago. */
static void leave_file(const char *name, off_t bytes, int days)
{
    char path[400];
    const time_t then = time(NULL) - days * 24 * 60 * 60;
    snprintf(path, sizeof path, "%s/kith/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, bytes), 0);
    close(file);
    assert_int_equal(utime(path, &(struct utimbuf){then, then}), 0);
}

static void leave_workshop(const char *name, int hours)
{
    char path[400], inside[420];
    const time_t then = time(NULL) - hours * 60 * 60;
    snprintf(path, sizeof path, "%s/kith/%s", folder, name);
    snprintf(inside, sizeof inside, "%s/law", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_int_equal(utime(path, &(struct utimbuf){then, then}), 0);
}

static void test_compiled_formulas_that_no_one_uses_are_removed(void **state)
{
    (void)state;
    char path[400];
    struct stat info;
    empty_cache();
    assert_ok(compile("m_i*7/r"));
    assert_int_equal(entries("law-", path), 1);
    assert_int_equal(utime(path, &(struct utimbuf){1, 1}), 0);
    leave_file("law-oldest.so", 100 << 20, 3);
    leave_file("law-older.so", 100 << 20, 2);
    leave_file("law-old.cubin", 100 << 20, 1);
    leave_file("tuning", 300 << 20, 4);
    leave_workshop("build-fresh0", 1);
    leave_workshop("build-left00", 25);
    assert_ok(compile("m_i*7/r")); /* used again, and nothing is compiled */
    assert_int_equal(entries("law-", NULL), 4);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_mtime > time(NULL) - 1000);
    assert_ok(compile("m_i*8/r"));
    assert_int_equal(entries("law-", NULL), 4);
    assert_int_equal(entries("law-oldest", NULL), 0);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(entries("tuning", NULL), 1);
    assert_int_equal(entries("build-fresh0", NULL), 1);
    assert_int_equal(entries("build-", NULL), 1);
}

static void test_compiled_formulas_that_are_damaged_are_made_again(void **state)
{
    (void)state;
    char path[400], other[400];
    struct stat before, after;
    empty_cache();
    assert_ok(compile("m_i*9/r"));
    assert_int_equal(entries("law-", path), 1);
    snprintf(other, sizeof other, "%.390s-other", path);
    FILE *file = fopen(path, "w");
    fputs("nonsense", file);
    fclose(file);
    assert_ok(compile("m_i*9/r"));
    assert_int_equal(stat(path, &before), 0);
    assert_true(before.st_size > 1000);

    /* Writable by others, and a link: neither is loaded. */
    assert_int_equal(chmod(path, 0777), 0);
    assert_ok(compile("m_i*9/r"));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_mode & 0777, 0700);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_ok(compile("m_i*9/r"));
    assert_int_equal(lstat(path, &after), 0);
    assert_true(S_ISREG(after.st_mode));

    /* Another formula's code under this name. */
    char first[400] = "";
    empty_cache();
    assert_ok(compile("m_i*10/r"));
    assert_int_equal(entries("law-", first), 1);
    empty_cache();
    assert_ok(compile("m_i*9/r"));
    assert_int_equal(rename(path, first), 0);
    FILE *impostor = fopen(first, "r"); /* open, so that its inode is not given to the next file */
    assert_non_null(impostor);
    assert_int_equal(fstat(fileno(impostor), &before), 0);
    assert_ok(compile("m_i*10/r"));
    assert_int_equal(stat(first, &after), 0);
    assert_true(before.st_ino != after.st_ino);
    fclose(impostor);
}

/* What a power failure, a full disk or a bad copy leaves of the file: half of it, a hole, a changed
 * byte. None is loaded (dlopen of half a file ends in SIGBUS), and the code is made again. */
static void test_compiled_formulas_that_are_half_or_changed_are_made_again(void **state)
{
    char path[400];
    struct stat whole, after;
    empty_cache();
    assert_ok(compile("m_i*13/r"));
    assert_int_equal(entries("law-", path), 1);
    assert_int_equal(stat(path, &whole), 0);
    for (int k = 0; k < 8; k++) {
        const off_t cut = k == 0   ? whole.st_size / 2
                          : k == 1 ? whole.st_size - 1
                          : k == 2 ? 0
                          : k == 3 ? 4096
                                   : whole.st_size;
        assert_int_equal(truncate(path, cut), 0);
        if (k == 4) /* a hole */
            assert_int_equal(truncate(path, 64) + truncate(path, whole.st_size), 0);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        if (k > 4) {
            const long at = (long)random_uniform(*state, 0, (double)whole.st_size);
            assert_int_equal(fseek(file, at, SEEK_SET), 0);
            const int byte = fgetc(file);
            assert_int_equal(fseek(file, at, SEEK_SET), 0);
            assert_int_not_equal(fputc(byte ^ (1 << k % 8), file), EOF);
        }
        fclose(file);
        FILE *damaged = fopen(path, "r"); /* keeps its inode */
        assert_int_equal(fstat(fileno(damaged), &after), 0);
        const ino_t inode = after.st_ino;
        assert_ok(compile("m_i*13/r"));
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(after.st_size, whole.st_size);
        assert_true(after.st_ino != inode);
        fclose(damaged);
    }
    assert_int_equal(entries("law-", NULL), 1);
}

static void test_compiled_formulas_need_no_cache(void **state)
{
    (void)state;
    char path[300], target[300], temporary[300];
    struct stat before, after;
    snprintf(path, sizeof path, "%s/kith", folder);
    snprintf(target, sizeof target, "%s/elsewhere", folder);
    snprintf(temporary, sizeof temporary, "%s/temporary", folder);
    assert_int_equal(mkdir(temporary, 0700), 0);
    setenv("TMPDIR", temporary, 1);

    /* Nothing is put into a folder that others can write to, or that a link leads to. */
    empty_cache();
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_ok(compile("r*11"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_ok(compile("r*11"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(target), 0);

    /* A folder that cannot be, or is not known, or none of it. */
    char home[4096] = "", home_that_is_not[8192];
    if (getenv("HOME"))
        snprintf(home, sizeof home, "%s", getenv("HOME"));
    assert_int_equal(stat(temporary, &before), 0);
    setenv("XDG_CACHE_HOME", "/dev/null/x", 1);
    assert_ok(compile("r*11"));
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    assert_ok(compile("r*11"));
    setenv("HOME", "/dev/null", 1);
    assert_ok(compile("r*11"));
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "", 1);
    assert_ok(compile("r*11"));
    snprintf(home_that_is_not, sizeof home_that_is_not, "%s-home", folder);
    setenv("HOME", home_that_is_not, 1);
    assert_ok(compile("r*11"));
    assert_int_not_equal(access(home_that_is_not, F_OK), 0); /* and is not made */
    assert_int_equal(stat(temporary, &after), 0);
    assert_true(after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
                after.st_mtim.tv_nsec != before.st_mtim.tv_nsec); /* it was used, */
    assert_int_equal(rmdir(temporary), 0);                        /* and is empty again */
    assert_ok(compile("r*11"));                                   /* TMPDIR leads nowhere: /tmp */
    unsetenv("TMPDIR");
    if (home[0])
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void test_compiled_formulas_need_a_compiler(void **state)
{
    (void)state;
    char path[8192] = "";
    if (getenv("PATH"))
        snprintf(path, sizeof path, "%s", getenv("PATH"));
    setenv("CC", "no-such-compiler", 1);
    assert_fails(compile("r*12"), KITH_UNSUPPORTED, "CC 'no-such-compiler'");
    setenv("CC", "false", 1);
    assert_fails(compile("r*12"), KITH_INTERNAL_ERROR, "CC");
    setenv("CC", "true", 1);
    assert_fails(compile("r*12"), KITH_IO_ERROR, "law.so");
    setenv("CC", "  cc   -O1 ", 1);
    assert_ok(compile("r*12"));
    setenv("CC", "cc;touch /tmp/kith-was-here", 1);
    assert_fails(compile("r*12"), KITH_UNSUPPORTED, "program");
    setenv("CC", "", 1);
    assert_ok(compile("r*12"));
    unsetenv("CC");
    setenv("PATH", "/nowhere:", 1);
    assert_fails(compile("r*12"), KITH_UNSUPPORTED, "compiler");
    setenv("PATH", path, 1);
    assert_int_equal(entries("build-", NULL), 0);
}

static void test_compiled_formulas_with_mistakes_start_no_compiler(void **state)
{
    (void)state;
    setenv("CC", "no-such-compiler", 1);
    assert_fails(compile("r*"), KITH_INVALID_ARGUMENT, "missing");
    assert_fails(compile("system(\"touch x\")"), KITH_INVALID_ARGUMENT, "'system'");
    assert_fails(compile(NULL), KITH_INVALID_ARGUMENT, "NULL");
    unsetenv("CC");
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("law_compiled");
    char name[] = "/tmp/kith-test-cache-XXXXXX";
    folder = mkdtemp(name);
    if (!folder)
        return 1;
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("CC");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_compiled_formulas_agree_with_the_reference, &random),
        cmocka_unit_test(test_compiled_powers_of_quotients_stay_in_range),
        cmocka_unit_test(test_compiled_formulas_are_kept),
        cmocka_unit_test(test_compiled_formulas_that_no_one_uses_are_removed),
        cmocka_unit_test(test_compiled_formulas_that_are_damaged_are_made_again),
        cmocka_unit_test_prestate(test_compiled_formulas_that_are_half_or_changed_are_made_again,
                                  &random),
        cmocka_unit_test(test_compiled_formulas_need_no_cache),
        cmocka_unit_test(test_compiled_formulas_need_a_compiler),
        cmocka_unit_test(test_compiled_formulas_with_mistakes_start_no_compiler),
    };
    const int failures = cmocka_run_group_tests_name("law_compiled", tests, NULL, NULL);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failures;
}
