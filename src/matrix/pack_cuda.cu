/* The particles of arrays on the device as columns, and results to arrays there. What is wrong with
 * the numbers is found too late for the call's status; the next synchronize tells it
 * (cuda/finding.h), and what is computed of it is NaN. */

#include "core/memory.h"
#include "cuda/finding.h"
#include "matrix/cuda.h"
#include "matrix/pack.h"

enum { threads = 256, most_blocks = 1024, most_columns = 11, row_bits = 56 };

/* A column to be packed. */
struct packing {
    const void *from; /* NULL: so many ones, or zeros */
    int64_t stride, rows, column;
    const void *factor; /* a packed column to be multiplied by; NULL: none */
    void *to;
    double otherwise;
    const char *name; /* in the host's memory: only handed on */
};

struct packings {
    struct packing column[most_columns];
    int32_t count;
};

/* ~(column << 56 | row) of the first bad number: the largest is the first one, whoever is faster.
 */
template <typename real>
static __global__ void pack(const struct packings packings, unsigned long long *worst)
{
    for (int k = 0; k < packings.count; k++) {
        const struct packing &column = packings.column[k];
        const int64_t padded = kith_padded(column.rows), step = (int64_t)gridDim.x * threads;
        for (int64_t row = (int64_t)blockIdx.x * threads + threadIdx.x; row < padded; row += step) {
            real number = 0;
            if (row < column.rows)
                number = column.from ? ((const real *)column.from)[row * column.stride]
                                     : (real)column.otherwise;
            if (!isfinite(number))
                atomicMax(worst, ~((unsigned long long)k << row_bits | (unsigned long long)row));
            if (column.factor)
                number *= ((const real *)column.factor)[row];
            ((real *)column.to)[row] = number;
        }
    }
}

/* The first finding stays until it is told. */
template <typename real>
static __global__ void tell(const struct packings packings, const unsigned long long *worst,
                            const char *remedy, struct cuda_finding *finding)
{
    if (!*worst || *(const char *volatile *)&finding->array)
        return;
    const struct packing &column = packings.column[~*worst >> row_bits];
    const int64_t row = ~*worst & ((1ull << row_bits) - 1);
    finding->row = row;
    finding->value = (double)((const real *)column.from)[row * column.stride];
    finding->remedy = remedy;
    __threadfence_system();
    finding->array = column.name;
}

static void add(struct packings *packings, const char *name, kith_array from, int64_t k,
                int64_t rows, const void *to)
{
    struct packing packing = {};
    packing.name = name;
    packing.rows = rows;
    packing.to = (void *)to;
    packing.otherwise = 1;
    if (!kith_array_is_none(from)) {
        const int64_t offset = from.ndim == 2 ? k * from.strides[1] : 0;
        packing.from = (const char *)from.data + offset * kith_dtype_bytes(from.dtype);
        packing.stride = from.strides[0];
    }
    packings->column[packings->count++] = packing;
}

static void add_side(const struct matrix_arguments *arguments, const kith_particles *particles,
                     const char *const names[3], const struct matrix_side *side,
                     struct packings *packings)
{
    const kith_array weights = matrix_weights_of(arguments, particles);
    const bool custom = arguments->view.form.kind == law_custom;
    const bool charged = !custom && arguments->view.weight == law_weight_charge;
    for (int32_t c = 0; c < 3; c++) {
        const bool absent = c >= arguments->dimensions;
        add(packings, names[0], absent ? kith_array_none() : particles->positions, c, side->count,
            side->x[c]);
        if (absent)
            packings->column[packings->count - 1].otherwise = 0;
    }
    add(packings, charged ? names[2] : names[1], weights, 0, side->count, side->weight);
    add(packings, names[2], custom ? particles->charges : kith_array_none(), 0, side->count,
        side->charge);
}

static kith_status check_address(kith_context *context, kith_array array, const char *name)
{
    if (kith_array_is_none(array) || array.shape[0] == 0)
        return KITH_OK;
    if ((uintptr_t)array.data % (uintptr_t)kith_dtype_bytes(array.dtype))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s begins at an address that is no multiple of its elements' %lld bytes; "
                         "copy it to one that is",
                         name, (long long)kith_dtype_bytes(array.dtype));
    return cuda_check_memory(context, array.data, name);
}

