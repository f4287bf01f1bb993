#include "testing.h"

#include "testing_files.h"

#include "testing_hdf5.h"

enum {
    columns_of_a_body =
        KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING | KITH_RADIUS | KITH_ID | KITH_NAME
};

static void test_h5md_keeps_every_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("h5md");
    static const int64_t counts[] = {0, 1, 2, 1000, 1025};
    for (int k = 0; k < 5; k++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            const unsigned columns = k % 2 ? columns_of_a_body : KITH_MASS;
            kith_bodies *bodies = random_bodies(&numbers, counts[k], dimensions, columns);
            bodies->time = 0.1;
            assert_round_trip(bodies, "all.h5");
            kith_bodies *found = read_file(in_files("all.h5"));
            assert_true(found->time == 0.1);
            kith_bodies_free(found);
            kith_bodies_free(bodies);
        }
}

static void test_h5md_keeps_large_files_whole(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("h5md large");
    kith_bodies *bodies = random_bodies(&numbers, 100001, 3, KITH_VELOCITY | KITH_MASS);
    assert_round_trip(bodies, "large.h5md");
    kith_bodies_free(bodies);
}

static void test_h5md_keeps_the_cell(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    const double cell[9] = {4, 0, 0, 1, 5, 0, 0.5, 0.25, 6};
    assert_ok(kith_bodies_create(1, 3, 0, &bodies));
    bodies->has_cell = true;
    memcpy(bodies->cell, cell, sizeof cell);
    bodies->periodic[0] = bodies->periodic[2] = true;
    assert_ok(kith_bodies_write(bodies, in_files("cell.h5"), NULL));
    kith_bodies *found = read_file(in_files("cell.h5"));
    assert_true(found->has_cell);
    assert_memory_equal(found->cell, cell, sizeof cell);
    assert_true(found->periodic[0] && !found->periodic[1] && found->periodic[2]);
    kith_bodies_free(found);
    kith_bodies_free(bodies);
}

static void test_h5md_files_of_the_same_bodies_have_the_same_bytes(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("h5md bytes");
    kith_bodies *bodies = random_bodies(&numbers, 100, 3, columns_of_a_body);
    size_t bytes = 0, other_bytes = 0;
    assert_ok(kith_bodies_write(bodies, in_files("one.h5"), NULL));
    assert_ok(kith_bodies_write(bodies, in_files("other.h5"), NULL));
    char *one = content_of(in_files("one.h5"), &bytes);
    char *other = content_of(in_files("other.h5"), &other_bytes);
    assert_int_equal(bytes, other_bytes);
    assert_memory_equal(one, other, bytes);
    free(one);
    free(other);
    kith_bodies_free(bodies);
}

