#ifndef SIMULATION_ADVANCE_KERNEL_H
#define SIMULATION_ADVANCE_KERNEL_H

#include "core/isa.h"
#include "simulation/advance.h"

enum { advance_max_bodies = 64, advance_max_vectors = 8, advance_max_stages = 32 };

/* The stages of a step with its length in them, twice: what follows the last evaluation of forces
 * of a step goes on into the next step without a stop. */
struct advance_program {
    int32_t stage_count;
    int32_t evaluation_count; /* at least 1 */
    struct composition_stage stage[2 * advance_max_stages];
    int32_t evaluation[advance_max_stages]; /* the stages before which forces are evaluated */
};

/* What follows evaluation k of a step is the stages from evaluation[k] up to here. */
static inline int32_t advance_end_of_run(const struct advance_program *program, int32_t k,
                                         bool last_step)
{
    if (k + 1 < program->evaluation_count)
        return program->evaluation[k + 1];
    return program->stage_count + (last_step ? 0 : program->evaluation[0]);
}

/* Does all steps of the one system of the problem, of at most advance_max_bodies bodies in at most
 * advance_max_vectors vectors: beyond, the general kernels are as fast. */
typedef void advance_one_kernel(const struct advance_problem *problem,
                                const struct advance_program *program);

/* Does all steps of the systems begin … end − 1 (and of some behind end, up to kith_padded(end)).
 * begin is a multiple of advance_systems_at_once. */
typedef void advance_systems_kernel(const struct advance_problem *problem,
                                    const struct advance_program *program, int64_t begin,
                                    int64_t end);

/* A multiple of every vector's length. */
enum { advance_systems_at_once = 16 };

/* The kernels of an instruction set. */
struct advance_kernels {
    int32_t vector_bytes;
    advance_one_kernel *one_in_double, *one_in_float;
    advance_systems_kernel *systems_in_double, *systems_in_float;
};

#define ADVANCE_DECLARE(isa) extern const struct advance_kernels advance_##isa;
KITH_EACH_ISA(ADVANCE_DECLARE)
#undef ADVANCE_DECLARE

#endif
