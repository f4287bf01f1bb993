/* Pictures of runs: whole files of each format, true to the data, and nothing lost by a failure. */

#include "testing.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notes.h"
#include "program.h"

/* Runs of the program's own making, in the temporary folder. */
static int make_runs(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_succeeded(program_run("make two-body --eccentricity 0.6 -q -o @two.csv"));
    assert_succeeded(program_run("run @two.csv --dt 0.01 --until 12 --every 10 -q -o @two.h5"));
    assert_succeeded(program_run("run @two.csv --dt 0.01 --until 60 --every 250 -q -o @rare.h5"));
    assert_succeeded(program_run("make two-body -q -o @circle.csv"));
    assert_succeeded(program_run("run @circle.csv --dt 0.01 --until 7 --every 5 -q -o @circle.h5"));
    assert_succeeded(program_run("make figure-8 -d 2 -q -o @eight.csv"));
    assert_succeeded(program_run("run @eight.csv --dt 0.01 --until 1 --every 5 -q -o @eight.h5"));
    assert_succeeded(program_run("make plummer -n 300 -q -o @many.csv"));
    assert_succeeded(program_run("run @many.csv --dt 0.1 --until 1 --softening 0.1 --every 1 -q "
                                 "-o @many.h5"));
    return 0;
}

struct bytes {
    unsigned char *data;
    size_t count;
};

/* A whole file; free the data with free(). */
static struct bytes read_bytes(const char *name)
{
    FILE *file = fopen(program_file(name), "rb");
    struct stat status = {0};
    if (!file || fstat(fileno(file), &status) != 0)
        fail_msg("%s was not written", name);
    struct bytes bytes = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.count, file), bytes.count);
    bytes.data[bytes.count] = 0;
    fclose(file);
    return bytes;
}

static void assert_is_picture(const char *name)
{
    static const struct {
        const char *extension, *begins, *ends;
    } formats[] = {
        {"png", "\x89PNG\r\n\x1a\n", "IEND\xae\x42\x60\x82"},
        {"svg", "<?xml", "</svg>"},
        {"gif", "GIF8", ";"},
    };
    const struct bytes bytes = read_bytes(name);
    if (bytes.count < 2000)
        fail_msg("%s has only %zu bytes", name, bytes.count);
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
        if (!strstr(name, formats[k].extension))
            continue;
        const size_t begin = strlen(formats[k].begins), end = strlen(formats[k].ends);
        assert_memory_equal(bytes.data, formats[k].begins, begin);
        size_t count = bytes.count;
        while (bytes.data[count - 1] == '\n')
            count--;
        assert_memory_equal(bytes.data + count - end, formats[k].ends, end);
    }
    free(bytes.data);
}

/* Width and height of a PNG: big-endian, after its first 16 bytes. */
static void read_png_size(const char *name, unsigned size[2])
{
    const struct bytes bytes = read_bytes(name);
    for (int k = 0; k < 2; k++) {
        const unsigned char *at = bytes.data + 16 + 4 * k;
        size[k] = (unsigned)at[0] << 24 | (unsigned)at[1] << 16 | (unsigned)at[2] << 8 | at[3];
    }
    free(bytes.data);
}

/* Pictures in an animated GIF: its graphic control extensions. */
static int count_gif_pictures(const char *name)
{
    const struct bytes bytes = read_bytes(name);
    int count = 0;
    for (size_t k = 0; k + 3 < bytes.count; k++)
        count += memcmp(bytes.data + k, "\x21\xf9\x04", 3) == 0;
    free(bytes.data);
    return count;
}

