/* Bodies that collide, pass near each other or escape. */

#include "simulating.h"

#include <stdlib.h>
#include <string.h>

#include "random_numbers.h"
#include "simulation/contact.h"

static kith_bodies *bodies_of(int64_t count, int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(
        kith_bodies_create(count, dimensions, KITH_VELOCITY | KITH_MASS | KITH_RADIUS, &bodies));
    return bodies;
}

/* Bodies in a unit cube, with speeds of about 1, that fill such a part of it. */
static kith_bodies *random_cloud(struct random_numbers *numbers, int64_t count, int32_t dimensions,
                                 double part)
{
    kith_bodies *bodies = bodies_of(count, dimensions);
    const double radius = pow(part / (double)count, 1.0 / dimensions) / 2;
    for (int64_t k = 0; k < count * dimensions; k++) {
        bodies->position[k] = random_uniform(numbers, 0, 1);
        bodies->velocity[k] = random_uniform(numbers, -1, 1);
    }
    for (int64_t i = 0; i < count; i++) {
        bodies->mass[i] = random_uniform(numbers, 0.5, 1.5) / (double)count;
        bodies->radius[i] = radius * random_uniform(numbers, 0, 2);
    }
    return bodies;
}

static kith_simulation_options colliding(const char *integrator, double dt,
                                         kith_on_collision outcome)
{
    return (kith_simulation_options){.dt = dt,
                                     .integrator = integrator,
                                     .forces.softening = 0.01,
                                     .on_collision = outcome,
                                     .restitution = 1};
}

static const kith_event *events_of(const kith_simulation *simulation, int64_t expected)
{
    int64_t count = 0;
    const kith_event *events = kith_simulation_events(simulation, &count);
    assert_int_equal(count, expected);
    return events;
}

static int64_t left_of(const kith_simulation *simulation)
{
    int64_t count = 0;
    (void)kith_simulation_rows(simulation, &count);
    return count;
}

/* A path that is a cubic curve, against many small steps along it. */
static void test_contacts_are_where_the_path_is_as_near_as_that(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("contact");
    int touching = 0;
    for (int turn = 0; turn < 2000; turn++) {
        double x[2][3], v[2][3], s = 0, nearest = 0, p[3], slope[3];
        for (int end = 0; end < 2; end++)
            for (int k = 0; k < 3; k++) {
                x[end][k] = random_uniform(&numbers, -1, 1);
                v[end][k] = random_uniform(&numbers, -9, 9);
            }
        const struct contact_path path = contact_path_of(x[0], v[0], x[1], v[1], 0.5);
        const double reach = random_uniform(&numbers, 0.01, 1);
        const bool touches = contact_begins(&path, reach, &s);
        const bool has_minimum = contact_nearest(&path, &nearest);
        double first = 2, least = INFINITY;
        enum { pieces = 2000 };
        for (int piece = 0; piece <= pieces; piece++) {
            contact_path_at(&path, (double)piece / pieces, p, slope);
            least = fmin(least, length_of(p));
            if (first > 1 && length_of(p) <= reach)
                first = (double)piece / pieces;
        }
        touching += touches;
        if (first <= 1)
            assert_true(touches && s <= first);
        /* Speeds are below 40: between two pieces the distance changes by less than 0.02. */
        assert_true(!touches || least < reach + 0.02);
        if (touches && s > 0) {
            contact_path_at(&path, s, p, slope);
            assert_true(fabs(length_of(p) - reach) < 1e-12);
        }
        if (has_minimum) {
            contact_path_at(&path, nearest, p, slope);
            const double along = p[0] * slope[0] + p[1] * slope[1] + p[2] * slope[2];
            assert_true(fabs(along) < 1e-12 * 1600);
            assert_true(length_of(p) > least - 0.02);
        }
    }
    assert_true(touching > 100 && touching < 2000);
}

