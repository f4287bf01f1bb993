/* kith pairs as a user runs it. */

#include "program.h"

#include <stdlib.h>

static const char three[] = "x,y,z\n0.1,0.1,0.1\n0.9,0.1,0.1\n0.5,0.5,0.5\n";

static void test_atoms_with_momenta_and_no_masses_have_pairs(void **state)
{
    (void)state; /* as ASE writes a frame of molecular dynamics */
    program_write("md.xyz", "2\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:"
                            "momenta:R:3 pbc=\"T T T\"\nAr 0 0 0 1 2 3\nAr 3 0 0 3 2 1\n");
    assert_string_equal(program_run("pairs @md.xyz --cutoff 2 --device cpu")->out,
                        "i,j,distance\n0,1,1\n1,0,1\n");
    assert_refused(program_run("run @md.xyz --dt 1 --until 2"), 1, "momenta");
}

static void test_pairs_in_a_box_have_vectors_and_shifts(void **state)
{
    (void)state;
    program_write("three.csv", three);
    assert_succeeded(
        program_run("pairs @three.csv --cutoff 0.3 --box 1,1,1 --vectors -o @near.csv"));
    char *list = program_read("near.csv");
    assert_string_equal(list, "i,j,distance,dx,dy,dz,sx,sy,sz\n"
                              "0,1,0.19999999999999996,-0.19999999999999996,0,0,-1,0,0\n"
                              "1,0,0.19999999999999996,0.19999999999999996,0,0,1,0,0\n");
    free(list);
}

static void test_open_space_has_no_images(void **state)
{
    (void)state;
    program_write("three.csv", three);
    const struct program_result *result = program_run("pairs @three.csv --cutoff 0.3");
    assert_succeeded(result);
    assert_string_equal(result->out, "i,j,distance\n");
    result = program_run("pairs @three.csv --cutoff 0.3 --box 1,1,1 --periodic none");
    assert_string_equal(result->out, "i,j,distance\n");
}

static void test_the_lattice_of_a_file_is_its_cell(void **state)
{
    (void)state;
    program_write("two.xyz", "2\nLattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"T T F\"\n"
                             "Ar 0 0 0\nAr 3.5 0 3.5\n");
    assert_string_equal(program_run("pairs @two.xyz --cutoff 3.6 --vectors --half")->out,
                        "i,j,distance,dx,dy,dz,sx,sy,sz\n"
                        "0,1,3.5355339059327378,-0.5,0,3.5,-1,0,0\n");
    assert_string_equal(program_run("pairs @two.xyz --cutoff 1 --half --periodic xyz")->out,
                        "i,j,distance\n0,1,0.70710678118654757\n");
}

static void test_json_tells_what_was_found(void **state)
{
    (void)state;
    program_write("three.csv", three);
    const char *json = program_run("pairs @three.csv --cutoff 0.3 --box 1,1,1 --json")->out;
    assert_true(program_json_number(json, "particles") == 3);
    assert_true(program_json_number(json, "pairs") == 2);
    assert_true(program_json_number(json, "cutoff") == 0.3);
    assert_true(program_json_number(json, "mean_neighbors") == 2.0 / 3);
    assert_true(program_json_number(json, "max_neighbors") == 1);
    assert_true(program_json_number(json, "seconds") > 0);
    assert_true(program_json_number(json, "pairs_per_second") > 0);
    assert_non_null(strstr(json, "\"device\""));
    assert_non_null(strstr(json, "\"precision\""));
}

static void test_neighbors_are_counted_at_both_ends_of_a_half_list(void **state)
{
    (void)state;
    program_write("three.csv", three);
    for (int counted = 0; counted < 2; counted++) {
        const char *json = program_run("pairs @three.csv --cutoff 1.2 --box 1,1,1 --half --json%s",
                                       counted ? " --count-only" : "")
                               ->out;
        assert_true(program_json_number(json, "pairs") == 31);
        assert_true(program_json_number(json, "mean_neighbors") == 62.0 / 3);
        assert_true(program_json_number(json, "max_neighbors") == 22);
    }
}

static void test_counts_alone_are_one_number(void **state)
{
    (void)state;
    program_write("three.csv", three);
    assert_string_equal(program_run("pairs @three.csv --cutoff 0.3 --box 1,1,1 --count-only")->out,
                        "2\n");
}

