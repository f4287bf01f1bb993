#ifndef RUN_OUTPUT_H
#define RUN_OUTPUT_H

#include "io/run_file.h"
#include "kith/context.h"

/* What a run writes: by one process, or by rank 0 of a job. Where each rank has a slice of the
 * bodies these functions are collective, rows come to rank 0 in pieces of some thousand, and all
 * ranks get the same status, as with ranks_agree, without being cancelled. Otherwise rank 0 has all
 * rows, and the functions do nothing on the others. */
struct run_output {
    kith_context *context;
    struct run_file *file; /* NULL on ranks other than 0, and without an output */
    bool is_wanted;        /* there is an output: the same on all ranks */
    bool is_sliced;
    int64_t all; /* bodies of all ranks */
};

/* Where each rank has a slice: KITH_OK if the status of all ranks is that. Else the status. */
kith_status run_output_agree(const struct run_output *output, kith_status status);

/* The columns of the bodies, for a new file. */
kith_status run_output_put_bodies(struct run_output *output, const kith_bodies *rows);

/* A frame of positions and velocities. */
kith_status run_output_add_frame(struct run_output *output, int64_t step, const kith_bodies *rows,
                                 const kith_diagnostics *diagnostics);

/* A checkpoint, of this rank's bodies, and the events of the simulation, as run_file_publish. */
kith_status run_output_publish(struct run_output *output, const kith_simulation *simulation,
                               const kith_checkpoint *checkpoint, bool is_last);

#endif
