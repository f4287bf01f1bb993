#ifndef FORCES_VERLET_CUDA_PROBLEM_H
#define FORCES_VERLET_CUDA_PROBLEM_H

/* A Verlet list on a GPU as kernels see it.
 *
 * A coordinate along a vector of the cell is an integer of 32 bits (of 64 in double precision), in
 * units of the vector's 2^-32 (2^-64): differences of two are exact, and those of the nearest
 * images, as integers wrap around. Forces of pairs are rounded to a unit that is one of the law and
 * the cutoff, and their sums are integers of 64 bits. So the bits of the forces depend on the
 * positions alone, not on the list, nor on the order of particles in it. */

#include "cells/geometry.h"
#include "forces/law_sums_problem.h"

/* Coordinates along an open axis are at most this part of its period (verlet_frame_cuda.h). */
#define verlet_frame_reach (15.0 / 32)

/* Threads that share the partners of a particle, and threads of a block; a thread reads
 * verlet_cuda_vector partners at a time. */
enum { verlet_cuda_lanes = 4, verlet_cuda_block = 128, verlet_cuda_vector = 4 };
enum { verlet_cuda_row_unit = verlet_cuda_lanes * verlet_cuda_vector };

/* Devices whose kernels write to each other's memory, at most. */
enum { verlet_cuda_most_direct = 8 };

/* Places of particles: the slot of one is its place after sorting along cells. w is the weight. */
#ifdef __cplusplus
struct alignas(16) verlet_place_float {
    int x[3];
    float w;
};
struct alignas(32) verlet_place_double {
    long long x[3];
    double w;
};
#endif

/* The vectors of a particle: its position, with w the mass, its velocity, and what did not fit into
 * them (cutoff.h). */
enum verlet_vector_of {
    verlet_position,
    verlet_velocity,
    verlet_lost_position,
    verlet_lost_velocity,
    verlet_vectors
};

#ifdef __cplusplus
struct alignas(16) verlet_vector_float {
    float x[3], w;
};
struct alignas(32) verlet_vector_double {
    double x[3], w;
};
#endif

/* Particles by slot, as long as steps are taken: vectors, and their rows. */
struct verlet_cuda_state {
    void *vector[verlet_vectors];
    unsigned *order;
};

/* What kernels tell each other and the host; of several devices that share the steps each has one
 * for itself and copies of the others'. A kernel whose number is greater than any moved_in or
 * failed_in does nothing. */
struct verlet_cuda_control {
    int moved_in;  /* the kernel after which the list lacks pairs; INT32_MAX: none */
    int failed_in; /* the kernel that found a force or a position out of range; INT32_MAX: none */
    int longest;   /* row of the list; if it is longer than there is room, kernels do nothing */
    /* Of a frame with open axes: the last kernel whose particles would not fit half of it, and the
     * largest components along its axes, as bits of floats. */
    int far_in, farthest[3];
};

/* The list: the partners of slot s are in partner from (s − first)·room on, length[s] of them, and
 * itself up to a multiple of verlet_cuda_row_unit: see verlet_place_in_row. */
struct verlet_cuda_list {
    long long room;
    int *partner, *length;
    void *reference;                     /* places when it was made */
    struct verlet_cuda_control *control; /* one per device */
    /* The slots first … end − 1 are the device's own particles, of which it has the rows and takes
     * the steps. Of several devices (verlet_slabs.h) the slots first − low … first − 1 and
     * end … end + high − 1 are ghosts: places of other devices' particles. */
    long long first, end, low, high;
    int device, devices;
};

/* One kernel: forces at the places `from`, kicks, a drift, and places `to` of what positions are
 * then. The last of a call leaves accelerations and vectors in the columns, by row,
 * from which the first takes accelerations; columns of other devices than the first have the own
 * slots, from the first of them on. */
struct verlet_cuda_step {
    struct law_numbers numbers;
    enum law_weighting weighting;
    int is_shifted, is_orthogonal, dimensions;
    int open;          /* bit k: axis k is */
    int is_by_slot;    /* columns are */
    int is_long_frame; /* one of half the period may hold the particles: kernels then end */
    double cutoff, slope_at_cutoff, softening2, limit;
    double units_of_force, unit; /* 1/unit */
    double largest_factor;       /* of units, of d */
    double edge[3][3];           /* of a coordinate's unit along each vector */
    struct pairs_lattice lattice;
    double most_moved2;
    struct verlet_cuda_list list;
    struct verlet_cuda_state state;
    const void *from;
    void *to;
    void *column[verlet_vectors][3], *acceleration[3]; /* by row */
    /* Of a custom law, by slot: weights instead of masses, and charges; NULL: ones. */
    const void *slot_weight, *slot_charge;
    /* Of several devices whose kernels reach each other's memory: where the places of the first
     * for_below own slots go too, as ghosts of the slab below, and of the last for_above; and this
     * device's control as the others have it. */
    void *to_below, *to_above;
    long long for_below, for_above;
    struct verlet_cuda_control *control_there[verlet_cuda_most_direct - 1];
    int sums, kicks, moves, places;
    double kick, drift;      /* times of them: h/2 after the forces and h/2 before a drift, h */
    double keep, noise_kick; /* as in cutoff_noise, of a kernel that is noisy */
    unsigned long long noise_key[2];
    long long noise_step;
    int number;
};

#endif
