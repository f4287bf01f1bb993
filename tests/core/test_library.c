#include "testing.h"

#include <math.h>

#include "core/library.h"

static double (*cosine)(double), (*no_function)(double);

static void test_functions_of_a_library_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"libno-such-library.so", "libm.so.6"};
    const struct library_function functions[] = {{&cosine, "cos"}, {&no_function, "no_cosine"}};
    void *handle = library_open(names, 2, NULL);
    if (!handle)
        skip(); /* another C library */
    assert_null(library_find(handle, functions, 1));
    assert_true(cosine(0) == 1);
    assert_string_equal(library_find(handle, functions, 2), "no_cosine");
    assert_null(no_function);
}

static void test_a_missing_library_has_no_functions(void **state)
{
    (void)state;
    static const char *const name = "libno-such-library.so";
    const struct library_function function = {&no_function, "cos"};
    assert_null(library_open(&name, 1, NULL));
    assert_null(library_open(&name, 1, name));
    assert_string_equal(library_find(NULL, &function, 1), "cos");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_a_library_are_found),
        cmocka_unit_test(test_a_missing_library_has_no_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
