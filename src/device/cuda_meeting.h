#ifndef DEVICE_CUDA_MEETING_H
#define DEVICE_CUDA_MEETING_H

#include "device/cuda_peers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Meetings of the parts of a work that cuda_share does with waits, each in its thread: all parts of
 * it meet equally often. One work at a time meets. */
struct cuda_meeting;
kith_status cuda_meeting_create(int32_t parts, struct cuda_meeting **meeting);
void cuda_meeting_free(struct cuda_meeting *meeting); /* NULL: nothing */

/* Before each work. */
void cuda_meeting_begin(struct cuda_meeting *meeting);

/* What the other parts have put on their contexts' streams before comes before what this one puts
 * on its own after, if its stream waits for them. The host waits until all parts are there, but for
 * no device.
 *
 * Errors: those of the part that was the first to leave. */
kith_status cuda_meet(struct cuda_meeting *meeting, const struct cuda_part *part, bool waits);

/* For a part that ends: after an error no other one waits for it. Returns status. */
kith_status cuda_meeting_leave(struct cuda_meeting *meeting, kith_status status);

#ifdef __cplusplus
}
#endif

#endif
