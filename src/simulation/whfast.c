/* The integrator whfast: whfast.h has the method, this file the interface between a simulation and
 * its kernels. */

#include "simulation/whfast.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"
#include "forces/solver.h"
#include "kith/ensemble.h"
#include "ranks/ranks.h"
#include "simulation/advance_program.h"
#include "simulation/backend.h"
#include "simulation/integrator.h"
#include "simulation/slice.h"
#include "simulation/whfast_slice.h"

_Static_assert(WHFAST_POSITION == VELOCITY + 1, "the arrays are in another order");

static const struct whfast_kernels *kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &whfast_##isa,
    static const struct whfast_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

/* Of a rank that has those that lead apart from its bodies; else NULL. */
static const struct whfast_leaders *leaders_of(const struct kith_simulation *simulation)
{
    return simulation->slice && simulation->context->ranks->rank > 0 ? simulation->slice->leaders
                                                                     : NULL;
}

/* kept: of the first body, so much after the beginning of the arrays. */
static struct whfast_arrays arrays_of(const struct kith_simulation *simulation, int64_t kept)
{
    struct whfast_arrays arrays = {0};
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        arrays.position[k] = simulation->vector[POSITION][k];
        arrays.velocity[k] = simulation->vector[VELOCITY][k];
        arrays.kept_position[k] = (double *)simulation->vector[WHFAST_POSITION][k] + kept;
        arrays.kept_velocity[k] = (double *)simulation->vector[WHFAST_VELOCITY][k] + kept;
        arrays.lost_position[k] = (double *)simulation->vector[WHFAST_LOST_POSITION][k] + kept;
        arrays.lost_velocity[k] = (double *)simulation->vector[WHFAST_LOST_VELOCITY][k] + kept;
    }
    return arrays;
}

static struct whfast_problem problem_of(const struct kith_simulation *simulation, double h,
                                        int64_t steps)
{
    const struct whfast_leaders *leaders = leaders_of(simulation);
    const struct whfast_arrays all = arrays_of(simulation, leaders ? 1 : 0);
    return (struct whfast_problem){.forces = &simulation->problem,
                                   .choice = simulation->whfast,
                                   .all = all,
                                   .lead = leaders ? leaders->arrays : all,
                                   .mass = leaders ? leaders->mass : simulation->mass,
                                   .last_with_mass = simulation->last_with_mass,
                                   .center = leaders ? leaders->leading : simulation->count - 1,
                                   .h = h,
                                   .steps = steps};
}

struct systems_run {
    const struct whfast_problem *problem;
    whfast_systems_kernel *kernel;
};

static void run_block(void *argument, int64_t block)
{
    const struct systems_run *run = argument;
    const int64_t begin = block * whfast_systems_at_once;
    const int64_t left = run->problem->forces->system_count - begin;
    run->kernel(run->problem, begin,
                begin + (left < whfast_systems_at_once ? left : whfast_systems_at_once));
}

/* Of a planet, a step and a planet's pair, on a slow processor. */
static const double seconds_of_planet = 10e-9, seconds_of_pair = 1e-9;

static kith_status run_systems(kith_context *context, const struct whfast_problem *problem)
{
    const struct forces_problem *forces = problem->forces;
    struct systems_run run = {problem, kernels_of(context)->systems};
    const double n = (double)forces->target_count;
    const double seconds = (double)(problem->steps + 1) * (double)forces->system_count *
                           (n * seconds_of_planet + n * n * seconds_of_pair);
    return kith_for_each(context, kith_threads_for(context, seconds),
                         (forces->system_count + whfast_systems_at_once - 1) /
                             whfast_systems_at_once,
                         run_block, &run);
}

/* Planets without mass do nothing to each other and to those with mass. Each part of them takes all
 * steps of a leg in a core's cache, with the leading planets, which take them once more for each.
 */
struct parts_run {
    const struct whfast_problem *problem;
    const struct whfast_kernels *kernels;
    kith_context *context;
    double *memory;              /* of each lane */
    int64_t leading, begin, end; /* planets that lead, and the others */
    int64_t each, numbers;
    atomic_long next;
};

/* Planets of a part, which take some hundred kilobytes, and that take far more time than those that
 * lead. */
