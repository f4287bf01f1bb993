/* Every capability stops in the middle of a long call: by the poll of its own thread, and from
 * another one. Most of these calls would take minutes. */

#include "testing.h"

#include <stdlib.h>

#include "cancelling.h"

enum { many = 400000, some = 60000, many_beads = 12000000 };

static double *numbers; /* 3 × many, between 0 and 1 */
static double *results;
static int32_t *beads; /* 2 × many_beads */

static double next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static int make_numbers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    numbers = malloc(3 * many * sizeof *numbers);
    results = malloc(3 * many * sizeof *results);
    beads = malloc(2 * many_beads * sizeof *beads);
    if (!numbers || !results || !beads)
        return -1;
    for (int64_t k = 0; k < 3 * many; k++)
        numbers[k] = next_number(&seed);
    for (int64_t k = 0; k < 2 * many_beads; k++)
        beads[k] = (int32_t)(1e9 * next_number(&seed));
    return 0;
}

static int free_numbers(void **state)
{
    (void)state;
    free(numbers);
    free(results);
    free(beads);
    return 0;
}

static kith_context *cpu_context(int32_t threads)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

static kith_array positions(int64_t n)
{
    return kith_array_matrix(numbers, KITH_F64, n, 3);
}

/* By its poll in one thread, and from another thread in two. */
static void assert_stops(long_call *call, void *argument)
{
    for (int32_t threads = 1; threads <= 2; threads++) {
        kith_context *context = cpu_context(threads);
        (threads == 1 ? assert_polled : assert_cancelled)(context, call, argument);
        kith_context_free(context);
    }
}

struct forces {
    kith_forces_options options;
    const char *law;
    int64_t n;
};

static kith_status sum_forces(kith_context *context, void *argument)
{
    const struct forces *forces = argument;
    kith_forces_options options = forces->options;
    kith_law *law = NULL;
    if (forces->law)
        assert_ok(kith_law_parse(forces->law, 0, NULL, &law));
    options.law = law;
    const kith_status status =
        kith_forces_compute(context, &options, NULL, POINTS(positions(forces->n)),
                            kith_array_matrix(results, KITH_F64, forces->n, 3), kith_array_none());
    kith_law_free(law);
    return status;
}

static void test_forces_stop(void **state)
{
    (void)state;
    struct forces each[] = {
        {{.method = KITH_FORCES_AUTO}, NULL, many},
        {{.method = KITH_FORCES_SPLIT}, NULL, many},
        {{.solver = solver_named("reference")}, NULL, some},
        {{.method = KITH_FORCES_AUTO}, "coulomb", many},
        {{.solver = solver_named("reference")}, "coulomb", some},
    };
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
        assert_stops(sum_forces, &each[k]);
}

enum matrix_part { matrix_written, matrix_sums, matrix_places, matrix_product, matrix_bins };

struct matrix {
    enum matrix_part part;
    kith_matrix_method method;
    int64_t n;
};

static kith_status compute_matrix(kith_context *context, void *argument)
{
    static int64_t counts[100];
    const struct matrix *matrix = argument;
    const kith_matrix_options options = {.method = matrix->method};
    const kith_particles rows = {.positions = positions(matrix->n)};
    const kith_array out = kith_array_vector(results, KITH_F64, matrix->n);
    switch (matrix->part) {
    case matrix_written:
        return kith_matrix_write(context, NULL, &options, &rows, NULL, 1 << 24, NULL, NULL);
    case matrix_sums:
        return kith_matrix_reduce(context, NULL, &options, &rows, NULL, KITH_REDUCE_SUM, out);
    case matrix_places:
        return kith_matrix_reduce(context, NULL, &options, &rows, NULL, KITH_REDUCE_ARGMIN,
                                  kith_array_vector(results, KITH_I64, matrix->n));
    case matrix_product:
        return kith_matrix_multiply(context, NULL, &options, &rows, NULL,
                                    kith_array_vector(numbers, KITH_F64, matrix->n), out);
    default:
        return kith_matrix_histogram(context, NULL, &options, &rows, NULL, -1, 0,
                                     kith_array_vector(counts, KITH_I64, 100));
    }
}

static void test_matrices_stop(void **state)
{
    (void)state;
    for (int part = matrix_written; part <= matrix_bins; part++) {
        struct matrix matrix = {(enum matrix_part)part, KITH_MATRIX_AUTO, many};
        assert_stops(compute_matrix, &matrix);
    }
    for (int part = matrix_sums; part <= matrix_bins; part++) {
        struct matrix matrix = {(enum matrix_part)part, KITH_MATRIX_REFERENCE, some};
        assert_stops(compute_matrix, &matrix);
    }
}

