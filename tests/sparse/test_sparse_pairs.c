/* Matrices of neighbor pairs against sums over the pairs themselves. */
#include "testing.h"

#include <kith/kith.h>

#include "pairs_system.h"

enum { n = 150 };

struct setting {
    kith_context *context;
    kith_pairs *full, *half;
    double u[n], mass[n], charge[n];
};

/* Random points in a periodic box that is hardly larger than the cutoff: several images count. */
static struct setting begin(const char *name)
{
    struct random_numbers numbers = random_numbers_begin(name);
    struct setting setting = {.context = pairs_context(2)};
    const kith_cell cell = {{{0.7, 0, 0}, {0, 1.5, 0}, {0, 0, 1.5}}, {true, true, false}};
    kith_pairs_options options = {.cutoff = 0.4, .quantities = pairs_everything};
    double x[3 * n];
    for (int k = 0; k < 3 * n; k++)
        x[k] = random_uniform(&numbers, 0, 1.5);
    for (int i = 0; i < n; i++) {
        setting.u[i] = random_uniform(&numbers, -1, 1);
        setting.mass[i] = random_uniform(&numbers, 1, 2);
        setting.charge[i] = random_uniform(&numbers, -1, 1);
    }
    const kith_array positions = kith_array_matrix(x, KITH_F64, n, 3);
    assert_ok(kith_pairs_compute(setting.context, &options, positions, &cell, &setting.full));
    options.half = true;
    options.narrow = true;
    assert_ok(kith_pairs_compute(setting.context, &options, positions, &cell, &setting.half));
    assert_true(setting.full->count == 2 * setting.half->count && setting.half->count > n);
    return setting;
}

static void end(struct setting *setting)
{
    kith_pairs_free(setting->full);
    kith_pairs_free(setting->half);
    kith_context_free(setting->context);
}

static void multiply(struct setting *setting, const kith_pairs *pairs,
                     const kith_sparse_graph *graph, double *y)
{
    kith_sparse *sparse = NULL;
    assert_ok(kith_sparse_create_pairs(setting->context, NULL, pairs, graph, &sparse));
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                   kith_array_vector(setting->u, KITH_F64, n), 0,
                                   kith_array_vector(y, KITH_F64, n)));
    kith_sparse_free(sparse);
}

/* Σ_j V(i, j) u_j of W, or Σ_j V(i, j) (u_i − u_j) of the Laplacian, over the full list. */
static void sum_over_pairs(const struct setting *setting, const kith_sparse_graph *graph, double *y)
{
    const int64_t *i = setting->full->i.data, *j = setting->full->j.data;
    const double(*vector)[3] = (const double(*)[3])setting->full->vectors.data;
    for (int k = 0; k < n; k++)
        y[k] = 0;
    for (int64_t k = 0; k < setting->full->count; k++) {
        const kith_law_pair pair = {{vector[k][0], vector[k][1], vector[k][2]},
                                    graph->softening,
                                    setting->mass[i[k]],
                                    setting->mass[j[k]],
                                    setting->charge[i[k]],
                                    setting->charge[j[k]]};
        double value = 1;
        if (graph->law)
            assert_ok(kith_law_evaluate(graph->law, &pair, &value, NULL));
        const double u = setting->u[j[k]];
        y[i[k]] += value * (graph->laplacian ? setting->u[i[k]] - u : u);
    }
}

static void check_graph(struct setting *setting, kith_sparse_graph graph)
{
    double expected[n], found[n];
    sum_over_pairs(setting, &graph, expected);
    for (int half = 0; half < 2; half++) {
        graph.half = half;
        multiply(setting, half ? setting->half : setting->full, &graph, found);
        for (int i = 0; i < n; i++)
            if (fabs(found[i] - expected[i]) > 1e-11 * (1 + fabs(expected[i])))
                fail_msg("%s list, Laplacian %d: y[%d] is %.17g, not %.17g", half ? "half" : "full",
                         (int)graph.laplacian, i, found[i], expected[i]);
    }
}

static void test_graphs_sum_the_law_over_their_pairs(void **state)
{
    (void)state;
    static const char *const texts[] = {NULL, "yukawa:0.5", "gravity", "gaussian:0.3",
                                        "expr:m_i * q_j * (2 + dx) / (0.1 + r)"};
    struct setting setting = begin("graphs");
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (int laplacian = 0; laplacian < 2; laplacian++) {
            kith_law *law = NULL;
            if (texts[t])
                assert_ok(kith_law_parse(texts[t], 0, NULL, &law));
            check_graph(&setting, (kith_sparse_graph){
                                      .law = law,
                                      .mass = kith_array_vector(setting.mass, KITH_F64, n),
                                      .charge = kith_array_vector(setting.charge, KITH_F64, n),
                                      .softening = 0.05,
                                      .laplacian = laplacian});
            kith_law_free(law);
        }
    end(&setting);
}

static void test_a_laplacian_is_symmetric_and_takes_constants_to_zero(void **state)
{
    (void)state;
    struct setting setting = begin("laplacian");
    const kith_sparse_graph graph = {.laplacian = true};
    kith_sparse *sparse = NULL;
    double y[n], z[n], energy = 0;
    assert_ok(kith_sparse_create_pairs(setting.context, NULL, setting.full, &graph, &sparse));
    const kith_array u = kith_array_vector(setting.u, KITH_F64, n);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, u, 0,
                                   kith_array_vector(y, KITH_F64, n)));
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_TRANSPOSED, 1, u, 0,
                                   kith_array_vector(z, KITH_F64, n)));
    for (int i = 0; i < n; i++) {
        assert_true(fabs(y[i] - z[i]) < 1e-12);
        energy += y[i] * setting.u[i];
        setting.u[i] = 1;
    }
    assert_true(energy > 0);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, u, 0,
                                   kith_array_vector(y, KITH_F64, n)));
    for (int i = 0; i < n; i++)
        assert_true(y[i] == 0);
    kith_sparse_free(sparse);
    end(&setting);
}