/* Much farther than their radii in a step: massless bodies go straight on. */
static void test_bodies_meet_on_their_way_within_a_step(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "leapfrog-dkd", "yoshida8",
                                              "rk4",      "hermite4",     "ias15"};
    kith_context *context = cpu_context(1);
    for (size_t k = 0; k < sizeof integrators / sizeof *integrators; k++) {
        kith_bodies *bodies = bodies_of(2, 3);
        bodies->position[3] = 400;
        bodies->velocity[3] = -1000;
        bodies->radius[0] = bodies->radius[1] = 0.01;
        kith_simulation *simulation =
            simulated(context, bodies, colliding(integrators[k], 1, KITH_ON_COLLISION_MERGE));
        assert_ok(kith_simulation_step(simulation, 1));
        const kith_event *event = events_of(simulation, 1);
        assert_true(event->kind == KITH_EVENT_MERGE && event->step == 1);
        assert_true(event->body == 0 && event->other == 1);
        assert_true(fabs(event->time - 0.39998) < 1e-12);
        assert_true(fabs(event->distance - 0.02) < 1e-10);
        assert_true(fabs(event->speed - 1000) < 1e-9);
        assert_true(left_of(simulation) == 1 && kith_simulation_collisions(simulation) == 1);
        kith_bodies *now = state_of(simulation, bodies);
        assert_true(fabs(now->position[0] + 300) < 1e-12 && now->velocity[0] == -500);
        for (int c = 3; c < 6; c++)
            assert_true(isnan(now->position[c]) && isnan(now->velocity[c]));
        kith_bodies_free(now);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void test_merging_keeps_mass_and_momentum(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "mclachlan4", "hermite4", "ias15"};
    struct random_numbers numbers = random_numbers_begin("merging");
    kith_context *context = cpu_context(2);
    for (int k = 0; k < 16; k++) {
        const int64_t n = k % 2 ? 60 : 300;
        const int32_t dimensions = k % 4 == 3 ? 2 : 3;
        kith_bodies *bodies = random_cloud(&numbers, n, dimensions, 0.05);
        kith_simulation *simulation = simulated(
            context, bodies, colliding(integrators[k / 4], 0.01, KITH_ON_COLLISION_MERGE));
        const kith_diagnostics before = diagnosed(simulation);
        assert_ok(kith_simulation_step(simulation, 50));
        const kith_diagnostics after = diagnosed(simulation);
        const int64_t left = left_of(simulation);
        assert_true(left < n && kith_simulation_collisions(simulation) == n - left);
        events_of(simulation, n - left);
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        for (int64_t i = 0; i < n; i++)
            assert_true((bodies->mass[i] == 0) == isnan(bodies->position[i * dimensions]));
        int64_t count = 0;
        const kith_event *events = kith_simulation_events(simulation, &count);
        for (int64_t e = 1; e < count; e++)
            assert_true(events[e].step >= events[e - 1].step);
        /* Σ m v of terms of 1/n: rounding of n sums a step and n mergers. */
        for (int c = 0; c < 3; c++)
            assert_true(fabs(after.momentum[c] - before.momentum[c]) < 1e-13);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

/* The sum of masses, and of volumes, of all rows: those removed count 0. */
static void test_sums_of_columns_stay(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("columns");
    kith_context *context = cpu_context(1);
    for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
        kith_bodies *bodies = random_cloud(&numbers, 200, dimensions, 0.1);
        double mass[2] = {0}, volume[2] = {0};
        kith_simulation *simulation =
            simulated(context, bodies, colliding("leapfrog", 0.01, KITH_ON_COLLISION_MERGE));
        for (int turn = 0; turn < 2; turn++) {
            for (int64_t i = 0; i < 200; i++) {
                mass[turn] += bodies->mass[i];
                volume[turn] += pow(bodies->radius[i], dimensions);
            }
            assert_ok(kith_simulation_step(simulation, 20));
            assert_ok(kith_simulation_get_bodies(simulation, bodies));
        }
        assert_true(left_of(simulation) < 200);
        assert_true(fabs(mass[1] - mass[0]) < 1e-14);
        assert_true(fabs(volume[1] - volume[0]) < 1e-13 * volume[0]);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static int compare_events(const void *a, const void *b)
{
    const kith_event *one = a, *other = b;
    return one->time != other->time   ? (one->time > other->time) - (one->time < other->time)
           : one->body != other->body ? (one->body > other->body) - (one->body < other->body)
                                      : (one->other > other->other) - (one->other < other->other);
}

/* All pairs of a step one after the other, against the search: of few bodies and of many. */
static void test_the_search_finds_every_pair_that_touches(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("search");
    kith_context *context = cpu_context(2);
    int64_t touching = 0;
    for (int turn = 0; turn < 6; turn++) {
        const int64_t n = turn % 2 ? 100 : 900;
        const int32_t d = turn < 4 ? 3 : 2;
        kith_bodies *bodies = random_cloud(&numbers, n, d, 0.02);
        for (int64_t k = 0; k < n * d; k++)
            bodies->velocity[k] += 50; /* a motion that all share */
        bodies->radius[0] = 0.2;
        kith_simulation_options options = colliding("leapfrog", 0.02, KITH_ON_COLLISION_STOP);
        kith_simulation *simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(simulation, 1));
        kith_bodies *end = state_of(simulation, bodies);
        int64_t count = 0, found = 0;
        const kith_event *events = kith_simulation_events(simulation, &count);
        kith_event *expected = calloc((size_t)(50 * n), sizeof *expected);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                double x[2][3] = {{0}}, v[2][3] = {{0}}, s = 0;
                for (int32_t k = 0; k < d; k++) {
                    x[0][k] = bodies->position[j * d + k] - bodies->position[i * d + k];
                    v[0][k] = bodies->velocity[j * d + k] - bodies->velocity[i * d + k];
                    x[1][k] = end->position[j * d + k] - end->position[i * d + k];
                    v[1][k] = end->velocity[j * d + k] - end->velocity[i * d + k];
                }
                const struct contact_path path = contact_path_of(x[0], v[0], x[1], v[1], 0.02);
                if (contact_begins(&path, bodies->radius[i] + bodies->radius[j], &s))
                    expected[found++] = (kith_event){.time = s * 0.02, .body = i, .other = j};
            }
        qsort(expected, (size_t)found, sizeof *expected, compare_events);
        touching += found;
        assert_int_equal(count, found);
        for (int64_t e = 0; e < count; e++)
            assert_true(events[e].body == expected[e].body && events[e].other == expected[e].other);
        assert_true(kith_simulation_has_stopped(simulation));
        free(expected);
        kith_bodies_free(end);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    assert_true(touching > 30);
    kith_context_free(context);
}

static double kinetic(const kith_bodies *bodies)
{
    double sum = 0;
    for (int64_t k = 0; k < bodies->count * bodies->dimensions; k++)
        sum += bodies->mass[k / bodies->dimensions] * bodies->velocity[k] * bodies->velocity[k] / 2;
    return sum;
}

/* So light that they move freely. */
static void test_a_bounce_keeps_momentum_and_loses_what_restitution_says(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("bounce");
    kith_context *context = cpu_context(1);
    for (int turn = 0; turn < 200; turn++) {
        kith_bodies *bodies = bodies_of(2, 3);
        const double restitution = turn % 3 == 0 ? 1 : random_uniform(&numbers, 0, 1);
        double line[3], velocity[3], approach = 0, momentum[3];
        for (int k = 0; k < 3; k++) {
            bodies->position[3 + k] = line[k] = random_uniform(&numbers, -1, 1) + (k == 0 ? 2 : 0);
            bodies->velocity[k] = random_uniform(&numbers, -1, 1);
        }
        const double distance = length_of(line);
        for (int k = 0; k < 3; k++)
            bodies->velocity[3 + k] = bodies->velocity[k] - 5 * line[k];
        bodies->mass[0] = 1e-30 * random_uniform(&numbers, 1, 2);
        bodies->mass[1] = 1e-30 * random_uniform(&numbers, 1, 2);
        bodies->radius[0] = bodies->radius[1] = distance / 4;
        kith_simulation_options options = colliding("leapfrog", 0.3, KITH_ON_COLLISION_BOUNCE);
        options.restitution = restitution;
        kith_simulation *simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(simulation, 1));
        kith_bodies *now = state_of(simulation, bodies);
        assert_ok(kith_bodies_add_columns(now, KITH_MASS));
        memcpy(now->mass, bodies->mass, 2 * sizeof(double));
        const kith_event *event = events_of(simulation, 1);
        assert_true(event->kind == KITH_EVENT_BOUNCE && left_of(simulation) == 2);
        /* Half of the way is closed after 1/10. */
        assert_true(fabs(event->time - 0.1) < 1e-13 &&
                    fabs(event->distance - distance / 2) < 1e-12);
        for (int k = 0; k < 3; k++) {
            velocity[k] = now->velocity[3 + k] - now->velocity[k];
            approach += velocity[k] * line[k] / distance;
            momentum[k] = 0;
            for (int i = 0; i < 2; i++)
                momentum[k] += bodies->mass[i] * 1e30 *
                               (now->velocity[3 * i + k] - bodies->velocity[3 * i + k]);
            assert_true(fabs(momentum[k]) < 1e-13);
        }
        assert_true(fabs(approach - 5 * distance * restitution) < 1e-12);
        if (restitution == 1)
            assert_true(fabs(kinetic(now) - kinetic(bodies)) < 1e-13 * kinetic(bodies));
        double apart[3];
        for (int k = 0; k < 3; k++)
            apart[k] = now->position[3 + k] - now->position[k];
        assert_true(fabs(length_of(apart) - distance * (0.5 + 5 * 0.2 * restitution)) < 1e-12);
        kith_bodies_free(now);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void test_a_stop_ends_the_steps_and_the_next_call_goes_on(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = bodies_of(2, 2);
    bodies->position[2] = 1;
    bodies->velocity[2] = -1;
    bodies->radius[0] = bodies->radius[1] = 0.05;
    kith_simulation *simulation =
        simulated(context, bodies, colliding("leapfrog", 0.125, KITH_ON_COLLISION_STOP));
    assert_ok(kith_simulation_run(simulation, 3));
    assert_true(kith_simulation_time(simulation) == 1 && kith_simulation_has_stopped(simulation));
    assert_true(fabs(events_of(simulation, 1)->time - 0.9) < 1e-14);
    assert_ok(kith_simulation_run(simulation, 3));
    assert_true(kith_simulation_time(simulation) == 3 && !kith_simulation_has_stopped(simulation));
    assert_true(kith_simulation_collisions(simulation) == 1 && left_of(simulation) == 2);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_escaped_bodies_are_removed(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0}), *three = bodies_of(3, 3);
    for (int i = 0; i < 2; i++) {
        three->mass[i] = bodies->mass[i];
        for (int k = 0; k < 3; k++) {
            three->position[3 * i + k] =
                k < bodies->dimensions ? bodies->position[bodies->dimensions * i + k] : 0;
            three->velocity[3 * i + k] =
                k < bodies->dimensions ? bodies->velocity[bodies->dimensions * i + k] : 0;
        }
    }
    three->position[8] = 5;
    three->velocity[8] = 10;
    kith_simulation *simulation =
        simulated(context, three,
                  (kith_simulation_options){.dt = 0.01, .integrator = "yoshida4", .escape = 10});
    assert_ok(kith_simulation_run(simulation, 2));
    const kith_event *event = events_of(simulation, 1);
    assert_true(event->kind == KITH_EVENT_ESCAPE && event->body == 2 && event->other == -1);
    assert_true(event->distance > 10 && event->distance < 10.2 && fabs(event->speed - 10) < 0.1);
    int64_t left = 0;
    const int64_t *rows = kith_simulation_rows(simulation, &left);
    assert_true(left == 2 && rows[0] == 0 && rows[1] == 1);
    kith_array view;
    assert_ok(kith_simulation_view(simulation, KITH_SIMULATION_POSITION, &view));
    assert_true(view.shape[0] == 2);
    kith_simulation_free(simulation);
    kith_bodies_free(three);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_encounters_are_the_pericenters_of_an_orbit(void **state)
{
    (void)state;
    static const char *const integrators[] = {"yoshida8", "ias15"};
    kith_context *context = cpu_context(1);
    for (int k = 0; k < 2; k++) {
        kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.5});
        kith_simulation_options options = {
            .dt = 0.02, .integrator = integrators[k], .encounter = 0.6};
        kith_simulation *simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_run(simulation, 20));
        const kith_event *events = events_of(simulation, 3);
        for (int e = 0; e < 3; e++) {
            assert_true(events[e].kind == KITH_EVENT_ENCOUNTER);
            assert_true(fabs(events[e].distance - 0.5) < 1e-5);
            assert_true(fabs(events[e].time - 2 * pi * (e + 1)) < 1e-4);
            assert_true(fabs(events[e].speed - sqrt(3)) < 1e-3);
        }
        assert_true(kith_simulation_collisions(simulation) == 0);
        kith_simulation_free(simulation);
        options.encounter = 0.4;
        simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_run(simulation, 20));
        events_of(simulation, 0);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

/* Also in pieces, saved and restored in between. */
static void test_collisions_have_the_same_bits_in_any_number_of_threads_and_pieces(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "pefrl", "rk4", "hermite4", "ias15"};
    struct random_numbers numbers = random_numbers_begin("bits");
    for (int k = 0; k < 20; k++) {
        kith_bodies *bodies = random_cloud(&numbers, k % 5 == 0 ? 500 : 40, 3, 0.05);
        kith_simulation_options options = colliding(
            integrators[k % 5], 0.01, k < 10 ? KITH_ON_COLLISION_MERGE : KITH_ON_COLLISION_BOUNCE);
        options.precision = k >= 15 && k % 5 != 4 ? KITH_F32 : KITH_F64;
        options.restitution = 0.5;
        options.escape = 0.9;
        kith_context *one = cpu_context(1), *four = cpu_context(4);
        kith_simulation *whole = simulated(one, bodies, options);
        kith_simulation *pieces = simulated(four, bodies, options);
        kith_simulation *later = simulated(four, bodies, options);
        kith_checkpoint checkpoint = {0};
        const int64_t first = (int64_t)random_uniform(&numbers, 1, 30);
        assert_ok(kith_simulation_step(whole, 40));
        assert_ok(kith_simulation_step(pieces, first));
        assert_ok(kith_simulation_save(pieces, &checkpoint));
        assert_ok(kith_simulation_restore(later, &checkpoint));
        assert_ok(kith_simulation_step(later, 40 - first));
        assert_ok(kith_simulation_step(pieces, 40 - first));
        kith_bodies *a = state_of(whole, bodies), *b = state_of(pieces, bodies),
                    *c = state_of(later, bodies);
        assert_true(left_of(whole) < bodies->count || kith_simulation_collisions(whole) > 0);
        assert_same_state(a, b);
        assert_same_state(a, c);
        assert_int_equal(kith_simulation_collisions(whole), kith_simulation_collisions(later));
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_bodies_free(c);
        kith_checkpoint_free(&checkpoint);
        kith_simulation_free(whole);
        kith_simulation_free(pieces);
        kith_simulation_free(later);
        kith_context_free(one);
        kith_context_free(four);
        kith_bodies_free(bodies);
    }
}