static kith_status fill_matrix(kith_context *context, void *argument)
{
    enum { n = 6000 };
    const struct matrix *matrix = argument;
    const kith_matrix_options options = {.method = matrix->method,
                                         .symmetric = matrix->method == KITH_MATRIX_AUTO};
    const kith_particles rows = {.positions = positions(n)};
    kith_law *law = NULL;
    double *values = malloc((size_t)n * n * sizeof *values);
    assert_non_null(values);
    assert_ok(kith_law_parse("multiquadric:1", 0, NULL, &law));
    const kith_status status = kith_matrix_compute(context, law, &options, &rows, NULL,
                                                   kith_array_matrix(values, KITH_F64, n, n));
    kith_law_free(law);
    free(values);
    return status;
}

static void test_a_matrix_that_is_kept_stops(void **state)
{
    (void)state;
    struct matrix matrix = {.method = KITH_MATRIX_REFERENCE};
    kith_context *context = cpu_context(1);
    assert_polled(context, fill_matrix, &matrix);
    matrix.method = KITH_MATRIX_AUTO;
    assert_polled(context, fill_matrix, &matrix);
    kith_context_free(context);
}

struct search {
    kith_pairs_options options;
    int64_t n, nearest;
};

static kith_status find_pairs(kith_context *context, void *argument)
{
    const struct search *search = argument;
    kith_pairs *pairs = NULL;
    const kith_status status =
        search->nearest > 0
            ? kith_pairs_nearest(context, &search->options, positions(search->n), NULL,
                                 search->nearest, &pairs)
            : kith_pairs_compute(context, &search->options, positions(search->n), NULL, &pairs);
    assert_true(status == KITH_OK || !pairs);
    kith_pairs_free(pairs);
    return status;
}

static void test_pairs_stop(void **state)
{
    (void)state;
    struct search each[] = {
        {{.cutoff = 1e-3, .method = KITH_PAIRS_BRUTE_FORCE}, many, 0},
        {{.cutoff = 0.2, .quantities = KITH_PAIRS_COUNTS}, many, 0},
        {{.cutoff = 1e-3, .method = KITH_PAIRS_REFERENCE}, some, 0},
        {{.cutoff = 0}, many, 200},
        {{.cutoff = 0, .method = KITH_PAIRS_BRUTE_FORCE}, many, 2},
        {{.cutoff = 0, .method = KITH_PAIRS_REFERENCE}, some, 2},
    };
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
        assert_stops(find_pairs, &each[k]);
}

struct sums {
    kith_sums_options options;
    int64_t n;
};

static kith_status sum_pairs(kith_context *context, void *argument)
{
    const struct sums *sums = argument;
    const kith_named_formula output = {"f", "exp(-r2) / (1 + r)"};
    return kith_sums_compute(context, &sums->options, NULL, POINTS(positions(sums->n)), 1, &output,
                             kith_array_matrix(results, KITH_F64, sums->n, 1));
}

static void test_sums_stop(void **state)
{
    (void)state;
    struct sums each[] = {
        {{.cutoff = 0}, many},
        {{.cutoff = 0.3}, many},
        {{.cutoff = 0.3, .method = KITH_SUMS_REFERENCE}, some},
    };
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
        assert_stops(sum_pairs, &each[k]);
}

struct counting {
    kith_collisions_method method;
    int64_t n;
};

static kith_status count_collisions(kith_context *context, void *argument)
{
    const struct counting *counting = argument;
    const kith_collisions_options options = {.method = counting->method};
    int64_t count = 0;
    return kith_collisions_count(context, &options,
                                 kith_array_matrix(beads, KITH_I32, counting->n, 2), &count);
}

static void test_collisions_of_all_pairs_stop(void **state)
{
    (void)state;
    for (int method = KITH_COLLISIONS_N_STEPS_SINGLE_ROW; method <= KITH_COLLISIONS_ALL_PAIRS;
         method++) {
        struct counting counting = {(kith_collisions_method)method, many_beads / 4};
        assert_stops(count_collisions, &counting);
    }
    struct counting counting = {KITH_COLLISIONS_REFERENCE, many_beads / 4};
    assert_stops(count_collisions, &counting);
}

static kith_status group_beads(kith_context *context, void *argument)
{
    (void)argument;
    kith_collisions_groups *groups = NULL;
    const kith_status status =
        kith_collisions_group(context, kith_array_matrix(beads, KITH_I32, many_beads, 2), &groups);
    kith_collisions_groups_free(groups);
    return status;
}

static kith_status count_contacts(kith_context *context, void *argument)
{
    (void)argument;
    int64_t count = 0;
    return kith_contacts_count(context, kith_array_matrix(beads, KITH_I32, many_beads, 2), NULL,
                               &count);
}

static kith_status count_batch(kith_context *context, void *argument)
{
    (void)argument;
    enum { length = 40000 };
    const int64_t conformations = many_beads / length;
    const kith_array batch = {
        beads, {KITH_CPU, 0}, 3, KITH_I32, {conformations, length, 2}, {length * 2, 2, 1}};
    return kith_collisions_batch(context, batch, kith_array_none(), NULL, kith_array_none(),
                                 kith_array_vector(results, KITH_I64, conformations));
}

