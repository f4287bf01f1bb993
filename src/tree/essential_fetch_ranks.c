/* What a locally essential tree gets from other ranks: cells, scales, multipoles and points. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "ranks/ranks.h"
#include "tree/essential_ranks.h"
#include "tree/fetch_ranks.h"
#include "tree/missing_ranks.h"

static const char what[] = "cells of a tree";

/* A cell as it is sent; its row of powers follows. */
struct cell_sent {
    struct tree_side side;
    double net, half_softening2;
    int64_t number;
    int32_t count, children, there, unused;
};

static int64_t children_of(const struct tree_essential *e, int32_t cell)
{
    return e->tree.cell[cell].children;
}

static void write_children(const struct tree_essential *e, const void *user, int32_t cell, char *to)
{
    (void)user;
    const struct octree_cell *parent = &e->tree.cell[cell];
    const size_t row = (size_t)e->terms * sizeof *e->power;
    for (int32_t child = parent->child; child < parent->child + parent->children; child++) {
        const struct tree_softening *softening = e->softenings.of_cell;
        const struct cell_sent sent = {.side = e->side[child],
                                       .net = e->tree.net_weight[child],
                                       .half_softening2 = softening ? softening[child].mean : 0,
                                       .number = e->number[child],
                                       .count = e->tree.cell[child].count,
                                       .children = e->tree.cell[child].children,
                                       .there = child};
        memcpy(to, &sent, sizeof sent);
        if (row > 0)
            memcpy(to + sizeof sent, e->power + (int64_t)child * e->terms, row);
        to += sizeof sent + row;
    }
}

static void add_cell(struct tree_essential *e, int32_t parent, const char *from)
{
    const int32_t index = e->tree.cell_count++;
    const size_t row = (size_t)e->terms * sizeof *e->power;
    struct cell_sent sent;
    memcpy(&sent, from, sizeof sent);
    e->tree.cell[index] = (struct octree_cell){.first = -1,
                                               .count = sent.count,
                                               .parent = parent,
                                               .child = sent.children > 0 ? octree_absent : 0,
                                               .children = sent.children,
                                               .around = e->tree.cell[parent].around};
    e->tree.net_weight[index] = sent.net;
    e->kind[index] = tree_other;
    e->number[index] = sent.number + tree_first_number(e, e->owner[parent]);
    e->owner[index] = e->owner[parent];
    e->there[index] = sent.there;
    e->side[index] = sent.side;
    if (e->softenings.of_cell)
        e->softenings.of_cell[index] = (struct tree_softening){.mean = sent.half_softening2};
    e->wanted[index] = e->far[index] = e->near[index] = 0;
    if (row > 0)
        memcpy(e->power + (int64_t)index * e->terms, from + sizeof sent, row);
}

static int64_t count_children(const struct tree_essential *e, const struct tree_fetch *fetch)
{
    int64_t count = 0;
    for (int64_t k = 0; k < fetch->count; k++)
        count += e->tree.cell[fetch->cell[k]].children;
    return count;
}

/* Collective: adds the children of the cells that are wanted, of those from `first` on; *any if
 * there are, on any rank. */
static kith_status add_wanted(struct tree_essential *e, int32_t first, bool *any)
{
    kith_context *context = e->division->context;
    const int64_t bytes = (int64_t)sizeof(struct cell_sent) + e->terms * (int64_t)sizeof *e->power;
    struct tree_fetch fetch = {0};
    char *received = NULL;
    int64_t count = 0;
    kith_status status = tree_fetch_ask(e, e->wanted, first, &fetch);
    if (status == KITH_OK) {
        count = fetch.count;
        status = ranks_agree_on(context, KITH_OK, &count);
    }
    *any = count > 0;
    if (status == KITH_OK && *any)
        status = tree_fetch_answer(e, &fetch, bytes, children_of, write_children, NULL, &received);
    if (status == KITH_OK && *any)
        status = ranks_agree(
            context, tree_essential_reserve(e, e->tree.cell_count + count_children(e, &fetch)));
    if (status == KITH_OK && *any) {
        const char *from = received;
        for (int64_t k = 0; k < fetch.count; k++) {
            const int32_t parent = fetch.cell[k];
            e->tree.cell[parent].child = e->tree.cell_count;
            for (int32_t child = 0; child < e->tree.cell[parent].children; child++, from += bytes)
                add_cell(e, parent, from);
        }
    }
    free(received);
    tree_fetch_free(&fetch);
    return status;
}

