/* The message library MPI: memory of the host, and of GPUs if it takes that; one thread. An error
 * in it ends the job, as is MPI's default. */

#include "ranks/mpi.h"

#include <ctype.h>
#include <limits.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The requests of a batch; room grows. */
struct batch {
    MPI_Request *requests;
    int count, room;
};

static const double seconds_awake = 0.05;

struct mpi_state {
    MPI_Comm communicator;
    struct batch batches[KITH_MESSAGE_BATCHES];
    int *counts, *places; /* of a gather */
    int64_t *first;       /* ranks.first */
};

static struct mpi_state of_all, of_some; /* all ranks, and the first of them */
static double waited, waited_busily;     /* of them, of the processor */

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "kith: MPI: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void *grown(void *memory, size_t bytes)
{
    void *larger = realloc(memory, bytes);
    if (!larger)
        give_up("no memory for requests");
    return larger;
}

static MPI_Request *new_request(void *state, int32_t batch)
{
    struct batch *of = &((struct mpi_state *)state)->batches[batch];
    if (of->count == of->room) {
        of->room = 2 * of->room + 16;
        of->requests = grown(of->requests, (size_t)of->room * sizeof(MPI_Request));
    }
    return &of->requests[of->count++];
}

static MPI_Comm communicator_of(const void *state)
{
    return ((const struct mpi_state *)state)->communicator;
}

/* Seconds of the processor that this process has had. */
static double processor_seconds(void)
{
    struct timespec had;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &had);
    return (double)had.tv_sec + 1e-9 * (double)had.tv_nsec;
}

static int count_of(int64_t elements)
{
    if (elements > INT_MAX)
        give_up("a message is longer than MPI can count; use more ranks");
    return (int)elements;
}

static void mpi_post_send(void *state, int32_t batch, int32_t to, int32_t tag, const void *data,
                          int64_t bytes)
{
    MPI_Isend(data, count_of(bytes), MPI_BYTE, to, tag, communicator_of(state),
              new_request(state, batch));
}

static void mpi_post_receive(void *state, int32_t batch, int32_t from, int32_t tag, void *data,
                             int64_t bytes)
{
    MPI_Irecv(data, count_of(bytes), MPI_BYTE, from, tag, communicator_of(state),
              new_request(state, batch));
}

static void mpi_post_maximum(void *state, int32_t batch, int64_t *values, int32_t count)
{
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, communicator_of(state),
                   new_request(state, batch));
}

static void mpi_progress(void *state)
{
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_of(state), &is_there, MPI_STATUS_IGNORE);
}

/* Ranks that wait let others of the same processor work, and sleep if that takes long. */
static void mpi_wait(void *state, int32_t batch)
{
    struct mpi_state *mpi = state;
    struct batch *of = &mpi->batches[batch];
    const double begin = MPI_Wtime(), had = processor_seconds();
    int is_done = 0;
    for (;;) {
        MPI_Testall(of->count, of->requests, &is_done, MPI_STATUSES_IGNORE);
        if (is_done)
            break;
        if (MPI_Wtime() - begin < seconds_awake)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    of->count = 0;
    waited += MPI_Wtime() - begin;
    waited_busily += processor_seconds() - had;
}

double ranks_mpi_waited(void)
{
    return waited;
}

double ranks_mpi_worked(void)
{
    return processor_seconds() - waited_busily;
}

static void mpi_broadcast(void *state, void *data, int64_t bytes)
{
    MPI_Ibcast(data, count_of(bytes), MPI_BYTE, 0, communicator_of(state), new_request(state, 0));
    mpi_wait(state, 0);
}

/* An element of this size, which may be more than an int holds: a multiple of a power of two
 * then. */
static MPI_Datatype element_of(int64_t bytes)
{
    MPI_Datatype part, element;
    int64_t part_bytes = 1;
    while (bytes / part_bytes > INT_MAX && bytes / part_bytes % 2 == 0)
        part_bytes *= 2;
    MPI_Type_contiguous((int)part_bytes, MPI_BYTE, &part);
    MPI_Type_contiguous(count_of(bytes / part_bytes), part, &element);
    MPI_Type_commit(&element);
    MPI_Type_free(&part);
    return element;
}

static void mpi_gather(void *state, void *data, int64_t element_bytes, const int64_t *first)
{
    struct mpi_state *mpi = state;
    MPI_Datatype element = element_of(element_bytes);
    int size = 0;
    MPI_Comm_size(mpi->communicator, &size);
    for (int k = 0; k < size; k++) {
        mpi->places[k] = count_of(first[k]);
        mpi->counts[k] = count_of(first[k + 1]) - mpi->places[k];
    }
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, mpi->counts, mpi->places, element,
                    mpi->communicator, new_request(state, 0));
    mpi_wait(state, 0);
    MPI_Type_free(&element);
}

