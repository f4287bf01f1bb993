/* kith bench: what it measures, prints and refuses; never how fast. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "program.h"

/* How often a text is in another. */
static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

static void assert_fits(const char *text, size_t columns)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > columns || (length > 0 && line[length - 1] == ' '))
            fail_msg("%zu columns: '%.*s'", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void test_bench_lists_its_capabilities(void **state)
{
    (void)state;
    static const char *const names[] = {"forces", "matrix", "pairs", "collisions", "sparse"};
    const struct program_result *result = program_run("bench --help");
    assert_succeeded(result);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        assert_has(result->out, names[k]);
    assert_refused(program_run("bench juggling"), 2, "'juggling'");
}

static void test_help_fits_eighty_columns_and_names_own_options(void **state)
{
    (void)state;
    static const struct {
        const char *capability, *has, *has_not;
    } cases[] = {{"forces", "--systems", "--narrow"},
                 {"matrix", "--precision", "--law"},
                 {"pairs", "plummer", "--tune"},
                 {"collisions", "--threads", "--precision"},
                 {"sparse", "--tune", "--unsorted"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct program_result *result = program_run("bench %s --help", cases[k].capability);
        assert_succeeded(result);
        assert_fits(result->out, 80);
        assert_has(result->out, cases[k].has);
        if (strstr(result->out, cases[k].has_not))
            fail_msg("kith bench %s has %s", cases[k].capability, cases[k].has_not);
    }
}

static void test_what_is_not_a_value_is_refused(void **state)
{
    (void)state;
    static const char many[] =
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
    assert_refused(program_run("bench forces file.csv"), 2, "unexpected argument 'file.csv'");
    assert_refused(program_run("bench matrix more"), 2, "'more'");
    assert_refused(program_run("bench --quick a.json"), 2, "unexpected argument 'a.json'");
    assert_refused(program_run("bench forces -n 0"), 2, "-n 0");
    assert_refused(program_run("bench forces -n many"), 2, "-n 'many'");
    assert_refused(program_run("bench forces -n 8,,16"), 2, "-n '8,,16'");
    assert_refused(program_run("bench forces -n 8,"), 2, "-n '8,'");
    assert_refused(program_run("bench forces -n ,8"), 2, "-n ',8'");
    assert_refused(program_run("bench forces -n %s", many), 2, "-n 64");
    assert_refused(program_run("bench pairs -n 1000000000"), 2, "-n 1000000000");
    assert_refused(program_run("bench forces --threads 1,0"), 2, "--threads 0");
    assert_refused(program_run("bench forces --threads %.39s", many), 2, "--threads 16");
    assert_refused(program_run("bench forces --precision half"), 2, "--precision 'half'");
    assert_refused(program_run("bench forces --seconds 0"), 2, "--seconds 0");
    assert_refused(program_run("bench forces --systems 0"), 2, "--systems 0");
    assert_refused(program_run("bench forces --integrator leap"), 2, "--integrator 'leap'");
    assert_refused(program_run("bench forces --law yukawa:1 --systems 3"), 2, "--systems gravity");
    assert_refused(program_run("bench forces --method split --systems 3"), 2, "--method");
    assert_refused(program_run("bench pairs cbue"), 2, "did you mean 'cube'?");
    char names[33 * 2 + 1];
    for (size_t k = 0; k < 33; k++)
        memcpy(names + 2 * k, "a ", 3);
    assert_refused(program_run("bench sparse %s", names), 2, "32");
    assert_refused(program_run("bench matrix --narrow"), 2, "--narrow");
    assert_refused(program_run("bench sparse @none.mtx --seconds 0.001"), 1, "none.mtx");
}

static void test_devices_that_are_not_there_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"", "forces", "matrix", "pairs", "collisions", "sparse"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        assert_refused(program_run("bench %s --device cuda:1000 -q", names[k]), 1, "device cuda");
    assert_refused(program_run("bench forces --device gpu"), 2, "--device 'gpu'");
    assert_refused(program_run("bench forces --threads 2 --device cuda"), 2, "--threads");
}

static void test_forces_have_a_row_for_each_choice(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 6,100 --threads 1,3 --seconds 0.001 --json");
    assert_succeeded(result);
    assert_string_equal(result->err, "");
    assert_int_equal(result->out[0], '{');
    /* Forces: two numbers of bodies, two precisions, two numbers of threads. Steps of six bodies:
     * alone by the first number of threads, as an ensemble by each. */
    assert_int_equal(occurrences(result->out, "\"interactions_per_second\""), 8);
    assert_int_equal(occurrences(result->out, "\"steps_per_second\""), 6);
    static const char *const keys[] = {
        "processor", "compiler",     "cores",
        "quick",     "best_seconds", "percent_of_limit",
        "gflops",    "repetitions",  "cores_busy_with_other_programs"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\":", keys[k]);
        assert_has(result->out, quoted);
    }
}