kith_status tree_essential_complete(struct tree_essential *e, const struct tree_essential *targets,
                                    const struct tree_rule *rule)
{
    kith_context *context = e->division->context;
    struct tree_pair_list pairs = {0};
    kith_status status = tree_pairs_begin(targets, e, &pairs);
    memset(e->far, 0, (size_t)e->tree.cell_count);
    memset(e->near, 0, (size_t)e->tree.cell_count);
    int32_t first = 0; /* later rounds visit the cells that the one before has added */
    for (bool any = true; any;) {
        const int32_t cells = e->tree.cell_count;
        memset(e->wanted + first, 0, (size_t)(cells - first));
        if (status == KITH_OK)
            status = tree_find_missing(context, rule, targets, e, &pairs);
        status = ranks_agree(context, status);
        if (status == KITH_OK)
            status = add_wanted(e, first, &any);
        if (status != KITH_OK)
            break;
        first = cells;
        status = tree_pairs_descend(e, &pairs);
    }
    free(pairs.pair);
    return status;
}

static int64_t one(const struct tree_essential *e, int32_t cell)
{
    (void)e;
    (void)cell;
    return 1;
}

static void write_scales(const struct tree_essential *e, const void *user, int32_t cell, char *to)
{
    (void)user;
    const double scales[2] = {e->side[cell].field, e->side[cell].potential};
    memcpy(to, scales, sizeof scales);
    memcpy(to + sizeof scales, e->power + (int64_t)cell * e->terms,
           (size_t)e->terms * sizeof *e->power);
}

/* Collective: the rows of powers and the scales of other ranks' cells below the top. */
static kith_status fetch_scales(struct tree_essential *e)
{
    const int64_t bytes = (2 + e->terms) * (int64_t)sizeof(double);
    struct tree_fetch fetch = {0};
    char *received = NULL;
    for (int32_t k = 0; k < e->tree.cell_count; k++)
        e->wanted[k] = k >= e->base;
    kith_status status = tree_fetch_ask(e, e->wanted, 0, &fetch);
    if (status == KITH_OK)
        status = tree_fetch_answer(e, &fetch, bytes, one, write_scales, NULL, &received);
    for (int64_t k = 0; k < fetch.count && status == KITH_OK; k++) {
        const int32_t cell = fetch.cell[k];
        double scales[2];
        memcpy(scales, received + k * bytes, sizeof scales);
        e->side[cell].field = scales[0];
        e->side[cell].potential = scales[1];
        memcpy(e->power + (int64_t)cell * e->terms, received + k * bytes + sizeof scales,
               (size_t)e->terms * sizeof *e->power);
    }
    free(received);
    tree_fetch_free(&fetch);
    return status;
}

kith_status tree_essential_take_powers(struct tree_essential *e, int32_t terms, double *power)
{
    double *grown = NULL;
    KITH_TRY(
        ranks_agree(e->division->context,
                    kith_allocate_unset(e->room, terms * (int64_t)sizeof *grown, what, &grown)));
    memcpy(grown, power, (size_t)e->base * (size_t)terms * sizeof *grown);
    free(e->power);
    e->power = grown;
    e->terms = terms;
    return fetch_scales(e);
}

/* Records by cells. */
struct record_array {
    char *record;
    int64_t bytes;
};

