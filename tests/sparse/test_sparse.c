/* Products in every format and kernel against the same sums in long double. */
#include "simulating.h"

#include <stdlib.h>

#include "device/context.h"
#include "sparse/object.h"
#include "sparse/sparse_cpu.h"
#include "sparse_matrices.h"

/* The kinds of matrices that formats differ on. */
enum {
    kind_anywhere,
    kind_empty_rows,
    kind_dense_row,
    kind_dense_column,
    kind_banded,
    kind_symmetric,
    kind_blocks,
    kind_far_columns,
    kind_count
};

static void add_symmetric(struct entries *entries, struct random_numbers *numbers, int64_t i,
                          int64_t j)
{
    if (i < 0 || j < 0 || i >= entries->rows || j >= entries->columns)
        return;
    entries_add(entries, numbers, i, j);
    if (i == j)
        return;
    entries->row[entries->count] = j;
    entries->column[entries->count] = i;
    entries->value[entries->count] = entries->value[entries->count - 1];
    entries->count++;
}

static struct entries make(struct random_numbers *numbers, int kind, int64_t rows, int64_t columns)
{
    const int64_t most = 40 * (rows + columns);
    struct entries entries = entries_create(rows, columns, most);
    if (rows == 0 || columns == 0)
        return entries;
    const int64_t square = rows < columns ? rows : columns;
    switch (kind) {
    case kind_empty_rows:
        for (int64_t k = 0; k < 4 * rows; k++)
            entries_add(&entries, numbers, random_below(numbers, rows) / 7 * 7,
                        random_below(numbers, columns) / 3 * 3);
        break;
    case kind_dense_row:
        for (int64_t j = 0; j < columns; j++)
            entries_add(&entries, numbers, rows / 2, j);
        for (int64_t k = 0; k < 3 * rows; k++)
            entries_add(&entries, numbers, random_below(numbers, rows),
                        random_below(numbers, columns));
        break;
    case kind_dense_column:
        for (int64_t i = 0; i < rows; i++) {
            entries_add(&entries, numbers, i, columns / 3);
            entries_add(&entries, numbers, i, i % columns);
        }
        break;
    case kind_banded:
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = i - 3; j <= i + 2; j++)
                if (j >= 0 && j < columns)
                    entries_add(&entries, numbers, i, j);
        break;
    case kind_symmetric:
        entries.rows = entries.columns = square;
        for (int64_t i = 0; i < square; i++) {
            add_symmetric(&entries, numbers, i, i);
            add_symmetric(&entries, numbers, i, i + 1);
            if (i % 3)
                add_symmetric(&entries, numbers, i, i + 17);
        }
        break;
    case kind_blocks:
        for (int64_t i = 0; i < rows; i++)
            for (int64_t b = 0; b < 3; b++)
                for (int64_t c = 0; c < 3; c++) {
                    const int64_t j = (i / 3 * 5 + 11 * b) % columns / 3 * 3 + c;
                    if (j < columns)
                        entries_add(&entries, numbers, i, j);
                }
        break;
    default:
        for (int64_t k = 0; k < 6 * rows; k++)
            entries_add(&entries, numbers, random_below(numbers, rows),
                        random_below(numbers, columns));
    }
    return entries;
}

static double *random_vector(struct random_numbers *numbers, int64_t count)
{
    double *vector = malloc((size_t)(count + 1) * sizeof *vector);
    for (int64_t k = 0; k < count; k++)
        vector[k] = (double)(random_below(numbers, 2001) - 1000) / 256;
    return vector;
}

/* α op(A) x + β y with the API, for one vector or several side by side. */
static void check_multiply(kith_sparse *sparse, const char *what, const struct entries *entries,
                           kith_dtype dtype, bool transposed, double beta, int64_t vectors,
                           struct random_numbers *numbers)
{
    const int64_t rows = transposed ? entries->columns : entries->rows;
    const int64_t columns = transposed ? entries->rows : entries->columns;
    double *x = random_vector(numbers, columns * vectors);
    double *before = random_vector(numbers, rows * vectors);
    void *own_x = numbers_as(dtype, x, columns * vectors);
    void *y = numbers_as(dtype, before, rows * vectors);
    kith_array in = kith_array_matrix(own_x, dtype, columns, vectors);
    kith_array out = kith_array_matrix(y, dtype, rows, vectors);
    if (vectors == 1) {
        in = kith_array_vector(own_x, dtype, columns);
        out = kith_array_vector(y, dtype, rows);
    }
    for (int64_t i = 0; beta == 0 && i < rows * vectors; i++)
        set_element(y, dtype, i, NAN);
    assert_ok(kith_sparse_multiply(sparse, transposed ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS,
                                   0.75, in, beta, out));
    check_product(what, entries, transposed, 0.75, x, beta, before, y, dtype, vectors);
    free(x);
    free(before);
    free(own_x);
    free(y);
}

