/* The interaction matrix and its reductions against the reference, on the CPU. */

#include "device/context.h"
#include "matrix_checks.h"
#include "testing_files.h"

static kith_context *shared;
static struct random_numbers numbers;

static void every_law_gives_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < matrix_law_count; k++)
        for (int dtype = 0; dtype < 2; dtype++) {
            const kith_matrix_options keep = {.softening = 0.05, .diagonal = KITH_DIAGONAL_KEEP};
            const kith_matrix_options plain = {0};
            const bool formula = k >= matrix_table_law_count;
            check_all(shared, &numbers, matrix_laws[k], dtype ? KITH_F32 : KITH_F64, 131, 0,
                      formula ? keep : plain);
            check_all(shared, &numbers, matrix_laws[k], dtype ? KITH_F32 : KITH_F64, 90, 2100,
                      keep);
        }
}

static void every_size_gives_the_reference(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int dtype = 0; dtype < 2; dtype++) {
            const kith_matrix_options symmetric = {
                .symmetric = true, .diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = 7.5};
            const kith_matrix_options plain = {.diagonal = KITH_DIAGONAL_ZERO};
            const kith_dtype type = dtype ? KITH_F32 : KITH_F64;
            check_all(shared, &numbers, "power:1", type, sizes[k], 0, symmetric);
            check_all(shared, &numbers, "gravity", type, sizes[k], 70 - sizes[k] / 2, plain);
        }
}

static kith_array first_of(kith_array array, int64_t count)
{
    array.shape[0] = kith_array_is_none(array) ? 0 : count;
    return array;
}

/* Some of its rows by themselves: they fit into the caches. */
static void check_large(const char *text, const kith_particles *particles, kith_array large)
{
    enum { few = 3 };
    const kith_matrix_options options = {.softening = 0.05, .diagonal = KITH_DIAGONAL_KEEP};
    kith_particles rows = {.positions = first_of(particles->positions, few)};
    for (int k = 0; k < 2; k++)
        rows.columns[k] = (kith_particle_column){particles->columns[k].name,
                                                 first_of(particles->columns[k].values, few)};
    const kith_array expected = matrix_new(large.dtype, few, large.shape[1]);
    kith_law *law = matrix_law(text);
    assert_ok(kith_matrix_compute(shared, law, &options, particles, NULL, large));
    assert_ok(kith_matrix_compute(shared, law, &options, &rows, particles, expected));
    assert_elements_agree(text, first_of(large, few), expected);
    free(expected.data);
    kith_law_free(law);
}

/* Matrices too large for the caches are written past them. */
static void every_law_fills_a_large_matrix(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < 2; dtype++) {
        const kith_dtype type = dtype ? KITH_F32 : KITH_F64;
        const int64_t n = dtype ? 2905 : 2053;
        struct matrix_set set = matrix_set_create(&numbers, type, n, 3);
        const kith_array large = matrix_new(type, n, n);
        const kith_particles bare = {.positions = set.particles.positions};
        for (int k = 0; k < matrix_table_law_count; k++) {
            check_large(matrix_laws[k], &set.particles, large);
            check_large(matrix_laws[k], &bare, large);
        }
        free(large.data);
        matrix_set_free(&set);
    }
}

static void the_diagonal_is_what_was_asked_for(void **state)
{
    (void)state;
    struct matrix_set set = matrix_set_create(&numbers, KITH_F64, 50, 3);
    kith_law *law = matrix_law("gaussian:1");
    const double expected[] = {0, 1, -3.25};
    for (int k = 0; k < 3; k++) {
        const struct matrix_case c = {
            shared, "gaussian:1",
            law,    {.diagonal = (kith_matrix_diagonal)k, .diagonal_value = -3.25},
            &set,   NULL};
        const kith_array matrix = case_matrix(&c, KITH_MATRIX_DIRECT);
        for (int64_t i = 0; i < set.n; i++)
            assert_true(matrix_at(matrix, i * set.n + i) == expected[k]);
        free(matrix.data);
    }
    kith_law_free(law);
    matrix_set_free(&set);
}

/* A kernel matrix with the law's diagonal, a number there, or none: what is computed of it without
 * keeping it is what its elements say, of one set by any threads and with multiple right-hand
 * sides. */
