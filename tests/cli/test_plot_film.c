/* Films of runs: what ffmpeg is handed, and what comes of it. */

#include "testing.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "program.h"

static int make_run(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_succeeded(program_run("make plummer -n 300 -q -o @many.csv"));
    assert_succeeded(program_run("run @many.csv --dt 0.1 --until 1 --softening 0.1 --every 1 "
                                 "--units pc,Myr -q -o @many.h5"));
    return 0;
}

/* A program in ffmpeg's place. */
static void use_ffmpeg(const char *script)
{
    program_write("ffmpeg", script);
    chmod(program_file("ffmpeg"), 0700);
    setenv("KITH_FFMPEG", program_file("ffmpeg"), 1);
}

static int use_the_real_ffmpeg(void **state)
{
    (void)state;
    unsetenv("KITH_FFMPEG");
    return 0;
}

static long size_of(const char *name)
{
    struct stat status = {0};
    return stat(program_file(name), &status) == 0 ? (long)status.st_size : -1;
}

/* Raw pictures of width × height × 3 bytes, one per frame, or as many as the seconds need. */
static void test_ffmpeg_is_handed_the_pictures_and_their_size(void **state)
{
    (void)state;
    char script[1024];
    snprintf(script, sizeof script,
             "#!/bin/sh\necho \"$*\" >%s/arguments\ncat >%s/pictures\n"
             "printf '\\000\\000\\000\\030ftyp'\n",
             program_folder(), program_folder());
    use_ffmpeg(script);
    assert_succeeded(program_run("plot @many.h5 --what film --width 321 -o @film.mp4"));
    assert_int_equal(size_of("pictures"), 11L * 320 * 180 * 3);
    char *arguments = program_read("arguments");
    assert_non_null(
        strstr(arguments, "-pix_fmt rgb24 -framerate 30 -video_size 320x180 -i pipe:0"));
    assert_non_null(strstr(arguments, "-c:v libx264"));
    free(arguments);
    assert_int_equal(size_of("film.mp4"), 8);

    assert_succeeded(program_run("plot @many.h5 --what film --width 320 --height 200 --seconds 1.5 "
                                 "--frames 3:7 -q -o - --to mp4"));
    assert_int_equal(size_of("pictures"), 45L * 320 * 200 * 3);
    assert_succeeded(program_run("plot @many.h5 --what film --frames 1:1 -q -o @film.mp4"));
    assert_int_equal(size_of("pictures"), 1L * 1920 * 1080 * 3);
}

static void assert_nothing_is_left(void)
{
    DIR *folder = opendir(program_folder());
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".kith-plot"))
            fail_msg("%s was left", entry->d_name);
    closedir(folder);
}

static void test_a_missing_or_failing_ffmpeg_is_named_and_the_old_film_stays(void **state)
{
    (void)state;
    static const struct {
        const char *script, *words;
    } rows[] = {
        {"#!/bin/sh\necho 'Unknown encoder libx264' >&2\nexit 1\n", "Unknown encoder libx264"},
        {"#!/bin/sh\ncat >/dev/null\nexit 3\n", "ffmpeg"},
        {"#!/bin/sh\ncat >/dev/null\n", "old.mp4"},
        {"#!/bin/sh\nexec 0<&-\nkill -SEGV $$\n", "failed"},
    };
    program_write("old.mp4", "old");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        use_ffmpeg(rows[k].script);
        assert_refused(program_run("plot @many.h5 --what film -o @old.mp4"), 1, rows[k].words);
    }
    setenv("KITH_FFMPEG", "no-such-ffmpeg", 1);
    assert_refused(program_run("plot @many.h5 --what film -o @old.mp4"), 1, "install");
    char *old = program_read("old.mp4");
    assert_string_equal(old, "old");
    free(old);
    assert_nothing_is_left();
}

static void test_wrong_usage_is_told_in_one_line(void **state)
{
    (void)state;
    assert_refused(program_run("plot @many.h5 --what film -o @a.png"), 2, "mp4");
    assert_refused(program_run("plot @many.h5 --what orbits -o @a.mp4"), 2, "");
    assert_refused(program_run("plot @many.h5 --what film --seconds 0 -o @a.mp4"), 2,
                   "--seconds 0");
    assert_refused(program_run("plot @many.h5 --what film --seconds 1e9 -o @a.mp4"), 2, "36000");
    assert_refused(program_run("plot @many.csv --what film -o @a.mp4"), 1, "many.csv");
    assert_refused(program_run("plot @many.h5 --what film --frames 9:99 -o @a.mp4"), 1,
                   "--frames 1");
    assert_false(program_exists("a.mp4"));
}

/* As ffprobe sees a film. Pictures of GIF last whole hundredths of a second, so that theirs are not
 * exactly 30 per second. */
static void assert_probed(const char *extension, const char *codec, int width, int height,
                          int pictures)
{
    const bool is_gif = strcmp(extension, "gif") == 0;
    char line[1024], expected[64];
    snprintf(line, sizeof line,
             "ffprobe -v error -count_frames -show_entries "
             "stream=codec_name,width,height,%snb_read_frames -of csv=p=0 %s/film.%s >%s/probed",
             is_gif ? "" : "avg_frame_rate,", program_folder(), extension, program_folder());
    assert_int_equal(system(line), 0);
    snprintf(expected, sizeof expected, "%s,%d,%d,%s%d\n", codec, width, height,
             is_gif ? "" : "30/1,", pictures);
    char *probed = program_read("probed");
    assert_string_equal(probed, expected);
    free(probed);
}

/* Where there is no ffmpeg this is skipped; ./dev test installs it, and tests of CI never skip. */
static void test_films_are_played_at_30_pictures_a_second(void **state)
{
    (void)state;
    if (!getenv("CI") &&
        system("command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null") != 0)
        skip();
    static const struct {
        const char *extension, *codec;
    } rows[] = {{"mp4", "h264"}, {"webm", "vp9"}, {"gif", "gif"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        assert_succeeded(program_run("plot @many.h5 --what film --width 320 --seconds 1 -q "
                                     "-o @film.%s",
                                     rows[k].extension));
        assert_probed(rows[k].extension, rows[k].codec, 320, 180, 30);
    }
    assert_succeeded(program_run("plot @many.h5 --what film --seconds 0.1 -q -o @film.mp4"));
    assert_probed("mp4", "h264", 1920, 1080, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ffmpeg_is_handed_the_pictures_and_their_size,
                                  use_the_real_ffmpeg),
        cmocka_unit_test_teardown(test_a_missing_or_failing_ffmpeg_is_named_and_the_old_film_stays,
                                  use_the_real_ffmpeg),
        cmocka_unit_test(test_wrong_usage_is_told_in_one_line),
        cmocka_unit_test(test_films_are_played_at_30_pictures_a_second),
    };
    return cmocka_run_group_tests_name("plot film", tests, make_run, NULL);
}
