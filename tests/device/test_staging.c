/* Arrays on the host that go to a device: here one whose memory is other memory of the host. */

#include "forces_system.h"

#include "device/context.h"
#include "device/staging.h"

static char *own;
static int64_t own_bytes, copied_in, copied_out;
static bool holds;

static kith_status far_workspace(kith_context *context, int64_t bytes, void **host, void **there)
{
    (void)context;
    static char *memory;
    free(memory);
    free(own);
    memory = malloc((size_t)bytes + 1);
    own = malloc((size_t)bytes + 1);
    own_bytes = bytes;
    memset(memory, 0xff, (size_t)bytes);
    memset(own, 0xff, (size_t)bytes);
    *host = memory;
    *there = own;
    return KITH_OK;
}

static kith_status far_copy_in(kith_context *context, void *to, const void *from, int64_t bytes)
{
    (void)context;
    copied_in += bytes;
    memcpy(to, from, (size_t)bytes);
    return KITH_OK;
}

static kith_status far_copy_out(kith_context *context, void *to, const void *from, int64_t bytes)
{
    (void)context;
    copied_out += bytes;
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
    return KITH_OK;
}

static void hold(kith_context *context)
{
    (void)context;
    holds = true;
}

static void drop(kith_context *context)
{
    (void)context;
    holds = false;
}

static kith_status found;

static kith_status report(kith_context *context)
{
    (void)context;
    holds = false;
    return found == KITH_OK ? KITH_OK : kith_fail(found, "row 3 of x has nan");
}

static struct device_services far_services;
static kith_context *context;

static int set_up(void **state)
{
    (void)state;
    context = new_context(NULL, 2);
    far_services = *context->services;
    far_services.workspace = far_workspace;
    far_services.copy_in = far_copy_in;
    far_services.copy_out = far_copy_out;
    far_services.hold_errors = hold;
    far_services.report_errors = report;
    far_services.drop_errors = drop;
    context->services = &far_services;
    context->device = (kith_device){KITH_CUDA, 1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    context->services = &device_cpu;
    context->device = (kith_device){KITH_CPU, 0};
    kith_context_free(context);
    free(own);
    own = NULL;
    return 0;
}

/* Element (row, column) of any array is 10 row + column. */
static void assert_row_major(kith_array array)
{
    assert_int_equal(array.device.kind, KITH_CUDA);
    assert_int_equal(array.device.index, 1);
    assert_true((char *)array.data >= own && (char *)array.data < own + own_bytes);
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 1;
    for (int64_t k = 0; k < array.shape[0] * columns; k++) {
        const int64_t row = k / columns, column = k % columns;
        assert_true(get(array, k) == (double)(10 * row + column));
    }
}

static void test_more_numbers_than_can_be_addressed_are_refused(void **state)
{
    static const int64_t counts[] = {INT64_C(1) << 60, INT64_C(1) << 58, INT64_MAX};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        double same = 0;
        kith_array a = kith_array_matrix(&same, KITH_F64, counts[k], 3), b = a;
        a.strides[0] = b.strides[0] = 0;
        struct staging staging = {.context = context};
        staging_add(&staging, &a, false);
        staging_add(&staging, &b, false);
        staging_add(&staging, &b, true);
        assert_fails(staging_send(&staging), KITH_OUT_OF_MEMORY, "addressed");
        assert_true(a.data == &same);
    }
}

