#include "testing.h"

#include "initial/portable_math.h"
#include "initial/random.h"
#include "testing_initial.h"

enum { sample_size = 20000 };

static double uniform_cumulative(double x)
{
    return x;
}

static double exponential_cumulative(double x)
{
    return -expm1(-x);
}

static double normal_cumulative(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* From Random123's kat_vectors: philox4x64, 10 rounds, counter and key all zeros. */
static void test_random_bits_are_those_that_random123_publishes(void **state)
{
    (void)state;
    const uint64_t expected[4] = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                  0x7e68b68aec7ba23b};
    struct random_stream stream = random_begin(0, (enum random_purpose)0, 0);
    for (int k = 0; k < 4; k++)
        assert_true(random_bits(&stream) == expected[k]);
}

static void test_random_streams_of_bodies_purposes_and_seeds_differ(void **state)
{
    (void)state;
    struct random_stream streams[] = {
        random_begin(1, RANDOM_SIX, 0), random_begin(1, RANDOM_SIX, 1),
        random_begin(2, RANDOM_SIX, 0), random_begin(1, RANDOM_DISK, 0)};
    uint64_t drawn[4][6];
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 6; k++)
            drawn[s][k] = random_bits(&streams[s]);
    for (int a = 0; a < 24; a++)
        for (int b = 0; b < a; b++)
            assert_true(drawn[a / 6][a % 6] != drawn[b / 6][b % 6]);
}

static void test_random_uniform_numbers_are_uniform(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    struct random_stream stream = random_begin(seed, RANDOM_SIX, 0);
    double *sample = malloc(sample_size * sizeof *sample);
    for (int i = 0; i < sample_size; i++)
        sample[i] = random_uniform(&stream);
    assert_distributed(sample, sample_size, uniform_cumulative, "uniform", seed);
    assert_true(sample[0] >= 0 && sample[sample_size - 1] < 1);
    free(sample);
}

static void test_random_exponential_numbers_are_exponential(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    double *sample = malloc(sample_size * sizeof *sample);
    for (int i = 0; i < sample_size; i++) {
        struct random_stream stream = random_begin(seed, RANDOM_SIX, i);
        sample[i] = random_exponential(&stream);
    }
    assert_distributed(sample, sample_size, exponential_cumulative, "exponential", seed);
    free(sample);
}

static void test_random_normal_pairs_are_normal_and_uncorrelated(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    double *sample = malloc(2 * sample_size * sizeof *sample);
    double product = 0;
    for (int i = 0; i < sample_size; i++) {
        struct random_stream stream = random_begin(seed, RANDOM_SIX, i);
        random_normal_pair(&stream, sample + 2 * i);
        product += sample[2 * i] * sample[2 * i + 1];
    }
    assert_near(product / sample_size, 0, 6 / sqrt(sample_size), "correlation", seed);
    assert_distributed(sample, 2 * sample_size, normal_cumulative, "normal", seed);
    free(sample);
}

/* On a sphere every coordinate is uniform in [-1, 1]; on a circle, ¼ of the points in each quadrant
 * and ⟨x²⟩ = ½. */
static void test_random_directions_have_length_one_and_no_preference(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    double *sample = malloc(3 * sample_size * sizeof *sample);
    double square = 0;
    for (int i = 0; i < sample_size; i++) {
        struct random_stream stream = random_begin(seed, RANDOM_SIX, i);
        double unit[3];
        random_direction(&stream, 3, unit);
        assert_near(dot3(unit, unit), 1, 1e-15, "length on the sphere", seed);
        for (int k = 0; k < 3; k++)
            sample[k * sample_size + i] = (unit[k] + 1) / 2;
        random_direction(&stream, 2, unit);
        assert_near(unit[0] * unit[0] + unit[1] * unit[1], 1, 1e-15, "length on the circle", seed);
        square += unit[0] * unit[0];
    }
    assert_near(square / sample_size, 0.5, 6 * sqrt(0.125 / sample_size), "x² on the circle", seed);
    for (int k = 0; k < 3; k++)
        assert_distributed(sample + k * sample_size, sample_size, uniform_cumulative, "direction",
                           seed);
    free(sample);
}

static void test_random_points_fill_the_ball_evenly(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    double *sample = malloc(sample_size * sizeof *sample);
    for (int i = 0; i < sample_size; i++) {
        struct random_stream stream = random_begin(seed, RANDOM_SIX, i);
        double point[3];
        random_in_ball(&stream, 3, point);
        sample[i] = dot3(point, point) * sqrt(dot3(point, point));
    }
    assert_distributed(sample, sample_size, uniform_cumulative, "volume within", seed);
    free(sample);
}

static void test_portable_cbrt_is_the_cube_root(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    struct random_stream stream = random_begin(seed, RANDOM_SIX, 0);
    for (int i = 0; i < sample_size; i++) {
        const double x = ldexp(0.5 + random_uniform(&stream), i % 600 - 300);
        assert_near(portable_cbrt(x) / cbrt(x), 1, 1e-15, "cbrt over libm's", seed);
    }
    assert_true(portable_cbrt(8) == 2 && portable_cbrt(1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bits_are_those_that_random123_publishes),
        cmocka_unit_test(test_random_streams_of_bodies_purposes_and_seeds_differ),
        cmocka_unit_test(test_random_uniform_numbers_are_uniform),
        cmocka_unit_test(test_random_exponential_numbers_are_exponential),
        cmocka_unit_test(test_random_normal_pairs_are_normal_and_uncorrelated),
        cmocka_unit_test(test_random_directions_have_length_one_and_no_preference),
        cmocka_unit_test(test_random_points_fill_the_ball_evenly),
        cmocka_unit_test(test_portable_cbrt_is_the_cube_root),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
