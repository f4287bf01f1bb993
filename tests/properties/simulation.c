/* Simulations: the same bits however their steps are taken; ensembles: each system as alone. */

#include "property.h"

#include "simulating.h"

static kith_bodies *any_bodies(struct property *p, int64_t count, int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(counted(kith_bodies_create(count, dimensions, KITH_VELOCITY | KITH_MASS, &bodies)));
    for (int64_t k = 0; k < count * dimensions; k++) {
        bodies->position[k] = random_uniform(&p->random, -1, 1);
        bodies->velocity[k] = random_uniform(&p->random, -0.5, 0.5);
    }
    for (int64_t i = 0; i < count; i++)
        bodies->mass[i] = random_uniform(&p->random, 0.1, 1);
    bodies->time = chance(p, 0.5) ? 0 : random_uniform(&p->random, -5, 5);
    return bodies;
}

static kith_simulation_options any_options(struct property *p)
{
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    while (list[count - 1].adaptive || list[count - 1].central)
        count--;
    return (kith_simulation_options){.dt = random_uniform(&p->random, 1e-4, 1e-2),
                                     .integrator = list[whole(p, 0, count - 1)].name,
                                     .forces.softening = random_uniform(&p->random, 0.05, 0.3),
                                     .precision = any_real(p)};
}

/* In pieces of any length, with a checkpoint between two of them, restored into another
 * simulation. */
static kith_bodies *stepped_in_pieces(struct property *p, const kith_bodies *bodies,
                                      kith_simulation_options options, int64_t steps)
{
    kith_simulation *one = simulated(p->other, bodies, options);
    kith_simulation *other = simulated(p->other, bodies, options);
    kith_checkpoint checkpoint = {0};
    const int64_t first = whole(p, 0, steps), second = whole(p, 0, steps - first);
    assert_ok(counted(kith_simulation_step(one, first)));
    assert_ok(counted(kith_simulation_step(one, second)));
    diagnosed(one);
    assert_ok(counted(kith_simulation_save(one, &checkpoint)));
    assert_ok(counted(kith_simulation_restore(other, &checkpoint)));
    assert_ok(counted(kith_simulation_step(other, steps - first - second)));
    kith_bodies *state = state_of(other, bodies);
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(one);
    kith_simulation_free(other);
    return state;
}

void steps_are_the_same_however_they_are_taken(struct property *p)
{
    const int64_t steps = whole(p, 0, 12);
    kith_bodies *bodies = any_bodies(p, any_size(p, 70), (int32_t)whole(p, 2, 3));
    const kith_simulation_options options = any_options(p);
    kith_simulation *simulation = simulated(p->context, bodies, options);
    assert_ok(counted(kith_simulation_step(simulation, steps)));
    kith_bodies *at_once = state_of(simulation, bodies);
    kith_bodies *in_pieces = stepped_in_pieces(p, bodies, options, steps);
    assert_same_state(at_once, in_pieces);
    property_calls += 8;
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_bodies_free(at_once);
    kith_bodies_free(in_pieces);
}

void ensembles_are_their_systems(struct property *p)
{
    enum { most_systems = 9 };
    const int64_t systems = whole(p, 1, most_systems), count = whole(p, 0, 12),
                  steps = whole(p, 0, 8);
    const int32_t dimensions = (int32_t)whole(p, 2, 3);
    const kith_simulation_options options = any_options(p);
    kith_bodies *each[most_systems] = {0}, *all = NULL;
    for (int64_t s = 0; s < systems; s++) {
        each[s] = any_bodies(p, count, dimensions);
        each[s]->time = 0;
    }
    kith_simulation *ensemble = NULL;
    assert_ok(counted(kith_ensemble_join(systems, (const kith_bodies *const *)each, &all)));
    assert_ok(
        counted(kith_simulation_create_ensemble(p->context, &options, systems, all, &ensemble)));
    assert_ok(counted(kith_simulation_step(ensemble, steps)));
    assert_ok(counted(kith_simulation_get_bodies(ensemble, all)));
    for (int64_t s = 0; s < systems; s++) {
        const kith_bodies one = kith_ensemble_system(all, systems, s);
        kith_simulation *alone = simulated(p->other, each[s], options);
        assert_ok(counted(kith_simulation_step(alone, steps)));
        kith_bodies *state = state_of(alone, each[s]);
        const double distance = distance_of_states(&one, state);
        if (!(distance <= (options.precision == KITH_F64 ? 1e-13 : 1e-5)))
            fail_msg("%s: system %lld is %g away from where it is alone", options.integrator,
                     (long long)s, distance);
        kith_bodies_free(state);
        kith_simulation_free(alone);
        kith_bodies_free(each[s]);
    }
    kith_simulation_free(ensemble);
    kith_bodies_free(all);
}
