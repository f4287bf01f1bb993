#include "testing.h"

#include "testing_files.h"

#include "streaming.h"
#include "testing_hdf5.h"

static kith_bodies *random_particles(struct random_numbers *numbers, int64_t count)
{
    kith_bodies *bodies =
        random_bodies(numbers, count, 3, KITH_VELOCITY | KITH_MASS | KITH_ID | KITH_NAME);
    for (int64_t i = 0; i < count; i++) {
        bodies->id[i] &= INT64_MAX;
        snprintf(bodies->name[i], KITH_NAME_BYTES, i < count / 2 ? "halo" : "stars");
    }
    return bodies;
}

static void test_gadget_keeps_every_bit_of_types_in_order(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("gadget");
    static const int64_t counts[] = {2, 1000, 1025};
    for (int k = 0; k < 3; k++) {
        kith_bodies *bodies = random_particles(&numbers, counts[k]);
        bodies->time = 1.5;
        assert_round_trip(bodies, "all.hdf5");
        kith_bodies *found = read_file(in_files("all.hdf5"));
        assert_true(found->time == 1.5);
        assert_false(found->has_cell);
        kith_bodies_free(found);
        kith_bodies_free(bodies);
    }
}

static void test_gadget_takes_no_bodies(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(0, 3, 0, &bodies));
    assert_ok(kith_bodies_write(bodies, in_files("none.hdf5"), NULL));
    kith_bodies *found = read_file(in_files("none.hdf5"));
    assert_int_equal(found->count, 0);
    kith_bodies_free(found);
    kith_bodies_free(bodies);
}

static void test_gadget_sorts_bodies_by_type(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(3, 2, KITH_NAME | KITH_ID, &bodies));
    strcpy(bodies->name[0], "stars");
    strcpy(bodies->name[1], "Pluto");
    strcpy(bodies->name[2], "gas");
    for (int64_t i = 0; i < 3; i++) {
        bodies->id[i] = i;
        bodies->position[2 * i + 1] = (double)i;
    }
    unsigned dropped = 0;
    assert_ok(kith_format_drops(bodies, in_files("sorted.hdf5"), NULL, &dropped));
    assert_int_equal(dropped, KITH_NAME);
    assert_ok(kith_bodies_write(bodies, in_files("sorted.hdf5"), NULL));
    kith_bodies *found = read_file(in_files("sorted.hdf5"));
    static const int64_t order[] = {2, 1, 0};
    static const char *const names[] = {"gas", "halo", "stars"};
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(found->id[i], order[i]);
        assert_string_equal(found->name[i], names[i]);
        assert_true(found->position[3 * i + 1] == (double)order[i]);
        assert_true(found->position[3 * i + 2] == 0 && found->mass[i] == 1);
    }
    kith_bodies_free(found);
    kith_bodies_free(bodies);
}

/* A snapshot as Gadget writes it: floats, 32-bit ids, two disk bodies with masses in the table and
 * a star with its own. */
static hid_t snapshot(const char *path)
{
    const int count[6] = {0, 0, 2, 0, 1, 0};
    const double mass[6] = {0, 0, 0.25, 0, 0, 0}, time = 0.125, box = 100;
    const double disk[6] = {1, 2, 3, 4, 5, 6}, star[3] = {7, 8, 9}, star_mass = 3;
    const int32_t ids[2] = {11, 12}, star_id = 13;
    const hid_t file = new_file(path);
    put_group(file, "/Header");
    put_attribute(file, "/Header", "NumPart_ThisFile", H5T_STD_I32LE, H5T_NATIVE_INT, 6, count);
    put_attribute(file, "/Header", "MassTable", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 6, mass);
    put_attribute(file, "/Header", "Time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &time);
    put_attribute(file, "/Header", "BoxSize", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &box);
    put_doubles(file, "/PartType2/Coordinates", H5T_IEEE_F32LE, disk, 2, 3);
    put_doubles(file, "/PartType2/Velocities", H5T_IEEE_F32LE, disk, 2, 3);
    put_data(file, "/PartType2/ParticleIDs", H5T_STD_U32LE, H5T_NATIVE_INT32, (int[]){2, -1}, ids);
    put_doubles(file, "/PartType4/Coordinates", H5T_IEEE_F32LE, star, 1, 3);
    put_doubles(file, "/PartType4/Velocities", H5T_IEEE_F32LE, star, 1, 3);
    put_data(file, "/PartType4/ParticleIDs", H5T_STD_U32LE, H5T_NATIVE_INT32, (int[]){1, -1},
             &star_id);
    put_doubles(file, "/PartType4/Masses", H5T_IEEE_F32LE, &star_mass, 1);
    return file;
}

static void test_gadget_reads_a_snapshot_with_a_mass_table(void **state)
{
    (void)state;
    H5Fclose(snapshot(in_files("snapshot.hdf5")));
    kith_bodies *bodies = read_file(in_files("snapshot.hdf5"));
    assert_int_equal(bodies->count, 3);
    assert_true(bodies->time == 0.125);
    for (int k = 0; k < 9; k++)
        assert_true(bodies->position[k] == k + 1 && bodies->velocity[k] == k + 1);
    static const double masses[] = {0.25, 0.25, 3};
    for (int64_t i = 0; i < 3; i++) {
        assert_true(bodies->mass[i] == masses[i]);
        assert_int_equal(bodies->id[i], 11 + i);
        assert_string_equal(bodies->name[i], i < 2 ? "disk" : "stars");
    }
    kith_bodies_free(bodies);
}

static void assert_refused(const char *path, kith_status expected, const char *words)
{
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read(path, NULL, &bodies), expected, words);
    assert_null(bodies);
    assert_non_null(strstr(kith_error_message(), path));
}

