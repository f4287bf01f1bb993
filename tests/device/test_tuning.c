/* What kith tune keeps: written, read, damaged, and used. */

#include "forces_system.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

static const kith_device cpu = {KITH_CPU, 0};
static const kith_tuning some = {300, 400, 1, 64};

static char folder[64];

/* The cache folder of this test, without a tuning. */
static int make_cache(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/kith-tuning-XXXXXX");
    return mkdtemp(folder) ? setenv("XDG_CACHE_HOME", folder, 1) : -1;
}

static const char *in_cache(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/kith/%s", folder, name);
    return path;
}

/* The name of the only file there; NULL if there is none. */
static const char *only_file(void)
{
    static char name[300];
    int count = 0;
    DIR *directory = opendir(in_cache(""));
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s", entry->d_name);
            count++;
        }
    if (directory)
        closedir(directory);
    assert_true(count <= 1);
    return count ? name : NULL;
}

static int remove_cache(void **state)
{
    (void)state;
    const char *name = only_file();
    if (name)
        remove(in_cache(name));
    rmdir(in_cache(""));
    return rmdir(folder);
}

static void assert_nothing_is_known(void)
{
    const kith_tuning nothing = {0};
    kith_tuning tuning = some;
    assert_ok(kith_tuning_read(cpu, &tuning));
    assert_memory_equal(&tuning, &nothing, sizeof tuning);
}

static void test_tuning_is_read_as_it_was_written(void **state)
{
    (void)state;
    const kith_tuning extreme = {INT64_MAX, 1, 4096, 1024};
    kith_tuning read;
    assert_nothing_is_known();
    assert_int_not_equal(access(in_cache(""), F_OK), 0); /* reading makes no folder */
    assert_ok(kith_tuning_write(cpu, &some));
    assert_ok(kith_tuning_write(cpu, &extreme)); /* in its place */
    assert_ok(kith_tuning_read(cpu, &read));
    assert_memory_equal(&read, &extreme, sizeof read);
    assert_non_null(only_file()); /* and nothing temporary next to it */
    assert_ok(kith_tuning_forget(cpu));
    assert_ok(kith_tuning_forget(cpu));
    assert_nothing_is_known();
}

static void test_tuning_takes_no_numbers_out_of_range(void **state)
{
    (void)state;
    kith_tuning wrong = some;
    wrong.threads = 5000;
    assert_fails(kith_tuning_write(cpu, &wrong), KITH_INVALID_ARGUMENT, "threads 5000");
    wrong = some;
    wrong.forces_least_symmetric_double = -1;
    assert_fails(kith_tuning_write(cpu, &wrong), KITH_INVALID_ARGUMENT, "-1");
    const kith_device none = {KITH_CUDA, 99};
    assert_fails(kith_tuning_write(none, &some), KITH_NO_DEVICE, "");
}

