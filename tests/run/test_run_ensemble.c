#include "program.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulating.h"
#include "testing_files.h"

#include "testing_hdf5.h"

static const char *const steps = "--dt 0.001 --until 0.1 --softening 0.1";

/* The last frame of one system. */
static kith_bodies *system_of(const char *name, int64_t system)
{
    kith_bodies *bodies = NULL;
    const kith_read_options options = {.system = system, .system_given = true};
    assert_ok(kith_bodies_read(program_file(name), &options, &bodies));
    return bodies;
}

/* Close encounters may amplify rounding, but not in a hundred steps. */
static void assert_near_bodies(const kith_bodies *found, const kith_bodies *expected)
{
    assert_int_equal(found->count, expected->count);
    assert_true(found->time == expected->time);
    for (int64_t i = 0; i < found->count; i++)
        assert_true(found->mass[i] == expected->mass[i]);
    for (int64_t k = 0; k < found->count * found->dimensions; k++) {
        assert_true(fabs(found->position[k] - expected->position[k]) < 1e-9);
        assert_true(fabs(found->velocity[k] - expected->velocity[k]) < 1e-9);
    }
}

static void test_systems_of_a_kind_have_the_seeds_that_follow(void **state)
{
    (void)state;
    assert_succeeded(program_run("run six --ensemble 5 --seed 40 %s -o @seeds.h5", steps));
    for (int64_t s = 0; s < 5; s++) {
        assert_succeeded(program_run("run six --seed %d %s -o @alone.h5", 40 + (int)s, steps));
        kith_bodies *found = system_of("seeds.h5", s), *expected = system_of("alone.h5", 0);
        assert_near_bodies(found, expected);
        kith_bodies_free(found);
        kith_bodies_free(expected);
    }
}

/* Each system has steps of its own from frame to frame, so that runs of one from each frame's time
 * to the next have the same bits; also resumed. */
static void test_systems_of_ias15_have_the_bits_that_they_have_alone(void **state)
{
    (void)state;
    static const char *const how =
        "--integrator ias15 --dt 0.001 --softening 0.01 --every-time 0.125 -q";
    assert_succeeded(program_run("run six --ensemble 4 --seed 7 --until 0.375 %s -o @own.h5", how));
    assert_succeeded(program_run("run --resume --until 0.5 -q -o @own.h5"));
    for (int64_t s = 0; s < 4; s++) {
        assert_succeeded(
            program_run("run six --seed %d --until 0.125 %s -o @alone.h5", 7 + (int)s, how));
        for (int k = 2; k <= 4; k++)
            assert_succeeded(program_run("run --resume --until %g -q -o @alone.h5", 0.125 * k));
        kith_bodies *found = system_of("own.h5", s), *expected = system_of("alone.h5", 0);
        assert_same_state(found, expected);
        kith_bodies_free(found);
        kith_bodies_free(expected);
    }
    assert_refused(program_run("run six --ensemble 4 --integrator ias15 --dt 0.001 --until 0.3 "
                               "--every 5"),
                   1, "every-time");
}