static void mpi_add(void *state, unsigned long long *values, int64_t count)
{
    MPI_Iallreduce(MPI_IN_PLACE, values, count_of(count), MPI_UNSIGNED_LONG_LONG, MPI_SUM,
                   communicator_of(state), new_request(state, 0));
    mpi_wait(state, 0);
}

#ifdef MPIX_CUDA_AWARE_SUPPORT
/* A parameter of Open MPI, as mpirun --mca sets it; true if the name is unknown. */
static bool parameter_is_true(const char *name)
{
    MPI_T_cvar_handle handle;
    bool value = true;
    int index = 0, count = 0, provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return value;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}
#endif

/* Open MPI 4 answers the query as it was built; the parameter turns the support off. */
static bool mpi_takes_device_memory(void *state)
{
    (void)state;
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() && parameter_is_true("opal_cuda_support");
#elif defined MPIX_GPU_SUPPORT_CUDA /* MPICH */
    int is_taken = 0;
    return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_taken) == MPI_SUCCESS && is_taken;
#else
    return false;
#endif
}

static const kith_messages library_mpi = {
    .name = "MPI",
    .post_send = mpi_post_send,
    .post_receive = mpi_post_receive,
    .post_maximum = mpi_post_maximum,
    .progress = mpi_progress,
    .wait = mpi_wait,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .add = mpi_add,
    .takes_device_memory = mpi_takes_device_memory,
};

/* The ranks of a communicator. */
static void take(MPI_Comm communicator, struct mpi_state *state, struct ranks *ranks)
{
    int size = 0, rank = 0;
    MPI_Comm_size(communicator, &size);
    MPI_Comm_rank(communicator, &rank);
    state->communicator = communicator;
    state->counts = grown(NULL, (size_t)size * sizeof *state->counts);
    state->places = grown(NULL, (size_t)size * sizeof *state->places);
    state->first = grown(NULL, ((size_t)size + 1) * sizeof *state->first);
    *ranks = (struct ranks){
        .library = &library_mpi, .state = state, .size = size, .rank = rank, .first = state->first};
}

static void drop(struct mpi_state *state)
{
    for (int32_t k = 0; k < KITH_MESSAGE_BATCHES; k++)
        free(state->batches[k].requests);
    free(state->counts);
    free(state->places);
    free(state->first);
    *state = (struct mpi_state){0};
}

bool ranks_mpi_begin(struct ranks *ranks)
{
    int provided = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED)
        return false;
    take(MPI_COMM_WORLD, &of_all, ranks);
    return true;
}

void ranks_mpi_end(struct ranks *ranks)
{
    MPI_Finalize();
    drop(ranks->state);
}

bool ranks_mpi_begin_some(int32_t size, struct ranks *ranks)
{
    MPI_Comm communicator;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &communicator);
    if (rank < size)
        take(communicator, &of_some, ranks);
    return rank < size;
}

void ranks_mpi_end_some(struct ranks *ranks)
{
    struct mpi_state *state = ranks->state;
    MPI_Comm_free(&state->communicator);
    drop(state);
}

const char *ranks_mpi_version(void)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = 0;
    char *end = version; /* MPICH aligns its own with blanks */
    for (const char *at = version; *at; at++)
        if (!isspace((unsigned char)*at))
            *end++ = *at;
        else if (end > version && end[-1] != ' ')
            *end++ = ' ';
    *end = 0;
    return version;
}

int32_t ranks_mpi_rank_of_machine(void)
{
    MPI_Comm machine;
    int rank = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_free(&machine);
    return rank;
}

int32_t ranks_mpi_threads(void)
{
    cpu_set_t mine, all;
    MPI_Comm machine;
    int ranks = 1;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &ranks);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, machine);
    MPI_Comm_free(&machine);
    const int threads = CPU_COUNT(&all) / ranks;
    return threads < 1 ? 1 : threads;
}
