#include "view/packet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

_Static_assert(sizeof(struct packet_header) == 72, "the page reads it");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packets are little-endian");

static void fill(const kith_bodies *bodies, const struct place *place, int64_t shown,
                 float *position, float *speed)
{
    const int32_t d = bodies->dimensions;
    for (int64_t k = 0; k < shown; k++) {
        const int64_t i = packet_body(bodies->count, shown, k);
        double at[3], v2 = 0;
        place_of(place, bodies, i, at);
        for (int c = 0; c < 3; c++)
            position[3 * k + c] = (float)at[c];
        for (int c = 0; bodies->velocity && c < d; c++)
            v2 += bodies->velocity[i * d + c] * bodies->velocity[i * d + c];
        speed[k] = (float)sqrt(v2);
    }
}

double packet_left(const kith_bodies *bodies)
{
    int64_t left = 0;
    for (int64_t i = 0; i < bodies->count; i++)
        left += !isnan(bodies->position[i * bodies->dimensions]);
    return (double)left;
}

static kith_status allocate(int64_t bytes, atomic_int *alive, struct packet **packet)
{
    struct packet *made = NULL;
    *packet = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "snapshot", &made));
    const kith_status status = kith_allocate(bytes, 1, "snapshot", &made->content);
    if (status != KITH_OK) {
        free(made);
        return status;
    }
    atomic_init(&made->holders, 1);
    made->alive = alive;
    atomic_fetch_add(alive, 1);
    made->bytes = bytes;
    *packet = made;
    return KITH_OK;
}

kith_status packet_make(const kith_bodies *bodies, const struct place *place, atomic_int *alive,
                        struct packet **packet)
{
    const int64_t shown = packet_shown(bodies->count);
    KITH_TRY(allocate((int64_t)sizeof(struct packet_header) + shown * 16, alive, packet));
    struct packet_header *header = (*packet)->content;
    float *position = (float *)(header + 1);
    memcpy(header->magic, "kith", 4);
    header->version = 2;
    header->count = (uint32_t)shown;
    header->time = bodies->time;
    header->left = packet_left(bodies);
    fill(bodies, place, shown, position, position + 3 * shown);
    return KITH_OK;
}

kith_status packet_copy(const struct packet *packet, struct packet **copy)
{
    KITH_TRY(allocate(packet->bytes, packet->alive, copy));
    memcpy((*copy)->content, packet->content, (size_t)packet->bytes);
    return KITH_OK;
}

void packet_hold(struct packet *packet)
{
    atomic_fetch_add(&packet->holders, 1);
}

void packet_release(struct packet *packet)
{
    if (!packet || atomic_fetch_sub(&packet->holders, 1) > 1)
        return;
    atomic_fetch_sub(packet->alive, 1);
    free(packet->content);
    free(packet);
}
