/* The particles of arrays on the device as columns, and results to arrays there. Errors in the
 * numbers are found too late for the call's status; they are reported by the next synchronize
 * (device/deferred_error.h), and what is computed of it is NaN. */

#include <float.h>

#include "core/bad_row.h"
#include "core/memory.h"
#include "device/deferred_error.h"
#include "matrix/cuda.h"
#include "matrix/diagonal.h"
#include "matrix/pack.h"

enum {
    threads = 256,
    most_blocks = 1024,
    most_columns = 2 * (KITH_MAX_COORDINATES + 2) + 1,
    row_bits = 56
};

/* A column to be packed. */
struct packing {
    const void *from; /* NULL: ones, or zeros */
    int64_t stride, rows, column;
    const void *factor; /* a packed column to be multiplied by; NULL: none */
    void *to;
    double otherwise, most; /* of a number's magnitude */
    const char *name;       /* in the host's memory: only handed on */
};

struct packings {
    struct packing column[most_columns];
    int32_t count;
};

/* ~(column << 56 | row) of the first bad number: the largest is the first one, in any order of the
 * threads. */
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
            if (!(fabs(number) <= (real)column.most))
                atomicMax(worst, ~((unsigned long long)k << row_bits | (unsigned long long)row));
            if (column.factor)
                number *= ((const real *)column.factor)[row];
            ((real *)column.to)[row] = number;
        }
    }
}

/* The first one stays until it is reported. */
template <typename real>
static __global__ void tell(const struct packings packings, const unsigned long long *worst,
                            const char *remedy, const char *far,
                            struct cuda_deferred_error *deferred)
{
    if (!*worst || *(const char *volatile *)&deferred->array)
        return;
    const struct packing &column = packings.column[~*worst >> row_bits];
    const int64_t row = ~*worst & ((1ull << row_bits) - 1);
    deferred->row = row;
    const real value = ((const real *)column.from)[row * column.stride];
    deferred->value = (double)value;
    deferred->remedy = isfinite(value) ? far : remedy;
    __threadfence_system();
    deferred->array = column.name;
}

static void add(struct packings *packings, const char *name, kith_array from, int64_t k,
                int64_t rows, const void *to)
{
    struct packing packing = {};
    packing.name = name;
    packing.rows = rows;
    packing.to = (void *)to;
    packing.otherwise = 1;
    packing.most = kith_array_is_none(from) || from.dtype == KITH_F32 ? (double)FLT_MAX : DBL_MAX;
    if (!kith_array_is_none(from)) {
        const int64_t offset = from.ndim == 2 ? k * from.strides[1] : 0;
        packing.from = (const char *)from.data + offset * kith_dtype_bytes(from.dtype);
        packing.stride = from.strides[0];
    }
    packings->column[packings->count++] = packing;
}

static void add_side(const struct matrix_arguments *arguments,
                     const struct particles_side *particles, const struct matrix_side *side,
                     struct packings *packings)
{
    const struct particles_argument *argument = particles->argument;
    const kith_array weights = matrix_weights_of(arguments, particles);
    const bool custom = arguments->view.form.kind == law_custom;
    const int64_t axis_bytes = side->stride * kith_dtype_bytes(arguments->dtype);
    for (int32_t c = 0; c < 3 || c < arguments->dimensions; c++) {
        const bool absent = c >= arguments->dimensions;
        add(packings, argument->positions, absent ? kith_array_none() : particles->positions, c,
            side->count, c < 3 ? side->x[c] : (const char *)side->more_axes + (c - 3) * axis_bytes);
        struct packing *const added = &packings->column[packings->count - 1];
        added->most = fmin(added->most, matrix_largest_coordinate(arguments, arguments->dtype));
        if (absent)
            added->otherwise = 0;
    }
    add(packings, argument->column[matrix_weight_column(arguments)], weights, 0, side->count,
        side->weight);
    add(packings, argument->column[particles_q],
        custom ? particles->column[particles_q] : kith_array_none(), 0, side->count, side->charge);
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
    const kith_dtype dtype = sizeof(real) == sizeof(double) ? KITH_F64 : KITH_F32;
    tell<real><<<1, 1, 0, cuda_stream(context)>>>(
        *packings, worst, remedy, kith_remedy_of_far(dtype), cuda_deferred_error_of(context));
    return cuda_check_launch("looking at the arrays");
}

kith_status matrix_pack_cuda(const struct matrix_arguments *arguments, kith_array b,
                             struct matrix_problem *problem)
{
    const int64_t room = 256, n = arguments->row_count, m = arguments->column_count;
    kith_context *context = arguments->context;
    struct packings packings = {};
    char *memory = NULL;
    int64_t bytes = 0;
    matrix_lay_out(arguments, arguments->dtype, NULL, problem, &bytes);
    KITH_TRY(cuda_memory_of_arrays(context, room + bytes, (void **)&memory));
    matrix_lay_out(arguments, arguments->dtype, memory + room, problem, &bytes);

    add_side(arguments, &arguments->rows, &problem->rows, &packings);
    if (!arguments->same)
        add_side(arguments, &arguments->columns, &problem->columns, &packings);
    add(&packings, "b", b, 0, m, problem->columns.coefficient);
    /* A thread packs row after row of one column before the next: it reads its own weights. */
    if (problem->weighting == law_product && arguments->view.form.kind != law_custom)
        packings.column[packings.count - 1].factor = problem->columns.weight;
    return arguments->dtype == KITH_F64
               ? launch<double>(context, &packings, n > m ? n : m, (unsigned long long *)memory)
               : launch<float>(context, &packings, n > m ? n : m, (unsigned long long *)memory);
}

template <typename real>
static __global__ void deliver(const struct matrix_problem problem,
                               const struct matrix_delivery from)
{
    const int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i >= problem.rows.count)
        return;
    const bool counts_number = matrix_counts_number(&problem);
    const int64_t to = i * from.to.strides[0];
    double found = from.found[i];
    long long at = from.at ? from.at[i] : -1;
    if (counts_number && from.at)
        matrix_count_number(&problem, from.sign, i, &found, &at);
    if (from.is_place) {
        ((int64_t *)from.to.data)[to] = at;
        return;
    }
    double value = from.sign * found;
    if (from.is_weighted)
        value *= (double)((const real *)problem.rows.weight)[i];
    if (counts_number && !from.at) {
        const double b =
            from.b.data ? (double)((const real *)from.b.data)[i * from.b.strides[0]] : 1.0;
        /* Not fused, as on the host. */
        value = __dadd_rn(value, __dmul_rn(problem.diagonal_value, b));
    }
    ((real *)from.to.data)[to] = (real)value;
}

kith_status matrix_deliver_cuda(kith_context *context, const struct matrix_task *task,
                                const struct matrix_delivery *delivery)
{
    const unsigned blocks = (unsigned)((task->problem.rows.count + threads - 1) / threads);
    if (task->dtype == KITH_F64)
        deliver<double><<<blocks, threads, 0, cuda_stream(context)>>>(task->problem, *delivery);
    else
        deliver<float><<<blocks, threads, 0, cuda_stream(context)>>>(task->problem, *delivery);
    return cuda_check_launch("delivering the rows' results");
}
