/* Matrix Market files: what is read, and what is said of files that are wrong. */
#include "simulating.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/context.h"
#include "io/decimal.h"
#include "sparse/object.h"
#include "sparse_matrices.h"

static const char *write_text(const char *text)
{
    static const char path[] = "market_test.mtx";
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    return path;
}

static kith_sparse *read_text(kith_context *context, const char *text)
{
    kith_sparse *sparse = NULL;
    assert_ok(kith_sparse_read(context, NULL, write_text(text), &sparse));
    return sparse;
}

/* The dense matrix of a text, row-major, with room for 4 × 4. */
static void check_text(const char *text, int64_t rows, int64_t columns, const double *expected)
{
    kith_context *context = cpu_context(2);
    kith_sparse *sparse = read_text(context, text);
    kith_sparse_info info;
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    assert_int_equal(info.rows, rows);
    assert_int_equal(info.columns, columns);
    for (int64_t j = 0; j < columns; j++) {
        double x[4] = {0}, y[4] = {0};
        x[j] = 1;
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                       kith_array_vector(x, KITH_F64, columns), 0,
                                       kith_array_vector(y, KITH_F64, rows)));
        for (int64_t i = 0; i < rows; i++)
            assert_true(y[i] == expected[i * columns + j]);
    }
    kith_sparse_free(sparse);
    kith_context_free(context);
}

