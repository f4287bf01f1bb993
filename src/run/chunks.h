#ifndef RUN_CHUNKS_H
#define RUN_CHUNKS_H

#include "run/output.h"

/* Collective: the positions and velocities of a frame in packed chunks (io/h5md_chunk.h). Each rank
 * packs those that begin in its part of them, with its threads; rank 0, which alone compresses
 * otherwise, writes them as they come. Memory of a rank: about 100 bytes for each of its rows.
 *
 *   rows  of this rank
 *
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree and of run_file_put_chunk. */
kith_status run_put_chunks(const struct run_output *output, struct h5md_chunk chunk,
                           const kith_bodies *rows);

/* The same of a process that has all rows, by its threads. Memory: 4 MB for each of them. */
kith_status run_put_chunks_alone(const struct run_output *output, struct h5md_chunk chunk,
                                 const kith_bodies *rows);

#endif
