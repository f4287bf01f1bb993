#include "testing.h"

#include "testing_files.h"

enum {
    columns_of_a_body =
        KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING | KITH_RADIUS | KITH_ID | KITH_NAME
};

static void test_csv_keeps_every_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("csv");
    static const int64_t counts[] = {0, 1, 2, 1000, 1025};
    for (int k = 0; k < 5; k++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            const unsigned columns = k % 2 ? columns_of_a_body : KITH_MASS;
            kith_bodies *bodies = random_bodies(&numbers, counts[k], dimensions, columns);
            assert_round_trip(bodies, "all.csv");
            kith_bodies_free(bodies);
        }
}

static void test_csv_takes_columns_in_any_order_case_and_spelling(void **state)
{
    (void)state;
    kith_bodies *bodies = read_file(file_of_text("order.csv", "Charge, Z ,MASS,y,id,X,softening\n"
                                                              "-1,3,10,2,7,1,0.5\n"));
    assert_int_equal(bodies->count, 1);
    assert_int_equal(bodies->dimensions, 3);
    for (int k = 0; k < 3; k++)
        assert_true(bodies->position[k] == k + 1);
    assert_true(bodies->mass[0] == 10 && bodies->charge[0] == -1 && bodies->softening[0] == 0.5);
    assert_int_equal(bodies->id[0], 7);
    assert_null(bodies->velocity);
    kith_bodies_free(bodies);
}

static void test_csv_without_z_is_flat(void **state)
{
    (void)state;
    kith_bodies *bodies = read_file(file_of_text("flat.csv", "x,y,vx,vy\n1,2,3,4\n"));
    assert_int_equal(bodies->dimensions, 2);
    assert_true(bodies->position[1] == 2 && bodies->velocity[1] == 4);
    kith_bodies_free(bodies);
}

static void test_csv_tolerates_what_editors_leave(void **state)
{
    (void)state;
    kith_bodies *bodies = read_file(file_of_text(
        "tolerant.csv", "\xEF\xBB\xBF# a comment\r\n\r\nname,x,y\r\n  Sun , 1 ,\t2\r\n   \r\n"
                        "  # another\r\n\"Halley, \"\"1P\"\"\",+1.5e+1,-.5\r\n,3.,4"));
    assert_int_equal(bodies->count, 3);
    assert_string_equal(bodies->name[0], "Sun");
    assert_string_equal(bodies->name[1], "Halley, \"1P\"");
    assert_string_equal(bodies->name[2], "");
    assert_true(bodies->position[2] == 15 && bodies->position[3] == -0.5);
    assert_true(bodies->position[4] == 3 && bodies->position[5] == 4);
    kith_bodies_free(bodies);
}

static void test_csv_keeps_names_that_need_quotes(void **state)
{
    (void)state;
    static const char *const names[] = {"a,b", "\"", "#1", " x ", "", "\"A\" b", "\xC3\xA9"};
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(7, 2, KITH_NAME, &bodies));
    for (int i = 0; i < 7; i++)
        set_name(bodies, i, names[i]);
    assert_round_trip(bodies, "names.csv");
    set_name(bodies, 3, "two\nlines");
    assert_fails(kith_bodies_write(bodies, in_files("names.csv"), NULL), KITH_INVALID_ARGUMENT,
                 "body 3");
    kith_bodies_free(bodies);
}

static void test_csv_writes_integers_as_integers_and_short_decimals(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 2, KITH_MASS | KITH_ID | KITH_NAME, &bodies));
    bodies->position[0] = 3;
    bodies->position[1] = 0.1;
    bodies->mass[0] = 1e22;
    bodies->id[0] = INT64_MIN;
    set_name(bodies, 0, "a");
    assert_ok(kith_bodies_write(bodies, in_files("short.csv"), NULL));
    assert_content(in_files("short.csv"), "name,id,m,x,y\na,-9223372036854775808,1e+22,3,0.1\n");
    kith_bodies_free(bodies);
}

static void assert_three_columns(const char *name, const char *text)
{
    static const double expected[] = {1, 2, -3, 4.5};
    kith_bodies *bodies = read_file(file_of_text(name, text));
    assert_int_equal(bodies->count, 2);
    assert_int_equal(bodies->dimensions, 2);
    assert_memory_equal(bodies->position, expected, sizeof expected);
    assert_true(bodies->mass && bodies->mass[0] == 10 && bodies->mass[1] == 0.5);
    kith_bodies_free(bodies);
}

