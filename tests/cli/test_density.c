/* Surface densities: no mass is lost, points land where they belong, and pictures are whole. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "program.h"
#include "splat.h"

static struct window window_of(int width, int height, double low, double high)
{
    const double side = (high - low) / width;
    return (struct window){.plane = {{1, 0, 0}, {0, 1, 0}},
                           .spans = {{low, high}, {low, low + side * height}},
                           .width = width,
                           .height = height};
}

static double random_unit(void)
{
    return (double)rand() / RAND_MAX;
}

/* Clustered at the middle, with masses of all sizes; some are outside of [-1, 1]. */
static kith_bodies *cluster(int64_t count, int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, dimensions, KITH_MASS, &bodies));
    for (int64_t i = 0; i < count; i++) {
        const double spread = pow(10, -3 * random_unit());
        for (int k = 0; k < dimensions; k++)
            bodies->position[i * dimensions + k] = 2.4 * spread * (random_unit() - 0.5);
        bodies->mass[i] = 1e30 * pow(10, 2 * random_unit());
    }
    return bodies;
}

static double sum_of(const struct splat *splat)
{
    double sum = 0;
    for (int64_t k = 0; k < (int64_t)splat->width * splat->height; k++)
        sum += splat->mass[k];
    return sum * splat->unit;
}

static double mass_inside(const struct window *window, const kith_bodies *bodies)
{
    double sum = 0;
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *x = bodies->position + i * bodies->dimensions;
        bool inside = true;
        for (int k = 0; k < 2; k++)
            inside = inside && x[k] >= window->spans[k].low && x[k] < window->spans[k].high;
        sum += inside ? bodies->mass[i] : 0;
    }
    return sum;
}

static void test_the_sum_of_the_pixels_is_the_mass_inside_the_window(void **state)
{
    (void)state;
    static const int sizes[][2] = {{160, 160}, {641, 333}, {257, 1001}, {1200, 800}};
    static const int64_t counts[] = {1, 10, 1000, 100000};
    for (int s = 0; s < 4; s++)
        for (int c = 0; c < 4; c++) {
            const struct window window = window_of(sizes[s][0], sizes[s][1], -1, 1);
            kith_bodies *bodies = cluster(counts[c], c % 2 ? 3 : 2);
            struct splatter *splatter = splat_begin(window.width, window.height);
            assert_non_null(splatter);
            struct splat splat;
            splat_bodies(splatter, &window, bodies, &splat);
            const double mass = mass_inside(&window, bodies);
            if (!(fabs(sum_of(&splat) - mass) <= 1e-5 * mass))
                fail_msg("%d × %d, %lld bodies: %g, not %g", sizes[s][0], sizes[s][1],
                         (long long)counts[c], sum_of(&splat), mass);
            splat_end(splatter);
            kith_bodies_free(bodies);
        }
}

static void test_no_pixel_is_negative(void **state)
{
    (void)state;
    const struct window window = window_of(300, 200, -1, 1);
    kith_bodies *bodies = cluster(20000, 3);
    struct splatter *splatter = splat_begin(300, 200);
    struct splat splat;
    splat_bodies(splatter, &window, bodies, &splat);
    for (int k = 0; k < 300 * 200; k++)
        assert_true(splat.mass[k] >= 0);
    splat_end(splatter);
    kith_bodies_free(bodies);
}

/* Of many bodies at one place all mass is in the pixel there and its neighbors; of one body the
 * kernel is wide, and centered on it. Rows count from the top. */
static void test_a_point_lands_in_its_pixel(void **state)
{
    (void)state;
    const struct window window = window_of(400, 300, 0, 4);
    struct splatter *splatter = splat_begin(400, 300);
    static const int64_t counts[] = {1000, 1};
    for (int c = 0; c < 2; c++) {
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_create(counts[c], 2, 0, &bodies));
        for (int64_t i = 0; i < counts[c]; i++) {
            bodies->position[2 * i] = 1.2345;     /* column 123 */
            bodies->position[2 * i + 1] = 2.2251; /* row 300 − 223 */
        }
        struct splat splat;
        splat_bodies(splatter, &window, bodies, &splat);
        int brightest = 0;
        double mean[2] = {0};
        for (int k = 0; k < 400 * 300; k++) {
            const int row = k / 400;
            brightest = splat.mass[k] > splat.mass[brightest] ? k : brightest;
            mean[0] += splat.mass[k] * (k % 400 + 0.5) / (double)counts[c];
            mean[1] += splat.mass[k] * (row + 0.5) / (double)counts[c];
        }
        assert_true(fabs(mean[0] - 123.45) < 1e-2 && fabs(mean[1] - 77.49) < 1e-2);
        assert_true(abs(brightest % 400 - 123) <= 2 * (c == 1));
        assert_true(abs(brightest / 400 - 77) <= 2 * (c == 1));
        kith_bodies_free(bodies);
    }
    splat_end(splatter);
}

