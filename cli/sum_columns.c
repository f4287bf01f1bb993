/* The columns of a file's particles that formulas name. */

#include "sum.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void add_name(struct sum_options *sum, const char *name, size_t length,
                     const struct argp_state *state)
{
    int count = 0;
    for (; sum->column_names[count]; count++)
        if (strncmp(sum->column_names[count], name, length) == 0 &&
            !sum->column_names[count][length])
            return;
    if (length >= KITH_NAME_BYTES)
        return; /* the library's message shows the position */
    if (count == KITH_MAX_OTHER_COLUMNS)
        cli_usage_error(state, "the formulas name more than %d columns; use fewer",
                        KITH_MAX_OTHER_COLUMNS);
    char *copy = cli_copy(name, state);
    copy[length] = 0;
    sum->column_names[count] = copy;
}

/* NAME of each word NAME_i or NAME_j. */
static void find_in(struct sum_options *sum, const char *formula, const struct argp_state *state)
{
    for (const char *at = formula; *at;) {
        size_t length = 0;
        while (is_letter(at[length]))
            length++;
        if (length > 2 && !isdigit((unsigned char)*at) && at[length - 2] == '_' &&
            (at[length - 1] == 'i' || at[length - 1] == 'j'))
            add_name(sum, at, length - 2, state);
        at += length > 0 ? length : 1;
    }
}

void sum_find_columns(struct sum_options *sum, const struct argp_state *state)
{
    for (int64_t k = 0; k < sum->sums.let_count; k++)
        find_in(sum, sum->lets[k].formula, state);
    for (int64_t k = 0; k < sum->output_count; k++)
        find_in(sum, sum->outputs[k].formula, state);
    sum->input.other_columns = (const char *const *)sum->column_names;
}

/* A column of the bodies by its name; NULL if the bodies do not have it. */
struct source {
    const double *values;
    int64_t stride;
    bool is_there; /* also without rows, and so without values */
};

static struct source column_of(const kith_bodies *bodies, const char *name)
{
    static const char *const axes = "xyz";
    const bool is_velocity = name[0] == 'v' && name[1];
    const char *axis = strchr(axes, name[is_velocity]);
    const double *vectors = is_velocity ? bodies->velocity : bodies->position;
    if (axis && *axis && !name[is_velocity + 1] && axis - axes < bodies->dimensions &&
        (vectors || bodies->count == 0))
        return (struct source){vectors + (axis - axes), bodies->dimensions, true};
    if (strcmp(name, "m") == 0 || strcmp(name, "mass") == 0)
        return (struct source){bodies->mass, 1, bodies->mass};
    if (strcmp(name, "q") == 0 || strcmp(name, "charge") == 0)
        return (struct source){bodies->charge, 1, bodies->charge};
    if (strcmp(name, "eps") == 0 || strcmp(name, "softening") == 0)
        return (struct source){bodies->softening, 1, bodies->softening};
    if (strcmp(name, "radius") == 0)
        return (struct source){bodies->radius, 1, bodies->radius};
    if (strcmp(name, "epsilon") == 0)
        return (struct source){bodies->epsilon, 1, bodies->epsilon};
    if (strcmp(name, "sigma") == 0)
        return (struct source){bodies->sigma, 1, bodies->sigma};
    for (int32_t k = 0; k < bodies->other_count; k++)
        if (strcmp(bodies->other[k].name, name) == 0)
            return (struct source){bodies->other[k].values, 1, true};
    return (struct source){NULL, 0, false};
}

static void copy(void *to, kith_dtype dtype, struct source from, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (dtype == KITH_F32)
            ((float *)to)[k] = (float)from.values[k * from.stride];
        else
            ((double *)to)[k] = from.values[k * from.stride];
}

static struct source ids_as_reals(const kith_bodies *bodies, double *room)
{
    for (int64_t k = 0; k < bodies->count; k++)
        room[k] = (double)bodies->id[k];
    return (struct source){room, 1, true};
}

bool sum_take_side(const struct sum_options *sum, struct sum_side *side)
{
    const kith_bodies *bodies = side->bodies;
    const kith_dtype dtype = sum->common.precision;
    const int64_t n = bodies->count, d = bodies->dimensions, each = kith_dtype_bytes(dtype);
    const size_t columns = KITH_MAX_OTHER_COLUMNS + 4; /* positions and the ids as reals too */
    char *at = side->memory = calloc((size_t)n * columns + 1, sizeof(double));
    if (!at)
        return false;
    double *ids = (double *)side->memory + n * (int64_t)(columns - 1);
    copy(at, dtype, (struct source){bodies->position, 1, true}, n * d);
    side->particles.positions = kith_array_matrix(at, dtype, n, d);
    at += n * d * each;
    int32_t count = 0;
    for (int k = 0; sum->column_names[k]; k++) {
        const char *name = sum->column_names[k];
        struct source from = column_of(bodies, name);
        if (bodies->id && strcmp(name, "id") == 0)
            from = ids_as_reals(bodies, ids);
        if (!from.is_there)
            continue; /* m and q are then 1, and others an error */
        copy(at, dtype, from, n);
        side->particles.columns[count++] =
            (kith_particle_column){name, kith_array_vector(at, dtype, n)};
        at += n * each;
    }
    return true;
}

void sum_free_side(struct sum_side *side)
{
    kith_bodies_free(side->bodies);
    free(side->memory);
}