static void assert_header_refused(const char *attribute, hid_t type, int count, const void *numbers,
                                  kith_status expected, const char *words)
{
    const char *path = in_files("header.hdf5");
    const hid_t file = snapshot(path);
    put_attribute(file, "/Header", attribute, type, type, count, numbers);
    H5Fclose(file);
    assert_refused(path, expected, words);
}

static void test_gadget_headers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const int more[6] = {0, 0, 3, 0, 1, 0}, others[6] = {1, 0, 2, 0, 1, 0};
    const int negative[6] = {0, -1, 2, 0, 1, 0}, files = 2;
    const int64_t huge[6] = {0, INT64_MAX / 2, INT64_MAX / 2, 0, INT64_MAX / 2, 0};
    const double no_masses[6] = {0};
    const char *counts = "NumPart_ThisFile";
    assert_header_refused(counts, H5T_NATIVE_INT, 6, more, KITH_BAD_FORMAT,
                          "PartType2/Coordinates 3");
    assert_header_refused(counts, H5T_NATIVE_INT, 6, others, KITH_BAD_FORMAT,
                          "PartType0/Coordinates");
    assert_header_refused(counts, H5T_NATIVE_INT, 6, negative, KITH_BAD_FORMAT, "PartType1 -1");
    assert_header_refused(counts, H5T_NATIVE_INT64, 6, huge, KITH_BAD_FORMAT, "");
    assert_header_refused("MassTable", H5T_NATIVE_DOUBLE, 6, no_masses, KITH_BAD_FORMAT,
                          "PartType2");
    assert_header_refused("NumFilesPerSnapshot", H5T_NATIVE_INT, 0, &files, KITH_UNSUPPORTED, "2");
    assert_header_refused("BoxSize", H5T_NATIVE_DOUBLE, 2, no_masses, KITH_BAD_FORMAT, "BoxSize");
}

static void assert_cell(const char *path, const double *edges)
{
    kith_bodies *bodies = read_file(path);
    assert_int_equal(bodies->has_cell, edges != NULL);
    for (int k = 0; edges && k < 9; k++) {
        assert_true(bodies->cell[k] == (k % 4 == 0 ? edges[k / 4] : 0));
        assert_true(bodies->periodic[k / 3]);
    }
    kith_bodies_free(bodies);
}

static void test_gadget_box_is_a_periodic_cell(void **state)
{
    (void)state;
    const double cube[3] = {100, 100, 100}, cuboid[3] = {1, 2, 3}, open[1] = {0};
    H5Fclose(snapshot(in_files("box.hdf5")));
    assert_cell(in_files("box.hdf5"), cube);
    hid_t file = snapshot(in_files("box.hdf5"));
    put_attribute(file, "/Header", "BoxSize", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, cuboid);
    H5Fclose(file);
    assert_cell(in_files("box.hdf5"), cuboid);
    file = snapshot(in_files("box.hdf5"));
    put_attribute(file, "/Header", "BoxSize", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, open);
    H5Fclose(file);
    assert_cell(in_files("box.hdf5"), NULL);
}

