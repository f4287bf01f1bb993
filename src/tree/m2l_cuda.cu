/* M2L on a GPU: a warp per target cell, a source a lane. Up to some order each basis has a kernel
 * whose coefficients are all in registers; one for all orders serves the others. */

#include "tree/m2l_cuda.cuh"

/* far_of_part: sources that a warp takes for a target. */
enum { threads = 128, far_of_part = 512 };

/* make_plane of a constant order. */
template <int order, typename real>
static __device__ __forceinline__ void make_fixed_plane(real x, real y, const real *base,
                                                        const real *in_z, real *e)
{
    repeat<order + 1>([&](auto of_degree) {
        constexpr int degree = decltype(of_degree)::value;
        repeat<degree + 1>([&](auto of_row) {
            constexpr int b = degree - decltype(of_row)::value;
            constexpr int at = b * (order + 1) - b * (b - 1) / 2;
#pragma unroll
            for (int a = degree - b; a > 1; a--)
                e[at + a] = fma(x, e[at + a - 1], e[at + a - 2] * (real)(a - 1));
            if constexpr (degree > b)
                e[at + 1] = x * e[at];
            if constexpr (b > 1)
                e[at] = fma(y, e[(b - 1) * (order + 1) - (b - 1) * (b - 2) / 2],
                            e[(b - 2) * (order + 1) - (b - 2) * (b - 3) / 2] * (real)(b - 1));
            else if constexpr (b == 1)
                e[at] = y * e[0];
            else
                e[at] = base[order - degree];
        });
        if constexpr (degree == order - 1) {
            if (in_z)
                repeat<order>([&](auto of_row) {
                    constexpr int b = decltype(of_row)::value;
                    constexpr int at = b * (order + 1) - b * (b - 1) / 2;
                    constexpr int to = (order + 1) * (order + 2) / 2 + b * order - b * (b - 1) / 2;
#pragma unroll
                    for (int a = 0; a < order - b; a++)
                        e[to + a] = *in_z * e[at + a];
                });
        }
    });
}

template <typename known, typename real>
static __device__ __forceinline__ void
make_fixed_derivatives(enum expansion_law law, const real d[3], real s2, real inverse_unit, real *e)
{
    constexpr int order = known::order;
    constexpr bool harmonic = known::basis == expansion_harmonic;
    real base[order + 1], before[order + 1];
    const bool logarithm = law == expansion_logarithm;
    const real root = rsqrt(s2), inverse2 = root * root;
    base[0] = logarithm ? log(s2) * (real)0.5 - log(inverse_unit) : root;
#pragma unroll
    for (int m = 1; m <= order; m++)
        base[m] = logarithm ? (m == 1 ? inverse2 : base[m - 1] * inverse2 * (real)(2 - 2 * m))
                            : base[m - 1] * inverse2 * (real)(1 - 2 * m);
#pragma unroll
    for (int m = 0; m <= order; m++)
        before[m] = 0;
    repeat<known::planes>([&](auto of_c) {
        constexpr int c = decltype(of_c)::value;
        make_fixed_plane<order - c>(d[0], d[1], base, harmonic ? &d[2] : (const real *)NULL,
                                    e + known::row(0, c));
#pragma unroll
        for (int m = 0; m < order - c; m++) { /* to c + 1 of z */
            const real next = fma(d[2], base[m + 1], before[m + 1] * (real)c);
            before[m] = base[m];
            base[m] = next;
        }
    });
    if constexpr (harmonic && order >= 2)
        repeat<order - 1>([&](auto of_row) {
            constexpr int b = decltype(of_row)::value;
#pragma unroll
            for (int a = 0; a <= order - 2 - b; a++)
                e[known::row(b, 2) + a] =
                    -(e[known::row(b, 0) + a + 2] + e[known::row(b + 2, 0) + a]);
        });
}

