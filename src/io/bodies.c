#include "kith/bodies.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

static kith_status add_reals(double **column, int64_t count, const char *what)
{
    return *column ? KITH_OK : kith_allocate(count, sizeof **column, what, column);
}

kith_status kith_bodies_add_columns(kith_bodies *bodies, unsigned columns)
{
    const int64_t n = bodies->count;
    if (columns & KITH_VELOCITY)
        KITH_TRY(add_reals(&bodies->velocity, n * bodies->dimensions, "velocities"));
    if (columns & KITH_MASS)
        KITH_TRY(add_reals(&bodies->mass, n, "masses"));
    if (columns & KITH_CHARGE)
        KITH_TRY(add_reals(&bodies->charge, n, "charges"));
    if (columns & KITH_SOFTENING)
        KITH_TRY(add_reals(&bodies->softening, n, "softening lengths"));
    if ((columns & KITH_ID) && !bodies->id)
        KITH_TRY(kith_allocate(n, sizeof *bodies->id, "ids", &bodies->id));
    if ((columns & KITH_NAME) && !bodies->name)
        KITH_TRY(kith_allocate(n, sizeof *bodies->name, "names", &bodies->name));
    return KITH_OK;
}

kith_status kith_bodies_create(int64_t count, int32_t dimensions, unsigned columns,
                               kith_bodies **bodies)
{
    *bodies = NULL;
    if (count < 0 || count > INT64_MAX / 8)
        return kith_fail(KITH_INVALID_ARGUMENT, "count is %lld; give a number of bodies ≥ 0",
                         (long long)count);
    if (dimensions != 2 && dimensions != 3)
        return kith_fail(KITH_INVALID_ARGUMENT, "dimensions is %d; give 2 or 3", (int)dimensions);

    kith_bodies *created = NULL;
    KITH_TRY(kith_allocate(1, sizeof *created, "bodies", &created));
    created->count = count;
    created->dimensions = dimensions;
    kith_status status = kith_allocate(count, dimensions * (int64_t)sizeof(double), "positions",
                                       &created->position);
    if (status == KITH_OK)
        status = kith_bodies_add_columns(created, columns);
    if (status != KITH_OK) {
        kith_bodies_free(created);
        return status;
    }
    *bodies = created;
    return KITH_OK;
}

void kith_bodies_free(kith_bodies *bodies)
{
    if (!bodies)
        return;
    free(bodies->position);
    free(bodies->velocity);
    free(bodies->mass);
    free(bodies->charge);
    free(bodies->softening);
    free(bodies->id);
    free(bodies->name);
    free(bodies);
}

static kith_status check_column(const double *column, int64_t count, int32_t width,
                                const char *what)
{
    for (int64_t k = 0; column && k < count * width; k++)
        if (!isfinite(column[k]))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s of body %lld (from 0) is %g; every number must be finite", what,
                             (long long)(k / width), column[k]);
    return KITH_OK;
}

kith_status kith_bodies_check(const kith_bodies *bodies)
{
    const int64_t n = bodies->count;
    KITH_TRY(check_column(bodies->position, n, bodies->dimensions, "position"));
    KITH_TRY(check_column(bodies->velocity, n, bodies->dimensions, "velocity"));
    KITH_TRY(check_column(bodies->mass, n, 1, "mass"));
    KITH_TRY(check_column(bodies->charge, n, 1, "charge"));
    KITH_TRY(check_column(bodies->softening, n, 1, "softening"));
    for (int64_t i = 0; bodies->softening && i < n; i++)
        if (bodies->softening[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "softening of body %lld (from 0) is %g; give a length ≥ 0",
                             (long long)i, bodies->softening[i]);
    return KITH_OK;
}
