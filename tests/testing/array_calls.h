#ifndef TESTS_ARRAY_CALLS_H
#define TESTS_ARRAY_CALLS_H

/* The public calls that take arrays, with small good arguments. */

#include "testing.h"

#include <stdlib.h>

/* An argument: element k is 1 + k / 2 of reals, k × step of integers. */
struct call_array {
    const char *name;
    kith_dtype dtype;
    int64_t rows, columns; /* 0 columns: a vector */
    bool host_only;
    int64_t step;
};

enum { most_call_arrays = 8 };

struct array_call {
    const char *name;
    kith_status (*call)(kith_context *context, const kith_array *a);
    struct call_array array[most_call_arrays];
};

static inline kith_status call_forces(kith_context *context, const kith_array *a)
{
    return kith_forces_compute(context, NULL, PARTICLES(a[0], {"softening", a[3]}),
                               PARTICLES(a[1], {"m", a[2]}, {"softening", a[4]}), a[5], a[6]);
}

static inline kith_status call_forces_of_a_law(kith_context *context, const kith_array *a)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    const kith_forces_options options = {.law = law};
    const kith_status status =
        kith_forces_compute(context, &options, PARTICLES(a[0], {"q", a[3]}, {"m", a[4]}),
                            PARTICLES(a[1], {"q", a[2]}), a[5], a[6]);
    kith_law_free(law);
    return status;
}

static inline kith_status call_derivative(kith_context *context, const kith_array *a)
{
    return kith_forces_derivative(context, NULL, POINTS(a[0]), PARTICLES(a[1], {"m", a[2]}), a[3],
                                  a[4], a[5], a[6]);
}

static inline kith_status call_matrix_compute(kith_context *context, const kith_array *a)
{
    return kith_matrix_compute(context, NULL, NULL, PARTICLES(a[0], {"m", a[1]}, {"q", a[2]}),
                               PARTICLES(a[3], {"m", a[4]}, {"q", a[5]}), a[6]);
}

static inline kith_status call_matrix_reduce(kith_context *context, const kith_array *a)
{
    return kith_matrix_reduce(context, NULL, NULL, POINTS(a[0]), NULL, KITH_REDUCE_SUM, a[1]);
}

static inline kith_status call_matrix_histogram(kith_context *context, const kith_array *a)
{
    return kith_matrix_histogram(context, NULL, NULL, POINTS(a[0]), NULL, -1, 1, a[1]);
}

static inline kith_status call_matrix_multiply(kith_context *context, const kith_array *a)
{
    return kith_matrix_multiply(context, NULL, NULL, POINTS(a[0]), NULL, a[1], a[2]);
}

static inline kith_status list_pairs(kith_context *context, const kith_pairs_options *options,
                                     kith_array positions, int way)
{
    kith_pairs *pairs = NULL;
    const kith_status status =
        way == 0   ? kith_pairs_compute(context, options, positions, NULL, &pairs)
        : way == 1 ? kith_pairs_update(context, options, positions, NULL, &pairs, NULL)
                   : kith_pairs_nearest(context, options, positions, NULL, 1, &pairs);
    kith_pairs_free(pairs);
    return status;
}

static inline kith_status call_pairs(kith_context *context, const kith_array *a)
{
    return list_pairs(
        context,
        &(kith_pairs_options){
            .cutoff = 9, .radii = a[1], .exclusion_offsets = a[2], .exclusions = a[3]},
        a[0], 0);
}

static inline kith_status call_pairs_of_queries(kith_context *context, const kith_array *a)
{
    return list_pairs(context,
                      &(kith_pairs_options){.cutoff = 9,
                                            .queries = a[1],
                                            .radii = a[2],
                                            .query_radii = a[3],
                                            .system_offsets = a[4],
                                            .query_system_offsets = a[5]},
                      a[0], 0);
}

static inline kith_status call_pairs_update(kith_context *context, const kith_array *a)
{
    return list_pairs(context, &(kith_pairs_options){.cutoff = 9, .skin = 1}, a[0], 1);
}

static inline kith_status call_nearest(kith_context *context, const kith_array *a)
{
    return list_pairs(context, &(kith_pairs_options){.queries = a[1]}, a[0], 2);
}

static inline kith_status call_collisions_count(kith_context *context, const kith_array *a)
{
    int64_t count = 0;
    return kith_collisions_count(context, NULL, a[0], &count);
}

