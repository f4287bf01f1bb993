/* kith convert of files with several frames, and runs as inputs and outputs. */
#include "program.h"
#include "testing.h"
#include "testing_files.h"

#include "testing_hdf5.h"

static void make_run(void)
{
    assert_succeeded(program_run("run six --dt 0.0078125 --until 0.5 --every 1 --units AU,day -q "
                                 "-o @r.h5"));
}

static kith_trajectory *open_trajectory(const char *name, int64_t frames)
{
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(program_file(name), &trajectory));
    assert_int_equal(kith_trajectory_frames(trajectory), frames);
    return trajectory;
}

/* Frame k of one is frame k + shift of the other, with its time. */
static void assert_same_frames(const char *name, int64_t frames, const char *other,
                               int64_t other_frames, int64_t shift)
{
    kith_trajectory *one = open_trajectory(name, frames),
                    *two = open_trajectory(other, other_frames);
    for (int64_t k = 0; k < frames; k++) {
        kith_bodies *found = NULL, *expected = NULL;
        assert_ok(kith_trajectory_read(one, k, &found));
        assert_ok(kith_trajectory_read(two, k + shift, &expected));
        assert_same_bodies(found, expected);
        assert_true(found->time == expected->time);
        kith_bodies_free(found);
        kith_bodies_free(expected);
    }
    kith_trajectory_close(one);
    kith_trajectory_close(two);
}

static void assert_same_observable(const char *name, const char *other, int64_t shift,
                                   const char *observable)
{
    double *found = NULL, *expected = NULL;
    int64_t components = 0, expected_components = 0;
    kith_trajectory *one = NULL, *two = NULL;
    assert_ok(kith_trajectory_open(program_file(name), &one));
    assert_ok(kith_trajectory_open(program_file(other), &two));
    assert_ok(kith_trajectory_observable(one, observable, &components, &found, NULL));
    assert_ok(kith_trajectory_observable(two, observable, &expected_components, &expected, NULL));
    assert_int_equal(components, expected_components);
    assert_memory_equal(found, expected + shift * components,
                        (size_t)(kith_trajectory_frames(one) * components) * sizeof *found);
    free(found);
    free(expected);
    kith_trajectory_close(one);
    kith_trajectory_close(two);
}

