#ifndef CORE_BACKEND_H
#define CORE_BACKEND_H

#include "kith/build.h"
#include "kith/context.h"
#include "kith/pairs.h"

struct advance_problem;
struct collisions_backend;
struct forces_arguments;
struct forces_problem;
struct matrix_backend;
struct pairs_problem;
struct pairs_verlet;
struct sparse_csr;
struct sparse_entries;
struct sparse_matrix;
struct sparse_plan;
struct sparse_product;
struct sparse_statistics;

/* All that a backend does, and its written contract. The CPU is one instance of this table
 * (src/cpu/cpu.c), CUDA the other. To add one: write its functions, fill in a table, and name it in
 * backend.c.
 *
 * Common to all functions: memory arguments are the backend's own (from allocate); work is ordered
 * as it is called, on the context's stream, and may go on after the return until synchronize;
 * errors come back as a kith_status with the thread's message set; results are the same bits on
 * every run and for every number of threads. */
struct kith_backend {
    const char *name;
    kith_device_kind kind;

    /* Devices on this machine; *note says why there are none, or is NULL. Never fails. */
    int32_t (*device_count)(const char **note);

    /* What device k is; NULL where there is nothing to tell. */
    kith_status (*describe)(int32_t k, kith_device_info *info);

    /* Prepares and releases context->backend_state. close is called once for each open that
     * succeeded, after a synchronize. */
    kith_status (*open)(kith_context *context);
    void (*close)(kith_context *context);
    kith_status (*synchronize)(kith_context *context);

    /* The stream of the context, as kith_context_stream gives it; NULL where there are none. */
    void *(*stream)(kith_context *context);

    /* Zeroed memory of count × bytes_each bytes, aligned to 64; what names it in the message.
     * memory is the address of a pointer; release(NULL) is fine. */
    kith_status (*allocate)(kith_context *context, int64_t count, int64_t bytes_each,
                            const char *what, void *memory);
    void (*release)(kith_context *context, void *memory);

    /* Memory for one call of the public API, kept by the context and grown if needed: bytes at
     * *host for the host, and as many at *own, the backend's own memory; one and the same on the
     * CPU. Aligned to 64, contents undefined. Both go back to the context with the next workspace.
     */
    kith_status (*workspace)(kith_context *context, int64_t bytes, void **host, void **own);

    /* Copies bytes from host memory to the backend's and back. The host's may be used again on
     * return, except that what was copied in from the workspace must stay until a copy_out. */
    kith_status (*copy_in)(kith_context *context, void *to, const void *from_host, int64_t bytes);
    kith_status (*copy_out)(kith_context *context, void *to_host, const void *from, int64_t bytes);

    /* Zeroed memory of the host for copies that are begun with begin_copy_out; on a GPU it is
     * page-locked, and taking it waits for the device. release_host(NULL) is fine. */
    kith_status (*allocate_host)(kith_context *context, int64_t count, int64_t bytes_each,
                                 const char *what, void *memory);
    void (*release_host)(kith_context *context, void *memory);

    /* Copies bytes to the host as they are when all that was called before is done, beside what is
     * called after: `from` must stay as it is until finish_copies, which waits for all copies begun
     * and for nothing else. */
    kith_status (*begin_copy_out)(kith_context *context, void *to_host, const void *from,
                                  int64_t bytes);
    kith_status (*finish_copies)(kith_context *context);

    /* Notes the time at which what was called before is done, k = 0 or 1; *seconds is the time from
     * the last 0 to the last 1, after a synchronize. */
    kith_status (*note_time)(kith_context *context, int32_t k);
    kith_status (*noted_seconds)(kith_context *context, double *seconds);

    /* to[i] = from[i] for i < count. */
    kith_status (*widen)(kith_context *context, kith_dtype dtype, int64_t count, const void *from,
                         double *to);

