/* Running ffmpeg, which encodes pictures as a film. */

#include "ffmpeg.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

/* How a format is encoded. */
struct encoding {
    const char *format;
    const char *arguments[16];
};

/* H.264 and VP9 as browsers play them; a GIF with a palette of its own for each picture, as one for
 * all would hold all pictures in memory. */
static const struct encoding encodings[] = {
    {"mp4",
     {"-vf", "scale=out_color_matrix=bt709", "-colorspace", "bt709", "-c:v", "libx264", "-preset",
      "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}},
    {"webm",
     {"-vf", "scale=out_color_matrix=bt709", "-colorspace", "bt709", "-c:v", "libvpx-vp9", "-crf",
      "24", "-b:v", "0", "-cpu-used", "6", "-row-mt", "1", "-pix_fmt", "yuv420p"}},
    {"gif",
     {"-vf", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=none"}},
};

static const struct encoding *encoding_of(const char *format)
{
    const struct encoding *encoding = encodings;
    while (strcmp(encoding->format, format) != 0)
        encoding++;
    return encoding;
}

/* Starts the program with one end of a socket, a file and a file of messages as its standard
 * streams; 0, or why that failed. The film is named as a file: MP4 is not written in one go. */
static int spawn(struct ffmpeg *ffmpeg, const char *format, const char *size, int input, FILE *film)
{
    static const char *const before[] = {"ffmpeg", "-nostdin",   "-hide_banner", "-loglevel",
                                         "error",  "-f",         "rawvideo",     "-pix_fmt",
                                         "rgb24",  "-framerate", "30",           "-video_size"};
    const struct encoding *encoding = encoding_of(format);
    const char *arguments[48];
    int count = 0;
    for (size_t k = 0; k < sizeof before / sizeof before[0]; k++)
        arguments[count++] = before[k];
    arguments[count++] = size;
    arguments[count++] = "-i";
    arguments[count++] = "pipe:0";
    for (int k = 0; k < 16 && encoding->arguments[k]; k++)
        arguments[count++] = encoding->arguments[k];
    static const char *const after[] = {"-f", NULL, "-y", "/dev/stdout", NULL};
    for (size_t k = 0; k < sizeof after / sizeof after[0]; k++)
        arguments[count++] = k == 1 ? format : after[k];

    const int streams[3] = {input, fileno(film), fileno(ffmpeg->errors)};
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    for (int k = 0; k < 3 && reason == 0; k++)
        reason = posix_spawn_file_actions_adddup2(&actions, streams[k], k);
    if (reason == 0)
        reason = posix_spawnp(&ffmpeg->child, ffmpeg->program, &actions, NULL,
                              (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

static void fail_to_start(const struct ffmpeg *ffmpeg, int reason)
{
    if (reason == ENOENT)
        cli_fail_with(
            ffmpeg->command,
            "ffmpeg is not installed: program '%s' was not found; install it (apt install "
            "ffmpeg) or name one in KITH_FFMPEG",
            ffmpeg->program);
    else
        cli_fail_with(ffmpeg->command, "cannot start '%s': %s; install ffmpeg (apt install ffmpeg)",
                      ffmpeg->program, strerror(reason));
}

bool ffmpeg_begin(const char *command, const char *format, int width, int height, FILE *film,
                  struct ffmpeg *ffmpeg)
{
    const char *named = getenv("KITH_FFMPEG");
    int ends[2];
    char size[32];
    *ffmpeg = (struct ffmpeg){command, named && *named ? named : "ffmpeg", 0, -1, tmpfile()};
    if (!ffmpeg->errors || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        cli_fail_with(command, "cannot make a temporary file: %s", strerror(errno));
        if (ffmpeg->errors)
            fclose(ffmpeg->errors);
        return false;
    }
    snprintf(size, sizeof size, "%dx%d", width, height);
    const int reason = spawn(ffmpeg, format, size, ends[1], film);
    close(ends[1]);
    ffmpeg->pictures = ends[0];
    if (reason == 0)
        return true;
    fail_to_start(ffmpeg, reason);
    close(ends[0]);
    fclose(ffmpeg->errors);
    return false;
}

bool ffmpeg_add(struct ffmpeg *ffmpeg, const struct raster *raster)
{
    const size_t bytes = 3 * (size_t)raster->width * (size_t)raster->height;
    size_t done = 0;
    while (done < bytes) {
        const ssize_t sent = send(ffmpeg->pictures, raster->rgb + done, bytes - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

bool ffmpeg_end(struct ffmpeg *ffmpeg, bool whole)
{
    close(ffmpeg->pictures);
    const bool done = child_wait(ffmpeg->child);
    if (!done && whole)
        child_fail_with_last_line(ffmpeg->command, ffmpeg->program, ffmpeg->errors);
    fclose(ffmpeg->errors);
    return done && whole;
}