static void test_csv_columns_may_stand_between_blanks(void **state)
{
    (void)state;
    assert_three_columns("a.txt", "x y m\n1 2 10\n-3 4.5 0.5\n");
    assert_three_columns("a.DAT", "x\ty\tm\n1\t2\t10\n-3\t4.5\t0.5\n");
    assert_three_columns("a.csv", "  x   y\t m  \r\n\n   1 2   1e1 \r\n# c\n-3 4.5\t0.5\n");
    assert_three_columns("a.txt", "x,y,m\n1,2,10\n-3,4.5,0.5\n");
    kith_bodies *bodies = read_file(file_of_text(
        "named.txt", "name x y\n\"Halley, \"\"1P\"\"\" 1 2\nSun 3 4\n\"a b\"\t5 6\n\"\" 7 8\n"));
    assert_int_equal(bodies->count, 4);
    assert_string_equal(bodies->name[0], "Halley, \"1P\"");
    assert_string_equal(bodies->name[1], "Sun");
    assert_string_equal(bodies->name[2], "a b");
    assert_string_equal(bodies->name[3], "");
    kith_bodies_free(bodies);
}

/* As numpy.savetxt(header="x y m") writes it. */
static void test_csv_header_may_be_the_comment_above_the_rows(void **state)
{
    (void)state;
    assert_three_columns("a.txt", "# x y m\n1 2 10\n-3 4.5 0.5\n");
    assert_three_columns("a.txt", "# made by hand\n#x,y,m\n1,2,10\n-3,4.5,0.5");
    assert_three_columns("a.txt", "# x y\n# x y m\n# of 2026\n1 2 10\n-3 4.5 0.5\n");
    assert_three_columns("a.txt", "# x,y,m\n1 2 10\n-3 4.5 0.5\n");
    assert_three_columns("a.txt", "# x y m\n1,2,10\n-3,4.5,0.5\n");
    assert_three_columns("a.txt", "# id,x\nx,y,m\n1,2,10\n-3,4.5,0.5\n");
    kith_bodies *bodies = read_file(file_of_text("none.txt", "# x y z\n"));
    assert_int_equal(bodies->count, 0);
    assert_int_equal(bodies->dimensions, 3);
    kith_bodies_free(bodies);
}

static void test_csv_lines_may_be_long(void **state)
{
    (void)state;
    enum { spaces = 300000 };
    char *text = malloc(spaces + 32);
    const int header = sprintf(text, "x,y\n");
    memset(text + header, ' ', spaces);
    sprintf(text + header + spaces, "1,2\n");
    kith_bodies *bodies = read_file(file_of_text("long.csv", text));
    assert_int_equal(bodies->count, 1);
    assert_true(bodies->position[1] == 2);
    kith_bodies_free(bodies);
    free(text);
}

static void test_csv_refuses_a_wrong_header(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "empty"},
        {"\n# only this\n", "empty"},
        {"1,2,3\n4,5,6\n", "line 1"},
        {"x,y,w\n1,2,3\n", "line 1 column 'w'"},
        {"x,y,X\n1,2,3\n", "line 1 column 'X'"},
        {"m,x,y,mass\n1,2,3,4\n", "line 1 column 'mass'"},
        {"y,z\n1,2\n", "x line 1"},
        {"x,z\n1,2\n", "y line 1"},
        {"x,y,z,vx,vy\n", "line 1"},
        {"x,y,vy\n", "line 1"},
        {"x,y,vx,vy,vz\n", "z line 1"},
        {"  ,y\n1,2\n", "line 1 column ''"},
        {"x,y,\n1,2,\n", "line 1 column ''"},
        {"x,y,z,vx,vy,vz,m,q,eps,radius,epsilon,sigma,id,name,x\n", "line 1 15"},
        {"x,\"y\n1,2\n", "line 1"},
        {"x y w\n1 2 3\n", "line 1 column 'w'"},
        {"# mine\n1 2 3\n", "line 2 header"},
        {"# x m\n1 2\n", "line 2 header"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_text_refused("header.csv", cases[k][0], cases[k][1]);
}

