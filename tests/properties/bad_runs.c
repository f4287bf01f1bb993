/* Bad calls of bodies, ensembles, simulations and runs. */

#include "spoil.h"

/* With room for three dimensions, whatever it is spoiled to say. */
static kith_bodies *some_bodies(struct property *p, int64_t count)
{
    kith_bodies *bodies = NULL;
    const unsigned columns = (unsigned)whole(p, 0, 2 * KITH_NAME - 1) | KITH_MASS | KITH_VELOCITY;
    assert_ok(kith_bodies_create(count, 3, columns, &bodies));
    for (int64_t k = 0; k < count * bodies->dimensions; k++)
        bodies->position[k] = random_uniform(&p->random, -1, 1);
    for (int64_t i = 0; i < count; i++)
        bodies->mass[i] = random_uniform(&p->random, 0.1, 1);
    bodies->dimensions = (int32_t)whole(p, 2, 3);
    return bodies;
}

/* A view of bodies that can be spoiled: its columns stay the owner's. */
static void add_bodies(struct property *p, struct slots *slots, kith_bodies *view)
{
    if (view->count > 0)
        slot_add(slots, REAL, &view->position[whole(p, 0, view->count - 1)]);
    if (view->count > 0)
        slot_add(slots, REAL, &view->mass[whole(p, 0, view->count - 1)]);
    slot_add(slots, REAL, &view->time);
    slot_add(slots, INT32, &view->dimensions);
    slot_add(slots, POINTER, &view->position);
    slot_add(slots, POINTER, &view->mass);
}

/* Fewer bodies, or a number of them that cannot be: more would be beyond their memory. */
static void spoil_count(struct property *p, kith_bodies *view)
{
    if (chance(p, 0.1))
        view->count = chance(p, 0.5) ? -1 : view->count > 0 ? view->count - 1 : INT64_MIN;
    if (view->dimensions > 2 && view->dimensions != 3)
        view->count = view->count > 0 ? 1 : view->count;
}

void bad_bodies(struct property *p)
{
    int64_t count = whole(p, 0, 5);
    int32_t dimensions = 3, columns = 63;
    kith_bodies *bodies = NULL, **to = &bodies;
    struct slots slots = {0};
    slot_add(&slots, INT64, &count);
    slot_add(&slots, INT32, &dimensions);
    slot_add(&slots, INT32, &columns);
    slot_add(&slots, POINTER, &to);
    spoil(p, &slots);
    const kith_status status =
        counted(kith_bodies_create(count, dimensions, (unsigned)columns, to));
    assert_told("kith_bodies_create", status);
    if (to)
        assert_int_equal(status == KITH_OK, bodies != NULL);
    assert_told("kith_bodies_check", counted(kith_bodies_check(bodies)));
    assert_told("kith_bodies_add_columns",
                counted(kith_bodies_add_columns(bodies, (unsigned)columns)));
    kith_bodies_free(bodies);
}

void bad_ensembles(struct property *p)
{
    kith_bodies *owned[3], *views = case_memory(3 * sizeof *views);
    kith_bodies *joined = NULL, **to = &joined;
    const kith_bodies *each[3] = {&views[0], &views[1], &views[2]};
    const kith_bodies *const *given = each;
    int64_t systems = 3;
    struct slots slots = {0};
    for (int s = 0; s < 3; s++) {
        owned[s] = some_bodies(p, 4);
        views[s] = *owned[s];
        views[s].dimensions = 2;
        add_bodies(p, &slots, &views[s]);
        slot_add(&slots, POINTER, &each[s]);
    }
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, FEW, &systems);
    spoil(p, &slots);
    spoil_count(p, &views[whole(p, 0, 2)]);
    const kith_status status = counted(kith_ensemble_join(systems, given, to));
    assert_told("kith_ensemble_join", status);
    assert_told("kith_ensemble_check", counted(kith_ensemble_check(joined, systems)));
    const kith_bodies one = kith_ensemble_system(joined, systems, whole(p, -1, 3));
    assert_true(one.count >= 0);
    kith_bodies_free(joined);
    for (int s = 0; s < 3; s++)
        kith_bodies_free(owned[s]);
}

