/* The bodies of an ensemble: several systems in one set of columns. */

#include "kith/ensemble.h"

#include <string.h>

#include "core/arguments.h"
#include "core/status.h"

/* Of systems that are there. */
static kith_bodies rows_of(const kith_bodies *all, int64_t systems, int64_t system)
{
    kith_bodies one = *all;
    one.count = all->count / systems;
    const int64_t first = system * one.count;
    if (one.position)
        one.position += first * one.dimensions;
    if (one.velocity)
        one.velocity += first * one.dimensions;
    if (one.mass)
        one.mass += first;
    if (one.charge)
        one.charge += first;
    if (one.softening)
        one.softening += first;
    if (one.radius)
        one.radius += first;
    if (one.epsilon)
        one.epsilon += first;
    if (one.sigma)
        one.sigma += first;
    if (one.id)
        one.id += first;
    if (one.name)
        one.name += first;
    return one;
}

kith_bodies kith_ensemble_system(const kith_bodies *all, int64_t systems, int64_t system)
{
    const kith_bodies nobody = {.dimensions = 3};
    kith_bodies none = all ? *all : nobody;
    none.count = 0;
    const bool is_there = all && system >= 0 && system < systems;
    return is_there ? rows_of(all, systems, system) : none;
}

static kith_status check_shape(const kith_bodies *all, int64_t systems)
{
    if (systems < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "systems is %lld; give a number ≥ 0",
                         (long long)systems);
    if (all && (systems == 0 ? all->count != 0 : all->count % systems != 0))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "there are %lld bodies for %lld systems; give the same number in each",
                         (long long)all->count, (long long)systems);
    return KITH_OK;
}

kith_status kith_ensemble_check(const kith_bodies *all, int64_t systems)
{
    KITH_TRY(check_shape(all, systems));
    if (!all || all->count <= 0)
        return kith_bodies_check(all);
    for (int64_t s = 0; s < systems; s++) {
        const kith_bodies one = kith_ensemble_system(all, systems, s);
        const kith_status status = kith_bodies_check(&one);
        if (status != KITH_OK)
            return kith_fail_within(status, "system %lld (from 0): ", (long long)s);
    }
    return KITH_OK;
}

static unsigned columns_of(const kith_bodies *bodies)
{
    return (bodies->velocity ? (unsigned)KITH_VELOCITY : 0) |
           (bodies->mass ? (unsigned)KITH_MASS : 0) | (bodies->charge ? (unsigned)KITH_CHARGE : 0) |
           (bodies->softening ? (unsigned)KITH_SOFTENING : 0) |
           (bodies->epsilon ? (unsigned)KITH_EPSILON : 0) |
           (bodies->sigma ? (unsigned)KITH_SIGMA : 0) |
           (bodies->radius ? (unsigned)KITH_RADIUS : 0) | (bodies->id ? (unsigned)KITH_ID : 0) |
           (bodies->name ? (unsigned)KITH_NAME : 0);
}

/* Bodies as kith_bodies_create makes them, or of no possible shape. */
static kith_status check_given(const kith_bodies *bodies, int64_t s)
{
    const bool possible = bodies && bodies->count >= 0 && (bodies->position || bodies->count == 0);
    if (!possible)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "system %lld (from 0) is %s; give bodies of kith_bodies_create",
                         (long long)s, bodies ? "of no possible shape" : "NULL");
    return KITH_OK;
}

static kith_status check_like_first(const kith_bodies *first, const kith_bodies *other, int64_t s)
{
    if (other->count != first->count)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "system %lld (from 0) has %lld bodies and system 0 has %lld; give the "
                         "same number in each",
                         (long long)s, (long long)other->count, (long long)first->count);
    if (other->dimensions != first->dimensions)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "system %lld (from 0) has %d dimensions and system 0 has %d; give the "
                         "same in each",
                         (long long)s, (int)other->dimensions, (int)first->dimensions);
    if (other->time != first->time)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "system %lld (from 0) is at time %.15g and system 0 at %.15g; give "
                         "systems at the same time",
                         (long long)s, other->time, first->time);
    if (!other->softening != !first->softening)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "system %lld (from 0) has %s softening lengths and system 0 has %s; give "
                         "them in each or in none",
                         (long long)s, other->softening ? "its" : "no",
                         first->softening ? "its" : "no");
    return KITH_OK;
}

