/* Messages are one line of printable text, whatever they quote. */

#include "testing.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/printable.h"
#include "core/status.h"
#include "program.h"
#include "random_numbers.h"

/* NOLINTBEGIN(misc-misleading-bidirectional): what is tested is what becomes of them. */

static void test_what_is_not_printable_is_escaped(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain: 'text' \\n", "plain: 'text' \\n"},
        {"\n\r\t\033[2J\x7f", "\\n\\r\\t\\x1b[2J\\x7f"},
        {"Kr\xc3\xbcger \xce\xb1\xe2\x82\xac\xf0\x9f\x8c\x8d",
         "Kr\xc3\xbcger \xce\xb1\xe2\x82\xac\xf0\x9f\x8c\x8d"},
        {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009b\\u009f\xc2\xa0"},
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa6\xd8\x9c",
         "a\\u202eb\\u2066\\u061c"},
        {"\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xe2\x80\x8b", "\\u2028\\u2029\\ufeff\\u200b"},
        {"\xf3\xa0\x81\x81", "\\U000e0041"},
        {"\xff\xfe", "\\xff\\xfe"},
        {"\x9b"
         "31m",
         "\\x9b31m"},      /* C1 as a byte */
        {"\xc3", "\\xc3"}, /* cut off */
        {"\xe2\x82"
         "x",
         "\\xe2\\x82x"},                                       /* cut off */
        {"\xc0\x8a\xe0\x80\x8a", "\\xc0\\x8a\\xe0\\x80\\x8a"}, /* overlong line feeds */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                   /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},          /* beyond U+10FFFF */
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char printable[100], again[100];
        make_printable(cases[k][0], printable, sizeof printable);
        assert_string_equal(printable, cases[k][1]);
        make_printable(printable, again, sizeof again);
        assert_string_equal(again, printable);
        kith_fail_message("column %s", cases[k][0]);
        assert_string_equal(kith_error_message() + 7, cases[k][1]);
        assert_int_equal(kith_fail_within(KITH_BAD_FORMAT, "%s: ", cases[k][0]), KITH_BAD_FORMAT);
        assert_memory_equal(kith_error_message(), printable, strlen(printable));
    }
}

static void test_no_escape_is_cut(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 16; bytes++) {
        char printable[16];
        memset(printable, 'x', sizeof printable);
        make_printable("ab\033\xe2\x80\xae\xe2\x82\xac", printable, bytes);
        const size_t expected = bytes <= 3    ? bytes - 1
                                : bytes <= 6  ? 2
                                : bytes <= 12 ? 6
                                : bytes <= 15 ? 12
                                              : 15;
        assert_int_equal(strlen(printable), expected);
    }
}

/* Random bytes: no control byte is left, and what is printable once is so forever. */
static void test_random_bytes_are_made_printable(void **state)
{
    for (int round = 0; round < 20000; round++) {
        char text[33], printable[4 * sizeof text], again[sizeof printable];
        for (int k = 0; k < 32; k++)
            text[k] = (char)(1 + (int)random_uniform(*state, 0, 254.99));
        text[32] = 0;
        make_printable(text, printable, sizeof printable);
        for (const char *at = printable; *at; at++)
            assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
        make_printable(printable, again, sizeof again);
        assert_string_equal(again, printable);
    }
}

/* argv with a newline, an escape sequence, and U+009B, U+202E and U+2028 in it. */
#define BAD     "a\nb\033[2J\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xff"
#define ESCAPED "a\\nb\\x1b[2J\\u009b\\u202e\\u2028\\xff"

static void assert_escapes(const char *command, int code)
{
    const struct program_result *result = program_run("%s", command);
    assert_refused(result, code, ESCAPED);
    char printable[sizeof result->err];
    make_printable(result->err, printable, sizeof printable);
    assert_memory_equal(printable, result->err, strlen(result->err) - 1); /* but for the newline */
}