void bad_orbits(struct property *p)
{
    double mu = 1, e = random_uniform(&p->random, 0, 3), M = random_uniform(&p->random, -9, 9),
           anomaly = 0;
    double position[3], velocity[3];
    kith_orbit orbit = {.a = e < 1 ? 1 : -1, .e = e, .M = M};
    kith_bodies *bodies = some_bodies(p, 4);
    kith_orbits_options options = {.coordinates = (kith_orbit_coordinates)whole(p, -1, 3)};
    double *x = position, *v = velocity, *to = &anomaly;
    kith_orbit *of = &orbit, several[4] = {orbit, orbit, orbit, orbit}, *each = several;
    const kith_bodies *given = bodies;
    struct slots slots = {0};
    double *const reals[] = {&mu,
                             &e,
                             &M,
                             &orbit.a,
                             &orbit.e,
                             &orbit.i,
                             &orbit.Omega,
                             &orbit.omega,
                             &orbit.M,
                             &orbit.q,
                             &several[0].a,
                             &several[1].e,
                             &options.gravitational_constant};
    void *const pointers[] = {&x, &v, &to, &of, &each, &given};
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        slot_add(&slots, REAL, reals[k]);
    for (size_t k = 0; k < sizeof pointers / sizeof pointers[0]; k++)
        slot_add(&slots, POINTER, pointers[k]);
    spoil(p, &slots);
    assert_told("kith_kepler_solve", counted(kith_kepler_solve(e, M, to)));
    const kith_status placed = counted(kith_orbit_place(mu, of, x, v));
    assert_told("kith_orbit_place", placed);
    if (placed == KITH_OK)
        assert_told("kith_orbit_compute", counted(kith_orbit_compute(mu, x, v, of)));
    assert_told("kith_orbits_place", counted(kith_orbits_place(&options, each, bodies)));
    assert_told("kith_orbits_compute", counted(kith_orbits_compute(&options, given, each)));
    kith_bodies_free(bodies);
}

void bad_initial(struct property *p)
{
    int64_t kinds = 0;
    const kith_initial *list = kith_initial_list(&kinds);
    const char *kind = list[whole(p, 0, kinds - 1)].name;
    kith_initial_options options = {.count = whole(p, 0, 9), .seed = (uint64_t)whole(p, 0, 99)};
    kith_bodies *bodies = NULL, **to = &bodies;
    struct slots slots = {0};
    slot_add(&slots, TEXT, &kind);
    slot_add(&slots, INT64, &options.count);
    slot_add(&slots, INT32, &options.dimensions);
    slot_add(&slots, REAL, &options.eccentricity);
    slot_add(&slots, REAL, &options.mass_ratio);
    slot_add(&slots, POINTER, &to);
    spoil(p, &slots);
    const kith_status status = counted(kith_initial_make(kind, &options, to));
    assert_told("kith_initial_make", status);
    if (to)
        assert_int_equal(status == KITH_OK, bodies != NULL);
    kith_bodies_free(bodies);
}

static void add_simulation_options(struct slots *slots, kith_simulation_options *options)
{
    slot_add(slots, REAL, &options->dt);
    slot_add(slots, TEXT, &options->integrator);
    slot_add(slots, REAL, &options->forces.gravitational_constant);
    slot_add(slots, REAL, &options->forces.softening);
    slot_add(slots, INT32, &options->precision);
}

void bad_simulations(struct property *p)
{
    kith_bodies *owned = some_bodies(p, 6), view = *owned;
    const kith_bodies *bodies = &view;
    kith_simulation_options options = {.dt = 0.01, .forces.softening = 0.1};
    const kith_simulation_options *given = &options;
    kith_context *context = p->context;
    kith_simulation *simulation = NULL, **to = &simulation;
    int64_t systems = 3;
    struct slots slots = {0};
    add_bodies(p, &slots, &view);
    add_simulation_options(&slots, &options);
    slot_add(&slots, POINTER, &bodies);
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, INT64, &systems);
    spoil(p, &slots);
    spoil_count(p, &view);
    const bool single = chance(p, 0.5);
    const kith_status status =
        single ? counted(kith_simulation_create(context, given, bodies, to))
               : counted(kith_simulation_create_ensemble(context, given, systems, bodies, to));
    assert_told("making a simulation", status);
    if (to)
        assert_int_equal(status == KITH_OK, simulation != NULL);
    if (simulation)
        assert_told("kith_simulation_step", counted(kith_simulation_step(simulation, 2)));
    kith_simulation_free(simulation);
    kith_bodies_free(owned);
}

