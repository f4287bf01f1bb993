/* How forces by laws change with the motion, in the reference. */

#include "law_testing.h"

#include "forces/law_choice.h"
#include "law_forces.h"

static struct law_reference_pair random_pair(struct random_numbers *random, bool softened)
{
    struct law_reference_pair pair = {.m_i = random_uniform(random, 0.5, 1.5),
                                      .m_j = random_uniform(random, 0.5, 1.5),
                                      .q_i = random_uniform(random, -1, 1),
                                      .q_j = random_uniform(random, -1, 1),
                                      .s2 = softened ? 0.09 : 0};
    for (int c = 0; c < 3; c++) {
        pair.d[c] = random_uniform(random, 0.3, 0.9);
        pair.s2 += pair.d[c] * pair.d[c];
    }
    return pair;
}

/* After a time h. */
static struct law_reference_pair moved(struct law_reference_pair pair, const double u[3], double h)
{
    for (int c = 0; c < 3; c++) {
        const double before = pair.d[c];
        pair.d[c] += h * u[c];
        pair.s2 += (pair.d[c] - before) * (pair.d[c] + before);
    }
    return pair;
}

static void find_rate(const struct law_view *view, const struct law_reference_pair *pair,
                      const double u[3], double rate[3])
{
    const struct law_reference_result result =
        law_reference_evaluate(view, pair, u, formula_wants_rate);
    memcpy(rate, result.rate, sizeof result.rate);
}

/* By differences of the force to the fourth order, along a line that bends for no law. */
static void check_rate(const kith_law *law, struct random_numbers *random)
{
    struct law_view view;
    law_look(law, &view);
    for (int k = 0; k < 20; k++) {
        const struct law_reference_pair pair = random_pair(random, k % 2);
        const double h = 1e-4, u[3] = {random_uniform(random, -1, 1), random_uniform(random, -1, 1),
                                       random_uniform(random, -1, 1)};
        double force[4][3], rate[3], scale = 0;
        find_rate(&view, &pair, u, rate);
        for (int p = 0; p < 4; p++) {
            static const double step[] = {-2, -1, 1, 2};
            const struct law_reference_pair there = moved(pair, u, step[p] * h);
            const struct law_reference_result result =
                law_reference_evaluate(&view, &there, NULL, formula_wants_force);
            memcpy(force[p], result.force, sizeof force[p]);
            scale += fabs(force[p][0]) + fabs(force[p][1]) + fabs(force[p][2]);
        }
        for (int c = 0; c < 3; c++) {
            const double slope =
                (force[0][c] - 8 * force[1][c] + 8 * force[2][c] - force[3][c]) / (12 * h);
            if (!(fabs(rate[c] - slope) <= 1e-8 * (scale + fabs(rate[c]))))
                fail_msg("%s: the force changes at the rate %.12g, not %.12g", kith_law_text(law),
                         slope, rate[c]);
        }
    }
}

static void test_rates_are_the_slopes_of_forces_in_time(void **state)
{
    for (int k = 0; k < force_law_count; k++) {
        kith_law *law = law_of(force_laws[k]);
        check_rate(law, *state);
        kith_law_free(law);
    }
    for (int k = 0; k < formula_count; k++) {
        kith_law *law = law_of_formula(formulas[k]);
        check_rate(law, *state);
        kith_law_free(law);
    }
}

/* dF_ij/dt = −dF_ji/dt where V(i, j) = V(j, i). */
static void test_rates_of_symmetric_laws_are_equal_and_opposite(void **state)
{
    for (int k = 0; k < force_law_count; k++) {
        kith_law *law = law_of(force_laws[k]);
        struct law_view view;
        law_look(law, &view);
        const struct law_reference_pair pair = random_pair(*state, true);
        const struct law_reference_pair other = {.d = {-pair.d[0], -pair.d[1], -pair.d[2]},
                                                 .s2 = pair.s2,
                                                 .m_i = pair.m_j,
                                                 .m_j = pair.m_i,
                                                 .q_i = pair.q_j,
                                                 .q_j = pair.q_i};
        const double u[3] = {0.3, -0.7, 0.2}, back[3] = {-0.3, 0.7, -0.2};
        double rate[3], of_other[3];
        find_rate(&view, &pair, u, rate);
        find_rate(&view, &other, back, of_other);
        for (int c = 0; c < 3; c++)
            assert_near(of_other[c], -rate[c], 1e-14 * fabs(rate[c]));
        kith_law_free(law);
    }
}

