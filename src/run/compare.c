#include "run/compare.h"

#include <string.h>

#include "core/numbers.h"

static const char remedy[] = "give the same, or write to another file";

static kith_status compare_words(const char *what, const char *wanted, const char *past,
                                 const char *output)
{
    if (strcmp(wanted, past) != 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is %s, and %s was started with %s; %s", what,
                         wanted, output, past, remedy);
    return KITH_OK;
}

static kith_status compare_real(const char *what, double wanted, double past, const char *output)
{
    char words[2][real_bytes];
    if (wanted == past)
        return KITH_OK;
    format_real(wanted, words[0]);
    format_real(past, words[1]);
    return compare_words(what, words[0], words[1], output);
}

static kith_status compare_count(const char *what, int64_t wanted, int64_t past, const char *output)
{
    if (wanted != past)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is %lld, and %s was started with %lld; %s",
                         what, (long long)wanted, output, (long long)past, remedy);
    return KITH_OK;
}

static kith_status compare_systems(const struct run_parameters *wanted,
                                   const struct run_parameters *past, const char *output)
{
    if (wanted->is_ensemble == past->is_ensemble)
        return compare_count("the number of systems", wanted->systems, past->systems, output);
    return compare_words("the run", wanted->is_ensemble ? "an ensemble" : "of one system",
                         past->is_ensemble ? "an ensemble" : "one system", output);
}

static const char *precision_name(kith_dtype precision)
{
    return precision == KITH_F32 ? "single" : "double";
}

static const char *frames_name(const struct run_parameters *parameters)
{
    return parameters->wrap ? "wrapped into the cell" : "not wrapped";
}

static const char *softening_name(bool of_bodies)
{
    return of_bodies ? "that of the bodies" : "one for all bodies";
}

static const char *collisions_name(const struct run_parameters *parameters)
{
    static const char *const names[] = {"pass", "merge", "bounce", "stop"};
    const int k = (int)parameters->on_collision;
    return k >= 0 && k < 4 ? names[k] : "another";
}

static const char *name_or_none(const char *name)
{
    return *name ? name : "none";
}

static int64_t excluded(kith_array exclusions, int64_t k, int c)
{
    return (
        (const int64_t *)exclusions.data)[k * exclusions.strides[0] + c * exclusions.strides[1]];
}

static kith_status compare_exclusions(kith_array wanted, kith_array past, const char *output)
{
    const int64_t count = kith_array_is_none(wanted) ? 0 : wanted.shape[0];
    KITH_TRY(compare_count("the number of excluded pairs", count,
                           kith_array_is_none(past) ? 0 : past.shape[0], output));
    for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < 2; c++)
            KITH_TRY(compare_count("a row of an excluded pair", excluded(wanted, k, c),
                                   excluded(past, k, c), output));
    return KITH_OK;
}

static kith_status compare_ewald(const kith_ewald *wanted, const kith_ewald *past,
                                 const char *output)
{
    static const char *const boundaries[] = {"tin-foil", "vacuum"};
    KITH_TRY(compare_real("absolute_error", wanted->absolute_error, past->absolute_error, output));
    KITH_TRY(compare_real("alpha", wanted->alpha, past->alpha, output));
    for (int c = 0; c < 3; c++)
        KITH_TRY(compare_count("grid", wanted->grid[c], past->grid[c], output));
    return compare_words("boundary", boundaries[wanted->boundary == KITH_BOUNDARY_VACUUM],
                         boundaries[past->boundary == KITH_BOUNDARY_VACUUM], output);
}

