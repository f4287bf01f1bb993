#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "core/floors.h"
#include "core/memory.h"
#include "core/status.h"

static void test_an_overflowing_allocation_is_out_of_memory(void **state)
{
    (void)state;
    void *memory = &memory;
    assert_fails(kith_allocate(INT64_MAX / 4, 8, "table", &memory), KITH_OUT_OF_MEMORY, "table");
    assert_null(memory);
}

static void test_a_context_computes_where_it_was_asked_to(void **state)
{
    (void)state;
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = 3};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    assert_int_equal(kith_context_threads(context), 3);
    assert_int_equal(kith_context_device(context).kind, KITH_CPU);
    kith_context_free(context);
}

static void test_a_context_refuses_negative_threads(void **state)
{
    (void)state;
    const kith_context_options options = {.threads = -1};
    kith_context *context = NULL;
    assert_fails(kith_context_create(&options, &context), KITH_INVALID_ARGUMENT, "threads -1");
    assert_null(context);
}

static void test_a_missing_device_is_an_error(void **state)
{
    (void)state;
    const kith_context_options options = {.device = {KITH_CPU, 7}};
    kith_context *context = NULL;
    assert_fails(kith_context_create(&options, &context), KITH_NO_DEVICE, "cpu:7");
}

static void test_an_unknown_instruction_set_is_an_error(void **state)
{
    (void)state;
    kith_context *context = NULL;
    setenv("KITH_ISA", "v9", 1);
    assert_fails(kith_context_create(NULL, &context), KITH_INVALID_ARGUMENT, "KITH_ISA 'v9'");
    unsetenv("KITH_ISA");
}

static void test_cancelling_is_remembered_until_cleared(void **state)
{
    (void)state;
    kith_context *context = NULL;
    assert_ok(kith_context_create(NULL, &context));
    assert_false(kith_context_is_cancelled(context));
    kith_context_cancel(context);
    assert_true(kith_context_is_cancelled(context));
    kith_context_clear_cancel(context);
    assert_false(kith_context_is_cancelled(context));
    kith_context_free(context);
}

static void test_words_put_before_a_message_keep_it(void **state)
{
    (void)state;
    kith_fail_message("line %d: no number", 7);
    assert_int_equal(kith_fail_within(KITH_BAD_FORMAT, "%s: ", "a.csv"), KITH_BAD_FORMAT);
    assert_string_equal(kith_error_message(), "a.csv: line 7: no number");
}

static void test_the_floors_are_the_powers_of_two_that_are_asserted(void **state)
{
    (void)state;
    assert_true(S2_FLOOR_FLOAT == ldexpf(1, -S2_FLOOR_FLOAT_EXPONENT));
    assert_true(S2_FLOOR_DOUBLE == ldexp(1, -S2_FLOOR_DOUBLE_EXPONENT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_floors_are_the_powers_of_two_that_are_asserted),
        cmocka_unit_test(test_an_overflowing_allocation_is_out_of_memory),
        cmocka_unit_test(test_a_context_computes_where_it_was_asked_to),
        cmocka_unit_test(test_a_context_refuses_negative_threads),
        cmocka_unit_test(test_a_missing_device_is_an_error),
        cmocka_unit_test(test_an_unknown_instruction_set_is_an_error),
        cmocka_unit_test(test_cancelling_is_remembered_until_cleared),
        cmocka_unit_test(test_words_put_before_a_message_keep_it),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
