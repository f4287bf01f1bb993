/* What a view does between two steps: snapshots and energies within their share of the time, pauses
 * and single steps. */

#include <math.h>

#include "core/clock.h"
#include "simulation/state.h"
#include "view/processor.h"
#include "view/view.h"

static const double frame_seconds = 1.0 / 60;

/* What is taken between the steps costs at most this fraction of the time of the run. */
static const double snapshot_part = 1.0 / 100, energy_part = 1.0 / 300;

/* A wait is looked up from this often: the context may be cancelled. */
static const double wait_seconds = 0.05;

/* What the run has spent: processor time and time that it has waited for no work, so that a busy
 * machine, where a second of the clock has fewer steps in it, has fewer snapshots a second, too. A
 * thread that waits for a GPU spends the time of the clock. */
static double spent_seconds(const struct view_pace *pace, const kith_simulation *simulation)
{
    return simulation->context->device.kind == KITH_CPU ? processor_seconds() + pace->waited
                                                        : kith_clock();
}

/* An evaluation of all forces: rarely. The first is the one that errors are relative to. */
static void take_energy(struct kith_view *view, kith_simulation *simulation)
{
    struct view_pace *pace = &view->pace;
    const double start = spent_seconds(pace, simulation);
    const bool is_first = isnan(pace->first_energy);
    kith_diagnostics diagnostics;
    if (start < pace->energy_at || kith_simulation_diagnose(simulation, &diagnostics) != KITH_OK)
        return;
    pace->energy = diagnostics.total_energy;
    pace->energy_time = kith_simulation_time(simulation);
    if (is_first)
        pace->first_energy = pace->energy;
    const double now = spent_seconds(pace, simulation);
    pace->energy_at = now + (now - start) / energy_part;
    feed_add_energy(&view->feed, pace->energy_time,
                    fabs(pace->energy - pace->first_energy) / fabs(pace->first_energy));
}

static void fill_header(struct kith_view *view, const kith_simulation *simulation, bool is_paused,
                        struct packet_header *header)
{
    struct view_pace *pace = &view->pace;
    header->flags = is_paused ? packet_paused : 0;
    header->step = (double)kith_simulation_steps(simulation);
    header->sequence = ++pace->sequence;
    header->energy_time = pace->energy_time;
    header->total_energy = pace->energy;
    header->energy_error = fabs(pace->energy - pace->first_energy) / fabs(pace->first_energy);
}

/* Without memory for it, or if the state is not available now, no snapshot is taken: the run
 * continues. */
static void take_snapshot(struct kith_view *view, kith_simulation *simulation, bool is_paused)
{
    struct view_pace *pace = &view->pace;
    struct feed *feed = &view->feed;
    const double start = spent_seconds(pace, simulation);
    struct packet *packet = NULL;
    pace->frame_at = kith_clock() + frame_seconds;
    if (atomic_load(&feed->packets) >= view_most_packets ||
        kith_simulation_get_bodies(simulation, view->bodies) != KITH_OK ||
        packet_make(view->bodies, &view->about.place, &feed->packets, &packet) != KITH_OK)
        return;
    view_note_left(view, packet);
    fill_header(view, simulation, is_paused, packet->content);
    feed_publish(feed, packet);
    pace->shown_step = kith_simulation_steps(simulation);
    pace->shown_paused = is_paused;
    const double spent = spent_seconds(pace, simulation) - start + feed->serving_seconds;
    pace->snapshot_at = start + spent / snapshot_part;
}

/* While it is paused nothing changes, and nothing is late; nor is it at the end. */
static void look(struct kith_view *view, kith_simulation *simulation, bool is_paused)
{
    const struct view_pace *pace = &view->pace;
    const bool is_shown =
        pace->shown_step == kith_simulation_steps(simulation) && pace->shown_paused == is_paused;
    const bool is_last = kith_simulation_time(simulation) >= pace->until;
    if (is_shown || !atomic_load(&view->feed.is_wanted) ||
        (!is_paused && !is_last &&
         (kith_clock() < pace->frame_at || spent_seconds(pace, simulation) < pace->snapshot_at)))
        return;
    take_energy(view, simulation);
    take_snapshot(view, simulation, is_paused);
}

/* The time before which the next step may not begin; 0: now. Time that steps of before have lost is
 * not made good. */
static double not_before(struct view_pace *pace, int64_t step)
{
    const double now = kith_clock();
    if (pace->steps_per_second == 0)
        return 0;
    const double at = pace->start + (double)(step - pace->start_steps) / pace->steps_per_second;
    if (pace->start > 0 && at >= now - wait_seconds)
        return at;
    pace->start = now;
    pace->start_steps = step;
    return 0;
}

static int64_t steps_at_once(const struct view_pace *pace)
{
    const double steps = pace->steps_per_second * frame_seconds;
    return pace->steps_per_second == 0 ? 0 : steps > 1 ? (int64_t)steps : 1;
}

int64_t kith_view_between_steps(void *view_of_run, kith_simulation *simulation)
{
    struct kith_view *view = view_of_run;
    struct feed *feed = &view->feed;
    struct view_pace *pace = &view->pace;
    if (isnan(pace->first_energy))
        take_energy(view, simulation);
    const double begin = not_before(pace, kith_simulation_steps(simulation));
    for (;;) {
        const bool is_paused = atomic_load(&feed->is_paused);
        look(view, simulation, is_paused);
        const double now = kith_clock();
        if (kith_context_stops(simulation->context))
            return 0;
        if (is_paused && feed_takes_step(feed))
            return 1;
        if (!is_paused && now >= begin)
            return steps_at_once(pace);
        feed_wait(feed, is_paused ? now + wait_seconds : fmin(begin, now + wait_seconds));
        pace->waited += kith_clock() - now;
        if (is_paused)
            pace->start = 0;
    }
}