static void reductions_and_products_count_the_diagonal_that_is_asked_for(void **state)
{
    static const char *const laws[] = {"gaussian:0.4", "gravity", "expr:m_i*q_j/(1 + r2)"};
    static const double values[] = {0.25, -40, 1e9, 0};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int dtype = 0; dtype < 2; dtype++)
            for (int v = -2; v < 4; v++) {
                const kith_matrix_options options = {.softening = 0.3,
                                                     .diagonal = v == -2   ? KITH_DIAGONAL_ZERO
                                                                 : v == -1 ? KITH_DIAGONAL_KEEP
                                                                           : KITH_DIAGONAL_VALUE,
                                                     .diagonal_value = v < 0 ? 77 : values[v]};
                check_all(shared, &numbers, laws[k], dtype ? KITH_F32 : KITH_F64, 70 + k, 0,
                          options);
            }
}

static void the_diagonal_of_a_product_is_exact(void **state)
{
    (void)state;
    double x[] = {0, 0, 3, 4}, b[] = {1, 10, 100, 1000}, m[] = {2, 3}, y[4];
    const kith_array of_b = kith_array_matrix(b, KITH_F64, 2, 2);
    const kith_array of_y = kith_array_matrix(y, KITH_F64, 2, 2);
    const kith_particles p = {.positions = kith_array_matrix(x, KITH_F64, 2, 2),
                              .columns = {{"m", kith_array_vector(m, KITH_F64, 2)}}};
    kith_matrix_options options = {.diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = 7};
    kith_law *law = matrix_law("product");
    assert_ok(kith_matrix_multiply(shared, law, &options, &p, NULL, of_b, of_y));
    const double value[] = {607, 6070, 706, 7060};
    assert_memory_equal(y, value, sizeof value);
    options.diagonal = KITH_DIAGONAL_KEEP;
    assert_ok(kith_matrix_multiply(shared, law, &options, &p, NULL, of_b, of_y));
    const double keep[] = {604, 6040, 906, 9060};
    assert_memory_equal(y, keep, sizeof keep);
    kith_law_free(law);
}

/* But for a law that takes a logarithm: vectors with a zero in them take another way to it, which
 * differs in the last digit. */
static void symmetric_gives_the_same_bits(void **state)
{
    (void)state;
    for (int k = 0; k < matrix_table_law_count; k++) {
        if (strcmp(matrix_laws[k], "power:1.37") == 0)
            continue;
        struct matrix_set set = matrix_set_create(&numbers, KITH_F32, 201, 3);
        kith_law *law = matrix_law(matrix_laws[k]);
        struct matrix_case c = {shared, matrix_laws[k], law, {.softening = 0}, &set, NULL};
        const kith_array plain = case_matrix(&c, KITH_MATRIX_AUTO);
        c.options.symmetric = true;
        const kith_array once = case_matrix(&c, KITH_MATRIX_AUTO);
        assert_memory_equal(plain.data, once.data, 201 * 201 * sizeof(float));
        for (int64_t i = 0; i < set.n; i++)
            for (int64_t j = 0; j < i; j++)
                assert_true(matrix_at(plain, i * set.n + j) == matrix_at(plain, j * set.n + i));
        free(plain.data);
        free(once.data);
        kith_law_free(law);
        matrix_set_free(&set);
    }
}

/* A large matrix, whose rows go past the caches, from another number of threads. */
static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    struct matrix_set set = matrix_set_create(&numbers, KITH_F32, 3001, 3);
    kith_law *law = matrix_law("yukawa:0.4");
    kith_context *one = new_context(NULL, 1), *many = new_context(NULL, 7);
    const struct matrix_case c[] = {{one, "yukawa", law, {.softening = 0}, &set, NULL},
                                    {many, "yukawa", law, {.softening = 0}, &set, NULL}};
    const kith_array a = case_matrix(&c[0], KITH_MATRIX_AUTO),
                     b = case_matrix(&c[1], KITH_MATRIX_AUTO);
    assert_memory_equal(a.data, b.data, 3001 * 3001 * sizeof(float));
    kith_array sums[2];
    for (int k = 0; k < 2; k++) {
        sums[k] = matrix_new_vector(KITH_F32, set.n);
        assert_ok(kith_matrix_reduce(c[k].context, law, NULL, &set.particles, NULL, KITH_REDUCE_SUM,
                                     sums[k]));
    }
    assert_memory_equal(sums[0].data, sums[1].data, 3001 * sizeof(float));
    for (int k = 0; k < 2; k++)
        free(sums[k].data);
    free(a.data);
    free(b.data);
    kith_context_free(one);
    kith_context_free(many);
    kith_law_free(law);
    matrix_set_free(&set);
}

