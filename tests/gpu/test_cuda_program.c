/* The program on the GPU: as on the CPU, and killed and resumed. It starts other programs, which
 * the sanitizers of the device cannot bear. */

#include "gpu_testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "program.h"

static void test_the_program_runs_on_the_gpu_as_on_the_cpu(void **state)
{
    (void)state;
    const char *const run = "run @bodies.csv --dt 1e-3 --until 1 --softening 0.1 --quiet --json";
    assert_succeeded(program_run("make plummer -n 300 --seed 5 -o @bodies.csv"));
    const struct program_result *result = program_run("%s --device cpu", run);
    assert_succeeded(result);
    const double expected = program_json_number(result->out, "energy_final");
    result = program_run("%s --device cuda", run);
    assert_succeeded(result);
    assert_near(program_json_number(result->out, "energy_final"), expected, 1e-9 * fabs(expected));
    assert_true(program_json_number(result->out, "seconds") > 0);
}

/* The note of what --device auto chose is one of success. */
static void test_the_choice_of_a_device_is_not_part_of_an_error(void **state)
{
    (void)state;
    assert_succeeded(program_run("make plummer -n 300 --seed 5 -o @chosen.csv"));
    assert_refused(program_run("forces @chosen.csv -o /dev/full"), 1, "/dev/full");
    const struct program_result *result = program_run("forces @chosen.csv -o @chosen.npy");
    assert_succeeded(result);
    assert_non_null(strstr(result->err, "note: device "));
}

/* The observables of every frame, by way of the energy error's maximum, and the last frame. */
static void test_frames_written_while_the_gpu_goes_on_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const char *const kinds[] = {"-n 6", "-n 1000", "-n 9000"};
    for (int k = 0; k < 3; k++) {
        const char *const run = "run @frames.csv --dt 1e-3 --until 0.0973 --softening 0.1 "
                                "--every 10 --checkpoint-every 0.001 --quiet --json";
        assert_succeeded(program_run("make plummer %s --seed 5 -o @frames.csv", kinds[k]));
        const struct program_result *result = program_run("%s --device cpu", run);
        assert_succeeded(result);
        const double energy = program_json_number(result->out, "energy_final");
        const double error = program_json_number(result->out, "max_relative_energy_error");
        result = program_run("%s --device cuda", run);
        assert_succeeded(result);
        assert_near(program_json_number(result->out, "energy_final"), energy, 1e-12 * fabs(energy));
        assert_near(program_json_number(result->out, "max_relative_energy_error"), error, 1e-11);
        result = program_run("%s --device cuda -o @frames.h5", run);
        if (result->exit_code != 0 && strstr(result->err, "HDF5"))
            continue; /* built without */
        assert_succeeded(result);
        assert_near(program_json_number(result->out, "max_relative_energy_error"), error, 1e-11);
    }
}

static void sleep_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* Killed in the middle, it goes on to the bits of a run that was not. */
static void test_a_killed_run_on_the_gpu_resumes_bit_for_bit(void **state)
{
    (void)state;
    const char *const run = "run @killed.csv --device cuda --dt 1e-6 --until 4 --softening 0.1 "
                            "--every 200001 --checkpoint-every 0.05 --quiet --json";
    assert_succeeded(program_run("make plummer -n 6 --seed 5 -o @killed.csv"));
    const struct program_result *result = program_run("%s -o @whole.h5", run);
    if (result->exit_code != 0 && strstr(result->err, "HDF5"))
        skip(); /* built without */
    assert_succeeded(result);
    const double energy = program_json_number(result->out, "energy_final");
    const double error = program_json_number(result->out, "max_relative_energy_error");
    const double seconds = program_json_number(result->out, "seconds");
    for (int k = 1; k <= 3; k++) {
        const int process = program_start("%s -o @killed.h5", run);
        sleep_for(0.3 + seconds * k / 4);
        kill(process, SIGKILL);
        waitpid(process, NULL, 0);
        result = program_run("%s --resume -o @killed.h5", run);
        assert_succeeded(result);
        assert_true(program_json_number(result->out, "energy_final") == energy);
        assert_true(program_json_number(result->out, "max_relative_energy_error") == error);
    }
}

static void test_forces_on_tensor_cores_are_those_of_others(void **state)
{
    (void)state;
    const char *const forces = "forces @tensor.csv --method tensor --device cuda --quiet";
    assert_succeeded(program_run("make plummer -n 3000 --seed 5 -o @tensor.csv"));
    assert_refused(program_run("%s", forces), 1, "single precision");
    const struct program_result *result = program_run("%s --precision single", forces);
    if (result->exit_code != 0 && strstr(result->err, "compute capability"))
        skip();
    assert_succeeded(result);
    assert_int_equal(strncmp(result->out, "ax,ay,az,potential\n", 19), 0);
    result = program_run("%s --precision single --check 100 --json", forces);
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "rms") < 1e-5);
}

int main(void)
{
    if (gpu_is_absent("cuda_program"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_program_runs_on_the_gpu_as_on_the_cpu),
        cmocka_unit_test(test_the_choice_of_a_device_is_not_part_of_an_error),
        cmocka_unit_test(test_frames_written_while_the_gpu_goes_on_are_those_of_the_cpu),
        cmocka_unit_test(test_a_killed_run_on_the_gpu_resumes_bit_for_bit),
        cmocka_unit_test(test_forces_on_tensor_cores_are_those_of_others),
    };
    return cmocka_run_group_tests_name("cuda_program", tests, NULL, NULL);
}
