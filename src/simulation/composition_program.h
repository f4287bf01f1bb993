#ifndef SIMULATION_COMPOSITION_PROGRAM_H
#define SIMULATION_COMPOSITION_PROGRAM_H

/* A step of a composition as kernels take it, in their precision: the factors of its kicks and
 * drifts with the length of the step in them, twice, since what follows the last evaluation of
 * forces goes on into the next step without a stop. Host code, CUDA and NVRTC read this. */

enum { composition_most_stages = 32 };

#define COMPOSITION_PROGRAM(name, real)                                                            \
    struct name {                                                                                  \
        int stage_count, evaluation_count;                                                         \
        int evaluation[composition_most_stages]; /* the stages before which forces are evaluated   \
                                                  */                                               \
        real kick[2 * composition_most_stages], drift[2 * composition_most_stages];                \
    }
COMPOSITION_PROGRAM(composition_program_float, float);
COMPOSITION_PROGRAM(composition_program_double, double);
#undef COMPOSITION_PROGRAM

/* What follows evaluation k of a step is the stages from evaluation[k] up to here. */
#define COMPOSITION_END(program, k, is_last_step)                                                  \
    ((k) + 1 < (program)->evaluation_count                                                         \
         ? (program)->evaluation[(k) + 1]                                                          \
         : (program)->stage_count + ((is_last_step) ? 0 : (program)->evaluation[0]))

#endif
