/* Forces of arrays on the device: what arguments.c and pack.c do for arrays on the host, as
 * kernels. Results go straight to the caller's arrays (deliver_cuda.cuh).
 *
 * The host must not wait for the largest magnitudes, by which the units are chosen: the units stay
 * on the device, and so does ε² in them. Errors in the numbers are found too late for this call's
 * status; they are reported by the next synchronize (device/deferred_error.h). */

#include "cells/geometry.h"
#include "device/overlap.cuh"
#include "forces/deliver_cuda.cuh"
#include "forces/in_place.h"
#include "forces/layout.h"
#include "forces/measure_cuda.cuh"
#include "forces/scale.h"
#include "forces/solver.h"
#include "forces/space.h"

enum { threads = 512, most_blocks = 256 };

/* With no more rows than this every block that packs inspects all numbers itself: reading these
 * takes less time than starting another kernel. */
enum { most_rows_for_each = 2048 };

enum quantity { quantity_length, quantity_mass, quantity_half_square, quantity_root, quantity_any };

/* A column to be packed. */
struct packing {
    void *to;
    signed char view; /* of the inputs; −1: ones */
    signed char column;
    bool of_targets;
    char quantity; /* enum quantity */
};

struct packings {
    int64_t targets, sources; /* rows */
    int32_t count;
    struct packing column[20];
};

/* What the kernels keep between them, before the columns. */
struct notes {
    struct forces_measured measured;
    struct extremes of_blocks[most_blocks];
};

template <typename real>
static __global__ void __launch_bounds__(threads)
    measure(const struct inputs inputs, struct notes *notes)
{
    wait_for_kernel_before();
    const struct extremes found = largest_of_block(look_at<real>(
        inputs, (int64_t)blockIdx.x * threads + threadIdx.x, (int64_t)gridDim.x * threads));
    if (threadIdx.x == 0)
        notes->of_blocks[blockIdx.x] = found;
}

/* Exponents of the units that follow from what was found. */
struct exponents {
    int length, mass;
};

static __device__ struct exponents choose_units(const struct inputs &inputs,
                                                const struct extremes &found)
{
    if (inputs.keeps_units)
        return {0, 0};
    return {forces_packed_length_exponent(fmax(found.length, inputs.softening)),
            forces_packed_mass_exponent(fmax(found.mass, inputs.mass_of_all))};
}

/* For the kernels that follow, and for the host. The first one stays until it is reported. */
template <typename real>
static __device__ void write_down(const struct inputs &inputs, const struct extremes &found,
                                  struct exponents units, struct forces_measured *measured,
                                  struct cuda_deferred_error *deferred)
{
    const double softening = ldexp(inputs.softening, -units.length);
    measured->softening2 = softening * softening;
    measured->acceleration_exponent = units.mass - 2 * units.length;
    measured->potential_exponent = units.mass - units.length;
    measured->bad = found.worst != 0;
    if (found.worst && !*(const char *volatile *)&deferred->array)
        tell<real>(inputs, found.worst, deferred);
}

template <typename real>
static __device__ void pack_column(const struct inputs &inputs, const struct packing &column,
                                   int64_t rows, struct exponents units)
{
    const struct view &from = inputs.view[column.view < 0 ? 0 : column.view];
    const bool has_no_unit = column.quantity == quantity_any || column.quantity == quantity_root;
    const int exponent = has_no_unit                        ? 0
                         : column.quantity == quantity_mass ? units.mass
                                                            : units.length;
    const double factor = ldexp(1.0, -exponent);
    const int64_t padded = kith_padded(rows), step = (int64_t)gridDim.x * threads;
    for (int64_t row = (int64_t)blockIdx.x * threads + threadIdx.x; row < padded; row += step) {
        double number = 0;
        if (row < rows)
            number = factor *
                     (column.view < 0 ? 1.0 : (double)number_at<real>(from, row, column.column));
        if (column.quantity == quantity_half_square)
            number = 0.5 * number * number;
        if (column.quantity == quantity_root)
            number = sqrt(number);
        ((real *)column.to)[row] = (real)number;
    }
}