static void put_file(const char *bytes, size_t count)
{
    char path[512];
    snprintf(path, sizeof path, "%s", in_cache(only_file()));
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void assert_damaged(void)
{
    const kith_tuning nothing = {0};
    kith_tuning tuning = some;
    assert_fails(kith_tuning_read(cpu, &tuning), KITH_BAD_FORMAT, "damaged");
    assert_memory_equal(&tuning, &nothing, sizeof tuning);
    kith_context *context = NULL; /* does without */
    assert_ok(kith_context_create(NULL, &context));
    kith_context_free(context);
}

/* Every byte changed, every length: what is not whole is not used. */
static void test_tuning_that_is_damaged_is_not_used(void **state)
{
    (void)state;
    char whole[2048], changed[2048];
    assert_ok(kith_tuning_write(cpu, &some));
    FILE *file = fopen(in_cache(only_file()), "rb");
    assert_non_null(file);
    const size_t bytes = fread(whole, 1, sizeof whole, file);
    fclose(file);
    assert_in_range(bytes, 50, 1000);
    for (size_t k = 0; k < bytes; k++) {
        memcpy(changed, whole, bytes);
        changed[k] = (char)(changed[k] ^ 1);
        put_file(changed, bytes);
        assert_damaged();
        put_file(whole, k);
        assert_damaged();
    }
    memset(changed, '9', sizeof changed);
    put_file(changed, sizeof changed);
    assert_damaged();
    const struct program_result *told = program_run("info");
    assert_succeeded(told);
    assert_non_null(strstr(told->out, "Warning: tuning"));
    told = program_run("info --json");
    assert_succeeded(told);
    assert_non_null(strstr(told->out, "\"warning\":"));
    put_file(whole, bytes);
    kith_tuning read;
    assert_ok(kith_tuning_read(cpu, &read));
    assert_int_equal(read.forces_least_symmetric_double, 400);
}

static void test_tuning_that_others_may_write_is_not_used(void **state)
{
    (void)state;
    kith_tuning read;
    assert_ok(kith_tuning_write(cpu, &some));
    char path[512];
    snprintf(path, sizeof path, "%s", in_cache(only_file()));
    assert_int_equal(chmod(path, 0666), 0);
    assert_fails(kith_tuning_read(cpu, &read), KITH_IO_ERROR, "");
    assert_int_equal(read.threads, 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(chmod(in_cache(""), 0777), 0);
    assert_fails(kith_tuning_read(cpu, &read), KITH_IO_ERROR, "others");
    assert_int_equal(chmod(in_cache(""), 0700), 0);
    assert_ok(kith_tuning_read(cpu, &read));
    assert_int_equal(read.threads, 1);
}

static void test_tuning_needs_a_folder_that_is_one(void **state)
{
    (void)state;
    kith_tuning read;
    char path[512], content[4] = "???";
    static char deep[5000];
    assert_ok(kith_tuning_write(cpu, &some));
    snprintf(path, sizeof path, "%s", in_cache(only_file()));
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder instead of the file */
    assert_fails(kith_tuning_read(cpu, &read), KITH_IO_ERROR, "remove");
    assert_fails(kith_tuning_write(cpu, &some), KITH_IO_ERROR, "written");
    assert_fails(kith_tuning_forget(cpu), KITH_IO_ERROR, "removed");
    assert_int_equal(rmdir(path), 0);
    assert_ok(kith_tuning_write(cpu, &some));
    put_file(content, 0);
    assert_fails(kith_tuning_read(cpu, &read), KITH_BAD_FORMAT, "damaged");
    memset(deep, 'd', sizeof deep - 1);
    deep[0] = '/';
    setenv("XDG_CACHE_HOME", deep, 1);
    assert_fails(kith_tuning_write(cpu, &some), KITH_IO_ERROR, "");
    assert_ok(kith_tuning_forget(cpu)); /* there is none */
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    char home[512] = "";
    if (getenv("HOME"))
        snprintf(home, sizeof home, "%s", getenv("HOME"));
    unsetenv("HOME");
    assert_fails(kith_tuning_write(cpu, &some), KITH_IO_ERROR, "HOME");
    assert_nothing_is_known();
    /* Set before it is measured. */
    const struct program_result *result = program_run("tune --quick matrix --device cpu");
    assert_refused(result, 1, "HOME");
    assert_string_equal(result->out, "");
    setenv("HOME", path, 1); /* a file */
    assert_fails(kith_tuning_write(cpu, &some), KITH_IO_ERROR, "");
    setenv("HOME", home, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_fails(kith_tuning_read(cpu, NULL), KITH_INVALID_ARGUMENT, "tuning NULL");
    assert_fails(kith_tuning_write(cpu, NULL), KITH_INVALID_ARGUMENT, "tuning NULL");
}

static void compute(struct system *s, kith_forces_method method)
{
    kith_context *context = new_context(NULL, 2);
    const kith_forces_options options = {.softening = 0.01, .method = method};
    system_compute(context, &options, s);
    kith_context_free(context);
}

static void assert_same_bits(const struct system *a, const struct system *b)
{
    const size_t bytes = (size_t)(a->n * kith_dtype_bytes(a->dtype));
    assert_memory_equal(a->a.data, b->a.data, 3 * bytes);
    assert_memory_equal(a->phi.data, b->phi.data, bytes);
}

/* 350 bodies are enough in single precision, too few in double. */
static void test_tuning_chooses_between_split_and_symmetric(void **state)
{
    struct random_numbers random = random_numbers_begin("tuning");
    (void)state;
    assert_ok(kith_tuning_write(cpu, &some));
    for (int d = 0; d < 2; d++) {
        struct system by_auto = system_random(&random, d ? KITH_F64 : KITH_F32, 350, 3);
        struct system split = by_auto, symmetric = by_auto;
        split.a = new_matrix(by_auto.dtype, 350, 3);
        split.phi = new_vector(by_auto.dtype, 350);
        symmetric.a = new_matrix(by_auto.dtype, 350, 3);
        symmetric.phi = new_vector(by_auto.dtype, 350);
        compute(&by_auto, KITH_FORCES_AUTO);
        compute(&split, KITH_FORCES_SPLIT);
        compute(&symmetric, KITH_FORCES_SYMMETRIC);
        assert_memory_not_equal(split.a.data, symmetric.a.data,
                                (size_t)(3 * 350 * kith_dtype_bytes(by_auto.dtype)));
        assert_same_bits(&by_auto, d ? &split : &symmetric);
        setenv("KITH_TUNING", "off", 1); /* kith's own choice is symmetric in both */
        compute(&by_auto, KITH_FORCES_AUTO);
        unsetenv("KITH_TUNING");
        assert_same_bits(&by_auto, &symmetric);
        free(split.a.data);
        free(split.phi.data);
        free(symmetric.a.data);
        free(symmetric.phi.data);
        system_free(&by_auto);
    }
}

static void test_tuning_gives_threads_that_nobody_asked_for(void **state)
{
    (void)state;
    kith_context *context = NULL;
    kith_context_options options = {.device = cpu};
    unsetenv("OMP_NUM_THREADS");
    assert_ok(kith_tuning_write(cpu, &some));
    assert_ok(kith_context_create(&options, &context));
    assert_int_equal(kith_context_threads(context), 1);
    kith_context_free(context);
    options.threads = 3;
    assert_ok(kith_context_create(&options, &context));
    assert_int_equal(kith_context_threads(context), 3);
    kith_context_free(context);
}

static void test_tune_prints_a_table_and_keeps_what_it_found(void **state)
{
    (void)state;
    assert_ok(kith_tuning_write(cpu, &some));
    const struct program_result *result =
        program_run("tune matrix --device cpu --quick --json -o @table.csv");
    assert_succeeded(result);
    assert_int_equal(result->out[0], '{');
    assert_non_null(strstr(result->out, "\"method\":\t\"direct\""));
    assert_true(program_json_number(result->out, "gbytes_per_second") > 0);
    assert_true(program_json_number(result->out, "forces_least_symmetric_single") == 300);
    char *table = program_read("table.csv");
    assert_non_null(table);
    assert_non_null(strstr(table, "device,capability,method,precision,count,threads,block,unroll,"
                                  "bodies_per_thread,threads_per_body,seconds,rate\n"));
    assert_non_null(strstr(table, "cpu,matrix,direct,single,4096,"));
    free(table);
    kith_tuning read;
    assert_ok(kith_tuning_read(cpu, &read));
    assert_int_equal(read.forces_least_symmetric_single, 300); /* what was not tuned stays */
    result = program_run("info");
    assert_succeeded(result);
    assert_true(has_fields(result->out, "Tuning cpu"));
    assert_succeeded(program_run("tune --forget --device cpu"));
    assert_nothing_is_known();
    assert_succeeded(program_run("tune matrix --device cpu --quick --no-save"));
    assert_nothing_is_known();
}

static void test_tune_finds_what_forces_need(void **state)
{
    (void)state;
    const struct program_result *result = program_run("tune --device cpu --quick");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "symmetric"));
    assert_true(has_fields(result->out, "Tuning cpu"));
    kith_tuning read;
    assert_ok(kith_tuning_read(cpu, &read));
    assert_true(read.forces_least_symmetric_single >= 64);
    assert_true(read.forces_least_symmetric_double >= 64);
    result = program_run("tune matrix --device cpu --quick --no-save -o -");
    assert_succeeded(result);
    assert_int_equal(strncmp(result->out, "device,capability,method", 24), 0);
}

static void test_tune_refuses_what_it_cannot(void **state)
{
    (void)state;
    assert_refused(program_run("tune pairs"), 2, "'pairs'");
    assert_refused(
        program_run("tune matrix --device cpu --quick --no-save --json -o /no/such/t.csv"), 1,
        "/no/such/t.csv");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_cache, remove_cache)
    const struct CMUnitTest tests[] = {
        TEST(test_tuning_is_read_as_it_was_written),
        TEST(test_tuning_takes_no_numbers_out_of_range),
        TEST(test_tuning_that_is_damaged_is_not_used),
        TEST(test_tuning_that_others_may_write_is_not_used),
        TEST(test_tuning_needs_a_folder_that_is_one),
        TEST(test_tuning_chooses_between_split_and_symmetric),
        TEST(test_tuning_gives_threads_that_nobody_asked_for),
        TEST(test_tune_prints_a_table_and_keeps_what_it_found),
        TEST(test_tune_finds_what_forces_need),
        TEST(test_tune_refuses_what_it_cannot),
    };
#undef TEST
    return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}