static void test_bodies_with_holes_can_be_set_again(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("set");
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = random_cloud(&numbers, 80, 3, 0.1);
    const kith_simulation_options options = colliding("leapfrog", 0.01, KITH_ON_COLLISION_MERGE);
    kith_simulation *one = simulated(context, bodies, options);
    kith_simulation *other = simulated(context, bodies, options);
    assert_ok(kith_simulation_step(one, 20));
    assert_ok(kith_simulation_get_bodies(one, bodies));
    assert_ok(kith_simulation_set_bodies(other, bodies));
    assert_int_equal(left_of(one), left_of(other));
    assert_true(left_of(one) < 80);
    kith_bodies *a = state_of(one, bodies), *b = state_of(other, bodies);
    for (int64_t k = 0; k < 80 * 3; k++)
        assert_true(a->position[k] == b->position[k] ||
                    (isnan(a->position[k]) && isnan(b->position[k])));
    assert_ok(kith_simulation_step(other, 20));
    bodies->position[1] = NAN;
    bodies->position[0] = bodies->position[2] = 1;
    assert_fails(kith_simulation_set_bodies(other, bodies), KITH_INVALID_ARGUMENT, "body 0");
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(one);
    kith_simulation_free(other);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void refused(const kith_bodies *bodies, kith_simulation_options options, const char *words)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = NULL;
    options.dt = 1;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, words);
    assert_null(simulation);
    kith_context_free(context);
}