static void test_all_kinds_of_files_are_read(void **state)
{
    (void)state;
    check_text("%%MatrixMarket matrix coordinate real general\n% comment\n\n2 3 3\n1 1 1.5\n"
               "% another\n\n2 3 -2e1\n1 1 +.5\n",
               2, 3, (const double[]){2, 0, 0, 0, 0, -20});
    check_text("%%matrixmarket MATRIX Coordinate Integer Symmetric\r\n3 3 3\r\n1 1 4\r\n2 1 -7\r\n"
               "  3\t2  9 \r\n",
               3, 3, (const double[]){4, -7, 0, -7, 0, 9, 0, 9, 0});
    check_text("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1", 2, 2,
               (const double[]){0, 1, 1, 0});
    check_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", 2, 2,
               (const double[]){0, -3, 3, 0});
    check_text("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", 2, 3,
               (const double[]){1, 3, 5, 2, 4, 6});
    check_text("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 3, 3,
               (const double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
    check_text("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n", 3, 3,
               (const double[]){0, -1, -2, 1, 0, -3, 2, 3, 0});
    check_text("%%MatrixMarket matrix coordinate real general\n0 0 0\n", 0, 0, NULL);
    check_text("%%MatrixMarket matrix coordinate real general\n3 2 0\n", 3, 2,
               (const double[]){0, 0, 0, 0, 0, 0});
}

#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC  "%%MatrixMarket matrix coordinate real symmetric\n"

static const struct {
    const char *text;
    kith_status status;
    const char *words;
} wrong[] = {
    {"", KITH_BAD_FORMAT, "line 1"},
    {"1 1 1\n", KITH_BAD_FORMAT, "line 1"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", KITH_UNSUPPORTED,
     "complex"},
    {"%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 1\n", KITH_UNSUPPORTED,
     "hermitian"},
    {"%%MatrixMarket vector coordinate real general\n", KITH_BAD_FORMAT, "'vector'"},
    {"%%MatrixMarket matrix sideways real general\n", KITH_BAD_FORMAT, "'sideways'"},
    {"%%MatrixMarket matrix coordinate whole general\n", KITH_BAD_FORMAT, "'whole'"},
    {"%%MatrixMarket matrix coordinate real round\n", KITH_BAD_FORMAT, "'round'"},
    {"%%MatrixMarket matrix array pattern general\n", KITH_BAD_FORMAT, "'pattern'"},
    {COORDINATE, KITH_BAD_FORMAT, "before"},
    {COORDINATE "% only\n", KITH_BAD_FORMAT, "before"},
    {COORDINATE "2 2\n", KITH_BAD_FORMAT, "line 2 '2 2'"},
    {COORDINATE "2 -2 1\n", KITH_BAD_FORMAT, "line 2"},
    {COORDINATE "2 2 1.5\n", KITH_BAD_FORMAT, "line 2"},
    {COORDINATE "2 2 99999999999999999999\n", KITH_BAD_FORMAT, "line 2"},
    {COORDINATE "1000000000000000000 2 1\n", KITH_UNSUPPORTED, "line 2"},
    {COORDINATE "2 2 1000000000000000000\n1 1 1\n", KITH_BAD_FORMAT, "line 3 1"},
    {COORDINATE "2 2 2\n1 1 1\n", KITH_BAD_FORMAT, "line 3 1"},
    {COORDINATE "2 2 1\n1 1 1\n% c\n\n2 2 5\n", KITH_BAD_FORMAT, "line 6"},
    {COORDINATE "2 2 1\n3 1 1\n", KITH_BAD_FORMAT, "line entry 3 3 1"},
    {COORDINATE "2 2 1\n1 0 1\n", KITH_BAD_FORMAT, "line 3 entry 1 0"},
    {COORDINATE "2 2 1\n-1 1 1\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n1 99999999999999999999 1\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n\n% c\n1 1 x\n", KITH_BAD_FORMAT, "line 5 '1 1 x'"},
    {COORDINATE "2 2 1\n1 1 1.0.0\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n1 1 nano\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n1 1 infinit\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n1 1 nan(1)\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\nnan 1 1\n", KITH_BAD_FORMAT, "line 3"},
    {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 nan\n", KITH_BAD_FORMAT,
     "line 3"},
    {COORDINATE "2 2 1\n1 1 1e999\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n1 1\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "2 2 1\n1 1 1 1\n", KITH_BAD_FORMAT, "line 3 '1 1 1 1'"},
    {COORDINATE "2 2 1\n1\n", KITH_BAD_FORMAT, "line 3"},
    {COORDINATE "0 0 1\n1 1 1\n", KITH_BAD_FORMAT, "line 3 entry 1 1"},
    {SYMMETRIC "2 3 0\n", KITH_BAD_FORMAT, "line 2"},
    {SYMMETRIC "2 2 1\n1 2 1\n", KITH_BAD_FORMAT, "line 3 entry 1 2"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 2 1\n", KITH_BAD_FORMAT,
     "entry 1 2"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", KITH_BAD_FORMAT,
     "line 3 entry 1 1"},
    {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", KITH_BAD_FORMAT,
     "integer"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", KITH_BAD_FORMAT, "3"},
};

static void test_what_is_wrong_is_said_with_its_line(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        kith_sparse *sparse = NULL;
        const char *path = write_text(wrong[k].text);
        if (kith_sparse_read(context, NULL, path, &sparse) != wrong[k].status ||
            !has_fields(kith_error_message(), wrong[k].words) ||
            !strstr(kith_error_message(), path))
            fail_msg("'%s' gives: %s", wrong[k].text, kith_error_message());
        assert_null(sparse);
    }
    kith_sparse *sparse = NULL;
    assert_fails(kith_sparse_read(context, NULL, "nowhere.mtx", &sparse), KITH_IO_ERROR,
                 "nowhere.mtx");
    assert_fails(kith_sparse_read(context, NULL, "nowhere.mtx.gz", &sparse), KITH_IO_ERROR,
                 "nowhere.mtx.gz");
    kith_context_free(context);
}

static void test_a_byte_order_mark_is_left_out(void **state)
{
    (void)state;
    check_text("\xEF\xBB\xBF" COORDINATE "1 2 1\n1 2 3\n", 1, 2, (const double[]){0, 3});
}

/* NaN and infinity as values, and what IEEE 754 makes of them in a product. */
static void test_nan_and_infinity_are_values(void **state)
{
    (void)state;
    static const char *const words[] = {"nan", "NaN",  "-NAN",     "inf",      "+Inf",
                                        "INF", "-inf", "Infinity", "-INFINITY"};
    kith_context *context = cpu_context(2);
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        char text[200];
        const double expected = strtod(words[k], NULL), x[2] = {2, 0};
        double y[2] = {0};
        snprintf(text, sizeof text, "%s2 2 3\n1 1 %s\n2 1 5\n2 2 1\n", COORDINATE, words[k]);
        kith_sparse *sparse = read_text(context, text);
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                       kith_array_vector((void *)x, KITH_F64, 2), 0,
                                       kith_array_vector(y, KITH_F64, 2)));
        assert_true(isnan(expected) ? isnan(y[0]) : y[0] == expected);
        assert_true(y[1] == 10);
        kith_sparse *again = NULL;
        assert_ok(kith_sparse_write(sparse, "market_test.mtx"));
        assert_ok(kith_sparse_read(context, NULL, "market_test.mtx", &again));
        const double value = ((const double *)again->side[0].csr.value)[0];
        assert_true(isnan(expected) ? isnan(value) : value == expected);
        kith_sparse_free(again);
        kith_sparse_free(sparse);
    }
    check_text("%%MatrixMarket matrix array real symmetric\n1 1\n-inf\n", 1, 1,
               (const double[]){-INFINITY});
    kith_context_free(context);
}