template <typename known, typename real>
static __global__ void __launch_bounds__(threads) m2l_fixed(const struct m2l_task task)
{
    const int64_t index = (int64_t)blockIdx.x * (threads / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (index >= (int64_t)*task.parts.count)
        return;
    constexpr int order = known::order;
    const struct tree_part part = task.parts.part[index];
    const int32_t count = part.count;
    const int32_t *far = task.far + task.lists[part.cell].far + part.first;
    const int64_t cell = (int64_t)task.target_record + part.cell;
    const real *records = (const real *)task.records, *target = records + cell * task.shape.record;
    const real x[3] = {target[0], target[1], target[2]}, size = target[3];
    real sum[known::count];
#pragma unroll
    for (int k = 0; k < known::count; k++)
        sum[k] = 0;
    for (int32_t j = lane; j < count; j += 32) {
        const real4_of<real> *record =
            (const real4_of<real> *)(records + (int64_t)far[j] * task.shape.record);
        real power[order + 1], field[known::derivatives], terms[known::count + 3];
        const real4_of<real> head = record[0];
        const real from[3] = {head.x, head.y, head.z};
        load_fixed<known>(record + 1, terms);
        const struct expansion_direction<real> to =
            look_at(from, x, size, (real)task.shape.softening);
        power[0] = task.shape.law == expansion_logarithm ? (real)1 : to.inverse;
#pragma unroll
        for (int n = 1; n <= order; n++)
            power[n] = power[n - 1] * (head.w * to.inverse);
        scale_fixed<known>(power, terms);
        make_fixed_derivatives<known>(task.shape.law, to.d, to.s2, to.inverse, field);
        power[0] = 1;
#pragma unroll
        for (int n = 1; n <= order; n++)
            power[n] = power[n - 1] * (size * to.inverse);
        contract_fixed<known>(terms, field, power, sum);
    }
    real *local = sums_of(task, part, cell, (real)0);
#pragma unroll
    for (int k = 0; k < known::count; k++) {
        const real all = sum_of_lanes(sum[k], 32);
        if (lane == k % 32)
            local[k] = part.slot < 0 ? local[k] + all : all;
    }
}

template <typename real, int room>
static __global__ void __launch_bounds__(threads) m2l_any(const struct m2l_task task)
{
    const int64_t index = (int64_t)blockIdx.x * (threads / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (index >= (int64_t)*task.parts.count)
        return;
    const struct tree_part part = task.parts.part[index];
    const struct expansion_shape &shape = task.shape;
    const int32_t count = part.count, order = shape.order;
    const int32_t *far = task.far + task.lists[part.cell].far + part.first;
    const int64_t cell = (int64_t)task.target_record + part.cell;
    const real *records = (const real *)task.records, *target = records + cell * shape.record;
    const real size = target[3];
    real sum[room], field[room], terms[room], power[expansion_max_order + 1];
    for (int32_t k = 0; k < shape.count; k++)
        sum[k] = 0;
    for (int32_t j = lane; j < count; j += 32) {
        const real *from = records + (int64_t)far[j] * shape.record;
        const struct expansion_direction<real> to =
            look_at(from, target, size, (real)shape.softening);
        const real first = shape.law == expansion_logarithm ? (real)1 : to.inverse;
        make_powers(order, first, from[3] * to.inverse, power);
        for_each_coefficient(order, shape.max_c, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
            terms[k] = from[expansion_header + k] * power[a + b + c];
        });
        make_derivatives(shape.basis, shape.law, order, to.d, to.s2, to.inverse, field);
        make_powers(order, (real)1, size * to.inverse, power);
        for_each_coefficient(order, shape.max_c, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
            real total;
            contract_coefficient(order, shape.max_c, a, b, c, terms, field, &total);
            sum[k] = fma(power[a + b + c], total, sum[k]);
        });
    }
    real *local = sums_of(task, part, cell, (real)0);
    for (int32_t k = 0; k < shape.count; k++) {
        const real all = sum_of_lanes(sum[k], 32);
        if (lane == k % 32)
            local[k] = part.slot < 0 ? local[k] + all : all;
    }
}