static void assert_numbers(hid_t file, const char *path, int64_t count, const int64_t *expected)
{
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(dataset >= 0);
    int64_t found[64];
    const hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_memory_equal(found, expected, (size_t)count * sizeof *found);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void test_the_file_tells_systems_seeds_and_the_system_of_each_body(void **state)
{
    (void)state;
    assert_succeeded(
        program_run("run two-body --ensemble 3 --seed 7 --dt 0.1 --until 1 -q -o @told.h5"));
    const hid_t file = H5Fopen(program_file("told.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_numbers(file, "parameters/kith/systems", 1, (int64_t[]){3});
    assert_numbers(file, "parameters/kith/seeds", 3, (int64_t[]){7, 8, 9});
    assert_numbers(file, "particles/trajectory/system", 6, (int64_t[]){0, 0, 1, 1, 2, 2});
    assert_numbers(file, "particles/trajectory/id", 6, (int64_t[]){0, 1, 2, 3, 4, 5});
    H5Fclose(file);
}

static void test_a_trajectory_is_of_all_systems_or_of_one(void **state)
{
    (void)state;
    assert_succeeded(program_run("run six --ensemble 4 --seed 1 %s --every 50 -o @four.h5", steps));
    kith_trajectory *all = NULL, *one = NULL;
    assert_ok(kith_trajectory_open(program_file("four.h5"), &all));
    assert_ok(kith_trajectory_open(program_file("four.h5"), &one));
    assert_int_equal(kith_trajectory_systems(all), 4);
    assert_fails(kith_trajectory_choose_system(one, 4), KITH_INVALID_ARGUMENT, "system 4 4");
    assert_ok(kith_trajectory_choose_system(one, 2));
    assert_int_equal(kith_trajectory_systems(one), 1);
    kith_bodies *all_bodies = NULL, *bodies = NULL;
    for (int64_t frame = 0; frame < 3; frame++) {
        assert_ok(kith_trajectory_read(all, frame, &all_bodies));
        assert_ok(kith_trajectory_read(one, frame, &bodies));
        assert_int_equal(all_bodies->count, 24);
        const kith_bodies view = kith_ensemble_system(all_bodies, 4, 2);
        assert_same_state(bodies, &view);
    }
    int64_t of_all = 0, of_one = 0;
    double *momenta = NULL, *momentum = NULL;
    assert_ok(kith_trajectory_observable(all, "momentum", &of_all, &momenta, NULL));
    assert_ok(kith_trajectory_observable(one, "momentum", &of_one, &momentum, NULL));
    assert_int_equal(of_all, 12);
    assert_int_equal(of_one, 3);
    for (int64_t frame = 0; frame < 3; frame++)
        assert_memory_equal(momentum + 3 * frame, momenta + 12 * frame + 6, 3 * sizeof(double));
    free(momenta);
    free(momentum);
    kith_bodies_free(all_bodies);
    kith_bodies_free(bodies);
    kith_trajectory_close(all);
    kith_trajectory_close(one);
}

static void test_json_sums_energies_and_tells_the_worst_error(void **state)
{
    (void)state;
    const char *json = program_run("run six --ensemble 3 --seed 2 %s --json", steps)->out;
    double energy = 0, final = 0, worst = 0, worst_of_all = 0;
    const double found[] = {program_json_number(json, "systems"),
                            program_json_number(json, "bodies"),
                            program_json_number(json, "energy_initial"),
                            program_json_number(json, "energy_final"),
                            program_json_number(json, "relative_energy_error"),
                            program_json_number(json, "max_relative_energy_error"),
                            program_json_number(json, "system_steps_per_second")};
    for (int seed = 2; seed < 5; seed++) {
        const char *one = program_run("run six --seed %d %s --json", seed, steps)->out;
        energy += program_json_number(one, "energy_initial");
        final += program_json_number(one, "energy_final");
        worst = worse_of(worst, program_json_number(one, "relative_energy_error"));
        worst_of_all =
            worse_of(worst_of_all, program_json_number(one, "max_relative_energy_error"));
    }
    assert_true(found[0] == 3 && found[1] == 6);
    assert_true(fabs(found[2] - energy) < 1e-12 * fabs(energy));
    assert_true(fabs(found[3] - final) < 1e-9 * fabs(energy));
    assert_true(fabs(found[4] - worst) < 1e-9 && fabs(found[5] - worst_of_all) < 1e-9);
    assert_true(found[6] > 0);
}

static void make_folder(const char *name, int systems)
{
    assert_int_equal(mkdir(program_file(name), 0700), 0);
    for (int s = 0; s < systems; s++)
        assert_succeeded(program_run("make six --seed %d -o @%s/%c.csv -q", s, name, 'c' - s));
}

static void test_files_of_a_directory_are_systems_in_the_order_of_their_names(void **state)
{
    (void)state;
    make_folder("folder", 3);
    assert_int_equal(mkdir(program_file("folder/deeper"), 0700), 0);
    program_write("folder/.hidden", "not bodies");
    assert_succeeded(program_run("run @folder %s -o @folder.h5", steps));
    assert_succeeded(program_run("run @folder --ensemble 3 %s -o @again.h5", steps));
    assert_same_files(program_file("folder.h5"), program_file("again.h5"), "command_line");
    for (int64_t s = 0; s < 3; s++) {
        assert_succeeded(program_run("run six --seed %d %s -o @alone.h5", 2 - (int)s, steps));
        kith_bodies *found = system_of("folder.h5", s), *expected = system_of("alone.h5", 0);
        assert_near_bodies(found, expected);
        kith_bodies_free(found);
        kith_bodies_free(expected);
    }

    const hid_t file = H5Fopen(program_file("folder.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "parameters/kith/inputs", H5P_DEFAULT);
    size_t bytes = 0;
    char *names = bytes_of_dataset(dataset, &bytes);
    assert_string_equal(names, program_file("folder/a.csv"));
    assert_string_equal(names + bytes / 3, program_file("folder/b.csv"));
    free(names);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void test_a_directory_of_unlike_files_is_refused_by_name(void **state)
{
    (void)state;
    make_folder("unlike", 2);
    program_write("unlike/z.csv", "x,y,z\n1,2,3\n");
    assert_refused(program_run("run @unlike %s", steps), 1, "unlike/z.csv 1");
    assert_refused(program_run("run @unlike --ensemble 2 %s", steps), 1, "3 --ensemble 2");
    program_write("unlike/z.csv", "x,y\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n");
    assert_refused(program_run("run @unlike %s", steps), 1, "unlike/z.csv 2");
    program_write("unlike/z.csv", "x,y,z\n1,2,three\n");
    assert_refused(program_run("run @unlike %s", steps), 1, "unlike/z.csv");
    assert_refused(program_run("run @unlike --seed 3 %s", steps), 1, "directory");
    assert_int_equal(mkdir(program_file("empty"), 0700), 0);
    assert_refused(program_run("run @empty %s", steps), 1, "directory");
    assert_refused(program_run("run @unlike %s -o @unlike/a.h5x", steps), 2, "H5MD");
}

static void test_an_output_among_the_inputs_is_refused(void **state)
{
    (void)state;
    make_folder("among", 2);
    assert_succeeded(program_run("run six %s -o @among/c.h5", steps));
    assert_refused(program_run("run @among %s -o @among/c.h5", steps), 1, "among/c.h5");
}

static void test_ensembles_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_succeeded(program_run("make six -o @six.csv -q"));
    assert_refused(program_run("run @six.csv --ensemble 2 %s", steps), 1, "directory");
    assert_refused(program_run("run six --ensemble many %s", steps), 2, "--ensemble 'many'");
    assert_refused(program_run("run six --ensemble -1 %s", steps), 2, "--ensemble -1");
    assert_refused(program_run("run --ensemble 2 --resume -o @none.h5"), 2, "--ensemble");
    assert_refused(program_run("run plummer -n 65 --ensemble 2 %s", steps), 1, "65 64");
    assert_refused(program_run("run six --ensemble 2 --system 1 %s", steps), 1, "--system");
}

static void test_no_systems_and_one_system_are_ensembles_too(void **state)
{
    (void)state;
    assert_succeeded(program_run("run six --ensemble 0 %s -o @none.h5", steps));
    assert_succeeded(program_run("run --resume --until 0.2 -o @none.h5"));
    assert_succeeded(program_run("run six --ensemble 1 --seed 9 %s -o @one.h5", steps));
    assert_succeeded(program_run("run six --seed 9 %s -o @single.h5", steps));
    kith_bodies *one = read_file(program_file("one.h5"));
    kith_bodies *single = read_file(program_file("single.h5"));
    assert_near_bodies(one, single);
    kith_bodies_free(one);
    kith_bodies_free(single);
}

/* In the second of three systems two bodies are so near that they fly off beyond all numbers. */
static void test_a_system_that_fails_is_named(void **state)
{
    (void)state;
    assert_int_equal(mkdir(program_file("failing"), 0700), 0);
    program_write("failing/a.csv", "x,y,z,vx,vy,vz\n0,0,0,0,0,0\n1,0,0,0,1,0\n");
    program_write("failing/b.csv", "x,y,z,vx,vy,vz\n0,0,0,0,0,0\n1e-100,0,0,0,0,0\n");
    program_write("failing/c.csv", "x,y,z,vx,vy,vz\n0,0,0,0,0,0\n2,0,0,0,1,0\n");
    program_write("failing.h5", "old");
    assert_refused(program_run("run @failing --dt 1 --until 10 --every 1 -o @failing.h5"), 1,
                   "system 1");
    char *old = program_read("failing.h5");
    assert_string_equal(old, "old");
    free(old);
}

static void test_an_ensemble_is_no_single_system_to_other_commands(void **state)
{
    (void)state;
    assert_succeeded(program_run("run six --ensemble 3 --seed 4 %s -o @three.h5", steps));
    assert_refused(program_run("convert @three.h5 @x.csv"), 1, "3");
    assert_refused(program_run("forces @three.h5 -o @x.csv"), 1, "3");
    assert_refused(program_run("run @three.h5 %s", steps), 1, "3");
    assert_refused(program_run("convert @three.h5 @x.csv --system 3"), 1, "system 3 3");
    assert_refused(program_run("convert @six.csv @x.csv --system 1"), 1, "format");
    assert_succeeded(program_run("convert @three.h5 @x.csv --system 2 --frame 1"));
    assert_succeeded(program_run("make six --seed 6 -o @expected.csv"));
    char *found = program_read("x.csv"), *expected = program_read("expected.csv");
    assert_non_null(found);
    kith_bodies *a = read_file(program_file("x.csv")), *b = read_file(program_file("expected.csv"));
    assert_memory_equal(a->position, b->position, 18 * sizeof(double));
    assert_memory_equal(a->mass, b->mass, 6 * sizeof(double));
    kith_bodies_free(a);
    kith_bodies_free(b);
    free(found);
    free(expected);
    assert_succeeded(
        program_run("run @three.h5 --system 1 --dt 0.001 --until 0.2 --softening 0.1"));
}

static void test_plots_want_a_system_or_draw_the_energies_of_all(void **state)
{
    (void)state;
    assert_succeeded(program_run("run six --ensemble 3 --seed 4 %s -o @three.h5", steps));
    assert_refused(program_run("plot @three.h5 --what orbits -o @p.png"), 1, "3 --system");
    assert_refused(program_run("plot @three.h5 --what energy --system 3 -o @p.png"), 1,
                   "system 3 3");
    if (system("command -v ${KITH_GNUPLOT:-gnuplot} >/dev/null") != 0)
        skip();
    assert_succeeded(program_run("plot @three.h5 --what energy -o @all.svg"));
    assert_succeeded(program_run("plot @three.h5 --what energy --system 1 -o @one.svg"));
    assert_succeeded(program_run("plot @three.h5 --what orbits --system 1 -o @orbits.svg"));
    char *all = program_read("all.svg"), *one = program_read("one.svg");
    assert_true(has_fields(all, "3 systems median"));
    assert_null(strstr(one, "systems"));
    free(all);
    free(one);
}

static void test_resume_compares_systems_and_names_the_one_that_differs(void **state)
{
    (void)state;
    assert_succeeded(program_run("run six --ensemble 4 --seed 1 %s -o @resumed.h5", steps));
    const char *later = "--dt 0.001 --until 0.2 --softening 0.1 --resume -o @resumed.h5";
    assert_refused(program_run("run six --ensemble 3 --seed 1 %s", later), 1, "systems 3");
    assert_refused(program_run("run six --seed 1 %s", later), 1, "system");
    assert_refused(program_run("run six --ensemble 4 --seed 2 %s", later), 1, "system 0");
    assert_succeeded(program_run("run six --ensemble 4 --seed 1 %s", later));
    assert_succeeded(program_run("run six --ensemble 4 --seed 1 --dt 0.001 --until 0.2 "
                                 "--softening 0.1 --every 1 -o @whole.h5"));
    assert_same_files(program_file("resumed.h5"), program_file("whole.h5"), "command_line");
}

/* Killed without and with a chance to write a checkpoint. */
static void test_killed_ensembles_resume_bit_for_bit(void **state)
{
    (void)state;
    static const char *const long_run =
        "six --ensemble 300 --seed 3 --dt 0.0001 --until 1.5 --softening 0.1 --every 2001 "
        "--checkpoint-every 0.02";
    static const char *const keys[] = {"energy_initial", "energy_final", "relative_energy_error",
                                       "max_relative_energy_error", "momentum_error"};
    double expected[5];
    const struct program_result *whole = program_run("run %s --json -o @left.h5", long_run);
    assert_succeeded(whole);
    for (int k = 0; k < 5; k++)
        expected[k] = program_json_number(whole->out, keys[k]);
    const struct program_result *again =
        program_run("run %s --resume --json -o @left.h5", long_run);
    for (int k = 0; k < 5; k++)
        assert_true(program_json_number(again->out, keys[k]) == expected[k]);
    static const int signals[] = {SIGKILL, SIGTERM, SIGKILL};
    for (int k = 0; k < 3; k++) {
        const int process = program_start("run %s --resume -o @killed.h5", long_run);
        usleep(100000);
        kill(process, signals[k]);
        waitpid(process, NULL, 0);
    }
    const struct program_result *end =
        program_run("run %s --resume --json -o @killed.h5", long_run);
    assert_succeeded(end);
    for (int k = 0; k < 5; k++)
        assert_true(program_json_number(end->out, keys[k]) == expected[k]);
    assert_same_files(program_file("left.h5"), program_file("killed.h5"), "command_line");
    assert_succeeded(program_run("run %s --precision single -o @left.h5", long_run));
    const int process = program_start("run %s --precision single -o @killed-single.h5", long_run);
    usleep(60000);
    kill(process, SIGTERM);
    waitpid(process, NULL, 0);
    assert_succeeded(
        program_run("run %s --precision single --resume -o @killed-single.h5", long_run));
    assert_same_files(program_file("left.h5"), program_file("killed-single.h5"), "command_line");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_systems_of_ias15_have_the_bits_that_they_have_alone),
        cmocka_unit_test(test_systems_of_a_kind_have_the_seeds_that_follow),
        cmocka_unit_test(test_the_file_tells_systems_seeds_and_the_system_of_each_body),
        cmocka_unit_test(test_a_trajectory_is_of_all_systems_or_of_one),
        cmocka_unit_test(test_json_sums_energies_and_tells_the_worst_error),
        cmocka_unit_test(test_files_of_a_directory_are_systems_in_the_order_of_their_names),
        cmocka_unit_test(test_a_directory_of_unlike_files_is_refused_by_name),
        cmocka_unit_test(test_an_output_among_the_inputs_is_refused),
        cmocka_unit_test(test_ensembles_that_make_no_sense_are_refused),
        cmocka_unit_test(test_no_systems_and_one_system_are_ensembles_too),
        cmocka_unit_test(test_a_system_that_fails_is_named),
        cmocka_unit_test(test_an_ensemble_is_no_single_system_to_other_commands),
        cmocka_unit_test(test_plots_want_a_system_or_draw_the_energies_of_all),
        cmocka_unit_test(test_resume_compares_systems_and_names_the_one_that_differs),
        cmocka_unit_test(test_killed_ensembles_resume_bit_for_bit),
    };
    return cmocka_run_group_tests_name("run_ensemble", tests, NULL, NULL);
}
