/* Parts of a work on several GPUs that meet while they are at work. */

#include "device/cuda_meeting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda_state.h"

/* While one part is still leaving a meeting, another may be at the next, but not at the one after
 * that. */
enum { meetings_in_flight = 2 };

/* Marks the work of a part before a meeting. */
struct seat {
    cudaEvent_t ready[meetings_in_flight];
};

struct cuda_meeting {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int32_t parts, arrived;
    int64_t meetings; /* at which all have arrived */
    kith_status status;
    char message[512];
    struct seat seats[];
};

kith_status cuda_meeting_create(int32_t parts, struct cuda_meeting **made)
{
    struct cuda_meeting *meeting =
        calloc(1, sizeof *meeting + (size_t)parts * sizeof meeting->seats[0]);
    *made = NULL;
    if (!meeting)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the meetings of devices");
    pthread_mutex_init(&meeting->mutex, NULL);
    pthread_cond_init(&meeting->changed, NULL);
    meeting->parts = parts;
    *made = meeting;
    return KITH_OK;
}

void cuda_meeting_free(struct cuda_meeting *meeting)
{
    if (!meeting)
        return;
    for (int32_t part = 0; part < meeting->parts; part++)
        for (int k = 0; k < meetings_in_flight; k++)
            if (meeting->seats[part].ready[k])
                cudaEventDestroy(meeting->seats[part].ready[k]);
    pthread_cond_destroy(&meeting->changed);
    pthread_mutex_destroy(&meeting->mutex);
    free(meeting);
}

void cuda_meeting_begin(struct cuda_meeting *meeting)
{
    meeting->arrived = 0;
    meeting->meetings = 0;
    meeting->status = KITH_OK;
}

/* All parts are there, or one has left with an error. */
static kith_status wait_for_all(struct cuda_meeting *meeting)
{
    kith_status status = KITH_OK;
    char message[sizeof meeting->message];
    pthread_mutex_lock(&meeting->mutex);
    const int64_t before = meeting->meetings;
    if (++meeting->arrived == meeting->parts) {
        meeting->arrived = 0;
        meeting->meetings++;
        pthread_cond_broadcast(&meeting->changed);
    }
    while (meeting->meetings == before && meeting->status == KITH_OK)
        pthread_cond_wait(&meeting->changed, &meeting->mutex);
    if (meeting->meetings == before) {
        status = meeting->status;
        snprintf(message, sizeof message, "%s", meeting->message);
    }
    pthread_mutex_unlock(&meeting->mutex);
    return status == KITH_OK ? KITH_OK : kith_fail(status, "%s", message);
}

kith_status cuda_meeting_leave(struct cuda_meeting *meeting, kith_status status)
{
    if (status == KITH_OK)
        return KITH_OK;
    pthread_mutex_lock(&meeting->mutex);
    if (meeting->status == KITH_OK) {
        snprintf(meeting->message, sizeof meeting->message, "%s", kith_error_message());
        meeting->status = status;
    }
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->mutex);
    return status;
}

kith_status cuda_meet(struct cuda_meeting *meeting, const struct cuda_part *part, bool waits)
{
    const char what[] = "marking the work of a device";
    cudaStream_t stream = cuda_stream(part->context);
    pthread_mutex_lock(&meeting->mutex); /* all have been at the meetings before */
    const int32_t slot = (int32_t)(meeting->meetings % meetings_in_flight);
    pthread_mutex_unlock(&meeting->mutex);
    cudaEvent_t *own = &meeting->seats[part->index].ready[slot];
    if (!*own)
        KITH_TRY(cuda_check(cudaEventCreateWithFlags(own, cudaEventDisableTiming), what));
    KITH_TRY(cuda_check(cudaEventRecord(*own, stream), what));
    KITH_TRY(wait_for_all(meeting));
    for (int32_t k = 0; waits && k < meeting->parts; k++)
        if (k != part->index)
            KITH_TRY(cuda_check(cudaStreamWaitEvent(stream, meeting->seats[k].ready[slot], 0),
                                "waiting for another device"));
    return KITH_OK;
}