static const int64_t sizes[][2] = {{0, 0},   {0, 5},    {5, 0},    {1, 1},     {1, 300},  {300, 1},
                                   {31, 33}, {64, 129}, {200, 70}, {127, 127}, {700, 701}};
enum { size_count = sizeof sizes / sizeof sizes[0] };

/* What the CPU has: everything else must say that it is not there. */
static bool is_had(int64_t format, int64_t kernel)
{
    if (kernel == KITH_SPARSE_KERNEL_AUTO || format == KITH_SPARSE_AUTO)
        return true;
    switch (format) {
    case KITH_SPARSE_COO:
        return kernel == KITH_SPARSE_ELEMENT;
    case KITH_SPARSE_CSR:
        return kernel != KITH_SPARSE_ELEMENT;
    default:
        return kernel == KITH_SPARSE_ROW_THREAD;
    }
}

static void check_choice(kith_context *context, int64_t format, int64_t kernel,
                         const struct entries *entries, struct random_numbers *numbers)
{
    int64_t count = 0;
    char what[64];
    const kith_sparse_options options = {.format = (kith_sparse_format)format,
                                         .kernel = (kith_sparse_kernel)kernel};
    snprintf(what, sizeof what, "%s, %s", kith_sparse_format_list(&count)[format].name,
             kith_sparse_kernel_list(&count)[kernel].name);
    for (int d = 0; d < 2; d++) {
        const kith_dtype dtype = d ? KITH_F32 : KITH_F64;
        kith_sparse *sparse = sparse_of(context, &options, dtype, entries);
        kith_sparse_info info;
        assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
        assert_true(format == KITH_SPARSE_AUTO || (int64_t)info.format == format);
        assert_true(kernel == KITH_SPARSE_KERNEL_AUTO || (int64_t)info.kernel == kernel);
        for (int transposed = 0; transposed < 2; transposed++) {
            check_multiply(sparse, what, entries, dtype, transposed, 0, 1, numbers);
            check_multiply(sparse, what, entries, dtype, transposed, -0.5, 1, numbers);
            check_multiply(sparse, what, entries, dtype, transposed, 0, 3, numbers);
            check_multiply(sparse, what, entries, dtype, transposed, 2, 17, numbers);
        }
        kith_sparse_free(sparse);
    }
}

static void test_every_format_and_kernel_gives_the_product(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("formats");
    kith_context *context = cpu_context(2);
    int64_t formats = 0, kernels = 0;
    kith_sparse_format_list(&formats);
    kith_sparse_kernel_list(&kernels);
    for (int s = 0; s < size_count; s++)
        for (int kind = 0; kind < kind_count; kind++) {
            struct entries entries = make(&numbers, kind, sizes[s][0], sizes[s][1]);
            for (int64_t format = 0; format < formats; format++)
                for (int64_t kernel = 0; kernel < kernels; kernel++)
                    if (is_had(format, kernel) &&
                        !(format == KITH_SPARSE_AUTO && kernel != KITH_SPARSE_KERNEL_AUTO))
                        check_choice(context, format, kernel, &entries, &numbers);
            entries_free(&entries);
        }
    kith_context_free(context);
}

static void test_a_kernel_that_a_format_has_not_is_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("refused");
    kith_context *context = cpu_context(1);
    struct entries entries = make(&numbers, kind_anywhere, 20, 20);
    for (int64_t format = 1; format <= KITH_SPARSE_DIA; format++)
        for (int64_t kernel = 1; kernel <= KITH_SPARSE_MERGE; kernel++) {
            const kith_sparse_options options = {.format = (kith_sparse_format)format,
                                                 .kernel = (kith_sparse_kernel)kernel};
            kith_sparse *sparse = NULL;
            if (is_had(format, kernel))
                continue;
            assert_fails(kith_sparse_create_coo(
                             context, &options, 20, 20,
                             kith_array_vector(entries.row, KITH_I64, entries.count),
                             kith_array_vector(entries.column, KITH_I64, entries.count),
                             kith_array_vector(entries.value, KITH_F64, entries.count), &sparse),
                         KITH_UNSUPPORTED, "");
            assert_null(sparse);
        }
    entries_free(&entries);
    kith_context_free(context);
}