static void test_csv_refuses_a_wrong_row(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"x,y\n1,2\n3\n", "line 3 1 2"},
        {"x,y\n1,2,3\n", "line 2 3 2"},
        {"x,y\n\n# c\n1,\n", "y line 4 ''"},
        {"x,y\n1,two\n", "line 2 y 'two'"},
        {"x,y\n1,2x\n", "line 2 y '2x'"},
        {"x,y\n1,2 3\n", "y line 2 '2 3'"},
        {"x,y\n1,0x10\n", "line 2 y '0x10'"},
        {"x,y\nnan,2\n", "line 2 x 'nan'"},
        {"x,y\n1,-inf\n", "line 2 y '-inf'"},
        {"x,y\n1,1e999\n", "line 2 y '1e999'"},
        {"x,y,m\n1,2,-\n", "m line 2 '-'"},
        {"id,x,y\n9223372036854775808,1,2\n", "line 2 id '9223372036854775808'"},
        {"id,x,y\n1.0,1,2\n", "line 2 '1.0'"},
        {"id,x,y\n,1,2\n", "line 2 id ''"},
        {"x,y,eps\n1,2,-3\n", "body 0 -3"},
        {"x,y,radius\n1,2,-3\n", "body 0 -3"},
        {"name,x,y\n0123456789012345678901234567890x,1,2\n", "line 2 name '01234"},
        {"name,x,y\n\"a\"b,1,2\n", "line 2 'b,1,2'"},
        {"name,x,y\n\"a\n\",1,2\n", "line 2"},
        {"x y m\n1 2\n", "line 2 3 2"},
        {"x y m\n1,2,3\n", "line 2 3 1"},
        {"x,y,m\n1 2 3\n", "line 2 3 1"},
        {"# x y\n1 2 3\n", "line 2 2 3"},
        {"name x y\n\"a\"b 1 2\n", "line 2 'b 1 2'"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_text_refused("row.csv", cases[k][0], cases[k][1]);
}

static void test_csv_refuses_what_is_not_text(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    const char *path = file_of_bytes("zero.csv", "x,y\n1,\0002\n", 9);
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, "line 2");
}

static void test_csv_lines_are_no_longer_than_a_million_bytes(void **state)
{
    (void)state;
    enum { longest = 1 << 20, all = longest + 32 };
    static char text[all];
    const int header = snprintf(text, sizeof text, "x,y\n");
    memset(text + header, ' ', longest);
    text[header] = '1';
    text[header + 1] = ',';
    text[header + 2] = '2';
    text[header + longest] = '\n';
    kith_bodies *bodies = read_file(file_of_bytes("long.csv", text, (size_t)header + longest + 1));
    assert_int_equal(bodies->count, 1);
    kith_bodies_free(bodies);

    text[header + longest] = ' ';
    text[header + longest + 1] = '\n';
    const char *path = file_of_bytes("longer.csv", text, (size_t)header + longest + 2);
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, "line 2 1048576");
}

/* A device of zeros has neither lines nor an end. */
static void test_text_files_without_an_end_are_refused(void **state)
{
    (void)state;
    static const char *const formats[] = {"csv", "xyz"};
    kith_bodies *bodies = NULL;
    for (int k = 0; k < 2; k++) {
        const kith_read_options options = {.format = formats[k]};
        assert_fails(kith_bodies_read("/dev/zero", &options, &bodies), KITH_BAD_FORMAT,
                     "line 1 1048576");
        assert_fails(kith_bodies_read("/dev/full", &options, &bodies), KITH_BAD_FORMAT, "line 1");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_keeps_every_bit),
        cmocka_unit_test(test_csv_takes_columns_in_any_order_case_and_spelling),
        cmocka_unit_test(test_csv_without_z_is_flat),
        cmocka_unit_test(test_csv_tolerates_what_editors_leave),
        cmocka_unit_test(test_csv_keeps_names_that_need_quotes),
        cmocka_unit_test(test_csv_writes_integers_as_integers_and_short_decimals),
        cmocka_unit_test(test_csv_columns_may_stand_between_blanks),
        cmocka_unit_test(test_csv_header_may_be_the_comment_above_the_rows),
        cmocka_unit_test(test_csv_lines_may_be_long),
        cmocka_unit_test(test_csv_lines_are_no_longer_than_a_million_bytes),
        cmocka_unit_test(test_text_files_without_an_end_are_refused),
        cmocka_unit_test(test_csv_refuses_a_wrong_header),
        cmocka_unit_test(test_csv_refuses_a_wrong_row),
        cmocka_unit_test(test_csv_refuses_what_is_not_text),
    };
    return cmocka_run_group_tests_name("csv", tests, make_files_directory, remove_files_directory);
}