/* measuring_blocks: of the kernel measure; 0: it was not started. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    pack(const struct inputs inputs, const struct packings packings, int measuring_blocks,
         struct notes *notes, struct cuda_deferred_error *deferred)
{
    wait_for_kernel_before();
    struct extremes found = {};
    if (measuring_blocks == 0)
        found = look_at<real>(inputs, threadIdx.x, threads);
    else if (threadIdx.x < measuring_blocks)
        found = notes->of_blocks[threadIdx.x];
    found = largest_of_block(found);
    const struct exponents units = choose_units(inputs, found);
    for (int k = 0; k < packings.count; k++)
        pack_column<real>(inputs, packings.column[k],
                          packings.column[k].of_targets ? packings.targets : packings.sources,
                          units);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        write_down<real>(inputs, found, units, &notes->measured, deferred);
}

static void add_view(struct inputs *inputs, int k, kith_array array, const char *name,
                     struct forces_rule rule, enum particles_unit unit)
{
    inputs->place[k] = -1;
    if (kith_array_is_none(array))
        return;
    struct view view = {};
    view.name = name;
    view.remedy = rule.what;
    view.far = rule.far;
    view.least = rule.least;
    view.most = fmin(rule.most, array.dtype == KITH_F32 ? (double)FLT_MAX : DBL_MAX);
    view.unit = unit;
    view.data = array.data;
    view.rows = array.shape[0];
    view.row_stride = array.strides[0];
    view.columns = array.ndim == 2 ? (int32_t)array.shape[1] : 1;
    view.column_stride = array.ndim == 2 ? array.strides[1] : 0;
    inputs->place[k] = inputs->count;
    inputs->view[inputs->count++] = view;
}

/* Positions, then columns. */
static void add_side(struct inputs *inputs, int first, const struct forces_arguments *arguments,
                     const struct particles_side *side)
{
    const bool is_targets = side == &arguments->targets;
    add_view(inputs, first, side->positions, side->argument->positions,
             forces_rule_of_positions(arguments), particles_unit_length);
    for (int k = 0; k < particles_column_count; k++)
        add_view(inputs, first + 1 + k, side->column[k], side->argument->column[k],
                 forces_rule_of_column(arguments, is_targets, k), particles_columns[k].unit);
}

static bool takes_cutoff(const struct forces_arguments *arguments)
{
    return arguments->solver->has_cutoff && arguments->space.cutoff > 0;
}

/* A cutoff and a cell are in the caller's unit, and a law is. */
static bool keeps_units(const struct forces_arguments *arguments)
{
    return arguments->law != NULL || takes_cutoff(arguments) || arguments->solver->is_periodic;
}

static struct inputs inputs_of(const struct forces_arguments *arguments)
{
    const struct forces_rule rule = forces_rule_of_vectors();
    struct inputs inputs = {};
    add_side(&inputs, view_targets, arguments, &arguments->targets);
    add_side(&inputs, view_sources, arguments, &arguments->sources);
    add_view(&inputs, view_target_directions, arguments->target_directions, "target_directions",
             rule, particles_unit_none);
    add_view(&inputs, view_source_directions, arguments->source_directions, "source_directions",
             rule, particles_unit_none);
    inputs.softening = arguments->softening;
    inputs.keeps_units = keeps_units(arguments);
    inputs.mass_of_all = kith_array_is_none(arguments->sources.column[particles_m]) ? 1 : 0;
    return inputs;
}

/* What packings are made of. */
struct packing_list {
    const struct inputs *inputs;
    bool self; /* the targets are the sources */
    struct packings packings;
};

/* view: of an argument, of which an absent one stands for ones. */
static void add_packing(struct packing_list *list, int view, int column, enum quantity quantity,
                        const void *to)
{
    const bool of_targets = !list->self && (view < view_sources || view == view_target_directions);
    list->packings.column[list->packings.count++] = {
        (void *)to, list->inputs->place[view], (signed char)column, of_targets, (char)quantity};
}

/* mixes: σ replaces the charges (pack.c). */
static void add_packings_of_law(struct packing_list *list, bool mixes,
                                const struct forces_problem *problem)
{
    const int charge = mixes ? particles_sigma : particles_q;
    if (problem->source_charge && problem->source_charge != problem->source_mass)
        add_packing(list, view_source_columns + charge, 0, quantity_any, problem->source_charge);
    if (problem->target_charge && problem->target_charge != problem->source_charge)
        add_packing(list, view_target_columns + charge, 0, quantity_any, problem->target_charge);
    if (problem->target_mass && problem->target_mass != problem->source_mass)
        add_packing(list, (problem->self ? view_source_columns : view_target_columns) + particles_m,
                    0, quantity_any, problem->target_mass);
    if (mixes && !problem->self)
        add_packing(list, view_target_columns + particles_epsilon, 0, quantity_root,
                    problem->target_weight);
}

/* Rows of directions that are nowhere else. */
static void add_directions(struct packing_list *list, const struct forces_problem *problem)
{
    for (int32_t c = 0; c < problem->dimensions; c++) {
        if (list->inputs->place[view_source_directions] >= 0)
            add_packing(list, view_source_directions, c, quantity_any, problem->source_velocity[c]);
        if (list->inputs->place[view_target_directions] >= 0)
            add_packing(list, view_target_directions, c, quantity_any, problem->target_velocity[c]);
    }
}

