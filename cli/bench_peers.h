#ifndef CLI_BENCH_PEERS_H
#define CLI_BENCH_PEERS_H

#include "kith/bodies.h"

/* Other programs, timed by a Python process that runs a script of bench/, put in by the build as is
 * conversation.py, which the scripts import. */
struct peers;
extern const char bench_conversation[], bench_peers_collisions[], bench_peers_forces[],
    bench_peers_pairs[], bench_peers_sparse[];

/* Starts it; returns NULL after telling why not. Notes are left out if quiet. */
struct peers *peers_start(const char *command, const char *python, const char *script, bool quiet);

/* Ends it; NULL is fine. */
void peers_end(struct peers *peers);

/* The version of a peer, valid until peers_end; NULL if it is not installed or does not work, which
 * a note has told then. */
const char *peers_version(struct peers *peers, const char *name);

/* Hands over the bodies to time with; false after telling why not. */
bool peers_use(struct peers *peers, const kith_bodies *bodies, double softening, double dt);

/* Hands over the matrix in a file, as bench/peers_sparse.py says; false after telling why not. */
bool peers_use_matrix(struct peers *peers, const char *path);

/* Hands over the points in a file, as bench/peers_pairs.py or
 * bench/peers_collisions.py says; false after telling why not. */
bool peers_use_points(struct peers *peers, const char *path);

/* Seconds that so many evaluations take a peer, or a negative number after telling why not. */
double peers_seconds(struct peers *peers, const char *name, int32_t threads, int64_t calls);

/* Seconds that the cores have worked for the peers so far; 0 for NULL. */
double peers_work(const struct peers *peers);

#endif
