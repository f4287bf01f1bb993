#ifndef FORCES_CUTOFF_H
#define FORCES_CUTOFF_H

#include "forces/cutoff_kernel.h"
#include "forces/problem.h"
#include "kith/context.h"
#include "law/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A problem with a cutoff whose law is one: gravity is −m_j/s then, of charges, and masses of 1
 * (energies are weighted by the mass of i). */
struct cutoff_law {
    kith_law *made; /* of gravity; owned */
    struct law_view view;
    const void *target_charge, *source_charge, *target_mass, *target_weight;
    const void *total_weight; /* of i in the totals; NULL: ones */
    double slope_at_cutoff;   /* dV/dr of weights 1 and the common softening */
};

/* Finds it; `law` keeps what was made for the problem before. Errors: KITH_UNSUPPORTED (a shift or
 * a tail that the law does not have), KITH_OUT_OF_MEMORY. */
kith_status cutoff_take_law(const struct forces_problem *problem, struct cutoff_law *law);
void cutoff_drop_law(struct cutoff_law *law);

/* The contribution from beyond the cutoff, for the totals. Collective where the problem is a slice.
 * Errors: KITH_UNSUPPORTED (no such integral for the law, or it diverges). */
kith_status cutoff_add_tail(const kith_context *context, const struct forces_problem *problem,
                            const struct cutoff_law *law);
/* The same, of weights in the memory of a device. */
kith_status cutoff_add_tail_of_device(kith_context *context, const struct forces_problem *problem,
                                      const struct cutoff_law *law);

/* The solver cutoff on the CPU; *memory is kept from call to call; free it with free(). */
struct cutoff_memory {
    char *bytes;
    int64_t size;
};
kith_status forces_cutoff_cpu(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, struct cutoff_memory *memory);

/* Langevin's friction and noise: v = keep v + kick/√m times normal numbers of the body and the
 * step, under a key (core/philox.h). */
struct cutoff_noise {
    double keep, kick;
    uint64_t key[2];
    int64_t first_step;
};

/* Steps of leapfrog, v += h/2 a, x += h v, v += h/2 a: accelerations are those at the positions,
 * before and after. With noise the drift is two halves, and that between them. What does not fit
 * into x and v is kept in the lost ones, and added the next time (Kahan 1965, Commun. ACM 8, 40).
 * Components are columns of the problem's dtype in the memory of the device; positions and
 * accelerations of the problem are not used. */
struct cutoff_steps {
    void *position[3], *velocity[3], *lost_position[3], *lost_velocity[3], *acceleration[3];
    double h;
    int64_t count;
    const struct cutoff_noise *noise; /* NULL: none */
};

/* GPUs and their ranks share the steps of this number of particles or more: of fewer, copies take
 * longer than what is saved. */
enum { cutoff_least_shared = 1 << 19 };

/* The solver cutoff on a device with memory of its own; *kept is NULL at first, and kept from call
 * to call. The tail is not added.
 *
 * take_steps  *done is steps->count, or 0 if the problem has to be solved step by step. */
struct cutoff_backend {
    kith_status (*evaluate)(kith_context *context, const struct forces_problem *problem,
                            const struct cutoff_law *law, void **kept);
    kith_status (*take_steps)(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, const struct cutoff_steps *steps,
                              void **kept, int64_t *done);
    void (*free)(kith_context *context, void *kept);
};

/* Every pair and image by the formula as a loop: double precision, one thread. */
kith_status forces_cutoff_reference(kith_context *context, const struct forces_problem *problem);

/* Steps by the solver cutoff, with what it has prepared: *done is steps->count, or 0 if they are to
 * be taken one by one. */
kith_status cutoff_take_steps(kith_context *context, void **prepared,
                              const struct forces_problem *problem,
                              const struct cutoff_steps *steps, int64_t *done);

#ifdef __cplusplus
}
#endif

#endif
