/* HDF5 can keep data in other files and link to them: kith reads no file but the one it was given.
 */
#include "running.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { secret_bytes = 24 * 9 };

/* A file whose bytes must not come out of a reader. */
static const char *secret(void)
{
    char text[secret_bytes];
    memset(text, '@', sizeof text);
    return file_of_bytes("secret", text, sizeof text);
}

/* Replaces a dataset by one of the same type and shape, with its data elsewhere. */
static void store_outside(const char *path, const char *name, bool is_virtual,
                          const char *elsewhere)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t old = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(old >= 0);
    const hid_t type = H5Dget_type(old), space = H5Dget_space(old);
    const hid_t fixed = H5Scopy(space), properties = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t size[4] = {0};
    const int rank = H5Sget_simple_extent_dims(space, size, NULL);
    if (rank > 0)
        H5Sset_extent_simple(fixed, rank, size, NULL);
    if (is_virtual)
        assert_true(H5Pset_virtual(properties, fixed, elsewhere, name, fixed) >= 0);
    else
        assert_true(H5Pset_external(properties, elsewhere, 0, H5F_UNLIMITED) >= 0);
    H5Dclose(old);
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t made = H5Dcreate2(file, name, type, fixed, H5P_DEFAULT, properties, H5P_DEFAULT);
    assert_true(made >= 0);
    H5Dclose(made);
    H5Pclose(properties);
    H5Sclose(fixed);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
}

static void link_outside(const char *path, const char *name, const char *elsewhere,
                         const char *target)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (H5Lexists(file, name, H5P_DEFAULT) > 0)
        H5Ldelete(file, name, H5P_DEFAULT);
    assert_true(H5Lcreate_external(elsewhere, target, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

static kith_bodies *named_bodies(void)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(3, 3,
                                 KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING |
                                     KITH_RADIUS | KITH_ID | KITH_NAME,
                                 &bodies));
    for (int64_t i = 0; i < 3; i++) {
        bodies->position[3 * i] = (double)i;
        bodies->mass[i] = 1;
        set_name(bodies, i, i == 0 ? "halo" : "stars");
    }
    bodies->has_cell = true;
    for (int k = 0; k < 3; k++)
        bodies->cell[4 * k] = 8;
    return bodies;
}

static void make_file(const char *path)
{
    kith_bodies *bodies = named_bodies();
    assert_ok(kith_bodies_write(bodies, path, NULL));
    kith_bodies_free(bodies);
}

static void assert_read_refused(const char *path)
{
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_UNSUPPORTED, path);
    assert_null(bodies);
}

static const char *const h5md_datasets[] = {
    "/particles/trajectory/position/value",  "/particles/trajectory/position/time",
    "/particles/trajectory/velocity/value",  "/particles/trajectory/mass",
    "/particles/trajectory/charge",          "/particles/trajectory/softening",
    "/particles/trajectory/original_id",     "/particles/trajectory/name",
    "/particles/trajectory/box/edges/value", "/parameters/kith/dimensions"};
static const char *const gadget_datasets[] = {"/PartType1/Coordinates", "/PartType1/Velocities",
                                              "/PartType1/Masses", "/PartType4/ParticleIDs"};

static void test_h5md_data_of_another_file_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof h5md_datasets / sizeof h5md_datasets[0]; k++)
        for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
            make_file(in_files("out.h5"));
            make_file(in_files("source.h5"));
            store_outside(in_files("out.h5"), h5md_datasets[k], is_virtual,
                          is_virtual ? in_files("source.h5") : secret());
            assert_read_refused(in_files("out.h5"));
        }
}

static void test_gadget_data_of_another_file_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof gadget_datasets / sizeof gadget_datasets[0]; k++)
        for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
            make_file(in_files("out.hdf5"));
            make_file(in_files("source.hdf5"));
            store_outside(in_files("out.hdf5"), gadget_datasets[k], is_virtual,
                          is_virtual ? in_files("source.hdf5") : secret());
            assert_read_refused(in_files("out.hdf5"));
        }
}

