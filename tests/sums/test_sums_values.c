/* Sums of pair functions: values known by hand, what is neutral, and mistakes. */

#include "testing.h"

#include <math.h>

static kith_context *context;

static void test_two_particles_by_hand(void **state)
{
    (void)state;
    double x[2][2] = {{0, 0}, {3, 4}}, c[2] = {2, 5}, out[2][2];
    const kith_named_formula outputs[] = {{"a", "c_j * r + c_i"}, {"b", "dx - dy + dz"}};
    const kith_particles two =
        *PARTICLES(kith_array_matrix(x, KITH_F64, 2, 2), {"c", kith_array_vector(c, KITH_F64, 2)});
    const kith_array to = kith_array_matrix(out, KITH_F64, 2, 2);
    assert_ok(kith_sums_compute(context, NULL, NULL, &two, 2, outputs, to));
    assert_true(out[0][0] == 27 && out[1][0] == 15 && out[0][1] == -1 && out[1][1] == 1);
    const kith_cell cell = {{{6, 0, 0}, {0, 50, 0}},
                            {true, false}}; /* an image at distance 5 too */
    const kith_sums_options near = {.cutoff = 5.5, .cell = &cell};
    assert_ok(kith_sums_compute(context, &near, NULL, &two, 2, outputs, to));
    assert_true(out[0][0] == 54 && out[1][0] == 30 && out[0][1] == -8 && out[1][1] == 8);
    const kith_sums_options self = {.cutoff = 6.5, .cell = &cell}; /* and images of itself at 6 */
    assert_ok(kith_sums_compute(context, &self, NULL, &two, 2, outputs, to));
    assert_true(out[0][0] == 54 + 2 * (2 * 6 + 2) && out[1][0] == 30 + 2 * (5 * 6 + 5));
}

static void test_reductions_without_neighbors_are_neutral(void **state)
{
    (void)state;
    static const double expected[] = {0, (double)INFINITY, -(double)INFINITY, 0, -(double)INFINITY};
    double x[2][3] = {{0, 0, 0}, {9, 0, 0}}, out[2] = {7, 7};
    for (int reduction = 0; reduction < 5; reduction++)
        for (int method = 0; method < 2; method++)
            for (int64_t count = 1; count <= 2; count++) {
                const kith_sums_options options = {.cutoff = 1,
                                                   .reduction = (kith_sums_reduction)reduction,
                                                   .method = (kith_sums_method)method};
                assert_ok(kith_sums_compute(context, &options, NULL,
                                            POINTS(kith_array_matrix(x, KITH_F64, count, 3)), 1,
                                            (kith_named_formula[]){{"f", "1 + r"}},
                                            kith_array_matrix(out, KITH_F64, count, 1)));
                for (int64_t k = 0; k < count; k++)
                    assert_true(out[k] == expected[reduction]);
            }
}

static void test_logsumexp_does_not_overflow(void **state)
{
    (void)state;
    double x[3][2] = {{0, 0}, {1, 0}, {2, 0}}, out[3];
    const kith_sums_options options = {.reduction = KITH_SUMS_LOGSUMEXP};
    assert_ok(kith_sums_compute(
        context, &options, NULL, POINTS(kith_array_matrix(x, KITH_F64, 3, 2)), 1,
        (kith_named_formula[]){{"f", "5000 * r"}}, kith_array_matrix(out, KITH_F64, 3, 1)));
    assert_true(out[0] == 10000 && fabs(out[1] - (5000 + log(2))) < 1e-12 * 5000);
}

static void test_nan_of_a_pair_is_the_result(void **state)
{
    (void)state;
    double x[3][2] = {{0, 0}, {1, 0}, {3, 0}}, out[3];
    for (int reduction = 0; reduction < 5; reduction++) {
        const kith_sums_options options = {.reduction = (kith_sums_reduction)reduction};
        assert_ok(kith_sums_compute(context, &options, NULL,
                                    POINTS(kith_array_matrix(x, KITH_F64, 3, 2)), 1,
                                    (kith_named_formula[]){{"f", "sqrt(1.5 - r)"}},
                                    kith_array_matrix(out, KITH_F64, 3, 1)));
        if (reduction == KITH_SUMS_COUNT)
            assert_true(out[0] == 2 && out[2] == 2);
        else
            assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
    }
}

/* One call with a mistake. */
static kith_status fails_with(kith_sums_options options, const char *formula, kith_particles *of)
{
    double out[3];
    return kith_sums_compute(context, &options, NULL, of, 1, (kith_named_formula[]){{"f", formula}},
                             kith_array_matrix(out, KITH_F64, 3, 1));
}

