#ifndef CLI_FFMPEG_H
#define CLI_FFMPEG_H

#include <stdio.h>
#include <sys/types.h>

#include "raster.h"

enum { ffmpeg_pictures_per_second = 30 };

/* ffmpeg, or the program that the environment variable KITH_FFMPEG names, at work: it takes raw
 * pictures one by one, and writes a film into a file. No shell is involved. */
struct ffmpeg {
    const char *command, *program;
    pid_t child;
    int pictures; /* a socket: unlike a pipe, it can be set not to raise SIGPIPE */
    FILE *errors;
};

/* Starts it for pictures of this size, both sides even, and a format: "mp4", "webm" or "gif". On
 * failure prints the reason and returns false; then nothing is left to end. */
bool ffmpeg_begin(const char *command, const char *format, int width, int height, FILE *film,
                  struct ffmpeg *ffmpeg);

/* Sends a picture. False if ffmpeg has ended: ffmpeg_end prints the reason. */
bool ffmpeg_add(struct ffmpeg *ffmpeg, const struct raster *raster);

/* Waits for the end of a complete film; on failure prints the reason, in ffmpeg's words, and
 * returns false. For a film that was abandoned, for which the caller has printed the reason,
 * nothing is printed. */
bool ffmpeg_end(struct ffmpeg *ffmpeg, bool whole);

#endif