static void test_h5md_records_the_command_line(void **state)
{
    (void)state;
    const char *arguments[] = {"kith make", "it's", "-n", "3", NULL};
    const kith_write_options options = {.arguments = arguments};
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 3, 0, &bodies));
    assert_ok(kith_bodies_write(bodies, in_files("arguments.h5"), &options));
    kith_bodies_free(bodies);

    const hid_t file = H5Fopen(in_files("arguments.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/parameters/kith/command_line", H5P_DEFAULT);
    size_t bytes = 0;
    char *line = bytes_of_dataset(dataset, &bytes);
    assert_string_equal(line, "kith make 'it'\\''s' -n 3");
    free(line);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* Three frames of two bodies as another program might write them: floats, a group of another name,
 * masses as one number, regular times, a cuboid box that grows. */
static hid_t foreign(const char *path)
{
    double position[18], time = 0.5, offset = 10, mass = 2;
    const double edges[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const char *boundary[3] = {"periodic", "none", "periodic"};
    for (int k = 0; k < 18; k++)
        position[k] = k;
    const hid_t file = new_file(path);
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    put_group(file, "/h5md");
    put_group(file, "/particles/all/box");
    put_attribute(file, "/particles/all/box", "boundary", text, text, 3, boundary);
    put_doubles(file, "/particles/all/box/edges/value", H5T_IEEE_F32LE, edges, 3, 3);
    put_doubles(file, "/particles/all/position/value", H5T_IEEE_F32LE, position, 3, 2, 3);
    put_double(file, "/particles/all/position/time", time);
    put_attribute(file, "/particles/all/position/time", "offset", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                  0, &offset);
    put_double(file, "/particles/all/mass", mass);
    put_doubles(file, "/particles/all/charge/value", H5T_IEEE_F32LE, position, 3, 2);
    put_doubles(file, "/particles/all/id/value", H5T_STD_I32LE, position, 3, 2);
    H5Tclose(text);
    return file;
}

static void test_h5md_of_other_programs_is_read(void **state)
{
    (void)state;
    H5Fclose(foreign(in_files("foreign.h5")));
    for (int64_t k = 0; k < 6; k++) { /* from the end, and from the beginning */
        const int64_t frame = k % 3;
        const kith_read_options options = {.frame = k < 3 ? frame - 3 : frame + 1};
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_read(in_files("foreign.h5"), &options, &bodies));
        assert_int_equal(bodies->count, 2);
        assert_int_equal(bodies->dimensions, 3);
        assert_true(bodies->time == 10 + 0.5 * (double)frame);
        for (int i = 0; i < 6; i++)
            assert_true(bodies->position[i] == (double)(6 * frame + i));
        assert_true(bodies->mass[0] == 2 && bodies->mass[1] == 2);
        assert_true(bodies->charge[1] == (double)(2 * frame + 1));
        assert_int_equal(bodies->id[1], 2 * frame + 1);
        assert_true(bodies->has_cell && bodies->cell[4] == (double)(3 * frame + 2));
        assert_true(bodies->cell[1] == 0);
        assert_true(bodies->periodic[0] && !bodies->periodic[1] && bodies->periodic[2]);
        kith_bodies_free(bodies);
    }
}

static void assert_species(const char *path, int first, int second)
{
    int species[2] = {0};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/particles/trajectory/species", H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, species) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    assert_int_equal(species[0], first);
    assert_int_equal(species[1], second);
}

/* Reads a file, expects these names, and finds them again after a conversion to either format. */
static void assert_named(const char *path, int64_t frame, const char *first, const char *second)
{
    const kith_read_options options = {.frame = frame};
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_read(path, &options, &bodies));
    assert_non_null(bodies->name);
    assert_string_equal(bodies->name[0], first);
    assert_string_equal(bodies->name[1], second);
    static const char *const copies[] = {"species.h5", "species.xyz"};
    for (int k = 0; k < 2; k++) {
        assert_ok(kith_bodies_write(bodies, in_files(copies[k]), NULL));
        kith_bodies *found = read_file(in_files(copies[k]));
        assert_non_null(found->name);
        assert_string_equal(found->name[0], first);
        assert_string_equal(found->name[1], second);
        kith_bodies_free(found);
    }
    kith_bodies_free(bodies);
}

static void test_h5md_species_are_names(void **state)
{
    (void)state;
    char path[2 * path_bytes];
    snprintf(path, sizeof path, "%s", in_files("other.h5"));
    const int fixed[2] = {8, -3}, series[6] = {1, 2, 3, 4, 5, 6};
    hid_t file = foreign(path);
    put_data(file, "/particles/all/species", H5T_STD_U8LE, H5T_NATIVE_INT, (int[]){2, -1},
             (int[]){8, 1});
    H5Fclose(file);
    assert_named(path, 0, "8", "1");
    assert_species(in_files("species.h5"), 8, 1);

    file = foreign(path);
    put_data(file, "/particles/all/species", H5T_STD_I32BE, H5T_NATIVE_INT, (int[]){2, -1}, fixed);
    H5Fclose(file);
    assert_named(path, 0, "8", "-3");
    assert_species(in_files("species.h5"), 8, -3);

    file = foreign(path);
    put_data(file, "/particles/all/species/value", H5T_STD_I32LE, H5T_NATIVE_INT, (int[]){3, 2, -1},
             series);
    H5Fclose(file);
    assert_named(path, 2, "3", "4");
    assert_species(in_files("species.h5"), 3, 4);
}

static void test_h5md_species_of_an_enumeration_have_its_words(void **state)
{
    (void)state;
    char path[2 * path_bytes];
    snprintf(path, sizeof path, "%s", in_files("other.h5"));
    const int oxygen = 10, hydrogen = 20;
    const hid_t file = foreign(path), type = H5Tenum_create(H5T_STD_I16BE);
    int number = oxygen;
    H5Tconvert(H5T_NATIVE_INT, H5T_STD_I16BE, 1, &number, NULL, H5P_DEFAULT);
    H5Tenum_insert(type, "O", &number);
    number = hydrogen;
    H5Tconvert(H5T_NATIVE_INT, H5T_STD_I16BE, 1, &number, NULL, H5P_DEFAULT);
    H5Tenum_insert(type, "H", &number);
    const hid_t native = H5Tenum_create(H5T_NATIVE_INT);
    H5Tenum_insert(native, "O", &oxygen);
    H5Tenum_insert(native, "H", &hydrogen);
    put_data(file, "/particles/all/species", type, native, (int[]){2, -1},
             (const int[]){hydrogen, oxygen});
    H5Tclose(native);
    H5Tclose(type);
    H5Fclose(file);
    assert_named(path, 0, "H", "O");
}