static inline kith_status call_collisions_launch(kith_context *context, const kith_array *a)
{
    kith_collisions_promise *promise = NULL;
    int64_t count = 0;
    kith_status status = kith_collisions_launch(context, NULL, a[0], &promise);
    if (status == KITH_OK)
        status = kith_collisions_fetch(promise, &count);
    kith_collisions_promise_free(promise);
    return status;
}

static inline kith_status call_collisions_choose(kith_context *context, const kith_array *a)
{
    kith_collisions_method method;
    return kith_collisions_choose(context, NULL, a[0], &method);
}

static inline kith_status call_collisions_group(kith_context *context, const kith_array *a)
{
    kith_collisions_groups *groups = NULL;
    const kith_status status = kith_collisions_group(context, a[0], &groups);
    kith_collisions_groups_free(groups);
    return status;
}

static inline kith_status call_contacts(kith_context *context, const kith_array *a)
{
    int64_t count = 0;
    return kith_contacts_count(context, a[0], NULL, &count);
}

static inline kith_status call_summary(kith_context *context, const kith_array *a)
{
    kith_collisions_summary summary;
    return kith_collisions_summarize(context, a[0], &summary);
}

static inline kith_status call_batch(kith_context *context, const kith_array *a)
{
    return kith_collisions_batch(context, a[0], a[1], NULL, a[2], a[3]);
}

static inline kith_status call_sparse_coo(kith_context *context, const kith_array *a)
{
    kith_sparse *sparse = NULL;
    const kith_status status =
        kith_sparse_create_coo(context, NULL, 2, 2, a[0], a[1], a[2], &sparse);
    kith_sparse_free(sparse);
    return status;
}

static inline kith_status call_sparse_csr(kith_context *context, const kith_array *a)
{
    kith_sparse *sparse = NULL;
    const kith_status status = kith_sparse_create_csr(context, NULL, 2, a[0], a[1], a[2], &sparse);
    kith_sparse_free(sparse);
    return status;
}

static inline kith_status call_sparse_dense(kith_context *context, const kith_array *a)
{
    kith_sparse *sparse = NULL;
    const kith_status status = kith_sparse_create_dense(context, NULL, a[0], &sparse);
    kith_sparse_free(sparse);
    return status;
}

static inline kith_status call_sparse_multiply(kith_context *context, const kith_array *a)
{
    double entries[] = {1, 2, 3, 4};
    kith_sparse *sparse = NULL;
    assert_ok(kith_sparse_create_dense(context, NULL, kith_array_matrix(entries, KITH_F64, 2, 2),
                                       &sparse));
    const kith_status status = kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, a[0], 0, a[1]);
    kith_sparse_free(sparse);
    return status;
}

static inline kith_status call_sparse_pairs(kith_context *context, const kith_array *a)
{
    double x[] = {0, 0, 0, 1, 0, 0};
    kith_pairs *pairs = NULL;
    kith_sparse *sparse = NULL;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("gravity", 0, NULL, &law));
    assert_ok(kith_pairs_compute(
        context,
        &(kith_pairs_options){.cutoff = 2, .quantities = KITH_PAIRS_J | KITH_PAIRS_DISTANCES},
        kith_array_matrix(x, KITH_F64, 2, 3), NULL, &pairs));
    const kith_status status = kith_sparse_create_pairs(
        context, NULL, pairs, &(kith_sparse_graph){.law = law, .mass = a[0], .charge = a[1]},
        &sparse);
    kith_sparse_free(sparse);
    kith_pairs_free(pairs);
    kith_law_free(law);
    return status;
}

#define REALS(name, rows, columns)                                                                 \
    {                                                                                              \
        name, KITH_F64, rows, columns, false, 0                                                    \
    }
#define WHOLE(name, rows, columns, step)                                                           \
    {                                                                                              \
        name, KITH_I64, rows, columns, false, step                                                 \
    }