static void test_what_is_no_collision_is_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    refused(bodies, (kith_simulation_options){.on_collision = KITH_ON_COLLISION_MERGE}, "radii");
    assert_ok(kith_bodies_add_columns(bodies, KITH_RADIUS));
    refused(bodies, (kith_simulation_options){.on_collision = (kith_on_collision)7},
            "on_collision 7");
    refused(bodies, (kith_simulation_options){.restitution = 1.5}, "restitution 1.5");
    refused(bodies, (kith_simulation_options){.restitution = -0.5}, "restitution -0.5");
    refused(bodies, (kith_simulation_options){.encounter = -1}, "encounter -1");
    refused(bodies, (kith_simulation_options){.escape = NAN}, "escape nan nan");
    const kith_cell cell = {.vectors = {{9, 0, 0}, {0, 9, 0}, {0, 0, 9}},
                            .periodic = {false, true, false}};
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = NULL;
    const kith_simulation_options in_cell = {
        .dt = 1, .forces.cell = &cell, .forces.cutoff = 1, .encounter = 0.1};
    assert_fails(kith_simulation_create(context, &in_cell, bodies, &simulation), KITH_UNSUPPORTED,
                 "periodic");
    kith_context_free(context);
    bodies->radius[1] = -1;
    refused(bodies, (kith_simulation_options){0}, "body 1 -1");
    kith_bodies_free(bodies);
}

