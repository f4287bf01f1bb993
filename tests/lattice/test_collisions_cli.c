/* kith collisions and the lattice kinds of kith make. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "program.h"

static void test_collisions_prints_the_count_alone(void **state)
{
    (void)state;
    program_write("seed.csv", "x,y,z\n0,0,0\n0,0,0\n1,1,1\n1,1,1\n");
    const struct program_result *result = program_run("collisions @seed.csv --device cpu");
    assert_succeeded(result);
    assert_string_equal(result->out, "2\n");
    assert_string_equal(result->err, "");
}

static void test_collisions_json_has_its_keys(void **state)
{
    (void)state;
    program_write("square.csv", "x,y\n0,0\n1,0\n1,1\n0,1\n0,1\n");
    const struct program_result *result =
        program_run("collisions @square.csv --device cpu --contacts --json");
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "beads") == 5);
    assert_true(program_json_number(result->out, "collisions") == 1);
    assert_true(program_json_number(result->out, "sites") == 4);
    assert_true(program_json_number(result->out, "max_at_site") == 2);
    assert_true(program_json_number(result->out, "contacts") == 3);
    assert_true(program_json_number(result->out, "seconds") >= 0);
    assert_non_null(strstr(result->out, "\"method\":\t\"linear\""));
    assert_non_null(strstr(result->out, "\"device\":\t\"cpu\""));
}

static void test_collisions_lists_pairs_in_order(void **state)
{
    (void)state;
    program_write("three.csv", "x,y,z\n5,0,0\n-7,2,1\n5,0,0\n-7,2,1\n5,0,0\n");
    assert_succeeded(program_run("collisions @three.csv --device cpu --list @pairs.csv"));
    char *text = program_read("pairs.csv");
    assert_string_equal(text, "i,j\n0,2\n0,4\n1,3\n2,4\n");
    free(text);
}

static void test_every_method_counts_a_walk_alike(void **state)
{
    (void)state;
    int64_t methods = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&methods);
    assert_succeeded(program_run("make lattice-walk -n 2000 --seed 5 -o @walk.npy"));
    const int64_t expected =
        atoll(program_run("collisions @walk.npy --device cpu --method reference")->out);
    assert_true(expected > 100);
    for (int64_t k = 0; k < methods; k++)
        assert_int_equal(
            atoll(program_run("collisions @walk.npy --device cpu --method %s", list[k].name)->out),
            expected);
}

static void test_self_avoiding_walks_have_no_collisions(void **state)
{
    (void)state;
    assert_succeeded(program_run("make self-avoiding-walk -n 300 --seed 9 -o @saw.csv"));
    assert_string_equal(program_run("collisions @saw.csv --device cpu")->out, "0\n");
    assert_succeeded(program_run("make self-avoiding-walk -n 30 -d 2 --batch 3 -o @saws.npy"));
    assert_string_equal(program_run("collisions @saws.npy --device cpu --batch")->out, "0\n0\n0\n");
}

static void test_a_batch_prints_a_count_a_line(void **state)
{
    (void)state;
    assert_succeeded(program_run("make lattice-walk -n 50 --seed 4 --batch 3 -o @walks.npy"));
    long long count[3] = {0}, line[3] = {-1, -1, -1};
    for (int k = 0; k < 3; k++) {
        assert_succeeded(program_run("make lattice-walk -n 50 --seed %d -o @one.csv", 4 + k));
        count[k] = atoll(program_run("collisions @one.csv --device cpu")->out);
    }
    const char *out = program_run("collisions @walks.npy --device cpu --batch")->out;
    assert_int_equal(sscanf(out, "%lld\n%lld\n%lld\n", &line[0], &line[1], &line[2]), 3);
    assert_memory_equal(line, count, sizeof line);
    const struct program_result *result =
        program_run("collisions @walks.npy --device cpu --batch --contacts --json");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"collisions\":\t["));
    assert_non_null(strstr(result->out, "\"contacts\":\t["));
}

static void test_a_chain_is_drawn(void **state)
{
    (void)state;
    program_write("hp.xyz", "4\n\nH 0 0 0\nP 1 0 0\nP 1 1 0\nH 0 1 0\n");
    assert_succeeded(program_run("plot @hp.xyz --what chain -q -o @hp.svg"));
    char *picture = program_read("hp.svg");
    assert_non_null(strstr(picture, "</svg>"));
    free(picture);
    program_write("none.csv", "x,y,z\n");
    assert_refused(program_run("plot @none.csv --what chain -o @none.svg"), 1, "0 beads");
}

/* The far bead is paler, and drawn before the near one, wherever they stand in the file. */
static void test_near_beads_hide_far_ones(void **state)
{
    (void)state;
    static const char *const files[] = {"2\n\nH 0 0 0\nP 0 0 1\n", "2\n\nP 0 0 1\nH 0 0 0\n"};
    static const char *const far_colors[] = {"rgb(102, 170, 209)", "rgb(230, 158, 102)"};
    static const char *const near_colors[] = {"rgb(213,  94,   0)", "rgb(  0, 114, 178)"};
    for (int k = 0; k < 2; k++) {
        program_write("near.xyz", files[k]);
        assert_succeeded(program_run("plot @near.xyz --what chain -q -o @near.svg"));
        char *picture = program_read("near.svg");
        const char *far = strstr(picture, far_colors[k]), *near = strstr(picture, near_colors[k]);
        assert_non_null(far);
        assert_non_null(near);
        assert_true(far < near);
        assert_null(strstr(near, far_colors[k]));
        free(picture);
    }
}