static const struct array_call array_calls[] = {
    {"forces",
     call_forces,
     {REALS("targets.positions", 2, 3), REALS("sources.positions", 2, 3), REALS("sources.m", 2, 0),
      REALS("targets.softening", 2, 0), REALS("sources.softening", 2, 0),
      REALS("acceleration", 2, 3), REALS("potential", 2, 0)}},
    {"forces of a law",
     call_forces_of_a_law,
     {REALS("targets.positions", 2, 3), REALS("sources.positions", 2, 3), REALS("sources.q", 2, 0),
      REALS("targets.q", 2, 0), REALS("targets.m", 2, 0), REALS("acceleration", 2, 3),
      REALS("potential", 2, 0)}},
    {"derivative of forces",
     call_derivative,
     {REALS("targets.positions", 2, 3), REALS("sources.positions", 2, 3), REALS("sources.m", 2, 0),
      REALS("target_directions", 2, 3), REALS("source_directions", 2, 3),
      REALS("acceleration_derivative", 2, 3), REALS("potential_derivative", 2, 0)}},
    {"matrix",
     call_matrix_compute,
     {REALS("rows.positions", 2, 3), REALS("rows.m", 2, 0), REALS("rows.q", 2, 0),
      REALS("columns.positions", 2, 3), REALS("columns.m", 2, 0), REALS("columns.q", 2, 0),
      REALS("matrix", 2, 2)}},
    {"reduce", call_matrix_reduce, {REALS("rows.positions", 2, 3), REALS("out", 2, 0)}},
    {"histogram", call_matrix_histogram, {REALS("rows.positions", 2, 3), WHOLE("counts", 2, 0, 0)}},
    {"matrix multiply",
     call_matrix_multiply,
     {REALS("rows.positions", 2, 3), REALS("b", 2, 0), REALS("y", 2, 0)}},
    {"pairs",
     call_pairs,
     {REALS("positions", 2, 3), REALS("radii", 2, 0), WHOLE("exclusion_offsets", 3, 0, 1),
      WHOLE("exclusions", 2, 0, 1)}},
    {"pairs of queries",
     call_pairs_of_queries,
     {REALS("positions", 2, 3),
      REALS("queries", 2, 3),
      REALS("radii", 2, 0),
      REALS("query_radii", 2, 0),
      {"system_offsets", KITH_I64, 2, 0, true, 2},
      {"query_system_offsets", KITH_I64, 2, 0, true, 2}}},
    {"pairs update", call_pairs_update, {REALS("positions", 2, 3)}},
    {"nearest", call_nearest, {REALS("positions", 2, 3), REALS("queries", 2, 3)}},
    {"collisions", call_collisions_count, {WHOLE("beads", 4, 3, 1)}},
    {"collisions launch", call_collisions_launch, {WHOLE("beads", 4, 3, 1)}},
    {"collisions choose", call_collisions_choose, {WHOLE("beads", 4, 3, 1)}},
    {"collisions group", call_collisions_group, {{"beads", KITH_I64, 4, 3, true, 1}}},
    {"summary", call_summary, {{"beads", KITH_I64, 4, 3, true, 1}}},
    {"contacts", call_contacts, {{"beads", KITH_I64, 4, 3, true, 1}}},
    {"batch",
     call_batch,
     {WHOLE("beads", 4, 3, 1), WHOLE("offsets", 3, 0, 2), WHOLE("collisions", 2, 0, 0),
      WHOLE("contacts", 2, 0, 0)}},
    {"coo",
     call_sparse_coo,
     {WHOLE("row", 2, 0, 1), WHOLE("column", 2, 0, 1), REALS("values", 2, 0)}},
    {"csr",
     call_sparse_csr,
     {WHOLE("row_start", 3, 0, 1), WHOLE("column", 2, 0, 1), REALS("values", 2, 0)}},
    {"dense", call_sparse_dense, {{"matrix", KITH_F64, 2, 2, true, 0}}},
    {"sparse multiply", call_sparse_multiply, {REALS("x", 2, 0), REALS("y", 2, 0)}},
    {"sparse of pairs",
     call_sparse_pairs,
     {{"mass", KITH_F64, 2, 0, true, 0}, {"charge", KITH_F64, 2, 0, true, 0}}},
};
enum { array_call_count = sizeof array_calls / sizeof array_calls[0] };

static inline int call_array_count(const struct array_call *call)
{
    int count = 0;
    while (count < most_call_arrays && call->array[count].name)
        count++;
    return count;
}

static inline size_t call_array_bytes(const struct call_array *one)
{
    return (size_t)(one->rows * (one->columns ? one->columns : 1)) * sizeof(double);
}

/* On the host; its data is to be freed. */
static inline kith_array call_array_make(const struct call_array *one)
{
    void *data = malloc(call_array_bytes(one));
    assert_non_null(data);
    for (size_t k = 0; k < call_array_bytes(one) / sizeof(double); k++)
        if (one->dtype == KITH_F64)
            ((double *)data)[k] = 1 + (double)k / 2;
        else
            ((int64_t *)data)[k] = (int64_t)k * one->step;
    return one->columns ? kith_array_matrix(data, one->dtype, one->rows, one->columns)
                        : kith_array_vector(data, one->dtype, one->rows);
}

#endif
