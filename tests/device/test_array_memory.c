/* Every array of every public call is shown to the backend, which knows whose memory it is. */

#include "array_calls.h"

#include "device/context.h"

static const void *refused;
static char refused_name[64];

static kith_status refuse_one(const kith_context *context, kith_array array, const char *name)
{
    (void)context;
    assert_true(array.ndim > 0 && array.data && array.shape[0] > 0);
    if (array.data != refused)
        return KITH_OK;
    snprintf(refused_name, sizeof refused_name, "%s", name);
    return kith_fail(KITH_INVALID_ARGUMENT, "%s is refused", name);
}

static void assert_each_array_is_shown(kith_context *context, const struct array_call *call)
{
    const int count = call_array_count(call);
    kith_array a[most_call_arrays];
    for (int k = 0; k < count; k++)
        a[k] = call_array_make(&call->array[k]);
    refused = NULL;
    assert_ok(call->call(context, a));
    for (int k = 0; k < count; k++) {
        refused = a[k].data;
        refused_name[0] = 0;
        if (call->call(context, a) != KITH_INVALID_ARGUMENT)
            fail_msg("%s: %s is not shown", call->name, call->array[k].name);
        assert_string_equal(refused_name, call->array[k].name);
    }
    for (int k = 0; k < count; k++)
        free(a[k].data);
}

static void test_every_array_is_shown_to_the_backend(void **state)
{
    (void)state;
    kith_context *context = NULL;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    const struct device_services *own = context->services;
    struct device_services services = *own;
    services.check_memory = refuse_one;
    context->services = &services;
    for (int k = 0; k < array_call_count; k++)
        assert_each_array_is_shown(context, &array_calls[k]);
    context->services = own;
    kith_context_free(context);
}

static void test_arrays_without_elements_are_nobodys(void **state)
{
    (void)state;
    kith_context *context = NULL;
    double memory[3] = {0};
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    const struct device_services *own = context->services;
    struct device_services services = *own;
    services.check_memory = refuse_one;
    context->services = &services;
    refused = memory;
    const kith_array none = kith_array_none(), empty = kith_array_matrix(memory, KITH_F64, 0, 3);
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(empty), empty, none));
    context->services = own;
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_array_is_shown_to_the_backend),
        cmocka_unit_test(test_arrays_without_elements_are_nobodys),
    };
    return cmocka_run_group_tests_name("array_memory", tests, NULL, NULL);
}
