/* The forces in ensembles of small systems, as the backend's table has them. */

#include "laid_out.h"

#include "forces/backend.h"
#include "forces/forces_reference.h"
#include "forces/systems.h"

static const int64_t system_counts[] = {1, 2, 7, 8, 9, 100};
static const int64_t body_counts[] = {1, 2, 3, 6, 9, 33, 64};
enum { system_count_count = sizeof system_counts / sizeof system_counts[0] };
enum { body_count_count = sizeof body_counts / sizeof body_counts[0] };

enum softening { none, common, of_bodies, softening_count };

static void soften(struct laid_out *made, enum softening softening)
{
    if (softening == common)
        made->problem.softening2 = 0.01;
    if (softening == of_bodies)
        laid_out_soften_by_bodies(made);
}

/* The first, the last, and some between. */
static int64_t next_looked_at(const struct laid_out *ensemble, int64_t s)
{
    const int64_t last = laid_out_systems(ensemble) - 1;
    return s == last ? last + 1 : s + 17 < last ? s + 17 : last;
}

/* The two terms of a jerk can cancel. */
static void assert_agrees_with_reference(const struct laid_out *ensemble)
{
    const double bound = ensemble->problem.dtype == KITH_F64 ? 1e-13 : 2e-6;
    const int32_t dimensions = ensemble->problem.dimensions;
    for (int64_t s = 0; s < laid_out_systems(ensemble); s = next_looked_at(ensemble, s)) {
        struct laid_out expected = laid_out_copy(ensemble, s, KITH_F64, 0);
        laid_out_solve(&expected);
        assert_less(laid_out_difference(ensemble, s, &expected, A, dimensions), bound);
        if (ensemble->problem.potential)
            assert_less(laid_out_difference(ensemble, s, &expected, PHI, 1), bound);
        if (ensemble->problem.jerk[0])
            assert_less(laid_out_difference(ensemble, s, &expected, JERK_OF, dimensions),
                        100 * bound);
        laid_out_free(&expected);
    }
}

/* With jerk and potential, with the potential, with neither. */
static void compare(kith_context *context, struct laid_out *ensemble)
{
    const struct forces_problem wanted = ensemble->problem;
    struct forces_problem *problem = &ensemble->problem;
    for (int32_t outputs = 0; outputs < 3; outputs++) {
        if (outputs >= 1)
            memset(problem->jerk, 0, sizeof problem->jerk);
        if (outputs == 2)
            problem->potential = NULL;
        memset(laid_out_column(ensemble, A).data, 0xff,
               (size_t)(COLUMNS - A) * (size_t)laid_out_column_count(problem) *
                   (size_t)kith_dtype_bytes(problem->dtype));
        assert_ok(forces_backend_of(context)->evaluate(context, problem));
        assert_agrees_with_reference(ensemble);
    }
    ensemble->problem = wanted;
}

static void for_each_isa(void (*test)(kith_context *, struct random_numbers *, kith_dtype),
                         struct random_numbers *random)
{
    for (int64_t k = 0; isa_at(k); k++) {
        if (!isa_at(k)->supported)
            continue;
        kith_context *context = new_context(isa_at(k)->name, 2);
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
            test(context, random, dtype);
        kith_context_free(context);
    }
}

static void compare_sizes(kith_context *context, struct random_numbers *random, kith_dtype dtype)
{
    for (int m = 0; m < system_count_count; m++)
        for (int n = 0; n < body_count_count; n++)
            for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
                struct laid_out ensemble =
                    laid_out_create(dtype, body_counts[n], system_counts[m], dimensions);
                laid_out_fill(&ensemble, random);
                for (enum softening softening = none; softening < softening_count; softening++) {
                    soften(&ensemble, softening);
                    compare(context, &ensemble);
                }
                laid_out_free(&ensemble);
            }
}

static void test_each_system_has_the_forces_of_the_reference(void **state)
{
    for_each_isa(compare_sizes, *state);
}