/* kith numbers the species of its own files by names: without names there are no species. */
static void test_h5md_species_of_kith_make_no_names(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 3, 0, &bodies));
    assert_ok(kith_bodies_write(bodies, in_files("own.h5"), NULL));
    kith_bodies *found = read_file(in_files("own.h5"));
    assert_null(found->name);
    kith_bodies_free(found);
    assert_ok(kith_bodies_add_columns(bodies, KITH_NAME));
    set_name(bodies, 0, "Sun");
    set_name(bodies, 1, "Earth");
    assert_ok(kith_bodies_write(bodies, in_files("own.h5"), NULL));
    assert_species(in_files("own.h5"), 0, 1);
    kith_bodies_free(bodies);
}

static void test_h5md_elements_of_no_bytes_are_refused(void **state)
{
    (void)state;
    H5Fclose(foreign(in_files("sizes.h5")));
    assert_true(read_without_element_sizes(in_files("sizes.h5"), "damaged.h5") >= 5);
}

static void test_h5md_positions_fixed_in_time_are_one_frame(void **state)
{
    (void)state;
    const double position[4] = {1, 2, 3, 4}, edges[4] = {7, 1, 0, 8};
    const hid_t file = new_file(in_files("fixed.h5"));
    put_doubles(file, "/particles/lattice/position", H5T_STD_I32LE, position, 2, 2);
    put_doubles(file, "/particles/lattice/box/edges", H5T_IEEE_F64LE, edges, 2, 2);
    H5Fclose(file);
    const kith_read_options options = {.format = "h5md"};
    const double cell[9] = {7, 1, 0, 0, 8, 0, 0, 0, 1};
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_read(in_files("fixed.h5"), &options, &bodies));
    assert_int_equal(bodies->dimensions, 2);
    assert_true(bodies->position[3] == 4 && bodies->time == 0);
    assert_memory_equal(bodies->cell, cell, sizeof cell);
    kith_bodies_free(bodies);
}

static void test_h5md_frames_that_are_not_there_are_refused(void **state)
{
    (void)state;
    H5Fclose(foreign(in_files("foreign.h5")));
    static const int64_t frames[] = {4, -4};
    for (int k = 0; k < 2; k++) {
        const kith_read_options options = {.frame = frames[k]};
        kith_bodies *bodies = NULL;
        assert_fails(kith_bodies_read(in_files("foreign.h5"), &options, &bodies),
                     KITH_INVALID_ARGUMENT, "3");
        assert_null(bodies);
    }
}

/* Puts another dataset into the file of the other program, which must then be refused. */
static void assert_refused(const char *dataset, const int *sizes, const char *words)
{
    const char *path = in_files("refused.h5");
    const double numbers[36] = {0};
    const hid_t file = foreign(path);
    H5Ldelete(file, dataset, H5P_DEFAULT);
    put_data(file, dataset, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizes, numbers);
    H5Fclose(file);
    kith_bodies *bodies = NULL;
    const kith_status status = kith_bodies_read(path, NULL, &bodies);
    assert_true(status == KITH_BAD_FORMAT || status == KITH_UNSUPPORTED);
    assert_null(bodies);
    if (!has_fields(kith_error_message(), words))
        fail_msg("'%s' lacks '%s'", kith_error_message(), words);
}

static void test_h5md_shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    assert_refused("/particles/all/position/value", (int[]){3, 2, -1}, "position/value");
    assert_refused("/particles/all/position/value", (int[]){3, 2, 4, -1}, "4 components");
    assert_refused("/particles/all/position/value", (int[]){0, 2, 3, -1}, "frames");
    assert_refused("/particles/all/position/value", (int[]){3, 3, 3, -1}, "rows");
    assert_refused("/particles/all/position/time", (int[]){2, -1}, "2 times");
    assert_refused("/particles/all/mass", (int[]){3, -1}, "mass");
    assert_refused("/particles/all/charge", (int[]){2, 2, -1}, "charge");
    assert_refused("/particles/all/charge/value", (int[]){2, 2, -1}, "charge/value 2");
    assert_refused("/particles/all/box/edges/value", (int[]){3, 2, -1}, "box/edges");
    assert_refused("/particles/all/box/edges/value", (int[]){2, 3, -1}, "box/edges");
}

static void test_h5md_positions_must_be_there_and_finite(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    const double position[3] = {0, INFINITY, 0};
    hid_t file = new_file(in_files("bad.h5"));
    put_group(file, "/h5md");
    H5Fclose(file);
    assert_fails(kith_bodies_read(in_files("bad.h5"), NULL, &bodies), KITH_BAD_FORMAT,
                 "/particles");
    file = new_file(in_files("bad.h5"));
    put_group(file, "/particles/trajectory");
    H5Fclose(file);
    assert_fails(kith_bodies_read(in_files("bad.h5"), NULL, &bodies), KITH_BAD_FORMAT, "position");
    file = new_file(in_files("bad.h5"));
    put_doubles(file, "/particles/trajectory/position/value", H5T_IEEE_F64LE, position, 1, 1, 3);
    H5Fclose(file);
    assert_fails(kith_bodies_read(in_files("bad.h5"), NULL, &bodies), KITH_BAD_FORMAT, "body 0");
    assert_null(bodies);
}

