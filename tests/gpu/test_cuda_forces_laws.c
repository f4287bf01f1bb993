/* Forces by laws and formulas on a GPU, against the reference. */

#include "gpu_testing.h"

#include <unistd.h>

#include "law_forces.h"

static void check_random(kith_context *context, struct random_numbers *random, const char *law,
                         kith_dtype dtype, int64_t n)
{
    struct system s = system_random(random, dtype, n, random_uniform(random, 2, 4) < 3 ? 2 : 3);
    const kith_array q = random_charges(random, &s);
    kith_forces_options options = {0};
    const int softening = (int)random_uniform(random, 0, 3);
    if (softening == 1)
        options.softening = random_uniform(random, 0.01, 0.3);
    s.softened = softening == 2;
    check_law(context, law, &s, q, &options);
    free(q.data);
    system_free(&s);
}

static void test_cuda_forces_of_every_law_agree_with_the_reference(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 31, 129, 600};
    struct random_numbers random = random_numbers_begin("laws");
    kith_context *context = new_gpu_context(NULL);
    for (int law = 0; law < force_law_count; law++)
        for (int c = 0; c < (test_is_quick() ? 3 : 4); c++)
            for (int single = 0; single < 2; single++)
                check_random(context, &random, force_laws[law], single ? KITH_F32 : KITH_F64,
                             counts[c]);
    kith_context_free(context);
}

/* Laws that have a force: sum and product stay one-sided. */
static bool is_forceless(const char *law)
{
    return strcmp(law, "sum") == 0 || strcmp(law, "product") == 0;
}

/* One tile, and two of which the second is nearly empty. */
static void test_cuda_forces_of_symmetric_laws_agree_with_the_reference(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 31, 600, 2100};
    struct random_numbers random = random_numbers_begin("symmetric laws");
    kith_context *context = new_gpu_context(NULL);
    for (int law = 0; law < force_law_count; law++)
        for (int c = 0; c < (test_is_quick() ? 3 : 4) && !is_forceless(force_laws[law]); c++)
            for (int single = 0; single < 2; single++) {
                const kith_forces_options options = {.method = KITH_FORCES_SYMMETRIC,
                                                     .softening = c % 2 ? 0.05 : 0};
                struct system s =
                    system_random(&random, single ? KITH_F32 : KITH_F64, counts[c], 2 + law % 2);
                const kith_array q = random_charges(&random, &s);
                check_law(context, force_laws[law], &s, q, &options);
                free(q.data);
                system_free(&s);
            }
    kith_context_free(context);
}

/* Several tiles, two bodies at one position, and one very close to the first. */
static void test_cuda_forces_of_laws_symmetric_and_split_agree_for_many_bodies(void **state)
{
    (void)state;
    enum { n = 10003 };
    struct random_numbers random = random_numbers_begin("many");
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < force_law_count; k++)
        for (int single = 0; single < 2 && !is_forceless(force_laws[k]); single++) {
            const kith_dtype dtype = single ? KITH_F32 : KITH_F64;
            kith_law *law = new_law(force_laws[k]);
            struct system s = system_random(&random, dtype, n, 3), split;
            const kith_array q = random_charges(&random, &s);
            s.q = q;
            for (int64_t c = 0; c < 3; c++) {
                put(s.x, 3 * 5000 + c, get(s.x, 3 * 7 + c));
                put(s.x, 3 * 9000 + c, get(s.x, c) + 1e-3);
            }
            split = s;
            split.a = new_matrix(dtype, n, 3);
            split.phi = new_vector(dtype, n);
            kith_forces_options options = {.law = law, .method = KITH_FORCES_SYMMETRIC};
            system_compute(context, &options, &s);
            options.method = KITH_FORCES_SPLIT;
            system_compute(context, &options, &split);
            assert_less(relative_difference(s.a, split.a), single ? 2e-5 : 1e-11);
            assert_less(relative_difference(s.phi, split.phi), single ? 2e-5 : 1e-11);
            free(q.data);
            free(split.a.data);
            free(split.phi.data);
            system_free(&s);
            kith_law_free(law);
        }
    kith_context_free(context);
}

static void test_cuda_forces_of_formulas_are_not_symmetric(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("refuse");
    kith_context *context = new_gpu_context(NULL);
    kith_law *law = new_law("expr:q_i*q_j/r");
    struct system s = system_random(&random, KITH_F64, 20, 3);
    const kith_forces_options options = {.law = law, .method = KITH_FORCES_SYMMETRIC};
    assert_fails(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&s), s.a, s.phi),
                 KITH_UNSUPPORTED, "GPU");
    system_free(&s);
    kith_law_free(law);
    kith_context_free(context);
}