/* Bodies at few places, some of them without mass. */
static void compare_coincident(kith_context *context, struct random_numbers *random,
                               kith_dtype dtype)
{
    struct laid_out ensemble = laid_out_create(dtype, 20, 9, 3);
    laid_out_fill(&ensemble, random);
    for (int64_t s = 0; s < 9; s++)
        for (int64_t i = 0; i < 20; i++) {
            for (int64_t c = X; c < X + 3; c++)
                laid_out_put(&ensemble, c, i, s, floor(random_uniform(random, 0, 2)));
            laid_out_put(&ensemble, HALF_SOFTENING2, i, s, 0);
            if (i % 3 == 0)
                laid_out_put(&ensemble, MASS, i, s, 0);
        }
    compare(context, &ensemble);
    laid_out_soften_by_bodies(&ensemble);
    compare(context, &ensemble);
    laid_out_free(&ensemble);
}

static void test_coincident_bodies_and_bodies_without_mass_leave_each_other_alone(void **state)
{
    for_each_isa(compare_coincident, *state);
}

/* Whatever lies in the other systems and in the lanes past the last. */
static void compare_alone(kith_context *context, struct random_numbers *random, kith_dtype dtype)
{
    struct laid_out ensemble = laid_out_create(dtype, 6, 77, 3);
    laid_out_fill(&ensemble, random);
    assert_ok(forces_backend_of(context)->evaluate(context, &ensemble.problem));
    for (int64_t s = 0; s < 77; s++) {
        struct laid_out alone = laid_out_copy(&ensemble, s, dtype, 1);
        assert_ok(forces_backend_of(context)->evaluate(context, &alone.problem));
        for (int64_t k = A; k < COLUMNS; k++)
            for (int64_t i = 0; i < 6; i++)
                assert_true(laid_out_get(&alone, k, i, 0) == laid_out_get(&ensemble, k, i, s));
        laid_out_free(&alone);
    }
    laid_out_free(&ensemble);
}

static void test_a_system_alone_has_the_bits_that_it_has_among_others(void **state)
{
    for_each_isa(compare_alone, *state);
}

static void test_the_bits_are_the_same_for_every_number_of_threads(void **state)
{
    static const int32_t threads[] = {1, 2, 3, 7, 16};
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        struct laid_out ensemble = laid_out_create(dtype, 6, 3001, 3);
        laid_out_fill(&ensemble, *state);
        const size_t bytes = (size_t)(COLUMNS - A) *
                             (size_t)laid_out_column_count(&ensemble.problem) *
                             (size_t)kith_dtype_bytes(dtype);
        char *first = malloc(bytes);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            kith_context *context = new_context(NULL, threads[t]);
            assert_ok(forces_backend_of(context)->evaluate(context, &ensemble.problem));
            kith_context_free(context);
            if (t == 0)
                memcpy(first, laid_out_column(&ensemble, A).data, bytes);
            assert_memory_equal(first, laid_out_column(&ensemble, A).data, bytes);
        }
        free(first);
        laid_out_free(&ensemble);
    }
}

static void test_a_system_of_too_many_bodies_is_refused(void **state)
{
    (void)state;
    struct laid_out ensemble = laid_out_create(KITH_F64, systems_most_bodies + 1, 3, 3);
    kith_context *context = new_context(NULL, 1);
    assert_fails(forces_backend_of(context)->evaluate(context, &ensemble.problem),
                 KITH_INVALID_ARGUMENT, "65 64");
    kith_context_free(context);
    laid_out_free(&ensemble);
}

static void test_a_cancelled_computation_says_so(void **state)
{
    (void)state;
    struct laid_out ensemble = laid_out_create(KITH_F64, 6, 5000, 3);
    kith_context *context = new_context(NULL, 2);
    kith_context_cancel(context);
    assert_fails(forces_backend_of(context)->evaluate(context, &ensemble.problem), KITH_CANCELLED,
                 "cancelled");
    kith_context_free(context);
    laid_out_free(&ensemble);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("systems");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_each_system_has_the_forces_of_the_reference, &random),
        cmocka_unit_test_prestate(
            test_coincident_bodies_and_bodies_without_mass_leave_each_other_alone, &random),
        cmocka_unit_test_prestate(test_a_system_alone_has_the_bits_that_it_has_among_others,
                                  &random),
        cmocka_unit_test_prestate(test_the_bits_are_the_same_for_every_number_of_threads, &random),
        cmocka_unit_test(test_a_system_of_too_many_bodies_is_refused),
        cmocka_unit_test(test_a_cancelled_computation_says_so),
    };
    return cmocka_run_group_tests_name("systems", tests, NULL, NULL);
}