static void test_the_command_line_is_quoted_in_one_line(void **state)
{
    (void)state;
    static const char *const refused[] = {
        BAD,
        "help " BAD,
        "bench " BAD,
        "run --" BAD,
        "run --" BAD "=1",
        "make " BAD,
        "info " BAD,
        "forces a " BAD,
        "forces a --param eps=" BAD,
        "forces a --param " BAD,
        "forces a --law " BAD,
        "forces a --softening " BAD,
        "forces a --device " BAD,
        "forces a --method " BAD,
        "forces a --threads " BAD,
        "matrix a --histogram " BAD ",0,1",
        "matrix a --memory " BAD,
        "pairs a --cutoff 1 --box " BAD ",1",
        "pairs a --cutoff 1 --periodic " BAD,
        "plot a --frames " BAD,
        "plot a --what orbits -o " BAD,
        "run a --units " BAD,
        "multiply a -o " BAD ".csv",
        "tune " BAD,
    };
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
        assert_escapes(refused[k], 2);
    assert_refused(program_run("run -\xc3\xa9"), 2, "'-\xc3\xa9'");
    assert_refused(program_run("run -\033"), 2, "'-\\x1b'");
}

static void test_names_of_files_are_quoted_in_one_line(void **state)
{
    (void)state;
    program_write("two.csv", "x,y,z\n0,0,0\n1,0,0\n");
    assert_escapes("forces @" BAD ".csv", 1);
    assert_escapes("matrix @two.csv --law sum --times @" BAD ".npy", 1);
    assert_escapes("forces @two.csv -o @" BAD "/a.csv", 1);
    assert_escapes("run @two.csv --dt 1 --until 1 -o " BAD ".csv", 2);
    assert_escapes("plot @" BAD " --what chain -o a.png", 1);
    program_write(BAD ".csv", "x,y,z\n0,0,0\n1,0,0\n");
    const struct program_result *result =
        program_run("run @" BAD ".csv --dt 1 --until 1 -o @" BAD ".h5");
    assert_succeeded(result);
    assert_non_null(strstr(result->out, ESCAPED ".h5\n"));
    assert_null(strchr(result->out, '\033'));
    /* Notes, too: softening lengths that are not used. */
    program_write(BAD ".csv", "x,y,z,softening\n0,0,0,1\n1,0,0,1\n");
    result = program_run("forces @" BAD ".csv -o @a.csv");
    assert_succeeded(result);
    assert_refused(result, 0, ESCAPED ".csv softening");
}

static void test_names_in_files_are_quoted_in_one_line(void **state)
{
    (void)state;
    program_write("named.csv", "x,y,z\n0,0," BAD "\n");
    const struct program_result *result = program_run("forces @named.csv");
    assert_int_equal(result->exit_code, 1);
    assert_null(strchr(result->err, '\033'));
    program_write("bars.csv", "x,y,z\n0,0,\xe2\x80\xae\xc2\x9b\n");
    assert_refused(program_run("forces @bars.csv"), 1, "\\u202e\\u009b");
    program_write("bad.mtx", "%%MatrixMarket matrix \033[2J real general\n1 1 1\n1 1 1\n");
    assert_refused(program_run("multiply @bad.mtx --json"), 1, "\\x1b[2J");
    program_write("bad.xyz", "\xe2\x80\xae\n\nH 0 0 0\n");
    assert_refused(program_run("forces @bad.xyz"), 1, "\\u202e");
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("messages");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_printable_is_escaped),
        cmocka_unit_test(test_no_escape_is_cut),
        cmocka_unit_test_prestate(test_random_bytes_are_made_printable, &random),
        cmocka_unit_test(test_the_command_line_is_quoted_in_one_line),
        cmocka_unit_test(test_names_of_files_are_quoted_in_one_line),
        cmocka_unit_test(test_names_in_files_are_quoted_in_one_line),
    };
    return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}

/* NOLINTEND(misc-misleading-bidirectional) */
