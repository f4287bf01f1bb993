#include "ranks/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ranks/ranks.h"

/* A plane is found by this many histograms, each of the bin in which it is. */
enum { rounds = 4, bins = 64 };

/* A part of space that is to be divided among the ranks begin … end − 1, and where its plane is. */
struct part {
    int32_t begin, end, axis;
    double low[3], high[3];
    double from, width; /* of the bins, along the axis */
    uint64_t total, before;
    int32_t next; /* the first of its parts that are divided further */
};

struct cutting {
    kith_context *context;
    int64_t count;
    const double (*x)[3];
    const uint32_t *weights;
    int32_t *part_of; /* a point's, or −1: it is divided no more */
    struct part *parts, *next;
    int32_t part_count;
    unsigned long long *histogram;
};

kith_status ranks_boxes_create(int32_t parts, struct ranks_boxes *boxes)
{
    *boxes = (struct ranks_boxes){.parts = parts};
    KITH_TRY(kith_allocate(parts, sizeof *boxes->axis, "boxes of ranks", &boxes->axis));
    return kith_allocate(parts, sizeof *boxes->at, "boxes of ranks", &boxes->at);
}

void ranks_boxes_free(struct ranks_boxes *boxes)
{
    free(boxes->axis);
    free(boxes->at);
    *boxes = (struct ranks_boxes){0};
}

/* What the points of all ranks span: low > high if there are none. */
static void span(const struct cutting *cutting, double low[3], double high[3])
{
    for (int c = 0; c < 3; c++) {
        low[c] = (double)INFINITY;
        high[c] = -(double)INFINITY;
    }
    for (int64_t i = 0; i < cutting->count; i++)
        for (int c = 0; c < 3; c++) {
            const double x = cutting->x[i][c];
            low[c] = x < low[c] ? x : low[c];
            high[c] = x > high[c] ? x : high[c];
        }
    for (int c = 0; c < 3; c++)
        low[c] = -low[c];
    ranks_maximum(cutting->context, low, 3);
    ranks_maximum(cutting->context, high, 3);
    for (int c = 0; c < 3; c++)
        low[c] = -low[c];
}

/* Where the bins of a part are, along its longest axis. */
static void begin_part(struct part *part)
{
    part->axis = 0;
    for (int c = 1; c < 3; c++)
        if (part->high[c] - part->low[c] > part->high[part->axis] - part->low[part->axis])
            part->axis = c;
    part->from = part->low[part->axis];
    part->width = (part->high[part->axis] - part->from) / bins;
    part->before = 0;
}

static void count_points(struct cutting *cutting)
{
    memset(cutting->histogram, 0, (size_t)cutting->part_count * bins * sizeof *cutting->histogram);
    for (int64_t i = 0; i < cutting->count; i++) {
        const int32_t k = cutting->part_of[i];
        if (k < 0)
            continue;
        const struct part *part = &cutting->parts[k];
        const double x = cutting->x[i][part->axis] - part->from;
        /* The last point of all is in the last bin. */
        if (x < 0 || x > bins * part->width)
            continue;
        const int bin = part->width > 0 ? (int)(x / part->width) : 0;
        cutting->histogram[k * bins + (bin < bins ? bin : bins - 1)] +=
            cutting->weights ? cutting->weights[i] : 1;
    }
    ranks_add(cutting->context, cutting->histogram, (int64_t)cutting->part_count * bins);
}

/* To the bin in which the plane is; true, if it is nearer to its end. */
static bool narrow(struct part *part, const unsigned long long *histogram, bool is_first)
{
    const int32_t ranks = part->end - part->begin, left = ranks / 2;
    uint64_t sum = 0;
    int bin = 0;
    for (int k = 0; k < bins && is_first; k++)
        part->total = k == 0 ? histogram[0] : part->total + histogram[k];
    const double wanted = (double)part->total * left / ranks - (double)part->before;
    while (bin < bins - 1 && (double)(sum + histogram[bin]) < wanted)
        sum += histogram[bin++];
    part->before += sum;
    part->from += bin * part->width;
    return (double)(2 * sum + histogram[bin]) < 2 * wanted;
}

/* The planes of all parts. */
static void find_planes(struct cutting *cutting, struct ranks_boxes *boxes)
{
    for (int32_t k = 0; k < cutting->part_count; k++)
        begin_part(&cutting->parts[k]);
    for (int round = 0; round < rounds; round++) {
        count_points(cutting);
        for (int32_t k = 0; k < cutting->part_count; k++) {
            struct part *part = &cutting->parts[k];
            const int32_t middle = part->begin + (part->end - part->begin) / 2;
            const bool is_after = narrow(part, cutting->histogram + k * bins, round == 0);
            boxes->axis[middle] = part->axis;
            boxes->at[middle] = part->from + (is_after ? part->width : 0);
            part->width /= bins;
        }
    }
}

/* The parts of the ranks on either side of each plane, if these are several. */
static void divide(struct cutting *cutting, const struct ranks_boxes *boxes)
{
    int32_t count = 0;
    for (int32_t k = 0; k < cutting->part_count; k++) {
        struct part left = cutting->parts[k], right = left;
        const int32_t middle = left.begin + (left.end - left.begin) / 2;
        left.end = right.begin = middle;
        left.high[left.axis] = right.low[left.axis] = boxes->at[middle];
        cutting->parts[k].next = count;
        if (left.end - left.begin > 1)
            cutting->next[count++] = left;
        if (right.end - right.begin > 1)
            cutting->next[count++] = right;
    }
    for (int64_t i = 0; i < cutting->count; i++) {
        if (cutting->part_of[i] < 0)
            continue;
        const struct part *part = &cutting->parts[cutting->part_of[i]];
        const int32_t middle = part->begin + (part->end - part->begin) / 2;
        const bool is_left = cutting->x[i][part->axis] < boxes->at[middle];
        const bool left_goes_on = middle - part->begin > 1, right_goes_on = part->end - middle > 1;
        cutting->part_of[i] = is_left         ? (left_goes_on ? part->next : -1)
                              : right_goes_on ? part->next + left_goes_on
                                              : -1;
    }
    struct part *const before = cutting->parts;
    cutting->parts = cutting->next;
    cutting->next = before;
    cutting->part_count = count;
}

static kith_status allocate(int32_t parts, struct cutting *cutting)
{
    static const char what[] = "boxes of ranks";
    KITH_TRY(kith_allocate(cutting->count, sizeof *cutting->part_of, what, &cutting->part_of));
    KITH_TRY(kith_allocate(parts, sizeof *cutting->parts, what, &cutting->parts));
    KITH_TRY(kith_allocate(parts, sizeof *cutting->next, what, &cutting->next));
    return kith_allocate((int64_t)parts * bins, sizeof *cutting->histogram, what,
                         &cutting->histogram);
}

kith_status ranks_boxes_cut(kith_context *context, int64_t count, const double (*x)[3],
                            const uint32_t *weights, struct ranks_boxes *boxes)
{
    struct cutting cutting = {.context = context, .count = count, .x = x, .weights = weights};
    const kith_status status = ranks_agree(context, allocate(boxes->parts, &cutting));
    if (status == KITH_OK) {
        struct part *all = &cutting.parts[0];
        *all = (struct part){.begin = 0, .end = boxes->parts};
        span(&cutting, all->low, all->high);
        for (cutting.part_count = boxes->parts > 1; cutting.part_count > 0;) {
            find_planes(&cutting, boxes);
            divide(&cutting, boxes);
        }
    }
    free(cutting.part_of);
    free(cutting.parts);
    free(cutting.next);
    free(cutting.histogram);
    return status;
}
