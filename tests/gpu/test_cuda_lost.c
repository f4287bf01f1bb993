/* What is left of a context when a kernel has gone wrong. By itself: its process can use the device
 * no more. */

#include "gpu_testing.h"

static void test_cuda_context_says_that_the_device_is_lost(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_create(KITH_F64, 100, 3), there = gpu_system(&s, false);
    const kith_array none = kith_array_none();
    there.x.strides[0] = (int64_t)1 << 40; /* far outside any memory */
    /* The call itself may or may not see what its first kernel has done. */
    kith_forces_compute(context, NULL, NULL, POINTS(there.x), there.a, none);
    assert_fails(kith_context_synchronize(context), KITH_INTERNAL_ERROR, "CUDA error 700");
    assert_fails(kith_context_synchronize(context), KITH_INTERNAL_ERROR, "CUDA error 700");
    const kith_status again =
        kith_forces_compute(context, NULL, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi);
    assert_int_equal(again, KITH_INTERNAL_ERROR);
    kith_context_free(context);
    assert_fails(kith_context_create(&(kith_context_options){.device = {KITH_CUDA, 0}}, &context),
                 KITH_INTERNAL_ERROR, "cuda:0");

    kith_context *cpu = new_context(NULL, 1);
    system_compute(cpu, NULL, &s);
    kith_context_free(cpu);
    system_free(&s);
}

int main(void)
{
    if (gpu_is_absent("cuda_lost"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_context_says_that_the_device_is_lost),
    };
    return cmocka_run_group_tests_name("cuda_lost", tests, NULL, NULL);
}