static void test_steps_are_of_the_systems_and_the_integrator_asked_for(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 3 --systems 1500 --precision single --threads 1 "
                    "--integrator pefrl --seconds 0.001 --json");
    assert_succeeded(result);
    assert_int_equal(occurrences(result->out, "\"systems\":\t1,"), 1);
    assert_int_equal(occurrences(result->out, "\"systems\":\t1500"), 1);
    assert_int_equal(occurrences(result->out, "\"pefrl\""), 2);
}

static void test_a_law_and_a_method_leave_forces_alone(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 8 --method split --threads 1 --seconds 1e-6 --json");
    assert_succeeded(result);
    assert_null(strstr(result->out, "\"steps_per_second\""));
    result = program_run("bench forces -n 8 --law yukawa:1 --threads 1 --seconds 1e-6 --json");
    assert_succeeded(result);
    assert_null(strstr(result->out, "\"steps_per_second\""));
    assert_int_equal(occurrences(result->out, "\"percent_of_limit\":\tnull"), 2);
}

static void test_rates_follow_from_the_times(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 100 --precision double --threads 1 --seconds 0.001 --json");
    assert_succeeded(result);
    const double seconds = program_json_number(result->out, "seconds");
    const double rate = program_json_number(result->out, "interactions_per_second");
    assert_true(seconds > 0);
    assert_true(fabs(rate * seconds - 1e4) < 1e-6);
    assert_true(fabs(program_json_number(result->out, "gflops") - 20e-9 * rate) < 1e-9 * rate);
    assert_true(program_json_number(result->out, "best_seconds") <= seconds);
    result = program_run("bench matrix -n 64 --seconds 1e-6 --precision double --json");
    assert_succeeded(result);
    const double pairs = program_json_number(result->out, "pairs_per_second");
    assert_true(fabs(program_json_number(result->out, "gbytes_per_second") - 8e-9 * pairs) <
                1e-9 * pairs);
}

static void test_pairs_are_those_of_the_systems(void **state)
{
    (void)state;
    const struct program_result *result = program_run(
        "bench pairs nearest -n 60 --precision double --unsorted --narrow --seconds 1e-6 --json");
    assert_succeeded(result);
    /* Sixteen of each point. */
    assert_true(fabs(program_json_number(result->out, "pairs_per_second") *
                         program_json_number(result->out, "seconds") -
                     960) < 1e-6);
    assert_has(result->out, "32 bits");
    result = program_run("bench pairs cube square vectors plummer -n 9,50 --seconds 1e-6 --json");
    assert_succeeded(result);
    assert_int_equal(occurrences(result->out, "\"pairs_per_second\""), 16);
}

static void test_collisions_are_counted_by_every_method(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&count);
    const struct program_result *result =
        program_run("bench collisions -n 9 --seconds 1e-6 --threads 1,2 --json");
    assert_succeeded(result);
    for (int64_t k = 0; k < count; k++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"what\":\t\"%s\"", list[k].name);
        /* Walks and scattered beads by two numbers of threads; the reference is not for speed. */
        assert_int_equal(occurrences(result->out, quoted),
                         strcmp(list[k].name, "reference") == 0 ? 0 : 4);
    }
    assert_int_equal(occurrences(result->out, "\"what\":\t\"batch\""), 4);
}

