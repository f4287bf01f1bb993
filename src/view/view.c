#include "view/view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/arguments.h"
#include "core/clock.h"
#include "core/memory.h"
#include "view/server.h"

/* How long the last state waits for a page that has requested a frame lately. */
static const double last_wait_seconds = 0.5, lately_seconds = 2;

static kith_status make_token(char token[request_token_digits + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[request_token_digits / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return kith_fail(KITH_IO_ERROR, "random numbers are not available: %s", strerror(errno));
    for (int k = 0; k < request_token_digits; k++)
        token[k] = digits[random[k / 2] >> (k % 2 ? 0 : 4) & 15];
    token[request_token_digits] = 0;
    return KITH_OK;
}

static kith_status check_options(const kith_view_options *options)
{
    if (options->port < 0 || options->port > 65535)
        return kith_fail(KITH_INVALID_ARGUMENT, "port is %d; it must be from 0 to 65535",
                         (int)options->port);
    if (!(options->steps_per_second >= 0) || isinf(options->steps_per_second))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "steps_per_second is %g; it must be 0 (no limit) or greater",
                         options->steps_per_second);
    return KITH_OK;
}

static kith_status begin(struct kith_view *view, const kith_view_options *options,
                         const kith_bodies *bodies, int64_t frames)
{
    view->pace =
        (struct view_pace){.first_energy = NAN,
                           .energy = NAN,
                           .shown_step = -1,
                           .until = options->until > bodies->time ? options->until : INFINITY,
                           .steps_per_second = options->steps_per_second};
    view->left = (double)bodies->count;
    KITH_TRY(feed_begin(&view->feed));
    KITH_TRY(about_make(bodies, packet_shown(bodies->count), options->title, frames, options->until,
                        &view->about));
    KITH_TRY(make_token(view->gate.token));
    KITH_TRY(server_start(view, options->port, &view->gate, &view->server));
    const int bytes = 64;
    KITH_TRY(kith_allocate(bytes, 1, "address", &view->address));
    snprintf(view->address, (size_t)bytes, "http://127.0.0.1:%d/%s/", (int)view->gate.port,
             view->gate.token);
    return KITH_OK;
}

static kith_status open_view(const kith_view_options *options, const kith_bodies *bodies,
                             struct kith_view *made, int64_t frames, kith_view **view)
{
    const kith_view_options chosen = options ? *options : (kith_view_options){0};
    kith_status status = check_options(&chosen);
    if (status == KITH_OK)
        status = begin(made, &chosen, bodies, frames);
    if (status == KITH_OK)
        *view = made;
    else
        kith_view_close(made);
    return status;
}

static void copy_column(const double *from, int64_t count, double *to)
{
    for (int64_t i = 0; from && to && i < count; i++)
        to[i] = from[i];
}

/* Room for the state; with radii bodies can merge, which changes other columns, too. */
static kith_status make_state(const kith_bodies *bodies, kith_bodies **state)
{
    unsigned columns = KITH_VELOCITY;
    if (bodies->radius)
        columns |=
            KITH_RADIUS | (bodies->mass ? KITH_MASS : 0) | (bodies->charge ? KITH_CHARGE : 0);
    KITH_TRY(kith_bodies_create(bodies->count, bodies->dimensions, columns, state));
    copy_column(bodies->radius, bodies->count, (*state)->radius);
    copy_column(bodies->mass, bodies->count, (*state)->mass);
    copy_column(bodies->charge, bodies->count, (*state)->charge);
    return KITH_OK;
}

kith_status kith_view_open(const kith_view_options *options, const kith_bodies *bodies,
                           kith_view **view)
{
    KITH_TRY(kith_check_pointer(view, "view"));
    *view = NULL;
    KITH_TRY(kith_bodies_check(bodies));
    struct kith_view *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "view", &made));
    const kith_status status = make_state(bodies, &made->bodies);
    if (status != KITH_OK) {
        kith_bodies_free(made->bodies);
        free(made);
        return status;
    }
    return open_view(options, bodies, made, 0, view);
}

static kith_status first_energy_of(kith_trajectory *trajectory, double *energy)
{
    int64_t components = 0;
    double *values = NULL;
    *energy = NAN;
    if (kith_trajectory_observable(trajectory, "total_energy", &components, &values, NULL) ==
            KITH_OK &&
        components == 1 && kith_trajectory_frames(trajectory) > 0)
        *energy = values[0];
    free(values);
    return KITH_OK;
}

kith_status kith_view_open_trajectory(const kith_view_options *options, kith_trajectory *trajectory,
                                      kith_view **view)
{
    KITH_TRY(kith_check_pointer(view, "view"));
    *view = NULL;
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    const int64_t frames = kith_trajectory_frames(trajectory);
    if (frames == 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "the trajectory has no frames");
    struct kith_view *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "view", &made));
    made->trajectory = trajectory;
    kith_status status = kith_trajectory_read(trajectory, 0, &made->bodies);
    if (status == KITH_OK)
        status = first_energy_of(trajectory, &made->first_energy);
    if (status != KITH_OK) {
        kith_bodies_free(made->bodies);
        free(made);
        return status;
    }
    return open_view(options, made->bodies, made, frames, view);
}