static void test_gadget_keeps_a_periodic_cube_alone(void **state)
{
    (void)state;
    const double cube[3] = {4, 4, 4};
    kith_bodies *bodies = NULL;
    unsigned dropped = 0;
    assert_ok(kith_bodies_create(2, 3, 0, &bodies));
    bodies->has_cell = true;
    for (int k = 0; k < 3; k++) {
        bodies->cell[4 * k] = 4;
        bodies->periodic[k] = true;
    }
    assert_ok(kith_format_drops(bodies, "cube.hdf5", NULL, &dropped));
    assert_int_equal(dropped, 0);
    assert_ok(kith_bodies_write(bodies, in_files("cube.hdf5"), NULL));
    assert_cell(in_files("cube.hdf5"), cube);
    bodies->cell[4] = 5;
    assert_ok(kith_format_drops(bodies, "cube.hdf5", NULL, &dropped));
    assert_int_equal(dropped, KITH_CELL);
    assert_ok(kith_bodies_write(bodies, in_files("cube.hdf5"), NULL));
    assert_cell(in_files("cube.hdf5"), NULL);
    kith_bodies_free(bodies);
}

/* A snapshot of three files: the halo lies in the first and the last, the stars in two. */
static void put_parts(const char *base, const char *extension)
{
    static const int halo[3] = {2, 0, 1}, stars[3] = {0, 2, 1};
    const int files = 3, total[6] = {0, 3, 0, 0, 3, 0};
    double number = 0;
    for (int k = 0; k < files; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%d%s", base, k, extension);
        const hid_t file = new_file(in_files(name));
        const int count[6] = {0, halo[k], 0, 0, stars[k], 0};
        const double box = 10;
        put_group(file, "/Header");
        put_attribute(file, "/Header", "NumPart_ThisFile", H5T_STD_I32LE, H5T_NATIVE_INT, 6, count);
        put_attribute(file, "/Header", "NumPart_Total", H5T_STD_U32LE, H5T_NATIVE_INT, 6, total);
        put_attribute(file, "/Header", "NumFilesPerSnapshot", H5T_STD_I32LE, H5T_NATIVE_INT, 0,
                      &files);
        put_attribute(file, "/Header", "BoxSize", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &box);
        for (int type = 1; type <= 4; type += 3) {
            double rows[6], ones[2] = {1, 1};
            char path[64];
            for (int i = 0; i < 3 * count[type]; i++)
                rows[i] = number++;
            snprintf(path, sizeof path, "/PartType%d/Coordinates", type);
            if (count[type] > 0)
                put_doubles(file, path, H5T_IEEE_F64LE, rows, count[type], 3);
            snprintf(path, sizeof path, "/PartType%d/Masses", type);
            if (count[type] > 0)
                put_doubles(file, path, H5T_IEEE_F64LE, ones, count[type]);
        }
        H5Fclose(file);
    }
}

/* Of each type the bodies of the first file, then those of the second, … */
static void assert_all_parts(const char *path)
{
    static const double first_x[] = {0, 3, 12, 6, 9, 15};
    kith_bodies *bodies = read_file(path);
    assert_int_equal(bodies->count, 6);
    assert_true(bodies->has_cell && bodies->cell[0] == 10);
    for (int64_t i = 0; i < 6; i++) {
        assert_true(bodies->position[3 * i] == first_x[i]);
        assert_string_equal(bodies->name[i], i < 3 ? "halo" : "stars");
    }
    kith_bodies_free(bodies);
}

static void test_gadget_reads_a_snapshot_of_several_files(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("parts");
    put_parts("snap_005", ".hdf5");
    assert_all_parts(in_files("snap_005.0.hdf5"));
    assert_all_parts(in_files("snap_005.2.hdf5"));
    assert_all_parts(in_files("snap_005"));
    assert_all_parts(in_files("snap_005.hdf5"));
    put_parts("other", ".h5");
    assert_all_parts(in_files("other.1.h5"));
    assert_all_parts(in_files("other"));
    check_rows_of_file(&numbers, in_files("other"));
    check_rows_of_file(&numbers, in_files("snap_005.2.hdf5"));
}

