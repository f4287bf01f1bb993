#include "testing.h"

#include "testing_files.h"

static void give_cell(struct random_numbers *numbers, kith_bodies *bodies)
{
    bodies->has_cell = true;
    bodies->time = random_real(numbers);
    fill_randomly(numbers, bodies->cell, 9);
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = random_uniform(numbers, 0, 1) < 0.5;
}

static void test_xyz_keeps_every_bit_and_the_cell(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("xyz");
    static const int64_t counts[] = {0, 1, 2, 1023, 5000};
    for (int k = 0; k < 5; k++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            const unsigned columns = k % 2 ? KITH_VELOCITY | KITH_MASS | KITH_CHARGE |
                                                 KITH_SOFTENING | KITH_RADIUS | KITH_ID | KITH_NAME
                                           : KITH_VELOCITY;
            kith_bodies *bodies = random_bodies(&numbers, counts[k], dimensions, columns);
            give_cell(&numbers, bodies);
            assert_round_trip(bodies, "all.xyz");
            kith_bodies *found = read_file(in_files("all.xyz"));
            assert_true(found->has_cell);
            assert_memory_equal(found->cell, bodies->cell, sizeof bodies->cell);
            assert_memory_equal(found->periodic, bodies->periodic, sizeof bodies->periodic);
            assert_memory_equal(&found->time, &bodies->time, sizeof bodies->time);
            kith_bodies_free(found);
            kith_bodies_free(bodies);
        }
}

static void test_xyz_plain_is_symbol_and_position(void **state)
{
    (void)state;
    kith_bodies *bodies = read_file(file_of_text("plain.xyz", "2\nwater? time=\"12:30 pbc=no\n"
                                                              "  O 0 0 0.5\r\nH\t1 2 3\n\n \n"));
    assert_int_equal(bodies->count, 2);
    assert_int_equal(bodies->dimensions, 3);
    assert_string_equal(bodies->name[1], "H");
    assert_true(bodies->position[2] == 0.5 && bodies->position[5] == 3);
    assert_false(bodies->has_cell);
    assert_null(bodies->velocity);
    kith_bodies_free(bodies);
}

static void test_xyz_reads_properties_in_any_order_and_skips_the_unknown(void **state)
{
    (void)state;
    kith_bodies *bodies = read_file(file_of_text(
        "order.extxyz", "1\nenergy=-1.5 Properties=id:I:1:forces:R:3:vel:R:3:pos:R:3:fixed:L:1:"
                        "mass:I:1:label:S:1:charges:R:1:softening:R:1 note=\"a \\\" pbc=maybe \" "
                        "Time=2.5\n9 7 7 7 4 5 6 1 2 3 T 10 abc -1 0.25\n"));
    assert_int_equal(bodies->id[0], 9);
    for (int k = 0; k < 3; k++) {
        assert_true(bodies->position[k] == k + 1);
        assert_true(bodies->velocity[k] == k + 4);
    }
    assert_true(bodies->mass[0] == 10 && bodies->charge[0] == -1 && bodies->softening[0] == 0.25);
    assert_true(bodies->time == 2.5);
    assert_null(bodies->name);
    kith_bodies_free(bodies);
}

static void assert_periodic(const char *pbc, bool a, bool b, bool c)
{
    char text[256];
    snprintf(text, sizeof text, "0\nLattice=\"1 2 3 4 5 6 7 8 10\" %s\n", pbc);
    kith_bodies *bodies = read_file(file_of_text("pbc.xyz", text));
    assert_true(bodies->has_cell);
    for (int k = 0; k < 8; k++)
        assert_true(bodies->cell[k] == k + 1);
    assert_int_equal(bodies->periodic[0], a);
    assert_int_equal(bodies->periodic[1], b);
    assert_int_equal(bodies->periodic[2], c);
    kith_bodies_free(bodies);
}

