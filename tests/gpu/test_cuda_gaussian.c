/* Sums of a Gaussian over all pairs on tensor cores against their definition in double precision.
 */

#include "gpu_testing.h"

#include "matrix/gaussian_cuda.h"

static kith_context *gpu;
static struct random_numbers numbers;

/* Points, n × axes, and b. */
struct cloud {
    int64_t n;
    int32_t axes;
    float *x, *b;
};

typedef void put_point(int64_t i, int32_t axes, float *x, float *b);

static void uniform(int64_t i, int32_t axes, float *x, float *b)
{
    (void)i;
    for (int32_t c = 0; c < axes; c++)
        x[c] = (float)random_uniform(&numbers, 0, 1);
    *b = (float)random_uniform(&numbers, 0, 1);
}

static void clustered(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    for (int32_t c = 0; c < axes && i % 2; c++)
        x[c] = 0.7f + 0.01f * x[c];
}

static void one_far(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    x[0] = i == 41 ? 1e6f : x[0];
}

static void from_afar(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    for (int32_t c = 0; c < axes; c++)
        x[c] -= 1000;
}

static void coincident(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    for (int32_t c = 0; c < axes; c++)
        x[c] = floorf(2 * x[c]) / 2;
}

static void of_both_signs(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    *b -= 0.5f;
}

static void of_any_size(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    *b = 1e30f * powf(10, 6 * *b);
}

static void tiny(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    *b *= 1e-30f;
}

static void very_far_apart(int64_t i, int32_t axes, float *x, float *b)
{
    uniform(i, axes, x, b);
    for (int32_t c = 0; c < axes; c++)
        x[c] = (2 * x[c] - 1) * 3e38f;
}

static const struct {
    const char *name;
    put_point *place;
} clouds[] = {{"uniform", uniform},
              {"clustered", clustered},
              {"one far", one_far},
              {"from afar", from_afar},
              {"coincident", coincident},
              {"of both signs", of_both_signs},
              {"of any size", of_any_size},
              {"tiny", tiny},
              {"very far apart", very_far_apart}};

static struct cloud cloud_of(put_point *place, int64_t n, int32_t axes)
{
    struct cloud cloud = {n, axes, calloc((size_t)(n * axes) + 1, sizeof(float)),
                          calloc((size_t)n + 1, sizeof(float))};
    assert_non_null(cloud.x);
    assert_non_null(cloud.b);
    for (int64_t i = 0; i < n; i++)
        place(i, axes, cloud.x + i * axes, cloud.b + i);
    return cloud;
}

static void cloud_free(struct cloud *cloud)
{
    free(cloud->x);
    free(cloud->b);
}

static float *copy_to_device(const float *from, int64_t count)
{
    void *to = NULL;
    assert_cuda(cudaMalloc(&to, (size_t)(count + 1) * sizeof(float)));
    assert_cuda(cudaMemcpy(to, from, (size_t)count * sizeof(float), cudaMemcpyHostToDevice));
    return to;
}

static double distance2(const struct cloud *rows, int64_t i, const struct cloud *columns, int64_t j)
{
    double r2 = 0;
    for (int32_t c = 0; c < rows->axes; c++) {
        const double d =
            (double)columns->x[j * rows->axes + c] - (double)rows->x[i * rows->axes + c];
        r2 += d * d;
    }
    return r2;
}

/* One row, and what an error of it may be: 1e-6 of each term, and more if its exponent is large. */
static double row_of(const struct cloud *rows, int64_t i, const struct cloud *columns, double root,
                     bool leaves_out_self, double *most)
{
    double sum = 0;
    *most = 0;
    for (int64_t j = 0; j < columns->n; j++) {
        const double exponent = root * root * distance2(rows, i, columns, j);
        const double term = exponent < 150 ? (double)columns->b[j] * exp2(-exponent) : 0;
        if (leaves_out_self && i == j)
            continue;
        sum += term;
        *most += fabs(term) * (1e-6 + 2.4e-7 * exponent);
    }
    return sum;
}

static void assert_row(const char *name, const struct cloud *rows, int64_t i,
                       const struct cloud *columns, double root, bool leaves_out_self, double found)
{
    double most = 0, largest = 0;
    const double expected = row_of(rows, i, columns, root, leaves_out_self, &most);
    for (int64_t j = 0; j < columns->n; j++)
        largest = fmax(largest, fabs((double)columns->b[j]));
    if (!(fabs(found - expected) <= most + largest * (double)columns->n * 0x1p-125))
        fail_msg("%s, %lld of %lld and %lld points, %d axes, root %g: %.17g, expected %.17g, +- %g",
                 name, (long long)i, (long long)rows->n, (long long)columns->n, (int)rows->axes,
                 root, found, expected, most);
}

