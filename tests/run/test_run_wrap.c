/* Runs with frames that are wrapped into the periodic cell: positions within it, and images. */

#include "testing.h"

#include "random_numbers.h"
#include "running.h"

enum { count = 32 };

/* Fast atoms, some of which begin outside of their cell, which is open along one axis or skewed. */
static kith_bodies *atoms(struct random_numbers *numbers, int open)
{
    kith_bodies *bodies =
        made("fcc", (kith_initial_options){.count = count, .density = 0.6, .temperature = 4});
    const double edge = bodies->cell[0];
    if (open < 3)
        bodies->periodic[open] = false;
    for (int k = 3; k < 8 && open == 3; k++)
        if (k != 4 && k != 5)
            bodies->cell[k] = random_uniform(numbers, -0.2, 0.2) * edge;
    for (int i = 0; i < count; i++) {
        double fraction[3], *x = bodies->position + 3 * i;
        for (int k = 0; k < 3; k++)
            fraction[k] = x[k] / edge + floor(random_uniform(numbers, -2, 3));
        for (int c = 0; c < 3; c++)
            x[c] = fraction[0] * bodies->cell[c] + fraction[1] * bodies->cell[3 + c] +
                   fraction[2] * bodies->cell[6 + c];
    }
    return bodies;
}

static kith_run_options options_of(const kith_law *law, double until, const char *output)
{
    kith_run_options options = run_options(0.002, until, 25, output);
    options.simulation.forces.law = law;
    options.simulation.forces.cutoff = 1.8;
    options.wrap = true;
    return options;
}

static kith_law *lennard_jones(void)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    return law;
}

/* A series of the particles as doubles; free it with free(). */
static double *series_of(const char *name, const char *element)
{
    char path[64];
    snprintf(path, sizeof path, "/particles/trajectory/%s/value", element);
    const hid_t file = H5Fopen(in_files(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    double *values = calloc((size_t)H5Sget_simple_extent_npoints(space), sizeof *values);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return values;
}

/* The component along a vector of the cell, a lower triangle. */
static double along(const double cell[9], const double x[3], int k)
{
    const double c = x[2] / cell[8], b = (x[1] - c * cell[7]) / cell[4];
    const double a = (x[0] - b * cell[3] - c * cell[6]) / cell[0];
    return k == 0 ? a : k == 1 ? b : c;
}

/* Compares a wrapped run with the same that is not: those of the file, and as they are read. */
static void check_frames(const kith_bodies *bodies, double tolerance)
{
    const int64_t frames = frames_of(in_files("wrapped.h5"));
    double *wrapped = series_of("wrapped.h5", "position"),
           *image = series_of("wrapped.h5", "image");
    double *plain = series_of("plain.h5", "position");
    double farthest = 0;
    kith_trajectory *trajectory = NULL;
    kith_bodies *read = NULL;
    assert_ok(kith_trajectory_open(in_files("wrapped.h5"), &trajectory));
    for (int64_t frame = 0; frame < frames; frame++) {
        assert_ok(kith_trajectory_read(trajectory, frame, &read));
        for (int i = 0; i < count; i++) {
            const int64_t at = 3 * (frame * count + i);
            for (int k = 0; k < 3; k++) {
                double whole = wrapped[at + k];
                for (int row = 0; row < 3; row++)
                    whole += image[at + row] * bodies->cell[3 * row + k];
                assert_true(fabs(whole - plain[at + k]) < tolerance);
                assert_true(fabs(read->position[3 * i + k] - plain[at + k]) < tolerance);
                assert_true(image[at + k] == floor(image[at + k]));
                farthest = fmax(farthest, fabs(image[at + k]));
                const double part = along(bodies->cell, wrapped + at, k);
                if (bodies->periodic[k])
                    assert_true(part > -tolerance && part < 1 + tolerance);
                else
                    assert_true(image[at + k] == 0);
            }
        }
    }
    assert_true(farthest >= 2);
    kith_trajectory_close(trajectory);
    kith_bodies_free(read);
    free(wrapped);
    free(image);
    free(plain);
}

static void test_positions_are_in_the_cell_and_images_beside_them(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_wrap");
    kith_law *law = lennard_jones();
    for (int k = 0; k < 8; k++) {
        kith_bodies *bodies = atoms(&numbers, k / 2);
        kith_run_options options = options_of(law, 0.4, in_files("wrapped.h5"));
        options.simulation.precision = k % 2 ? KITH_F32 : KITH_F64;
        run(options, bodies);
        options.output = in_files("plain.h5");
        options.wrap = false;
        run(options, bodies);
        check_frames(bodies, k % 2 ? 1e-5 : 1e-13);
        kith_bodies_free(bodies);
    }
    kith_law_free(law);
}

/* With the bodies again or without, whose start outside of the cell no frame has to the bit. */
static void test_wrapped_runs_resume_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_wrap");
    kith_law *law = lennard_jones();
    for (int k = 0; k < 4; k++) {
        kith_bodies *bodies = atoms(&numbers, 3);
        kith_run_options options = options_of(law, 0.6, in_files("whole.h5"));
        options.simulation.precision = k % 2 ? KITH_F32 : KITH_F64;
        run(options, bodies);
        options.output = in_files("pieces.h5");
        options.until = 0.25;
        run(options, bodies);
        options.until = 0.4;
        options.resume = true;
        run(options, bodies);
        run((kith_run_options){.output = in_files("pieces.h5"), .until = 0.6, .resume = true},
            NULL);
        assert_same_files(in_files("whole.h5"), in_files("pieces.h5"), "start_steps");
        options.wrap = false;
        run_fails(options, bodies, KITH_INVALID_ARGUMENT, "frames wrapped pieces.h5");
        kith_bodies_free(bodies);
    }
    kith_law_free(law);
}

static void test_only_periodic_runs_are_wrapped(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("run_wrap");
    kith_law *law = lennard_jones();
    kith_bodies *bodies = atoms(&numbers, 3);
    kith_run_options options = options_of(law, 0.1, in_files("open.h5"));
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = false;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "wrap cell");
    options.simulation.forces.cutoff = 0;
    bodies->periodic[0] = true;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "wrap cell");
    kith_bodies_free(bodies);
    kith_law_free(law);
}