/* Tiles that are written twice do not go past the caches; the diagonal falls on every place of a
 * line. */
static void rows_past_the_caches_are_those_of_tiles(void **state)
{
    int64_t count = 0;
    (void)state;
    const kith_isa *list = kith_isa_list(&count);
    kith_law *law = matrix_law("coulomb");
    for (int64_t k = 0; k < 2 * count; k++) {
        const kith_dtype dtype = k % 2 ? KITH_F64 : KITH_F32;
        if (!list[k / 2].supported)
            continue;
        kith_context *context = new_context(list[k / 2].name, 2);
        struct matrix_set set = matrix_set_create(&numbers, dtype, 3001, 3);
        struct matrix_case c = {context, "coulomb",
                                law,     {.diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = 7},
                                &set,    NULL};
        const kith_array rows = case_matrix(&c, KITH_MATRIX_AUTO);
        c.options.symmetric = true;
        const kith_array tiles = case_matrix(&c, KITH_MATRIX_AUTO);
        assert_memory_equal(rows.data, tiles.data,
                            3001 * 3001 * (dtype == KITH_F64 ? sizeof(double) : sizeof(float)));
        assert_true(matrix_at(rows, 17 * 3002) == 7);
        free(rows.data);
        free(tiles.data);
        matrix_set_free(&set);
        kith_context_free(context);
    }
    kith_law_free(law);
}

static void every_instruction_set_gives_the_reference(void **state)
{
    int64_t count = 0;
    (void)state;
    const kith_isa *list = kith_isa_list(&count);
    for (const kith_isa *isa = list; isa < list + count; isa++) {
        if (!isa->supported)
            continue;
        kith_context *context = new_context(isa->name, 2);
        for (int k = 0; k < matrix_table_law_count; k++)
            for (int dtype = 0; dtype < 2; dtype++)
                check_all(context, &numbers, matrix_laws[k], dtype ? KITH_F32 : KITH_F64, 67, 0,
                          (kith_matrix_options){0});
        kith_context_free(context);
    }
}

/* Few rows share their columns among threads; multiple right-hand sides are as each alone. */
static void few_rows_of_many_columns_are_summed_in_parts(void **state)
{
    (void)state;
    struct matrix_set rows = matrix_set_create(&numbers, KITH_F32, 3, 3);
    struct matrix_set columns = matrix_set_create(&numbers, KITH_F32, 50000, 3);
    kith_law *law = matrix_law("gaussian:0.3");
    const struct matrix_case c = {shared, "gaussian", law, {.softening = 0}, &rows, &columns};
    check_sums(&c, &numbers);
    check_extremes(&c);

    const kith_array b = matrix_column(&numbers, KITH_F32, 2 * 50000, -1, 1);
    const kith_array both = matrix_new(KITH_F32, 3, 2);
    assert_ok(kith_matrix_multiply(shared, law, NULL, &rows.particles, &columns.particles,
                                   kith_array_matrix(b.data, KITH_F32, 50000, 2), both));
    for (int64_t k = 0; k < 2; k++) {
        kith_array one = kith_array_vector((float *)b.data + k, KITH_F32, 50000);
        const kith_array y = matrix_new_vector(KITH_F32, 3);
        one.strides[0] = 2;
        assert_ok(
            kith_matrix_multiply(shared, law, NULL, &rows.particles, &columns.particles, one, y));
        for (int64_t i = 0; i < 3; i++)
            assert_true(matrix_at(y, i) == matrix_at(both, 2 * i + k));
        free(y.data);
    }
    free(b.data);
    free(both.data);
    kith_law_free(law);
    matrix_set_free(&rows);
    matrix_set_free(&columns);
}