static kith_status check_particles(kith_context *context, const kith_particles *particles,
                                   const char *const names[3])
{
    KITH_TRY(check_address(context, particles->positions, names[0]));
    KITH_TRY(check_address(context, particles->masses, names[1]));
    return check_address(context, particles->charges, names[2]);
}

template <typename real>
static kith_status launch(kith_context *context, const struct packings *packings, int64_t rows,
                          unsigned long long *worst)
{
    static const char remedy[] = "finite numbers";
    const int64_t wanted = (kith_padded(rows) + threads - 1) / threads;
    const int blocks = wanted < 1 ? 1 : wanted < most_blocks ? (int)wanted : (int)most_blocks;
    KITH_TRY(cuda_check(cudaMemsetAsync(worst, 0, sizeof *worst, cuda_stream(context)),
                        "clearing memory"));
    pack<real><<<blocks, threads, 0, cuda_stream(context)>>>(*packings, worst);
    KITH_TRY(cuda_check_launch("packing the arrays"));
    tell<real>
        <<<1, 1, 0, cuda_stream(context)>>>(*packings, worst, remedy, cuda_finding_of(context));
    return cuda_check_launch("looking at the arrays");
}

kith_status matrix_pack_cuda(const struct matrix_arguments *arguments, kith_array b,
                             struct matrix_problem *problem)
{
    static const char *const of_rows[] = {"rows.positions", "rows.masses", "rows.charges"};
    static const char *const of_columns[] = {"columns.positions", "columns.masses",
                                             "columns.charges"};
    const int64_t room = 256, n = arguments->row_count, m = arguments->column_count;
    kith_context *context = arguments->context;
    struct packings packings = {};
    char *memory = NULL;
    int64_t bytes = 0;
    KITH_TRY(check_particles(context, &arguments->rows, of_rows));
    KITH_TRY(check_particles(context, &arguments->columns, of_columns));
    KITH_TRY(check_address(context, b, "b"));
    matrix_lay_out(arguments, arguments->dtype, NULL, problem, &bytes);
    KITH_TRY(cuda_memory_of_arrays(context, room + bytes, (void **)&memory));
    matrix_lay_out(arguments, arguments->dtype, memory + room, problem, &bytes);

    add_side(arguments, &arguments->rows, of_rows, &problem->rows, &packings);
    if (!arguments->same)
        add_side(arguments, &arguments->columns, of_columns, &problem->columns, &packings);
    add(&packings, "b", b, 0, m, problem->columns.coefficient);
    /* A thread packs row after row of one column before the next: it reads its own weights. */
    if (problem->weighting == law_product && arguments->view.form.kind != law_custom)
        packings.column[packings.count - 1].factor = problem->columns.weight;
    return arguments->dtype == KITH_F64
               ? launch<double>(context, &packings, n > m ? n : m, (unsigned long long *)memory)
               : launch<float>(context, &packings, n > m ? n : m, (unsigned long long *)memory);
}

template <typename real>
static __global__ void deliver(int64_t rows, const real *weight, double sign, const double *found,
                               int64_t stride, real *to)
{
    const int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i < rows)
        to[i * stride] = (real)(sign * found[i] * (weight ? (double)weight[i] : 1.0));
}

static __global__ void deliver_places(int64_t rows, const int64_t *at, int64_t stride, int64_t *to)
{
    const int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i < rows)
        to[i * stride] = at[i];
}

kith_status matrix_deliver_cuda(kith_context *context, const struct matrix_task *task,
                                bool weighted, double sign, const double *found, const int64_t *at,
                                kith_array to)
{
    const int64_t n = task->problem.rows.count;
    const unsigned blocks = (unsigned)((n + threads - 1) / threads);
    const void *weight = weighted ? task->problem.rows.weight : NULL;
    const cudaStream_t stream = cuda_stream(context);
    if (at)
        deliver_places<<<blocks, threads, 0, stream>>>(n, at, to.strides[0], (int64_t *)to.data);
    else if (task->dtype == KITH_F64)
        deliver<double><<<blocks, threads, 0, stream>>>(n, (const double *)weight, sign, found,
                                                        to.strides[0], (double *)to.data);
    else
        deliver<float><<<blocks, threads, 0, stream>>>(n, (const float *)weight, sign, found,
                                                       to.strides[0], (float *)to.data);
    return cuda_check_launch("delivering the rows' results");
}
