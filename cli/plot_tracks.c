/* Positions to draw: read from a run, thinned out evenly, and measured. */

#include "plot_tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_cell.h"

/* The k-th of count numbers that are spread evenly over 0 … length − 1, both ends included. */
static int64_t spread(int64_t k, int64_t count, int64_t length)
{
    if (count < 2)
        return length - 1;
    return (int64_t)llround((double)k * (double)(length - 1) / (double)(count - 1));
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void choose_size(const struct plot *plot, const struct tracks_limits *limits,
                        const kith_bodies *bodies, struct tracks *tracks)
{
    tracks->bodies_in_file = bodies->count;
    tracks->dimensions = bodies->dimensions;
    tracks->bodies = smaller(bodies->count, limits->bodies);
    tracks->frames =
        smaller(plot->frames, tracks_are_few(tracks) ? limits->few_frames : limits->frames);
    if (tracks->bodies < tracks->bodies_in_file)
        cli_note(plot->quiet, plot->command, "%s has %lld bodies: %lld of them are drawn",
                 plot->input, (long long)tracks->bodies_in_file, (long long)tracks->bodies);
}

static void write_label(const kith_bodies *bodies, int64_t body, kith_name label)
{
    if (bodies->name && bodies->name[body][0])
        memcpy(label, bodies->name[body], sizeof(kith_name));
    else
        snprintf(label, sizeof(kith_name), "body %lld",
                 (long long)(bodies->id ? bodies->id[body] : body));
}

static int allocate(const struct plot *plot, bool has_curves, struct tracks *tracks)
{
    tracks->time = plot_allocate(plot, tracks->frames, sizeof(double));
    tracks->position = plot_allocate(plot, tracks->frames * tracks->bodies, 3 * sizeof(double));
    tracks->label = plot_allocate(plot, tracks->bodies, sizeof(kith_name));
    tracks->coarse = plot_allocate(plot, tracks->bodies, sizeof(bool));
    if (has_curves)
        tracks->velocity = plot_allocate(plot, tracks->frames * tracks->bodies, 3 * sizeof(double));
    return tracks->time && tracks->position && tracks->label && tracks->coarse &&
                   (tracks->velocity || !has_curves)
               ? exit_ok
               : exit_failed;
}

static int copy_frame(const struct plot *plot, kith_bodies *bodies, int64_t frame,
                      struct tracks *tracks)
{
    if (bodies->count != tracks->bodies_in_file)
        return cli_fail_with(plot->command, "%s has %lld bodies in one frame and %lld in another",
                             plot->input, (long long)tracks->bodies_in_file,
                             (long long)bodies->count);
    if (!tracks_are_few(tracks) && !plot_wrap(plot, bodies)) /* paths of few are not cut */
        return exit_failed;
    tracks->time[frame] = bodies->time;
    const int32_t dimensions = bodies->dimensions;
    for (int64_t i = 0; i < tracks->bodies; i++) {
        const int64_t row = spread(i, tracks->bodies, bodies->count);
        double *position = tracks->position + 3 * (frame * tracks->bodies + i);
        memcpy(position, bodies->position + row * dimensions, sizeof(double) * (size_t)dimensions);
        if (tracks->velocity)
            memcpy(tracks->velocity + 3 * (frame * tracks->bodies + i),
                   bodies->velocity + row * dimensions, sizeof(double) * (size_t)dimensions);
    }
    return exit_ok;
}

/* Whether straight lines through the frames of a body are not its path. */
static bool lines_are_coarse(const struct tracks *tracks, int64_t body)
{
    const double least_cosine = 0.766; /* of 40 degrees */
    int64_t turns = 0, sharp_turns = 0;
    double before[3] = {0}, length_before = 0;
    for (int64_t k = 1; k < tracks->frames; k++) {
        const double *from = tracks_at(tracks, k - 1, body), *to = tracks_at(tracks, k, body);
        const double step[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
        const double length = sqrt(along(step, step));
        turns += k > 1;
        sharp_turns += k > 1 && along(step, before) < least_cosine * length * length_before;
        memcpy(before, step, sizeof step);
        length_before = length;
    }
    return 2 * sharp_turns > turns;
}

static bool make_curves(const struct plot *plot, struct tracks *tracks)
{
    if (tracks->velocity) {
        tracks_find_coarse(tracks);
        return tracks_curve(plot, tracks);
    }
    for (int64_t i = 0; tracks_are_few(tracks) && i < tracks->bodies; i++)
        tracks->coarse[i] = lines_are_coarse(tracks, i);
    return true;
}

/* Bodies that leave a periodic cell on one side and come back on the other are on no curve. */
static bool curves_are_possible(const kith_bodies *bodies, const struct tracks *tracks)
{
    return bodies->velocity && !bodies->has_cell && tracks_are_few(tracks) && tracks->frames > 1;
}

int tracks_read(const struct plot *plot, kith_trajectory *trajectory, struct tracks_limits limits,
                struct tracks *tracks)
{
    *tracks = (struct tracks){0};
    kith_trajectory_unit(trajectory, "length", tracks->length_unit);
    kith_trajectory_unit(trajectory, "time", tracks->time_unit);
    kith_bodies *bodies = NULL;
    int code = exit_ok;
    if (kith_trajectory_read(trajectory, plot->first_frame, &bodies) != KITH_OK)
        return cli_fail(plot->command);
    if (bodies->count == 0)
        code = cli_fail_with(plot->command, "%s has no bodies to draw", plot->input);
    else {
        choose_size(plot, &limits, bodies, tracks);
        code = allocate(plot, curves_are_possible(bodies, tracks), tracks);
    }
    for (int64_t i = 0; code == exit_ok && i < tracks->bodies; i++)
        write_label(bodies, spread(i, tracks->bodies, bodies->count), tracks->label[i]);
    for (int64_t k = 0; code == exit_ok && k < tracks->frames; k++) {
        const int64_t frame = plot->first_frame + spread(k, tracks->frames, plot->frames);
        if (kith_trajectory_read(trajectory, frame, &bodies) != KITH_OK)
            code = cli_fail(plot->command);
        else
            code = copy_frame(plot, bodies, k, tracks);
    }
    kith_bodies_free(bodies);
    tracks->sampled_frames = tracks->frames;
    if (code == exit_ok && !make_curves(plot, tracks))
        code = exit_failed;
    if (code != exit_ok)
        tracks_free(tracks);
    return code;
}

int tracks_read_still(const struct plot *plot, kith_trajectory *trajectory, struct tracks *tracks)
{
    const bool vector_graphics = strcmp(plot->format->extension, "svg") == 0;
    const struct tracks_limits limits = {
        .bodies = vector_graphics ? 20000 : 200000, .frames = 1, .few_frames = 10000};
    return tracks_read(plot, trajectory, limits, tracks);
}

void tracks_free(struct tracks *tracks)
{
    free(tracks->position);
    free(tracks->time);
    free(tracks->label);
    free(tracks->velocity);
    free(tracks->coarse);
    *tracks = (struct tracks){0};
}

/* The span of sorted values, without a share of them at each end but a fifth wider, if that is
 * narrower than the whole; and a little wider still, for the points at the rim. */
static struct span span_of_sorted(const double *values, int64_t count, double share)
{
    const int64_t skip = (int64_t)(share * (double)count);
    struct span span = {values[0], values[count - 1]};
    const double low = values[skip], high = values[count - 1 - skip];
    const double widening = skip > 0 ? 0.2 * (high - low) : 0;
    span.low = fmax(span.low, low - widening);
    span.high = fmin(span.high, high + widening);
    const double margin = 0.04 * (span.high - span.low);
    return (struct span){span.low - margin, span.high + margin};
}

bool tracks_span(const struct plot *plot, const struct tracks *tracks, const double direction[3],
                 struct span *span)
{
    const int64_t points = tracks->frames * tracks->bodies;
    const int64_t sample = smaller(points, 400000);
    double *values = plot_allocate(plot, sample, sizeof(double));
    if (!values)
        return false;
    int64_t there = 0; /* removed bodies have no position */
    for (int64_t k = 0; k < sample; k++) {
        values[there] = along(direction, tracks->position + 3 * spread(k, sample, points));
        there += !isnan(values[there]);
    }
    cli_sort(values, there);
    const double share = tracks_are_few(tracks) ? 0 : tracks->frames > 1 ? 0.01 : 0.02;
    *span = there > 0 ? span_of_sorted(values, there, share) : (struct span){0};
    free(values);
    return true;
}