/* A lattice of one body a pixel, and one of a body every 4 pixels: as bright all over, up to 5 %
 * of what is smoothed. */
static void test_an_even_density_is_even(void **state)
{
    (void)state;
    static const int steps[] = {1, 4};
    const struct window window = window_of(320, 320, 0, 320);
    struct splatter *splatter = splat_begin(320, 320);
    for (int s = 0; s < 2; s++) {
        const int across = 320 / steps[s];
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_create((int64_t)across * across, 2, 0, &bodies));
        for (int64_t i = 0; i < bodies->count; i++) {
            bodies->position[2 * i] = ((double)(i % across) + 0.5) * steps[s];
            const int64_t row = i / across;
            bodies->position[2 * i + 1] = ((double)row + 0.5) * steps[s];
        }
        struct splat splat;
        splat_bodies(splatter, &window, bodies, &splat);
        const double expected = 1.0 / (steps[s] * steps[s]);
        for (int k = 0; k < 320 * 320; k++)
            if (!(fabs(splat.mass[k] - expected) <= 0.05 * expected))
                fail_msg("step %d, pixel %d: %g, not %g", steps[s], k, splat.mass[k], expected);
        kith_bodies_free(bodies);
    }
    splat_end(splatter);
}

static void test_bad_options_are_refused_in_one_line(void **state)
{
    (void)state;
    program_write("one.csv", "x,y,z\n1,2,3\n");
    program_write("none.csv", "x,y,z\n");
    static const char *const axes[] = {"w", "1,2", "0,0,0", "1,2,3,4", "1,2,a", ""};
    for (size_t k = 0; k < sizeof axes / sizeof axes[0]; k++)
        assert_refused(program_run("plot @one.csv --what density --axis=%s -o @a.png", axes[k]), 2,
                       "--axis");
    assert_refused(program_run("plot @one.csv --what density --colors jet -o @a.png"), 2,
                   "inferno");
    assert_refused(program_run("plot @one.csv --what density -o @a.svg"), 2, "");
    assert_false(program_exists("a.png"));
}

#ifdef KITH_HAS_PNG

#include <png.h>

struct picture {
    int width, height;
    unsigned char *rgb;
};

static struct picture read_picture(const char *name)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, program_file(name)))
        fail_msg("%s: %s", name, image.message);
    image.format = PNG_FORMAT_RGB;
    unsigned char *rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
    return (struct picture){(int)image.width, (int)image.height, rgb};
}

static int brightness(const struct picture *picture, int column, int row)
{
    const unsigned char *pixel = picture->rgb + 3 * (row * picture->width + column);
    return pixel[0] + pixel[1] + pixel[2];
}

/* What is outside of a periodic cell is drawn in it, along its periodic vectors alone. */
static void test_bodies_are_drawn_in_their_periodic_cell(void **state)
{
    (void)state;
    static const char *const rows[2] = {"H 9 -1 0\nH -0.5 2 1\nH 1 6.5 2\nH 2 2 9\n",
                                        "H 1 3 0\nH 3.5 2 1\nH 1 2.5 2\nH 2 2 9\n"};
    for (int k = 0; k < 2; k++) {
        char text[512], name[16];
        snprintf(text, sizeof text,
                 "4\nLattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"T T F\" "
                 "Properties=species:S:1:pos:R:3\n%s",
                 rows[k]);
        snprintf(name, sizeof name, "cell%d.xyz", k);
        program_write(name, text);
        for (int axis = 0; axis < 2; axis++)
            assert_succeeded(program_run("plot @%s --what density --width 200 --axis %s -q "
                                         "-o @cell%d%d.png",
                                         name, axis ? "x" : "z", k, axis));
    }
    for (int axis = 0; axis < 2; axis++) {
        struct picture pictures[2];
        for (int k = 0; k < 2; k++) {
            char name[16];
            snprintf(name, sizeof name, "cell%d%d.png", k, axis);
            pictures[k] = read_picture(name);
        }
        assert_int_equal(pictures[0].width, pictures[1].width);
        assert_int_equal(pictures[0].height, pictures[1].height);
        assert_memory_equal(pictures[0].rgb, pictures[1].rgb,
                            3 * (size_t)pictures[0].width * (size_t)pictures[0].height);
        for (int k = 0; k < 2; k++)
            free(pictures[k].rgb);
    }
}

/* Groups at three corners of a rectangle of 3 × 2: each line of sight has the lower right one dark.
 */