static void test_xyz_reads_the_lattice_as_ase_writes_it(void **state)
{
    (void)state;
    assert_periodic("", true, true, true);
    assert_periodic("pbc=\"T F T\"", true, false, true);
    assert_periodic("pbc='False True 0'", false, true, false);
    assert_periodic("PBC={1 0 0}", true, false, false);
    kith_bodies *bodies =
        read_file(file_of_text("zero.xyz", "0\nLattice=\"0 0 0 0 0 0 0 0 0\" pbc=\"F F F\"\n"));
    assert_false(bodies->has_cell);
    kith_bodies_free(bodies);
}

static double first_x_of_frame(const char *path, int64_t frame)
{
    kith_bodies *bodies = NULL;
    const kith_read_options options = {.frame = frame};
    assert_ok(kith_bodies_read(path, &options, &bodies));
    const double x = bodies->count ? bodies->position[0] : -1;
    kith_bodies_free(bodies);
    return x;
}

static void test_xyz_picks_a_frame_from_the_start_or_the_end(void **state)
{
    (void)state;
    const char *path = file_of_text("frames.xyz", "1\na\nC 1 0 0\n0\n\n2\nc\nC 3 0 0\nC 4 0 0\n");
    assert_true(first_x_of_frame(path, 0) == 3);
    assert_true(first_x_of_frame(path, -1) == 3);
    assert_true(first_x_of_frame(path, 1) == 1);
    assert_true(first_x_of_frame(path, -3) == 1);
    assert_true(first_x_of_frame(path, 2) == -1);
    assert_true(first_x_of_frame(path, 3) == 3);
    kith_bodies *bodies = NULL;
    const kith_read_options fourth = {.frame = 4}, before = {.frame = -4};
    assert_fails(kith_bodies_read(path, &fourth, &bodies), KITH_INVALID_ARGUMENT, "frame 4 3");
    assert_fails(kith_bodies_read(path, &before, &bodies), KITH_INVALID_ARGUMENT, "frame -4 3");
}

static void test_xyz_writes_what_other_programs_read(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 2, KITH_MASS, &bodies));
    bodies->position[0] = 1.5;
    bodies->mass[0] = 3;
    bodies->time = 0.25;
    assert_ok(kith_bodies_write(bodies, in_files("flat.xyz"), NULL));
    assert_content(in_files("flat.xyz"), "1\nProperties=species:S:1:pos:R:3:masses:R:1 "
                                         "pbc=\"F F F\" Time=0.25 dimensions=2\nX 1.5 0 0 3\n");
    kith_bodies_free(bodies);
}

static void test_xyz_keeps_names_that_are_no_elements_apart(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_initial_make("outer-solar-system", NULL, &bodies));
    assert_round_trip(bodies, "names.xyz");
    size_t bytes = 0;
    char *text = content_of(in_files("names.xyz"), &bytes);
    assert_non_null(strstr(text, "\nX "));
    assert_non_null(strstr(text, " Jupiter\n"));
    free(text);
    kith_bodies_free(bodies);
}

static void test_xyz_divides_momenta_by_masses(void **state)
{
    (void)state;
    kith_bodies *bodies =
        read_file(file_of_text("momenta.xyz", "1\nProperties=species:S:1:pos:R:3:momenta:R:3:"
                                              "masses:R:1\nO 1 2 3 16 32 -8 16\n"));
    assert_true(bodies->velocity[0] == 1 && bodies->velocity[1] == 2 &&
                bodies->velocity[2] == -0.5);
    kith_bodies_free(bodies);
    assert_text_refused("momenta.xyz",
                        "1\nProperties=species:S:1:pos:R:3:momenta:R:3\nO 1 2 3 16 32 -8\n",
                        "momenta");
    assert_ok(kith_bodies_read(in_files("momenta.xyz"),
                               &(kith_read_options){.without_velocities = true}, &bodies));
    assert_true(bodies->position[2] == 3 && !bodies->velocity);
    kith_bodies_free(bodies);
}

