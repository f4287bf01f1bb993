/* The choice of a device by the size of a problem. */

#include "testing.h"

#include "device/choose.h"
#include "random_numbers.h"

#include <math.h>

enum { kinds = KITH_WORK_IMAGES_STEPS + 1 };

static kith_device_kind chosen(kith_work work, int32_t threads, bool has_gpu)
{
    kith_device device = {0};
    device_choose_among(&work, (struct device_choices){threads, has_gpu, true}, &device, NULL);
    assert_int_equal(device.index, 0);
    return device.kind;
}

static kith_work of_bodies(kith_work_kind kind, double n)
{
    return (kith_work){.kind = kind, .units = n * n, .rows = n};
}

static void few_bodies_stay_on_the_cpu_and_many_go_to_the_gpu(void **state)
{
    (void)state;
    static const kith_work_kind sums[] = {KITH_WORK_FORCES, KITH_WORK_STEPS, KITH_WORK_PRODUCT,
                                          KITH_WORK_SUMS};
    for (int k = 0; k < 4; k++)
        for (int threads = 1; threads <= 64; threads *= 2) {
            assert_int_equal(chosen(of_bodies(sums[k], 0), threads, true), KITH_CPU);
            assert_int_equal(chosen(of_bodies(sums[k], 6), threads, true), KITH_CPU);
            assert_int_equal(chosen(of_bodies(sums[k], 32), threads, true), KITH_CPU);
            assert_int_equal(chosen(of_bodies(sums[k], 65536), threads, true), KITH_CUDA);
            assert_int_equal(chosen(of_bodies(sums[k], 1e7), threads, true), KITH_CUDA);
        }
    /* The tables of docs/performance.md: a call of 256 bodies takes 35 us in double precision on
     * one thread and 25 on the GPU, a step of 256 bodies more than ten times what it takes there.
     */
    assert_int_equal(chosen(of_bodies(KITH_WORK_FORCES, 128), 1, true), KITH_CPU);
    assert_int_equal(chosen(of_bodies(KITH_WORK_FORCES, 1000), 2, true), KITH_CUDA);
    assert_int_equal(chosen(of_bodies(KITH_WORK_STEPS, 256), 2, true), KITH_CUDA);
}

/* Work within a cutoff grows with the number of particles. */
static void few_particles_within_a_cutoff_stay_on_the_cpu(void **state)
{
    (void)state;
    static const kith_work_kind near[] = {KITH_WORK_NEAR, KITH_WORK_NEAR_STEPS};
    for (int k = 0; k < 2; k++)
        for (int threads = 1; threads <= 64; threads *= 2)
            for (int dtype = 0; dtype < 2; dtype++) {
                kith_work work = {.kind = near[k], .dtype = (kith_dtype)dtype};
                for (int units = 0; units <= 32; units += 8) {
                    work.rows = work.units = units;
                    assert_int_equal(chosen(work, threads, true), KITH_CPU);
                }
                work.rows = work.units = 1e5;
                if (threads <= 16)
                    assert_int_equal(chosen(work, threads, true), KITH_CUDA);
            }
}

/* What comes from the host and goes back to it takes longer on its way than on the CPU. */
static void what_only_moves_stays_on_the_cpu(void **state)
{
    (void)state;
    static const kith_work_kind moved[] = {KITH_WORK_MATRIX, KITH_WORK_COLLISIONS,
                                           KITH_WORK_SPARSE};
    for (int k = 0; k < 3; k++)
        for (int power = 0; power < 12; power++) {
            const double units = pow(10, power);
            assert_int_equal(
                chosen((kith_work){.kind = moved[k], .units = units, .rows = units}, 1, true),
                KITH_CPU);
        }
}

static void without_a_gpu_it_is_the_cpu(void **state)
{
    (void)state;
    char reason[KITH_REASON_BYTES];
    for (int kind = 0; kind < kinds; kind++) {
        const kith_work work = of_bodies((kith_work_kind)kind, 1e8);
        kith_device device = {0};
        assert_int_equal(chosen(work, 1, false), KITH_CPU);
        device_choose_among(&work, (struct device_choices){4, false, true}, &device, reason);
        assert_true(has_fields(reason, "no GPU"));
    }
}

static void arrays_on_a_device_are_computed_on_there(void **state)
{
    (void)state;
    char reason[KITH_REASON_BYTES];
    kith_work work = of_bodies(KITH_WORK_FORCES, 2);
    kith_device device = {0};
    work.data = (kith_device){KITH_CUDA, 3};
    device_choose_among(&work, (struct device_choices){64, true, true}, &device, reason);
    assert_true(device.kind == KITH_CUDA && device.index == 3);
    assert_true(has_fields(reason, "arrays"));
}

