/* Whether arrays overlap: compared with marking each of their bytes. */

#include <math.h>
#include <string.h>

#include "device/arrays.h"
#include "device/memory_overlap.h"
#include "random_numbers.h"
#include "testing.h"

enum { memory_bytes = 1 << 12 };

static _Alignas(8) char memory[memory_bytes];
static bool marked[memory_bytes];
static struct random_numbers numbers;

static int64_t whole(int64_t least, int64_t most)
{
    return (int64_t)floor(random_uniform(&numbers, (double)least, (double)most + 1));
}

/* Marks the bytes of an array, or returns whether one of them is marked. */
static bool visit(const kith_array *array, bool marks)
{
    const int64_t each = kith_dtype_bytes(array->dtype);
    for (int64_t i = 0; i < array->shape[0]; i++)
        for (int64_t j = 0; j < kith_array_columns(*array); j++)
            for (int64_t byte = 0; byte < each; byte++) {
                const int64_t element =
                    i * array->strides[0] + (array->ndim == 2 ? j * array->strides[1] : 0);
                const int64_t at = (char *)array->data - memory + element * each + byte;
                assert_true(at >= 0 && at < memory_bytes);
                if (!marks && marked[at])
                    return true;
                marked[at] = marked[at] || marks;
            }
    return false;
}

/* An array within the memory, of any small shape and strides, at any byte. */
static kith_array random_array(void)
{
    const kith_dtype dtype = random_uniform(&numbers, 0, 1) < 0.5 ? KITH_F32 : KITH_F64;
    kith_array array = kith_array_vector(NULL, dtype, whole(0, 6));
    array.ndim = (int32_t)whole(1, 2);
    int64_t low = 0, high = 0;
    for (int32_t k = 0; k < 2; k++) {
        array.shape[k] = whole(k == 0 && whole(0, 9) == 0 ? 0 : 1, k == 0 ? 12 : 4);
        array.strides[k] = whole(0, 3) == 0 ? whole(-1, 1) : whole(-9, 9);
        if (k >= array.ndim || array.shape[k] == 0)
            continue;
        const int64_t span = (array.shape[k] - 1) * array.strides[k];
        low += span < 0 ? span : 0;
        high += span > 0 ? span : 0;
    }
    const int64_t each = kith_dtype_bytes(dtype), room = memory_bytes - (high - low + 1) * each;
    const int64_t from = whole(0, 2) == 0 ? 0 : 1800; /* some far apart */
    array.data = memory - low * each + from + whole(0, room < 200 ? room : 200);
    if (whole(0, 3) > 0) /* most have the alignment of their numbers */
        array.data = (char *)array.data - ((char *)array.data - (memory - low * each)) % 8;
    return array;
}

static void test_arrays_overlap_if_they_have_a_byte_in_common(void **state)
{
    (void)state;
    int64_t count[2] = {0, 0};
    for (int trial = 0; trial < 40000; trial++) {
        const kith_array a = random_array(), b = random_array();
        memset(marked, 0, sizeof marked);
        visit(&a, true);
        const bool expected = visit(&b, false);
        if (kith_arrays_overlap(&a, &b) != expected || kith_arrays_overlap(&b, &a) != expected)
            fail_msg("trial %d: %s", trial, expected ? "they overlap" : "they do not overlap");
        count[expected]++;
    }
    assert_true(count[0] > 5000 && count[1] > 5000);
}

/* Its memory is never touched. */
static kith_array strided(int64_t byte, int64_t n, int64_t stride)
{
    const uintptr_t at = (uintptr_t)memory + (uintptr_t)byte;
    kith_array array = kith_array_vector(memory, KITH_F64, n);
    memcpy(&array.data, &at, sizeof at);
    array.strides[0] = stride;
    return array;
}

static void test_long_arrays_are_decided_without_their_elements(void **state)
{
    (void)state;
    const int64_t n = (int64_t)1 << 40;
    kith_array even = strided(0, n, 6), odd = strided(8, n, 10);
    assert_false(kith_arrays_overlap(&even, &odd));
    odd = strided(16, n, 10); /* 6 i = 2 + 10 k at i = 2 */
    assert_true(kith_arrays_overlap(&even, &odd));
    kith_array one = strided((5 + 6 * (n / 2)) * 8, 1, 1);
    assert_false(kith_arrays_overlap(&even, &one));
    one.data = (char *)one.data - 33;
    assert_true(kith_arrays_overlap(&even, &one));

    kith_array row = kith_array_matrix(memory, KITH_F64, n, 3), other = row;
    row.strides[0] = 7, other.strides[0] = 7;
    other.data = memory + 4 * 8; /* columns 4 to 6 of a matrix of seven */
    assert_false(kith_arrays_overlap(&row, &other));
    other.data = memory + 2 * 8;
    assert_true(kith_arrays_overlap(&row, &other));
    other.shape[0] = 0;
    assert_false(kith_arrays_overlap(&row, &other));
}

static void test_an_output_that_interleaves_an_input_is_an_error_if_they_meet(void **state)
{
    (void)state;
    kith_array output = strided(0, 10, 3);
    const kith_array input = strided(8 * 7, 10, 2); /* element 9 is the output's third */
    const kith_array beside = strided(8, 10, 3);
    const struct named_array named = {.name = "result", .array = &output};
    assert_int_equal(kith_check_overlap(&named, &input, "x"), KITH_INVALID_ARGUMENT);
    assert_string_equal(kith_error_message(), "result overlaps x; give it memory of its own");
    assert_ok(kith_check_overlap(&named, &beside, "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_overlap_if_they_have_a_byte_in_common),
        cmocka_unit_test(test_long_arrays_are_decided_without_their_elements),
        cmocka_unit_test(test_an_output_that_interleaves_an_input_is_an_error_if_they_meet),
    };
    numbers = random_numbers_begin("overlap");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
