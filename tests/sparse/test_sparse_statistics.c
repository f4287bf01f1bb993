/* What the inspector says of a matrix is what a plain count over all rows and entries says. */
#include "simulating.h"

#include <string.h>

#include "sparse/statistics.h"

#include "sparse/object.h"
#include "sparse_matrices.h"

static int64_t row_length(const struct sparse_csr *csr, int64_t i)
{
    return csr->row_start[i + 1] - csr->row_start[i];
}

static int descending(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

/* Entries with padding of slices of a height, rows sorted by length in windows of some rows. */
static int64_t slots_of(const struct sparse_csr *csr, int64_t height, int64_t window)
{
    int64_t slots = 0;
    int64_t *length = malloc((size_t)(csr->rows + 1) * sizeof *length);
    for (int64_t i = 0; i < csr->rows; i++)
        length[i] = row_length(csr, i);
    for (int64_t start = 0; start < csr->rows && window > 1; start += window)
        qsort(length + start, (size_t)(csr->rows - start < window ? csr->rows - start : window),
              sizeof *length, descending);
    for (int64_t start = 0; start < csr->rows; start += height) {
        int64_t longest = 0;
        for (int64_t i = start; i < start + height && i < csr->rows; i++)
            longest = length[i] > longest ? length[i] : longest;
        slots += longest * height;
    }
    free(length);
    return slots;
}

/* Whether the entries of each group of rows have their columns within 2^16. */
static bool spans_fit(const struct sparse_csr *csr, int64_t rows_each)
{
    for (int64_t start = 0; start < csr->rows; start += rows_each) {
        int64_t first = INT64_MAX, last = 0;
        for (int64_t i = start; i < start + rows_each && i < csr->rows; i++)
            for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
                first = csr->column[k] < first ? csr->column[k] : first;
                last = csr->column[k] > last ? csr->column[k] : last;
            }
        if (last - first >= 65536 && first != INT64_MAX)
            return false;
    }
    return true;
}

/* Of stretches of rows of one length: those that do not follow one that repeats. */
static int64_t changes_of(const struct sparse_csr *csr)
{
    int64_t *begin = malloc(((size_t)csr->rows + 1) * sizeof *begin), stretches = 0, changes = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        if (i == 0 || row_length(csr, i) != row_length(csr, i - 1))
            begin[stretches++] = i;
    for (int64_t k = 1; k < stretches; k++) {
        const bool repeats = k >= 3 && begin[k] - begin[k - 3] <= sparse_remembered_rows &&
                             begin[k] - begin[k - 1] == begin[k - 2] - begin[k - 3] &&
                             row_length(csr, begin[k - 1]) == row_length(csr, begin[k - 3]);
        changes += !repeats;
    }
    free(begin);
    return changes;
}

static void check_rows(const struct sparse_csr *csr, const struct sparse_statistics *statistics)
{
    int64_t longest = 0, lower = 0, upper = 0;
    for (int64_t i = 0; i < csr->rows; i++) {
        longest = row_length(csr, i) > longest ? row_length(csr, i) : longest;
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            lower = i - csr->column[k] > lower ? i - csr->column[k] : lower;
            upper = csr->column[k] - i > upper ? csr->column[k] - i : upper;
        }
    }
    assert_int_equal(statistics->longest, longest);
    assert_int_equal(statistics->length_changes, changes_of(csr));
    assert_int_equal(statistics->lower, lower);
    assert_int_equal(statistics->upper, upper);
    for (int64_t length = 0; length < sparse_most_lengths; length++) {
        int64_t rows = 0;
        for (int64_t i = 0; i < csr->rows; i++)
            rows += row_length(csr, i) >= length;
        assert_int_equal(statistics->at_least[length], rows);
    }
    assert_int_equal(statistics->empty, csr->rows - statistics->at_least[1]);
}

static void check_slices(const struct sparse_csr *csr, const struct sparse_statistics *statistics)
{
    assert_int_equal(statistics->index_fits_16, spans_fit(csr, 1 << sparse_base_shift));
    for (int k = 0; k < sparse_sell_heights; k++) {
        const int64_t height = sparse_sell_height[k];
        assert_int_equal(statistics->sell_slots_unsorted[k], slots_of(csr, height, 1));
        assert_int_equal(statistics->sell_slots[k], slots_of(csr, height, sparse_sell_window));
        assert_int_equal(statistics->sell_fits_16[k], spans_fit(csr, sparse_sell_window));
    }
}

