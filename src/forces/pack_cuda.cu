/* Forces of arrays on the device: what arguments.c and pack.c do for arrays on the host, as
 * kernels.
 *
 * The host must not wait for the largest magnitudes, by which the units are chosen: the units stay
 * on the device, and so does ε² in them. What is wrong with the numbers is found too late for this
 * call's status; the next synchronize tells it (cuda/finding.h). */

#include <math.h>

#include "core/memory.h"
#include "cuda/finding.h"
#include "forces/direct.h"
#include "forces/in_place.h"
#include "forces/layout.h"
#include "forces/scale.h"

enum { threads = 256, blocks_per_multiprocessor = 8 };

/* What is measured, and the units that follow from it. Zeros at first. */
struct measured {
    unsigned long long largest_length, largest_mass; /* the bits of doubles ≥ 0, ordered as these */
    unsigned long long worst; /* ~(array << 48 | row) of the first bad number's row; 0: none */
    double softening2;
    int length_exponent, mass_exponent;
};

/* An array of the arguments. */
struct view {
    const void *data; /* NULL: absent */
    int64_t rows, row_stride, column_stride;
    int32_t columns;
    bool is_mass;
    double least;              /* what its numbers must be at least */
    const char *name, *remedy; /* in the host's memory: only handed on */
};

/* In the order in which arguments.c looks at them. */
enum { view_targets, view_sources, view_masses, view_target_softening, view_source_softening };
enum { view_count = 5, row_bits = 48 };

struct inputs {
    struct view view[view_count];
    double softening;
    double mass_of_all; /* 1 if there are no masses, else 0 */
};

enum quantity { quantity_length, quantity_mass, quantity_half_square };

/* A column to be packed, and one to be unpacked. */
struct packing {
    struct view from; /* data NULL: ones */
    int32_t column;
    enum quantity quantity;
    void *to;
};

struct unpacking {
    const void *from;
    void *data;
    int64_t row_stride, offset;
    int32_t times_length, times_mass; /* powers of the units to multiply by */
};

struct packings {
    struct packing column[9];
    int32_t count;
};

struct unpackings {
    struct unpacking column[4];
    int32_t count;
    int64_t rows;
    double g_fraction;
    int g_exponent;
};

template <typename real>
static __device__ double number_at(const struct view &view, int64_t row, int32_t column)
{
    return ((const real *)view.data)[row * view.row_stride + column * view.column_stride];
}

static __device__ bool is_bad(const struct view &view, double number)
{
    return !isfinite(number) || number < view.least;
}

static __device__ unsigned long long larger(unsigned long long a, unsigned long long b)
{
    return a > b ? a : b;
}

/* The largest of the block's, kept if it is the largest of all. The maximum of whole numbers does
 * not depend on the order. */
static __device__ void keep_largest(unsigned long long value, unsigned long long *largest)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = larger(value, __shfl_xor_sync(0xffffffff, value, distance));
    if (threadIdx.x % 32 == 0 && value > 0)
        atomicMax(largest, value);
}

template <typename real>
static __global__ void measure(const struct inputs inputs, struct measured *measured)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    double length = 0, mass = 0;
    unsigned long long worst = 0;
    for (int k = 0; k < view_count; k++) {
        const struct view view = inputs.view[k];
        for (int64_t row = first; view.data && row < view.rows; row += step)
            for (int32_t column = 0; column < view.columns; column++) {
                const double number = number_at<real>(view, row, column);
                if (is_bad(view, number))
                    worst = larger(worst, ~((unsigned long long)k << row_bits | row));
                else if (view.is_mass)
                    mass = fmax(mass, fabs(number));
                else
                    length = fmax(length, fabs(number));
            }
    }
    keep_largest(__double_as_longlong(length), &measured->largest_length);
    keep_largest(__double_as_longlong(mass), &measured->largest_mass);
    keep_largest(worst, &measured->worst);
}

template <typename real>
static __device__ void tell(const struct inputs &inputs, unsigned long long worst,
                            struct cuda_finding *finding)
{
    const struct view view = inputs.view[~worst >> row_bits];
    const int64_t row = ~worst & (1ull << row_bits) - 1;
    int32_t column = 0;
    while (!is_bad(view, number_at<real>(view, row, column)))
        column++;
    finding->row = row;
    finding->value = number_at<real>(view, row, column);
    finding->remedy = view.remedy;
    __threadfence_system();
    finding->array = view.name;
}