const char *kith_view_address(const kith_view *view)
{
    return view ? view->address : "";
}

static bool has_pages(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    const bool has =
        feed->latest && feed->asked_at > 0 && kith_clock() - feed->asked_at < lately_seconds;
    pthread_mutex_unlock(&feed->lock);
    return has;
}

/* A page that has just requested a frame fetches the last state, too, and learns that it is the
 * last. */
static void show_end(struct kith_view *view)
{
    struct feed *feed = &view->feed;
    struct packet *last = NULL;
    if (!has_pages(feed) || packet_copy(feed->latest, &last) != KITH_OK)
        return;
    const double sequence = ++view->pace.sequence, end = kith_clock() + last_wait_seconds;
    last->content->flags |= packet_ended;
    last->content->sequence = sequence;
    feed_publish(feed, last);
    for (bool waits = true; waits && kith_clock() < end;) {
        feed_wait(feed, kith_clock() + 0.02);
        pthread_mutex_lock(&feed->lock);
        waits = feed->fetched < sequence;
        pthread_mutex_unlock(&feed->lock);
    }
}

void kith_view_close(kith_view *view)
{
    if (!view)
        return;
    if (view->server && !view->trajectory)
        show_end(view);
    server_stop(view->server);
    about_free(&view->about);
    feed_end(&view->feed);
    kith_bodies_free(view->bodies);
    free(view->address);
    free(view);
}

void view_note_left(struct kith_view *view, const struct packet *packet)
{
    if (packet->content->left == view->left)
        return;
    view->left = packet->content->left;
    pthread_mutex_lock(&view->feed.lock);
    about_update(view->bodies, &view->about);
    pthread_mutex_unlock(&view->feed.lock);
}

kith_status view_column(struct kith_view *view, const char *name, float **values)
{
    *values = NULL;
    const struct about_column *column = about_find(&view->about, name);
    if (!column)
        return KITH_OK;
    const int64_t shown = view->about.shown;
    KITH_TRY(kith_allocate(shown, sizeof **values, "column", values));
    pthread_mutex_lock(&view->feed.lock);
    if (shown > 0)
        memcpy(*values, column->values, (size_t)shown * sizeof **values);
    pthread_mutex_unlock(&view->feed.lock);
    return KITH_OK;
}

static kith_status read_frame(struct kith_view *view, double number, struct packet **packet)
{
    struct feed *feed = &view->feed;
    if (!(number >= 0) || number >= (double)kith_trajectory_frames(view->trajectory))
        return kith_fail(KITH_INVALID_ARGUMENT, "the frame does not exist");
    if (atomic_load(&feed->packets) >= view_most_packets)
        return KITH_OK;
    KITH_TRY(kith_trajectory_read(view->trajectory, (int64_t)number, &view->bodies));
    KITH_TRY(packet_make(view->bodies, &view->about.place, &feed->packets, packet));
    view_note_left(view, *packet);
    struct packet_header *header = (*packet)->content;
    header->step = header->sequence = floor(number);
    header->energy_error = header->energy_time = header->total_energy = NAN;
    return KITH_OK;
}

kith_status view_frame(struct kith_view *view, double number, struct packet **packet)
{
    *packet = NULL;
    if (view->trajectory)
        return read_frame(view, number, packet);
    *packet = feed_take(&view->feed, number);
    return KITH_OK;
}

static kith_status read_energies(struct kith_view *view, int64_t *count,
                                 struct feed_energy **energies)
{
    int64_t components = 0;
    double *values = NULL, *times = NULL;
    const bool found = kith_trajectory_observable(view->trajectory, "total_energy", &components,
                                                  &values, &times) == KITH_OK;
    const int64_t frames = found && components == 1 ? kith_trajectory_frames(view->trajectory) : 0;
    const kith_status status = kith_allocate(frames, sizeof **energies, "energies", energies);
    for (int64_t k = 0; status == KITH_OK && k < frames; k++)
        (*energies)[k] = (struct feed_energy){times[k], fabs(values[k] - view->first_energy) /
                                                            fabs(view->first_energy)};
    *count = status == KITH_OK ? frames : 0;
    free(values);
    free(times);
    return status;
}

kith_status view_energies(struct kith_view *view, int64_t *count, struct feed_energy **energies)
{
    *count = 0;
    *energies = NULL;
    if (view->trajectory)
        return read_energies(view, count, energies);
    KITH_TRY(kith_allocate(feed_most_energies, sizeof **energies, "energies", energies));
    *count = feed_copy_energies(&view->feed, *energies);
    return KITH_OK;
}
