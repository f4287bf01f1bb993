/* Steps that are recorded once and replayed. */

#include "simulation/recording.h"

#include <string.h>

#include "law/law.h"
#include "simulation/integrator.h"

/* To record a step takes the host as long as to start five to ten. */
enum { least_alike = 8 };

/* Steps that are started together; cancellation is checked between them. */
enum { most_steps = 256 };

/* A step of the simulation as it is now. Other bodies may bring other units, and a law's parameters
 * may change from call to call; the arrays stay where they are. */
static struct simulation_recording describe(const struct kith_simulation *simulation, double h)
{
    const struct forces_problem *problem = &simulation->problem;
    struct simulation_recording wanted = {.h = h,
                                          .gravitational_constant = problem->gravitational_constant,
                                          .softening2 = problem->softening2,
                                          .law = problem->law};
    if (wanted.law) {
        struct law_view view;
        law_look(wanted.law, &view);
        wanted.form = view.form;
        wanted.numbers = view.numbers;
    }
    return wanted;
}

static bool is_same_law(const struct simulation_recording *a, const struct simulation_recording *b)
{
    return a->form.kind == b->form.kind && a->form.weighting == b->form.weighting &&
           a->numbers.whole == b->numbers.whole && a->numbers.base == b->numbers.base &&
           a->numbers.diverges == b->numbers.diverges &&
           memcmp(a->numbers.c, b->numbers.c, sizeof a->numbers.c) == 0;
}

static bool is_same(const struct simulation_recording *a, const struct simulation_recording *b)
{
    return a->h == b->h && a->gravitational_constant == b->gravitational_constant &&
           a->softening2 == b->softening2 && a->law == b->law && is_same_law(a, b);
}

struct step_to_record {
    struct kith_simulation *simulation;
    double h;
};

static kith_status take_step(void *argument)
{
    const struct step_to_record *step = argument;
    return step->simulation->method->step(step->simulation, step->h);
}

static kith_status record(struct kith_simulation *simulation, double h)
{
    struct step_to_record step = {simulation, h};
    const int64_t evaluations = simulation->evaluations;
    const kith_status status = simulation->context->services->record(
        simulation->context, take_step, &step, &simulation->recording.made);
    simulation->recording.evaluations = simulation->evaluations - evaluations;
    simulation->evaluations = evaluations;
    simulation->recording.alike = 0;
    return status;
}

kith_status simulation_replay(struct kith_simulation *simulation, double h, int64_t steps,
                              int64_t *done)
{
    const struct device_services *services = simulation->context->services;
    struct simulation_recording *recording = &simulation->recording;
    *done = 0;
    if (!services->record || !simulation->is_fused)
        return KITH_OK;
    const struct simulation_recording wanted = describe(simulation, h);
    if (!is_same(recording, &wanted)) {
        simulation_forget_recording(simulation);
        *recording = wanted;
    }
    if (!recording->made && recording->alike++ < least_alike)
        return KITH_OK;
    if (!recording->made)
        KITH_TRY(record(simulation, h));
    if (recording->made)
        KITH_TRY(services->replay(simulation->context, recording->made,
                                  steps < most_steps ? steps : most_steps, done));
    simulation->evaluations += *done * recording->evaluations;
    return KITH_OK;
}

void simulation_forget_recording(struct kith_simulation *simulation)
{
    if (simulation->recording.made)
        simulation->context->services->forget(simulation->context, simulation->recording.made);
    simulation->recording.made = NULL;
}
