#ifndef TREE_M2L_KERNELS_CUDA_CUH
#define TREE_M2L_KERNELS_CUDA_CUH

/* M2L of any law: a kernel of a constant order, and one for all orders. */

#include "tree/m2l_cuda.cuh"
#include "tree/radial_cuda.cuh"

enum { m2l_threads = 128 };

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
static __device__ __forceinline__ void make_fixed_derivatives(const real d[3], real *base, real *e)
{
    constexpr int order = known::order;
    constexpr bool harmonic = known::basis == expansion_harmonic;
    real before[order + 1];
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
    for_each_second_in_z<known>([&](int second, int x, int y) { e[second] = -(e[x] + e[y]); });
}

template <typename known, typename real, typename radial>
static __global__ void __launch_bounds__(m2l_threads)
    m2l_fixed(const struct m2l_task task, const radial of_law)
{
    const int64_t index = (int64_t)blockIdx.x * (m2l_threads / 32) + threadIdx.x / 32;
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
        real power[order + 1], base[order + 1], field[known::derivatives], terms[known::count + 3];
        const real4_of<real> head = record[0];
        const real from[3] = {head.x, head.y, head.z};
        load_fixed<known>(record + 1, terms);
        const struct expansion_direction<real> to =
            look_at(from, x, size, (real)task.shape.softening);
        power[0] = of_law.first(task.shape, to.inverse);
#pragma unroll
        for (int n = 1; n <= order; n++)
            power[n] = power[n - 1] * (head.w * to.inverse);
        scale_fixed<known>(power, terms);
        of_law.template make_fixed<order>(task.shape, to.s2, to.inverse, base);
        make_fixed_derivatives<known>(to.d, base, field);
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

template <typename real, int room, typename radial>
static __global__ void __launch_bounds__(m2l_threads)
    m2l_any(const struct m2l_task task, const radial of_law)
{
    const int64_t index = (int64_t)blockIdx.x * (m2l_threads / 32) + threadIdx.x / 32;
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
    real sum[room], field[room], terms[room], power[expansion_max_full + 1];
    for (int32_t k = 0; k < shape.count; k++)
        sum[k] = 0;
    for (int32_t j = lane; j < count; j += 32) {
        const real *from = records + (int64_t)far[j] * shape.record;
        const struct expansion_direction<real> to =
            look_at(from, target, size, (real)shape.softening);
        make_powers(order, of_law.first(shape, to.inverse), from[3] * to.inverse, power);
        for_each_coefficient(order, shape.max_c, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
            terms[k] = from[expansion_header + k] * power[a + b + c];
        });
        make_derivatives_of(of_law, shape, order, to, field);
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

template <typename radial>
static kith_status launch_m2l_any(cudaStream_t stream, kith_dtype dtype,
                                  const struct m2l_task &task, const radial &of_law)
{
    return with_real_and_room(dtype, room_for(task.shape, 0), [&](auto of, auto room) {
        m2l_any<decltype(of), decltype(room)::value>
            <<<blocks_for(task.parts.most, m2l_threads / 32), m2l_threads, 0, stream>>>(task,
                                                                                        of_law);
        return cuda_check_launch("meeting far cells of a tree");
    });
}

#endif
