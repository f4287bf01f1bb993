/* Steps of few bodies: one system, and an ensemble of systems. */

#include <stdlib.h>
#include <string.h>

#include "bench_forces.h"

/* Large enough that no two bodies get close, as steps shall cost the same at all times. */
static const double softening = 0.05, dt = 1e-5;

/* Ensembles of the GPU have so many bodies: a million systems of six. More than so many systems
 * repeat the first ones. */
enum { systems_on_cpu = 1024, bodies_on_gpu = 6000000, different_systems = 1024 };

static int64_t systems_of_ensemble(const struct bench_options *options, int64_t n)
{
    const bool is_gpu = options->common.device.kind == KITH_CUDA;
    return options->systems ? options->systems : is_gpu ? bodies_on_gpu / n : systems_on_cpu;
}

/* On a GPU one number of bodies tells enough, unless the user chose. */
static bool has_ensemble(const struct bench_options *options, int64_t n)
{
    const bool is_gpu = options->common.device.kind == KITH_CUDA;
    return n <= kith_most_bodies_of_system && (!is_gpu || options->common.counts_given || n == 6);
}

/* What a contestant of the steps does: kith's simulation, or a peer's. */
struct steps_work {
    const char *command;
    const struct competitor *competitor;
    kith_simulation *simulation;
};

static double run_steps(void *state, int64_t calls)
{
    const struct steps_work *work = state;
    if (work->competitor->peers)
        return peers_seconds(work->competitor->peers, work->competitor->name, 1, calls);
    const double start = cli_clock();
    if (kith_simulation_step(work->simulation, calls) != KITH_OK ||
        kith_context_synchronize(work->competitor->context) != KITH_OK) {
        cli_fail(work->command);
        return -1;
    }
    return cli_clock() - start;
}

/* System number `system`: each has other bodies. */
static kith_status make_system(int64_t n, int64_t system, kith_bodies **bodies)
{
    const kith_initial_options options = {.count = n, .seed = (uint64_t)system};
    return kith_initial_make("plummer", &options, bodies);
}

static bool make_ensemble(const char *command, int64_t n, int64_t systems, kith_bodies **all)
{
    kith_bodies *different[different_systems] = {0};
    const kith_bodies **each = calloc((size_t)systems, sizeof(kith_bodies *));
    kith_status status = KITH_OK;
    for (int64_t k = 0; k < different_systems && status == KITH_OK; k++)
        status = make_system(n, k, &different[k]);
    for (int64_t k = 0; k < systems && each; k++)
        each[k] = different[k % different_systems];
    if (each && status == KITH_OK)
        status = kith_ensemble_join(systems, each, all);
    if (!each)
        cli_fail_with(command, "no memory for %lld systems", (long long)systems);
    else if (status != KITH_OK)
        cli_fail(command);
    for (int64_t k = 0; k < different_systems; k++)
        kith_bodies_free(different[k]);
    free(each);
    return each && status == KITH_OK;
}

/* The bodies of a table's part: one system, and all of the ensemble; or NULL. */
struct steps_bodies {
    kith_bodies *one, *all;
    int64_t systems; /* of all */
};

static bool make_bodies(const struct bench_options *options, int64_t n, struct steps_bodies *bodies)
{
    if (make_system(n, 0, &bodies->one) != KITH_OK) {
        cli_fail(options->common.command);
        return false;
    }
    bodies->systems = systems_of_ensemble(options, n);
    return !has_ensemble(options, n) ||
           make_ensemble(options->common.command, n, bodies->systems, &bodies->all);
}

static bool add_row(const struct bench_options *options, const struct competitor *competitor,
                    const struct steps_bodies *bodies, int64_t systems, struct steps_work *work,
                    struct bench_rows *rows)
{
    const kith_simulation_options chosen = {.dt = dt,
                                            .integrator = options->integrator,
                                            .forces.softening = softening,
                                            .precision = competitor->precision};
    struct bench_row *row = bench_rows_add(rows, competitor, bodies->one->count);
    *work = (struct steps_work){options->common.command, competitor, NULL};
    row->systems = systems;
    row->contestant.run = run_steps;
    row->contestant.state = work;
    /* An ensemble's steps are short. */
    const double pairs = (double)bodies->one->count * (double)bodies->one->count;
    row->left_out = systems == 1 && pairs / competitor->rate > 10 * options->common.seconds;
    if (competitor->peers || row->left_out)
        return true;
    const kith_status status =
        systems == 1
            ? kith_simulation_create(competitor->context, &chosen, bodies->one, &work->simulation)
            : kith_simulation_create_ensemble(competitor->context, &chosen, systems, bodies->all,
                                              &work->simulation);
    if (status != KITH_OK)
        cli_fail(options->common.command);
    return status == KITH_OK;
}

/* The best instruction set alone, unless the user chose. */
static bool shows(const struct bench_options *options, const struct competitor *competitor)
{
    if (competitor->measured)
        return competitor->context && !competitor->of_device_memory;
    return competitor->context &&
           (options->isas_given || strcmp(competitor->isa, options->isas[0]) == 0);
}

/* More threads do nothing for few bodies. */
static bool steps_one_system(const struct bench_options *options,
                             const struct competitor *competitor)
{
    if (competitor->peers)
        return strcmp(competitor->name, "rebound") == 0;
    return shows(options, competitor) &&
           (competitor->measured || competitor->threads == options->common.threads[0]);
}

static bool add_rows(const struct bench_options *options, const struct competitors *competitors,
                     const struct steps_bodies *bodies, struct steps_work *work,
                     struct bench_rows *rows)
{
    for (int64_t k = 0; k < competitors->count; k++) {
        const struct competitor *competitor = &competitors->all[k];
        if (steps_one_system(options, competitor) &&
            !add_row(options, competitor, bodies, 1, &work[2 * k], rows))
            return false;
    }
    for (int64_t k = 0; k < competitors->count; k++) {
        const struct competitor *competitor = &competitors->all[k];
        if (bodies->all && shows(options, competitor) &&
            !add_row(options, competitor, bodies, bodies->systems, &work[2 * k + 1], rows))
            return false;
    }
    return true;
}

bool bench_steps_of(const struct bench_options *options, const struct competitors *competitors,
                    int64_t n, struct bench_rows *rows)
{
    const int64_t first = rows->count;
    struct steps_bodies bodies = {0};
    struct steps_work *work = calloc((size_t)competitors->count, 2 * sizeof *work);
    bool done = false;
    if (!work)
        cli_fail_with(options->common.command, "no memory");
    else
        done = make_bodies(options, n, &bodies) &&
               (!competitors->peers || peers_use(competitors->peers, bodies.one, softening, dt)) &&
               add_rows(options, competitors, &bodies, work, rows) &&
               bench_rows_measure(options, rows, first);
    for (int64_t k = 0; work && k < 2 * competitors->count; k++)
        kith_simulation_free(work[k].simulation);
    kith_bodies_free(bodies.one);
    kith_bodies_free(bodies.all);
    free(work);
    return done;
}