/* A zero byte would end its line for functions of the C library, and hide what follows. */
static void test_zero_bytes_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* @ stands for the zero byte */
        const char *words;
    } texts[] = {
        {"%%MatrixMarket@ matrix coordinate real general\n1 1 1\n1 1 1\n", "line 1 "},
        {COORDINATE "% note @\n1 1 1\n1 1 1\n", "line 2 "},
        {COORDINATE "1 1 1@ 7\n1 1 1\n", "line 2 "},
        {COORDINATE "1 1 1\n1 1 1@23\n", "line 3 "},
        {COORDINATE "1 1 1\n1 1 1\n@\n", "line 4 "},
        {COORDINATE "1 1 1\n1 1 1\n@", "line 4 "},
    };
    kith_context *context = cpu_context(2);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        char bytes[200];
        const size_t count = strlen(texts[k].text);
        memcpy(bytes, texts[k].text, count);
        *(char *)memchr(bytes, '@', count) = 0;
        FILE *stream = fopen("market_test.mtx", "wb");
        assert_int_equal(fwrite(bytes, 1, count, stream), count);
        fclose(stream);
        kith_sparse *sparse = NULL;
        assert_fails(kith_sparse_read(context, NULL, "market_test.mtx", &sparse), KITH_BAD_FORMAT,
                     texts[k].words);
    }
    kith_context_free(context);
}

/* What a shell's command prints, read through a pipe. */
static kith_status read_from(kith_context *context, const char *command, kith_sparse **sparse)
{
    char path[40];
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(pipe));
    const kith_status status = kith_sparse_read(context, NULL, path, sparse);
    pclose(pipe);
    return status;
}

static void test_a_pipe_gives_what_a_file_gives(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    kith_sparse *sparse = NULL, *none = NULL;
    assert_ok(read_from(
        context,
        "seq 150000 | awk 'BEGIN {print \"%%MatrixMarket matrix coordinate real "
        "general\\n% of a pipe\\n\\n150000 1 150000\"} {printf \"%d 1 %.3f\\n\", $1, $1 / 8}'",
        &sparse));
    const struct sparse_csr *csr = &sparse->side[0].csr;
    assert_int_equal(csr->nonzeros, 150000);
    for (int64_t k = 0; k < csr->nonzeros; k++)
        assert_true(((const double *)csr->value)[k] == (double)(k + 1) / 8);
    kith_sparse_free(sparse);
    assert_fails(
        read_from(context, "echo '" COORDINATE "1 1 1'; seq 300000 | sed 's/.*/% &/'", &none),
        KITH_BAD_FORMAT, "line 300002 0");
    kith_context_free(context);
}

