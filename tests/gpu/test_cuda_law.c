/* Laws on a GPU: the built-in ones against mpmath's table, formulas against the reference. */

#include "gpu_testing.h"

#include <dirent.h>
#include <ftw.h>
#include <unistd.h>

#include "law/compiled_cuda.h"
#include "law_testing.h"
#include "law_values.h"

enum { pairs = 200, columns = 11 };

/* Columns d, w_i, w_j, q_i, q_j, value, force on the device, and on the host. */
struct sheet {
    void *device;
    double host[columns][pairs];
};

static struct law_values_problem problem_of(const struct sheet *sheet, const struct law_view *view,
                                            kith_dtype dtype, double softening)
{
    char *at = sheet->device;
    void *column_at[columns];
    for (int c = 0; c < columns; c++)
        column_at[c] = at + (int64_t)c * pairs * kith_dtype_bytes(dtype);
    return (struct law_values_problem){.numbers = view->numbers,
                                       .weighting = view->form.weighting,
                                       .softening2 = softening * softening,
                                       .count = pairs,
                                       .d = {column_at[0], column_at[1], column_at[2]},
                                       .w_i = column_at[3],
                                       .w_j = column_at[4],
                                       .q_i = column_at[5],
                                       .q_j = column_at[6],
                                       .value = column_at[7],
                                       .force = {column_at[8], column_at[9], column_at[10]}};
}

static kith_status launch_formula(kith_context *context, const kith_law *law, kith_dtype dtype,
                                  struct law_values_problem *problem)
{
    const char *symbol = dtype == KITH_F32 ? "law_values_custom_float" : "law_values_custom_double";
    void *kernel = NULL, *arguments[] = {problem};
    const struct law_launch launch = {{1, 1, 1}, {pairs, 1, 1}, 0};
    assert_ok(law_compile_cuda(context, law, "law/law_values_kernel_cuda.cuh", symbol, &kernel));
    return law_launch_cuda(context, kernel, &launch, arguments, "the values of pairs");
}

/* Computes value and force from the first seven columns, in a dtype. */
static void compute(kith_context *context, const kith_law *law, kith_dtype dtype, double softening,
                    struct sheet *sheet)
{
    enum { count = columns * pairs };
    static float narrow[count];
    double *wide = &sheet->host[0][0];
    const size_t bytes = (size_t)count * (size_t)kith_dtype_bytes(dtype);
    for (int k = 0; k < count; k++)
        narrow[k] = (float)wide[k];
    void *host = dtype == KITH_F32 ? (void *)narrow : (void *)wide;
    assert_cuda(cudaMalloc(&sheet->device, bytes));
    assert_cuda(cudaMemcpy(sheet->device, host, bytes, cudaMemcpyHostToDevice));
    assert_cuda(cudaDeviceSynchronize());
    struct law_view view;
    law_look(law, &view);
    struct law_values_problem problem = problem_of(sheet, &view, dtype, softening);
    assert_ok(view.form.kind == law_custom ? launch_formula(context, law, dtype, &problem)
                                           : law_values_cuda(context, &view, dtype, &problem));
    assert_ok(kith_context_synchronize(context));
    assert_cuda(cudaMemcpy(host, sheet->device, bytes, cudaMemcpyDeviceToHost));
    assert_cuda(cudaFree(sheet->device));
    for (int k = 0; k < count && dtype == KITH_F32; k++)
        wide[k] = (double)narrow[k];
}

static void fill(struct sheet *sheet, const struct table_row *row, bool charged)
{
    for (int k = 0; k < pairs; k++) {
        for (int c = 0; c < 3; c++)
            sheet->host[c][k] = row->pair.d[c];
        sheet->host[3][k] = charged ? row->pair.q_i : row->pair.m_i;
        sheet->host[4][k] = charged ? row->pair.q_j : row->pair.m_j;
        sheet->host[5][k] = row->pair.q_i;
        sheet->host[6][k] = row->pair.q_j;
    }
}

static void test_cuda_laws_agree_with_mpmath(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    static struct sheet sheet;
    for (int k = 0; k < row_count; k += test_is_quick() ? 7 : 1)
        for (int single = 0; single < 2; single++) {
            const struct table_row *row = &law_table[k];
            kith_law *law = law_of(row->law);
            struct law_view view;
            law_look(law, &view);
            fill(&sheet, row, view.weight == law_weight_charge);
            compute(context, law, single ? KITH_F32 : KITH_F64, row->pair.softening, &sheet);
            for (int pair = 0; pair < pairs; pair++) {
                const double force[3] = {sheet.host[8][pair], sheet.host[9][pair],
                                         sheet.host[10][pair]};
                assert_agrees(row, single ? "float" : "double", sheet.host[7][pair], force,
                              single ? 2 * (double)FLT_EPSILON : DBL_EPSILON);
            }
            kith_law_free(law);
        }
    kith_context_free(context);
}

static void test_cuda_laws_at_the_same_place_are_finite(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    static struct sheet sheet;
    for (int k = 0; k < row_count; k += 3)
        for (int single = 0; single < 2; single++) {
            kith_law *law = law_of(law_table[k].law);
            const kith_law_pair pair = {.mass_i = 2, .mass_j = 3, .charge_i = 2, .charge_j = 3};
            double value = 0;
            assert_ok(kith_law_evaluate(law, &pair, &value, NULL));
            memset(&sheet, 0, sizeof sheet);
            for (int p = 0; p < pairs; p++)
                sheet.host[3][p] = 2, sheet.host[4][p] = 3;
            compute(context, law, single ? KITH_F32 : KITH_F64, 0, &sheet);
            if (!(fabs(sheet.host[7][0] - value) <= 1e-6 * fabs(value)))
                fail_msg("%s at 0 is %g, not %g", law_table[k].law, sheet.host[7][0], value);
            for (int c = 8; c < 11; c++)
                assert_true(sheet.host[c][0] == 0);
            kith_law_free(law);
        }
    kith_context_free(context);
}