static void a_file_in_blocks_is_the_whole_matrix(void **state)
{
    (void)state;
    struct matrix_set rows = matrix_set_create(&numbers, KITH_F64, 103, 3);
    struct matrix_set columns = matrix_set_create(&numbers, KITH_F64, 57, 3);
    const struct matrix_case c = {shared, "gravity", NULL, {.softening = 0}, &rows, &columns};
    const kith_array whole = case_matrix(&c, KITH_MATRIX_AUTO);
    static const int64_t memory[] = {1, 57 * 8 * 2 * 10, 0};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++) {
        char path[] = "/tmp/kith_matrix_XXXXXX";
        kith_array file;
        double seconds = -1;
        const int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        close(descriptor);
        assert_ok(kith_matrix_write(shared, NULL, NULL, &rows.particles, &columns.particles,
                                    memory[k], path, &seconds));
        assert_ok(kith_npy_read(path, &file));
        assert_int_equal(file.shape[0], 103);
        assert_int_equal(file.shape[1], 57);
        assert_memory_equal(file.data, whole.data, 103 * 57 * sizeof(double));
        assert_true(seconds >= 0);
        free(file.data);
        unlink(path);
    }
    free(whole.data);
    matrix_set_free(&rows);
    matrix_set_free(&columns);
}

static void a_file_that_is_cancelled_leaves_the_old_one(void **state)
{
    (void)state;
    struct matrix_set rows = matrix_set_create(&numbers, KITH_F64, 20, 3);
    char path[] = "/tmp/kith_matrix_XXXXXX", text[8] = "";
    const int descriptor = mkstemp(path);
    assert_int_equal(write(descriptor, "old", 3), 3);
    close(descriptor);
    kith_context_cancel(shared);
    assert_fails(kith_matrix_write(shared, NULL, NULL, &rows.particles, NULL, 0, path, NULL),
                 KITH_CANCELLED, "cancel");
    kith_context_clear_cancel(shared);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(text, 1, sizeof text, file), 3);
    fclose(file);
    assert_string_equal(text, "old");
    unlink(path);
    matrix_set_free(&rows);
}

/* Results of more than 32 MB go past the caches, and into arrays with other strides in blocks of
 * 64 MB: squared distances of points on a line are exact. */
static void a_matrix_larger_than_caches_is_right_to_its_last_element(void **state)
{
    (void)state;
    enum { n = 3001 };
    double *x = calloc((size_t)n * 3, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[3 * i] = (double)i;
    const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F64, n, 3)};
    const kith_matrix_options options = {.diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = -7};
    kith_law *law = matrix_law("distance2");
    for (int by_columns = 0; by_columns < 2; by_columns++) {
        kith_array matrix = matrix_new(KITH_F64, n, n);
        if (by_columns) {
            matrix.strides[0] = 1;
            matrix.strides[1] = n;
        }
        assert_ok(kith_matrix_compute(shared, law, &options, &particles, NULL, matrix));
        const double *value = matrix.data;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                if (value[i * n + j] != (i == j ? -7 : (double)((i - j) * (i - j))))
                    fail_msg("%d: element %d, %d is %g", by_columns, (int)i, (int)j,
                             value[i * n + j]);
        free(matrix.data);
    }
    kith_law_free(law);
    free(x);
}

static void histograms_close_the_last_bin(void **state)
{
    (void)state;
    double x[] = {0, 0, 0, 1, 0, 0, 3, 0, 0}; /* distances 1, 3, 2 */
    int64_t counts[3];
    const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F64, 3, 3)};
    kith_law *law = matrix_law("distance");
    for (int k = 0; k < 2; k++) {
        const kith_matrix_options options = {.method =
                                                 k ? KITH_MATRIX_REFERENCE : KITH_MATRIX_AUTO};
        assert_ok(kith_matrix_histogram(shared, law, &options, &particles, NULL, 0, 3,
                                        kith_array_vector(counts, KITH_I64, 3)));
        assert_int_equal(counts[0], 0);
        assert_int_equal(counts[1], 1);
        assert_int_equal(counts[2], 2);
    }
    kith_law_free(law);
}

