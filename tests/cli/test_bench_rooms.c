/* kith bench of every capability: beside other programs, what is measured of which matrices, and
 * what is refused; never how fast. */

#include "testing.h"

#include <stdlib.h>

#include "stand_in.h"

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

static void test_other_programs_of_every_capability_are_measured_beside_kith(void **state)
{
    (void)state;
    static const char *const words[] = {"kith bench: sparse, 5 of 5", "wrote "};
    static const char *const names[] = {"rebound",        "vesin", "scipy", "matscipy",
                                        "freud-analysis", "numpy", "mkl"};
    write_stand_in("echo version 9.8", a_second_a_call);
    setenv("KITH_PYTHON", program_file("python"), 1);
    const struct program_result *result =
        program_run("bench --quick --seconds 0.0005 --threads 2 --peers -o @page.html");
    unsetenv("KITH_PYTHON");
    assert_succeeded(result);
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        assert_has(result->err, words[k]);
    assert_has(result->out, "scipy 9.8, mkl 9.8");
    char *page = program_read("page.html");
    assert_non_null(page);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        assert_has(page, names[k]);
    free(page);
}

static void test_times_of_other_programs_are_in_the_json(void **state)
{
    (void)state;
    write_stand_in("echo version 9.8", a_second_a_call);
    const struct program_result *result =
        program_run("bench pairs cube vectors -n 9 --seconds 1e-6 --peers --python @python --json");
    assert_succeeded(result);
    assert_has(result->out, "\"freud-analysis\":\t\"9.8\"");
    const char *seconds = strstr(result->out, "\"peer_seconds\"");
    assert_non_null(seconds);
    assert_true(program_json_number(seconds, "vesin") == 1);
    assert_true(program_json_number(seconds, "ratio") > 1);
    result =
        program_run("bench collisions -n 9 --seconds 1e-6 --quick --peers --python @python --json");
    assert_succeeded(result);
    assert_has(result->out, "numpy unique");
    assert_has(result->out, "plain double loop");
    assert_has(result->out, "qsort");
    result = program_run("bench sparse arrow --quick --seconds 1e-6 --peers --python @python "
                         "--json");
    assert_succeeded(result);
    assert_true(program_json_number(strstr(result->out, "\"peer_seconds\""), "mkl") == 1);
}

static void test_programs_that_fail_are_told_with_their_words(void **state)
{
    (void)state;
    static const struct {
        const char *peer, *time, *command, *words;
    } cases[] = {
        {"echo version 1", "echo error a storm", "collisions -n 9", "cannot time numpy: a storm"},
        {"echo version 1", "echo seconds -1", "pairs cube -n 9", "cannot time vesin"},
        {"echo version 1", "echo seconds fast", "pairs cube -n 9", "cannot time vesin"},
        {"exit", "", "pairs cube -n 9", "does not take the system: it ended without an answer"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        write_stand_in(cases[k].peer, cases[k].time);
        const struct program_result *result =
            program_run("bench %s --seconds 1e-6 --quick --peers --python @python --json --quiet",
                        cases[k].command);
        assert_refused(result, 1, cases[k].words);
    }
    write_stand_in("echo error it rains", "");
    const struct program_result *result =
        program_run("bench pairs cube -n 9 --seconds 1e-6 --peers --python @python --json");
    assert_succeeded(result);
    assert_has(result->err, "vesin is left out");
    assert_has(result->err, "says: it rains");
    for (const char *const *room = (const char *const[]){"pairs", "sparse", "collisions", NULL};
         *room; room++)
        assert_refused(program_run("bench %s --peers --python @none --quick --json", *room), 1,
                       "name a Python with --python");
}

static void test_every_kind_of_matrix_is_made(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int rows, columns;
    } kinds[] = {{"blocks", 15000, 15000},
                 {"arrow", 20000, 20000},
                 {"dense-row", 20000, 20000},
                 {"tall", 40000, 40},
                 {"wide", 40, 40000}};
    const struct program_result *result = program_run(
        "bench sparse blocks arrow dense-row tall wide --quick --tune --seconds 1e-6 --json");
    assert_succeeded(result);
    const char *at = result->out;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"matrix\":\t\"%s\"", kinds[k].name);
        at = strstr(at, quoted);
        assert_non_null(at);
        assert_true(program_json_number(at, "rows") == kinds[k].rows);
        assert_true(program_json_number(at, "columns") == kinds[k].columns);
    }
}