/* What is asked of a simulation that is there. */
void bad_steps(struct property *p)
{
    kith_bodies *owned = some_bodies(p, 6), view = *owned;
    kith_simulation *simulation = NULL;
    const kith_simulation_options options = {.dt = 0.01, .forces.softening = 0.1};
    assert_ok(counted(kith_simulation_create(p->context, &options, owned, &simulation)));
    kith_simulation *of = simulation;
    kith_bodies *bodies = &view;
    kith_checkpoint checkpoint = {0}, *saved = &checkpoint;
    kith_diagnostics diagnostics, *to = &diagnostics;
    int64_t steps = 2, first = 0, systems = 1;
    double h = 0.01, until = 0.03;
    assert_ok(kith_bodies_add_columns(owned, KITH_VELOCITY));
    view = *owned;
    assert_ok(counted(kith_simulation_save(simulation, &checkpoint)));
    void *state = checkpoint.state;
    struct slots slots = {0};
    add_bodies(p, &slots, &view);
    slot_add(&slots, POINTER, &of);
    slot_add(&slots, POINTER, &bodies);
    slot_add(&slots, POINTER, &saved);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, POINTER, &checkpoint.state);
    slot_add(&slots, INT64, &checkpoint.arrays);
    slot_add(&slots, INT64, &checkpoint.bytes);
    slot_add(&slots, FEW, &steps);
    slot_add(&slots, INT64, &first);
    slot_add(&slots, INT64, &systems);
    slot_add(&slots, REAL, &h);
    spoil(p, &slots);
    until = chance(p, 0.2) ? h * (double)NAN : until;
    assert_told("kith_simulation_restore", counted(kith_simulation_restore(of, saved)));
    assert_told("kith_simulation_step", counted(kith_simulation_step(of, steps)));
    assert_told("kith_simulation_run", counted(kith_simulation_run(of, until)));
    assert_told("kith_simulation_step_by", counted(kith_simulation_step_by(of, h)));
    assert_told("kith_simulation_diagnose", counted(kith_simulation_diagnose(of, to)));
    assert_told("kith_simulation_diagnose_systems",
                counted(kith_simulation_diagnose_systems(of, first, systems, to)));
    if (bodies && view.position && view.dimensions == owned->dimensions)
        assert_told("kith_simulation_get_systems",
                    counted(kith_simulation_get_systems(of, first, systems, bodies)));
    else
        assert_told("kith_simulation_get_bodies",
                    counted(kith_simulation_get_bodies(of, bodies ? owned : NULL)));
    kith_array seen, *shown = chance(p, 0.1) ? NULL : &seen;
    assert_told("kith_simulation_view",
                counted(kith_simulation_view(of, (kith_simulation_column)whole(p, -1, 4), shown)));
    assert_told("kith_simulation_set_bodies", counted(kith_simulation_set_bodies(of, bodies)));
    free(state);
    kith_simulation_free(simulation);
    kith_bodies_free(owned);
}

void bad_runs(struct property *p)
{
    kith_bodies *owned = some_bodies(p, 4), view = *owned;
    const kith_bodies *bodies = &view;
    kith_run_options options = {.simulation = {.dt = 0.01, .forces.softening = 0.1}, .until = 0.02};
    const kith_run_options *given = &options;
    kith_context *context = p->context;
    kith_run_summary summary;
    struct slots slots = {0};
    add_bodies(p, &slots, &view);
    add_simulation_options(&slots, &options.simulation);
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, POINTER, &bodies);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, INT64, &options.every);
    slot_add(&slots, REAL, &options.checkpoint_seconds);
    slot_add(&slots, INT64, &options.systems);
    options.is_ensemble = chance(p, 0.2);
    options.resume = chance(p, 0.1);
    if (chance(p, 0.1))
        options.output = "/nonexistent/run.h5";
    spoil(p, &slots);
    spoil_count(p, &view);
    /* A spoiled dt or time may well ask for more steps than a test has time for. */
    if (!(options.simulation.dt > 0.001) || view.time != 0)
        options.until = chance(p, 0.5) ? view.time : (double)NAN;
    assert_told("kith_run", counted(kith_run(context, given, bodies, &summary)));
    kith_bodies_free(owned);
}