/* A warp a cell with several parts, a coefficient a lane. */
template <typename real>
static __global__ void __launch_bounds__(threads) add_parts(const struct m2l_task task)
{
    const int32_t k = (int32_t)(blockIdx.x * (threads / 32) + threadIdx.x / 32);
    if (k >= task.parts.end - task.parts.first)
        return;
    const struct tree_part_sums of = task.parts.of_cell[k];
    if (of.parts == 0)
        return;
    real *local = (real *)task.locals +
                  ((int64_t)task.target_record + task.parts.first + k) * task.shape.local;
    const real *sums = (const real *)task.parts.sums + of.first * task.shape.local;
    for (int32_t j = threadIdx.x % 32; j < task.shape.count; j += 32) {
        real sum = 0;
#pragma unroll 8
        for (int32_t part = 0; part < of.parts; part++)
            sum += sums[(int64_t)part * task.shape.local + j];
        local[j] += sum;
    }
}

template <expansion_basis basis, int order>
static bool launch_fixed(cudaStream_t stream, kith_dtype dtype, const struct m2l_task &task)
{
    const unsigned blocks = blocks_for(task.parts.most, threads / 32);
    if (task.shape.basis != basis || task.shape.order != order)
        return false;
    if (dtype == KITH_F64)
        m2l_fixed<fixed<basis, order>, double><<<blocks, threads, 0, stream>>>(task);
    else
        m2l_fixed<fixed<basis, order>, float><<<blocks, threads, 0, stream>>>(task);
    return true;
}

static kith_status meet(kith_context *context, kith_dtype dtype, const struct m2l_task &task,
                        const struct expansion_angles *angles)
{
    const cudaStream_t stream = cuda_stream(context);
    const bool is_fixed = launch_fixed<expansion_harmonic, 4>(stream, dtype, task) ||
                          launch_fixed<expansion_harmonic, 5>(stream, dtype, task) ||
                          launch_fixed<expansion_harmonic, 6>(stream, dtype, task) ||
                          launch_fixed<expansion_harmonic, 8>(stream, dtype, task) ||
                          launch_fixed<expansion_full, 4>(stream, dtype, task) ||
                          launch_fixed<expansion_full, 5>(stream, dtype, task) ||
                          launch_fixed<expansion_full, 6>(stream, dtype, task);
    if (is_fixed)
        return cuda_check_launch("meeting far cells of a tree");
    if (m2l_can_rotate(task.shape, dtype))
        return m2l_meet_rotated(context, task, angles);
    return with_real_and_room(dtype, room_for(task.shape, 0), [&](auto of, auto room) {
        m2l_any<decltype(of), decltype(room)::value>
            <<<blocks_for(task.parts.most, threads / 32), threads, 0, stream>>>(task);
        return cuda_check_launch("meeting far cells of a tree");
    });
}

kith_status tree_m2l_cuda(kith_context *context, const struct tree_expansions_cuda *expansions,
                          const struct octree_cell *cells, const struct tree_batch *batch,
                          struct tree_parts_memory *memory)
{
    const cudaStream_t stream = cuda_stream(context);
    struct m2l_task task = {expansion_shape_of(&expansions->expansion),
                            expansions->target_record,
                            {},
                            batch->lists,
                            batch->far,
                            expansions->records,
                            expansions->locals};
    if (batch->far_count == 0)
        return KITH_OK;
    KITH_TRY(tree_divide_cuda(context, tree_list_far, far_of_part,
                              task.shape.local * kith_dtype_bytes(expansions->dtype), cells, batch,
                              memory, &task.parts));
    KITH_TRY(meet(context, expansions->dtype, task,
                  (const struct expansion_angles *)expansions->angles));
    const unsigned blocks = blocks_for(batch->end - batch->first, threads / 32);
    if (expansions->dtype == KITH_F64)
        add_parts<double><<<blocks, threads, 0, stream>>>(task);
    else
        add_parts<float><<<blocks, threads, 0, stream>>>(task);
    return cuda_check_launch("meeting far cells of a tree");
}