/* Rows of the matrix that are done, as they are reported. */
struct reports {
    int64_t done[20], count, total;
};

static void remember_report(void *user, int64_t done, int64_t total)
{
    struct reports *reports = user;
    assert_in_range(reports->count, 0, 19);
    reports->done[reports->count++] = done;
    reports->total = total;
}

static void a_file_in_blocks_tells_the_rows_that_are_done(void **state)
{
    (void)state;
    struct matrix_set rows = matrix_set_create(&numbers, KITH_F64, 25, 3);
    struct reports reports = {.count = 0};
    char path[] = "/tmp/kith_matrix_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    kith_context_set_progress(shared, remember_report, &reports);
    assert_ok(
        kith_matrix_write(shared, NULL, NULL, &rows.particles, NULL, 25 * 8 * 2 * 10, path, NULL));
    kith_context_set_progress(shared, NULL, NULL);
    assert_int_equal(reports.total, 25);
    assert_true(reports.count > 1);
    for (int64_t k = 0; k < reports.count; k++)
        assert_true(reports.done[k] > (k ? reports.done[k - 1] : 0));
    assert_int_equal(reports.done[reports.count - 1], 25);
    unlink(path);
    matrix_set_free(&rows);
}

/* Where no particle is, no result overwrites one. */
static void columns_of_nothing_may_lie_anywhere(void **state)
{
    (void)state;
    struct matrix_set rows = matrix_set_create(&numbers, KITH_F64, 4, 3);
    double sums[] = {1, 2, 3, 4};
    const kith_particles nothing = {.positions = kith_array_matrix(sums, KITH_F64, 0, 3)};
    assert_ok(kith_matrix_reduce(shared, NULL, NULL, &rows.particles, &nothing, KITH_REDUCE_SUM,
                                 kith_array_vector(sums, KITH_F64, 4)));
    for (int k = 0; k < 4; k++)
        assert_true(sums[k] == 0);
    matrix_set_free(&rows);
}