static bool has_entry(const struct sparse_csr *csr, int64_t i, int64_t j, double value)
{
    for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++)
        if (csr->column[k] == j)
            return element_of(csr->value, csr->dtype, k) == value;
    return false;
}

static void check_entries(const struct sparse_csr *csr, const struct sparse_statistics *statistics)
{
    const int64_t places = csr->rows + csr->columns;
    unsigned char *seen = calloc((size_t)places + 1, 1);
    int64_t diagonals = 0;
    bool symmetric = csr->rows == csr->columns;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t j = csr->column[k];
            diagonals += !seen[j - i + csr->rows];
            seen[j - i + csr->rows] = 1;
            symmetric = symmetric && has_entry(csr, j, i, element_of(csr->value, csr->dtype, k));
        }
    free(seen);
    if (diagonals <= sparse_most_diagonals) {
        assert_int_equal(statistics->diagonals, diagonals);
        assert_int_equal(statistics->symmetric, symmetric);
    } else {
        assert_true(statistics->diagonals > sparse_most_diagonals);
    }
}

/* Of few entries the samples are all of them, where rows are whole groups of twelve. */
static void check_samples(const struct sparse_csr *csr, const struct sparse_statistics *statistics)
{
    unsigned char *seen = calloc((size_t)csr->columns + 1, 1);
    int64_t lines = 0;
    const int64_t a_line = 64 / kith_dtype_bytes(csr->dtype);
    for (int64_t k = 0; k < csr->nonzeros; k++) {
        lines += !seen[csr->column[k] / a_line];
        seen[csr->column[k] / a_line] = 1;
    }
    assert_true(statistics->lines_per_entry ==
                (csr->nonzeros ? (double)lines / (double)csr->nonzeros : 0));
    lines = 0;
    for (int64_t k = 0; k < csr->nonzeros; k++) {
        if (k % 1024 == 0)
            memset(seen, 0, (size_t)csr->columns);
        lines += !seen[csr->column[k] / a_line];
        seen[csr->column[k] / a_line] = 1;
    }
    assert_true(statistics->near_lines_per_entry ==
                (csr->nonzeros ? (double)lines / (double)csr->nonzeros : 0));
    for (int64_t size = 2; size <= 4; size++) {
        int64_t blocks = 0;
        for (int64_t start = 0; start < csr->rows; start += size) {
            memset(seen, 0, (size_t)csr->columns);
            for (int64_t k = csr->row_start[start]; k < csr->row_start[start + size]; k++) {
                blocks += !seen[csr->column[k] / size];
                seen[csr->column[k] / size] = 1;
            }
        }
        assert_true(statistics->blocks[size] == (double)blocks);
    }
    free(seen);
}

static void check(const struct entries *entries, bool sampled_whole)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        kith_context *context = cpu_context(threads);
        const kith_dtype dtype = threads > 1 ? KITH_F32 : KITH_F64;
        kith_sparse *sparse = sparse_of(context, NULL, dtype, entries);
        const struct sparse_csr *csr = &sparse->side[0].csr;
        struct sparse_statistics statistics;
        assert_ok(sparse_inspect_cpu(context, csr, &statistics));
        check_rows(csr, &statistics);
        check_slices(csr, &statistics);
        check_entries(csr, &statistics);
        if (sampled_whole)
            check_samples(csr, &statistics);
        kith_sparse_free(sparse);
        kith_context_free(context);
    }
}

static void test_statistics_of_random_matrices_are_counted_right(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("statistics");
    for (int round = 0; round < 12; round++) {
        const int64_t rows = 12 * random_below(&numbers, 200) + 12;
        const int64_t columns = 1 + random_below(&numbers, round % 2 ? 300 : 3000);
        struct entries entries =
            entries_anywhere(&numbers, rows, columns, random_below(&numbers, 6 * rows));
        check(&entries, true);
        entries_free(&entries);
    }
}

/* Rows of all lengths, some with more entries than lengths that are counted one by one. */
static void test_statistics_of_uneven_rows_are_counted_right(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("uneven");
    enum { rows = 36000, columns = 2000 };
    struct entries entries = entries_create(rows, columns, 200000);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t length = i % 700 == 3     ? random_below(&numbers, 300) + 200
                               : i % 1100 == 11 ? sparse_most_lengths - 1 + i % 3
                                                : random_below(&numbers, 7);
        for (int64_t k = 0; k < length && entries.count < 200000; k++)
            entries_add(&entries, &numbers, i, (i + k * 3) % columns);
    }
    check(&entries, false);
    entries_free(&entries);
}