/* One product with a plan of the test's own. */
static void check_plan(kith_context *context, kith_sparse *sparse, struct sparse_plan plan,
                       const struct entries *entries, kith_dtype dtype, double *x, double *before)
{
    struct sparse_statistics statistics;
    struct sparse_matrix matrix = {.csr = sparse->side[0].csr, .plan = plan};
    char what[96];
    assert_ok(sparse_inspect_cpu(context, &matrix.csr, &statistics));
    snprintf(what, sizeof what, "format %d, %d index bytes, height %d, window %d, width %d",
             (int)plan.format, (int)plan.index_bytes, (int)plan.height, (int)plan.window,
             (int)plan.width);
    if (plan.index_bytes == 2 &&
        !(plan.window > 1 ? statistics.sell_fits_16[0] : statistics.index_fits_16))
        return;
    if (plan.symmetric && !statistics.symmetric)
        return;
    assert_ok(sparse_convert_cpu(context, &statistics, &matrix));
    void *own_x = numbers_as(dtype, x, entries->columns);
    void *y = numbers_as(dtype, before, entries->rows);
    const struct sparse_product product = {.matrix = &matrix,
                                           .alpha = -2,
                                           .beta = 0.25,
                                           .vectors = 1,
                                           .x = own_x,
                                           .x_stride = {1, 0},
                                           .y = y,
                                           .y_stride = {1, 0}};
    assert_ok(sparse_multiply_cpu(context, &product));
    check_product(what, entries, false, -2, x, 0.25, before, y, dtype, 1);
    sparse_matrix_release(context, &matrix);
    free(own_x);
    free(y);
}

static void check_plans(kith_context *context, const struct entries *entries, kith_dtype dtype,
                        double *x, double *before)
{
    kith_sparse *sparse = sparse_of(context, NULL, dtype, entries);
    for (int32_t bytes = 2; bytes <= 4; bytes += 2) {
        struct sparse_plan plan = {.format = KITH_SPARSE_CSR, .index_bytes = bytes};
        for (plan.kernel = KITH_SPARSE_ROW_THREAD; plan.kernel <= KITH_SPARSE_MERGE; plan.kernel++)
            if (plan.kernel != KITH_SPARSE_ELEMENT)
                check_plan(context, sparse, plan, entries, dtype, x, before);
        plan = (struct sparse_plan){.format = KITH_SPARSE_SELL, .index_bytes = bytes};
        for (plan.height = 16; plan.height <= 32; plan.height += 16)
            for (plan.window = 1; plan.window <= 256; plan.window += 255)
                check_plan(context, sparse, plan, entries, dtype, x, before);
    }
    for (int64_t width = 0; width < 6; width++)
        check_plan(context, sparse,
                   (struct sparse_plan){.format = KITH_SPARSE_HYBRID, .width = width}, entries,
                   dtype, x, before);
    for (int32_t block = 2; block <= 4; block++)
        check_plan(context, sparse, (struct sparse_plan){.format = KITH_SPARSE_BSR, .block = block},
                   entries, dtype, x, before);
    for (int symmetric = 0; symmetric < 2; symmetric++)
        check_plan(context, sparse,
                   (struct sparse_plan){.format = KITH_SPARSE_DIA, .symmetric = symmetric}, entries,
                   dtype, x, before);
    kith_sparse_free(sparse);
}

/* Leaves the first of the entries in each place: ∞ times a sum is not the sum of two infinities. */
static void leave_first(struct entries *entries)
{
    unsigned char *seen = calloc((size_t)(entries->rows * entries->columns), 1);
    int64_t kept = 0;
    for (int64_t k = 0; k < entries->count; k++) {
        unsigned char *mark = &seen[entries->row[k] * entries->columns + entries->column[k]];
        if (*mark)
            continue;
        *mark = 1;
        entries->row[kept] = entries->row[k];
        entries->column[kept] = entries->column[k];
        entries->value[kept++] = entries->value[k];
    }
    entries->count = kept;
    free(seen);
}

/* An infinite x meets stored entries alone, not what a format fills up with. */
static void test_every_plan_gives_the_product_also_of_infinities(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("plans");
    kith_context *context = cpu_context(2);
    for (int kind = 0; kind < kind_count; kind++)
        for (int infinite = 0; infinite < 2; infinite++) {
            const bool far = kind == kind_far_columns;
            struct entries entries = make(&numbers, kind, 301, far ? 200000 : 260);
            if (infinite)
                leave_first(&entries);
            double *x = random_vector(&numbers, entries.columns);
            double *before = random_vector(&numbers, entries.rows);
            for (int k = 0; infinite && k < 3; k++)
                x[random_below(&numbers, entries.columns)] = k == 0 ? NAN : INFINITY;
            if (infinite)
                x[entries.column[0]] = -INFINITY;
            check_plans(context, &entries, KITH_F64, x, before);
            check_plans(context, &entries, KITH_F32, x, before);
            free(x);
            free(before);
            entries_free(&entries);
        }
    kith_context_free(context);
}

