#include "view/frames.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef KITH_HAS_ZLIB
#include <zlib.h>
#endif

#include "core/memory.h"
#include "sort/sort.h"
#include "view/packet.h"

enum { most_sampled = 4096, all_matter = 1000 };

/* Beyond this part of them bodies may be left out, if they are farther than `wider` times. */
static const double most_part = 0.995, wider = 1.5;

static double most_of(double *values, int64_t count, bool is_all)
{
    if (count == 0)
        return 0;
    sort_reals(count, values);
    return is_all ? values[count - 1] : wider * values[(int64_t)(most_part * (double)(count - 1))];
}

kith_status frames_widen(const kith_bodies *bodies, const struct place *place,
                         struct frames_range *range)
{
    const int64_t count = bodies->count < most_sampled ? bodies->count : most_sampled;
    const int32_t d = bodies->dimensions;
    const bool is_all = bodies->count <= all_matter;
    double *values = NULL;
    KITH_TRY(kith_allocate(count + 1, 2 * sizeof *values, "distances", &values));
    double *speeds = values + count;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = packet_body(bodies->count, count, k);
        double at[3] = {0}, v2 = 0;
        place_of(place, bodies, i, at);
        for (int32_t c = 0; c < d; c++) {
            values[k] = fmax(values[k], fabs(at[c]));
            if (bodies->velocity)
                v2 += bodies->velocity[i * d + c] * bodies->velocity[i * d + c];
        }
        speeds[k] = isnan(v2) ? 0 : sqrt(v2); /* of a body that was removed */
    }
    range->distance = fmax(range->distance, most_of(values, count, is_all));
    range->speed = fmax(range->speed, most_of(speeds, count, is_all));
    free(values);
    return KITH_OK;
}

kith_status frames_allocate(int64_t count, int64_t shown, const struct frames_range *range,
                            struct frames *frames)
{
    *frames = (struct frames){.frames = count,
                              .shown = shown,
                              .scale = range->distance > 0 ? range->distance / INT16_MAX : 1,
                              .speed_scale = range->speed > 0 ? range->speed / UINT8_MAX : 1};
    KITH_TRY(kith_allocate(count * shown, 3 * sizeof *frames->position, "frames of a scene",
                           &frames->position));
    KITH_TRY(kith_allocate(count * shown, 1, "frames of a scene", &frames->speed));
    KITH_TRY(kith_allocate(count, sizeof *frames->left, "numbers of bodies", &frames->left));
    return kith_allocate(count, sizeof *frames->time, "times", &frames->time);
}

void frames_free(struct frames *frames)
{
    free(frames->position);
    free(frames->speed);
    free(frames->time);
    free(frames->left);
    *frames = (struct frames){0};
}

static int16_t whole(double x)
{
    return fabs(x) <= INT16_MAX ? (int16_t)lrint(x) : (int16_t)frames_hidden;
}

void frames_put(struct frames *frames, int64_t k, const kith_bodies *bodies,
                const struct place *place)
{
    const int32_t d = bodies->dimensions;
    const int64_t n = frames->shown;
    int16_t *position = frames->position + 3 * n * k;
    uint8_t *speed = frames->speed + n * k;
    frames->time[k] = bodies->time;
    frames->left[k] = packet_left(bodies);
    for (int64_t j = 0; j < n; j++) {
        const int64_t i = packet_body(bodies->count, n, j);
        double at[3] = {0}, v2 = 0;
        place_of(place, bodies, i, at);
        for (int32_t c = 0; c < d; c++) {
            position[n * c + j] = whole(at[c] / frames->scale);
            if (bodies->velocity)
                v2 += bodies->velocity[i * d + c] * bodies->velocity[i * d + c];
        }
        speed[j] = (uint8_t)lrint(fmin(sqrt(v2) / frames->speed_scale, UINT8_MAX));
    }
}

void frames_coarsen(struct frames *frames, int shift)
{
    const int64_t numbers = 3 * frames->frames * frames->shown;
    const double unit = (double)(1 << shift);
    for (int64_t k = 0; k < numbers; k++)
        if (frames->position[k] != frames_hidden)
            frames->position[k] = (int16_t)lrint(frames->position[k] / unit);
    frames->scale *= unit;
}

#ifdef KITH_HAS_ZLIB