struct beats {
    int64_t calls, steps_of_last, stop_at;
};

static bool count_beats(void *user, kith_simulation *simulation)
{
    struct beats *beats = user;
    beats->calls++;
    beats->steps_of_last = kith_simulation_steps(simulation);
    assert_fails(kith_simulation_step(simulation, 1), KITH_INVALID_ARGUMENT, "heartbeat");
    return beats->steps_of_last != beats->stop_at;
}

static void test_the_heartbeat_comes_every_so_many_steps(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "ias15"};
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    for (int k = 0; k < 2; k++) {
        kith_simulation *simulation = simulated(
            context, bodies, (kith_simulation_options){.dt = 0.01, .integrator = integrators[k]});
        struct beats beats = {.stop_at = -1};
        assert_ok(kith_simulation_set_heartbeat(simulation, 7, count_beats, &beats));
        assert_ok(kith_simulation_step(simulation, 3));
        assert_ok(kith_simulation_step(simulation, 50));
        assert_true(beats.calls == 7 && beats.steps_of_last == 49);
        beats.stop_at = 63;
        assert_fails(kith_simulation_step(simulation, 50), KITH_CANCELLED, "63");
        assert_true(kith_simulation_steps(simulation) == 63);
        assert_ok(kith_simulation_set_heartbeat(simulation, 0, NULL, NULL));
        assert_ok(kith_simulation_step(simulation, 50));
        assert_true(beats.calls == 9);
        assert_fails(kith_simulation_set_heartbeat(simulation, 0, count_beats, NULL),
                     KITH_INVALID_ARGUMENT, "every 0");
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contacts_are_where_the_path_is_as_near_as_that),
        cmocka_unit_test(test_bodies_meet_on_their_way_within_a_step),
        cmocka_unit_test(test_merging_keeps_mass_and_momentum),
        cmocka_unit_test(test_sums_of_columns_stay),
        cmocka_unit_test(test_the_search_finds_every_pair_that_touches),
        cmocka_unit_test(test_a_bounce_keeps_momentum_and_loses_what_restitution_says),
        cmocka_unit_test(test_a_stop_ends_the_steps_and_the_next_call_goes_on),
        cmocka_unit_test(test_escaped_bodies_are_removed),
        cmocka_unit_test(test_encounters_are_the_pericenters_of_an_orbit),
        cmocka_unit_test(test_collisions_have_the_same_bits_in_any_number_of_threads_and_pieces),
        cmocka_unit_test(test_bodies_with_holes_can_be_set_again),
        cmocka_unit_test(test_what_is_no_collision_is_refused),
        cmocka_unit_test(test_the_heartbeat_comes_every_so_many_steps),
    };
    return cmocka_run_group_tests_name("collisions of bodies", tests, NULL, NULL);
}
