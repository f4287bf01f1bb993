#ifndef FORCES_VERLET_SHARE_CUDA_H
#define FORCES_VERLET_SHARE_CUDA_H

/* Steps by a Verlet list that several GPUs share: each has the particles of its slab of space and
 * ghosts next to it (verlet_slabs.h), and memory for these alone; the first has the columns of all.
 * The kernel of a step writes places of ghosts into the memory of the devices that have them; where
 * the machine does not allow that, or with more than verlet_cuda_most_direct devices, they are
 * copied after it. When the list is made particles go to the device whose slab they are in. All
 * kernels are started by one thread, and sums of forces are integers: the bits are those of one
 * device.
 *
 * Of the ranks of a job, each is one of the devices, does its part alone, and has the columns of
 * all, or of slices its rows of them; ghosts, and particles that change their device, go by NCCL or
 * by way of the host (ranks/device_parts.h). */

#include "forces/verlet_build_cuda.h"

/* The columns of a call where a device's particles have columns by slot instead. Of several devices
 * these are the first's; of slices their rows are this rank's (forces/slice.h), and particles come
 * from the ranks that have their rows, and go back there. */
struct verlet_home {
    void *vector[verlet_vectors][3], *acceleration[3]; /* NULL: none */
    const void *mass, *weight;
    bool has_plan; /* of the present slots: */
    unsigned
        *rows; /* of this rank, in the order in which they are sent: by their particles' rank */
    int64_t first_sent[verlet_most_devices + 1]; /* own particles, in the order of their rows, */
    int64_t first_received[verlet_most_devices + 1]; /* by the rank that has these; and `rows` */
};

struct verlet_cuda {
    kith_dtype dtype;
    int64_t count, row_room;
    int64_t own_room, ghost_room, cells_room; /* there is memory for: ghosts on either side */
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
    bool has_left;        /* positions that no frame fits */
    int64_t since, lasts; /* kernels since the list was made, and that the last one lasted */
    /* Of several devices: */
    struct verlet_slabs slabs;
    bool is_of_ranks;               /* each is that of a rank; this is the one of this rank */
    int64_t sent_below, sent_above; /* of a rank: own particles that are ghosts of others */
    bool is_of_slices;              /* and ranks have their rows of the columns alone */
    struct verlet_home home;
    bool is_direct;                  /* kernels write to the other devices' memory */
    void *to_below[2], *to_above[2]; /* as in verlet_cuda_step, of either places */
    unsigned *in_layer;              /* particles of each layer, and of each device */
    struct verlet_cuda *others;      /* of the first: those of the other devices, or NULL */
    unsigned *orders;                /* of the first: the rows of the others' own particles */
    char *columns;                   /* of another, and of slices: those of its own particles */
};

static inline int verlet_devices_of(const struct verlet_cuda *verlet)
{
    return verlet->building.list.devices;
}

static inline struct verlet_cuda *verlet_at(struct verlet_cuda *verlet, int device)
{
    return device == 0 ? verlet : &verlet->others[device - 1];
}

/* Room for ghosts on either side: the own slots after it begin with a line of the cache. */
static inline int64_t verlet_room_for_ghosts(int64_t ghosts)
{
    const int64_t of_line = 8; /* places, of 16 bytes or more */
    return (ghosts + of_line - 1) / of_line * of_line;
}

/* Bytes of a place or a vector. */
int64_t verlet_bytes_of_vector(const struct verlet_cuda *verlet);

/* Columns of another device's own particles, by slot. */
enum verlet_column {
    verlet_components, /* of vectors */
    verlet_accelerations = 3 * verlet_vectors,
    verlet_masses = verlet_accelerations + 3,
    verlet_weights,
    verlet_columns
};
void *verlet_column_of(const struct verlet_cuda *verlet, int k);

/* Memory for everything that own_room, ghost_room and cells_room say, in place of what there was,
 * which is *outgrown then, to be freed by the caller. The device is the thread's current one. */
