/* Points whose squared distances overflow, on a GPU: refused with the CPU's words. */

#include "gpu_testing.h"

#include "law_forces.h"
#include "simulating.h"

typedef kith_status call(kith_context *context, const kith_particles *particles, kith_array result);

static kith_status sum(kith_context *context, const kith_particles *particles, kith_array result)
{
    const kith_named_formula wanted[] = {{"f", "m_j/r"}, {"g", "r2"}, {"h", "r"}};
    return kith_sums_compute(context, NULL, NULL, particles, 3, wanted, result);
}

static kith_status matrix(kith_context *context, const kith_particles *particles, kith_array result)
{
    return kith_matrix_compute(context, NULL, NULL, particles, NULL, result);
}

static kith_status forces(kith_context *context, const kith_particles *particles, kith_array result)
{
    kith_law *law = new_law("lennard-jones");
    const kith_forces_options options = {.law = law};
    kith_status status =
        kith_forces_compute(context, &options, NULL, particles, result, kith_array_none());
    if (status == KITH_OK)
        status = kith_context_synchronize(context);
    kith_law_free(law);
    return status;
}

/* Of arrays in the host's memory, or on the device. */
static kith_status computed(kith_context *context, call *compute, kith_array x, kith_array m,
                            bool on_device)
{
    const kith_array host = new_matrix(x.dtype, 3, 3);
    kith_array result = host;
    if (on_device) {
        x = gpu_array_of(x, 1, 0);
        m = gpu_array_of(m, 1, 0);
        result = gpu_array_like(host, 1, 0);
    }
    kith_status status = compute(context, PARTICLES(x, {"m", m}), result);
    if (status == KITH_OK)
        status = kith_context_synchronize(context);
    if (on_device) {
        cudaFree(x.data);
        cudaFree(m.data);
        cudaFree(result.data);
    }
    free(host.data);
    return status;
}

static kith_status simulated_by_a_law(kith_context *context, kith_array x)
{
    kith_bodies *bodies = NULL;
    kith_simulation *simulation = NULL;
    kith_law *law = new_law("lennard-jones");
    const kith_simulation_options options = {.dt = 1e-3, .precision = x.dtype, .forces.law = law};
    assert_ok(kith_bodies_create(3, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    for (int64_t k = 0; k < 9; k++) {
        bodies->position[k] = get(x, k);
        bodies->mass[k / 3] = 1;
    }
    const kith_status status = kith_simulation_create(context, &options, bodies, &simulation);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_law_free(law);
    return status;
}

static void test_far_points_are_refused_with_the_words_of_the_cpu(void **state)
{
    static call *const calls[] = {sum, matrix, forces};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    (void)state;
    for (int k = 0; k < 3 * 4; k++) {
        const kith_dtype dtype = k % 2 ? KITH_F32 : KITH_F64;
        const bool on_device = k / 2 % 2;
        const double most = dtype == KITH_F32 ? 1e18 : 1e153;
        const char *fields = dtype == KITH_F32 ? "2 positions 1e18" : "2 positions 1e153";
        const kith_array x = new_matrix(dtype, 3, 3), m = new_vector(dtype, 3);
        char words[256];
        put(x, 3, 1);
        for (int64_t i = 0; i < 3; i++)
            put(m, i, 1);
        put(x, 7, -0.9 * most);
        assert_ok(computed(cpu, calls[k / 4], x, m, false));
        assert_ok(computed(gpu, calls[k / 4], x, m, on_device));
        assert_ok(simulated_by_a_law(gpu, x));
        put(x, 7, -1.1 * most);
        assert_fails(computed(cpu, calls[k / 4], x, m, false), KITH_INVALID_ARGUMENT, fields);
        snprintf(words, sizeof words, "%s", kith_error_message());
        assert_fails(computed(gpu, calls[k / 4], x, m, on_device), KITH_INVALID_ARGUMENT, fields);
        assert_string_equal(kith_error_message(), words);
        assert_fails(simulated_by_a_law(cpu, x), KITH_INVALID_ARGUMENT, fields);
        assert_fails(simulated_by_a_law(gpu, x), KITH_INVALID_ARGUMENT, fields);
        free(x.data);
        free(m.data);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_far"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_points_are_refused_with_the_words_of_the_cpu),
    };
    return cmocka_run_group_tests_name("cuda_far", tests, NULL, NULL);
}