static void test_mistakes_are_told_in_one_sentence(void **state)
{
    (void)state;
    double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, h[3] = {1, (double)NAN, 1};
    kith_particles three =
        *PARTICLES(kith_array_matrix(x, KITH_F64, 3, 3), {"h", kith_array_vector(h, KITH_F64, 3)});
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_cell flat = {{{1, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_sums_options none = {0}, near = {.cutoff = 1};
    assert_fails(fails_with((kith_sums_options){.cutoff = -1}, "r", &three), KITH_INVALID_ARGUMENT,
                 "cutoff -1");
    assert_fails(fails_with((kith_sums_options){.cell = &cell}, "r", &three), KITH_INVALID_ARGUMENT,
                 "cutoff 0");
    assert_fails(fails_with((kith_sums_options){.cutoff = 1, .cell = &flat}, "r", &three),
                 KITH_INVALID_ARGUMENT, "dependent");
    assert_fails(fails_with((kith_sums_options){.cutoff = 1e-300}, "r", &three),
                 KITH_INVALID_ARGUMENT, "float64");
    assert_fails(fails_with(none, "w_j", &three), KITH_INVALID_ARGUMENT, "character 1 'w_j'");
    assert_fails(fails_with(none, "w_j", &three), KITH_INVALID_ARGUMENT, "columns h");
    assert_fails(fails_with(none, "2 * (r", &three), KITH_INVALID_ARGUMENT, "missing");
    assert_fails(fails_with(none, "h_j", &three), KITH_INVALID_ARGUMENT, "row 1 sources.h nan");
    assert_fails(fails_with(near, "h_i", &three), KITH_INVALID_ARGUMENT, "row 1 targets.h nan");
    assert_ok(fails_with(none, "m_i + q_j", &three)); /* h is not used */
    kith_sums_options let = {.let_count = 1};
    let.lets = (kith_named_formula[]){{"h_i", "1"}};
    assert_fails(fails_with(let, "r", &three), KITH_INVALID_ARGUMENT, "'h_i'");
    let.lets = (kith_named_formula[]){{"W", "r +"}};
    assert_fails(fails_with(let, "r", &three), KITH_INVALID_ARGUMENT, "let W: formula");
    kith_sums_options with = {.parameter_count = 1};
    with.parameters = (kith_law_parameter[]){{"a", (double)NAN}};
    assert_fails(fails_with(with, "a", &three), KITH_INVALID_ARGUMENT, "a nan");
    x[2][1] = (double)INFINITY;
    assert_fails(fails_with(near, "r", &three), KITH_INVALID_ARGUMENT,
                 "row 2 sources.positions inf");
    x[2][1] = 0;
    double out[4];
    const kith_named_formula twice[] = {{"f", "r"}, {"f", "r2"}};
    assert_fails(kith_sums_compute(context, NULL, NULL, &three, 2, twice,
                                   kith_array_matrix(out, KITH_F64, 3, 2)),
                 KITH_INVALID_ARGUMENT, "f");
    assert_fails(kith_sums_compute(context, NULL, NULL, &three, 0, twice,
                                   kith_array_matrix(out, KITH_F64, 3, 1)),
                 KITH_INVALID_ARGUMENT, "output_count 0");
    assert_fails(kith_sums_compute(context, NULL, NULL, &three, 1, twice,
                                   kith_array_matrix(out, KITH_F64, 2, 1)),
                 KITH_INVALID_ARGUMENT, "results");
    kith_particles targets = *POINTS(kith_array_matrix(out, KITH_F64, 1, 3));
    out[0] = out[1] = out[2] = 0;
    assert_fails(kith_sums_compute(context, NULL, &targets, &three, 1,
                                   (kith_named_formula[]){{"f", "h_i"}},
                                   kith_array_matrix(out + 3, KITH_F64, 1, 1)),
                 KITH_INVALID_ARGUMENT, "targets formula h_i");
}

static int open_context(void **state)
{
    (void)state;
    const kith_context_options options = {.device = {KITH_CPU, 0}};
    return kith_context_create(&options, &context) == KITH_OK ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_particles_by_hand),
        cmocka_unit_test(test_reductions_without_neighbors_are_neutral),
        cmocka_unit_test(test_logsumexp_does_not_overflow),
        cmocka_unit_test(test_nan_of_a_pair_is_the_result),
        cmocka_unit_test(test_mistakes_are_told_in_one_sentence),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
