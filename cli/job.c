#include "job.h"

#include <stdlib.h>
#include <time.h>

#ifdef KITH_HAS_MPI

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/stream.h"
#include "ranks/bodies.h"
#include "ranks/mpi.h"

/* As progress.c's, this is of the process: one command runs in a program at a time. */
static struct ranks job;
static int32_t threads_of_rank;         /* processors of this machine, divided among its ranks */
static double waited_before, loaded_at; /* when the bodies were loaded */
static int heard = -1; /* standard error as it was, of a rank that prints into memory instead */

/* The last line of what this rank would have printed, on standard error. */
static void print_last_line(void)
{
    char text[4096];
    const off_t end = lseek(STDERR_FILENO, 0, SEEK_END);
    const off_t from = end > (off_t)sizeof text ? end - (off_t)sizeof text : 0;
    const ssize_t count = pread(STDERR_FILENO, text, sizeof text, from);
    ssize_t begin = count - 1;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    if (heard >= 0 && count > 0)
        (void)!write(heard, text + begin, (size_t)(count - begin));
}

/* Ranks that fail alone come here while others are still at work, and take part in the vote that
 * these wait in (ranks_agree). Then all know, come here too, and agree on how to end. */
static void end_job(int code, void *unused)
{
    (void)unused;
    fflush(NULL);
    struct ranks_vote vote = {code != exit_ok, 0, 0};
    const bool fails_itself = code != exit_ok && !job.failed_elsewhere;
    if (!job.failure_is_known)
        ranks_take_vote(&job, &vote);
    struct ranks_vote last = {0, fails_itself ? job.size - job.rank : 0, code};
    ranks_take_vote(&job, &last);
    if (fails_itself && last.stops == job.size - job.rank && job.rank > 0)
        print_last_line();
    ranks_mpi_end(&job);
    if (last.value != code)
        _exit((int)last.value);
}

/* Ranks other than 0 print to /dev/null. */
static void fall_silent(void)
{
    const int memory = memfd_create("kith", MFD_CLOEXEC);
    if (!freopen("/dev/null", "w", stdout) || memory < 0)
        return;
    heard = dup(STDERR_FILENO);
    dup2(memory, STDERR_FILENO);
    close(memory);
}

int job_begin(const char *command, const struct launcher *launcher)
{
    char reason[256];
    if (!ranks_mpi_begin(&job))
        return launcher_refuse(command, launcher, "MPI cannot be initialized");
    if (job.size > 1 && (launcher->size == 0 || job.size == launcher->size)) {
        if (job.rank > 0)
            fall_silent();
        threads_of_rank = ranks_mpi_threads();
        on_exit(end_job, NULL);
        return exit_ok;
    }
    snprintf(reason, sizeof reason,
             "the MPI of this build, %.80s, finds %d; start it by its own mpirun",
             ranks_mpi_version(), (int)job.size);
    ranks_mpi_end(&job);
    return launcher_refuse(command, launcher, reason);
}

bool job_is_divided(void)
{
    return job.size > 1;
}

bool job_writes(void)
{
    return job.rank == 0;
}

bool job_failed_elsewhere(void)
{
    return job.failed_elsewhere;
}

/* What job_exchange_share is of begins now. */
static void begin_counting(void)
{
    waited_before = ranks_mpi_waited();
    loaded_at = cli_clock();
}