static void test_sparse_matrices_are_of_neighbors_or_of_files(void **state)
{
    (void)state;
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n3 1 4\n"
                           "3 3 1\n");
    const struct program_result *result =
        program_run("bench sparse @a.mtx --seconds 0.001 --precision single --json");
    assert_succeeded(result);
    const double entries = program_json_number(result->out, "entries_per_second") *
                           program_json_number(result->out, "seconds");
    assert_true(fabs(entries - 4) < 1e-9);
    assert_true(program_json_number(result->out, "nonzeros") == 4);
    assert_int_equal(occurrences(result->out, "\"precision\":\t\"single\""), 2);
    result = program_run("bench sparse -n 50 --tune --seconds 1e-6 --json");
    assert_succeeded(result);
    assert_int_equal(occurrences(result->out, "\"what\":\t\"neighbors\""), 2);
    assert_int_equal(occurrences(result->out, "8 vectors"), 1);
}

static void test_tables_fit_a_hundred_columns(void **state)
{
    (void)state;
    static const char *const commands[] = {"forces -n 6,500 --threads 1,2",
                                           "matrix -n 64",
                                           "pairs -n 60",
                                           "collisions -n 100",
                                           "sparse -n 100",
                                           "forces -n 6 --systems 1000000 --threads 1"};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        const struct program_result *result = program_run("bench %s --seconds 0.0001", commands[k]);
        assert_succeeded(result);
        assert_fits(strstr(result->out, "\n\n"), 100); /* after the compiler's name */
    }
}

/* The name of an instruction set that this processor has. */
static const char *some_isa(void)
{
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (list[k].supported)
            return list[k].name;
    return "";
}

static void test_the_environment_chooses_the_instruction_set(void **state)
{
    (void)state;
    char quoted[64];
    setenv("KITH_ISA", some_isa(), 1);
    const struct program_result *result =
        program_run("bench forces -n 100 --precision single --threads 1 --seconds 0.0001 --json");
    assert_succeeded(result);
    snprintf(quoted, sizeof quoted, "\"variant\":\t\"%s\"", some_isa());
    assert_has(result->out, quoted);
    setenv("KITH_ISA", "v9", 1);
    assert_refused(program_run("bench forces -n 2"), 1, "KITH_ISA 'v9'");
    unsetenv("KITH_ISA");
}

static void test_all_capabilities_make_one_report(void **state)
{
    (void)state;
    static const char *const capabilities[] = {"forces", "matrix", "pairs", "collisions", "sparse"};
    const struct program_result *result = program_run("bench --quick --seconds 0.0005 --json");
    assert_succeeded(result);
    assert_has(result->err, "kith bench: sparse, 5 of 5");
    assert_has(result->out, "\"instruction_set\"");
    assert_has(result->out, "\"memory_bytes\"");
    assert_has(result->out, "\"quick\":\ttrue");
    assert_int_equal(occurrences(result->out, "\"machine\""), 1);
    for (int k = 0; k < 5; k++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\":\t{", capabilities[k]);
        assert_int_equal(occurrences(result->out, quoted), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_lists_its_capabilities),
        cmocka_unit_test(test_help_fits_eighty_columns_and_names_own_options),
        cmocka_unit_test(test_what_is_not_a_value_is_refused),
        cmocka_unit_test(test_devices_that_are_not_there_are_refused),
        cmocka_unit_test(test_forces_have_a_row_for_each_choice),
        cmocka_unit_test(test_steps_are_of_the_systems_and_the_integrator_asked_for),
        cmocka_unit_test(test_a_law_and_a_method_leave_forces_alone),
        cmocka_unit_test(test_rates_follow_from_the_times),
        cmocka_unit_test(test_pairs_are_those_of_the_systems),
        cmocka_unit_test(test_collisions_are_counted_by_every_method),
        cmocka_unit_test(test_sparse_matrices_are_of_neighbors_or_of_files),
        cmocka_unit_test(test_tables_fit_a_hundred_columns),
        cmocka_unit_test(test_the_environment_chooses_the_instruction_set),
        cmocka_unit_test(test_all_capabilities_make_one_report),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
