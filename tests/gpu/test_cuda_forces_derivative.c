/* How forces and potentials change along directions, on the GPU: of arrays on the host and on the
 * device. */

#include "gpu_testing.h"

#include "forces_derivative.h"

#include <unistd.h>

static void fetch_and_free(kith_array device, kith_array host, bool is_result)
{
    if (is_result)
        gpu_transfer(device, host, false);
    cudaFree(device.data);
}

/* By the arrays on the device, with gaps between their elements, into found. */
static void derive_there(kith_context *context, const kith_forces_options *options,
                         const struct moving *bodies, const struct system *found)
{
    struct moving on_device = *bodies;
    on_device.s = gpu_system(&bodies->s, true);
    on_device.q = on_device.s.q = gpu_array_of(bodies->q, 1, 2);
    on_device.v = gpu_array_of(bodies->v, 2, 1);
    on_device.w = gpu_array_of(bodies->w, 1, 3);
    assert_ok(moving_derive(context, options, &on_device, on_device.s.a, on_device.s.phi));
    assert_ok(kith_context_synchronize(context));
    gpu_fetch(&on_device.s, (struct system *)found);
    gpu_system_free(&on_device.s);
    fetch_and_free(on_device.q, bodies->q, false);
    fetch_and_free(on_device.v, bodies->v, false);
    fetch_and_free(on_device.w, bodies->w, false);
}

static void check(kith_context *context, const kith_law *law, struct moving *bodies)
{
    for (int softening = 0; softening < derivative_softenings; softening++) {
        const char *text = law ? kith_law_text(law) : "gravity";
        const kith_forces_options options = derivative_options(law, bodies, softening);
        struct system expected = derivative_reference(&options, bodies);
        struct system by_host = system_create(bodies->s.dtype, bodies->s.n, bodies->s.dimensions);
        assert_ok(moving_derive(context, &options, bodies, by_host.a, by_host.phi));
        assert_derivative(text, &by_host, &expected);
        derive_there(context, &options, bodies, &bodies->s);
        assert_same_forces(&bodies->s, &by_host);
        system_free(&by_host);
        system_free(&expected);
    }
}

static void test_cuda_derivatives_agree_with_the_reference(void **state)
{
    static const int64_t counts[] = {1, 2, 33, 81};
    kith_context *context = new_gpu_context(NULL);
    for (int k = -1; k < force_law_count + force_formula_count; k++) {
        if (k >= force_law_count && k % 2) /* a central formula and one that is not */
            continue;
        kith_law *law = k < 0                 ? NULL
                        : k < force_law_count ? new_law(force_laws[k])
                                              : new_law(force_formulas[k - force_law_count]);
        for (int c = 0; c < 8; c++) {
            struct moving bodies =
                moving_random(*state, c % 2 ? KITH_F32 : KITH_F64, counts[c / 2], 2 + c / 2 % 2);
            check(context, law, &bodies);
            moving_free(&bodies);
        }
        kith_law_free(law);
    }
    kith_context_free(context);
}

/* In meters and kilograms s⁵ is out of a float's range. */
static void test_cuda_derivatives_of_gravity_have_any_units(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct moving bodies = moving_random(*state, KITH_F32, 70, 3);
    for (int64_t k = 0; k < 210; k++)
        put(bodies.s.x, k, get(bodies.s.x, k) * 1.5e11);
    for (int64_t i = 0; i < 70; i++) {
        put(bodies.s.m, i, get(bodies.s.m, i) * 2e30);
        put(bodies.s.softening, i, get(bodies.s.softening, i) * 1.5e11);
    }
    check(context, NULL, &bodies);
    moving_free(&bodies);
    kith_context_free(context);
}

static void test_cuda_derivatives_find_directions_that_are_not_finite(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct moving bodies = moving_random(*state, KITH_F64, 33, 3);
    put(bodies.w, 3 * 17 + 1, NAN);
    const kith_array none = kith_array_none();
    const kith_array x = gpu_array_of(bodies.s.x, 1, 0), w = gpu_array_of(bodies.w, 1, 0);
    const kith_array a = gpu_array_like(bodies.s.a, 1, 0);
    assert_ok(kith_forces_derivative(context, NULL, NULL, POINTS(x), none, w, a, none));
    assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT, "17 source_directions");
    cudaFree(x.data);
    cudaFree(w.data);
    cudaFree(a.data);
    moving_free(&bodies);
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("cuda_forces_derivative"))
        return exit_skipped;
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    struct random_numbers random = random_numbers_begin("cuda_forces_derivative");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_derivatives_agree_with_the_reference, &random),
        cmocka_unit_test_prestate(test_cuda_derivatives_of_gravity_have_any_units, &random),
        cmocka_unit_test_prestate(test_cuda_derivatives_find_directions_that_are_not_finite,
                                  &random),
    };
    return cmocka_run_group_tests_name("cuda_forces_derivative", tests, NULL, NULL);
}