static void test_h5md_groups_must_be_one_or_called_trajectory(void **state)
{
    (void)state;
    const double position[3] = {1, 2, 3};
    kith_bodies *bodies = NULL;
    const char *path = in_files("groups.h5");
    hid_t file = new_file(path);
    put_doubles(file, "/particles/a/position", H5T_IEEE_F64LE, position, 1, 3);
    put_doubles(file, "/particles/b/position", H5T_IEEE_F64LE, position, 1, 3);
    H5Fclose(file);
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, "2 groups");
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    put_doubles(file, "/particles/trajectory/position", H5T_IEEE_F64LE, position, 1, 3);
    H5Fclose(file);
    bodies = read_file(path);
    assert_int_equal(bodies->count, 1);
    kith_bodies_free(bodies);
}

static void test_h5md_files_need_no_extension(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("h5md names");
    kith_bodies *bodies = random_bodies(&numbers, 5, 3, KITH_MASS), *found = NULL;
    const kith_write_options options = {.format = "h5md"};
    assert_ok(kith_bodies_write(bodies, in_files("run"), &options));
    assert_ok(kith_bodies_read(in_files("run"), NULL, &found));
    assert_memory_equal(found->position, bodies->position, 15 * sizeof(double));
    kith_bodies_free(found);
    kith_bodies_free(bodies);
    assert_fails(kith_bodies_read(file_of_text("notes", "x,y\n1,2\n"), NULL, &found),
                 KITH_INVALID_ARGUMENT, "notes extension");
}

static void test_h5md_garbage_is_refused(void **state)
{
    (void)state;
    assert_text_refused("garbage.h5", "HDF5", "HDF5");
    assert_text_refused("empty.h5", "", "empty");
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read(in_files("nowhere.h5"), NULL, &bodies), KITH_IO_ERROR,
                 "nowhere.h5");
    assert_fails(kith_bodies_read("/dev/null", &(kith_read_options){.format = "h5md"}, &bodies),
                 KITH_IO_ERROR, "regular");
}

static void test_h5md_truncated_files_are_refused(void **state)
{
    (void)state;
    H5Fclose(foreign(in_files("whole.h5")));
    size_t bytes = 0;
    char *content = content_of(in_files("whole.h5"), &bytes);
    for (size_t kept = 0; kept < bytes; kept += 61) {
        kith_bodies *bodies = NULL;
        const char *path = file_of_bytes("cut.h5", content, kept);
        assert_int_equal(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT);
        assert_null(bodies);
    }
    free(content);
}

static void test_h5md_full_disks_and_missing_directories_are_errors(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    const kith_write_options options = {.format = "h5md"};
    assert_ok(kith_bodies_create(3, 3, 0, &bodies));
    assert_fails(kith_bodies_write(bodies, "/dev/full", &options), KITH_IO_ERROR, "No space left");
    assert_fails(kith_bodies_write(bodies, in_files("no/where.h5"), NULL), KITH_IO_ERROR,
                 "directory");
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h5md_keeps_every_bit),
        cmocka_unit_test(test_h5md_keeps_large_files_whole),
        cmocka_unit_test(test_h5md_keeps_the_cell),
        cmocka_unit_test(test_h5md_files_of_the_same_bodies_have_the_same_bytes),
        cmocka_unit_test(test_h5md_records_the_command_line),
        cmocka_unit_test(test_h5md_of_other_programs_is_read),
        cmocka_unit_test(test_h5md_species_are_names),
        cmocka_unit_test(test_h5md_species_of_an_enumeration_have_its_words),
        cmocka_unit_test(test_h5md_species_of_kith_make_no_names),
        cmocka_unit_test(test_h5md_elements_of_no_bytes_are_refused),
        cmocka_unit_test(test_h5md_positions_fixed_in_time_are_one_frame),
        cmocka_unit_test(test_h5md_frames_that_are_not_there_are_refused),
        cmocka_unit_test(test_h5md_shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(test_h5md_positions_must_be_there_and_finite),
        cmocka_unit_test(test_h5md_groups_must_be_one_or_called_trajectory),
        cmocka_unit_test(test_h5md_files_need_no_extension),
        cmocka_unit_test(test_h5md_garbage_is_refused),
        cmocka_unit_test(test_h5md_truncated_files_are_refused),
        cmocka_unit_test(test_h5md_full_disks_and_missing_directories_are_errors),
    };
    return cmocka_run_group_tests_name("h5md", tests, make_files_directory, remove_files_directory);
}
