/* kith bench forces: all-pairs forces, and the steps of simulations of few bodies. */

#include "bench.h"

static const double softening = 0.01, softening_of_steps = 0.05, dt = 1e-5;

enum { flop_per_interaction = 20 };

struct state {
    kith_simulation *simulation[2]; /* of one system, and of an ensemble */
};

/* The arrays: positions, masses, accelerations. */
static kith_status evaluate(const struct bench_part *part, int64_t which)
{
    const struct bench_options *asked = part->bench->options;
    const kith_forces_options options = {
        .softening = softening, .law = asked->law.law, .method = asked->method};
    const kith_array *arrays = part->arrays;
    const kith_particles particles = {.positions = arrays[0], .columns = {{"m", arrays[1]}}};
    (void)which;
    return kith_forces_compute(part->context, &options, NULL, &particles, arrays[2],
                               kith_array_none());
}

static kith_status begin_forces(struct bench_part *part)
{
    const kith_initial_options options = {.count = part->n, .seed = 1};
    const int64_t columns[] = {3, 0, 3};
    kith_bodies *bodies = NULL;
    kith_status status = kith_initial_make("uniform-cube", &options, &bodies);
    for (int k = 0; k < 3 && status == KITH_OK; k++) {
        const double *values[] = {bodies->position, bodies->mass, NULL};
        status = bench_array(part, part->dtype, part->n, columns[k], values[k]);
    }
    kith_bodies_free(bodies);
    const double items = (double)part->n * (double)part->n;
    struct bench_row *row = bench_enter(part, evaluate, 0, items, "interactions", "forces", "%s",
                                        part->on->threads ? kith_context_isa(part->context) : "");
    row->flop = flop_per_interaction;
    if (!part->bench->options->law.law && part->on->threads)
        row->limit = items / bench_forces_rate(part->on, part->dtype);
    return status;
}

/* Bodies of several systems, of mass 1 each, from one Plummer sphere. */
static kith_status make_systems(int64_t n, int64_t systems, kith_bodies **bodies)
{
    const kith_initial_options options = {.count = n * systems, .seed = 1};
    const kith_status status = kith_initial_make("plummer", &options, bodies);
    for (int64_t i = 0; status == KITH_OK && i < n * systems; i++)
        (*bodies)->mass[i] *= (double)systems;
    return status;
}

static kith_status begin_steps(const struct bench_part *part, int64_t systems,
                               kith_simulation **simulation)
{
    const char *integrator = part->bench->options->integrator;
    const kith_simulation_options options = {.dt = dt,
                                             .integrator = integrator,
                                             .forces.softening = softening_of_steps,
                                             .precision = part->dtype};
    kith_bodies *bodies = NULL;
    kith_status status = make_systems(part->n, systems, &bodies);
    if (status == KITH_OK && systems == 1)
        status = kith_simulation_create(part->context, &options, bodies, simulation);
    else if (status == KITH_OK)
        status =
            kith_simulation_create_ensemble(part->context, &options, systems, bodies, simulation);
    kith_bodies_free(bodies);
    struct bench_row *row =
        bench_enter(part, NULL, 0, (double)systems, "steps", integrator, "%lld system%s",
                    (long long)systems, systems == 1 ? "" : "s");
    row->simulation = *simulation;
    row->systems = systems;
    return status;
}

/* Steps of one system are measured by the first context: more threads do nothing for few bodies.
 * On a GPU steps of one system of any size are. */
static kith_status begin(struct bench_part *part)
{
    const struct bench_options *options = part->bench->options;
    const int64_t usual = part->on->threads ? 1024 : 6000000 / part->n;
    const int64_t systems = options->systems ? options->systems : usual;
    struct state *state = part->state;
    kith_status status = begin_forces(part);
    const bool is_few = part->n <= kith_most_bodies_of_system;
    if (options->law.law || options->method || (part->on->threads && !is_few))
        return status;
    if (status == KITH_OK && part->on == part->bench->contexts)
        status = begin_steps(part, 1, &state->simulation[0]);
    if (status == KITH_OK && systems > 1 && is_few)
        status = begin_steps(part, systems, &state->simulation[1]);
    return status;
}

static void end(void *memory)
{
    struct state *state = memory;
    kith_simulation_free(state->simulation[0]);
    kith_simulation_free(state->simulation[1]);
}

const struct bench_capability bench_of_forces = {
    .name = "forces",
    .size = "bodies",
    .flag = of_forces,
    .documentation =
        "Measure the speed of all-pairs forces, and of steps of few bodies and of ensembles of "
        "such systems; on the CPU, with one thread and with all, unless --device or --threads "
        "P,... say otherwise.\v"
        "An interaction is one of the N*N pairs and counts 20 flop. The limit is what the "
        "arithmetic of gravity alone allows on this machine's CPU, on numbers in registers. On a "
        "GPU bodies and results stay in its memory. With a law or a method only forces are "
        "measured, and a law has no limit.\n\n"
        "Examples:\n"
        "  kith bench forces\n"
        "  kith bench forces -n 4096 --precision double --threads 1,2\n"
        "  kith bench forces -n 64 --integrator hermite4\n"
        "  kith bench forces --law yukawa:1 -n 4096\n"
        "  kith bench forces --quick --json\n"
        "  kith bench forces --device cuda --method tile-p -n 16384,65536",
    .counts = {6, 64, 256, 1024, 4096, 16384, 65536},
    .quick_counts = {64, 256, 1024},
    .precisions = {KITH_F32, KITH_F64},
    .precision_count = 2,
    .seconds = 0.5,
    .all_threads = true,
    .state_bytes = sizeof(struct state),
    .begin = begin,
    .end = end,
};