static void test_cuda_forces_of_formulas_agree_with_the_reference(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("formulas");
    kith_context *context = new_gpu_context(NULL);
    for (int law = 0; law < (test_is_quick() ? 2 : force_formula_count); law++)
        for (int single = 0; single < 2; single++)
            for (int64_t n = 33; n < (test_is_quick() ? 100 : 700); n += 220)
                check_random(context, &random, force_formulas[law], single ? KITH_F32 : KITH_F64,
                             n);
    kith_context_free(context);
}

static void test_cuda_forces_at_the_same_place_are_finite(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("same place");
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < force_law_count; k++)
        for (int single = 0; single < 2; single++) {
            struct system s = system_random(&random, single ? KITH_F32 : KITH_F64, 140, 3);
            const kith_array q = random_charges(&random, &s);
            for (int64_t c = 0; c < 3; c++)
                put(s.x, 3 * 131 + c, get(s.x, 3 * 7 + c));
            check_law(context, force_laws[k], &s, q, &(kith_forces_options){0});
            free(q.data);
            system_free(&s);
        }
    kith_context_free(context);
}

/* A copy of a host array in the device's memory. */
static kith_array on_device(kith_array host)
{
    kith_array array = host;
    const size_t bytes = (size_t)(elements(host) * kith_dtype_bytes(host.dtype));
    array.device = (kith_device){KITH_CUDA, 0};
    assert_cuda(cudaMalloc(&array.data, bytes));
    assert_cuda(cudaMemcpy(array.data, host.data, bytes, cudaMemcpyHostToDevice));
    return array;
}

static void test_cuda_forces_of_laws_are_the_same_bits_of_arrays_there(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("in place");
    kith_context *context = new_gpu_context(NULL);
    static const char *const laws[] = {"coulomb", "yukawa:1", "expr:q_i*q_j*m_j/r"};
    for (int k = 0; k < 6; k++) {
        const int64_t n = 5000;
        kith_law *law = new_law(laws[k / 2]);
        struct system s = system_random(&random, k % 2 ? KITH_F32 : KITH_F64, n, 3);
        const kith_array q = random_charges(&random, &s);
        const kith_forces_options options = {.law = law, .softening = 0.01};
        const size_t bytes = (size_t)(n * kith_dtype_bytes(s.dtype));
        s.q = q;
        system_compute(context, &options, &s);
        const kith_array x = on_device(s.x), m = on_device(s.m), there = on_device(q);
        const kith_array a = on_device(s.x), phi = on_device(s.m);
        void *host = malloc(3 * bytes);
        assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(x, {"m", m}, {"q", there}),
                                      a, phi));
        assert_ok(kith_context_synchronize(context));
        assert_cuda(cudaMemcpy(host, a.data, 3 * bytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(host, s.a.data, 3 * bytes);
        assert_cuda(cudaMemcpy(host, phi.data, bytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(host, s.phi.data, bytes);

        assert_cuda(cudaMemset(m.data, 0, bytes));
        assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(x, {"m", m}, {"q", there}),
                                      a, phi));
        assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT,
                     "row 0 sources.m 0 0");
        free(host);
        free(q.data);
        const kith_array all[] = {x, m, there, a, phi};
        for (int at = 0; at < 5; at++)
            assert_cuda(cudaFree(all[at].data));
        system_free(&s);
        kith_law_free(law);
    }
    kith_context_free(context);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (gpu_is_absent("test_cuda_forces_laws"))
        return exit_skipped;
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_forces_of_every_law_agree_with_the_reference),
        cmocka_unit_test(test_cuda_forces_of_symmetric_laws_agree_with_the_reference),
        cmocka_unit_test(test_cuda_forces_of_laws_symmetric_and_split_agree_for_many_bodies),
        cmocka_unit_test(test_cuda_forces_of_formulas_are_not_symmetric),
        cmocka_unit_test(test_cuda_forces_of_formulas_agree_with_the_reference),
        cmocka_unit_test(test_cuda_forces_at_the_same_place_are_finite),
        cmocka_unit_test(test_cuda_forces_of_laws_are_the_same_bits_of_arrays_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