static int count_words(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

static void test_every_kind_makes_a_whole_picture(void **state)
{
    (void)state;
    static const char *const runs[] = {"two", "many", "eight"};
    static const char *const kinds[] = {"orbits", "planes", "3d", "energy", "elements"};
    static const char *const extensions[] = {"png", "svg", "gif"};
    for (int k = 0; k < 3 * 5 * 3; k++) {
        const char *run = runs[k % 3], *kind = kinds[k / 3 % 5], *extension = extensions[k / 15];
        if (strcmp(run, "eight") == 0 && strcmp(kind, "3d") == 0)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s-%s.%s", run, kind, extension);
        const struct program_result *result =
            program_run("plot @%s.h5 --what %s -o @%s", run, kind, name);
        assert_succeeded(result);
        assert_string_equal(result->out, "");
        assert_non_null(strstr(result->err, "wrote "));
        assert_is_picture(name);
    }
}

static void test_chaos_is_drawn_from_the_table_of_megno(void **state)
{
    (void)state;
    assert_succeeded(program_run("megno @two.csv --until 20 --samples 50 -q -o @megno.csv"));
    static const char *const extensions[] = {"png", "svg", "gif"};
    for (int k = 0; k < 3; k++) {
        char name[64];
        snprintf(name, sizeof name, "megno.%s", extensions[k]);
        assert_succeeded(program_run("plot @megno.csv --what megno -o @%s", name));
        assert_is_picture(name);
    }
    /* In any order of columns, with others, and where nothing grows. */
    program_write("more.csv",
                  "# a comment\ngrowth,time,x,mean_megno,megno\n-1,1,a,2,2\n\n0,2,b,3,4\n");
    assert_succeeded(program_run("plot @more.csv --what megno -o @more.png"));
    assert_is_picture("more.png");
    program_write("same.csv", "time,megno,mean_megno,growth\n1,2,2,1\n2,2,2,2\n");
    assert_succeeded(program_run("plot @same.csv --what megno -o @same.png"));
    program_write("one.csv", "time,megno,mean_megno,growth\n1,2,2,1\n");
    assert_refused(program_run("plot @one.csv --what megno -o @a.png"), 1, "one.csv 1");
    program_write("word.csv", "time,megno,mean_megno,growth\n1,2,2,1\n2,2,nan,1\n");
    assert_refused(program_run("plot @word.csv --what megno -o @a.png"), 1,
                   "word.csv 3 mean_megno");
    program_write("short.csv", "time,megno,mean_megno,growth\n1,2,2,1\n2,2\n");
    assert_refused(program_run("plot @short.csv --what megno -o @a.png"), 1, "short.csv 3 4 2");
    program_write("back.csv", "time,megno,mean_megno,growth\n2,2,2,1\n1,2,2,1\n");
    assert_refused(program_run("plot @back.csv --what megno -o @a.png"), 1, "back.csv 3 time 1");
    assert_refused(program_run("plot @two.csv --what megno -o @a.png"), 1, "two.csv time");
}

/* The second body is orange in both: D55E00. */
static void test_a_body_has_one_color_in_all_pictures(void **state)
{
    (void)state;
    static const char *const kinds[] = {"orbits", "elements"};
    for (int k = 0; k < 2; k++) {
        assert_succeeded(program_run("plot @two.h5 --what %s -o @color.svg", kinds[k]));
        char *picture = program_read("color.svg");
        assert_non_null(strstr(picture, "213,  94,   0"));
        assert_true((strstr(picture, "  0, 114, 178") != NULL) == (k == 0));
        free(picture);
    }
}

static void test_a_resonance_angle_is_drawn_below_the_elements(void **state)
{
    (void)state;
    assert_succeeded(
        program_run("plot @eight.h5 --what elements --resonance 2l2-l1-w1 -o @angle.svg"));
    assert_is_picture("angle.svg");
    char *angle = program_read("angle.svg");
    assert_non_null(strstr(angle, "angle"));
    free(angle);
    assert_refused(program_run("plot @eight.h5 --what elements --resonance 2l7-l1-w1 -o @a.png"), 1,
                   "--resonance 7 2");
    assert_refused(program_run("plot @eight.h5 --what elements --resonance 2l2-l1 -o @a.png"), 2,
                   "--resonance 1");
}

static void test_an_animation_has_a_picture_a_frame(void **state)
{
    (void)state;
    assert_succeeded(program_run("plot @many.h5 --what animation -o @many.gif"));
    assert_is_picture("many.gif");
    assert_int_equal(count_gif_pictures("many.gif"), 11);
    assert_succeeded(program_run("plot @two.h5 --what animation --frames 5:14 -o @two.gif"));
    assert_int_equal(count_gif_pictures("two.gif"), 10);
}

static void test_quiet_plots_say_nothing(void **state)
{
    (void)state;
    const struct program_result *result = program_run("plot @two.h5 --what energy -q -o @q.png");
    assert_succeeded(result);
    assert_string_equal(result->out, "");
    assert_string_equal(result->err, "");
}

static void test_pictures_have_the_size_asked_for(void **state)
{
    (void)state;
    unsigned size[2];
    assert_succeeded(
        program_run("plot @two.h5 --what orbits --width 640 --height 500 -o @size.png"));
    read_png_size("size.png", size);
    assert_int_equal(size[0], 640);
    assert_int_equal(size[1], 500);
    assert_succeeded(program_run("plot @two.h5 --what planes --width 160 --height 160 -o @s.png"));
    assert_is_picture("s.png");
}

static void test_pictures_name_the_bodies(void **state)
{
    (void)state;
    program_write("named.csv", "name,x,y,z\nSun,0,0,0\nEarth,1,0,0\n");
    assert_succeeded(program_run("convert @named.csv @named.h5 -q"));
    assert_succeeded(program_run("plot @named.h5 --what orbits -o @named.svg"));
    char *text = program_read("named.svg");
    assert_non_null(strstr(text, ">Sun<"));
    assert_non_null(strstr(text, ">Earth<"));
    free(text);
    assert_succeeded(program_run("plot @two.h5 --what orbits -o @numbered.svg"));
    text = program_read("numbered.svg");
    assert_true(strstr(text, ">body 0<") || strstr(text, ">first<"));
    free(text);
}

/* A sphere is discs on a dark one, which has the outline's color. */
static int count_spheres(const char *name)
{
    char *text = program_read(name);
    const int count = count_words(text, "color='rgb( 42,  47,  56)'");
    free(text);
    return count;
}

static void test_few_bodies_end_as_spheres(void **state)
{
    (void)state;
    assert_succeeded(program_run("plot @two.h5 --what orbits -q -o @spheres.svg"));
    assert_int_equal(count_spheres("spheres.svg"), 2);
    assert_succeeded(program_run("plot @two.h5 --what planes -q -o @spheres.svg"));
    assert_int_equal(count_spheres("spheres.svg"), 6);
    assert_succeeded(program_run("plot @two.h5 --what 3d -q -o @spheres.svg"));
    assert_int_equal(count_spheres("spheres.svg"), 2);
}

static void test_bodies_that_have_merged_are_not_drawn(void **state)
{
    (void)state;
    program_write("meet.csv", "mass,x,y,z,vx,vy,vz,radius\n1,-1,0,0,1,0,0,0.1\n"
                              "1,1,0,0,-1,0,0,0.1\n1,0,9,0,0,0,0,0.1\n");
    assert_succeeded(program_run("run @meet.csv --dt 0.01 --until 2 --every 10 --collisions merge "
                                 "-q -o @meet.h5"));
    assert_succeeded(program_run("plot @meet.h5 --what orbits -q -o @meet.svg"));
    assert_int_equal(count_spheres("meet.svg"), 2);
}

static void test_axes_have_the_units_of_the_file(void **state)
{
    (void)state;
    assert_succeeded(
        program_run("run @two.csv --dt 100 --until 100000 --every 100 --units AU,day -q "
                    "-o @units.h5"));
    assert_succeeded(program_run("plot @units.h5 --what planes -o @units.svg"));
    char *text = program_read("units.svg");
    assert_int_equal(count_words(text, "AU)<"), 6);
    free(text);
    assert_succeeded(program_run("plot @units.h5 --what energy -o @units.svg"));
    text = program_read("units.svg");
    assert_non_null(strstr(text, " day)<"));
    free(text);
    assert_succeeded(
        program_run("run @two.csv --dt 0.1 --until 1 --units a_1^{2},s -q -o @units.h5 "));
    assert_succeeded(program_run("plot @units.h5 --what orbits -o @units.svg"));
    text = program_read("units.svg");
    assert_int_equal(count_words(text, "a_1^{2})<"), 2);
    free(text);
}

/* The extent of the first body's path: that of the last unbroken line in its color in an SVG. */
static void measure_first_path(const char *name, double extent[2])
{
    char *text = program_read(name);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    const char *at = strstr(text, "<path stroke='rgb(  0, 114, 178)'");
    at = at ? strstr(at, "d='") + 3 : "";
    for (int length = 0;; at += length) {
        char letter;
        double x[2];
        if (sscanf(at, " %c%lf,%lf%n", &letter, &x[0], &x[1], &length) != 3)
            break;
        for (int k = 0; k < 2; k++) {
            low[k] = letter == 'M' ? x[k] : fmin(low[k], x[k]);
            high[k] = letter == 'M' ? x[k] : fmax(high[k], x[k]);
        }
    }
    free(text);
    extent[0] = high[0] - low[0];
    extent[1] = high[1] - low[1];
}

static void test_a_circular_orbit_is_drawn_round(void **state)
{
    (void)state;
    static const char *const sizes[] = {"", "--width 900 --height 450", "--height 1500"};
    for (int k = 0; k < 3; k++) {
        assert_succeeded(program_run("plot @circle.h5 --what orbits %s -o @circle.svg", sizes[k]));
        double extent[2];
        measure_first_path("circle.svg", extent);
        assert_true(extent[0] > 50);
        assert_true(fabs(extent[1] / extent[0] - 1) < 0.02);
    }
}

/* Straight lines through six frames an orbit would be a hexagon, wider than high by a seventh. */
static void test_a_curve_is_drawn_through_frames_that_are_far_apart(void **state)
{
    (void)state;
    double extent[2];
    assert_succeeded(program_run("run @circle.csv --dt 0.001 --until 12.56 --every 1047 "
                                 "--integrator yoshida8 -q -o @six.h5"));
    assert_succeeded(program_run("plot @six.h5 --what orbits -o @six.svg"));
    measure_first_path("six.svg", extent);
    assert_true(extent[0] > 50);
    assert_true(fabs(extent[1] / extent[0] - 1) < 0.02);
    assert_succeeded(program_run("plot @six.h5 --what animation -q -o @six.gif"));
    assert_int_equal(count_gif_pictures("six.gif"), 13);
}

/* A line between frames half a period apart would show chords that no body ever moved along. */
static void test_frames_far_apart_are_drawn_as_dots(void **state)
{
    (void)state;
    double extent[2];
    assert_succeeded(program_run("plot @rare.h5 --what orbits -o @rare.svg"));
    measure_first_path("rare.svg", extent);
    assert_false(extent[0] > 50);
    char *text = program_read("rare.svg");
    assert_true(count_words(text, "<use xlink:href='#gpPt6'") >= 2 * 24);
    free(text);
}

static void test_many_bodies_are_drawn_at_the_last_chosen_frame(void **state)
{
    (void)state;
    assert_succeeded(program_run("plot @many.h5 --what orbits -o @last.svg"));
    assert_succeeded(program_run("plot @many.h5 --what orbits --frames :4 -o @fourth.svg"));
    char *last = program_read("last.svg"), *fourth = program_read("fourth.svg");
    assert_non_null(strstr(last, ">t = 1<"));
    assert_non_null(strstr(fourth, ">t = 0.3<"));
    assert_true(count_words(last, "<use xlink:href='#gpPt6'") > 250);
    free(last);
    free(fourth);
}

static void test_units_are_never_commands(void **state)
{
    (void)state;
    assert_succeeded(program_run("run @two.csv --dt 0.1 --until 1 --units "
                                 "`id>kith-unit`'{^_,!;`id>kith-unit`'&~ -q -o @units.h5"));
    assert_refused(program_run("run @two.csv --dt 0.1 --until 1 --units \";!id,s -q -o @no.h5"), 1,
                   "without commas, quotes");
    assert_succeeded(program_run("plot @units.h5 --what orbits -o @units.svg"));
    assert_is_picture("units.svg");
    assert_succeeded(program_run("plot @units.h5 --what energy -o @units.svg"));
    assert_is_picture("units.svg");
    assert_int_not_equal(access("kith-unit", F_OK), 0);
}

/* gnuplot would run what stands in backquotes, and take a quote as the end of the text. */
static void test_names_and_titles_are_never_commands(void **state)
{
    (void)state;
    char bodies[1024];
    snprintf(bodies, sizeof bodies,
             "name,x,y,z\n`touch %s/a`,0,0,0\n\"\"\";!touch b; \"\"\",1,0,0\n'; exit 1; ',2,0,0\n"
             "{/*9 x}^_@&,3,0,0\n\xff\xc3,4,0,0\n<&>\x01,5,0,0\n",
             program_folder());
    program_write("evil.csv", bodies);
    assert_succeeded(program_run("convert @evil.csv @evil.h5 -q"));
    assert_succeeded(program_run("plot @evil.h5 --what orbits --title `touch${IFS}@a`\";exit(1)' "
                                 "-o @evil.svg"));
    assert_is_picture("evil.svg");
    assert_false(program_exists("a"));
    char *text = program_read("evil.svg");
    assert_non_null(strstr(text, "`touch "));
    assert_non_null(strstr(text, "{/*9 x}^_@&amp;"));
    free(text);
}

/* A cube of eight points has three neighbors each in open space, and six in a periodic cell. */
static void test_pairs_are_counted_in_the_cell(void **state)
{
    (void)state;
    program_write("cube.csv", "x,y,z\n0,0,0\n1,0,0\n0,1,0\n1,1,0\n0,0,1\n1,0,1\n0,1,1\n1,1,1\n");
    assert_succeeded(program_run("plot @cube.csv --what neighbors --cutoff 1.1 -o @open.svg -q"));
    assert_is_picture("open.svg");
    char *text = program_read("open.svg");
    assert_true(has_note(text, "8 3 1.1"));
    free(text);
    assert_succeeded(
        program_run("plot @cube.csv --what distances --cutoff 1.1 --box 2,2,2 -o @cell.svg -q"));
    assert_is_picture("cell.svg");
    text = program_read("cell.svg");
    assert_true(has_note(text, "8 6 1.1"));
    free(text);
    assert_succeeded(program_run("plot @cube.csv --what distances --cutoff 1.1 -o @open.png -q"));
    assert_is_picture("open.png");
    assert_refused(program_run("plot @cube.csv --what distances -o @a.png"), 2, "--cutoff");
    assert_refused(program_run("plot @cube.csv --what distances --cutoff 1 --box 1 -o @a.png"), 2,
                   "--box '1'");
    assert_refused(program_run("plot @cube.csv --what distances --cutoff 1 --box 1,1 -o @a.png"), 1,
                   "--box 2");
}

static void test_wrong_usage_exits_with_2(void **state)
{
    (void)state;
    assert_refused(program_run("plot"), 2, "RUN");
    assert_refused(program_run("plot @two.h5 -o @a.png"), 2, "--what");
    assert_refused(program_run("plot @two.h5 --what orbits"), 2, "-o");
    assert_refused(program_run("plot @two.h5 @two.h5 --what orbits -o @a.png"), 2, "RUN");
    assert_refused(program_run("plot @two.h5 --what pie -o @a.png"), 2, "3d");
    assert_refused(program_run("plot @two.h5 --what orbits -o @a.pdf"), 2, "mp4");
    assert_refused(program_run("plot @two.h5 --what orbits -o @png"), 2, "mp4");
    assert_refused(program_run("plot @two.h5 --what animation -o @a.png"), 2, "");
    assert_refused(program_run("plot @two.h5 --what orbits --width 3 -o @a.png"), 2, "--width 3");
    static const char *const frames[] = {"5", "0:5", "5:4", "a:5", "1:b", "-3:5", "1:5:7"};
    for (size_t k = 0; k < sizeof frames / sizeof frames[0]; k++)
        assert_refused(program_run("plot @two.h5 --what orbits --frames %s -o @a.png", frames[k]),
                       2, "--frames");
}

static void test_bad_input_exits_with_1_and_one_line(void **state)
{
    (void)state;
    program_write("text.h5", "x,y\n1,2\n");
    program_write("none.csv", "x,y,z\n");
    assert_succeeded(program_run("convert @none.csv @none.h5 -q"));
    assert_succeeded(program_run("convert @two.csv @still.h5 -q"));
    assert_refused(program_run("plot @missing.h5 --what orbits -o @a.png"), 1, "missing.h5");
    assert_refused(program_run("plot @text.h5 --what orbits -o @a.png"), 1, "text.h5");
    assert_refused(program_run("plot @none.h5 --what orbits -o @a.png"), 1, "bodies");
    assert_refused(program_run("plot @still.h5 --what energy -o @a.png"), 1, "total_energy");
    assert_refused(program_run("plot @eight.h5 --what 3d -o @a.png"), 1, "--what");
    assert_refused(program_run("plot @two.h5 --what orbits -o @nowhere/a.png"), 1, "nowhere");
    assert_refused(program_run("plot @two.h5 --what orbits --frames 5:9999 -o @a.png"), 1,
                   "--frames 1");
    assert_refused(program_run("plot @two.h5 --what orbits --frames 9999: -o @a.png"), 1,
                   "--frames 1");
    mkdir(program_file("folder.png"), 0700);
    assert_refused(program_run("plot @two.h5 --what orbits -o @folder.png"), 1, "regular");
    assert_false(program_exists("a.png"));
}

/* A program in gnuplot's place. */
static void use_gnuplot(const char *script)
{
    program_write("gnuplot", script);
    chmod(program_file("gnuplot"), 0700);
    setenv("KITH_GNUPLOT", program_file("gnuplot"), 1);
}

static int use_the_real_gnuplot(void **state)
{
    (void)state;
    unsetenv("KITH_GNUPLOT");
    return 0;
}

static void assert_nothing_is_left(void)
{
    DIR *folder = opendir(program_folder());
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".kith-plot"))
            fail_msg("%s was left", entry->d_name);
    closedir(folder);
}

