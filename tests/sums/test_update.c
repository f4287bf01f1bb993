/* Columns updated by formulas, and arrays on the device of a context. */

#include "testing.h"

#include "forces_system.h"
#include "random_numbers.h"

#include <math.h>

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

enum { most_rows = 20011 };

static struct random_numbers numbers;

static double uniform(void)
{
    return random_uniform(&numbers, -2, 2);
}

static const kith_law_parameter parameters[] = {{"dt", 0.125}, {"g", 9.81}};
static const kith_named_formula lets[] = {{"u", "vx_i + dt * ax_i"}, {"to", "x_i + dt * u"}};
static const kith_update_options options = {
    .let_count = 2, .lets = lets, .parameter_count = 2, .parameters = parameters};
static const kith_named_formula updates[] = {{"vx", "to < 0 ? -u : u"},
                                             {"x", "fabs(to)"},
                                             {"s", "sqrt(g / (1 + x_i * x_i))"},
                                             {"b", "x_i * ax_i"}};

/* Columns x, vx, ax, s, b, each of a stride, in double or in float. */
struct columns {
    int64_t count, stride;
    double wide[5][2 * most_rows];
    float narrow[5][2 * most_rows];
};

static void fill(struct columns *columns, int64_t count, int64_t stride)
{
    columns->count = count;
    columns->stride = stride;
    for (int c = 0; c < 5; c++)
        for (int64_t k = 0; k < count * stride; k++)
            columns->wide[c][k] = (double)(columns->narrow[c][k] = (float)uniform());
}

static void views(struct columns *columns, kith_dtype dtype, kith_particle_column view[5])
{
    static const char *const names[] = {"x", "vx", "ax", "s", "b"};
    for (int c = 0; c < 5; c++) {
        void *data = dtype == KITH_F32 ? (void *)columns->narrow[c] : columns->wide[c];
        view[c] = (kith_particle_column){names[c], kith_array_vector(data, dtype, columns->count)};
        view[c].values.strides[0] = columns->stride;
    }
}

static struct columns before, after, again;

static void assert_updated(double tolerance, bool narrow)
{
    for (int64_t i = 0; i < before.count; i++) {
        const int64_t k = i * before.stride;
        const double x = before.wide[0][k], u = before.wide[1][k] + 0.125 * before.wide[2][k];
        const double to = x + 0.125 * u;
        const double expected[] = {fabs(to), to < 0 ? -u : u, before.wide[2][k],
                                   sqrt(9.81 / (1 + x * x)), x * before.wide[2][k]};
        for (int c = 0; c < 5; c++) {
            const double found = narrow ? (double)after.narrow[c][k] : after.wide[c][k];
            const bool at_turn = c == 1 && fabs(to) < 1e-6; /* rounding may choose the side */
            assert_true(fabs(found - expected[c]) <= tolerance * (2 + fabs(expected[c])) ||
                        at_turn);
        }
        for (int64_t between = 1; between < before.stride; between++)
            for (int c = 0; c < 5; c++)
                assert_true(after.wide[c][k + between] == before.wide[c][k + between] &&
                            after.narrow[c][k + between] == before.narrow[c][k + between]);
    }
}

static void test_columns_are_updated_by_their_formulas(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 7, 8, 15, 16, 17, 63, 1000, 8192, 8193, most_rows};
    kith_context *context = new_context(NULL, 0);
    kith_particle_column view[5];
    for (int64_t c = 0; c < 2 * COUNT_OF(counts); c++)
        for (int64_t stride = 1; stride <= 2; stride++) {
            const kith_dtype dtype = c % 2 ? KITH_F32 : KITH_F64;
            fill(&before, counts[c / 2], stride);
            after = before;
            views(&after, dtype, view);
            assert_ok(kith_columns_update(context, &options, 5, view, 4, updates));
            assert_updated(dtype == KITH_F32 ? 1e-6 : 1e-15, dtype == KITH_F32);
        }
    kith_context_free(context);
}

static void test_all_formulas_see_the_columns_before_the_update(void **state)
{
    (void)state;
    static const kith_named_formula swap[] = {{"x", "vx_i"}, {"vx", "x_i"}};
    kith_context *context = new_context(NULL, 0);
    kith_particle_column view[5];
    fill(&before, 1001, 1);
    after = before;
    views(&after, KITH_F64, view);
    assert_ok(kith_columns_update(context, NULL, 5, view, 2, swap));
    assert_memory_equal(after.wide[0], before.wide[1], 1001 * sizeof(double));
    assert_memory_equal(after.wide[1], before.wide[0], 1001 * sizeof(double));
    kith_context_free(context);
}