static void test_wrong_input_is_refused(void **state)
{
    (void)state;
    program_write("half.csv", "x,y,z\n1,2,3\n1.5,2,2\n");
    assert_refused(program_run("collisions @half.csv --device cpu"), 1, "row 1");
    assert_refused(program_run("collisions"), 2, "FILE");
    assert_refused(program_run("collisions a.csv --method magic"), 2, "--method 'magic'");
    assert_refused(program_run("collisions a.csv --sequence HH"), 2, "--contacts");
    assert_refused(program_run("collisions a.csv --batch --list b.csv"), 2, "--list");
    assert_refused(program_run("make lattice-walk -n 5 --batch 2"), 2, "-o");
    program_write("two.csv", "x,y\n0,0\n0,1\n");
    assert_refused(program_run("collisions @two.csv --device cpu --contacts --sequence HPH"), 1,
                   "3 2");
    assert_succeeded(program_run("make lattice-walk -n 5 --batch 2 -o @b.npy"));
    assert_refused(program_run("collisions @b.npy --device cpu"), 1, "--batch");
}

static void test_numbers_that_reals_do_not_hold_are_refused(void **state)
{
    (void)state; /* as doubles, both beads would be at 2^53 */
    program_write("far.csv", "x,y,z\n9007199254740993,0,0\n9007199254740992,0,0\n");
    assert_refused(program_run("collisions @far.csv --device cpu"), 1, "row 0");
    program_write("near.csv", "x,y\n9007199254740991,0\n9007199254740991,0\n");
    assert_string_equal(program_run("collisions @near.csv --device cpu")->out, "1\n");
}

static void test_beads_may_be_column_by_column(void **state)
{
    (void)state; /* (5, 1), (6, 1), (5, 1) as numpy.save writes a transposed array */
    static const char header[] = "\x93NUMPY\x01\0\x46\0{'descr': '<i4', 'fortran_order': True, "
                                 "'shape': (3, 2), }           \n";
    const int32_t numbers[] = {5, 6, 5, 1, 1, 1};
    FILE *stream = fopen(program_file("turned.npy"), "w");
    fwrite(header, sizeof header - 1, 1, stream);
    fwrite(numbers, sizeof numbers, 1, stream);
    fclose(stream);
    const struct program_result *result =
        program_run("collisions @turned.npy --device cpu --list @turned.csv");
    assert_succeeded(result);
    char *text = program_read("turned.csv");
    assert_string_equal(text, "i,j\n0,2\n");
    free(text);
}

static void test_lists_never_replace_the_beads_or_join_json(void **state)
{
    (void)state;
    program_write("same.csv", "x,y\n0,0\n0,0\n");
    assert_refused(program_run("collisions @same.csv --device cpu --list @same.csv"), 1, "output");
    assert_string_equal(program_run("collisions @same.csv --device cpu")->out, "1\n");
    assert_refused(program_run("collisions @same.csv --json --list -"), 2, "standard");
    assert_refused(program_run("make lattice-walk -n 5 --batch 2 -o walks.csv"), 2, ".npy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collisions_prints_the_count_alone),
        cmocka_unit_test(test_collisions_json_has_its_keys),
        cmocka_unit_test(test_collisions_lists_pairs_in_order),
        cmocka_unit_test(test_every_method_counts_a_walk_alike),
        cmocka_unit_test(test_self_avoiding_walks_have_no_collisions),
        cmocka_unit_test(test_a_batch_prints_a_count_a_line),
        cmocka_unit_test(test_a_chain_is_drawn),
        cmocka_unit_test(test_near_beads_hide_far_ones),
        cmocka_unit_test(test_numbers_that_reals_do_not_hold_are_refused),
        cmocka_unit_test(test_beads_may_be_column_by_column),
        cmocka_unit_test(test_lists_never_replace_the_beads_or_join_json),
        cmocka_unit_test(test_wrong_input_is_refused),
    };
    return cmocka_run_group_tests_name("collisions_cli", tests, NULL, NULL);
}