static bool name_differs(const char *name, const char *other)
{
    return *name && *other && strcmp(name, other) != 0;
}

static kith_status check_units(const kith_units *first, const kith_units *other, int64_t s)
{
    const double g[2] = {first->gravitational_constant, other->gravitational_constant};
    if ((g[0] == 0 ? 1 : g[0]) != (g[1] == 0 ? 1 : g[1]))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the gravitational constant of system %lld (from 0) is %.17g and that of "
                         "system 0 is %.17g; give systems of one",
                         (long long)s, g[1] == 0 ? 1 : g[1], g[0] == 0 ? 1 : g[0]);
    if (name_differs(first->length, other->length) || name_differs(first->time, other->time) ||
        name_differs(first->mass, other->mass))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the units of system %lld (from 0) are '%.31s,%.31s,%.31s' and those of "
                         "system 0 '%.31s,%.31s,%.31s'; give systems of one",
                         (long long)s, other->length, other->time, other->mass, first->length,
                         first->time, first->mass);
    return KITH_OK;
}

static void copy_column(double *to, const double *from, int64_t numbers, double absent)
{
    if (!to || numbers == 0)
        return;
    if (from)
        memcpy(to, from, (size_t)numbers * sizeof *to);
    for (int64_t k = 0; !from && k < numbers; k++)
        to[k] = absent;
}

static void copy_system(const kith_bodies *from, kith_bodies *to)
{
    const int64_t n = from->count;
    copy_column(to->position, from->position, n * from->dimensions, 0);
    copy_column(to->velocity, from->velocity, n * from->dimensions, 0);
    copy_column(to->mass, from->mass, n, 1);
    copy_column(to->charge, from->charge, n, 1);
    copy_column(to->softening, from->softening, n, 0);
    copy_column(to->radius, from->radius, n, 0);
    copy_column(to->epsilon, from->epsilon, n, 1);
    copy_column(to->sigma, from->sigma, n, 1);
    for (int64_t i = 0; to->id && i < n; i++)
        to->id[i] = from->id ? from->id[i] : i;
    if (to->name && from->name)
        memcpy(to->name, from->name, (size_t)n * sizeof *to->name);
}

kith_status kith_ensemble_join(int64_t systems, const kith_bodies *const *each, kith_bodies **all)
{
    KITH_TRY(kith_check_pointer(all, "all"));
    *all = NULL;
    KITH_TRY(check_shape(NULL, systems));
    unsigned columns = 0;
    if (systems > 0)
        KITH_TRY(kith_check_pointer(each, "each"));
    for (int64_t s = 0; s < systems; s++) {
        KITH_TRY(check_given(each[s], s));
        KITH_TRY(check_like_first(each[0], each[s], s));
        KITH_TRY(check_units(&each[0]->units, &each[s]->units, s));
        columns |= columns_of(each[s]);
    }

    const int64_t count = systems > 0 ? each[0]->count : 0;
    if (count > 0 && systems > INT64_MAX / count)
        return kith_fail(KITH_OUT_OF_MEMORY, "out of memory: %lld systems of %lld bodies",
                         (long long)systems, (long long)count);
    KITH_TRY(
        kith_bodies_create(systems * count, systems > 0 ? each[0]->dimensions : 3, columns, all));
    for (int64_t s = 0; s < systems; s++) {
        kith_bodies one = rows_of(*all, systems, s);
        copy_system(each[s], &one);
    }
    (*all)->time = systems > 0 ? each[0]->time : 0;
    if (systems > 0)
        (*all)->units = each[0]->units;
    return KITH_OK;
}