/* What an extrapolation of an order leaves of number j of an axis of frame k. */
static uint16_t left(const int16_t *now, int64_t frame_numbers, int order, int64_t j)
{
    const int before = order > 0 ? now[j - frame_numbers] : 0;
    const int earlier = order > 1 ? now[j - 2 * frame_numbers] : 0;
    const int16_t r = (int16_t)(now[j] - (order > 1 ? 2 * before - earlier : before));
    return (uint16_t)(r >= 0 ? 2 * r : -2 * r - 1);
}

/* The order that leaves the fewest. */
static int choose_order(const struct frames *frames, int64_t k)
{
    const int64_t numbers = 3 * frames->shown;
    const int16_t *now = frames->position + numbers * k;
    double least = INFINITY;
    int best = 0;
    for (int order = 0; order <= 2 && order <= k; order++) {
        double sum = 0;
        for (int64_t j = 0; j < numbers; j++)
            sum += left(now, numbers, order, j);
        if (sum < least) {
            least = sum;
            best = order;
        }
    }
    return best;
}

/* A frame as it is compressed: 7 bytes per body and one more. */
static void lay_out(const struct frames *frames, int64_t k, uint8_t *bytes)
{
    const int64_t n = frames->shown, numbers = 3 * n;
    const int order = choose_order(frames, k);
    const uint8_t *speed = frames->speed + n * k;
    *bytes++ = (uint8_t)order;
    for (int c = 0; c < 3; c++, bytes += 2 * n) {
        const int16_t *now = frames->position + numbers * k + n * c;
        for (int64_t j = 0; j < n; j++) {
            const uint16_t r = left(now, numbers, order, j);
            bytes[j] = (uint8_t)(r & 0xff);
            bytes[n + j] = (uint8_t)(r >> 8);
        }
    }
    for (int64_t j = 0; j < n; j++)
        bytes[j] = (uint8_t)(speed[j] - (k > 0 ? speed[j - n] : 0));
}

/* Everything fits: there is room for all that a frame's bytes can become. */
static kith_status deflate_frames(const struct frames *frames, z_stream *stream, uint8_t *frame)
{
    for (int64_t k = 0; k < frames->frames; k++) {
        lay_out(frames, k, frame);
        stream->next_in = frame;
        stream->avail_in = (uInt)(7 * frames->shown + 1);
        const int done = deflate(stream, k == frames->frames - 1 ? Z_FINISH : Z_NO_FLUSH);
        if (done < Z_OK || stream->avail_in > 0)
            return kith_fail(KITH_IO_ERROR, "zlib failed: %s", stream->msg ? stream->msg : "");
    }
    return KITH_OK;
}

kith_status frames_compress(const struct frames *frames, uint8_t **bytes, int64_t *count)
{
    const int64_t frame_bytes = 7 * frames->shown + 1;
    z_stream stream = {0};
    uint8_t *frame = NULL;
    *bytes = NULL;
    *count = 0;
    if (deflateInit(&stream, 6) != Z_OK)
        return kith_fail(KITH_OUT_OF_MEMORY, "out of memory: zlib");
    const int64_t bound = (int64_t)deflateBound(&stream, (uLong)(frame_bytes * frames->frames));
    kith_status status = KITH_OK;
    if (bound > UINT_MAX)
        status =
            kith_fail(KITH_INVALID_ARGUMENT,
                      "a scene of %lld bytes is too large; give fewer frames", (long long)bound);
    if (status == KITH_OK)
        status = kith_allocate(frame_bytes, 1, "frame", &frame);
    if (status == KITH_OK)
        status = kith_allocate(bound, 1, "compressed frames", bytes);
    stream.next_out = *bytes;
    stream.avail_out = (uInt)bound;
    if (status == KITH_OK)
        status = deflate_frames(frames, &stream, frame);
    *count = (int64_t)stream.total_out;
    deflateEnd(&stream);
    free(frame);
    if (status != KITH_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

#else

kith_status frames_compress(const struct frames *frames, uint8_t **bytes, int64_t *count)
{
    (void)frames;
    *bytes = NULL;
    *count = 0;
    return kith_fail(KITH_UNSUPPORTED, "this build has no zlib, which scenes need; install "
                                       "zlib1g-dev and build again");
}

#endif
