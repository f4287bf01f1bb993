/* Forces by laws where the jerk is wanted, and in many small systems, on a GPU. */

#include "gpu_testing.h"

#include <unistd.h>

#include "law_motion.h"

static void compare_law(kith_context *context, struct random_numbers *random, const char *text)
{
    static const int64_t counts[] = {1, 2, 33, 70}, systems[] = {19, 1, 100, 0};
    kith_law *law = new_law(text);
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int k = test_is_quick() ? 2 : 0; k < 4; k++) {
            const enum law_softening softening =
                (enum law_softening)(int)random_uniform(random, 0, softening_kinds);
            compare_random(context, random, law, dtype, counts[k], 0, softening);
            if (systems[k] > 0)
                compare_random(context, random, law, dtype, k == 2 ? 7 : counts[k] + 1, systems[k],
                               softening);
        }
    kith_law_free(law);
}

static void test_cuda_jerks_and_systems_of_every_law_agree_with_the_reference(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (int law = 0; law < force_law_count; law++)
        compare_law(context, *state, force_laws[law]);
    kith_context_free(context);
}

static void test_cuda_jerks_and_systems_of_formulas_agree_with_the_reference(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (int law = test_is_quick() ? 3 : 0; law < force_formula_count; law++)
        compare_law(context, *state, force_formulas[law]);
    kith_context_free(context);
}

/* More sources than a block shares, and several parts of them. */
static void test_cuda_jerks_of_many_bodies_agree_with_the_reference(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    kith_law *law = new_law("yukawa:0.7");
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int64_t n = 300; n < (test_is_quick() ? 400 : 2000); n += 813) {
            struct laid_out made = laid_out_create(dtype, n, 0, 3);
            laid_out_obey(&made, law);
            laid_out_fill(&made, *state);
            made.problem.softening2 = 0.01;
            compare(context, &made);
            laid_out_free(&made);
        }
    kith_law_free(law);
    kith_context_free(context);
}

static void test_cuda_coincident_bodies_leave_each_other_alone(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < force_law_count; k++)
        for (int64_t systems = 0; systems <= 9; systems += 9)
            compare_coincident(context, *state, force_laws[k], k % 2 ? KITH_F32 : KITH_F64,
                               systems);
    kith_context_free(context);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (gpu_is_absent("test_cuda_forces_law_motion"))
        return exit_skipped;
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    struct random_numbers random = random_numbers_begin("forces_law_motion");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_jerks_and_systems_of_every_law_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_jerks_and_systems_of_formulas_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_jerks_of_many_bodies_agree_with_the_reference, &random),
        cmocka_unit_test_prestate(test_cuda_coincident_bodies_leave_each_other_alone, &random),
    };
    return cmocka_run_group_tests_name("cuda_forces_law_motion", tests, NULL, NULL);
}