static struct packings packings_of(const struct inputs *inputs, bool mixes,
                                   const struct forces_problem *problem)
{
    struct packing_list list = {};
    list.inputs = inputs;
    list.self = problem->self;
    list.packings.targets = problem->target_count;
    list.packings.sources = problem->source_count;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        add_packing(&list, view_sources, c, quantity_length, problem->source_position[c]);
        if (!problem->self)
            add_packing(&list, view_targets, c, quantity_length, problem->target_position[c]);
    }
    add_packing(&list, view_source_columns + (mixes ? particles_epsilon : particles_m), 0,
                mixes ? quantity_root : quantity_mass, problem->source_mass);
    if (problem->source_half_softening2)
        add_packing(&list, view_source_columns + particles_softening, 0, quantity_half_square,
                    problem->source_half_softening2);
    if (problem->target_half_softening2 && !problem->self)
        add_packing(&list, view_target_columns + particles_softening, 0, quantity_half_square,
                    problem->target_half_softening2);
    add_packings_of_law(&list, mixes, problem);
    add_directions(&list, problem);
    return list.packings;
}

/* The problem's results are the caller's arrays. */
static void deliver_to(const struct forces_arguments *arguments, const struct notes *notes,
                       struct forces_problem *problem)
{
    const bool derives = forces_is_derivative(arguments);
    const kith_array a = derives ? arguments->acceleration_derivative : arguments->acceleration;
    const kith_array phi = derives ? arguments->potential_derivative : arguments->potential;
    struct forces_delivery *to = &problem->delivery;
    const int64_t each = kith_dtype_bytes(problem->dtype);
    int exponent = 0;
    for (int32_t c = 0; c < problem->dimensions && !kith_array_is_none(a); c++)
        (derives ? problem->jerk : problem->acceleration)[c] =
            (char *)a.data + c * a.strides[1] * each;
    *(derives ? &problem->potential_rate : &problem->potential) = phi.data;
    to->measured = &notes->measured;
    to->acceleration_stride = a.strides[0];
    to->potential_stride = phi.strides[0];
    to->g_fraction = frexp(arguments->gravitational_constant, &exponent);
    to->g_exponent = exponent;
    if (keeps_units(arguments))
        problem->softening2 = arguments->softening * arguments->softening;
    else
        problem->softening2_at = &notes->measured.softening2;
}

static int blocks_for(int64_t rows)
{
    const int64_t needed = (kith_padded(rows) + threads - 1) / threads;
    return needed < 1 ? 1 : needed < most_blocks ? (int)needed : (int)most_blocks;
}

template <typename real>
static kith_status compute(kith_context *context, const struct forces_arguments *arguments,
                           struct notes *notes, struct forces_problem *problem)
{
    static_assert(most_blocks <= threads, "a thread reads what a block has found");
    const struct inputs inputs = inputs_of(arguments);
    const struct packings packings = packings_of(&inputs, arguments->mixes, problem);
    const int64_t n = problem->target_count, m = problem->source_count;
    const int blocks = blocks_for(n > m ? n : m);
    const int measuring_blocks = (problem->self ? m : n + m) > most_rows_for_each ? blocks : 0;
    if (measuring_blocks > 0)
        KITH_TRY(launch_overlapped(context, "starting the kernel that inspects the arrays",
                                   dim3((unsigned)blocks), threads, measure<real>, inputs, notes));
    KITH_TRY(launch_overlapped(context, "starting the kernel that packs the arrays",
                               dim3((unsigned)blocks), threads, pack<real>, inputs, packings,
                               measuring_blocks, notes, cuda_deferred_error_of(context)));
    deliver_to(arguments, notes, problem);
    return forces_solve(context, arguments->solver, problem);
}

kith_status forces_in_place_cuda(kith_context *context, const struct forces_arguments *arguments)
{
    const int64_t room = (sizeof(struct notes) + 255) / 256 * 256; /* the columns stay aligned */
    const kith_dtype dtype = arguments->sources.positions.dtype;
    struct forces_arguments inputs_alone = *arguments;
    inputs_alone.acceleration = inputs_alone.potential = kith_array_none();
    inputs_alone.acceleration_derivative = inputs_alone.potential_derivative = kith_array_none();
    struct forces_problem problem;
    struct pairs_lattice lattice;
    char *memory = NULL;
    KITH_TRY(forces_begin_problem(&inputs_alone, dtype, &problem));
    if (takes_cutoff(arguments))
        KITH_TRY(forces_space_set(problem.dimensions, 1, &lattice, &problem.space));
    const int64_t bytes = forces_lay_out(&inputs_alone, NULL, &problem);
    KITH_TRY(cuda_memory_of_arrays(context, room + bytes, (void **)&memory));
    forces_lay_out(&inputs_alone, memory + room, &problem);
    struct notes *notes = (struct notes *)memory;
    return dtype == KITH_F64 ? compute<double>(context, arguments, notes, &problem)
                             : compute<float>(context, arguments, notes, &problem);
}

const bool *forces_bad_cuda(const struct forces_measured *measured)
{
    return &measured->bad;
}
