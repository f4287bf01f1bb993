#ifndef FORCES_VERLET_SHARE_CUDA_H
#define FORCES_VERLET_SHARE_CUDA_H

/* Steps by a Verlet list that several GPUs share. Each has all particles by slot, sorts all when
 * the list is made, and has the rows of its own slots, of which it takes the steps. After each step
 * places of its slots go to the others; before a list is made positions and velocities do. All
 * kernels are started by one thread, and sums of forces are integers: the bits are those of one. */

#include "forces/verlet_build_cuda.h"

struct verlet_cuda {
    kith_dtype dtype;
    int64_t count, row_room, bytes;
    double skin, cutoff;
    struct pairs_lattice lattice; /* of the problem, and how often the frame's period is doubled */
    int doublings;
    char *memory, *rows; /* rows: of the list */
    struct verlet_cuda_state states[2];
    struct verlet_cuda_building building;
    struct verlet_cuda_step step; /* but for what differs from kernel to kernel */
    void *places[2];
    int now;  /* which of the places are those of the particles */
    int side; /* and which of the states */
    bool has_list;
    bool has_left;              /* positions that no frame fits */
    int64_t since, lasts;       /* kernels since the list was made, and that the last one lasted */
    struct verlet_cuda *others; /* those of the other devices, or NULL */
    char *columns;              /* of another device: columns by row, as the first one has */
};

enum { verlet_most_devices = 64 };

/* Memory for everything; the device is the thread's current one. */
kith_status verlet_make_room_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Makes room on the context's device, and on its peers, which then share the steps, unless there
 * are few particles or is_of_one_device: the law is compiled for one, or excluded pairs are there.
 */
kith_status verlet_share_cuda(kith_context *context, struct verlet_cuda *verlet,
                              bool is_of_one_device);
void verlet_stop_sharing_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Calls work for each device, which is the thread's current one then. */
typedef kith_status verlet_work(kith_context *context, struct verlet_cuda *verlet, void *argument);
kith_status verlet_on_each_cuda(kith_context *context, struct verlet_cuda *verlet,
                                verlet_work *work, void *argument);

/* The streams of all devices wait for what is on all of them. */
kith_status verlet_wait_for_all_cuda(kith_context *context, const struct verlet_cuda *verlet);

/* Between devices, which do nothing if there is one: the particles as loaded, with the columns that
 * kernels read, to all; what each has found, and if has_places the places of its slots; positions
 * and velocities of its slots; and what was written to columns, to those of the first. */
kith_status verlet_send_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_exchange_cuda(kith_context *context, struct verlet_cuda *verlet,
                                 bool has_places);
kith_status verlet_exchange_state_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_fetch_cuda(kith_context *context, struct verlet_cuda *verlet);

#endif
