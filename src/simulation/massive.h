#ifndef SIMULATION_MASSIVE_H
#define SIMULATION_MASSIVE_H

#include "simulation/state.h"

/* Columns of diagnostics, in double precision whatever the steps are: of their own, because kernels
 * load whole vectors of sources, and what is past the last one has to be 0. */
struct massive_sampled {
    void *position[3], *acceleration[3], *mass, *half_softening2, *potential;
};

/* The bodies that attract, of a simulation with test particles: columns of theirs, so that a test
 * particle costs a target and no source. Of a slice (simulation/slice.h) the columns are a slice of
 * those, too: a rank's rows are about 1/P of them, wherever the bodies are. */
struct massive {
    int64_t count;                   /* of all ranks */
    int64_t own;                     /* of this one */
    int64_t *first;                  /* of a slice: body 0 of rank k is this among all with mass */
    int64_t *body;                   /* where the columns are: the memory of the device */
    void *memory;                    /* of the columns */
    void *position[3], *velocity[3]; /* as they are when forces are evaluated */
    void *mass, *half_softening2;
    struct massive_sampled sampled;
    void *picked; /* of a slice: a column of its own bodies */
};

/* Of a slice collective. Lists them after masses were loaded, if they are at most half of the
 * bodies, 65 or more, on a GPU 8193, of one system under gravity, by direct sums; else
 * simulation->massive is NULL. Free with massive_free. Errors: KITH_OUT_OF_MEMORY, of a slice those
 * of ranks_agree. */
kith_status massive_choose(struct kith_simulation *simulation);
void massive_free(struct kith_simulation *simulation);

/* Of a slice collective. Leaves the others out of the sources of a problem. Errors: those of the
 * backend's pick. */
kith_status massive_take(const struct kith_simulation *simulation, struct forces_problem *problem);

/* Of a slice collective: the problem among the bodies with mass alone, of one of all in
 * double precision, with a potential; and the results of all from those of these, of others 0. */
kith_status massive_begin_sample(const struct kith_simulation *simulation,
                                 const struct forces_problem *all, struct forces_problem *among);
kith_status massive_end_sample(const struct kith_simulation *simulation,
                               const struct forces_problem *among,
                               const struct forces_problem *all);

/* pick and place of simulation/backend.h on a CPU. */
kith_status massive_pick_cpu(kith_context *context, kith_dtype dtype, int64_t count,
                             const int64_t *body, const void *from, void *to);
kith_status massive_place_cpu(kith_context *context, int64_t all, int64_t count,
                              const int64_t *body, const double *from, double *to);

#endif