/* A x, and after it Aᵀ A x. */
static void *product_with(int32_t threads, kith_sparse_format format, kith_sparse_kernel kernel,
                          const struct entries *entries, const double *x)
{
    kith_context *context = cpu_context(threads);
    const kith_sparse_options options = {.format = format, .kernel = kernel};
    kith_sparse *sparse = sparse_of(context, &options, KITH_F64, entries);
    double *y = calloc((size_t)(entries->rows + entries->columns) + 1, sizeof *y);
    for (int k = 0; k < 3; k++) /* the team grows with the work */
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                       kith_array_vector((void *)x, KITH_F64, entries->columns), 0,
                                       kith_array_vector(y, KITH_F64, entries->rows)));
    assert_ok(kith_sparse_multiply(
        sparse, KITH_SPARSE_TRANSPOSED, 1, kith_array_vector(y, KITH_F64, entries->rows), 0,
        kith_array_vector(y + entries->rows, KITH_F64, entries->columns)));
    kith_sparse_free(sparse);
    kith_context_free(context);
    return y;
}

/* One dense row among 10^5 short ones: rows are cut into pieces. */
/* Rows of more entries than lengths are counted for, each longer than the one before. */
static void test_long_rows_are_sorted_by_their_length(void **state)
{
    (void)state;
    enum { rows = 12, shortest = 400 };
    struct random_numbers numbers = random_numbers_begin("long rows");
    struct entries entries = entries_create(rows, shortest + rows, rows * (shortest + rows));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < shortest + i; j++)
            entries_add(&entries, &numbers, i, j);
    kith_context *context = cpu_context(1);
    check_choice(context, KITH_SPARSE_SELL, KITH_SPARSE_ROW_THREAD, &entries, &numbers);
    kith_context_free(context);
    entries_free(&entries);
}

/* Columns of 16 bits are counted from the first one of 64 rows: what comes behind these rows is no
 * matter, and neither is a row without entries at their end. */
static void test_narrow_columns_begin_at_those_of_their_own_rows(void **state)
{
    (void)state;
    enum { rows = 128, columns = 200000 };
    struct random_numbers numbers = random_numbers_begin("narrow columns");
    struct entries entries = entries_create(rows, columns, 3 * rows);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < 3 && i != 63; k++)
            entries_add(&entries, &numbers, i, i < 64 ? columns - 1 - 7 * k : 5 * k);
    kith_context *context = cpu_context(1);
    check_choice(context, KITH_SPARSE_CSR, KITH_SPARSE_ROW_THREAD, &entries, &numbers);
    kith_context_free(context);
    entries_free(&entries);
}

static void test_all_numbers_of_threads_give_the_same_bits(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("threads");
    struct entries entries = make(&numbers, kind_dense_row, 100003, 100001);
    double *x = random_vector(&numbers, entries.columns);
    static const int choices[][2] = {
        {KITH_SPARSE_AUTO, KITH_SPARSE_KERNEL_AUTO},  {KITH_SPARSE_COO, KITH_SPARSE_ELEMENT},
        {KITH_SPARSE_CSR, KITH_SPARSE_MERGE},         {KITH_SPARSE_CSR, KITH_SPARSE_ROW_VECTOR},
        {KITH_SPARSE_HYBRID, KITH_SPARSE_ROW_THREAD}, {KITH_SPARSE_SELL, KITH_SPARSE_ROW_THREAD},
        {KITH_SPARSE_BSR, KITH_SPARSE_ROW_THREAD}};
    for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
        double *one = product_with(1, (kith_sparse_format)choices[c][0],
                                   (kith_sparse_kernel)choices[c][1], &entries, x);
        double *zero = calloc((size_t)entries.rows, sizeof *zero);
        check_product("dense row", &entries, false, 1, x, 0, zero, one, KITH_F64, 1);
        for (int32_t threads = 2; threads <= 5; threads++) {
            double *many = product_with(threads, (kith_sparse_format)choices[c][0],
                                        (kith_sparse_kernel)choices[c][1], &entries, x);
            assert_memory_equal(one, many, (size_t)(entries.rows + entries.columns) * sizeof *one);
            free(many);
        }
        free(one);
        free(zero);
    }
    free(x);
    entries_free(&entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_and_kernel_gives_the_product),
        cmocka_unit_test(test_a_kernel_that_a_format_has_not_is_refused),
        cmocka_unit_test(test_every_plan_gives_the_product_also_of_infinities),
        cmocka_unit_test(test_long_rows_are_sorted_by_their_length),
        cmocka_unit_test(test_narrow_columns_begin_at_those_of_their_own_rows),
        cmocka_unit_test(test_all_numbers_of_threads_give_the_same_bits),
    };
    return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}
