/* kith bench: what it measures and tells, whom it compares with; never how fast. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "stand_in.h"

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

static void test_bench_lists_its_capabilities(void **state)
{
    (void)state;
    const struct program_result *result = program_run("bench --help");
    assert_succeeded(result);
    assert_has(result->out, "forces");
    assert_refused(program_run("bench juggling"), 2, "'juggling' is no capability");
}

static void test_bench_help_fits_eighty_columns(void **state)
{
    (void)state;
    const struct program_result *result = program_run("bench forces --help");
    assert_succeeded(result);
    for (const char *line = result->out; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > 80)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void test_bench_forces_refuses_what_is_no_list(void **state)
{
    (void)state;
    assert_refused(program_run("bench forces file.csv"), 2, "'file.csv' is too much");
    assert_refused(program_run("bench forces -n 0"), 2, "-n is 0");
    assert_refused(program_run("bench forces -n many"), 2, "-n is 'many'");
    assert_refused(program_run("bench forces -n 8,,16"), 2, "'8,,16' is no list");
    assert_refused(program_run("bench forces -n 8,"), 2, "'8,' is no list");
    assert_refused(program_run("bench forces --threads 1,0"), 2, "--threads is 0");
    assert_refused(program_run("bench forces --isa v9"), 2, "--isa is 'v9'");
    assert_refused(program_run("bench forces --precision half"), 2, "--precision is 'half'");
    assert_refused(program_run("bench forces --seconds 0"), 2, "--seconds is 0");
    assert_refused(program_run("bench forces --systems 0"), 2, "--systems is 0");
    assert_refused(program_run("bench forces --integrator leap"), 2, "--integrator is 'leap'");
    assert_refused(program_run("bench forces --integrator rk4 --peers"), 2,
                   "--peers do leapfrog steps");
}

static void test_bench_forces_refuses_devices_that_are_not_there(void **state)
{
    (void)state;
    assert_refused(program_run("bench forces --device cuda:1000 -n 6"), 1, "device is cuda");
    assert_refused(program_run("bench forces --device gpu"), 2, "--device is 'gpu'");
}

static void test_bench_forces_refuses_choices_of_the_cpu_on_a_gpu(void **state)
{
    (void)state;
    assert_refused(
        program_run("bench forces --device cuda --isa %s", kith_isa_list(&(int64_t){0})->name), 2,
        "--isa is for the CPU");
    assert_refused(program_run("bench forces --threads 2 --device cuda"), 2,
                   "--threads is for the CPU");
    assert_refused(program_run("bench forces --device cuda:1 --peers"), 2,
                   "--peers are programs of the CPU");
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

static void test_bench_forces_has_a_row_for_each_choice(void **state)
{
    (void)state;
    const struct program_result *result = program_run(
        "bench forces -n 6,100 --isa %s --threads 1,3 --seconds 0.001 --json", some_isa());
    assert_succeeded(result);
    assert_string_equal(result->err, "");
    assert_int_equal(result->out[0], '{');
    /* Forces: two numbers of bodies, two precisions, two numbers of threads. Steps of six bodies:
     * alone by one thread, as an ensemble by each number. */
    assert_int_equal(occurrences(result->out, "\"interactions_per_second\""), 8);
    assert_int_equal(occurrences(result->out, "\"steps_per_second\""), 6);
    assert_int_equal(occurrences(result->out, "\"time_ratio_to_one_thread\""), 6);
    assert_int_equal(occurrences(result->out, "\"program\":\t\"kith\""), 14);
    static const char *const keys[] = {"processor",
                                       "compiler",
                                       "cores",
                                       "forces",
                                       "best_seconds",
                                       "percent_of_limit",
                                       "gflops",
                                       "repetitions",
                                       "cores_busy_with_other_programs",
                                       "worst_time_ratio_to_one_thread"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\":", keys[k]);
        assert_has(result->out, quoted);
    }
}

