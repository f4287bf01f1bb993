#include "testing.h"

#include "testing_files.h"

#include "io/npy.h"

/* Makes an NPY file by hand: header and data as given. */
static const char *npy_file(const char *name, int version, const char *header, const void *data,
                            size_t data_bytes)
{
    static char content[1 << 16];
    const size_t length = strlen(header);
    const size_t length_bytes = version == 1 ? 2 : 4;
    memcpy(content, "\x93NUMPY", 6);
    content[6] = (char)version;
    content[7] = 0;
    for (size_t k = 0; k < length_bytes; k++)
        content[8 + k] = (char)(length >> 8 * k & 255);
    memcpy(content + 8 + length_bytes, header, length);
    if (data_bytes)
        memcpy(content + 8 + length_bytes + length, data, data_bytes);
    return file_of_bytes(name, content, 8 + length_bytes + length + data_bytes);
}

static const char *npy_header(const char *descr, const char *order, const char *shape)
{
    static char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }  \n",
             descr, order, shape);
    return header;
}

static void test_npy_keeps_every_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("npy");
    static const int64_t counts[] = {0, 1, 31, 10000};
    for (int k = 0; k < 4; k++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            kith_bodies *bodies = random_bodies(&numbers, counts[k], dimensions,
                                                dimensions == 3 && k % 2 ? KITH_MASS : 0);
            assert_round_trip(bodies, "all.npy");
            kith_bodies_free(bodies);
        }
}

static void test_npy_is_written_as_numpy_does(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6};
    const char *path = in_files("matrix.npy");
    assert_ok(npy_write_matrix(path, 2, 3, values));
    size_t bytes = 0;
    char *content = content_of(path, &bytes);
    assert_int_equal(bytes, 128 + sizeof values);
    assert_memory_equal(content,
                        "\x93NUMPY\1\0\x76\0{'descr': '<f8', 'fortran_order': False, "
                        "'shape': (2, 3), } ",
                        70);
    assert_int_equal(content[127], '\n');
    assert_memory_equal(content + 128, values, sizeof values);
    free(content);
}

static void assert_rows(const char *path, int32_t dimensions, const double *expected, int64_t rows)
{
    kith_bodies *bodies = read_file(path);
    assert_int_equal(bodies->count, rows);
    assert_int_equal(bodies->dimensions, dimensions);
    assert_memory_equal(bodies->position, expected, (size_t)(rows * dimensions) * sizeof *expected);
    kith_bodies_free(bodies);
}

static void test_npy_reads_every_version(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4};
    for (int version = 1; version <= 3; version++)
        assert_rows(
            npy_file("version.npy", version, npy_header("<f8", "False", "(2, 2)"), values, 32), 2,
            values, 2);
}

static void test_npy_reads_every_type_in_both_byte_orders(void **state)
{
    (void)state;
    const double expected[] = {1, 2};
    static const struct {
        const char *type;
        unsigned char big_endian[16];
        size_t bytes;
    } cases[] = {
        {"f8", {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40}, 8},
        {"f4", {0x3f, 0x80, 0, 0, 0x40}, 4},
        {"i8", {[7] = 1, [15] = 2}, 8},
        {"u8", {[7] = 1, [15] = 2}, 8},
        {"i4", {[3] = 1, [7] = 2}, 4},
        {"u4", {[3] = 1, [7] = 2}, 4},
        {"i2", {0, 1, 0, 2}, 2},
        {"u2", {0, 1, 0, 2}, 2},
        {"i1", {1, 2}, 1},
        {"u1", {1, 2}, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const size_t bytes = cases[k].bytes;
        unsigned char little_endian[16];
        for (size_t i = 0; i < 2 * bytes; i++)
            little_endian[i] = cases[k].big_endian[i / bytes * bytes + bytes - 1 - i % bytes];
        char descr[4];
        snprintf(descr, sizeof descr, ">%s", cases[k].type);
        assert_rows(npy_file("big.npy", 1, npy_header(descr, "False", "(1, 2)"),
                             cases[k].big_endian, 2 * bytes),
                    2, expected, 1);
        descr[0] = '<';
        assert_rows(npy_file("little.npy", 1, npy_header(descr, "False", "(1, 2)"), little_endian,
                             2 * bytes),
                    2, expected, 1);
    }
}

static void test_npy_reads_columns_first_and_negative_integers(void **state)
{
    (void)state;
    const int16_t stored[] = {-1, -4, 2, 5, 3, 6};
    const double expected[] = {-1, 2, 3, -4, 5, 6};
    assert_rows(
        npy_file("fortran.npy", 1, npy_header("<i2", "True", "(2L, 3L)"), stored, sizeof stored), 3,
        expected, 2);
}

static void test_npy_fourth_column_is_the_mass(void **state)
{
    (void)state;
    const double stored[] = {1, 2, 3, 10, 4, 5, 6, 20};
    kith_bodies *bodies = read_file(
        npy_file("mass.npy", 1, npy_header("<f8", "False", "(2, 4)"), stored, sizeof stored));
    assert_int_equal(bodies->dimensions, 3);
    assert_true(bodies->position[3] == 4 && bodies->mass[0] == 10 && bodies->mass[1] == 20);
    kith_bodies_free(bodies);
}

static void assert_header_refused(const char *header, const char *words)
{
    kith_bodies *bodies = NULL;
    const double data[8] = {0};
    const char *path = npy_file("header.npy", 1, header, data, 32);
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, words);
    assert_null(bodies);
}

