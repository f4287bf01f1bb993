/* kith bench on a GPU: what it measures and prints; never how fast. */

#include "gpu_testing.h"

#include <stdlib.h>

#include "program.h"

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void assert_occurs(const char *text, const char *part, int times)
{
    if (occurrences(text, part) != times)
        fail_msg("%d times '%s', not %d, in: %s", occurrences(text, part), part, times, text);
}

static void test_cuda_bench_has_a_row_for_each_choice(void **state)
{
    (void)state;
    const struct program_result *result = program_run(
        "bench forces --device cuda:0 -n 6,1000 --systems 100 --seconds 0.001 --json -q");
    assert_succeeded(result);
    assert_string_equal(result->err, "");
    assert_int_equal(result->out[0], '{');
    assert_occurs(result->out, "\"device\":\t\"cuda:0\"", 1);
    assert_occurs(result->out, "\"gpu\":", 1);
    assert_occurs(result->out, "\"threads\":", 0);
    /* Two numbers of bodies in two precisions; steps of both, of six bodies also as an ensemble. */
    assert_occurs(result->out, "\"interactions_per_second\":", 4);
    assert_occurs(result->out, "\"steps_per_second\":", 6);
    assert_occurs(result->out, "\"systems\":\t100,", 2);
}

static void test_cuda_bench_measures_every_capability(void **state)
{
    (void)state;
    static const char *const commands[] = {"matrix -n 100", "pairs -n 100", "collisions -n 100",
                                           "sparse -n 100"};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        const struct program_result *result =
            program_run("bench %s --device cuda --seconds 0.001 --json -q", commands[k]);
        assert_succeeded(result);
        assert_true(program_json_number(result->out, "seconds") > 0);
    }
}

/* Both compute the same forces, or their times could not be compared. */
static void test_the_kernel_of_gpu_gems_computes_the_same_forces(void **state)
{
    (void)state;
    const char *kith = getenv("KITH_PROGRAM"), *gems = getenv("KITH_GEMS_PROGRAM");
    assert_non_null(kith);
    assert_non_null(gems);
    if (!kith || !gems)
        return; /* never: for the analyzer, which does not know that an assertion ends the test */
    char *program = strdup(kith);
    assert_non_null(program);
    setenv("KITH_PROGRAM", gems, 1);
    static const int counts[] = {6, 513, 20000};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        for (int single = 0; single < 2; single++) {
            const struct program_result *result =
                program_run("%s %d", single ? "single" : "double", counts[k]);
            assert_succeeded(result);
            const double apart = program_json_number(result->out, "relative_difference");
            if (!(apart < (single ? 1e-5 : 1e-12)))
                fail_msg("N = %d: the results are %g apart", counts[k], apart);
        }
    setenv("KITH_PROGRAM", program, 1);
    free(program);
}

static void test_cuda_bench_table_fits_a_hundred_columns(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces --device cuda -n 6,262144 --systems 10 --seconds 0.001");
    assert_succeeded(result);
    for (const char *line = strstr(result->out, "\n\n"); *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > 100 || (length > 0 && line[length - 1] == ' '))
            fail_msg("%zu columns: '%.*s'", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

int main(void)
{
    if (gpu_is_absent("cuda_bench"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_bench_has_a_row_for_each_choice),
        cmocka_unit_test(test_cuda_bench_measures_every_capability),
        cmocka_unit_test(test_the_kernel_of_gpu_gems_computes_the_same_forces),
        cmocka_unit_test(test_cuda_bench_table_fits_a_hundred_columns),
    };
    return cmocka_run_group_tests_name("cuda_bench", tests, NULL, NULL);
}