/* By one thread. The first finding stays until it is told. */
template <typename real>
static __global__ void choose_units(const struct inputs inputs, struct measured *measured,
                                    struct cuda_finding *finding)
{
    const double length = __longlong_as_double(measured->largest_length);
    const double mass = __longlong_as_double(measured->largest_mass);
    measured->length_exponent = forces_packed_length_exponent(fmax(length, inputs.softening));
    measured->mass_exponent = forces_packed_mass_exponent(fmax(mass, inputs.mass_of_all));
    const double softening = ldexp(inputs.softening, -measured->length_exponent);
    measured->softening2 = softening * softening;
    if (measured->worst && !*(const char *volatile *)&finding->array)
        tell<real>(inputs, measured->worst, finding);
}

template <typename real>
static __global__ void pack(const struct packings packings, const struct measured *measured)
{
    const struct packing column = packings.column[blockIdx.y];
    const int exponent =
        column.quantity == quantity_mass ? measured->mass_exponent : measured->length_exponent;
    const double factor = ldexp(1.0, -exponent);
    const int64_t padded = kith_padded(column.from.rows);
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; row < padded; row += step) {
        double number = 0;
        if (row < column.from.rows)
            number = factor *
                     (column.from.data ? number_at<real>(column.from, row, column.column) : 1.0);
        if (column.quantity == quantity_half_square)
            number = 0.5 * number * number;
        ((real *)column.to)[row] = (real)number;
    }
}

template <typename real>
static __global__ void unpack(const struct unpackings unpackings, const struct measured *measured)
{
    const struct unpacking column = unpackings.column[blockIdx.y];
    const int exponent = unpackings.g_exponent + column.times_length * measured->length_exponent +
                         column.times_mass * measured->mass_exponent;
    const bool bad = measured->worst != 0;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; row < unpackings.rows;
         row += step) {
        const double value = unpackings.g_fraction * (double)((const real *)column.from)[row];
        ((real *)column.data)[row * column.row_stride + column.offset] =
            (real)(bad ? nan("") : ldexp(value, exponent));
    }
}

static struct view view_of(kith_array array, const char *name, double least)
{
    struct view view = {};
    view.name = name;
    view.remedy = least == 0 ? "lengths of at least 0" : "finite numbers";
    view.least = least;
    if (kith_array_is_none(array))
        return view;
    view.data = array.data;
    view.rows = array.shape[0];
    view.row_stride = array.strides[0];
    view.columns = array.ndim == 2 ? (int32_t)array.shape[1] : 1;
    view.column_stride = array.ndim == 2 ? array.strides[1] : 0;
    return view;
}

static struct inputs inputs_of(const struct forces_arguments *arguments)
{
    struct inputs inputs = {};
    inputs.view[view_targets] = view_of(arguments->targets, "targets", -INFINITY);
    inputs.view[view_sources] = view_of(arguments->sources, "sources", -INFINITY);
    inputs.view[view_masses] = view_of(arguments->masses, "masses", -INFINITY);
    inputs.view[view_masses].is_mass = true;
    inputs.view[view_target_softening] =
        view_of(arguments->target_softening, "target_softening", 0);
    inputs.view[view_source_softening] =
        view_of(arguments->source_softening, "source_softening", 0);
    inputs.softening = arguments->softening;
    inputs.mass_of_all = kith_array_is_none(arguments->masses) ? 1 : 0;
    return inputs;
}

static void add_packing(struct packings *packings, struct view from, int32_t column,
                        enum quantity quantity, const void *to)
{
    const struct packing packing = {from, column, quantity, (void *)to};
    packings->column[packings->count++] = packing;
}

static struct packings packings_of(const struct inputs *inputs,
                                   const struct forces_problem *problem)
{
    struct packings packings = {};
    struct view masses = inputs->view[view_masses];
    masses.rows = problem->source_count;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        add_packing(&packings, inputs->view[view_sources], c, quantity_length,
                    problem->source_position[c]);
        if (!problem->self)
            add_packing(&packings, inputs->view[view_targets], c, quantity_length,
                        problem->target_position[c]);
    }
    add_packing(&packings, masses, 0, quantity_mass, problem->source_mass);
    if (problem->source_half_softening2)
        add_packing(&packings, inputs->view[view_source_softening], 0, quantity_half_square,
                    problem->source_half_softening2);
    if (problem->target_half_softening2 && !problem->self)
        add_packing(&packings, inputs->view[view_target_softening], 0, quantity_half_square,
                    problem->target_half_softening2);
    return packings;
}