/* Of a file that is not kith's own the species are names. */
static void test_h5md_species_of_another_file_are_refused(void **state)
{
    (void)state;
    make_file(in_files("out.h5"));
    const hid_t file = H5Fopen(in_files("out.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/particles/trajectory/name", H5P_DEFAULT);
    H5Ldelete(file, "/parameters", H5P_DEFAULT);
    H5Fclose(file);
    store_outside(in_files("out.h5"), "/particles/trajectory/species", false, secret());
    assert_read_refused(in_files("out.h5"));
}

static void test_links_to_another_file_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *file, *link, *target;
    } links[] = {
        {"out.h5", "/particles", "/particles"},
        {"out.h5", "/particles/trajectory", "/particles/trajectory"},
        {"out.h5", "/particles/trajectory/mass", "/particles/trajectory/mass"},
        {"out.h5", "/particles/trajectory/position/value", "/particles/trajectory/position/value"},
        {"out.hdf5", "/PartType1", "/PartType1"},
        {"out.hdf5", "/PartType4/Masses", "/PartType4/Masses"}};
    for (size_t k = 0; k < sizeof links / sizeof links[0]; k++) {
        const char *source = strstr(links[k].file, "hdf5") ? "source.hdf5" : "source.h5";
        make_file(in_files(links[k].file));
        make_file(in_files(source));
        link_outside(in_files(links[k].file), links[k].link, in_files(source), links[k].target);
        assert_read_refused(in_files(links[k].file));
    }
}