static struct gaussian_points points_of(const struct cloud *cloud, const float *there)
{
    struct gaussian_points points = {.count = cloud->n, .stride = cloud->axes};
    for (int32_t c = 0; c < cloud->axes; c++)
        points.x[c] = there + c;
    return points;
}

/* columns NULL: the rows. Twice, for the same bits. */
static void check_sums(const char *name, const struct cloud *rows, const struct cloud *columns,
                       double root, bool leaves_out_self)
{
    const struct cloud *const sources = columns ? columns : rows;
    float *x = copy_to_device(rows->x, rows->n * rows->axes);
    float *y = copy_to_device(sources->x, sources->n * rows->axes);
    float *b = copy_to_device(sources->b, sources->n);
    const struct gaussian_sums sums = {.axes = rows->axes,
                                       .same = !columns,
                                       .leaves_out_self = leaves_out_self,
                                       .root = root,
                                       .factor = -0.75,
                                       .rows = points_of(rows, x),
                                       .columns = points_of(sources, columns ? y : x),
                                       .b = b,
                                       .b_stride = 1};
    const size_t bytes = (size_t)rows->n * sizeof(double);
    double *found[2] = {malloc(bytes + 1), malloc(bytes + 1)};
    void *there = NULL;
    assert_cuda(cudaMalloc(&there, bytes + 1));
    for (int k = 0; k < 2; k++) {
        kith_array to = kith_array_vector(there, KITH_F64, rows->n);
        assert_cuda(cudaMemset(there, 0xff, bytes));
        assert_ok(gaussian_sums_cuda(gpu, &sums, to));
        assert_ok(kith_context_synchronize(gpu));
        assert_cuda(cudaMemcpy(found[k], there, bytes, cudaMemcpyDeviceToHost));
    }
    assert_memory_equal(found[0], found[1], bytes);
    for (int64_t i = 0; i<rows->n; i += rows->n> 900 ? rows->n / 64 : 1)
        assert_row(name, rows, i, sources, root, leaves_out_self, found[0][i] / -0.75);
    for (int k = 0; k < 2; k++)
        free(found[k]);
    cudaFree(there);
    cudaFree(x);
    cudaFree(y);
    cudaFree(b);
}

static void test_cuda_gaussian_sums_of_clouds_are_their_definition(void **state)
{
    static const int32_t axes[] = {1, 2, 3, 4, 5, 6, 10, 11, 16};
    static const double roots[] = {0.3, 1.7, 8, 50};
    (void)state;
    for (size_t a = 0; a < sizeof axes / sizeof axes[0]; a += test_is_quick() ? 3 : 1)
        for (size_t k = 0; k < sizeof clouds / sizeof clouds[0]; k++)
            for (size_t r = 0; r < sizeof roots / sizeof roots[0]; r += test_is_quick() ? 3 : 1) {
                const int64_t n = test_is_quick() ? 600 : 2000 + (int64_t)(300 * a + 7 * k + r);
                struct cloud cloud = cloud_of(clouds[k].place, n, axes[a]);
                struct cloud other = cloud_of(clouds[k].place, n / 3 + 1, axes[a]);
                check_sums(clouds[k].name, &cloud, NULL, roots[r], (a + r) % 2);
                check_sums(clouds[k].name, &other, &cloud, roots[r], false);
                cloud_free(&cloud);
                cloud_free(&other);
            }
}

static void test_cuda_gaussian_takes_any_number_of_points(void **state)
{
    static const int64_t sizes[] = {1, 2, 31, 255, 256, 257, 511, 512, 513, 770, 1025, 40000};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] - (test_is_quick() ? 1 : 0); k++)
        for (int32_t axes = 3; axes <= 10; axes += 7) {
            struct cloud cloud = cloud_of(uniform, sizes[k], axes);
            struct cloud other = cloud_of(uniform, sizes[(k + 5) % 11], axes);
            check_sums("uniform", &cloud, NULL, 1.3, k % 2);
            check_sums("uniform", &cloud, &other, 1.3, false);
            cloud_free(&cloud);
            cloud_free(&other);
        }
}

enum { many = 40001 }; /* the kernels are used */

