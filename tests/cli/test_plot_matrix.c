/* Pictures of sparse matrices. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "program.h"

static int count_in_file(const char *name, const char *text)
{
    char *content = program_read(name);
    int count = 0;
    assert_non_null(content);
    for (const char *at = content; (at = strstr(at, text)); at++)
        count++;
    free(content);
    return count;
}

static int make_matrices(void **state)
{
    (void)state;
    static char text[40000];
    int length = snprintf(text, sizeof text,
                          "%%%%MatrixMarket matrix coordinate pattern general\n"
                          "300 500 599\n");
    for (int j = 1; j <= 300; j++) /* a full first row, a full first column */
        length += snprintf(text + length, sizeof text - (size_t)length, "1 %d\n%d 1\n", j, j);
    char *twice = strstr(text, "1 1\n1 1\n");
    memmove(twice, twice + 4, strlen(twice + 4) + 1);
    program_write("arrow.mtx", text);
    program_write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 4 0\n");
    program_write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 0\n");
    return 0;
}

static void test_matrices_are_drawn(void **state)
{
    (void)state;
    static const char *const kinds[] = {"spy", "row-lengths"};
    for (int k = 0; k < 2; k++) {
        assert_succeeded(program_run("plot @arrow.mtx --what %s -q -o @arrow.svg", kinds[k]));
        assert_int_equal(count_in_file("arrow.svg", "</svg>"), 1);
        assert_int_equal(count_in_file("arrow.svg", "300 × 500, 599 entries"), 1);
        assert_succeeded(
            program_run("plot @empty.mtx --what %s --dark -q -o @empty.png", kinds[k]));
        assert_true(program_exists("empty.png"));
    }
}

static void test_nothing_to_draw_is_an_error(void **state)
{
    (void)state;
    assert_refused(program_run("plot @none.mtx --what spy -o @none.png"), 1, "nothing");
    assert_refused(program_run("plot @gone.mtx --what spy -o @none.png"), 1, "gone.mtx");
    assert_true(!program_exists("none.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices_are_drawn),
        cmocka_unit_test(test_nothing_to_draw_is_an_error),
    };
    return cmocka_run_group_tests_name("plot_matrix", tests, make_matrices, NULL);
}