static void test_ensembles_have_as_many_systems_as_asked_for(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 3 --systems 1500 --precision single --threads 1 --isa %s "
                    "--seconds 0.001 --json",
                    some_isa());
    assert_succeeded(result);
    const char *steps = strstr(result->out, "\"steps\"");
    assert_non_null(steps);
    assert_int_equal(occurrences(steps, "\"systems\":\t1,"), 1);
    assert_int_equal(occurrences(steps, "\"systems\":\t1500"), 1);
}

static void test_steps_are_of_the_integrator_asked_for(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 8 --seconds 0.001 --threads 1 --integrator pefrl --quiet");
    assert_succeeded(result);
    assert_has(result->out, "Steps of pefrl");
    result = program_run("bench forces -n 8 --seconds 0.001 --threads 1 --integrator rk4 --json");
    assert_succeeded(result);
    assert_has(result->out, "\"rk4\"");
}

static void test_rates_follow_from_the_times(void **state)
{
    (void)state;
    const struct program_result *result = program_run(
        "bench forces -n 100 --precision double --isa %s --threads 1 --seconds 0.001 --json",
        some_isa());
    assert_succeeded(result);
    const double seconds = program_json_number(result->out, "seconds");
    const double rate = program_json_number(result->out, "interactions_per_second");
    assert_true(seconds > 0);
    assert_true(fabs(rate * seconds - 1e4) < 1e-6);
    assert_true(fabs(program_json_number(result->out, "gflops") - 20e-9 * rate) < 1e-9 * rate);
    assert_true(program_json_number(result->out, "best_seconds") <= seconds);
}

static void test_rows_that_take_too_long_are_left_out_and_named(void **state)
{
    (void)state;
    const struct program_result *result = program_run(
        "bench forces -n 262144 --precision double --threads 1 --seconds 0.0001 --isa %s",
        some_isa());
    assert_succeeded(result);
    assert_has(result->out, "262144  kith");
    assert_has(result->out, "left out");
}

