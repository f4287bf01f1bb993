#ifndef VIEW_FRAMES_H
#define VIEW_FRAMES_H

#include "core/status.h"
#include "kith/bodies.h"
#include "view/place.h"

/* Frames as small integers, for scenes. Coordinates are of 16 bits, in units of scale from the
 * origin; speeds of 8. */

enum { frames_hidden = -32768 }; /* a coordinate of a body that is out of the range */

struct frames {
    int64_t frames, shown;
    double scale, speed_scale;
    int16_t *position; /* [frames][3][shown] */
    uint8_t *speed;    /* [frames][shown] */
    double *time;      /* [frames] */
    double *left;      /* [frames], packet_left */
};

/* How far most bodies are from the origin along an axis, and how fast they are, the maximum over
 * all frames so far: initially 0. */
struct frames_range {
    double distance, speed;
};

kith_status frames_widen(const kith_bodies *bodies, const struct place *place,
                         struct frames_range *range);

/* Room for frames; free with frames_free, also after a failure. */
kith_status frames_allocate(int64_t count, int64_t shown, const struct frames_range *range,
                            struct frames *frames);
void frames_free(struct frames *frames);

void frames_put(struct frames *frames, int64_t k, const kith_bodies *bodies,
                const struct place *place);

/* Makes coordinates coarser by 2^shift. */
void frames_coarsen(struct frames *frames, int shift);

/* Compressed: a zlib stream of, for each frame, a byte with the order of the extrapolation from
 * frames before (0 to 2), for each axis the lower bytes of what it leaves, then the upper ones, and
 * the differences of speeds. What is left is put as 2r for r ≥ 0, else −2r − 1, modulo 2¹⁶.
 *
 *   bytes  [out] owned by the caller; free with free
 *
 * Errors: KITH_UNSUPPORTED (no zlib), KITH_OUT_OF_MEMORY. */
kith_status frames_compress(const struct frames *frames, uint8_t **bytes, int64_t *count);

#endif