enum { planets_of_part = 512, parts_of_leading = 8 };

int64_t whfast_leading(int64_t last_with_mass, int64_t planets)
{
    const int64_t last = last_with_mass > 0 ? last_with_mass : 0;
    const int64_t leading =
        (last + whfast_least_leading - 1) / whfast_least_leading * whfast_least_leading;
    return leading + planets_of_part < planets && parts_of_leading * leading <= planets ? leading
                                                                                        : planets;
}

/* The planets that lead and the others, of this rank. */
static void divide(const struct kith_simulation *simulation, struct parts_run *run)
{
    const int64_t planets = simulation->count - 1;
    const bool is_later = leaders_of(simulation) != NULL;
    const struct whfast_leaders *leaders = simulation->slice ? simulation->slice->leaders : NULL;
    run->leading = leaders ? leaders->leading : whfast_leading(simulation->last_with_mass, planets);
    run->begin = is_later ? -1 : run->leading;
    run->end = planets;
}

static int64_t planets_of_each(int64_t leading)
{
    return parts_of_leading * leading > planets_of_part ? parts_of_leading * leading
                                                        : planets_of_part;
}

static void run_parts(void *argument, int64_t lane)
{
    struct parts_run *run = argument;
    while (!kith_context_stops(run->context)) {
        const int64_t first = run->begin + run->each * atomic_fetch_add(&run->next, 1);
        const int64_t left = run->end - first;
        if (left <= 0)
            return;
        const struct whfast_part part = {run->leading, first, left < run->each ? left : run->each};
        run->kernels->one(run->problem, &part, run->memory + lane * run->numbers);
    }
}

/* The memory of the kernels, of each lane. */
static kith_status allocate_planets(struct kith_simulation *simulation, const struct parts_run *run,
                                    int32_t lanes)
{
    if (simulation->planets && simulation->planet_numbers >= lanes * run->numbers)
        return KITH_OK;
    free(simulation->planets);
    simulation->planets = NULL;
    simulation->planet_numbers = lanes * run->numbers;
    return kith_allocate(simulation->planet_numbers, sizeof *simulation->planets,
                         "coordinates of planets", &simulation->planets);
}

static kith_status run_one(struct kith_simulation *simulation, const struct whfast_problem *problem)
{
    kith_context *context = simulation->context;
    const struct whfast_kernels *kernels = kernels_of(context);
    struct parts_run run = {.problem = problem, .kernels = kernels, .context = context};
    divide(simulation, &run);
    const int64_t others = run.end - run.begin;
    run.each = planets_of_each(run.leading);
    run.numbers = kernels->numbers_of(run.leading + (others < run.each ? others : run.each));
    const double of_planet = seconds_of_planet + (double)run.leading * seconds_of_pair;
    const double seconds = (double)(problem->steps + 1) * (double)others * of_planet;
    const int32_t lanes = others > 0 ? kith_threads_for(context, seconds) : 1;
    const struct whfast_part lead = {run.leading, 0, 0};
    KITH_TRY(allocate_planets(simulation, &run, lanes));
    run.memory = simulation->planets;
    if (others > 0)
        KITH_TRY(kith_for_each(context, lanes, lanes, run_parts, &run));
    kernels->one(problem, &lead, simulation->planets);
    return KITH_OK;
}

static kith_status run_problem(struct kith_simulation *simulation,
                               const struct whfast_problem *problem)
{
    const struct simulation_backend *backend = simulation_backend_of(simulation->context);
    if (simulation->count == 0 || simulation->systems == 0)
        return KITH_OK;
    if (backend->whfast)
        return backend->whfast(simulation->context, problem);
    if (simulation->is_ensemble)
        return run_systems(simulation->context, problem);
    return run_one(simulation, problem);
}

kith_status whfast_prepare(struct kith_simulation *simulation)
{
    if (simulation->slice)
        KITH_TRY(whfast_slice_begin(simulation));
    struct whfast_problem problem = problem_of(simulation, simulation->dt, 0);
    if (!advance_fits_masses(&simulation->problem))
        return kith_fail(KITH_UNSUPPORTED,
                         "the gravitational constant times the largest mass is out of range for "
                         "integrator whfast; give bodies and G in other units");
    problem.begins = true;
    return run_problem(simulation, &problem);
}