/* The second row of the message is where the mistake is. */
static void mistakes_are_told(void **state)
{
    (void)state;
    struct matrix_set set = matrix_set_create(&numbers, KITH_F64, 4, 3);
    struct matrix_set other = matrix_set_create(&numbers, KITH_F32, 4, 3);
    const kith_array matrix = matrix_new(KITH_F64, 4, 4), vector = matrix_new_vector(KITH_F64, 4);
    const kith_particles *p = &set.particles;
    const kith_matrix_options bad_softening = {.softening = -1}, symmetric = {.symmetric = true},
                              tile = {.method = KITH_MATRIX_TILE_P}, block = {.block = 1025},
                              largest_block = {.block = 1024};
    assert_fails(kith_matrix_compute(shared, NULL, NULL, NULL, NULL, matrix), KITH_INVALID_ARGUMENT,
                 "NULL");
    assert_fails(kith_matrix_compute(shared, NULL, &bad_softening, p, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "softening -1");
    assert_fails(kith_matrix_compute(shared, NULL, &symmetric, p, &other.particles, matrix),
                 KITH_INVALID_ARGUMENT, "columns.positions float32");
    assert_fails(kith_matrix_compute(shared, NULL, &tile, p, NULL, matrix), KITH_UNSUPPORTED,
                 "GPU");
    assert_fails(kith_matrix_compute(shared, NULL, &block, p, NULL, matrix), KITH_INVALID_ARGUMENT,
                 "block 1025 1 1024");
    assert_ok(kith_matrix_compute(shared, NULL, &largest_block, p, NULL, matrix));
    assert_fails(kith_matrix_compute(shared, NULL, NULL, p, NULL, vector), KITH_INVALID_ARGUMENT,
                 "matrix 1");
    assert_fails(kith_matrix_compute(shared, NULL, NULL, p, NULL,
                                     kith_array_matrix(p->positions.data, KITH_F64, 4, 4)),
                 KITH_INVALID_ARGUMENT, "overlaps rows.positions");
    assert_fails(kith_matrix_reduce(shared, NULL, NULL, p, NULL, KITH_REDUCE_ARGMIN,
                                    kith_array_vector(matrix.data, KITH_F64, 4)),
                 KITH_INVALID_ARGUMENT, "float64 int64");
    assert_fails(kith_matrix_histogram(shared, NULL, NULL, p, NULL, 1, 1,
                                       kith_array_vector(matrix.data, KITH_I64, 4)),
                 KITH_INVALID_ARGUMENT, "high low 1 1");
    const kith_matrix_options reference = {.method = KITH_MATRIX_REFERENCE};
    assert_fails(kith_matrix_write(shared, NULL, &reference, p, NULL, 0, "never.npy", NULL),
                 KITH_UNSUPPORTED, "reference");
    kith_array backwards = kith_array_matrix((double *)p->positions.data + 12, KITH_F64, 4, 4);
    backwards.strides[0] = -4;
    assert_fails(kith_matrix_compute(shared, NULL, NULL, p, NULL, backwards), KITH_INVALID_ARGUMENT,
                 "overlaps rows.positions");
    kith_particles few = *p;
    few.columns[1].values.shape[0] = 3;
    assert_fails(kith_matrix_compute(shared, NULL, NULL, p, &few, matrix), KITH_INVALID_ARGUMENT,
                 "columns.q 3 4");
    few.columns[1] = (kith_particle_column){"softening", p->columns[0].values};
    assert_fails(kith_matrix_compute(shared, NULL, NULL, &few, NULL, matrix), KITH_UNSUPPORTED,
                 "matrix rows.softening");
    matrix_put(p->columns[0].values, 2, NAN);
    assert_fails(kith_matrix_compute(shared, NULL, NULL, p, NULL, matrix), KITH_INVALID_ARGUMENT,
                 "row 2 rows.m nan");
    free(matrix.data);
    free(vector.data);
    matrix_set_free(&set);
    matrix_set_free(&other);
}

/* A context that takes itself for one of a GPU: none of the arrays is touched. */
static void arrays_are_all_on_the_device_of_the_rows(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    const kith_device own = context->device, gpu = {KITH_CUDA, 2};
    double x[6] = {0}, values[4];
    kith_particles rows = {.positions = kith_array_matrix(x, KITH_F64, 2, 3)};
    const kith_array matrix = kith_array_matrix(values, KITH_F64, 2, 2);
    context->device = gpu;
    rows.positions.device = gpu;
    assert_fails(kith_matrix_compute(context, NULL, NULL, &rows, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "matrix rows.positions cuda:2");
    rows.positions.device.index = 1;
    assert_fails(kith_matrix_compute(context, NULL, NULL, &rows, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "rows.positions cuda:1 cuda:2");
    context->device = own;
    assert_fails(kith_matrix_compute(context, NULL, NULL, &rows, NULL, matrix), KITH_UNSUPPORTED,
                 "rows.positions host's");
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_gives_the_reference),
        cmocka_unit_test(every_size_gives_the_reference),
        cmocka_unit_test(every_law_fills_a_large_matrix),
        cmocka_unit_test(the_diagonal_is_what_was_asked_for),
        cmocka_unit_test(reductions_and_products_count_the_diagonal_that_is_asked_for),
        cmocka_unit_test(the_diagonal_of_a_product_is_exact),
        cmocka_unit_test(symmetric_gives_the_same_bits),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(rows_past_the_caches_are_those_of_tiles),
        cmocka_unit_test(every_instruction_set_gives_the_reference),
        cmocka_unit_test(few_rows_of_many_columns_are_summed_in_parts),
        cmocka_unit_test(a_file_that_is_cancelled_leaves_the_old_one),
        cmocka_unit_test(a_file_in_blocks_is_the_whole_matrix),
        cmocka_unit_test(a_matrix_larger_than_caches_is_right_to_its_last_element),
        cmocka_unit_test(histograms_close_the_last_bin),
        cmocka_unit_test(a_file_in_blocks_tells_the_rows_that_are_done),
        cmocka_unit_test(columns_of_nothing_may_lie_anywhere),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(arrays_are_all_on_the_device_of_the_rows),
    };
    numbers = random_numbers_begin("test_matrix");
    shared = new_context(NULL, 2);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(shared);
    return failed;
}