static void expect_failure(struct setting *setting, const kith_pairs *pairs,
                           kith_sparse_graph graph, const char *message)
{
    kith_sparse *sparse = NULL;
    assert_fails(kith_sparse_create_pairs(setting->context, NULL, pairs, &graph, &sparse),
                 KITH_INVALID_ARGUMENT, message);
    assert_null(sparse);
}

static void test_what_a_law_needs_must_be_listed(void **state)
{
    (void)state;
    struct setting setting = begin("needs");
    kith_law *law = NULL, *directed = NULL;
    kith_pairs bare = *setting.full;
    assert_ok(kith_law_parse("gravity", 0, NULL, &law));
    assert_ok(kith_law_parse("expr:dx", 0, NULL, &directed));
    bare.vectors = kith_array_none();
    expect_failure(&setting, &bare, (kith_sparse_graph){.law = directed}, "vectors");
    bare.distances = kith_array_none();
    expect_failure(&setting, &bare, (kith_sparse_graph){.law = law}, "distances");
    bare.j = kith_array_none();
    expect_failure(&setting, &bare, (kith_sparse_graph){0}, "j");
    expect_failure(&setting, NULL, (kith_sparse_graph){0}, "pairs NULL");
    expect_failure(&setting, setting.full, (kith_sparse_graph){.law = law, .softening = -1},
                   "softening -1");
    expect_failure(&setting, setting.full, (kith_sparse_graph){.column_count = 7}, "matrix 7");
    expect_failure(&setting, setting.full,
                   (kith_sparse_graph){.laplacian = true, .column_count = n + 1}, "Laplacian");
    expect_failure(
        &setting, setting.full,
        (kith_sparse_graph){.law = law, .mass = kith_array_vector(setting.mass, KITH_F64, 3)},
        "mass 1 3");
    kith_law_free(law);
    kith_law_free(directed);
    end(&setting);
}

/* Invalid lists and matrices, which kith itself never makes. */
static void test_lists_that_make_no_matrix_are_refused(void **state)
{
    (void)state;
    struct setting setting = begin("no lists");
    kith_sparse *sparse = NULL;
    const kith_sparse_options integers = {.dtype = KITH_I32};
    kith_pairs spoiled = *setting.full;
    spoiled.offsets.data = NULL;
    expect_failure(&setting, &spoiled, (kith_sparse_graph){0}, "offsets NULL");
    expect_failure(&setting, setting.full, (kith_sparse_graph){.column_count = -1}, "0");
    expect_failure(&setting, setting.full, (kith_sparse_graph){.column_count = 1LL << 40}, "0");
    spoiled = *setting.full;
    spoiled.row_count = 1LL << 40;
    expect_failure(&setting, &spoiled, (kith_sparse_graph){.column_count = n}, "0");
    expect_failure(&setting, setting.full, (kith_sparse_graph){.half = true, .column_count = n + 1},
                   "half list");
    spoiled = *setting.full;
    spoiled.offsets.device.kind = KITH_CUDA;
    assert_fails(kith_sparse_create_pairs(setting.context, NULL, &spoiled, NULL, &sparse),
                 KITH_UNSUPPORTED, "device");
    assert_fails(kith_sparse_create_pairs(setting.context, &integers, setting.full, NULL, &sparse),
                 KITH_INVALID_ARGUMENT, "dtype");
    assert_fails(kith_sparse_create_pairs(NULL, NULL, setting.full, NULL, &sparse),
                 KITH_INVALID_ARGUMENT, "NULL");
    assert_fails(kith_sparse_create_pairs(setting.context, NULL, setting.full, NULL, NULL),
                 KITH_INVALID_ARGUMENT, "sparse NULL");
    int64_t *j = setting.full->j.data, kept = j[3];
    j[3] = -2;
    expect_failure(&setting, setting.full, (kith_sparse_graph){0}, "3 = -2");
    j[3] = kept;
    end(&setting);
}

/* Weights of either precision, in matrices of either. */
static void test_weights_and_queries_go_with_a_law(void **state)
{
    (void)state;
    struct setting setting = begin("weights");
    kith_law *law = NULL;
    float mass[n];
    double in_double[n], in_float[n];
    assert_ok(kith_law_parse("gravity", 0, NULL, &law));
    for (int i = 0; i < n; i++) {
        mass[i] = (float)(1 + i % 7) / 4;
        setting.mass[i] = (double)(1 + i % 7) / 4;
    }
    kith_sparse_graph graph = {.law = law, .softening = 0.1};
    graph.mass = kith_array_vector(setting.mass, KITH_F64, n);
    multiply(&setting, setting.full, &graph, in_double);
    graph.mass = kith_array_vector(mass, KITH_F32, n);
    multiply(&setting, setting.full, &graph, in_float);
    assert_memory_equal(in_double, in_float, sizeof in_double);
    graph.column_count = n + 1;
    expect_failure(&setting, setting.full, graph, "queries");
    kith_law_free(law);
    end(&setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs_sum_the_law_over_their_pairs),
        cmocka_unit_test(test_a_laplacian_is_symmetric_and_takes_constants_to_zero),
        cmocka_unit_test(test_what_a_law_needs_must_be_listed),
        cmocka_unit_test(test_lists_that_make_no_matrix_are_refused),
        cmocka_unit_test(test_weights_and_queries_go_with_a_law),
    };
    return cmocka_run_group_tests_name("sparse_pairs", tests, NULL, NULL);
}