static void test_npy_refuses_other_shapes_and_types(void **state)
{
    (void)state;
    static const char *const shapes[] = {"(4,)", "()", "(4, 1)", "(1, 5)", "(2, 2, 1)", "(0,)"};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        char words[64];
        snprintf(words, sizeof words, "the shape is %s; give N×2, N×3, or N×4", shapes[k]);
        assert_header_refused(npy_header("<f8", "False", shapes[k]), words);
    }
    assert_header_refused(npy_header("<c16", "False", "(1, 2)"), "'<c16'");
    assert_header_refused(npy_header("f8", "False", "(2, 2)"), "'f8'");
    assert_header_refused("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (4,)}",
                          "array structured");
}

static void test_npy_refuses_a_damaged_header(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "byte 0"},
        {"{'descr': '<f8', 'shape': (2, 2)}", "'fortran_order'"},
        {"{'descr': '<f8', 'fortran_order': No, 'shape': (2, 2)}", "byte 34"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, -2)}", "length"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 2)}", "byte 53"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)", "byte 56"},
        {"{'descr' '<f8'}", "byte 9"},
        {"{descr: '<f8'}", "byte 1"},
        {"{'descr", "byte 2"},
        {"{'colour': 1}", "'colour'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2)}", "length"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2)}",
         "32 1000000000000 2 <f8 16000000000000"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9, 2)}", "32 9 2 <f8 144"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}", "long"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_header_refused(cases[k][0], cases[k][1]);
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read(npy_file("v4.npy", 4, "{}", "", 0), NULL, &bodies),
                 KITH_BAD_FORMAT, "NPY 4.0");
    assert_text_refused("text.npy", "x,y\n1,2\n", "NPY");
}

static void test_npy_refuses_integers_that_no_double_is_equal_to(void **state)
{
    (void)state;
    int64_t values[] = {1, (1LL << 53) + 2};
    kith_bodies_free(read_file(
        npy_file("exact.npy", 1, npy_header("<i8", "False", "(1, 2)"), values, sizeof values)));
    static const int64_t inexact[] = {(1LL << 53) + 1, INT64_MAX, -(1LL << 53) - 1};
    for (int k = 0; k < 3; k++) {
        kith_bodies *bodies = NULL;
        values[1] = inexact[k];
        const char *path =
            npy_file("inexact.npy", 1, npy_header("<i8", "False", "(1, 2)"), values, sizeof values);
        assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, "row 0 column 1");
    }
    const uint64_t largest[] = {UINT64_MAX, 0};
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read(npy_file("u8.npy", 1, npy_header("<u8", "False", "(1, 2)"),
                                           largest, sizeof largest),
                                  NULL, &bodies),
                 KITH_BAD_FORMAT, "row 0, column 0");
}

static void test_npy_refuses_shapes_whose_bytes_no_integer_counts(void **state)
{
    (void)state;
    static const char *const shapes[] = {"(1, 2305843009213693952)", "(2305843009213693952,)",
                                         "(3, 9223372036854775807)", "(9223372036854775807, 3)"};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        const char *path = npy_file("large.npy", 1, npy_header("<i8", "False", shapes[k]), "", 0);
        kith_array array = kith_array_none();
        assert_fails(kith_npy_read(path, &array), KITH_BAD_FORMAT, "");
        assert_fails(kith_integers_read(path, &array), KITH_BAD_FORMAT, "");
    }
}

static int64_t whole_at(kith_array array, int64_t k)
{
    return array.dtype == KITH_I32 ? ((const int32_t *)array.data)[k]
                                   : ((const int64_t *)array.data)[k];
}

