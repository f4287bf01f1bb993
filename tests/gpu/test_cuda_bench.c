/* kith bench on a GPU: what it measures and tells; never how fast. */

#include "gpu_testing.h"

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

static void test_cuda_bench_measures_kith_in_three_ways_beside_the_baseline(void **state)
{
    (void)state;
    const struct program_result *result = program_run(
        "bench forces --device cuda:0 -n 6,1000 --systems 100 --seconds 0.001 --json -q");
    assert_succeeded(result);
    assert_string_equal(result->err, "");
    assert_int_equal(result->out[0], '{');
    assert_occurs(result->out, "\"device\":\t\"cuda:0\"", 1);
    assert_occurs(result->out, "\"gpu\":", 1);
    /* Two numbers of bodies in two precisions. */
    assert_occurs(result->out, "\"measured\":\t\"host arrays\"", 4);
    assert_occurs(result->out, "\"measured\":\t\"device arrays\"", 4);
    assert_occurs(result->out, "\"measured\":\t\"kernels\"", 8);
    assert_occurs(result->out, "\"program\":\t\"GPU Gems 3\"", 4);
    assert_occurs(result->out, "\"time_ratio_to_kith\":", 4);
    assert_occurs(result->out, "\"interactions_per_second\":", 16);
    assert_occurs(result->out, "\"percent_of_limit\":\tnull", 12);
    assert_occurs(result->out, "\"systems\":\t1,", 4);
    assert_occurs(result->out, "\"systems\":\t100,", 2); /* of six bodies */
    assert_occurs(result->out, "\"steps_per_second\":", 6);
}

/* Both compute the same forces, or their times could not be compared. */
static void test_cuda_bench_finds_the_baseline_right(void **state)
{
    (void)state;
    static const int counts[] = {6, 513, 20000};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        for (int single = 0; single < 2; single++) {
            const struct program_result *result =
                program_run("bench forces --device cuda -n %d --precision %s --systems 1 "
                            "--seconds 0.01 --json -q",
                            counts[k], single ? "single" : "double");
            assert_succeeded(result);
            const double apart = program_json_number(result->out, "relative_difference_to_kith");
            if (!(apart < (single ? 1e-5 : 1e-12)))
                fail_msg("N = %d: the results are %g apart", counts[k], apart);
        }
}

static void test_cuda_bench_table_fits_a_hundred_columns(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces --device cuda -n 6,4194304 --systems 10 --seconds 0.001");
    assert_succeeded(result);
    for (const char *line = result->out; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > 100 || (length > 0 && line[length - 1] == ' '))
            fail_msg("%zu columns: '%.*s'", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
    assert_non_null(strstr(result->out, "4194304  single            -"));
    assert_non_null(strstr(result->out, "left out"));
}

int main(void)
{
    if (gpu_is_absent("cuda_bench"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_bench_measures_kith_in_three_ways_beside_the_baseline),
        cmocka_unit_test(test_cuda_bench_finds_the_baseline_right),
        cmocka_unit_test(test_cuda_bench_table_fits_a_hundred_columns),
    };
    return cmocka_run_group_tests_name("cuda_bench", tests, NULL, NULL);
}