/* Chunks of 2.4 MB stored by a filter: more than HDF5 keeps in memory by default. */
static void test_gadget_rows_of_large_chunks_are_those_of_a_reading_at_once(void **state)
{
    (void)state;
    enum { count = 150000 };
    const hsize_t chunk[] = {100000, 3}, sizes[] = {count, 3};
    const int counts[6] = {0, count, 0, 0, 0, 0};
    struct random_numbers numbers = random_numbers_begin("large chunks");
    double *x = malloc(3 * count * sizeof *x), *masses = malloc(count * sizeof *masses);
    for (int i = 0; i < 3 * count; i++)
        x[i] = i % 100;
    for (int i = 0; i < count; i++)
        masses[i] = i;
    const hid_t file = new_file(in_files("large.hdf5"));
    put_group(file, "/Header");
    put_attribute(file, "/Header", "NumPart_ThisFile", H5T_STD_I32LE, H5T_NATIVE_INT, 6, counts);
    put_doubles(file, "/PartType1/Masses", H5T_IEEE_F64LE, masses, count);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(2, sizes, NULL);
    H5Pset_chunk(properties, 2, chunk);
    H5Pset_shuffle(properties);
    const hid_t dataset = H5Dcreate2(file, "/PartType1/Coordinates", H5T_IEEE_F64LE, space,
                                     H5P_DEFAULT, properties, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Pclose(properties);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    check_rows_of_file(&numbers, in_files("large.hdf5"));
    kith_bodies *bodies = read_file(in_files("large.hdf5"));
    assert_memory_equal(bodies->position, x, 3 * count * sizeof *x);
    kith_bodies_free(bodies);
    free(x);
    free(masses);
}

/* A number that is not finite, and a file of the snapshot that is cut, in later rows. */
static void test_gadget_faults_of_later_rows_end_the_reading_there(void **state)
{
    (void)state;
    struct bodies_stream stream;
    kith_bodies *rows = NULL;
    const double bad[6] = {1, 2, 3, 4, NAN, 6};
    put_parts("late", ".hdf5");
    const hid_t file = H5Fopen(in_files("late.1.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/PartType4/Coordinates", H5P_DEFAULT);
    put_doubles(file, "/PartType4/Coordinates", H5T_IEEE_F64LE, bad, 2, 3);
    H5Fclose(file);
    assert_ok(kith_bodies_create(3, 3, KITH_VELOCITY | KITH_MASS | KITH_NAME, &rows));
    assert_ok(bodies_stream_open(in_files("late"), NULL, &stream));
    assert_ok(bodies_stream_next(&stream, rows));
    assert_fails(bodies_stream_next(&stream, rows), KITH_BAD_FORMAT, "body 4 ");
    bodies_stream_close(&stream);
    assert_ok(bodies_stream_open(in_files("late"), NULL, &stream));
    file_of_text("late.1.hdf5", "cut");
    assert_ok(bodies_stream_next(&stream, rows));
    assert_fails(bodies_stream_next(&stream, rows), KITH_BAD_FORMAT, "late.1.hdf5");
    bodies_stream_close(&stream);
    kith_bodies_free(rows);
}

static void test_gadget_names_the_file_that_is_wrong(void **state)
{
    (void)state;
    const int total[6] = {0, 3, 0, 0, 4, 0}, files = 2;
    const double time = 3;
    put_parts("bad", ".hdf5");
    remove(in_files("bad.1.hdf5"));
    assert_refused(in_files("bad.2.hdf5"), KITH_IO_ERROR, "bad.1.hdf5");
    put_parts("bad", ".hdf5");
    file_of_text("bad.2.hdf5", "not HDF5");
    assert_refused(in_files("bad.0.hdf5"), KITH_BAD_FORMAT, "bad.2.hdf5");
    put_parts("bad", ".hdf5");
    hid_t file = H5Fopen(in_files("bad.1.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
    put_attribute(file, "/Header", "Time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &time);
    H5Fclose(file);
    assert_refused(in_files("bad.0.hdf5"), KITH_BAD_FORMAT, "bad.1.hdf5");
    put_parts("bad", ".hdf5");
    file = H5Fopen(in_files("bad.1.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
    put_attribute(file, "/Header", "NumFilesPerSnapshot", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &files);
    H5Fclose(file);
    assert_refused(in_files("bad.0.hdf5"), KITH_BAD_FORMAT, "bad.1.hdf5");
    assert_refused(in_files("bad.2.hdf5"), KITH_BAD_FORMAT, "bad.1.hdf5");
    put_parts("bad", ".hdf5");
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "bad.%d.hdf5", k);
        file = H5Fopen(in_files(name), H5F_ACC_RDWR, H5P_DEFAULT);
        put_attribute(file, "/Header", "NumPart_Total", H5T_STD_U32LE, H5T_NATIVE_INT, 6, total);
        H5Fclose(file);
    }
    assert_refused(in_files("bad.0.hdf5"), KITH_BAD_FORMAT, "NumPart_Total says 4");
    assert_int_equal(rename(in_files("bad.0.hdf5"), in_files("alone.hdf5")), 0);
    assert_refused(in_files("alone.hdf5"), KITH_UNSUPPORTED, "3");
}

static void test_gadget_elements_of_no_bytes_are_refused(void **state)
{
    (void)state;
    H5Fclose(snapshot(in_files("sizes.hdf5")));
    assert_true(read_without_element_sizes(in_files("sizes.hdf5"), "damaged.hdf5") >= 8);
}

/* Replaces a dataset of the snapshot and expects it to be refused. */
static void assert_dataset_refused(const char *dataset, const double *numbers, const int *sizes,
                                   const char *words)
{
    const char *path = in_files("dataset.hdf5");
    const hid_t file = snapshot(path);
    H5Ldelete(file, dataset, H5P_DEFAULT);
    put_data(file, dataset, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizes, numbers);
    H5Fclose(file);
    assert_refused(path, KITH_BAD_FORMAT, words);
}

static void test_gadget_datasets_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const double numbers[8] = {1, 2, NAN, 4, 5, 6, 7, 8};
    assert_dataset_refused("/PartType2/Velocities", numbers, (int[]){3, 2, -1}, "Velocities");
    assert_dataset_refused("/PartType2/Velocities", numbers, (int[]){1, 3, -1}, "1 rows");
    assert_dataset_refused("/PartType2/Coordinates", numbers, (int[]){6, -1}, "Coordinates");
    assert_dataset_refused("/PartType4/Masses", numbers, (int[]){1, 1, -1}, "Masses");
    assert_dataset_refused("/PartType2/Coordinates", numbers, (int[]){2, 3, -1}, "body 0");
    assert_dataset_refused("/PartType2/Coordinates", NULL, (int[]){2, 3, -1}, "data");
}

static void test_gadget_ids_beyond_63_bits_are_refused(void **state)
{
    (void)state;
    const uint64_t ids[2] = {1, UINT64_MAX};
    const char *path = in_files("ids.hdf5");
    const hid_t file = snapshot(path);
    H5Ldelete(file, "/PartType2/ParticleIDs", H5P_DEFAULT);
    put_data(file, "/PartType2/ParticleIDs", H5T_STD_U64LE, H5T_NATIVE_UINT64, (int[]){2, -1}, ids);
    H5Fclose(file);
    assert_refused(path, KITH_UNSUPPORTED, "2^63");
}

static void test_gadget_garbage_is_refused(void **state)
{
    (void)state;
    assert_text_refused("garbage.hdf5", "HDF5", "HDF5");
    assert_text_refused("empty.hdf5", "", "empty");
    H5Fclose(new_file(in_files("hollow.hdf5")));
    assert_refused(in_files("hollow.hdf5"), KITH_BAD_FORMAT, "/Header");
}

/* A file cut anywhere is refused or, if only padding was lost, read as it was. */
static void test_gadget_truncated_files_are_refused(void **state)
{
    (void)state;
    H5Fclose(snapshot(in_files("whole.hdf5")));
    size_t bytes = 0;
    char *content = content_of(in_files("whole.hdf5"), &bytes);
    for (size_t kept = 0; kept < bytes; kept += 37) {
        kith_bodies *bodies = NULL;
        const char *path = file_of_bytes("cut.hdf5", content, kept);
        assert_int_equal(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT);
        assert_null(bodies);
    }
    free(content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gadget_keeps_every_bit_of_types_in_order),
        cmocka_unit_test(test_gadget_takes_no_bodies),
        cmocka_unit_test(test_gadget_sorts_bodies_by_type),
        cmocka_unit_test(test_gadget_reads_a_snapshot_with_a_mass_table),
        cmocka_unit_test(test_gadget_headers_that_do_not_fit_are_refused),
        cmocka_unit_test(test_gadget_box_is_a_periodic_cell),
        cmocka_unit_test(test_gadget_keeps_a_periodic_cube_alone),
        cmocka_unit_test(test_gadget_reads_a_snapshot_of_several_files),
        cmocka_unit_test(test_gadget_rows_of_large_chunks_are_those_of_a_reading_at_once),
        cmocka_unit_test(test_gadget_faults_of_later_rows_end_the_reading_there),
        cmocka_unit_test(test_gadget_names_the_file_that_is_wrong),
        cmocka_unit_test(test_gadget_elements_of_no_bytes_are_refused),
        cmocka_unit_test(test_gadget_datasets_that_do_not_fit_are_refused),
        cmocka_unit_test(test_gadget_ids_beyond_63_bits_are_refused),
        cmocka_unit_test(test_gadget_garbage_is_refused),
        cmocka_unit_test(test_gadget_truncated_files_are_refused),
    };
    return cmocka_run_group_tests_name("gadget", tests, make_files_directory,
                                       remove_files_directory);
}