/* Three numbers of each type, in both byte orders. */
static void test_npy_whole_numbers_of_every_type_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        size_t bytes;
        const char *data;
        int64_t values[3];
    } cases[] = {
        {"i1", 1, "\x01\x7f\x80", {1, 127, -128}},
        {"u1", 1, "\x01\x7f\x80", {1, 127, 128}},
        {"i2", 2, "\x01\x00\xff\x7f\x00\x80", {1, 32767, -32768}},
        {"u2", 2, "\x01\x00\xff\x7f\x00\x80", {1, 32767, 32768}},
        {"i4", 4, "\x01\x00\x00\x00\xff\xff\xff\x7f\x00\x00\x00\x80", {1, INT32_MAX, INT32_MIN}},
        {"u4", 4, "\x01\x00\x00\x00\xff\xff\xff\x7f\x00\x00\x00\x80", {1, INT32_MAX, 1LL << 31}},
        {"u8",
         8,
         "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f",
         {1, 2, INT64_MAX}},
        {"f4", 4, "\0\0\x80\x3f\0\0\0\xc0\0\0\x80\x4f", {1, -2, 1LL << 32}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int big = 0; big < 2; big++) {
            char data[24], descr[4];
            for (size_t at = 0; at < 3 * cases[k].bytes; at++)
                data[at] = cases[k].data[big ? at / cases[k].bytes * cases[k].bytes +
                                                   cases[k].bytes - 1 - at % cases[k].bytes
                                             : at];
            snprintf(descr, sizeof descr, "%c%s", big ? '>' : '<', cases[k].type);
            kith_array array = kith_array_none();
            assert_ok(
                kith_integers_read(npy_file("whole.npy", 1, npy_header(descr, "False", "(3, 1)"),
                                            data, 3 * cases[k].bytes),
                                   &array));
            for (int at = 0; at < 3; at++)
                if (whole_at(array, at) != cases[k].values[at])
                    fail_msg("%s: number %d is %lld", descr, at, (long long)whole_at(array, at));
            kith_integers_free(&array);
        }
}

static void test_npy_numbers_that_are_not_whole_are_told(void **state)
{
    (void)state;
    static const char sixteen[16];
    static const struct {
        const char *descr, *shape, *data;
        size_t bytes;
        const char *words;
    } cases[] = {
        {"<f4", "(1, 1)", "\0\0\0\x3f", 4, "row 0 0.5"},
        {"<f4", "(1, 1)", "\0\0\0\x5f", 4, "64"},
        {"<f8", "(1, 1)", "\0\0\0\0\0\0\xe0\x43", 8, "64"},
        {"<u8", "(1, 1)", "\0\0\0\0\0\0\0\x80", 8, "row 0 9.22"},
        {"<c16", "(1, 1)", sixteen, 16, "'<c16'"},
        {"i4", "(1, 1)", sixteen, 4, "'i4'"},
        {"<i4", "()", sixteen, 4, "1 3"},
        {"<i4", "(1, 1, 1, 1)", sixteen, 4, "1 3"},
        {"<i4", "(1, 1)", sixteen, 8, "long"},
        {"<i4", "(3, 1)", sixteen, 8, "12"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_array array = kith_array_none();
        assert_fails(kith_integers_read(
                         npy_file("bad.npy", 1, npy_header(cases[k].descr, "False", cases[k].shape),
                                  cases[k].data, cases[k].bytes),
                         &array),
                     KITH_BAD_FORMAT, cases[k].words);
        assert_true(kith_array_is_none(array));
    }
    double value = 0;
    kith_array real = kith_array_vector(&value, KITH_F64, 1),
               whole = kith_array_vector(NULL, KITH_I64, 1);
    assert_fails(kith_integers_write(in_files("no.npy"), real), KITH_INVALID_ARGUMENT,
                 "int32 int64");
    assert_fails(kith_integers_write(in_files("no.npy"), whole), KITH_INVALID_ARGUMENT, "NULL");
}

static void test_npy_refuses_numbers_that_are_not_finite(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, (double)NAN};
    kith_bodies *bodies = NULL;
    const char *path =
        npy_file("nan.npy", 1, npy_header("<f8", "False", "(2, 2)"), values, sizeof values);
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, "body 1");
    assert_null(bodies);
}

static void test_npy_refuses_every_truncation(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("npy truncated");
    kith_bodies *bodies = random_bodies(&numbers, 5, 3, KITH_MASS);
    assert_ok(kith_bodies_write(bodies, in_files("whole.npy"), NULL));
    assert_every_truncation_is_refused(in_files("whole.npy"), "truncated.npy");
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_keeps_every_bit),
        cmocka_unit_test(test_npy_is_written_as_numpy_does),
        cmocka_unit_test(test_npy_reads_every_version),
        cmocka_unit_test(test_npy_reads_every_type_in_both_byte_orders),
        cmocka_unit_test(test_npy_reads_columns_first_and_negative_integers),
        cmocka_unit_test(test_npy_fourth_column_is_the_mass),
        cmocka_unit_test(test_npy_refuses_other_shapes_and_types),
        cmocka_unit_test(test_npy_refuses_a_damaged_header),
        cmocka_unit_test(test_npy_refuses_integers_that_no_double_is_equal_to),
        cmocka_unit_test(test_npy_refuses_shapes_whose_bytes_no_integer_counts),
        cmocka_unit_test(test_npy_whole_numbers_of_every_type_are_read),
        cmocka_unit_test(test_npy_numbers_that_are_not_whole_are_told),
        cmocka_unit_test(test_npy_refuses_numbers_that_are_not_finite),
        cmocka_unit_test(test_npy_refuses_every_truncation),
    };
    return cmocka_run_group_tests_name("npy", tests, make_files_directory, remove_files_directory);
}