static void check_found(const char *name, const struct cloud *cloud, double root,
                        bool leaves_out_self, double own, const float *found)
{
    for (int64_t i = 0; i < cloud->n; i += 997)
        assert_row(name, cloud, i, cloud, root, leaves_out_self,
                   (double)found[i] - own * (double)cloud->b[i]);
}

/* The diagonal is left out, is kept, or is 3. */
static void test_cuda_gaussian_matrix_times_a_vector(void **state)
{
    (void)state;
    struct cloud cloud = cloud_of(clustered, many, 3);
    float *found = calloc(many, sizeof *found);
    kith_law *law = NULL;
    assert_ok(kith_law_parse("gaussian:0.2", 0, NULL, &law));
    for (int k = 0; k < (test_is_quick() ? 1 : 3); k++) {
        static const kith_matrix_diagonal diagonals[] = {KITH_DIAGONAL_ZERO, KITH_DIAGONAL_KEEP,
                                                         KITH_DIAGONAL_VALUE};
        const kith_matrix_options options = {.diagonal = diagonals[k], .diagonal_value = 3};
        const kith_particles points = {.positions = kith_array_matrix(cloud.x, KITH_F32, many, 3)};
        assert_ok(kith_matrix_multiply(gpu, law, &options, &points, NULL,
                                       kith_array_vector(cloud.b, KITH_F32, many),
                                       kith_array_vector(found, KITH_F32, many)));
        check_found("matrix", &cloud, sqrt(M_LOG2E / 2) / 0.2, k != 1, k == 2 ? 3 : 0, found);
    }
    kith_law_free(law);
    free(found);
    cloud_free(&cloud);
}

/* Beyond three dimensions the kernels serve any number of points, and other kernels none. */
static void test_cuda_gaussian_matrix_has_up_to_sixteen_dimensions(void **state)
{
    static const struct {
        int64_t rows, columns; /* 0: the rows are the columns */
        int32_t axes;
    } cases[] = {{1, 0, 4}, {300, 0, 16}, {2001, 0, 5}, {700, 513, 10}, {many, 0, 10}};
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("gaussian:0.7", 0, NULL, &law));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int64_t n = cases[k].rows, m = cases[k].columns > 0 ? cases[k].columns : n;
        struct cloud rows = cloud_of(uniform, n, cases[k].axes);
        struct cloud others = cloud_of(uniform, m, cases[k].axes);
        const struct cloud *columns = cases[k].columns > 0 ? &others : &rows;
        const kith_particles of_rows = {.positions =
                                            kith_array_matrix(rows.x, KITH_F32, n, cases[k].axes)};
        const kith_particles of_columns = {
            .positions = kith_array_matrix(columns->x, KITH_F32, m, cases[k].axes)};
        float *found = calloc((size_t)n, sizeof *found);
        assert_ok(kith_matrix_multiply(
            gpu, law, NULL, &of_rows, columns == &rows ? NULL : &of_columns,
            kith_array_vector(columns->b, KITH_F32, m), kith_array_vector(found, KITH_F32, n)));
        for (int64_t i = 0; i < n; i += n / 64 + 1)
            assert_row("matrix", &rows, i, columns, sqrt(M_LOG2E / 2) / 0.7, columns == &rows,
                       (double)found[i]);
        assert_fails(kith_matrix_reduce(gpu, law, NULL, &of_rows, NULL, KITH_REDUCE_MIN,
                                        kith_array_vector(found, KITH_F32, n)),
                     KITH_UNSUPPORTED, "single precision");
        free(found);
        cloud_free(&rows);
        cloud_free(&others);
    }
    kith_law_free(law);
}

static double sum_of_formula(const struct cloud *cloud, int64_t i, int which, double *most)
{
    double sum = 0;
    *most = 0;
    for (int64_t j = 0; j < cloud->n; j++) {
        const double r2 = distance2(cloud, i, cloud, j), b = (double)cloud->b[j];
        const double own = (double)cloud->b[i];
        const double terms[] = {b * exp(-r2 / (2 * 0.4 * 0.4)),
                                exp(-r2),
                                -2 * b * exp(-3 * r2) / 3,
                                own * b * exp(-r2),
                                b * exp(-sqrt(r2)),
                                b * b * exp(-r2),
                                b * r2 * exp(-r2),
                                exp(-r2 * b),
                                b / exp(r2)};
        sum += i == j ? 0 : terms[which];
        *most += i == j ? 0 : 2e-6 * fabs(terms[which]);
    }
    return sum;
}