static void test_what_never_ends_is_not_read_for_ever(void **state)
{
    (void)state;
    static const struct {
        const char *command, *words;
    } endless[] = {
        {"cat /dev/zero", "line 1 1048576"},
        {"yes 1 1 1", "line 1"},
        {"echo '" COORDINATE "2 2 3'; yes 1 1 1", "line 6 3"},
        {"echo '" COORDINATE "2 2'; yes 1 1 1", "line 2 '2 2'"},
        {"echo '" COORDINATE "'; yes ''", "67108864"},
        {"echo '" COORDINATE "'; tr '\\0' ' ' </dev/zero", "line 3"},
        {"echo '" COORDINATE "2 2 3'; tr '\\0' 1 </dev/zero", "line 3"},
    };
    kith_context *context = cpu_context(2);
    kith_sparse *sparse = NULL;
    for (size_t k = 0; k < sizeof endless / sizeof endless[0]; k++) {
        if (read_from(context, endless[k].command, &sparse) != KITH_BAD_FORMAT ||
            !has_fields(kith_error_message(), endless[k].words))
            fail_msg("'%s' gives: %s", endless[k].command, kith_error_message());
        assert_null(sparse);
    }
    assert_fails(kith_sparse_read(context, NULL, "/dev/full", &sparse), KITH_BAD_FORMAT, "line 1");
    kith_context_free(context);
}

static void test_lines_of_a_million_bytes_are_the_longest(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    for (int surplus = 0; surplus < 2; surplus++) {
        kith_sparse *sparse = NULL;
        FILE *stream = fopen("market_test.mtx", "wb");
        fprintf(stream, "%s2 2 2\n1 1 1\n%%%*s\n2 2 2\n", COORDINATE, (1 << 20) - 1 + surplus, "");
        fclose(stream);
        const kith_status status = kith_sparse_read(context, NULL, "market_test.mtx", &sparse);
        if (!surplus)
            assert_ok(status);
        else
            assert_fails(status, KITH_BAD_FORMAT, "line 4 1048576");
        kith_sparse_free(sparse);
    }
    kith_context_free(context);
}

/* Long enough for several chunks: the line is right in the last of them too. */
static void test_the_line_of_a_late_fault_is_right(void **state)
{
    (void)state;
    enum { lines = 200000 };
    kith_context *context = cpu_context(2);
    FILE *stream = fopen("market_test.mtx", "wb");
    fprintf(stream, "%s%d 1 %d\n", COORDINATE, lines, lines);
    for (int k = 0; k < lines; k++)
        fprintf(stream, k == lines - 7 ? "%d 2 1\n" : "%d 1 0.125\n", k + 1);
    fclose(stream);
    kith_sparse *sparse = NULL;
    char words[40];
    snprintf(words, sizeof words, "line %d:", lines - 7 + 3);
    assert_fails(kith_sparse_read(context, NULL, "market_test.mtx", &sparse), KITH_BAD_FORMAT,
                 words);
    kith_context_free(context);
}

/* So many that chunks begin past the last entry for which there is room. */
static void test_far_more_entries_than_promised_are_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    FILE *stream = fopen("market_test.mtx", "wb");
    fprintf(stream, "%s2 2 3\n", COORDINATE);
    for (int k = 0; k < 200000; k++)
        fputs("1 1 0.125\n", stream);
    fclose(stream);
    kith_sparse *sparse = NULL;
    assert_fails(kith_sparse_read(context, NULL, "market_test.mtx", &sparse), KITH_BAD_FORMAT,
                 "line 6 3");
    kith_context_free(context);
}

