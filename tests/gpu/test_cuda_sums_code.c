/* The kernels of sums of formulas as NVRTC compiles them, which needs no GPU. */

#include "testing.h"

#include <stdlib.h>

#include "law/compiled_cuda.h"
#include "sums/sums_kernel_cuda.h"
#include "sums/update_kernel.h"
#include "sums/write.h"

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const kith_named_formula lets[] = {{"hh", "(h_i + h_j) / 2"},
                                          {"W", "exp(-r2 / (hh * hh)) / (hh * hh)"}};
static const kith_named_formula outputs[] = {
    {"rho", "m_j * W"},
    {"shear", "(h_i - h_j) * W"},
    {"repulsion", "4 * (pow(s / r, 12) + pow(s / r, 6))"},
    {"near", "r < 0.2 && m_i > 0 || !(h_j < s)"},
};
static const kith_named_formula vectors[] = {{"along", "dx - dy + dz"}, {"one", "1"}};

/* What a kernel is compiled for. */
struct kind {
    bool is_listed, is_periodic, is_near;
    int32_t dimensions;
};

static const int64_t no_offsets[1];

/* Compiles for sm_90; *text is what for. */
static kith_status compile(const struct kind *kind, kith_dtype dtype, kith_sums_reduction reduction,
                           int64_t count, const kith_named_formula *formulas, char **text)
{
    const kith_law_parameter parameter = {"s", 0.15};
    const kith_sums_options options = {
        .let_count = 2, .lets = lets, .parameter_count = 1, .parameters = &parameter};
    static struct sums_formulas made;
    made = (struct sums_formulas){.scope = {.column_count = 2, .column = {"h", "m"}}};
    struct sums_problem problem = {.dtype = dtype,
                                   .dimensions = kind->dimensions,
                                   .formulas = &made,
                                   .reduction = reduction,
                                   .cutoff = kind->is_near ? 1 : 0,
                                   .lattice = {.periodic = {kind->is_periodic}}};
    void *cubin = NULL;
    int64_t bytes = 0;
    if (kind->is_listed)
        problem.list.offsets = no_offsets;
    if (kind->is_listed && kind->is_periodic)
        problem.list.shifts = (const int32_t *)no_offsets;
    assert_ok(sums_formulas_read(&options, "output", count, formulas, &made));
    assert_ok(sums_write(&problem, text));
    sums_formulas_free(&made);
    const kith_status status =
        law_compile_functions_cuda("sm_90", *text, SUMS_CUDA_FILE, &cubin, &bytes);
    assert_true(status != KITH_OK || bytes > 0);
    free(cubin);
    return status;
}

static void test_kernels_of_every_kind_compile_for_a_gpu(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        {.dimensions = 3},
        {.dimensions = 7},
        {.dimensions = 1},
        {.dimensions = 2, .is_near = true},
        {.dimensions = 3, .is_near = true, .is_periodic = true},
        {.dimensions = 3, .is_listed = true},
        {.dimensions = 2, .is_listed = true, .is_periodic = true},
    };
    for (int reduction = 0; reduction < 5; reduction++)
        for (int k = 0; k < COUNT_OF(kinds); k++) {
            const kith_dtype dtype = (reduction + k) % 2 ? KITH_F32 : KITH_F64;
            const bool has_vectors = reduction == 2 && kinds[k].dimensions <= 3;
            char *text = NULL;
            assert_ok(compile(&kinds[k], dtype, (kith_sums_reduction)reduction,
                              has_vectors ? COUNT_OF(vectors) : COUNT_OF(outputs),
                              has_vectors ? vectors : outputs, &text));
            free(text);
        }
}

static void test_code_that_is_wrong_is_refused(void **state)
{
    (void)state;
    void *cubin = NULL;
    int64_t bytes = 0;
    assert_int_equal(
        law_compile_functions_cuda("sm_90", "no code\n", SUMS_CUDA_FILE, &cubin, &bytes),
        KITH_INTERNAL_ERROR);
    assert_null(cubin);
}

static void test_updates_of_columns_compile_for_a_gpu(void **state)
{
    (void)state;
    static const kith_named_formula updates[] = {{"h", "h_i + s * m_i"}, {"m", "sqrt(h_i)"}};
    const kith_law_parameter parameter = {"s", 0.15};
    const kith_sums_options options = {.parameter_count = 1, .parameters = &parameter};
    for (int narrow = 0; narrow < 2; narrow++) {
        static struct sums_formulas made;
        made = (struct sums_formulas){.scope = {.column_count = 2, .column = {"h", "m"}}};
        const struct sums_problem problem = {
            .dtype = narrow ? KITH_F32 : KITH_F64, .dimensions = 1, .formulas = &made};
        void *cubin = NULL;
        char *text = NULL;
        int64_t bytes = 0;
        assert_ok(sums_formulas_read(&options, "update", 2, updates, &made));
        assert_ok(sums_write(&problem, &text));
        sums_formulas_free(&made);
        assert_ok(law_compile_functions_cuda("sm_90", text, UPDATE_CUDA_FILE, &cubin, &bytes));
        assert_true(bytes > 0);
        free(cubin);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates_of_columns_compile_for_a_gpu),
        cmocka_unit_test(test_kernels_of_every_kind_compile_for_a_gpu),
        cmocka_unit_test(test_code_that_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