static void assert_same_group(const char *name, const char *other, const char *group)
{
    const hid_t one = H5Fopen(program_file(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t two = H5Fopen(program_file(other), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t a = H5Gopen2(one, group, H5P_DEFAULT), b = H5Gopen2(two, group, H5P_DEFAULT);
    assert_true(a >= 0 && b >= 0);
    assert_same_groups(a, b, "");
    H5Gclose(a);
    H5Gclose(b);
    H5Fclose(one);
    H5Fclose(two);
}

static void test_one_frame_of_several_is_reported(void **state)
{
    (void)state;
    make_run();
    const struct program_result *result = program_run("convert @r.h5 @end.csv");
    assert_succeeded(result);
    assert_true(has_fields(result->err, "65 --frame --frames"));
    result = program_run("convert @r.h5 @end.csv --quiet");
    assert_null(strstr(result->err, "65"));
    result = program_run("convert @r.h5 @end.csv --frame 3");
    assert_null(strstr(result->err, "65"));
    result = program_run("convert @end.csv @end.npy");
    assert_null(strstr(result->err, "frame"));
}

static void test_all_frames_keep_everything(void **state)
{
    (void)state;
    make_run();
    assert_succeeded(program_run("convert @r.h5 @all.h5 --frames all"));
    assert_same_group("r.h5", "all.h5", "/particles");
    assert_same_group("r.h5", "all.h5", "/observables");
    assert_same_group("r.h5", "all.h5", "/parameters/kith/units");
    assert_false(has_object(program_file("all.h5"), "/parameters/kith/checkpoint"));
}

static void test_a_range_of_frames_is_converted(void **state)
{
    (void)state;
    make_run();
    assert_succeeded(program_run("convert @r.h5 @part.h5 --frames 3:7"));
    assert_same_frames("part.h5", 5, "r.h5", 65, 2);
    assert_same_observable("part.h5", "r.h5", 2, "total_energy");
    assert_same_observable("part.h5", "r.h5", 2, "angular_momentum");
    assert_succeeded(program_run("convert @r.h5 @part.h5 --frames 61:"));
    assert_same_frames("part.h5", 5, "r.h5", 65, 60);
    assert_refused(program_run("convert @r.h5 @no.h5 --frames 3:66"), 1, "65");
    assert_refused(program_run("convert @r.h5 @no.h5 --frames 0:3"), 2, "--frames");
    assert_refused(program_run("convert @r.h5 @no.h5 --frames 5"), 2, "--frames");
    assert_refused(program_run("convert @r.h5 @no.h5 --frames all --frame 3"), 2, "--frame");
    assert_refused(program_run("convert @r.h5 @no.csv --frames all"), 1, "");
    assert_refused(program_run("convert @r.h5 @no.hdf5 --frames all"), 1, "gadget");
    assert_false(program_exists("no.h5") || program_exists("no.csv") || program_exists("no.hdf5"));
}

static void test_frames_go_through_extended_xyz(void **state)
{
    (void)state;
    make_run();
    assert_succeeded(program_run("convert @r.h5 @all.xyz --frames all"));
    const struct program_result *result = program_run("convert @all.xyz @end.csv");
    assert_true(has_fields(result->err, "65 --frame --frames"));
    assert_succeeded(program_run("convert @all.xyz @again.h5 --frames all"));
    assert_same_frames("again.h5", 65, "r.h5", 65, 0);
    assert_succeeded(program_run("convert @all.xyz @part.xyz --frames 2:3"));
    assert_succeeded(program_run("convert @part.xyz @again.h5 --frames all"));
    assert_same_frames("again.h5", 2, "r.h5", 65, 1);
    program_write("grows.xyz", "1\n\nH 0 0 0\n2\n\nH 0 0 0\nO 1 0 0\n");
    assert_refused(program_run("convert @grows.xyz @grows.h5 --frames all"), 1, "frame 2");
    assert_false(program_exists("grows.h5"));
    assert_succeeded(program_run("convert @grows.xyz @grown.xyz --frames all"));
}

/* A cell that changes, charges, ids, units. */
static void test_frames_keep_every_column_there_and_back(void **state)
{
    (void)state;
    char frames[2048] = "";
    for (int k = 0; k < 3; k++)
        sprintf(frames + strlen(frames),
                "2\nLattice=\"%d.5 0 0 0 5 0 0 0 6\" "
                "Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1:charge:R:1:id:I:1 pbc=\"T T F\" "
                "Time=%d.25 gravitational_constant=0.5 units=\"nm,ps,u\"\n"
                "Na 0.1 0 %d 1 2 3 22.5 1 70\nCl 0.1 0 -%d 3 2 1 35.5 -1 -7\n",
                4 + k, k, k, k);
    program_write("ions.xyz", frames);
    assert_succeeded(program_run("convert @ions.xyz @canonical.xyz --frames all"));
    assert_succeeded(program_run("convert @ions.xyz @ions.h5 --frames all"));
    assert_succeeded(program_run("convert @ions.h5 @ions2.h5 --frames 1:"));
    assert_succeeded(program_run("convert @ions2.h5 @back.xyz --frames :3"));
    char *expected = program_read("canonical.xyz"), *found = program_read("back.xyz");
    assert_non_null(expected);
    assert_non_null(found);
    assert_string_equal(found, expected);
    assert_non_null(strstr(found, "Lattice=\"6.5 0 0 0 5 0 0 0 6\""));
    free(expected);
    free(found);
    assert_same_group("ions.h5", "ions2.h5", "/particles");

    program_write("mass.xyz", "1\nProperties=species:S:1:pos:R:3:mass:R:1\nH 0 0 0 1\n"
                              "1\nProperties=species:S:1:pos:R:3:mass:R:1\nH 0 0 0 2\n");
    assert_refused(program_run("convert @mass.xyz @no.h5 --frames all"), 1, "mass changes");
    program_write(
        "units.xyz",
        "1\nProperties=species:S:1:pos:R:3 gravitational_constant=2\nH 0 0 0\n1\n\nH 0 0 0\n");
    assert_refused(program_run("convert @units.xyz @no.h5 --frames all"), 1, "units");
    program_write("broken.xyz", "1\n\nH 0 0 0\n1\n\nH 0 0 nan\n");
    assert_refused(program_run("convert @broken.xyz @no.h5 --frames all"), 1, "broken.xyz");
    assert_refused(program_run("convert @broken.xyz @no.xyz --frames all"), 1, "broken.xyz");
    assert_false(program_exists("no.h5") || program_exists("no.xyz"));
}

static void test_a_system_of_an_ensemble_keeps_its_frames(void **state)
{
    (void)state;
    assert_succeeded(
        program_run("run six --ensemble 3 --dt 0.01 --until 0.1 --every 1 -q -o @e.h5"));
    assert_refused(program_run("convert @e.h5 @one.h5 --frames all"), 1, "--system");
    assert_succeeded(program_run("convert @e.h5 @one.h5 --system 1 --frames all"));
    kith_trajectory *one = open_trajectory("one.h5", 11), *all = open_trajectory("e.h5", 11);
    double *found = NULL, *expected = NULL;
    int64_t components = 0;
    assert_ok(kith_trajectory_choose_system(all, 1));
    assert_ok(kith_trajectory_observable(one, "momentum", &components, &found, NULL));
    assert_int_equal(components, 3);
    assert_ok(kith_trajectory_observable(all, "momentum", &components, &expected, NULL));
    assert_memory_equal(found, expected, 33 * sizeof *found);
    free(found);
    free(expected);
    kith_trajectory_close(one);
    kith_trajectory_close(all);
}

/* Of another program: species, steps by their increment, observables in groups, of other types, one
 * fixed, one of its own cadence. */
static void test_frames_of_other_programs_keep_their_observables(void **state)
{
    (void)state;
    double position[18], numbers[12];
    const int species[2] = {8, 1}, increment = 10, offset = 5, step[2] = {0, 30};
    for (int k = 0; k < 18; k++)
        position[k] = k;
    for (int k = 0; k < 12; k++)
        numbers[k] = 100 + k;
    const hid_t file = new_file(program_file("other.h5"));
    put_group(file, "/h5md");
    put_doubles(file, "/particles/all/position/value", H5T_IEEE_F32LE, position, 3, 2, 3);
    put_data(file, "/particles/all/position/step", H5T_STD_I32LE, H5T_NATIVE_INT, (int[]){-1},
             &increment);
    put_attribute(file, "/particles/all/position/step", "offset", H5T_STD_I32LE, H5T_NATIVE_INT, 0,
                  &offset);
    put_data(file, "/particles/all/species", H5T_STD_I32LE, H5T_NATIVE_INT, (int[]){2, -1},
             species);
    put_doubles(file, "/observables/all/stress/value", H5T_IEEE_F32LE, numbers, 3, 4);
    put_double(file, "/observables/volume", 7);
    H5Fclose(file);
    assert_succeeded(program_run("convert @other.h5 @part.h5 --frames 2:3"));
    assert_same_observable("part.h5", "other.h5", 1, "all/stress");
    assert_true(has_object(program_file("part.h5"), "/observables/volume"));
    kith_trajectory *part = open_trajectory("part.h5", 2);
    kith_bodies *bodies = NULL;
    assert_ok(kith_trajectory_read(part, 0, &bodies));
    assert_string_equal(bodies->name[0], "8");
    kith_bodies_free(bodies);
    kith_trajectory_close(part);
    const hid_t written = H5Fopen(program_file("part.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t steps = H5Dopen2(written, "/particles/trajectory/position/step", H5P_DEFAULT);
    int found[2] = {0};
    assert_true(H5Dread(steps, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_true(found[0] == 15 && found[1] == 25);
    H5Dclose(steps);
    H5Fclose(written);

    const hid_t again = H5Fopen(program_file("other.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    put_doubles(again, "/observables/energy/value", H5T_IEEE_F64LE, numbers, 2);
    put_data(again, "/observables/energy/step", H5T_STD_I32LE, H5T_NATIVE_INT, (int[]){2, -1},
             step);
    H5Fclose(again);
    assert_refused(program_run("convert @other.h5 @no.h5 --frames 2:3"), 1, "/observables/energy");
    assert_false(program_exists("no.h5"));
    assert_succeeded(program_run("convert @other.h5 @all.h5 --frames all"));
    assert_same_group("other.h5", "all.h5", "/observables/energy");
}

static void test_runs_are_no_output_of_themselves(void **state)
{
    (void)state;
    static const char *const commands[] = {"convert @r.h5 @r.h5",
                                           "convert @r.h5 @r.h5 --frames all",
                                           "run @r.h5 --dt 0.1 --until 2 -o @r.h5",
                                           "forces @r.h5 --to csv -o @r.h5",
                                           "pairs @r.h5 --cutoff 1 -o @r.h5",
                                           "plot @r.h5 --what energy --to png -o @r.h5"};
    make_run();
    size_t bytes = 0, bytes_after = 0;
    char *before = content_of(program_file("r.h5"), &bytes);
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        assert_refused(program_run("%s", commands[k]), 1, "output");
        char *after = content_of(program_file("r.h5"), &bytes_after);
        assert_int_equal(bytes_after, bytes);
        assert_memory_equal(after, before, bytes);
        free(after);
    }
    free(before);
    assert_succeeded(program_run("run --resume --until 1 -q -o @r.h5"));
    kith_trajectory_close(open_trajectory("r.h5", 129));
}

static void put_part(const char *name, int count)
{
    const int counts[6] = {0, count}, files = 2;
    const double rows[6] = {0, 1, 2, 3, 4, 5}, ones[2] = {1, 1};
    const hid_t file = new_file(program_file(name));
    put_group(file, "/Header");
    put_attribute(file, "/Header", "NumPart_ThisFile", H5T_STD_I32LE, H5T_NATIVE_INT, 6, counts);
    put_attribute(file, "/Header", "NumFilesPerSnapshot", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &files);
    put_doubles(file, "/PartType1/Coordinates", H5T_IEEE_F64LE, rows, count, 3);
    put_doubles(file, "/PartType1/Masses", H5T_IEEE_F64LE, ones, count);
    H5Fclose(file);
}

static void test_no_file_of_a_snapshot_is_the_output(void **state)
{
    (void)state;
    put_part("snap.0.hdf5", 2);
    put_part("snap.1.hdf5", 1);
    static const char *const inputs[] = {"snap.0.hdf5", "snap.1.hdf5", "snap"};
    for (int k = 0; k < 3; k++)
        for (int part = 0; part < 2; part++)
            assert_refused(program_run("convert @%s @snap.%d.hdf5", inputs[k], part), 1, "output");
    assert_succeeded(program_run("convert @snap @joined.hdf5"));
    assert_succeeded(program_run("convert @joined.hdf5 @snap.1.hdf5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_frame_of_several_is_reported),
        cmocka_unit_test(test_all_frames_keep_everything),
        cmocka_unit_test(test_a_range_of_frames_is_converted),
        cmocka_unit_test(test_frames_go_through_extended_xyz),
        cmocka_unit_test(test_frames_keep_every_column_there_and_back),
        cmocka_unit_test(test_a_system_of_an_ensemble_keeps_its_frames),
        cmocka_unit_test(test_frames_of_other_programs_keep_their_observables),
        cmocka_unit_test(test_runs_are_no_output_of_themselves),
        cmocka_unit_test(test_no_file_of_a_snapshot_is_the_output),
    };
    return cmocka_run_group_tests_name("convert", tests, make_files_directory,
                                       remove_files_directory);
}