int job_create_context(const char *command, const kith_context_options *options,
                       kith_context **context)
{
    kith_context_options chosen = *options;
    if (job_is_divided()) {
        if (chosen.device.kind == KITH_DEVICE_AUTO)
            chosen.device = (kith_device){KITH_CPU, 0};
        if (chosen.threads == 0 && !getenv("OMP_NUM_THREADS"))
            chosen.threads = threads_of_rank;
    }
    kith_status status = kith_context_create(&chosen, context);
    if (status == KITH_OK && job_is_divided()) {
        status = ranks_join(*context, &job);
        begin_counting(); /* of a run that is resumed */
    }
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

int job_load_bodies(const char *command, kith_context *context, const struct input_options *input,
                    const char *output, bool quiet, kith_bodies **bodies)
{
    int code = exit_ok;
    if (job_writes())
        code = load_bodies(command, input, output, quiet, bodies);
    if (!job_is_divided() || code != exit_ok)
        return code;
    code = ranks_share_bodies(context, KITH_OK, bodies) == KITH_OK ? exit_ok : cli_fail(command);
    begin_counting();
    return code;
}

static kith_status give_rows(void *stream, kith_bodies *rows)
{
    return bodies_stream_next(stream, rows);
}

int job_load_rows(const char *command, kith_context *context, const struct input_options *input,
                  const char *output, bool quiet, kith_bodies **bodies, int64_t *all)
{
    struct bodies_stream stream = {.count = 0};
    int code = exit_ok;
    *all = 0;
    if (!job_is_divided())
        return load_bodies(command, input, output, quiet, bodies);
    if (job_writes())
        code = load_stream(command, input, output, quiet, &stream);
    if (code == exit_ok && ranks_deal_bodies(context, KITH_OK, stream.like, stream.count, give_rows,
                                             &stream, all, bodies) != KITH_OK)
        code = cli_fail(command);
    bodies_stream_close(&stream);
    begin_counting();
    return code;
}

int32_t job_rank_of_machine(void)
{
    return job_is_divided() ? ranks_mpi_rank_of_machine() : 0;
}

int32_t job_size(void)
{
    return job_is_divided() ? job.size : 1;
}

/* Of the job's first ranks; a job of one rank is an ordinary process. */
static int do_on_these(const char *command, struct ranks *ranks, kith_device device, job_work *work,
                       void *argument)
{
    const kith_context_options options = {.device = device, .threads = 1};
    kith_context *context = NULL;
    kith_status status = kith_context_create(&options, &context);
    if (status == KITH_OK && ranks->size > 1)
        status = ranks_join(context, ranks);
    const int code = status == KITH_OK ? work(argument, context) : cli_fail(command);
    kith_context_free(context);
    return code;
}

int job_do_on_first(const char *command, int32_t ranks, kith_device device, job_work *work,
                    void *argument)
{
    struct ranks these = {.size = 1};
    if (!job_is_divided())
        return do_on_these(command, &these, device, work, argument);
    struct ranks_vote vote = {0};
    if (ranks_mpi_begin_some(ranks, &these)) {
        vote.failed = do_on_these(command, &these, device, work, argument) != exit_ok;
        job.failed_elsewhere = these.failed_elsewhere;
        ranks_mpi_end_some(&these);
    }
    const bool fails_itself = vote.failed;
    ranks_take_vote(&job, &vote);
    job.failure_is_known = vote.failed;
    job.failed_elsewhere = job.failed_elsewhere || (vote.failed && !fails_itself);
    return vote.failed ? exit_failed : exit_ok;
}

kith_status job_synchronize(kith_context *context)
{
    return ranks_agree(context, kith_context_synchronize(context));
}

int64_t job_largest(kith_context *context, int64_t value)
{
    double largest = (double)value;
    ranks_maximum(context, &largest, 1);
    return (int64_t)largest;
}

bool job_exchange_is_settled(const kith_context *context)
{
    return !context->ranks || context->ranks->size == 1 || context->ranks->nccl_was_tried;
}

const char *job_passage(const kith_context *context, const char **why_not_nccl)
{
    const struct ranks *ranks = context->ranks;
    *why_not_nccl = NULL;
    if (!ranks || ranks->size == 1)
        return NULL;
    if (context->device.kind == KITH_CPU)
        return "MPI";
    *why_not_nccl = ranks->why_not_nccl;
    return ranks->nccl_is_used          ? "NCCL"
           : ranks->takes_device_memory ? "MPI, GPU memory"
                                        : "MPI, host memory";
}

double job_waited(const kith_context *context)
{
    return context->ranks ? ranks_mpi_waited() + context->ranks->copied : 0;
}

double job_worked(void)
{
    return ranks_mpi_worked();
}

double job_exchange_share(void)
{
    return (ranks_mpi_waited() + job.copied - waited_before) / (cli_clock() - loaded_at);
}

const char *job_mpi_version(void)
{
    return ranks_mpi_version();
}

#else

int job_begin(const char *command, const struct launcher *launcher)
{
    return launcher_refuse(
        command, launcher,
        "this build of kith has no MPI, and each process would do all of the work; "
        "start it once, without mpirun or srun, or build kith with MPI");
}

bool job_is_divided(void)
{
    return false;
}

bool job_writes(void)
{
    return true;
}

bool job_failed_elsewhere(void)
{
    return false;
}

int32_t job_rank_of_machine(void)
{
    return 0;
}

int32_t job_size(void)
{
    return 1;
}

int job_do_on_first(const char *command, int32_t ranks, kith_device device, job_work *work,
                    void *argument)
{
    const kith_context_options options = {.device = device, .threads = 1};
    kith_context *context = NULL;
    (void)ranks;
    const int code = kith_context_create(&options, &context) == KITH_OK ? work(argument, context)
                                                                        : cli_fail(command);
    kith_context_free(context);
    return code;
}

kith_status job_synchronize(kith_context *context)
{
    return kith_context_synchronize(context);
}

int64_t job_largest(kith_context *context, int64_t value)
{
    (void)context;
    return value;
}

bool job_exchange_is_settled(const kith_context *context)
{
    (void)context;
    return true;
}

const char *job_passage(const kith_context *context, const char **why_not_nccl)
{
    (void)context;
    *why_not_nccl = NULL;
    return NULL;
}

double job_waited(const kith_context *context)
{
    (void)context;
    return 0;
}

double job_worked(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int job_create_context(const char *command, const kith_context_options *options,
                       kith_context **context)
{
    return kith_context_create(options, context) == KITH_OK ? exit_ok : cli_fail(command);
}

int job_load_bodies(const char *command, kith_context *context, const struct input_options *input,
                    const char *output, bool quiet, kith_bodies **bodies)
{
    (void)context;
    return load_bodies(command, input, output, quiet, bodies);
}

int job_load_rows(const char *command, kith_context *context, const struct input_options *input,
                  const char *output, bool quiet, kith_bodies **bodies, int64_t *all)
{
    (void)context;
    *all = 0;
    return load_bodies(command, input, output, quiet, bodies);
}

double job_exchange_share(void)
{
    return 0;
}

const char *job_mpi_version(void)
{
    return NULL;
}

#endif
