/* kith multiply as a user sees it. */
#include "testing.h"

#include <stdlib.h>

#include "program.h"

static void write_matrix(void)
{
    FILE *stream = fopen(program_file("multiply_test.mtx"), "w");
    fputs("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n1 3 -1\n2 2 4\n", stream);
    fclose(stream);
}

static void check_result(const char *command, int64_t count, const double *expected)
{
    const struct program_result *result = program_run("%s", command);
    assert_succeeded(result);
    kith_array y;
    assert_ok(kith_npy_read(program_file("multiply_test.npy"), &y));
    assert_int_equal(y.ndim, 1);
    assert_int_equal(y.shape[0], count);
    assert_memory_equal(y.data, expected, (size_t)count * sizeof *expected);
    free(y.data);
}

static void test_multiply_writes_the_product(void **state)
{
    (void)state;
    write_matrix();
    double x[] = {1, 10, 100};
    assert_ok(kith_npy_write(program_file("multiply_x.npy"), kith_array_vector(x, KITH_F64, 3)));
    check_result("multiply @multiply_test.mtx --device cpu -o @multiply_test.npy", 2,
                 (const double[]){1, 4});
    check_result(
        "multiply @multiply_test.mtx --device cpu -x @multiply_x.npy -o @multiply_test.npy", 2,
        (const double[]){-98, 40});
    check_result("multiply @multiply_test.mtx --device cpu --transpose --storage sell "
                 "-o @multiply_test.npy",
                 3, (const double[]){2, 4, -1});
}

static void test_multiply_tells_all_figures_as_json(void **state)
{
    (void)state;
    static const char *const keys[] = {"\"rows\":\t2",
                                       "\"columns\":\t3",
                                       "\"nonzeros\":\t3",
                                       "\"format\":\t\"csr\"",
                                       "\"kernel\":\t\"merge\"",
                                       "\"reason\":",
                                       "\"bytes\":",
                                       "\"seconds\":",
                                       "\"gflops\":",
                                       "\"gbytes_per_second\":",
                                       "\"convert_seconds\":",
                                       "\"device\":\t\"cpu\"",
                                       "\"precision\":\t\"single\""};
    write_matrix();
    const struct program_result *result =
        program_run("multiply @multiply_test.mtx --device cpu --precision single --storage csr "
                    "--kernel merge --repeat 3 --json");
    assert_succeeded(result);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (!strstr(result->out, keys[k]))
            fail_msg("no %s in %s", keys[k], result->out);
}

static void test_multiply_refuses_what_is_wrong(void **state)
{
    (void)state;
    write_matrix();
    assert_refused(program_run("multiply"), 2, "FILE");
    assert_refused(program_run("multiply @multiply_test.mtx"), 2, "-o");
    assert_refused(program_run("multiply @multiply_test.mtx --storage best --json"), 2,
                   "--storage 'best'");
    assert_refused(program_run("multiply @multiply_test.mtx --kernel best --json"), 2, "--kernel");
    assert_refused(program_run("multiply @multiply_test.mtx --repeat 0 --json"), 2, "--repeat 0");
    assert_refused(program_run("multiply @multiply_test.mtx -o @y.csv"), 2, "");
    assert_refused(program_run("multiply @multiply_test.mtx --json -o -"), 2, "standard");
    assert_succeeded(program_run("multiply @multiply_test.mtx --device cpu -o @multiply_test.npy"));
    assert_refused(program_run("multiply @multiply_test.npy --device cpu -o @multiply_test.npy"), 1,
                   "output");
    assert_refused(program_run("multiply @multiply_test.mtx --transpose -x @multiply_test.npy "
                               "--device cpu -o @multiply_test.npy"),
                   1, "output");
    assert_refused(program_run("multiply nowhere.mtx --device cpu --json"), 1, "nowhere.mtx");
    double x[] = {1, 2};
    assert_ok(kith_npy_write(program_file("multiply_x.npy"), kith_array_vector(x, KITH_F64, 2)));
    assert_refused(
        program_run("multiply @multiply_test.mtx --device cpu -x @multiply_x.npy --json"), 1,
        "x 1 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiply_writes_the_product),
        cmocka_unit_test(test_multiply_tells_all_figures_as_json),
        cmocka_unit_test(test_multiply_refuses_what_is_wrong),
    };
    return cmocka_run_group_tests_name("multiply", tests, NULL, NULL);
}
