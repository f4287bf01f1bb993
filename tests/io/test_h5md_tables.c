/* Tables of columns as HDF5 files (kith pairs -o p.h5): a dataset per column, of its own type. */

#include "testing.h"

#include "testing_files.h"

#include "testing_hdf5.h"

static void assert_column(hid_t file, const char *name, hid_t stored, hid_t type, hsize_t rows,
                          void *values)
{
    hsize_t size = 0;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    const hid_t found = H5Dget_type(dataset), space = H5Dget_space(dataset);
    assert_true(H5Tequal(found, stored) > 0);
    assert_int_equal(H5Sget_simple_extent_ndims(space), 1);
    H5Sget_simple_extent_dims(space, &size, NULL);
    assert_int_equal(size, rows);
    if (rows > 0)
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Tclose(found);
    H5Dclose(dataset);
}

static void test_columns_keep_their_names_types_and_strides(void **state)
{
    (void)state;
    int64_t large[] = {INT64_MIN, 0, (1LL << 53) + 1}, whole[3];
    int32_t small[] = {1, 99, -2, 99, 3, 99};
    double distance[] = {0.1, -0.0, 1e-310}, real[3];
    kith_array every_second = kith_array_vector(small, KITH_I32, 3);
    every_second.strides[0] = 2;
    const kith_table_column columns[] = {{"i", kith_array_vector(large, KITH_I64, 3)},
                                         {"j", every_second},
                                         {"distance", kith_array_vector(distance, KITH_F64, 3)}};
    for (hsize_t rows = 0; rows <= 3; rows += 3) {
        kith_table_column some[3];
        memcpy(some, columns, sizeof some);
        for (int k = 0; k < 3; k++)
            some[k].values.shape[0] = (int64_t)rows;
        assert_ok(kith_table_write_records(in_files("table.h5"), NULL, 3, some));
        const hid_t file = H5Fopen(in_files("table.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_column(file, "i", H5T_STD_I64LE, H5T_NATIVE_INT64, rows, whole);
        for (hsize_t k = 0; k < rows; k++)
            assert_int_equal(whole[k], large[k]);
        assert_column(file, "j", H5T_STD_I64LE, H5T_NATIVE_INT64, rows, whole);
        for (hsize_t k = 0; k < rows; k++)
            assert_int_equal(whole[k], small[2 * k]);
        assert_column(file, "distance", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rows, real);
        assert_memory_equal(real, distance, rows * sizeof *real);
        H5Fclose(file);
    }
}

static void test_tables_in_other_places_and_formats_are_refused(void **state)
{
    (void)state;
    double values[] = {1, 2};
    const kith_table_column column = {"x", kith_array_vector(values, KITH_F64, 2)};
    assert_fails(kith_table_write_records(in_files("table.xyz"), NULL, 1, &column),
                 KITH_INVALID_ARGUMENT, "xyz .h5");
    assert_fails(kith_table_write_records(in_files("table.h5"), NULL, 0, &column),
                 KITH_INVALID_ARGUMENT, "0");
    const kith_table_column uneven[] = {column, {"y", kith_array_vector(values, KITH_F64, 1)}};
    assert_fails(kith_table_write_records(in_files("table.h5"), NULL, 2, uneven),
                 KITH_INVALID_ARGUMENT, "x 2 1");
    assert_fails(kith_table_write_records("/nowhere/table.h5", NULL, 1, &column), KITH_IO_ERROR,
                 "/nowhere/table.h5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_keep_their_names_types_and_strides),
        cmocka_unit_test(test_tables_in_other_places_and_formats_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