static int64_t evaluations_of(enum whfast_kernel kernel)
{
    return kernel == whfast_default ? 1 : kernel == whfast_composition ? 5 : 2;
}

/* A step of another length than dt begins and ends with positions and velocities. */
static kith_status take(struct kith_simulation *simulation, double h, int64_t steps)
{
    struct whfast_problem problem = problem_of(simulation, h, steps);
    const bool is_other = h != simulation->dt;
    problem.begins = problem.ends = is_other;
    KITH_TRY(run_problem(simulation, &problem));
    simulation->lacks_forces = is_other;
    simulation->lacks_bodies = !is_other;
    simulation->steps += steps;
    simulation->evaluations += steps * evaluations_of(problem.choice.kernel);
    return KITH_OK;
}

kith_status whfast_step_bodies(struct kith_simulation *simulation, double h)
{
    struct whfast_problem problem = problem_of(simulation, h, 1);
    problem.begins = h != simulation->dt;
    problem.ends = true;
    return run_problem(simulation, &problem);
}

static kith_status finish(struct kith_simulation *simulation)
{
    struct whfast_problem problem = problem_of(simulation, simulation->dt, 0);
    problem.ends = true;
    return run_problem(simulation, &problem);
}

static kith_status check_softening(const struct kith_simulation *simulation,
                                   const kith_bodies *bodies, const char *name)
{
    double largest = simulation->softening;
    for (int64_t i = 0; simulation->softening_of_bodies && i < bodies->count; i++)
        largest = fmax(largest, bodies->softening[i]);
    if (largest > 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "softening is %g, and integrator %s follows orbits about the star, "
                         "which has none; give 0",
                         largest, name);
    return KITH_OK;
}

struct star {
    double mass, position[3];
};

/* Of bodies from number `first` on. */
static kith_status check_system(const kith_bodies *bodies, int64_t first, const struct star *star,
                                const char *name)
{
    const int32_t dimensions = bodies->dimensions;
    if (!(star->mass > 0))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "mass of body 0 is %g, and it is the star of integrator %s; give the "
                         "star first, with a mass > 0",
                         star->mass, name);
    for (int64_t i = 0; i < bodies->count; i++)
        if (first + i > 0 && memcmp(star->position, bodies->position + i * dimensions,
                                    (size_t)dimensions * sizeof(double)) == 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "body %lld (from 0) is at the place of body 0, the star of integrator "
                             "%s; move it",
                             (long long)(first + i), name);
    return KITH_OK;
}

static struct star star_of(const kith_bodies *bodies)
{
    struct star star = {1, {0}};
    if (bodies->count == 0)
        return star;
    star.mass = bodies->mass ? bodies->mass[0] : 1;
    memcpy(star.position, bodies->position, (size_t)bodies->dimensions * sizeof(double));
    return star;
}

/* The star is a body of rank 0. */
static kith_status check_slice(const struct kith_simulation *simulation, const kith_bodies *bodies,
                               const char *name)
{
    struct star star = star_of(bodies);
    ranks_broadcast(simulation->context, &star, sizeof star);
    return check_system(bodies, simulation->slice->first, &star, name);
}

kith_status whfast_check(const struct kith_simulation *simulation, const kith_bodies *bodies,
                         const char *name)
{
    if (simulation->dtype != KITH_F64)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is %s, which needs double precision, but precision is single; use double",
            name);
    if (simulation->law.law || !(simulation->law.g > 0))
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator is %s, which supports only attractive gravity; use gravity with G > 0",
            name);
    if (simulation->solver != &forces_solver_direct)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, and integrator %s sums over pairs itself; use auto or "
                         "direct",
                         simulation->solver->name, name);
    KITH_TRY(slice_agree(simulation, check_softening(simulation, bodies, name)));
    if (simulation->slice)
        return check_slice(simulation, bodies, name);
    for (int64_t s = 0; s < simulation->systems; s++) {
        const kith_bodies one = kith_ensemble_system(bodies, simulation->systems, s);
        const struct star star = star_of(&one);
        const kith_status status = check_system(&one, 0, &star, name);
        if (status != KITH_OK)
            return simulation->is_ensemble
                       ? kith_fail_within(status, "system %lld (from 0): ", (long long)s)
                       : status;
    }
    return KITH_OK;
}

