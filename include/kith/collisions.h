#ifndef KITH_COLLISIONS_H
#define KITH_COLLISIONS_H

#include "kith/array.h"
#include "kith/context.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Beads on a lattice: which of them share a site, and which are neighbors.
 *
 * Beads are points with integer coordinates: an array n × 3 or n × 2 of int32 or int64, any
 * strides, on the host or, for counting, on the context's CUDA device. Every value of the type is
 * allowed. */

/* How to count. The first five methods assign the pairs to threads by the maps drawn in
 * docs/collisions.md, also on the CPU. */
typedef enum kith_collisions_method {
    KITH_COLLISIONS_AUTO = 0,
    KITH_COLLISIONS_N_STEPS_SINGLE_ROW,
    KITH_COLLISIONS_N_STEPS_MULTI_ROW,
    KITH_COLLISIONS_HALF_STEPS_SINGLE_ROW,
    KITH_COLLISIONS_SINGLE_STEPS_ALL_THREADS,
    KITH_COLLISIONS_SINGLE_STEPS_HALF_THREADS,
    KITH_COLLISIONS_ALL_PAIRS,
    KITH_COLLISIONS_LINEAR,
    KITH_COLLISIONS_HASH,
    KITH_COLLISIONS_SORT,
    KITH_COLLISIONS_REFERENCE
} kith_collisions_method;

/* A row of the table of methods, in the order of the enum. */
typedef struct kith_collisions_method_info {
    const char *name;        /* "half-steps-single-row" */
    const char *description; /* one line, with the cost */
} kith_collisions_method_info;

/* The table of methods; *count rows, static memory. */
KITH_API const kith_collisions_method_info *kith_collisions_method_list(int64_t *count);

typedef struct kith_collisions_options {
    kith_collisions_method method;
} kith_collisions_options;

/* Counts the collisions: unordered pairs i < j of beads at one site. k beads at a site are
 * k (k − 1) / 2 of them.
 *
 *   context  where to compute. Beads on the host can be used with every context, beads on a device
 *            with a context on that device
 *   options  NULL for a method chosen by the number of beads, their spread and the device
 *   beads    n × 3 or n × 2, int32 or int64
 *   count    [out] on the host
 *
 * Errors: KITH_INVALID_ARGUMENT (shape, dtype, device, unknown method), KITH_UNSUPPORTED (beads on
 *         a device and a context on the CPU; more than 2^32 − 1 beads to sort, by the method sort
 *         and for groups), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   O(n²) or O(n) work, depending on the method, and O(n) memory, which the context keeps for
 *         the next call.
 * Source: the counts of lattice proteins (Lau & Dill 1989); docs/collisions.md has the methods. */
KITH_API kith_status kith_collisions_count(kith_context *context,
                                           const kith_collisions_options *options, kith_array beads,
                                           int64_t *count);

/* The method that KITH_COLLISIONS_AUTO selects for these beads; else that of the options. */
KITH_API kith_status kith_collisions_choose(kith_context *context,
                                            const kith_collisions_options *options,
                                            kith_array beads, kith_collisions_method *method);

/* A count in progress. */
typedef struct kith_collisions_promise kith_collisions_promise;

/* Starts a count and returns immediately. Any number of promises may be in progress, of one context
 * or of several. Those of a context are computed in the order of their launches: on a GPU on its
 * stream, on the CPU by a worker thread, while the context can be used for other calls.
 *
 * Beads on the host are copied before the function returns; beads on a device must not change until
 * the fetch.
 *
 *   promise  [out] owned by the caller; free with kith_collisions_promise_free, before its context;
 *            NULL on failure
 *
 * Errors: as kith_collisions_count; errors of counting are returned by the fetch. */
KITH_API kith_status kith_collisions_launch(kith_context *context,
                                            const kith_collisions_options *options,
                                            kith_array beads, kith_collisions_promise **promise);

/* Waits for a promise and returns its count. Promises can be fetched in any order, and more than
 * once. */
KITH_API kith_status kith_collisions_fetch(kith_collisions_promise *promise, int64_t *count);

/* Frees a promise, fetched or not; NULL is fine. */
KITH_API void kith_collisions_promise_free(kith_collisions_promise *promise);

