/* Forces by laws where the jerk is wanted, and in many small systems, on the CPU. */

#include "law_motion.h"

#include <unistd.h>

#include "forces/backend.h"
#include "forces/systems.h"

static void compare_law(kith_context *context, struct random_numbers *random, const char *text)
{
    static const int64_t counts[] = {1, 2, 33, 64, 70};
    kith_law *law = new_law(text);
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        for (int k = 0; k < 5; k++)
            compare_random(context, random, law, dtype, counts[k], 0, softening_kinds);
        compare_random(context, random, law, dtype, 2, 19, softening_kinds);
        compare_random(context, random, law, dtype, 7, 100, softening_kinds);
    }
    kith_law_free(law);
}

static void test_jerks_and_systems_of_every_law_agree_with_the_reference(void **state)
{
    for (int64_t k = 0; isa_at(k); k++) {
        if (!isa_at(k)->supported)
            continue;
        kith_context *context = new_context(isa_at(k)->name, 2);
        for (int law = 0; law < force_law_count; law++)
            compare_law(context, *state, force_laws[law]);
        kith_context_free(context);
    }
}

static void test_jerks_and_systems_of_formulas_agree_with_the_reference(void **state)
{
    kith_context *context = new_context(NULL, 2);
    for (int law = 1; law < force_formula_count; law += 2) /* central, and not */
        compare_law(context, *state, force_formulas[law]);
    kith_context_free(context);
}

/* A pair has a value from each side. */
static void test_formulas_that_are_not_symmetric_agree_with_the_reference(void **state)
{
    kith_context *context = new_context(NULL, 2);
    compare_law(context, *state, "expr:m_i*q_j*exp(-r)");
    kith_context_free(context);
}

/* More sources than a kernel sums in one piece, not all of them whole blocks. */
static void test_jerks_of_many_bodies_agree_with_the_reference(void **state)
{
    kith_context *context = new_context(NULL, 3);
    kith_law *law = new_law("yukawa:0.7");
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        struct laid_out made = laid_out_create(dtype, 701, 0, 3);
        laid_out_obey(&made, law);
        laid_out_fill(&made, *state);
        made.problem.softening2 = 0.01;
        compare(context, &made);
        laid_out_free(&made);
    }
    kith_law_free(law);
    kith_context_free(context);
}

static void test_coincident_bodies_leave_each_other_alone(void **state)
{
    kith_context *context = new_context(NULL, 2);
    for (int k = 0; k < force_law_count; k++)
        for (int64_t systems = 0; systems <= 9; systems += 9)
            compare_coincident(context, *state, force_laws[k], k % 2 ? KITH_F32 : KITH_F64,
                               systems);
    kith_context_free(context);
}

/* Whatever lies in the other systems, and with any number of threads. */
static void test_a_system_has_the_same_bits_alone_and_with_any_threads(void **state)
{
    kith_law *law = new_law("lennard-jones:1,0.2");
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        struct laid_out made = laid_out_create(dtype, 6, 277, 3);
        laid_out_obey(&made, law);
        laid_out_fill(&made, *state);
        for (int32_t threads = 1; threads <= 7; threads += 3) {
            kith_context *context = new_context(NULL, threads);
            struct laid_out again = laid_out_clone(&made);
            assert_ok(forces_backend_of(context)->evaluate(context, &again.problem));
            for (int64_t s = 0; s < 277; s += 23) {
                struct laid_out alone = laid_out_copy(&made, s, dtype, 1);
                assert_ok(forces_backend_of(context)->evaluate(context, &alone.problem));
                for (int64_t k = A; k < COLUMNS; k++)
                    for (int64_t i = 0; i < 6; i++)
                        assert_true(laid_out_get(&alone, k, i, 0) == laid_out_get(&again, k, i, s));
                laid_out_free(&alone);
            }
            laid_out_free(&again);
            kith_context_free(context);
        }
        laid_out_free(&made);
    }
    kith_law_free(law);
}

/* What lies past the last system and the last body stays zero, so that states may be combined
 * there. */
static void test_nothing_is_behind_the_last(void **state)
{
    kith_context *context = new_context(NULL, 1);
    kith_law *law = new_law("expr:-m_i*m_j/r");
    for (int64_t systems = 0; systems <= 3; systems += 3) {
        struct laid_out made = laid_out_create(KITH_F64, 5, systems, 3);
        laid_out_obey(&made, law);
        laid_out_fill(&made, *state);
        assert_ok(forces_backend_of(context)->evaluate(context, &made.problem));
        const int64_t room = systems > 0 ? made.problem.system_stride : kith_padding;
        for (int64_t k = 0; k < 6; k++)
            for (int64_t at = systems > 0 ? systems : 5; at < room; at++)
                assert_true(get(laid_out_column(&made, k < 3 ? A + k : JERK_OF + k - 3), at) == 0);
        laid_out_free(&made);
    }
    kith_law_free(law);
    kith_context_free(context);
}

static void test_a_system_of_too_many_bodies_is_refused(void **state)
{
    (void)state;
    kith_law *law = new_law("coulomb");
    struct laid_out made = laid_out_create(KITH_F64, systems_most_bodies + 1, 3, 3);
    laid_out_obey(&made, law);
    kith_context *context = new_context(NULL, 1);
    assert_fails(forces_backend_of(context)->evaluate(context, &made.problem),
                 KITH_INVALID_ARGUMENT, "65 64");
    kith_context_free(context);
    laid_out_free(&made);
    kith_law_free(law);
}

static void test_a_cancelled_computation_says_so(void **state)
{
    (void)state;
    kith_law *law = new_law("coulomb");
    for (int64_t systems = 0; systems <= 500; systems += 500) {
        struct laid_out made = laid_out_create(KITH_F64, 60, systems, 3);
        laid_out_obey(&made, law);
        kith_context *context = new_context(NULL, 2);
        kith_context_cancel(context);
        assert_fails(forces_backend_of(context)->evaluate(context, &made.problem), KITH_CANCELLED,
                     "cancelled");
        kith_context_free(context);
        laid_out_free(&made);
    }
    kith_law_free(law);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    struct random_numbers random = random_numbers_begin("forces_law_motion");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_jerks_and_systems_of_every_law_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_jerks_and_systems_of_formulas_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_formulas_that_are_not_symmetric_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_jerks_of_many_bodies_agree_with_the_reference, &random),
        cmocka_unit_test_prestate(test_coincident_bodies_leave_each_other_alone, &random),
        cmocka_unit_test_prestate(test_a_system_has_the_same_bits_alone_and_with_any_threads,
                                  &random),
        cmocka_unit_test_prestate(test_nothing_is_behind_the_last, &random),
        cmocka_unit_test(test_a_system_of_too_many_bodies_is_refused),
        cmocka_unit_test(test_a_cancelled_computation_says_so),
    };
    return cmocka_run_group_tests_name("forces_law_motion", tests, NULL, NULL);
}