    /* out[i] = Σ_k factor[k]·in[k][i], k ascending, for i < count; terms ≤ 4. out may be one of the
     * inputs. Kicks, drifts, predictors and correctors are all of this form. */
    kith_status (*combine)(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                           const double *factor, const void *const *in, void *out);

    /* All-pairs forces: forces/problem.h says what. */
    kith_status (*forces)(kith_context *context, const struct forces_problem *problem);

    /* The whole of kith_forces_compute for arrays in the backend's own memory, forces/arguments.h;
     * NULL where that is the host's. */
    kith_status (*forces_in_place)(kith_context *context, const struct forces_arguments *arguments);

    /* The interaction matrix: matrix/backend.h says what. */
    const struct matrix_backend *matrix;

    /* Pairs nearer than a cutoff, or the nearest: pairs/problem.h says what, pairs/list.h how the
     * list is made. */
    kith_status (*pairs)(kith_context *context, const struct pairs_problem *problem,
                         kith_pairs *pairs);

    /* Lists that are kept, of arrays in the backend's own memory: pairs/verlet.h says what. NULL
     * where it has none. */
    const struct pairs_verlet *pairs_verlet;

    /* Lattice collisions: collisions/backend.h says what. */
    const struct collisions_backend *collisions;

    /* Many steps of a simulation at once: simulation/advance.h says what. *done is problem->steps,
     * or 0 if for this problem the backend has nothing better than combine and forces; which of
     * the two does not depend on the number of steps or their length. */
    kith_status (*advance)(kith_context *context, const struct advance_problem *problem,
                           int64_t *done);

    /* Sparse matrices; sparse/formats.h and sparse/product.h say what they are made of. All NULL
     * where the backend has none. sparse_assemble brings a caller's entries, in the backend's
     * memory, in order; NULL where that is the host's. sparse_transpose makes Aᵀ. What both put
     * into *made was allocated here, goes with release, and is valid on success only. */
    kith_status (*sparse_assemble)(kith_context *context, const struct sparse_entries *entries,
                                   struct sparse_csr *made);
    kith_status (*sparse_transpose)(kith_context *context, const struct sparse_csr *csr,
                                    struct sparse_csr *made);
    kith_status (*sparse_inspect)(kith_context *context, const struct sparse_csr *csr,
                                  struct sparse_statistics *statistics);

    /* Whether the backend has the plan's format and kernel for such a matrix, in which case it
     * completes the plan: parameters that are 0, bytes, seconds. */
    bool (*sparse_predict)(kith_context *context, const struct sparse_statistics *statistics,
                           struct sparse_plan *plan);

    /* Fills a matrix of zeros whose csr and plan are set. What it allocates it notes in
     * matrix->memory, also before a failure; sparse_dispose releases `own` and nothing else. */
    kith_status (*sparse_convert)(kith_context *context, const struct sparse_statistics *statistics,
                                  struct sparse_matrix *matrix);
    void (*sparse_dispose)(kith_context *context, struct sparse_matrix *matrix);
    kith_status (*sparse_multiply)(kith_context *context, const struct sparse_product *product);

    /* Records what work does on the context's stream, without doing it: *recording goes with forget
     * and is NULL where that is impossible; the memory that work uses must stay. replay does it so
     * many times; *done is times, or 0 if that is impossible now, as the caller himself records.
     * All NULL where there is nothing to gain. */
    kith_status (*record)(kith_context *context, kith_status (*work)(void *argument),
                          void *argument, void **recording);
    kith_status (*replay)(kith_context *context, void *recording, int64_t times, int64_t *done);
    void (*forget)(kith_context *context, void *recording);
};

/* The backends of this build, the one that KITH_DEVICE_AUTO prefers first; NULL after the last. */
const struct kith_backend *kith_backend_at(int32_t k);

extern const struct kith_backend kith_backend_cpu;
#ifdef KITH_HAS_CUDA
extern const struct kith_backend kith_backend_cuda;
#endif

#endif