/* Which beads share a site.
 *
 * Group g < group_count is a site with two beads or more: members member[begin[g]] …
 * member[begin[g + 1] − 1], ascending. Groups are in the order of their first members. */
typedef struct kith_collisions_groups {
    int64_t beads, collisions;
    int64_t sites;       /* that have a bead */
    int64_t max_at_site; /* beads at one site, at most */
    int64_t group_count;
    int64_t *begin;  /* group_count + 1 */
    int64_t *member; /* begin[group_count] */
} kith_collisions_groups;

/* Finds the groups, on the host.
 *
 *   beads   on the host
 *   groups  [out] owned by the caller; free with kith_collisions_groups_free; NULL on failure
 *
 * Errors: as kith_collisions_count.
 * Cost:   O(n) work and memory. */
KITH_API kith_status kith_collisions_group(kith_context *context, kith_array beads,
                                           kith_collisions_groups **groups);
KITH_API void kith_collisions_groups_free(kith_collisions_groups *groups);

/* Lists the colliding pairs of the groups.
 *
 *   pairs  [out] collisions × 2 numbers i, j with i < j, sorted by i, then j
 *
 * Errors: KITH_OUT_OF_MEMORY.
 * Cost:   O(beads + collisions). */
KITH_API kith_status kith_collisions_pairs(const kith_collisions_groups *groups, int64_t *pairs);

/* Counts the contacts: unordered pairs of beads at lattice distance 1 that are not neighbors along
 * the chain, |i − j| > 1.
 *
 *   beads     on the host
 *   sequence  n letters H and P (or h and p): only pairs of two H are counted; NULL: all
 *   count     [out]
 *
 * Errors: as kith_collisions_count, and KITH_INVALID_ARGUMENT (a length other than n, or any other
 *         letter: the message names it).
 * Cost:   O(n) work and memory. */
KITH_API kith_status kith_contacts_count(kith_context *context, kith_array beads,
                                         const char *sequence, int64_t *count);

/* The energy of a conformation in the HP model: −1 for each contact of two H (Lau & Dill 1989,
 * Macromolecules 22, 3986). Collisions, which the model forbids, are not counted. Arguments and
 * errors as kith_contacts_count. */
KITH_API kith_status kith_hp_energy(kith_context *context, kith_array beads, const char *sequence,
                                    int64_t *energy);

/* Many conformations at once: collisions and contacts of each.
 *
 *   beads       B × L × 3 or B × L × 2: B conformations of L beads; or, with offsets, the beads of
 *               all, one conformation after another, m × 3 or m × 2
 *   offsets     none; or B + 1 int64, ascending from 0 to m: conformation b has the beads
 *               offsets[b] … offsets[b + 1] − 1
 *   sequence    NULL; or L letters H and P: contacts are then those of two H. Not with offsets
 *   collisions  [out] B int64, or none
 *   contacts    [out] B int64, or none
 *
 * All arrays are contiguous and row-major, and all are on the host or all on the context's device.
 * On the device nothing is copied, and the call returns when its work is enqueued on the context's
 * stream. A conformation has at most 65 535 beads.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices, offsets, sequence), KITH_UNSUPPORTED,
 *         KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   O(beads) work, and a little memory, which the context keeps. */
KITH_API kith_status kith_collisions_batch(kith_context *context, kith_array beads,
                                           kith_array offsets, const char *sequence,
                                           kith_array collisions, kith_array contacts);

/* All counts of a conformation, from one pass over its beads. */
typedef struct kith_collisions_summary {
    int64_t beads, collisions, contacts;
    int64_t sites;       /* that have a bead */
    int64_t max_at_site; /* beads at one site, at most */
} kith_collisions_summary;

/* Counts the collisions of kith_collisions_count, the contacts of kith_contacts_count and the sites
 * of kith_collisions_group, without its lists.
 *
 *   beads    on the host
 *   summary  [out]
 *
 * Errors: as kith_collisions_count.
 * Cost:   O(n) work; 10 to 32 bytes per bead and a buffer per thread, if the sites of the
 *         bounding box, with a margin of one, can be numbered in 64 bits; otherwise up to 96
 *         bytes per bead. */
KITH_API kith_status kith_collisions_summarize(kith_context *context, kith_array beads,
                                               kith_collisions_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