static void write_record(const struct tree_essential *e, const void *user, int32_t cell, char *to)
{
    const struct record_array *array = user;
    (void)e;
    memcpy(to, array->record + cell * array->bytes, (size_t)array->bytes);
}

static kith_status fetch_records(struct tree_essential *e, const struct record_array *array)
{
    struct tree_fetch fetch = {0};
    char *received = NULL;
    for (int32_t k = 0; k < e->base; k++)
        e->far[k] = 0; /* of the top they are there */
    kith_status status = tree_fetch_ask(e, e->far, 0, &fetch);
    if (status == KITH_OK)
        status = tree_fetch_answer(e, &fetch, array->bytes, one, write_record, array, &received);
    for (int64_t k = 0; k < fetch.count && status == KITH_OK; k++)
        memcpy(array->record + fetch.cell[k] * array->bytes, received + k * array->bytes,
               (size_t)array->bytes);
    free(received);
    tree_fetch_free(&fetch);
    return status;
}

/* x, y, z, weight and, if there are any, half softenings. */
enum { most_columns = 5 };

static int32_t columns_of(const struct tree_essential *e)
{
    return e->softenings.of_cell ? most_columns : most_columns - 1;
}

static int64_t points_of(const struct tree_essential *e, int32_t cell)
{
    return e->tree.cell[cell].count;
}

static const void *column_of(const struct tree_essential *e, int32_t c)
{
    return c < 3 ? e->own.position[c] : c == 3 ? e->own.weight : e->softenings.of_point;
}

static void write_points(const struct tree_essential *e, const void *user, int32_t cell, char *to)
{
    const int64_t first = e->tree.cell[cell].first, count = e->tree.cell[cell].count;
    const int32_t columns = columns_of(e);
    (void)user;
    for (int32_t c = 0; c < columns; c++)
        for (int64_t k = 0; k < count; k++)
            real_set(e->own.dtype, to, k * columns + c,
                     real_get(e->own.dtype, column_of(e, c), first + k));
}

/* Columns of the `others` points of other ranks. */
static kith_status make_columns(struct tree_essential *e, int64_t others)
{
    const int64_t real = kith_dtype_bytes(e->own.dtype);
    const int64_t column = kith_padded(others + kith_padding) * real;
    KITH_TRY(kith_allocate_unset(columns_of(e), column, "points of a tree", &e->columns));
    for (int32_t c = 0; c < columns_of(e); c++)
        e->others[c] = (char *)e->columns + c * column;
    return KITH_OK;
}

static kith_status fetch_points(struct tree_essential *e)
{
    const kith_dtype dtype = e->own.dtype;
    const int32_t columns = columns_of(e);
    const int64_t bytes = columns * kith_dtype_bytes(dtype);
    struct tree_fetch fetch = {0};
    char *received = NULL;
    int64_t others = 0;
    kith_status status = tree_fetch_ask(e, e->near, 0, &fetch);
    if (status == KITH_OK)
        status = tree_fetch_answer(e, &fetch, bytes, points_of, write_points, NULL, &received);
    for (int64_t k = 0; k < fetch.count && status == KITH_OK; k++) {
        e->tree.cell[fetch.cell[k]].first = (int32_t)(tree_first_other(e) + others);
        others += e->tree.cell[fetch.cell[k]].count;
    }
    if (status == KITH_OK)
        status = ranks_agree(e->division->context, others > 0 ? make_columns(e, others) : KITH_OK);
    for (int32_t c = 0; c < columns && status == KITH_OK; c++)
        for (int64_t k = 0; k < others; k++)
            real_set(dtype, e->others[c], k, real_get(dtype, received, k * columns + c));
    free(received);
    tree_fetch_free(&fetch);
    return status;
}

kith_status tree_essential_fetch(struct tree_essential *e, int64_t record_bytes, void *records)
{
    const struct record_array array = {records, record_bytes};
    KITH_TRY(fetch_records(e, &array));
    return fetch_points(e);
}