static struct unpackings unpackings_of(const struct forces_arguments *arguments,
                                       const struct forces_problem *problem)
{
    struct unpackings unpackings = {};
    unpackings.rows = problem->target_count;
    unpackings.g_fraction = frexp(arguments->gravitational_constant, &unpackings.g_exponent);
    const kith_array a = arguments->acceleration, phi = arguments->potential;
    for (int32_t c = 0; c < problem->dimensions && problem->acceleration[c]; c++) {
        const struct unpacking unpacking = {problem->acceleration[c], a.data, a.strides[0],
                                            c * a.strides[1],         -2,     1};
        unpackings.column[unpackings.count++] = unpacking;
    }
    if (problem->potential) {
        const struct unpacking unpacking = {problem->potential, phi.data, phi.strides[0], 0, -1, 1};
        unpackings.column[unpackings.count++] = unpacking;
    }
    return unpackings;
}

static int blocks_for(kith_context *context, int64_t rows)
{
    const int64_t needed = (rows + threads - 1) / threads;
    const int64_t most = (int64_t)cuda_multiprocessors(context) * blocks_per_multiprocessor;
    return (int)(needed < 1 ? 1 : needed < most ? needed : most);
}

template <typename real>
static kith_status compute(kith_context *context, const struct forces_arguments *arguments,
                           struct measured *measured, struct forces_problem *problem)
{
    cudaStream_t stream = cuda_stream(context);
    const struct inputs inputs = inputs_of(arguments);
    const struct packings packings = packings_of(&inputs, problem);
    const struct unpackings unpackings = unpackings_of(arguments, problem);
    const int64_t n = problem->target_count, m = problem->source_count;
    const int blocks = blocks_for(context, n > m ? n : m);

    KITH_TRY(cuda_check(cudaMemsetAsync(measured, 0, sizeof *measured, stream), "packing"));
    measure<real><<<blocks, threads, 0, stream>>>(inputs, measured);
    choose_units<real><<<1, 1, 0, stream>>>(inputs, measured, cuda_finding_of(context));
    pack<real><<<dim3(blocks, packings.count), threads, 0, stream>>>(packings, measured);
    KITH_TRY(cuda_check_launch("packing"));
    problem->softening2_at = &measured->softening2;
    KITH_TRY(forces_direct_cuda(context, problem));
    if (n == 0 || unpackings.count == 0)
        return KITH_OK;
    unpack<real><<<dim3(blocks_for(context, n), unpackings.count), threads, 0, stream>>>(unpackings,
                                                                                         measured);
    return cuda_check_launch("unpacking");
}

/* An address that the device cannot use would end all work of the process there. */
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

static kith_status check_addresses(kith_context *context, const struct forces_arguments *arguments)
{
    KITH_TRY(check_address(context, arguments->targets, "targets"));
    KITH_TRY(check_address(context, arguments->sources, "sources"));
    KITH_TRY(check_address(context, arguments->masses, "masses"));
    KITH_TRY(check_address(context, arguments->target_softening, "target_softening"));
    KITH_TRY(check_address(context, arguments->source_softening, "source_softening"));
    KITH_TRY(check_address(context, arguments->acceleration, "acceleration"));
    return check_address(context, arguments->potential, "potential");
}

kith_status forces_in_place_cuda(kith_context *context, const struct forces_arguments *arguments)
{
    const int64_t room = 256; /* for measured, and the columns after it stay aligned */
    static_assert(sizeof(struct measured) <= room, "measured has room");
    const kith_dtype dtype = arguments->sources.dtype;
    struct forces_problem problem;
    struct forces_layout layout;
    char *memory = NULL;
    KITH_TRY(check_addresses(context, arguments));
    KITH_TRY(forces_lay_out(arguments, dtype, NULL, &problem, &layout));
    KITH_TRY(cuda_memory_of_arrays(context, room + layout.bytes, (void **)&memory));
    KITH_TRY(forces_lay_out(arguments, dtype, memory + room, &problem, &layout));
    struct measured *measured = (struct measured *)memory;
    return dtype == KITH_F64 ? compute<double>(context, arguments, measured, &problem)
                             : compute<float>(context, arguments, measured, &problem);
}