/* Of any strides: backwards, by columns, one number for all, contiguous. */
static void test_inputs_arrive_contiguous(void **state)
{
    (void)state;
    enum { n = 20000 };
    float *f = malloc(3 * n * sizeof *f);
    double *d = malloc(2 * n * sizeof *d), v[4] = {30, 20, 10, 0}, same = 0;
    for (int64_t row = 0; row < n; row++) {
        for (int64_t c = 0; c < 3; c++)
            f[3 * row + c] = (float)(10 * row + c);
        for (int64_t c = 0; c < 2; c++)
            d[c * n + row] = (double)(10 * row + c);
    }
    kith_array a = kith_array_matrix(f, KITH_F32, n, 3), b = kith_array_matrix(d, KITH_F64, n, 2);
    kith_array c = kith_array_vector(v + 3, KITH_F64, 4), e = kith_array_vector(&same, KITH_F64, 7);
    kith_array absent = kith_array_none(), empty = kith_array_vector(NULL, KITH_F64, 0);
    b.strides[0] = 1;
    b.strides[1] = n;
    c.strides[0] = -1;
    e.strides[0] = 0;
    struct staging staging = {.context = context};
    kith_array *const all[] = {&a, &b, &c, &e, &absent, &empty};
    for (int k = 0; k < 6; k++)
        staging_add(&staging, all[k], false);
    assert_ok(staging_send(&staging));
    assert_true(holds);
    assert_row_major(a);
    assert_row_major(b);
    assert_row_major(c);
    for (int64_t k = 0; k < 7; k++)
        assert_true(get(e, k) == 0);
    assert_true(kith_array_is_none(absent));
    assert_int_equal(empty.device.kind, KITH_CUDA);
    assert_ok(staging_receive(&staging, KITH_OK));
    assert_false(holds);
    free(f);
    free(d);
}

/* Only the outputs come back, and the elements between those of an array stay as they were. */
static void test_outputs_come_back_to_their_strides(void **state)
{
    (void)state;
    double x[3] = {0, 10, 20}, to[12], phi[3];
    for (int k = 0; k < 12; k++)
        to[k] = -1;
    kith_array input = kith_array_vector(x, KITH_F64, 3), a = kith_array_matrix(to, KITH_F64, 3, 2);
    kith_array b = kith_array_vector(phi, KITH_F64, 3);
    a.strides[0] = 4;
    a.strides[1] = 2;
    struct staging staging = {.context = context};
    staging_add(&staging, &a, true);
    staging_add(&staging, &input, false);
    staging_add(&staging, &b, true);
    copied_in = copied_out = 0;
    assert_ok(staging_send(&staging));
    assert_int_equal(copied_in, 256);
    assert_row_major(input);
    for (int64_t k = 0; k < 6; k++)
        put(a, k, (double)k);
    for (int64_t k = 0; k < 3; k++)
        put(b, k, 7);
    assert_ok(staging_receive(&staging, KITH_OK));
    assert_int_equal(copied_out, 512);
    const double expected[12] = {0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1};
    assert_memory_equal(to, expected, sizeof to);
    assert_true(phi[0] == 7 && phi[2] == 7);
}

static void test_outputs_are_untouched_after_an_error(void **state)
{
    (void)state;
    double to[2] = {5, 6};
    for (int late = 0; late < 2; late++) {
        kith_array a = kith_array_vector(to, KITH_F64, 2);
        struct staging staging = {.context = context};
        staging_add(&staging, &a, true);
        assert_ok(staging_send(&staging));
        put(a, 0, 1);
        found = late ? KITH_INVALID_ARGUMENT : KITH_OK;
        assert_int_equal(staging_receive(&staging, late ? KITH_OK : KITH_CANCELLED),
                         late ? KITH_INVALID_ARGUMENT : KITH_CANCELLED);
        assert_false(holds);
        assert_true(to[0] == 5 && to[1] == 6);
    }
    found = KITH_OK;
}

static void test_arrays_on_the_device_are_not_staged(void **state)
{
    (void)state;
    kith_array a = kith_array_vector(NULL, KITH_F64, 0);
    assert_true(staging_is_needed(context, a));
    a.device = context->device;
    assert_false(staging_is_needed(context, a));
    context->device = (kith_device){KITH_CPU, 0};
    a.device = context->device;
    assert_false(staging_is_needed(context, a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_more_numbers_than_can_be_addressed_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_inputs_arrive_contiguous, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_outputs_come_back_to_their_strides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_outputs_are_untouched_after_an_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_arrays_on_the_device_are_not_staged, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("staging", tests, NULL, NULL);
}