static void test_xyz_refuses_names_with_spaces(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 3, KITH_NAME, &bodies));
    set_name(bodies, 0, "Halley's comet");
    assert_fails(kith_bodies_write(bodies, in_files("names.xyz"), NULL), KITH_INVALID_ARGUMENT,
                 "body 0 'Halley's comet'");
    kith_bodies_free(bodies);
}

#define ATOM "1\nProperties=species:S:1:pos:R:3"

static void test_xyz_names_line_and_fault(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "empty"},
        {"\n\n", "empty"},
        {"two\n\n", "line 1 'two'"},
        {"-1\n\n", "line 1 '-1'"},
        {"2\n\nC 0 0 0\n", "line 3 1 frame's 2"},
        {"2\n", "line 1 0 frame's 2"},
        {"1\n\nC 0 0 0\n1000000000000000\n\n", "line 5 0"},
        {"1\n\nC 0 0\n", "line 3 3 4"},
        {"1\n\nC 0 0 0 1\n", "line 3 5 4"},
        {"1\n\nC 0 zero 0\n", "line 3 'zero'"},
        {"1\n\nC 0 nan 0\n", "line 3 pos 'nan'"},
        {"1\n\nABCDEFGHIJKLMNOPQRSTUVWXYZ0123456 0 0 0\n", "line 3 'ABC"},
        {ATOM ":id:I:1\nC 0 0 0 1.5\n", "line 3 '1.5'"},
        {ATOM " dimensions=2\nC 0 0 3\n", "dimensions line 3 3 2"},
        {ATOM " Lattice=\"1 2\"\nC 0 0 0\n", "line 2 2"},
        {ATOM " Lattice=\"1 0 0 0 1 0 0 0 inf\"\nC 0 0 0\n", "line 2 'inf'"},
        {ATOM " Lattice=\"1 0 0 0 1 0 0 0 1 1\"\nC 0 0 0\n", "line 2 '1'"},
        {ATOM " pbc=\"T T\"\nC 0 0 0\n", "line 2 2"},
        {ATOM " pbc=\"T T maybe\"\nC 0 0 0\n", "line 2 'maybe'"},
        {ATOM " pbc=\"T T T\nC 0 0 0\n", "line 2"},
        {ATOM ":pos:R:3\nC 0 0 0 0 0 0\n", "line 2 'pos'"},
        {ATOM ":species:S:1\nC 0 0 0 C\n", "line 2 'species'"},
        {ATOM ":mass:R\nC 0 0 0 1\n", "line 2 'mass'"},
        {ATOM ":mass:X:1\nC 0 0 0 1\n", "line 2 'mass'"},
        {ATOM ":big:R:1000\nC 0 0 0 1\n", "line 2 256"},
        {ATOM ":none:R:0\nC 0 0 0\n", "line 2: Properties"},
        {"1\nProperties=species:S:1\nC\n", "line 2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_text_refused("wrong.xyz", cases[k][0], cases[k][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xyz_keeps_every_bit_and_the_cell),
        cmocka_unit_test(test_xyz_plain_is_symbol_and_position),
        cmocka_unit_test(test_xyz_reads_properties_in_any_order_and_skips_the_unknown),
        cmocka_unit_test(test_xyz_reads_the_lattice_as_ase_writes_it),
        cmocka_unit_test(test_xyz_picks_a_frame_from_the_start_or_the_end),
        cmocka_unit_test(test_xyz_writes_what_other_programs_read),
        cmocka_unit_test(test_xyz_keeps_names_that_are_no_elements_apart),
        cmocka_unit_test(test_xyz_divides_momenta_by_masses),
        cmocka_unit_test(test_xyz_refuses_names_with_spaces),
        cmocka_unit_test(test_xyz_names_line_and_fault),
    };
    return cmocka_run_group_tests_name("xyz", tests, make_files_directory, remove_files_directory);
}