static void check_formula(kith_context *context, const char *formula, bool single,
                          struct random_numbers *random)
{
    static struct sheet sheet;
    for (int k = 0; k < pairs; k++)
        for (int c = 0; c < 7; c++)
            sheet.host[c][k] = k == pairs - 1 && c < 3
                                   ? 0
                                   : (double)(float)random_uniform(random, c < 3 ? 0.2 : 0.5, 1.5);
    kith_law *law = law_of_formula(formula);
    compute(context, law, single ? KITH_F32 : KITH_F64, 0, &sheet);
    const double epsilon = single ? (double)FLT_EPSILON : DBL_EPSILON;
    for (int k = 0; k < pairs; k++) {
        const kith_law_pair pair = {.d = {sheet.host[0][k], sheet.host[1][k], sheet.host[2][k]},
                                    .mass_i = sheet.host[3][k],
                                    .mass_j = sheet.host[4][k],
                                    .charge_i = sheet.host[5][k],
                                    .charge_j = sheet.host[6][k]};
        double value = 0, force[3];
        assert_ok(kith_law_evaluate(law, &pair, &value, force));
        const double scale = 1 + fabs(value) + fabs(force[0]) + fabs(force[1]) + fabs(force[2]);
        if (!(fabs(sheet.host[7][k] - value) <= 40 * epsilon * scale))
            fail_msg("%s: value is %.17g, not %.17g", formula, sheet.host[7][k], value);
        for (int c = 0; c < 3; c++)
            if (!(fabs(sheet.host[8 + c][k] - force[c]) <= 500 * epsilon * scale))
                fail_msg("%s: force is %.17g, not %.17g", formula, sheet.host[8 + c][k], force[c]);
    }
    kith_law_free(law);
}

static void test_cuda_formulas_agree_with_the_reference(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < (test_is_quick() ? 3 : formula_count); k++) {
        check_formula(context, formulas[k], false, *state);
        check_formula(context, formulas[k], true, *state);
    }
    kith_context_free(context);
}

static void test_cuda_formulas_are_compiled_at_once_if_asked(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    kith_law *law = NULL;
    assert_ok(kith_law_compile(context, "m_i*m_j/(r2+0.01)", 0, NULL, &law));
    kith_law_free(law);
    assert_fails(kith_law_compile(context, "m_i*", 0, NULL, &law), KITH_INVALID_ARGUMENT,
                 "missing");
    kith_context_free(context);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

/* The only file of the cache that ends so; its size. */
static off_t find_kept(const char *ending, char path[500])
{
    char name[200];
    struct stat info;
    int count = 0;
    snprintf(name, sizeof name, "%s/kith", getenv("XDG_CACHE_HOME"));
    DIR *directory = opendir(name);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strlen(entry->d_name) > strlen(ending) &&
            strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending) == 0) {
            snprintf(path, 500, "%s/%s", name, entry->d_name);
            count++;
        }
    closedir(directory);
    assert_int_equal(count, 1);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* Half of the code, a changed byte in it, none: made again, and whole. */
static void test_cuda_code_that_is_damaged_is_made_again(void **state)
{
    char folder[] = "/tmp/kith-test-cache-XXXXXX", before[200], path[500];
    snprintf(before, sizeof before, "%s", getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", mkdtemp(folder), 1);
    kith_context *context = new_gpu_context(NULL);
    off_t whole = 0;
    for (int k = 0; k < 5; k++) {
        kith_law *law = NULL;
        assert_ok(kith_law_compile(context, "m_i*m_j/(r2+0.02)", 0, NULL, &law));
        kith_law_free(law);
        const off_t size = find_kept(".cubin", path);
        whole = k == 0 ? size : whole;
        assert_int_equal(size, whole);
        if (k < 3) {
            assert_int_equal(truncate(path, k == 0 ? whole / 2 : k == 1 ? whole - 1 : 0), 0);
            continue;
        }
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        const long at = (long)random_uniform(*state, 0, (double)whole);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        const int byte = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_not_equal(fputc(byte ^ 4, file), EOF);
        fclose(file);
    }
    kith_context_free(context);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    setenv("XDG_CACHE_HOME", before, 1);
}

int main(void)
{
    if (gpu_is_absent("cuda_law"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_law");
    char folder[] = "/tmp/kith-test-cache-XXXXXX";
    setenv("XDG_CACHE_HOME", mkdtemp(folder), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_laws_agree_with_mpmath),
        cmocka_unit_test(test_cuda_laws_at_the_same_place_are_finite),
        cmocka_unit_test_prestate(test_cuda_formulas_agree_with_the_reference, &random),
        cmocka_unit_test(test_cuda_formulas_are_compiled_at_once_if_asked),
        cmocka_unit_test_prestate(test_cuda_code_that_is_damaged_is_made_again, &random),
    };
    const int failures = cmocka_run_group_tests_name("cuda_law", tests, NULL, NULL);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failures;
}