static void test_lists_of_beads_stop(void **state)
{
    (void)state;
    struct counting sorted = {KITH_COLLISIONS_SORT, many_beads};
    struct counting hashed = {KITH_COLLISIONS_HASH, many_beads};
    kith_context *context = cpu_context(1);
    assert_polled(context, count_collisions, &sorted);
    assert_polled(context, count_collisions, &hashed);
    assert_polled(context, group_beads, NULL);
    assert_polled(context, count_contacts, NULL);
    assert_polled(context, count_batch, NULL);
    kith_context_free(context);
}

/* The promise goes on beside; its context is freed without waiting for its end. */
static kith_status fetch_promise(kith_context *context, void *argument)
{
    (void)argument;
    const kith_collisions_options options = {.method = KITH_COLLISIONS_REFERENCE};
    kith_collisions_promise *promise = NULL;
    int64_t count = 0;
    assert_ok(kith_collisions_launch(
        context, &options, kith_array_matrix(beads, KITH_I32, many_beads / 4, 2), &promise));
    const kith_status status = kith_collisions_fetch(promise, &count);
    kith_collisions_promise_free(promise);
    return status;
}

static void test_waiting_for_a_promise_stops(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        kith_context *context = cpu_context(1);
        (turn == 0 ? assert_polled : assert_cancelled)(context, fetch_promise, NULL);
        kith_context_free(context);
    }
}

enum { rows = 300000, entries = 6000000 };

static kith_status make_sparse(kith_context *context, void *argument)
{
    kith_sparse **sparse = argument;
    int32_t *row = malloc(entries * sizeof *row), *column = malloc(entries * sizeof *column);
    double *value = malloc(entries * sizeof *value);
    uint64_t seed = 2;
    assert_true(row && column && value);
    for (int64_t k = 0; k < entries; k++) {
        row[k] = (int32_t)(rows * next_number(&seed));
        column[k] = (int32_t)(rows * next_number(&seed));
        value[k] = 1;
    }
    const kith_status status =
        kith_sparse_create_coo(context, NULL, rows, rows, kith_array_vector(row, KITH_I32, entries),
                               kith_array_vector(column, KITH_I32, entries),
                               kith_array_vector(value, KITH_F64, entries), sparse);
    assert_true((status == KITH_OK) == (*sparse != NULL));
    free(row);
    free(column);
    free(value);
    return status;
}

struct product {
    kith_sparse *sparse;
    kith_sparse_operation operation;
    double *vectors;
};

/* As many vectors as take longer than the first poll. */
static kith_status multiply_sparse(kith_context *context, void *argument)
{
    enum { count = 64 };
    (void)context;
    const struct product *product = argument;
    return kith_sparse_multiply(
        product->sparse, product->operation, 1,
        kith_array_matrix(product->vectors, KITH_F64, rows, count), 0,
        kith_array_matrix(product->vectors + (size_t)rows * count, KITH_F64, rows, count));
}

static void test_sparse_matrices_stop(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    struct product product = {.vectors = calloc((size_t)rows * 128, sizeof(double))};
    assert_non_null(product.vectors);
    assert_polled(context, make_sparse, &product.sparse);
    assert_ok(make_sparse(context, &product.sparse));
    assert_polled(context, multiply_sparse, &product);
    product.operation = KITH_SPARSE_TRANSPOSED; /* cancelled when it is made */
    assert_polled(context, multiply_sparse, &product);
    for (int64_t i = 0; i < 64 * rows; i++)
        product.vectors[i] = 1;
    assert_ok(multiply_sparse(context, &product));
    double sum = 0;
    for (int64_t i = 0; i < rows; i++)
        sum += product.vectors[(size_t)(rows + i) * 64];
    assert_true(sum == entries);
    kith_sparse_free(product.sparse);
    free(product.vectors);
    kith_context_free(context);
}

/* Only the thread that has set a poll is asked, and nobody is asked too often. */
static bool remember_thread(void *user)
{
    if (!pthread_equal(pthread_self(), *(pthread_t *)user))
        abort();
    return false;
}

static void test_a_poll_runs_in_its_own_thread(void **state)
{
    (void)state;
    pthread_t self = pthread_self();
    kith_context *context = cpu_context(4);
    struct forces forces = {.n = some};
    kith_context_set_poll(context, remember_thread, &self);
    assert_ok(sum_forces(context, &forces));
    assert_false(kith_context_is_cancelled(context));
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_stop),
        cmocka_unit_test(test_matrices_stop),
        cmocka_unit_test(test_a_matrix_that_is_kept_stops),
        cmocka_unit_test(test_pairs_stop),
        cmocka_unit_test(test_sums_stop),
        cmocka_unit_test(test_collisions_of_all_pairs_stop),
        cmocka_unit_test(test_lists_of_beads_stop),
        cmocka_unit_test(test_waiting_for_a_promise_stops),
        cmocka_unit_test(test_sparse_matrices_stop),
        cmocka_unit_test(test_a_poll_runs_in_its_own_thread),
    };
    return cmocka_run_group_tests_name("cancel", tests, make_numbers, free_numbers);
}