kith_status compare_parameters(const struct run_parameters *wanted,
                               const struct run_parameters *past, const char *output)
{
    KITH_TRY(compare_real("dt", wanted->dt, past->dt, output));
    KITH_TRY(compare_words("integrator", wanted->integrator, past->integrator, output));
    KITH_TRY(compare_words("coordinates", wanted->coordinates, past->coordinates, output));
    KITH_TRY(compare_words("kernel", wanted->kernel, past->kernel, output));
    KITH_TRY(compare_count("corrector", wanted->corrector, past->corrector, output));
    KITH_TRY(compare_words("law", wanted->law, past->law, output));
    KITH_TRY(compare_words("solver", wanted->solver, past->solver, output));
    KITH_TRY(compare_real("error", wanted->accuracy.error, past->accuracy.error, output));
    KITH_TRY(compare_real("theta", wanted->accuracy.theta, past->accuracy.theta, output));
    KITH_TRY(compare_count("order", wanted->accuracy.order, past->accuracy.order, output));
    KITH_TRY(compare_real("cutoff", wanted->cutoff, past->cutoff, output));
    KITH_TRY(compare_count("shift", wanted->shift, past->shift, output));
    KITH_TRY(compare_count("tail", wanted->tail, past->tail, output));
    KITH_TRY(compare_exclusions(wanted->exclusions, past->exclusions, output));
    KITH_TRY(compare_ewald(&wanted->ewald, &past->ewald, output));
    KITH_TRY(compare_count("substeps", wanted->substeps, past->substeps, output));
    KITH_TRY(compare_words("thermostat", name_or_none(wanted->thermostat),
                           name_or_none(past->thermostat), output));
    KITH_TRY(compare_real("gravitational constant", wanted->gravitational_constant,
                          past->gravitational_constant, output));
    KITH_TRY(compare_words("softening", softening_name(wanted->softening_of_bodies),
                           softening_name(past->softening_of_bodies), output));
    KITH_TRY(compare_real("softening", wanted->softening, past->softening, output));
    KITH_TRY(compare_real("eta", wanted->eta, past->eta, output));
    KITH_TRY(compare_words("collisions", collisions_name(wanted), collisions_name(past), output));
    if (wanted->on_collision == KITH_ON_COLLISION_BOUNCE)
        KITH_TRY(compare_real("restitution", wanted->restitution, past->restitution, output));
    KITH_TRY(compare_real("encounter", wanted->encounter, past->encounter, output));
    KITH_TRY(compare_real("escape", wanted->escape, past->escape, output));
    KITH_TRY(compare_words("precision", precision_name(wanted->precision),
                           precision_name(past->precision), output));
    KITH_TRY(compare_count("every", wanted->every, past->every, output));
    KITH_TRY(compare_count("pressure-every", wanted->pressure_every, past->pressure_every, output));
    KITH_TRY(compare_words("the frames", frames_name(wanted), frames_name(past), output));
    KITH_TRY(compare_real("every-time", wanted->every_time, past->every_time, output));
    return compare_systems(wanted, past, output);
}

/* Columns of doubles; an absent one has the same number in every row. */
struct column {
    const char *name;
    const double *wanted, *past;
    int32_t width;
    double absent;
};

static kith_status refuse_number(const struct column *column, int64_t k,
                                 const struct run_past *past, double wanted, double was,
                                 const char *output)
{
    const int64_t row = past->first_row + k / column->width;
    const int64_t bodies = past->all / past->parameters.systems;
    kith_fail_message("%s of body %lld (from 0) is %.17g, and %s was started with %.17g; give the "
                      "same bodies or none, or write to another file",
                      column->name, (long long)(row % bodies), wanted, output, was);
    if (past->parameters.is_ensemble)
        return kith_fail_within(KITH_INVALID_ARGUMENT,
                                "system %lld (from 0): ", (long long)(row / bodies));
    return KITH_INVALID_ARGUMENT;
}

static kith_status compare_column(const struct column *column, const struct run_past *past,
                                  bool rounded, const char *output)
{
    const int64_t numbers = past->start->count * column->width;
    for (int64_t k = 0; k < numbers; k++) {
        double wanted = column->wanted ? column->wanted[k] : column->absent;
        const double was = column->past ? column->past[k] : column->absent;
        if (rounded && past->parameters.precision == KITH_F32)
            wanted = (float)wanted;
        if (memcmp(&wanted, &was, sizeof wanted) != 0)
            return refuse_number(column, k, past, wanted, was, output);
    }
    return KITH_OK;
}

kith_status compare_bodies(const kith_bodies *bodies, int64_t all, const struct run_past *past,
                           const char *output)
{
    const kith_bodies *start = past->start;
    const struct column position = {"position", bodies->position, start->position,
                                    start->dimensions, 0};
    const struct column velocity = {"velocity", bodies->velocity, start->velocity,
                                    start->dimensions, 0};
    const struct column mass = {"mass", bodies->mass, start->mass, 1, 1};
    const struct column charge = {"charge", bodies->charge, start->charge, 1, 1};
    const struct column softening = {"softening", bodies->softening, start->softening, 1, 0};
    const struct column radius = {"radius", bodies->radius, start->radius, 1, 0};
    const struct column epsilon = {"epsilon", bodies->epsilon, start->epsilon, 1, 1};
    const struct column sigma = {"sigma", bodies->sigma, start->sigma, 1, 1};
    KITH_TRY(compare_count("the number of bodies", all, past->all, output));
    KITH_TRY(
        compare_count("the number of dimensions", bodies->dimensions, start->dimensions, output));
    KITH_TRY(compare_real("the bodies' time", bodies->time, start->time, output));
    KITH_TRY(compare_column(&position, past, true, output));
    KITH_TRY(compare_column(&velocity, past, true, output));
    KITH_TRY(compare_column(&mass, past, false, output));
    if (strcmp(past->parameters.law, "gravity") != 0)
        KITH_TRY(compare_column(&charge, past, false, output));
    if (strncmp(past->parameters.law, "lennard-jones", 13) == 0) {
        KITH_TRY(compare_column(&epsilon, past, false, output));
        KITH_TRY(compare_column(&sigma, past, false, output));
    }
    if (past->parameters.on_collision != KITH_ON_COLLISION_PASS)
        KITH_TRY(compare_column(&radius, past, false, output));
    if (past->parameters.softening_of_bodies)
        KITH_TRY(compare_column(&softening, past, false, output));
    return KITH_OK;
}