static void test_a_missing_gnuplot_is_named_with_its_remedy(void **state)
{
    (void)state;
    setenv("KITH_GNUPLOT", "no-such-gnuplot", 1);
    assert_refused(program_run("plot @two.h5 --what orbits -o @b.png"), 1, "install");
    setenv("KITH_GNUPLOT", program_file("two.csv"), 1);
    assert_refused(program_run("plot @two.h5 --what orbits -o @b.png"), 1, "");
    assert_false(program_exists("b.png"));
}

static void test_a_failing_gnuplot_is_quoted_and_the_old_picture_stays(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "#!/bin/sh\necho plot >&2\necho 'line 7: unknown terminal' >&2\nexit 1\n",
        "#!/bin/sh\nexec 0<&-\nprintf '\\211PNG\\r\\n\\032\\n half of it'\n",
        "#!/bin/sh\nkill -SEGV $$\n",
    };
    static const char *const words[] = {"line 7: unknown terminal", "old.png", "failed"};
    program_write("old.png", "old");
    for (int k = 0; k < 3; k++) {
        use_gnuplot(scripts[k]);
        assert_refused(program_run("plot @two.h5 --what orbits -o @old.png"), 1, words[k]);
        char *old = program_read("old.png");
        assert_string_equal(old, "old");
        free(old);
        assert_nothing_is_left();
    }
}