kith_status verlet_make_room_cuda(kith_context *context, struct verlet_cuda *verlet,
                                  char **outgrown);

/* Rows of the list for row_room partners of each own particle. */
kith_status verlet_make_rows_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Makes room on the context's device, and on its peers, which then share the steps, unless there
 * are few particles, slabs would be too thin, or is_of_one_device: the law is compiled for one, or
 * excluded pairs are there. *suits becomes false if they do not and is_of_slices. */
kith_status verlet_share_cuda(kith_context *context, struct verlet_cuda *verlet,
                              bool is_of_one_device, bool is_of_slices, bool *suits);
void verlet_stop_sharing_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Collective between ranks, which agree whether they go on; otherwise the status. */
kith_status verlet_agree_cuda(kith_context *context, const struct verlet_cuda *verlet,
                              kith_status status);

/* Calls work for each device, which is the thread's current one then. Of ranks: for this one's,
 * and all agree; start: without that, before an exchange that takes the status. */
typedef kith_status verlet_work(kith_context *context, struct verlet_cuda *verlet, void *argument);
kith_status verlet_on_each_cuda(kith_context *context, struct verlet_cuda *verlet,
                                verlet_work *work, void *argument);
kith_status verlet_start_each_cuda(kith_context *context, struct verlet_cuda *verlet,
                                   verlet_work *work, void *argument);

/* The streams of all devices wait for what is on all of them. */
kith_status verlet_wait_for_all_cuda(kith_context *context, const struct verlet_cuda *verlet);

/* The list of several devices as positions are now, those of their states. Waits for them. */
kith_status verlet_build_shared_cuda(kith_context *context, struct verlet_cuda *verlet);

/* The settings of the first device for the others, which have columns of their own, and where
 * kernels write in the memory of other devices. */
void verlet_take_settings_cuda(struct verlet_cuda *verlet);

/* Between devices, which do nothing if there is one, and of ranks only what is not everywhere: the
 * columns that verlet_load_cuda reads, to
 * the devices that have their particles, or without a list to each a part of the rows; the columns
 * of accelerations; what each has found, and if has_places the places of ghosts, after work with a
 * status, on which ranks agree; the reference of ghosts; the rows of the others' particles; and
 * what was written to columns, to those of the first.
 */
kith_status verlet_send_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_send_accelerations_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_exchange_cuda(kith_context *context, kith_status status,
                                 struct verlet_cuda *verlet, bool has_places);
kith_status verlet_exchange_reference_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_fetch_orders_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_fetch_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Columns by slot take the place of those of the call, which are remembered: `from` has these, as
 * the first of several devices, or is verlet itself, of slices; use: again, where memory has moved.
 */
void verlet_take_home_cuda(const struct verlet_cuda *from, struct verlet_cuda *verlet);
void verlet_use_slots_cuda(struct verlet_cuda *verlet);

/* Of slices, what columns are exchanged with the ranks that have their rows. send: those that
 * verlet_load_cuda reads, without a list from the own rows; send_accelerations; fetch: what was
 * written. */
kith_status verlet_send_home_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_send_accelerations_home_cuda(kith_context *context, struct verlet_cuda *verlet);
kith_status verlet_fetch_home_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Rows of this rank. */
int64_t verlet_rows_at_home(const struct verlet_cuda *verlet);

/* What verlet_exchange_cuda and verlet_exchange_reference_cuda do between ranks. */
kith_status verlet_exchange_ranks_cuda(kith_context *context, kith_status status,
                                       struct verlet_cuda *verlet, bool has_places);
kith_status verlet_exchange_reference_ranks_cuda(kith_context *context, struct verlet_cuda *verlet);

/* Collective: number[k] becomes that of rank k, from the own one. */
void verlet_gather_numbers_cuda(kith_context *context, int64_t own, int64_t *number);

#endif