static void test_columns_may_be_those_of_a_matrix(void **state)
{
    (void)state;
    static const kith_named_formula turn[] = {{"x", "-y_i"}, {"y", "x_i + z_i"}};
    kith_context *context = new_context(NULL, 0);
    double rows[5][3];
    kith_particle_column view[3] = {{"x", {0}}, {"y", {0}}, {"z", {0}}};
    for (int backward = 0; backward < 2; backward++) {
        for (int c = 0; c < 3; c++) {
            view[c].values = kith_array_vector(&rows[backward ? 4 : 0][c], KITH_F64, 5);
            view[c].values.strides[0] = backward ? -3 : 3;
            for (int k = 0; k < 5; k++)
                rows[k][c] = 10 * c + k;
        }
        assert_ok(kith_columns_update(context, NULL, 3, view, 2, turn));
        for (int k = 0; k < 5; k++) {
            assert_true(rows[k][0] == -10 - k);
            assert_true(rows[k][1] == 20 + 2 * k);
            assert_true(rows[k][2] == 20 + k);
        }
    }
    kith_context_free(context);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    kith_particle_column view[5];
    fill(&before, most_rows, 1);
    for (int threads = 1; threads <= 3; threads++) {
        struct columns *to = threads == 1 ? &again : &after;
        kith_context *context = new_context(NULL, threads);
        *to = before;
        views(to, KITH_F64, view);
        assert_ok(kith_columns_update(context, &options, 5, view, 4, updates));
        if (threads > 1)
            assert_memory_equal(after.wide, again.wide, sizeof after.wide);
        kith_context_free(context);
    }
}

/* An update and a sum of the same formula are compiled each for its own. */
static void test_a_sum_of_the_same_formula_is_another(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 0);
    double x[3] = {1, 2, 3}, c[3] = {5, 6, 7}, sums[3] = {0};
    const kith_named_formula formula = {"c", "c_i"};
    const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F64, 3, 1),
                                      .columns = {{"c", kith_array_vector(c, KITH_F64, 3)}}};
    assert_ok(kith_columns_update(context, NULL, 1, particles.columns, 1, &formula));
    assert_ok(kith_sums_compute(context, NULL, NULL, &particles, 1, &formula,
                                kith_array_matrix(sums, KITH_F64, 3, 1)));
    assert_true(c[0] == 5 && sums[0] == 10 && sums[2] == 14);
    kith_context_free(context);
}

static void test_a_cancelled_context_updates_nothing(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 0);
    kith_particle_column view[5];
    fill(&before, 100, 1);
    after = before;
    views(&after, KITH_F64, view);
    kith_context_cancel(context);
    assert_int_equal(kith_columns_update(context, &options, 5, view, 4, updates), KITH_CANCELLED);
    assert_memory_equal(&after, &before, sizeof after);
    kith_context_free(context);
}

struct mistake {
    const char *name, *formula, *message;
};

static void test_mistakes_are_reported_in_one_sentence(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {"z", "x_i", "an update is of z, which is not a column"},
        {"x", "vx_j", "an update has vx_j, but is of one particle; give vx_i"},
        {"x", "r * x_i", "an update has r"},
        {"x", "x_i + dx", "an update has r"},
        {"x", "x_i +", "update x:"},
        {"x", "w_i", "update x:"},
    };
    kith_context *context = new_context(NULL, 0);
    kith_particle_column view[5];
    fill(&before, 10, 1);
    views(&before, KITH_F64, view);
    for (int64_t k = 0; k < COUNT_OF(mistakes); k++) {
        const kith_named_formula update = {mistakes[k].name, mistakes[k].formula};
        assert_int_equal(kith_columns_update(context, NULL, 5, view, 1, &update),
                         KITH_INVALID_ARGUMENT);
        assert_non_null(strstr(kith_error_message(), mistakes[k].message));
    }
    static const kith_named_formula twice[] = {{"x", "x_i"}, {"x", "2 * x_i"}};
    assert_int_equal(kith_columns_update(context, NULL, 5, view, 2, twice), KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "update x is given twice"));
    assert_int_equal(kith_columns_update(context, NULL, 5, view, 0, twice), KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "update_count is 0"));
    view[1].values = view[0].values;
    view[1].values.shape[0] = 9;
    assert_int_equal(kith_columns_update(context, NULL, 5, view, 4, updates),
                     KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "vx has 9 elements; give 10"));
    view[1].values.shape[0] = 10;
    assert_int_equal(kith_columns_update(context, &options, 5, view, 4, updates),
                     KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "overlaps"));
    view[1].name = "x";
    assert_int_equal(kith_columns_update(context, NULL, 5, view, 4, updates),
                     KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "column x is given twice"));
    kith_context_free(context);
}