static void test_numbers_are_those_of_strtod(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("decimals");
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (int k = 0; k < 300000; k++) {
        char text[512];
        double number = 0, found = 0;
        const double exponent = random_uniform(&numbers, k % 3 ? -30 : -320, k % 3 ? 30 : 308);
        number = ldexp(random_uniform(&numbers, -2, 2), (int)(exponent * 3.3));
        if (k % 3 == 0)
            snprintf(text, sizeof text, "%.*g", 1 + k % 21, number);
        else if (k % 3 == 1)
            snprintf(text, sizeof text, "%.*f", k % 24, number);
        else
            snprintf(text, sizeof text, "%.*e", k % 21, number);
        const char *end = decimal_read(text, locale, &found);
        const double expected = strtod(text, NULL);
        if (!end || *end != 0 || memcmp(&found, &expected, sizeof found) != 0)
            fail_msg("%s is %.17g, not %.17g", text, found, expected);
    }
    /* Halfway between two doubles, and one digit on either side. */
    static const char *const hard[] = {"9007199254740993",
                                       "9007199254740992.9",
                                       "9007199254740993.1",
                                       "1e23",
                                       "8.5e22",
                                       "4503599627370496.5",
                                       "4503599627370497.5",
                                       "0.1e-26",
                                       "-0",
                                       "5e-324",
                                       "18014398509481986e-5",
                                       "123456789012345678e-27",
                                       "9999999999999999999e27"};
    for (size_t k = 0; k < sizeof hard / sizeof hard[0]; k++) {
        double found = 0;
        const double expected = strtod(hard[k], NULL);
        assert_non_null(decimal_read(hard[k], locale, &found));
        assert_memory_equal(&found, &expected, sizeof found);
    }
    freelocale(locale);
}

static void test_what_is_written_is_read_again(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("written");
    kith_context *context = cpu_context(2);
    struct entries entries = entries_anywhere(&numbers, 70, 90, 500);
    for (int64_t k = 0; k < entries.count; k++)
        entries.value[k] = random_uniform(&numbers, -1, 1) / 3;
    kith_sparse *sparse = sparse_of(context, NULL, KITH_F64, &entries), *again = NULL;
    assert_ok(kith_sparse_write(sparse, "market_test.mtx"));
    assert_ok(kith_sparse_read(context, NULL, "market_test.mtx", &again));
    const struct sparse_csr *a = &sparse->side[0].csr, *b = &again->side[0].csr;
    assert_int_equal(a->nonzeros, b->nonzeros);
    assert_memory_equal(a->column, b->column, (size_t)a->nonzeros * sizeof *a->column);
    assert_memory_equal(a->value, b->value, (size_t)a->nonzeros * sizeof(double));
    assert_fails(kith_sparse_write(sparse, "m.mtx.gz"), KITH_UNSUPPORTED, "m.mtx.gz");
    kith_sparse_free(again);
    assert_int_equal(system("gzip -kf market_test.mtx"), 0);
    assert_ok(kith_sparse_read(context, NULL, "market_test.mtx.gz", &again));
    assert_int_equal(again->side[0].csr.nonzeros, a->nonzeros);
    assert_int_equal(truncate("market_test.mtx.gz", 600), 0);
    kith_sparse *none = NULL;
    assert_fails(kith_sparse_read(context, NULL, "market_test.mtx.gz", &none), KITH_BAD_FORMAT,
                 "damaged");
    kith_sparse_free(again);
    kith_sparse_free(sparse);
    entries_free(&entries);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_files_are_read),
        cmocka_unit_test(test_what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(test_a_byte_order_mark_is_left_out),
        cmocka_unit_test(test_nan_and_infinity_are_values),
        cmocka_unit_test(test_zero_bytes_are_refused_with_their_line),
        cmocka_unit_test(test_a_pipe_gives_what_a_file_gives),
        cmocka_unit_test(test_what_never_ends_is_not_read_for_ever),
        cmocka_unit_test(test_lines_of_a_million_bytes_are_the_longest),
        cmocka_unit_test(test_the_line_of_a_late_fault_is_right),
        cmocka_unit_test(test_far_more_entries_than_promised_are_refused),
        cmocka_unit_test(test_numbers_are_those_of_strtod),
        cmocka_unit_test(test_what_is_written_is_read_again),
    };
    const int failed = cmocka_run_group_tests_name("market", tests, NULL, NULL);
    remove("market_test.mtx");
    remove("market_test.mtx.gz");
    return failed;
}