static void what_the_cpu_does_not_have_goes_to_the_gpu(void **state)
{
    (void)state;
    char reason[KITH_REASON_BYTES];
    kith_device device = {0};
    for (int kind = 0; kind < kinds; kind++) {
        const kith_work few = {.kind = (kith_work_kind)kind, .units = 2, .rows = 2};
        const bool has_mesh = kind == KITH_WORK_IMAGES || kind == KITH_WORK_IMAGES_STEPS;
        device_choose_among(&few, (struct device_choices){1, true, false}, &device, reason);
        assert_int_equal(device.kind, has_mesh ? KITH_CUDA : KITH_CPU);
        assert_int_equal(has_fields(reason, "FFTW"), has_mesh);
        device_choose_among(&few, (struct device_choices){1, false, false}, &device, reason);
        assert_int_equal(device.kind, KITH_CPU);
    }
}

/* With more bodies a choice of the GPU stays; with more threads one of the CPU does. */
static void there_is_one_crossover(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_choose");
    static const kith_work_kind sums[] = {KITH_WORK_FORCES, KITH_WORK_STEPS, KITH_WORK_PRODUCT,
                                          KITH_WORK_SUMS};
    for (int trial = 0; trial < 2000; trial++) {
        const double n = exp(random_uniform(&numbers, 0, 14));
        const kith_work_kind kind = sums[trial / 2 % 4];
        kith_work few = of_bodies(kind, n), more = of_bodies(kind, 2 * n);
        few.dtype = more.dtype = trial % 2 ? KITH_F32 : KITH_F64;
        if (chosen(few, 1, true) == KITH_CUDA)
            assert_int_equal(chosen(more, 1, true), KITH_CUDA);
        if (chosen(few, 4, true) == KITH_CPU)
            assert_int_equal(chosen(few, 8, true), KITH_CPU);
        assert_int_equal(chosen(few, 3, true), chosen(few, 3, true));
    }
}

static void the_reason_says_both_times(void **state)
{
    (void)state;
    char reason[KITH_REASON_BYTES];
    kith_device device = {0};
    const kith_work six = of_bodies(KITH_WORK_STEPS, 6), many = of_bodies(KITH_WORK_FORCES, 1e5);
    device_choose_among(&six, (struct device_choices){1, true, true}, &device, reason);
    assert_true(has_fields(reason, "27 ns CPU 1.5 us cuda:0"));
    device_choose_among(&many, (struct device_choices){1, true, true}, &device, reason);
    assert_true(has_fields(reason, "4.2 s CPU 9.9 ms cuda:0"));
    const kith_work vast = {.units = 1e300};
    device_choose_among(&vast, (struct device_choices){1, true, true}, &device,
                        reason); /* fits its room */
    assert_true(strlen(reason) < KITH_REASON_BYTES);
    for (int kind = 0; kind < kinds; kind++) {
        const bool is_of_steps = kind == KITH_WORK_STEPS || kind == KITH_WORK_NEAR_STEPS ||
                                 kind == KITH_WORK_IMAGES_STEPS;
        const kith_work work = {.kind = (kith_work_kind)kind, .units = 1000, .rows = 1000};
        device_choose_among(&work, (struct device_choices){1, true, true}, &device, reason);
        assert_int_equal(has_fields(reason, "a step"), is_of_steps);
    }
}

static void mistakes_are_told(void **state)
{
    (void)state;
    kith_device device = {0};
    const kith_work kind = {.kind = (kith_work_kind)kinds}, dtype = {.dtype = KITH_I32},
                    units = {.units = -1}, rows = {.rows = (double)NAN}, threads = {.threads = -1};
    assert_fails(kith_device_choose(NULL, &device, NULL), KITH_INVALID_ARGUMENT, "work");
    assert_fails(kith_device_choose(&(kith_work){0}, NULL, NULL), KITH_INVALID_ARGUMENT, "device");
    assert_fails(kith_device_choose(&kind, &device, NULL), KITH_INVALID_ARGUMENT, "work.kind");
    assert_fails(kith_device_choose(&dtype, &device, NULL), KITH_INVALID_ARGUMENT, "work.dtype");
    assert_fails(kith_device_choose(&units, &device, NULL), KITH_INVALID_ARGUMENT, "-1 units");
    assert_fails(kith_device_choose(&rows, &device, NULL), KITH_INVALID_ARGUMENT, "nan rows");
    assert_fails(kith_device_choose(&threads, &device, NULL), KITH_INVALID_ARGUMENT,
                 "work.threads -1");
    assert_ok(kith_device_choose(&(kith_work){0}, &device, NULL));
    assert_int_equal(device.kind, KITH_CPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_bodies_stay_on_the_cpu_and_many_go_to_the_gpu),
        cmocka_unit_test(few_particles_within_a_cutoff_stay_on_the_cpu),
        cmocka_unit_test(what_only_moves_stays_on_the_cpu),
        cmocka_unit_test(without_a_gpu_it_is_the_cpu),
        cmocka_unit_test(arrays_on_a_device_are_computed_on_there),
        cmocka_unit_test(what_the_cpu_does_not_have_goes_to_the_gpu),
        cmocka_unit_test(there_is_one_crossover),
        cmocka_unit_test(the_reason_says_both_times),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