static void test_a_picture_takes_the_old_ones_place_with_usual_rights(void **state)
{
    (void)state;
    program_write("again.png", "old");
    const mode_t mask = umask(022);
    assert_succeeded(program_run("plot @two.h5 --what energy -o @again.png"));
    umask(mask);
    assert_is_picture("again.png");
    struct stat status;
    assert_int_equal(stat(program_file("again.png"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_nothing_is_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_makes_a_whole_picture),
        cmocka_unit_test(test_chaos_is_drawn_from_the_table_of_megno),
        cmocka_unit_test(test_a_body_has_one_color_in_all_pictures),
        cmocka_unit_test(test_a_resonance_angle_is_drawn_below_the_elements),
        cmocka_unit_test(test_an_animation_has_a_picture_a_frame),
        cmocka_unit_test(test_quiet_plots_say_nothing),
        cmocka_unit_test(test_pictures_have_the_size_asked_for),
        cmocka_unit_test(test_pictures_name_the_bodies),
        cmocka_unit_test(test_few_bodies_end_as_spheres),
        cmocka_unit_test(test_bodies_that_have_merged_are_not_drawn),
        cmocka_unit_test(test_axes_have_the_units_of_the_file),
        cmocka_unit_test(test_a_circular_orbit_is_drawn_round),
        cmocka_unit_test(test_a_curve_is_drawn_through_frames_that_are_far_apart),
        cmocka_unit_test(test_frames_far_apart_are_drawn_as_dots),
        cmocka_unit_test(test_many_bodies_are_drawn_at_the_last_chosen_frame),
        cmocka_unit_test(test_names_and_titles_are_never_commands),
        cmocka_unit_test(test_units_are_never_commands),
        cmocka_unit_test(test_pairs_are_counted_in_the_cell),
        cmocka_unit_test(test_wrong_usage_exits_with_2),
        cmocka_unit_test(test_bad_input_exits_with_1_and_one_line),
        cmocka_unit_test_teardown(test_a_missing_gnuplot_is_named_with_its_remedy,
                                  use_the_real_gnuplot),
        cmocka_unit_test_teardown(test_a_failing_gnuplot_is_quoted_and_the_old_picture_stays,
                                  use_the_real_gnuplot),
        cmocka_unit_test(test_a_picture_takes_the_old_ones_place_with_usual_rights),
    };
    return cmocka_run_group_tests_name("plot", tests, make_runs, NULL);
}
