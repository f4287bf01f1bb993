/* Columns updated by formulas on the CPU: parts of the rows to the compiled kernel. */

#include <string.h>

#include "device/context.h"
#include "device/threads.h"
#include "law/compiled.h"
#include "sums/code.h"
#include "sums/update.h"

/* A multiple of every vector's lanes. */
enum { rows_a_part = 1 << 13 };

/* Work of a thread per second; decides how many threads to wake. */
static const double rows_a_second = 1e8;

struct job {
    struct update_rows rows;
    update_kernel *kernel;
};

static void update_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const int64_t begin = part * rows_a_part, end = begin + rows_a_part;
    job->kernel(&job->rows, begin, end < job->rows.count ? end : job->rows.count);
}

kith_status update_cpu(kith_context *context, struct update_problem *problem)
{
    static const struct sums_compiler compiler = {UPDATE_KERNEL_FILE, law_open_functions_cpu,
                                                  law_close_functions};
    struct job job = {.rows = update_rows_of(problem)};
    void *handle = NULL, *function = NULL;
    KITH_TRY(sums_code_of(context, &problem->formulas, &compiler, &handle));
    KITH_TRY(law_function_of(handle, UPDATE_KERNEL_FILE, UPDATE_KERNEL_SYMBOL, &function));
    memcpy(&job.kernel, &function, sizeof function);
    return kith_for_each(context, kith_threads_for(context, (double)problem->count / rows_a_second),
                         (problem->count + rows_a_part - 1) / rows_a_part, update_part, &job);
}