/* Every tenth row of more than a task's has entries; further on, every hundredth. */
static void test_rows_that_repeat_do_not_change(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("repeated");
    enum { rows = 36000, columns = 500 };
    struct entries entries = entries_create(rows, columns, rows);
    for (int64_t i = 0; i < rows; i += i < 20000 ? 10 : 100)
        for (int64_t k = 0; k < 7; k++)
            entries_add(&entries, &numbers, i, (i + 11 * k) % columns);
    check(&entries, false);
    entries_free(&entries);
}

static void test_statistics_of_mirrored_matrices_tell_symmetry(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("mirrored");
    enum { rows = 240 };
    for (int spoiled = 0; spoiled < 3; spoiled++) {
        struct entries entries = entries_create(rows, rows, 3 * rows);
        for (int64_t i = 0; i < rows; i++) {
            entries_add(&entries, &numbers, i, i);
            if (i < 7)
                continue;
            entries_add(&entries, &numbers, i, i - 7);
            const double value = entries.value[entries.count - 1] + 4;
            entries.value[entries.count - 1] = value;
            entries_add(&entries, &numbers, i - 7, i);
            entries.value[entries.count - 1] = value;
        }
        if (spoiled == 1)
            entries.value[entries.count - 1] = 99;
        if (spoiled == 2)
            entries.count--;
        check(&entries, true);
        entries_free(&entries);
    }
}

/* Columns 65535 apart have room in 16 bits, 65536 apart they do not: in one row, in the rows of
 * a group, in those of a window, and not where the next group or window begins. */
static void test_statistics_tell_which_columns_16_bits_hold(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("spans");
    static const int64_t later_row[] = {100, 101, 127, 128, 1023, 1024};
    for (size_t k = 0; k < sizeof later_row / sizeof later_row[0]; k++)
        for (int64_t surplus = 0; surplus < 2; surplus++) {
            struct entries entries = entries_create(1200, 70000, 4);
            entries_add(&entries, &numbers, 100, 2);
            entries_add(&entries, &numbers, later_row[k], 2 + 65535 + surplus);
            check(&entries, true);
            entries_free(&entries);
        }
}

/* Blocks of 4 × 4, and two rows across all of the matrix, which no sample may take for typical. */
static void test_estimate_of_blocks_does_not_miss_dense_rows(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("dense");
    enum { rows = 48000, every = 4, dense = 2 };
    for (int64_t first = 11; first < 16; first += 4) {
        struct entries entries = entries_create(rows, rows, 4 * rows + dense * rows / every);
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = i / 4 * 4; j < i / 4 * 4 + 4; j++)
                entries_add(&entries, &numbers, i, j);
            for (int64_t j = 0; j < rows && (i == first || i == rows / 2 + first); j += every)
                if (j / 4 != i / 4)
                    entries_add(&entries, &numbers, i, j);
        }
        kith_context *context = cpu_context(1);
        kith_sparse *sparse = sparse_of(context, NULL, KITH_F64, &entries);
        struct sparse_statistics statistics;
        assert_ok(sparse_inspect_cpu(context, &sparse->side[0].csr, &statistics));
        const int64_t blocks = rows / 4 + dense * (rows / every - 1);
        assert_true(fabs(statistics.blocks[4] - (double)blocks) < 0.05 * (double)blocks);
        kith_sparse_free(sparse);
        kith_context_free(context);
        entries_free(&entries);
    }
}

static void test_statistics_of_nothing_are_nothing(void **state)
{
    (void)state;
    struct entries entries = entries_create(24, 5, 0);
    check(&entries, true);
    entries.rows = 0;
    check(&entries, true);
    entries_free(&entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics_of_random_matrices_are_counted_right),
        cmocka_unit_test(test_statistics_of_uneven_rows_are_counted_right),
        cmocka_unit_test(test_rows_that_repeat_do_not_change),
        cmocka_unit_test(test_statistics_of_mirrored_matrices_tell_symmetry),
        cmocka_unit_test(test_statistics_tell_which_columns_16_bits_hold),
        cmocka_unit_test(test_estimate_of_blocks_does_not_miss_dense_rows),
        cmocka_unit_test(test_statistics_of_nothing_are_nothing),
    };
    return cmocka_run_group_tests_name("sparse_statistics", tests, NULL, NULL);
}