/* A soft link may lead through an external one. */
static void test_a_soft_link_out_of_the_file_is_refused(void **state)
{
    (void)state;
    make_file(in_files("out.h5"));
    make_file(in_files("source.h5"));
    link_outside(in_files("out.h5"), "/away", in_files("source.h5"), "/particles/trajectory");
    const hid_t file = H5Fopen(in_files("out.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/particles/trajectory/mass", H5P_DEFAULT);
    assert_true(H5Lcreate_soft("/away/mass", file, "/particles/trajectory/mass", H5P_DEFAULT,
                               H5P_DEFAULT) >= 0);
    H5Fclose(file);
    assert_read_refused(in_files("out.h5"));
}

static void test_a_soft_link_in_the_file_is_followed(void **state)
{
    (void)state;
    make_file(in_files("in.h5"));
    const hid_t file = H5Fopen(in_files("in.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(
        H5Lmove(file, "/particles/trajectory/mass", file, "/mass", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(
        H5Lcreate_soft("/mass", file, "/particles/trajectory/mass", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    kith_bodies *bodies = read_file(in_files("in.h5")), *expected = named_bodies();
    assert_same_bodies(bodies, expected);
    kith_bodies_free(bodies);
    kith_bodies_free(expected);
}

/* Whoever opens a pipe that nobody writes to waits forever. */
static void test_no_other_file_is_opened(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_files("pipe"), 0600), 0);
    make_file(in_files("out.h5"));
    link_outside(in_files("out.h5"), "/particles", in_files("pipe"), "/");
    alarm(20);
    assert_read_refused(in_files("out.h5"));
    make_file(in_files("out.h5"));
    store_outside(in_files("out.h5"), "/particles/trajectory/mass", true, in_files("pipe"));
    assert_read_refused(in_files("out.h5"));
    make_file(in_files("out.h5"));
    store_outside(in_files("out.h5"), "/particles/trajectory/name", true, in_files("pipe"));
    assert_read_refused(in_files("out.h5"));
    alarm(0);
}

/* A group in itself, with the count of links that a group of one link has. */
static void test_a_group_that_contains_itself_is_an_end(void **state)
{
    (void)state;
    static const char *const inside[] = {"/particles/again", "/particles/trajectory/box/again"};
    for (int k = 0; k < 2; k++) {
        make_file(in_files("cycle.h5"));
        const hid_t file = H5Fopen(in_files("cycle.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Lcreate_hard(file, "/particles", file, inside[k], H5P_DEFAULT, H5P_DEFAULT) >=
                    0);
        const hid_t group = H5Oopen(file, "/particles", H5P_DEFAULT);
        assert_true(H5Odecr_refcount(group) >= 0);
        H5Oclose(group);
        H5Fclose(file);
        kith_bodies *bodies = read_file(in_files("cycle.h5"));
        assert_int_equal(bodies->count, 3);
        kith_bodies_free(bodies);
    }
}

static void make_run(void)
{
    kith_bodies *bodies = lagrange_bodies();
    kith_run_options options = run_options(0.125, 1, 1, in_files("run.h5"));
    options.units[0] = "length of six bytes and more";
    options.units[1] = "T";
    run(options, bodies);
    kith_bodies_free(bodies);
}

static void test_run_observables_and_units_of_another_file_are_refused(void **state)
{
    (void)state;
    kith_trajectory *trajectory = NULL;
    double *values = NULL;
    int64_t components = 0;
    kith_name unit;
    make_run();
    store_outside(in_files("run.h5"), "/observables/total_energy/value", false, secret());
    store_outside(in_files("run.h5"), "/parameters/kith/units/length", false, secret());
    assert_ok(kith_trajectory_open(in_files("run.h5"), &trajectory));
    assert_fails(kith_trajectory_observable(trajectory, "total_energy", &components, &values, NULL),
                 KITH_UNSUPPORTED, "total_energy");
    kith_trajectory_unit(trajectory, "length", unit);
    assert_string_equal(unit, "");
    kith_trajectory_unit(trajectory, "time", unit);
    assert_string_equal(unit, "T");
    kith_trajectory_close(trajectory);
}

/* To resume would read, and write, what is outside. */
static void test_runs_with_data_of_another_file_are_not_resumed(void **state)
{
    (void)state;
    static const char *const names[] = {"/particles/trajectory/position/value",
                                        "/particles/trajectory/velocity/value",
                                        "/particles/trajectory/position/step",
                                        "/particles/trajectory/position/time",
                                        "/observables/momentum/value",
                                        "/parameters/kith/integrator",
                                        "/parameters/kith/dt",
                                        "/parameters/kith/checkpoint/state"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        make_run();
        const char *outside = secret();
        store_outside(in_files("run.h5"), names[k], false, outside);
        size_t before_bytes = 0, after_bytes = 0;
        char *before = content_of(outside, &before_bytes);
        kith_run_options options = run_options(0.125, 2, 1, in_files("run.h5"));
        options.resume = true;
        kith_context *context = cpu_context(1);
        kith_run_summary summary;
        assert_int_equal(kith_run(context, &options, NULL, &summary), KITH_UNSUPPORTED);
        kith_context_free(context);
        char *after = content_of(outside, &after_bytes);
        assert_int_equal(after_bytes, before_bytes);
        assert_memory_equal(after, before, before_bytes);
        free(before);
        free(after);
    }
    make_run();
    link_outside(in_files("run.h5"), "/observables", in_files("source.h5"), "/observables");
    kith_run_options options = run_options(0.125, 2, 1, in_files("run.h5"));
    options.resume = true;
    run_fails(options, NULL, KITH_UNSUPPORTED, "run.h5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h5md_data_of_another_file_are_refused),
        cmocka_unit_test(test_gadget_data_of_another_file_are_refused),
        cmocka_unit_test(test_h5md_species_of_another_file_are_refused),
        cmocka_unit_test(test_links_to_another_file_are_refused),
        cmocka_unit_test(test_a_soft_link_out_of_the_file_is_refused),
        cmocka_unit_test(test_a_soft_link_in_the_file_is_followed),
        cmocka_unit_test(test_no_other_file_is_opened),
        cmocka_unit_test(test_a_group_that_contains_itself_is_an_end),
        cmocka_unit_test(test_run_observables_and_units_of_another_file_are_refused),
        cmocka_unit_test(test_runs_with_data_of_another_file_are_not_resumed),
    };
    return cmocka_run_group_tests_name("outside", tests, make_files_directory,
                                       remove_files_directory);
}