static void test_the_table_fits_a_hundred_columns(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 6,500 --seconds 0.001 --threads 1,2");
    assert_succeeded(result);
    for (const char *line = result->out; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length > 100 || (length > 0 && line[length - 1] == ' '))
            fail_msg("%zu columns: '%.*s'", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void test_the_environment_chooses_the_instruction_set(void **state)
{
    (void)state;
    setenv("KITH_ISA", some_isa(), 1);
    const struct program_result *result =
        program_run("bench forces -n 2 --precision single --threads 1 --seconds 0.0001 --json");
    assert_succeeded(result);
    assert_int_equal(occurrences(result->out, "\"interactions_per_second\""), 1);
    setenv("KITH_ISA", "v9", 1);
    assert_refused(program_run("bench forces -n 2"), 1, "KITH_ISA is 'v9'");
    unsetenv("KITH_ISA");
}

static const char only_rebound[] =
    "case $name in rebound) echo version 9.8 ;; *) echo missing ;; esac";

static void test_peers_are_measured_beside_kith(void **state)
{
    (void)state;
    write_stand_in(only_rebound, a_second_a_call);
    const struct program_result *result = program_run(
        "bench forces -n 8 --seconds 0.001 --threads 1 --isa %s --peers --python @python --json",
        some_isa());
    if (result->exit_code != 0)
        fail_msg("exit code %d; stderr: %s", result->exit_code, result->err);
    assert_has(result->err, "pytreegrav is not installed");
    assert_has(result->err, "-m pip install pytreegrav");
    /* Every call takes the stand-in a second: forces and steps. */
    const char *peer = strstr(result->out, "\"rebound\"");
    assert_non_null(peer);
    assert_has(peer, "\"version\":\t\"9.8\"");
    assert_true(program_json_number(peer, "seconds") == 1);
    assert_true(program_json_number(peer, "interactions_per_second") == 64);
    assert_true(program_json_number(peer, "time_ratio_to_kith") > 1);
    assert_int_equal(occurrences(result->out, "\"rebound\""), 2);
    assert_int_equal(occurrences(result->out, "\"plain C loop\""), 1);
}

/* Whether the peers are there or not, what is put into kith of bench/ answers. */
static void test_a_python_runs_the_script_and_what_it_imports(void **state)
{
    (void)state;
    if (system("python3 -c pass >/dev/null 2>&1") != 0)
        skip();
    const struct program_result *result =
        program_run("bench forces -n 8 --seconds 0.001 --threads 1 --peers --python python3");
    assert_succeeded(result);
    assert_int_equal(occurrences(result->err, "left out"), 0);
}

static void test_a_peer_that_fails_is_an_error_with_its_words(void **state)
{
    (void)state;
    write_stand_in(only_rebound, "echo error out of luck");
    program_run("bench forces -n 8 --seconds 0.001 --threads 1 --peers --python @python --json");
    const struct program_result *result = program_run(
        "bench forces -n 8 --seconds 0.001 --threads 1 --peers --python @python --json --quiet");
    assert_refused(result, 1, "cannot time rebound: out of luck");
    write_stand_in(only_rebound, "exit");
    assert_refused(program_run("bench forces -n 8 --seconds 0.001 --peers --python @python -q"), 1,
                   "ended without an answer");
    assert_refused(program_run("bench forces -n 8 --peers --python @no-such-python -q"), 1,
                   "name a Python with --python");
}

static void test_all_capabilities_make_a_page_and_json(void **state)
{
    (void)state;
    static const char *const capabilities[] = {"Forces", "Matrix", "Pairs", "Collisions", "Sparse"};
    const struct program_result *result =
        program_run("bench --quick --seconds 0.0005 --quiet --json -o @page.html");
    assert_succeeded(result);
    assert_has(result->out, "\"instruction_set\"");
    assert_has(result->out, "\"memory_bytes\"");
    assert_int_equal(occurrences(result->out, "\"machine\""), 1);
    char *page = program_read("page.html");
    for (int k = 0; k < 5; k++) {
        char heading[32];
        snprintf(heading, sizeof heading, "<h2>%s</h2>", capabilities[k]);
        assert_int_equal(occurrences(page, heading), 1);
    }
    assert_int_equal(occurrences(page, "<svg"), occurrences(page, "</svg>"));
    assert_true(occurrences(page, "<svg") >= 14);
    assert_int_equal(occurrences(page, "http"), 0); /* all is in it */
    assert_int_equal(occurrences(page, "nan"), 0);
    assert_has(page, "</html>");
    free(page);
}

static void test_two_machines_are_compared(void **state)
{
    (void)state;
    program_write("a.json",
                  "{\"machine\": {\"processor\": \"Old\", \"cores\": 2}, \"quick\": false, "
                  "\"capabilities\": {\"collisions\": {\"rows\": ["
                  "{\"method\": \"hash\", \"kind\": \"walk\", \"beads\": 100, "
                  "\"beads_per_second\": 2e6}, {\"method\": \"sort\", \"kind\": "
                  "\"walk\", \"beads\": 100, \"beads_per_second\": 5e6}]}}}");
    program_write("b.json", "{\"machine\": {\"processor\": \"New\", \"cores\": 8}, \"capability\": "
                            "\"collisions\", \"rows\": [{\"method\": \"hash\", \"kind\": \"walk\", "
                            "\"beads\": 100, \"beads_per_second\": 3e6}]}");
    const struct program_result *result = program_run("bench --compare @a.json @b.json");
    assert_succeeded(result);
    assert_has(result->out, "Old");
    assert_has(result->out, "2 M       3 M    1.50");
    assert_has(result->out, "B is 1.50 times as fast");
    assert_has(result->out, "1 figures of A and 0 of B have no counterpart");
    const char *json = program_run("bench --compare @a.json @b.json --json")->out;
    assert_true(program_json_number(json, "ratio") == 1.5);
}

static void test_files_that_do_not_fit_are_not_compared(void **state)
{
    (void)state;
    program_write("a.json", "{\"capability\": \"collisions\", \"rows\": [{\"method\": \"hash\", "
                            "\"kind\": \"walk\", \"beads\": 100, \"beads_per_second\": 3e6}]}");
    program_write("b.json", "{\"capability\": \"collisions\", \"rows\": [{\"method\": \"hash\", "
                            "\"kind\": \"walk\", \"beads\": 200, \"beads_per_second\": 3e6}]}");
    program_write("quick.json", "{\"capability\": \"collisions\", \"quick\": true, \"rows\": "
                                "[{\"method\": \"hash\", \"kind\": \"walk\", \"beads\": 100, "
                                "\"beads_per_second\": 3e6}]}");
    program_write("other.json", "{\"pairs\": 3}");
    program_write("text.json", "no figures");
    program_write("empty.json", "");
    assert_refused(program_run("bench --compare @a.json @b.json"), 1, "no figure in common");
    assert_refused(program_run("bench --compare @a.json @quick.json"), 1, "--quick");
    assert_refused(program_run("bench --compare @a.json @other.json"), 1,
                   "other.json has no figures");
    assert_refused(program_run("bench --compare @text.json @a.json"), 1,
                   "text.json has no figures");
    assert_refused(program_run("bench --compare @empty.json @a.json"), 1, "empty.json has no");
    assert_refused(program_run("bench --compare @a.json @none.json"), 1,
                   "none.json: cannot be read");
    assert_refused(program_run("bench --compare @a.json"), 2, "--compare needs two files");
    assert_refused(program_run("bench --json -o -"), 2, "standard output");
    assert_refused(program_run("bench --device cuda:1000"), 1, "cuda");
    assert_refused(program_run("bench --device cuda --peers"), 2, "programs of the CPU");
    assert_refused(program_run("bench sparse --device cuda --peers"), 2, "programs of the CPU");
}

static void test_sparse_matrices_of_files_are_measured(void **state)
{
    (void)state;
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n3 1 4\n"
                           "3 3 1\n");
    const struct program_result *result = program_run("bench sparse @a.mtx --seconds 0.001 --json");
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "nonzeros") == 4);
    assert_refused(program_run("bench sparse @none.mtx --seconds 0.001"), 1, "none.mtx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_lists_its_capabilities),
        cmocka_unit_test(test_bench_help_fits_eighty_columns),
        cmocka_unit_test(test_bench_forces_refuses_what_is_no_list),
        cmocka_unit_test(test_bench_forces_refuses_devices_that_are_not_there),
        cmocka_unit_test(test_bench_forces_refuses_choices_of_the_cpu_on_a_gpu),
        cmocka_unit_test(test_bench_forces_has_a_row_for_each_choice),
        cmocka_unit_test(test_ensembles_have_as_many_systems_as_asked_for),
        cmocka_unit_test(test_steps_are_of_the_integrator_asked_for),
        cmocka_unit_test(test_rates_follow_from_the_times),
        cmocka_unit_test(test_rows_that_take_too_long_are_left_out_and_named),
        cmocka_unit_test(test_the_table_fits_a_hundred_columns),
        cmocka_unit_test(test_the_environment_chooses_the_instruction_set),
        cmocka_unit_test(test_peers_are_measured_beside_kith),
        cmocka_unit_test(test_a_python_runs_the_script_and_what_it_imports),
        cmocka_unit_test(test_a_peer_that_fails_is_an_error_with_its_words),
        cmocka_unit_test(test_all_capabilities_make_a_page_and_json),
        cmocka_unit_test(test_two_machines_are_compared),
        cmocka_unit_test(test_files_that_do_not_fit_are_not_compared),
        cmocka_unit_test(test_sparse_matrices_of_files_are_measured),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
