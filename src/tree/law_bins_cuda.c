#include "tree/law_bins_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "law/law.h"
#include "tree/walk_cuda.h"

/* What bins depend on. */
struct law_key {
    char *text;
    double parameter[law_constant_count], softening2;
    int exponents[2]; /* of the extent and, with the softening, of the largest distance */
    int32_t order;
    kith_dtype dtype;
};

/* What a context keeps; the arrays are in the device's memory. */
struct kept_law {
    struct tree_law_bins bins;
    struct tree_memory memory;
    struct law_key *key; /* NULL: of nothing */
};

static void free_key(struct law_key *key)
{
    if (key)
        free(key->text);
    free(key);
}

static kith_status make_key(const struct tree_problem *problem, int32_t order, double extent,
                            struct law_key **key)
{
    const kith_law *law = problem->pair_law;
    const int64_t bytes = (int64_t)strlen(law->text) + 1;
    KITH_TRY(kith_allocate(1, sizeof **key, "the series of a law", key));
    **key = (struct law_key){
        .softening2 = problem->softening2, .order = order, .dtype = problem->dtype};
    memcpy((*key)->parameter, law->parameter, sizeof law->parameter);
    frexp(extent, &(*key)->exponents[0]);
    frexp(hypot(extent, sqrt(problem->softening2)), &(*key)->exponents[1]);
    KITH_TRY(kith_allocate(bytes, 1, "the series of a law", &(*key)->text));
    memcpy((*key)->text, law->text, (size_t)bytes);
    return KITH_OK;
}

static bool is_same(const struct law_key *a, const struct law_key *b)
{
    return a && strcmp(a->text, b->text) == 0 &&
           memcmp(a->parameter, b->parameter, sizeof a->parameter) == 0 &&
           a->softening2 == b->softening2 && a->exponents[0] == b->exponents[0] &&
           a->exponents[1] == b->exponents[1] && a->order == b->order && a->dtype == b->dtype;
}

/* Copies an array to what is left of the device's memory. */
static kith_status send(kith_context *context, const void *array, int64_t bytes, char **room,
                        const void **there)
{
    *there = *room;
    KITH_TRY(cuda_copy_in(context, *room, array, bytes));
    *room += bytes;
    return KITH_OK;
}

static kith_status send_bins(kith_context *context, const struct tree_law_bins *bins,
                             struct kept_law *law)
{
    const int64_t numbers = (int64_t)bins->bins.count * bins->bins.terms;
    const int64_t of_series = numbers * (int64_t)sizeof *bins->series;
    const int64_t of_narrow = bins->narrow ? numbers * (int64_t)sizeof *bins->narrow : 0;
    const int64_t of_rows = bins->decay.count * (int64_t)sizeof *bins->rows;
    const void *series = NULL, *narrow = NULL, *rows = NULL;
    KITH_TRY(tree_reserve_cuda(context, of_series + of_narrow + of_rows, "the series of a law",
                               &law->memory));
    char *room = law->memory.memory;
    KITH_TRY(send(context, bins->series, of_series, &room, &series));
    if (bins->narrow)
        KITH_TRY(send(context, bins->narrow, of_narrow, &room, &narrow));
    KITH_TRY(send(context, bins->rows, of_rows, &room, &rows));
    law->bins = (struct tree_law_bins){
        .bins = bins->bins, .decay = bins->decay, .series = (double *)series};
    law->bins.bins.rows = narrow ? narrow : series;
    law->bins.decay.rows = rows;
    return KITH_OK;
}

static kith_status make_bins(kith_context *context, const struct tree_problem *problem,
                             int32_t order, double extent, struct kept_law *law)
{
    struct tree_law_bins bins = {0};
    kith_status status = tree_law_bins_create(problem, order, extent, &bins);
    if (status == KITH_OK)
        status = send_bins(context, &bins, law);
    tree_law_bins_free(&bins);
    return status;
}

static void free_kept(kith_context *context, void *kept)
{
    struct kept_law *law = kept;
    free_key(law->key);
    cuda_release(context, law->memory.memory);
    free(law);
}

static const struct device_slot_kind slot_kind = {free_kept};

static kith_status find_kept(kith_context *context, struct kept_law **law)
{
    void **slot = device_slot(context, &slot_kind);
    if (!slot)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the series of a law");
    if (!*slot)
        KITH_TRY(kith_allocate(1, sizeof **law, "the series of a law", slot));
    *law = *slot;
    return KITH_OK;
}

kith_status tree_make_law_cuda(kith_context *context, const struct tree_problem *problem,
                               int32_t order, double extent, const struct tree_law_bins **bins)
{
    struct kept_law *law = NULL;
    struct law_key *key = NULL;
    KITH_TRY(find_kept(context, &law));
    kith_status status = make_key(problem, order, extent, &key);
    if (status == KITH_OK && !is_same(law->key, key)) {
        free_key(law->key);
        law->key = NULL;
        status = make_bins(context, problem, order, extent, law);
        if (status == KITH_OK) {
            law->key = key;
            key = NULL;
        }
    }
    free_key(key);
    *bins = &law->bins;
    return status;
}