static void test_an_array_is_zeros_and_copies_are_exact(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{0, 0}, {1, 0}, {7, 3}, {1000, 1}, {0, 4}};
    kith_context *context = new_context(NULL, 0);
    for (int64_t k = 0; k < COUNT_OF(sizes); k++) {
        const int64_t rows = sizes[k][0], columns = sizes[k][1] > 0 ? sizes[k][1] : 1;
        kith_array array, host = kith_array_matrix(before.wide, KITH_F64, rows, columns);
        kith_array back = kith_array_matrix(after.wide, KITH_F64, rows, columns);
        if (sizes[k][1] == 0)
            host.ndim = back.ndim = 1;
        fill(&before, 1000, 2);
        assert_ok(kith_array_create(context, KITH_F64, rows, sizes[k][1], &array));
        for (int64_t i = 0; i < rows * columns; i++)
            assert_true(((double *)array.data)[i] == 0);
        assert_ok(kith_array_copy(context, host, array));
        assert_ok(kith_array_copy(context, array, back));
        if (rows > 0)
            assert_memory_equal(host.data, back.data, (size_t)(rows * columns) * sizeof(double));
        kith_array_free(context, &array);
        assert_true(kith_array_is_none(array));
    }
    kith_array array;
    assert_int_equal(kith_array_create(context, KITH_F64, -1, 0, &array), KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "rows is -1"));
    array.ndim = 1;
    assert_int_equal(kith_array_create(NULL, KITH_F64, 1, 0, &array), KITH_INVALID_ARGUMENT);
    assert_true(kith_array_is_none(array));
    kith_array gaps = kith_array_vector(before.wide, KITH_F64, 5);
    gaps.strides[0] = 2;
    assert_int_equal(kith_array_copy(context, gaps, kith_array_vector(after.wide, KITH_F64, 5)),
                     KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "from has gaps"));
    static const int32_t other_dimensions[] = {-1, 0, 3};
    for (int64_t k = 0; k < COUNT_OF(other_dimensions); k++) {
        kith_array other = kith_array_vector(before.wide, KITH_F64, -5);
        other.ndim = other_dimensions[k];
        assert_int_equal(kith_array_copy(context, other, other), KITH_INVALID_ARGUMENT);
        assert_non_null(strstr(kith_error_message(), "give a vector or a matrix"));
    }
    kith_array row = kith_array_matrix(before.wide, KITH_F64, 1, 5);
    row.strides[1] = 2;
    assert_int_equal(kith_array_copy(context, row, kith_array_matrix(after.wide, KITH_F64, 1, 5)),
                     KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "from has gaps"));
    kith_context_free(context);
}

static void test_arrays_that_overlap_are_not_copied(void **state)
{
    (void)state;
    static const int64_t shifts[] = {-4, -1, 0, 1, 4};
    kith_context *context = new_context(NULL, 0);
    double *middle = after.wide[0] + 100;
    fill(&before, 1000, 1);
    after = before;
    for (int64_t k = 0; k < COUNT_OF(shifts); k++) {
        assert_int_equal(kith_array_copy(context, kith_array_vector(middle, KITH_F64, 5),
                                         kith_array_vector(middle + shifts[k], KITH_F64, 5)),
                         KITH_INVALID_ARGUMENT);
        assert_non_null(strstr(kith_error_message(), "to overlaps from"));
    }
    assert_memory_equal(&after, &before, sizeof after);
    for (int side = -1; side <= 1; side += 2)
        assert_ok(kith_array_copy(context, kith_array_vector(middle, KITH_F64, 5),
                                  kith_array_vector(middle + 5 * side, KITH_F64, 5)));
    assert_ok(kith_array_copy(context, kith_array_vector(middle, KITH_F64, 0),
                              kith_array_vector(middle, KITH_F64, 0)));
    assert_memory_equal(middle + 5, before.wide[0] + 100, 5 * sizeof *middle);
    assert_memory_equal(middle - 5, before.wide[0] + 100, 5 * sizeof *middle);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_updated_by_their_formulas),
        cmocka_unit_test(test_all_formulas_see_the_columns_before_the_update),
        cmocka_unit_test(test_columns_may_be_those_of_a_matrix),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_a_sum_of_the_same_formula_is_another),
        cmocka_unit_test(test_a_cancelled_context_updates_nothing),
        cmocka_unit_test(test_mistakes_are_reported_in_one_sentence),
        cmocka_unit_test(test_an_array_is_zeros_and_copies_are_exact),
        cmocka_unit_test(test_arrays_that_overlap_are_not_copied),
    };
    numbers = random_numbers_begin("update");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