static kith_status check(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    const int64_t massive = whfast_last_with_mass(bodies) + 1;
    if (simulation->context->device.kind != KITH_CPU &&
        simulation->count > kith_most_bodies_of_system && massive > whfast_most_leading + 1)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is whfast with %lld bodies, of which the last with mass is "
                         "number %lld (from 0); on a GPU it takes %d, or more if only the first %d "
                         "have mass: give these first, or simulate on the CPU",
                         (long long)simulation->count, (long long)massive - 1,
                         (int)kith_most_bodies_of_system, (int)whfast_most_leading + 1);
    KITH_TRY(whfast_check(simulation, bodies, "whfast"));
    if (simulation->watch)
        return kith_fail(
            KITH_UNSUPPORTED,
            "integrator whfast does not detect collisions, encounters or escapes; use hybrid or "
            "ias15");
    return KITH_OK;
}

static kith_status choose_corrector(int32_t order, const struct whfast_corrector **corrector)
{
    for (int32_t k = 0; k < whfast_correctors; k++)
        if (whfast_corrector[k].order == order) {
            *corrector = &whfast_corrector[k];
            return KITH_OK;
        }
    return kith_fail(KITH_INVALID_ARGUMENT, "corrector is %d; give one of 0, 3, 5, 7, 11, 17",
                     (int)order);
}

/* The index of a word in a list that ends with NULL; NULL selects the first. */
static kith_status choose_word(const char *what, const char *word, const char *const *words,
                               const char *list, int32_t *chosen)
{
    for (int32_t k = 0; words[k]; k++)
        if (!word || strcmp(word, words[k]) == 0) {
            *chosen = k;
            return KITH_OK;
        }
    return kith_fail(KITH_INVALID_ARGUMENT, "%s is '%s'; give one of %s", what, word, list);
}

static kith_status choose_hybrid(const kith_simulation_options *options,
                                 struct whfast_choice *choice)
{
    if ((options->coordinates && choice->coordinates == whfast_jacobi) ||
        choice->kernel != whfast_default || options->corrector != 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "integrator is hybrid, which has democratic-heliocentric coordinates, no "
                         "corrector and the default kernel alone; leave them out or use whfast");
    choice->coordinates = whfast_democratic_heliocentric;
    return KITH_OK;
}

kith_status whfast_choose(const kith_simulation_options *options, struct whfast_choice *choice)
{
    const char *integrator = options->integrator ? options->integrator : "leapfrog";
    const bool is_given = options->coordinates || options->kernel || options->corrector != 0;
    static const char *const coordinates[] = {"jacobi", "democratic-heliocentric", NULL};
    static const char *const kernels[] = {"default", "lazy", "modified-kick", "composition", NULL};
    int32_t frame = 0, kernel = 0;
    KITH_TRY(choose_word("coordinates", options->coordinates, coordinates,
                         "jacobi, democratic-heliocentric", &frame));
    KITH_TRY(choose_word("kernel", options->kernel, kernels,
                         "default, lazy, modified-kick, composition", &kernel));
    KITH_TRY(choose_corrector(options->corrector, &choice->corrector));
    choice->coordinates = (enum whfast_coordinates)frame;
    choice->kernel = (enum whfast_kernel)kernel;
    if (strcmp(integrator, "hybrid") == 0)
        return choose_hybrid(options, choice);
    if (is_given && strcmp(integrator, "whfast") != 0)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "coordinates, corrector and kernel belong to integrator whfast, but the integrator is "
            "%s; leave them out or use whfast",
            integrator);
    if (frame != whfast_jacobi && (kernel != whfast_default || options->corrector != 0))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "coordinates are democratic-heliocentric, which support no corrector and only the "
            "default kernel; use jacobi");
    return KITH_OK;
}

const struct integrator_method whfast_method = {.check = check,
                                                .prepare = whfast_prepare,
                                                .take = take,
                                                .finish = finish,
                                                .arrays = WHFAST_ARRAYS,
                                                .kept = WHFAST_ARRAYS};
