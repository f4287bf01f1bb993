#ifndef SIMULATION_ADVANCE_KERNEL_H
#define SIMULATION_ADVANCE_KERNEL_H

#include "core/isa.h"
#include "simulation/advance_program.h"

enum { advance_max_vectors = 8 };

/* Does all steps of the one system of the problem, of at most systems_most_bodies bodies in at most
 * advance_max_vectors vectors: beyond, the general kernels are as fast. */
typedef void advance_one_kernel(const struct advance_problem *problem,
                                const struct composition_program_double *program);

/* Does all steps of the systems begin … end − 1 (and of some past end, up to kith_padded(end)).
 * begin is a multiple of advance_systems_at_once. */
typedef void advance_systems_kernel(const struct advance_problem *problem,
                                    const struct composition_program_double *program, int64_t begin,
                                    int64_t end);

/* A multiple of every vector's length. */
enum { advance_systems_at_once = 16 };

/* The kernels of an instruction set. */
struct advance_kernels {
    int32_t lanes;
    advance_one_kernel *one;
    advance_systems_kernel *systems;
};

#define ADVANCE_DECLARE(isa)                                                                       \
    extern const struct advance_kernels advance_double_##isa, advance_float_##isa;
KITH_EACH_ISA(ADVANCE_DECLARE)
#undef ADVANCE_DECLARE

#endif