static void test_each_room_refuses_what_it_cannot(void **state)
{
    (void)state;
    static const char many[] =
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
    assert_refused(program_run("bench forces -n %s", many), 2, "-n has more than 64 numbers");
    assert_refused(program_run("bench forces --threads %.39s", many), 2, "more than 16 numbers");
    assert_refused(program_run("bench forces --isa v2,v2,v2,v2,v2,v2,v2,v2,v2"), 2,
                   "--isa has more than");
    assert_refused(program_run("bench forces -n ,8"), 2, "',8' is no list");
    assert_refused(program_run("bench pairs -n 1000000000"), 2, "-n is 1000000000");
    assert_refused(program_run("bench forces --law yukawa:1 --peers"), 2, "--peers is for gravity");
    assert_refused(program_run("bench forces --law yukawa:1 --systems 3"), 2,
                   "--systems is for gravity");
    assert_refused(program_run("bench forces --method split --systems 3"), 2, "--method is not");
    assert_refused(program_run("bench matrix more"), 2, "'more' is too much");
    assert_refused(program_run("bench collisions more"), 2, "'more' is too much");
    assert_refused(program_run("bench pairs cbue"), 2, "did you mean 'cube'?");
    assert_refused(program_run("bench pairs cube cube cube cube cube cube cube cube cube"), 2,
                   "more than 8 systems");
    char names[33 * 2 + 1];
    for (size_t k = 0; k < 33; k++)
        memcpy(names + 2 * k, "a ", 3);
    assert_refused(program_run("bench sparse %s", names), 2, "more than 32 matrices");
    assert_refused(program_run("bench --compare a b c"), 2, "'c' is a third file");
    assert_refused(program_run("bench --quick a.json"), 2, "name a capability first");
    assert_refused(program_run("bench matrix --device cuda:999"), 1, "device is cuda");
    assert_refused(program_run("bench collisions --device cuda:999"), 1, "device is cuda");
    assert_refused(program_run("bench pairs --device cuda:999"), 1, "device is cuda");
    assert_refused(program_run("bench sparse --device cuda:999"), 1, "device is cuda");
    assert_refused(program_run("bench collisions -n 9 --plot /no/such/p.png"), 1, "/no/such");
}

static void test_laws_and_methods_are_those_asked_for(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench forces -n 8 --method split --threads 1 --seconds 1e-6 --json");
    assert_succeeded(result);
    assert_null(strstr(result->out, "\"steps_per_second\""));
    assert_succeeded(program_run("bench forces -n 8 --law yukawa:1 --threads 1 --seconds 1e-6"));
    assert_succeeded(program_run("bench matrix -n 64 --seconds 1e-6 --threads 2"));
    assert_succeeded(program_run("bench matrix -n 64 --seconds 1e-6 --precision double --json"));
    result = program_run("bench pairs cube nearest -n 9 --unsorted --narrow --seconds 1e-6 --json");
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "index_bits") == 32);
    assert_has(result->out, "\"sorted\":\tfalse");
    result = program_run("bench pairs cube -n 9 --seconds 1e-6");
    assert_has(result->out, "sorted, i and j of 64 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_programs_of_every_capability_are_measured_beside_kith),
        cmocka_unit_test(test_times_of_other_programs_are_in_the_json),
        cmocka_unit_test(test_programs_that_fail_are_told_with_their_words),
        cmocka_unit_test(test_every_kind_of_matrix_is_made),
        cmocka_unit_test(test_each_room_refuses_what_it_cannot),
        cmocka_unit_test(test_laws_and_methods_are_those_asked_for),
    };
    return cmocka_run_group_tests_name("bench_rooms", tests, NULL, NULL);
}