static void test_the_nearest_are_listed_by_distance(void **state)
{
    (void)state;
    program_write("line.csv", "x,y\n0,0\n1,0\n3,0\n");
    assert_string_equal(program_run("pairs @line.csv --nearest 5")->out,
                        "i,j,distance\n0,1,1\n0,2,3\n1,0,1\n1,2,2\n2,1,2\n2,0,3\n");
}

/* The records of structured NPY files are as long as their columns together. */
static void test_npy_files_are_structured_arrays(void **state)
{
    (void)state;
    program_write("line.csv", "x,y\n0,0\n1,0\n3,0\n");
    assert_succeeded(program_run("pairs @line.csv --cutoff 1.5 --vectors -o @line.npy"));
    FILE *stream = fopen(program_file("line.npy"), "rb");
    unsigned char content[512] = {0};
    const size_t bytes = fread(content, 1, sizeof content, stream);
    fclose(stream);
    const size_t header = 10 + content[8] + 256 * (size_t)content[9];
    assert_non_null(strstr((const char *)content + 10,
                           "{'descr': [('i', '<i8'), ('j', '<i8'), ('distance', '<f8'), ('dx', "
                           "'<f8'), ('dy', '<f8'), ('dz', '<f8'), ('sx', '<i8'), ('sy', '<i8'), "
                           "('sz', '<i8')], 'fortran_order': False, 'shape': (2,), }"));
    assert_int_equal(header % 64, 0);
    assert_int_equal(bytes, header + 2 * 9 * 8);
    double dx = 0;
    memcpy(&dx, content + header + 72 + 24, sizeof dx);
    assert_true(dx == -1);
}

static void test_wrong_usage_is_refused(void **state)
{
    (void)state;
    program_write("three.csv", three);
    assert_refused(program_run("pairs @three.csv"), 2, "--cutoff");
    assert_refused(program_run("pairs @three.csv --cutoff 0"), 2, "--cutoff 0");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --box 1,2"), 1, "--box 2");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --box 1"), 2, "--box 1");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --cell 1,2,3"), 2, "--cell 3");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --periodic xw"), 2, "--periodic");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --periodic xx"), 2, "--periodic");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --vectors -o @three.mtx"), 2,
                   "--vectors");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --periodic xy"), 1, "--periodic");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --cell 1,0,0,0,1,0,1,1,0"), 1,
                   "dependent");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --memory 100"), 1, "--memory 100");
    assert_refused(program_run("pairs @three.csv --cutoff 1 -o @list.xyz"), 2, "list.xyz");
    assert_refused(program_run("pairs @three.csv --cutoff 1 --json -o -"), 2, "standard");
}

static void test_bench_tells_times_and_rates_of_its_systems(void **state)
{
    (void)state;
    const struct program_result *result =
        program_run("bench pairs cube square vectors plummer nearest -n 60 --seconds 0.01 --json");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, "\"square\""));
    assert_non_null(strstr(result->out, "\"points\":\t60"));
    assert_true(program_json_number(result->out, "pairs_per_second") > 0);
    assert_succeeded(program_run("bench pairs cube -n 60,61 --seconds 0.01"));
    assert_refused(program_run("bench pairs cubes"), 2, "'cubes'");
    assert_refused(program_run("bench pairs -n 0"), 2, "-n 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_with_momenta_and_no_masses_have_pairs),
        cmocka_unit_test(test_pairs_in_a_box_have_vectors_and_shifts),
        cmocka_unit_test(test_open_space_has_no_images),
        cmocka_unit_test(test_the_lattice_of_a_file_is_its_cell),
        cmocka_unit_test(test_json_tells_what_was_found),
        cmocka_unit_test(test_neighbors_are_counted_at_both_ends_of_a_half_list),
        cmocka_unit_test(test_counts_alone_are_one_number),
        cmocka_unit_test(test_the_nearest_are_listed_by_distance),
        cmocka_unit_test(test_npy_files_are_structured_arrays),
        cmocka_unit_test(test_wrong_usage_is_refused),
        cmocka_unit_test(test_bench_tells_times_and_rates_of_its_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