/* −m_i m_j (r² + ε²)^(−1/2): 3 (d·u)/s⁵ d − u/s³ as forces/problem.h has it for gravity. */
static void test_the_rate_by_gravity_is_that_of_the_formula(void **state)
{
    (void)state;
    static const char *const texts[] = {"gravity", "expr:-m_i*m_j/r", "power:1"};
    const struct law_reference_pair pair = {{1, 2, 2}, 16, 2, 3, 1, 1};
    const double u[3] = {1, 0, -1}, d_dot_u = -1, s3 = 64, s5 = 1024;
    for (int k = 0; k < 3; k++) {
        kith_law *law = law_of(texts[k]);
        struct law_view view;
        double rate[3];
        law_look(law, &view);
        find_rate(&view, &pair, u, rate);
        const double strength = k < 2 ? 6 : -1;
        for (int c = 0; c < 3; c++)
            assert_near(rate[c], strength * (u[c] / s3 - 3 * d_dot_u * pair.d[c] / s5), 1e-15);
        kith_law_free(law);
    }
}

static void test_pairs_at_the_same_place_have_no_rate(void **state)
{
    (void)state;
    for (int k = 0; k < force_law_count; k++) {
        kith_law *law = law_of(force_laws[k]);
        const struct law_reference_pair pair = {.m_i = 1, .m_j = 1, .q_i = 1, .q_j = 1};
        const double u[3] = {1, 2, 3};
        double rate[3];
        struct law_view view;
        law_look(law, &view);
        find_rate(&view, &pair, u, rate);
        for (int c = 0; c < 3; c++)
            assert_true(rate[c] == 0);
        kith_law_free(law);
    }
}

/* A formula that has room for its force, but not for how that changes, works for all but that. */
static void test_a_formula_may_be_too_long_for_its_second_derivatives(void **state)
{
    (void)state;
    char text[16384] = "expr:r";
    for (int k = 0; k < 110; k++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "+sin(dx*%d)*exp(dy*%d)*cos(dz*r*%d)/(r+%d)",
                 k + 2, k + 3, k + 4, k + 1);
    }
    kith_law *law = law_of(text);
    struct law_view view;
    law_look(law, &view);
    assert_false(view.has_rate);
    assert_fails(forces_check_jerk(law), KITH_INVALID_ARGUMENT, "derivati");
    const kith_law_pair pair = {{0.5, 0.25, 1}, 0, 1, 1, 1, 1};
    double value = 0, force[3] = {0};
    assert_ok(kith_law_evaluate(law, &pair, &value, force));
    assert_true(isfinite(value) && isfinite(force[0]) && force[0] != 0);
    kith_law_free(law);

    law = law_of("expr:m_i*dx/r");
    assert_ok(forces_check_jerk(law));
    kith_law_free(law);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("law_rates");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_rates_are_the_slopes_of_forces_in_time, &random),
        cmocka_unit_test_prestate(test_rates_of_symmetric_laws_are_equal_and_opposite, &random),
        cmocka_unit_test(test_the_rate_by_gravity_is_that_of_the_formula),
        cmocka_unit_test(test_pairs_at_the_same_place_have_no_rate),
        cmocka_unit_test(test_a_formula_may_be_too_long_for_its_second_derivatives),
    };
    return cmocka_run_group_tests_name("law_rates", tests, NULL, NULL);
}