/* Of another program: images as reals, of a box that is a list of edges. */
static void test_images_of_other_programs_are_read(void **state)
{
    (void)state;
    const double position[2][3] = {{1, 2, 3}, {0.5, 0, 4}}, edges[3] = {2, 3, 5};
    const double image[2][3] = {{0, -1, 2}, {3, 0, 7}};
    const char boundary[3][9] = {"periodic", "periodic", "none"};
    const hid_t file = new_file(in_files("other.h5")), word = H5Tcopy(H5T_C_S1);
    H5Tset_size(word, sizeof boundary[0]);
    put_group(file, "/h5md");
    put_group(file, "/particles/all/box");
    put_attribute(file, "/particles/all/box", "boundary", word, word, 3, boundary);
    put_doubles(file, "/particles/all/box/edges", H5T_IEEE_F64LE, edges, 3);
    put_doubles(file, "/particles/all/position", H5T_IEEE_F64LE, position, 2, 3);
    put_doubles(file, "/particles/all/image", H5T_IEEE_F64LE, image, 2, 3);
    H5Tclose(word);
    H5Fclose(file);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_read(in_files("other.h5"), NULL, &bodies));
    const double expected[2][3] = {{1, -1, 3}, {6.5, 0, 4}};
    assert_memory_equal(bodies->position, expected, sizeof expected);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions_are_in_the_cell_and_images_beside_them),
        cmocka_unit_test(test_wrapped_runs_resume_bit_for_bit),
        cmocka_unit_test(test_only_periodic_runs_are_wrapped),
        cmocka_unit_test(test_images_of_other_programs_are_read),
    };
    return cmocka_run_group_tests_name("run_wrap", tests, make_files_directory,
                                       remove_files_directory);
}