/* Whether the kernel is the Gaussian's or the formula's own, arrays on the device, with gaps. */
static void test_cuda_gaussian_formulas_are_what_they_say(void **state)
{
    static const char *const formulas[] = {
        "b_j*exp(-r2/(2*s*s))", "exp(-r2)",     "-2*b_j*exp(-g*r2)/3",
        "b_i*b_j*exp(-r2)",     "b_j*exp(-r)",  "b_j*b_j*exp(-r2)",
        "b_j*r2*exp(-r2)",      "exp(-r2*b_j)", "b_j/exp(r2)"};
    static const kith_law_parameter parameters[] = {{"s", 0.4}, {"g", 3}};
    (void)state;
    const int32_t axes = 7;
    struct cloud cloud = cloud_of(uniform, many, axes);
    float *found = calloc(many, sizeof *found);
    kith_array there = gpu_array_like(kith_array_matrix(found, KITH_F32, many, 1), 1, 3);
    const kith_particles points = {
        .positions = gpu_array_of(kith_array_matrix(cloud.x, KITH_F32, many, axes), 2, 5),
        .columns = {{"b", gpu_array_of(kith_array_vector(cloud.b, KITH_F32, many), 1, 2)}}};
    for (int k = 0; k < (test_is_quick() ? 1 : 9); k++) {
        const kith_sums_options options = {.parameter_count = 2, .parameters = parameters};
        const kith_named_formula output = {"y", formulas[k]};
        assert_ok(kith_sums_compute(gpu, &options, NULL, &points, 1, &output, there));
        assert_ok(kith_context_synchronize(gpu));
        gpu_transfer(there, kith_array_matrix(found, KITH_F32, many, 1), false);
        for (int64_t i = 0; i < many; i += 1999) {
            double most = 0;
            const double expected = sum_of_formula(&cloud, i, k, &most);
            if (!(fabs((double)found[i] - expected) <= most))
                fail_msg("%s, row %lld: %.9g, expected %.9g, +- %g", formulas[k], (long long)i,
                         (double)found[i], expected, most);
        }
    }
    cudaFree(points.positions.data);
    cudaFree(points.columns[0].values.data);
    cudaFree(there.data);
    free(found);
    cloud_free(&cloud);
}

static void test_cuda_gaussian_leaves_bad_numbers_to_synchronize(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct cloud cloud = cloud_of(uniform, many, 3);
        if (k == 0)
            cloud.x[3 * 1234 + 1] = NAN;
        else
            cloud.b[1234] = INFINITY;
        float *found = calloc(many, sizeof *found);
        kith_array there = gpu_array_like(kith_array_matrix(found, KITH_F32, many, 1), 1, 0);
        const kith_particles points = {
            .positions = gpu_array_of(kith_array_matrix(cloud.x, KITH_F32, many, 3), 1, 0),
            .columns = {{"b", gpu_array_of(kith_array_vector(cloud.b, KITH_F32, many), 1, 0)}}};
        const kith_named_formula output = {"y", "b_j*exp(-r2)"};
        assert_ok(kith_sums_compute(gpu, NULL, NULL, &points, 1, &output, there));
        assert_fails(kith_context_synchronize(gpu), KITH_INVALID_ARGUMENT, "row 1234");
        gpu_transfer(there, kith_array_matrix(found, KITH_F32, many, 1), false);
        for (int64_t i = 0; i < many; i++)
            assert_true(isnan(found[i]));
        cudaFree(points.positions.data);
        cudaFree(points.columns[0].values.data);
        cudaFree(there.data);
        free(found);
        cloud_free(&cloud);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_gaussian_takes_any_number_of_points),
        cmocka_unit_test(test_cuda_gaussian_sums_of_clouds_are_their_definition),
        cmocka_unit_test(test_cuda_gaussian_matrix_times_a_vector),
        cmocka_unit_test(test_cuda_gaussian_matrix_has_up_to_sixteen_dimensions),
        cmocka_unit_test(test_cuda_gaussian_formulas_are_what_they_say),
        cmocka_unit_test(test_cuda_gaussian_leaves_bad_numbers_to_synchronize),
    };
    numbers = random_numbers_begin("cuda_gaussian");
    if (gpu_is_absent("cuda_gaussian"))
        return exit_skipped;
    gpu = new_gpu_context(NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(gpu);
    return failed;
}