static void test_each_axis_has_its_right_and_its_up(void **state)
{
    (void)state;
    static const struct {
        const char *axis;
        int across, up; /* coordinates that the picture shows */
    } views[] = {{"z", 0, 1}, {"y", 0, 2}, {"x", 1, 2}, {"0,0,5", 0, 1}, {"0,-2,0", 0, 2}};
    for (int v = 0; v < 5; v++) {
        char *text = malloc(100000), *end = text + sprintf(text, "x,y,z\n");
        for (int k = 0; k < 400; k++) {
            double x[3] = {0};
            x[views[v].across] = k % 4 & 1 ? 1.5 : -1.5;
            x[views[v].up] = k % 4 & 2 ? 1 : -1;
            if (k % 4 == 1)
                x[views[v].up] = 1;
            end += sprintf(end, "%g,%g,%g\n", x[0], x[1], x[2]);
        }
        program_write("corners.csv", text);
        free(text);
        assert_succeeded(program_run("plot @corners.csv --what density --axis %s --width 640 "
                                     "--colors gray -q -o @corners.png",
                                     views[v].axis));
        const struct picture picture = read_picture("corners.png");
        assert_int_equal(picture.width, 640);
        /* spans of ±1.5 and ±1, and 17 percent of their lengths more */
        const double pixel = 3 * 1.34 / 640;
        const int right = (int)(320 + 1.5 / pixel), left = (int)(320 - 1.5 / pixel);
        const int top = (int)(picture.height / 2.0 - 1 / pixel);
        const int bottom = picture.height - 1 - top;
        assert_true(brightness(&picture, right, top) > 700);
        assert_true(brightness(&picture, left, top) > 700);
        assert_true(brightness(&picture, left, bottom) > 700);
        assert_int_equal(brightness(&picture, right, bottom), 0);
        assert_int_equal(brightness(&picture, 320, picture.height / 2), 0);
        free(picture.rgb);
    }
}

static void test_pictures_have_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    struct picture first = {0};
    assert_succeeded(program_run("make plummer -n 5000 -q -o @plummer.npy"));
    for (int threads = 1; threads <= 4; threads += 3) {
        char text[8];
        snprintf(text, sizeof text, "%d", threads);
        setenv("OMP_NUM_THREADS", text, 1);
        assert_succeeded(program_run("plot @plummer.npy --what density --axis 1,1,1 --width 500 "
                                     "--height 333 --title Δ^_\x01 -o @p.png"));
        const struct picture picture = read_picture("p.png");
        assert_int_equal(picture.width, 500);
        assert_int_equal(picture.height, 333);
        if (first.rgb)
            assert_memory_equal(first.rgb, picture.rgb, 3 * 500 * 333);
        free(first.rgb);
        first = picture;
    }
    unsetenv("OMP_NUM_THREADS");
    free(first.rgb);
}

static void test_any_bodies_can_be_drawn(void **state)
{
    (void)state;
    static const char *const files[] = {
        "x,y\n1,1\n",
        "x,y\n1e300,-1e300\n0,0\n",
        "x,y,z,m\n0,0,0,0\n1,1,1,0\n",
        "x,y,z,m\n0,0,0,-1\n1,1,1,2\n",
        "x,y,z,m\n1e12,0,0,1e300\n1e12,1e-9,1,1e-300\n",
    };
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        program_write("any.csv", files[k]);
        assert_succeeded(program_run("plot @any.csv --what density --width 160 -q -o @any.png"));
        free(read_picture("any.png").rgb);
    }
    program_write("none.csv", "x,y,z\n");
    assert_refused(program_run("plot @none.csv --what density -o @a.png"), 1, "bodies");
    assert_refused(program_run("plot @missing.csv --what density -o @a.png"), 1, "missing.csv");
}

#else

static void test_without_libpng_the_remedy_is_named(void **state)
{
    (void)state;
    assert_refused(program_run("plot @one.csv --what density -o @a.png"), 1, "libpng-dev");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sum_of_the_pixels_is_the_mass_inside_the_window),
        cmocka_unit_test(test_no_pixel_is_negative),
        cmocka_unit_test(test_a_point_lands_in_its_pixel),
        cmocka_unit_test(test_an_even_density_is_even),
        cmocka_unit_test(test_bad_options_are_refused_in_one_line),
#ifdef KITH_HAS_PNG
        cmocka_unit_test(test_bodies_are_drawn_in_their_periodic_cell),
        cmocka_unit_test(test_each_axis_has_its_right_and_its_up),
        cmocka_unit_test(test_pictures_have_the_same_bits_for_every_number_of_threads),
        cmocka_unit_test(test_any_bodies_can_be_drawn),
#else
        cmocka_unit_test(test_without_libpng_the_remedy_is_named),
#endif
    };
    return cmocka_run_group_tests_name("density", tests, NULL, NULL);
}
