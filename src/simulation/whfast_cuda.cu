/* Steps of whfast on a GPU: two planets in each thread, a system in a part of a warp, with all of
 * its state in registers, and the arithmetic of the CPU's kernels (whfast_step.h).
 *
 * Of eight planets each takes 193 instructions of double precision a step in democratic
 * heliocentric coordinates and 236 in Jacobi's. The units of an H200, 64 in each of 132
 * multiprocessors at 1.98 GHz, would do these for a system in 0.092 and 0.113 ns. But a scheduler
 * reads two registers per cycle, and a fused multiply-add of doubles has up to six: all that a warp
 * reads in a step takes 924 and 1150 cycles, 0.110 and 0.138 ns of a system. Measured are 0.125
 * and 0.159 ns. Twelve warps of a multiprocessor do not take less than eight, and sixteen, whose
 * registers spill, more. Numbers of single precision are read through the same ports: a fused
 * multiply-add of doubles takes 2.05 cycles, of three different registers 3.05, and one of floats
 * between them 1.6 more. Work for the idle units of single precision is not free. */

#include "simulation/whfast_cuda.h"

#include "core/status.h"
#include "device/cuda.h"
#include "kith/ensemble.h"
#include "simulation/whfast_frames.h"

/* Planets of a thread, whose instructions fill each other's latencies, and blocks of a
 * multiprocessor, for 168 registers. */
enum { block_threads = 128, slots = 2, step_blocks = 3 };

/* A problem as kernels see it, with the pointers of whfast_problem. */
struct whfast_device {
    const double *mass;
    double *position[3], *velocity[3];
    double *kept_position[3], *kept_velocity[3], *lost_position[3], *lost_velocity[3];
    int64_t systems, stride; /* body i of system s is element i·stride + s */
    int64_t planets, steps;
    /* Of parts of one system, each in the place of a system: those that lead, and as many others.
     */
    int64_t leading; /* 0: there are no parts */
    int64_t all;     /* planets, of the one system */
    int64_t center;  /* the body whose elements are of the center of mass */
    double g, h;
    struct whfast_choice choice; /* its corrector is the next */
    struct whfast_corrector corrector;
};

/* The planets of a thread. */
struct whfast_lane {
    vdouble q[3 * slots], v[3 * slots], lost_q[3 * slots], lost_v[3 * slots];
    vdouble x[3 * slots], dx[3 * slots], a[3 * slots], pull[3 * slots], terms[3 * slots];
    vdouble saved[6 * slots];
    vdouble mass[slots], mu[slots], share[slots], part[slots], jump[slots];
    vdouble inverse[slots], ratio[slots], kick[slots];
};

SIMD_INLINE void point_to(struct whfast_lane &lane, struct whfast_planets &p)
{
    p.q = lane.q;
    p.v = lane.v;
    p.lost_q = lane.lost_q;
    p.lost_v = lane.lost_v;
    p.x = lane.x;
    p.dx = lane.dx;
    p.a = lane.a;
    p.pull = lane.pull;
    p.terms = lane.terms;
    p.saved = lane.saved;
    p.mass = lane.mass;
    p.mu = lane.mu;
    p.share = lane.share;
    p.part = lane.part;
    p.jump = lane.jump;
    p.inverse = lane.inverse;
    p.ratio = lane.ratio;
    p.kick = lane.kick;
    p.source = p.is_source = nullptr;
    p.sources = 0;
}

/* The system of this thread, which may be after the last: then nothing is stored. */
SIMD_INLINE int64_t system_of(const struct whfast_layout layout)
{
    return ((int64_t)blockIdx.x * block_threads + threadIdx.x) / layout.lanes;
}

SIMD_INLINE bool is_there(const struct whfast_device &problem, const struct whfast_layout layout)
{
    return system_of(layout) < problem.systems;
}

/* The planet of vector k. */
SIMD_INLINE int64_t planet_of(const struct whfast_layout layout, int64_t k)
{
    return 2 * whfast_lane_of(layout) + k;
}

/* Planet i of a system, or of the system of a part. */
SIMD_INLINE int64_t planet_of_all(const struct whfast_device &problem,
                                  const struct whfast_layout layout, int64_t i)
{
    return i < problem.leading ? i : i + system_of(layout) * problem.leading;
}

SIMD_INLINE bool has_planet(const struct whfast_device &problem, const struct whfast_layout layout,
                            int64_t k)
{
    const int64_t i = planet_of(layout, k);
    return is_there(problem, layout) && i < problem.planets &&
           (problem.leading == 0 || planet_of_all(problem, layout, i) < problem.all);
}

SIMD_INLINE int64_t at_body(const struct whfast_device &problem, const struct whfast_layout layout,
                            int64_t body)
{
    return problem.leading > 0 ? body : body * problem.stride + system_of(layout);
}

/* The element of the planet of vector k, of arrays in which body `first` is the first planet. */
SIMD_INLINE int64_t at_planet(const struct whfast_device &problem,
                              const struct whfast_layout layout, int64_t first, int64_t k)
{
    const int64_t i = planet_of(layout, k);
    return at_body(problem, layout,
                   first + (problem.leading > 0 ? planet_of_all(problem, layout, i) : i));
}

/* Planets of parts that do not lead have no mass. */
SIMD_INLINE double mass_of(const struct whfast_device &problem, const struct whfast_layout layout,
                           int64_t i)
{
    return problem.leading > 0 && i >= problem.leading
               ? 0
               : problem.mass[at_body(problem, layout, i + 1)];
}

/* What follows from the masses. */
SIMD_INLINE void load_masses(const struct whfast_device &problem, const struct whfast_layout layout,
                             struct whfast_planets &p)
{
    const bool there = is_there(problem, layout);
    const double star = there ? problem.mass[at_body(problem, layout, 0)] : 1;
    double all = star, before = star;
    for (int64_t i = 0; there && i < problem.planets; i++)
        all += mass_of(problem, layout, i);
    p.g = problem.g;
    p.star_gm = there ? problem.g * star : 0;
#pragma unroll
    for (int64_t k = 0; k < layout.slots; k++) {
        p.mass[k] = p.mu[k] = p.share[k] = p.part[k] = p.jump[k] = 0;
        p.inverse[k] = p.ratio[k] = p.kick[k] = 0;
    }
    for (int64_t i = 0; there && i < problem.planets; i++) {
        const double m = mass_of(problem, layout, i);
#pragma unroll
        for (int64_t k = 0; k < layout.slots; k++)
            if (planet_of(layout, k) == i) {
                const struct whfast_numbers of =
                    whfast_numbers_of(p.is_jacobi, problem.g, star, before, m, all);
                p.mass[k] = m;
                p.mu[k] = of.mu;
                p.share[k] = of.share;
                p.part[k] = of.part;
                p.jump[k] = of.jump;
                p.inverse[k] = of.inverse;
                p.ratio[k] = of.ratio;
                p.kick[k] = of.kick;
            }
        before += m;
    }
}

/* Vectors of the bodies from `first` on, those of planets; after them bodies at rest at a distance
 * of `behind`. */
SIMD_INLINE void load_vectors(const struct whfast_device &problem,
                              const struct whfast_layout layout, double *const (&from)[3],
                              int64_t first, double behind, vdouble *to)
{
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
#pragma unroll
        for (int64_t k = 0; k < layout.slots; k++) {
            const bool has = has_planet(problem, layout, k);
            const int64_t at = at_planet(problem, layout, first, k);
            to[c * layout.slots + k] = !has ? (c == 0 ? behind : 0) : from[c] ? from[c][at] : 0;
        }
}

/* As in whfast_kernel.c, + 0 makes −0 to 0. */
SIMD_INLINE void store_vectors(const struct whfast_device &problem,
                               const struct whfast_layout layout, const vdouble *from,
                               int64_t first, double *const (&to)[3])
{
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
#pragma unroll
        for (int64_t k = 0; k < layout.slots; k++)
            if (to[c] && has_planet(problem, layout, k) && planet_of(layout, k) >= problem.leading)
                to[c][at_planet(problem, layout, first, k)] = from[c * layout.slots + k] + 0.0;
}

/* A vector of the system. */
SIMD_INLINE void load_vector(const struct whfast_device &problem, const struct whfast_layout layout,
                             double *const (&from)[3], int64_t body, vdouble to[3])
{
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
        to[c] = from[c] && is_there(problem, layout) ? from[c][at_body(problem, layout, body)] : 0;
}

SIMD_INLINE void store_vector(const struct whfast_device &problem,
                              const struct whfast_layout layout, const vdouble from[3],
                              int64_t body, double *const (&to)[3])
{
#pragma unroll
    for (int32_t c = 0; c < 3; c++)
        if (to[c] && is_there(problem, layout) && whfast_lane_of(layout) == 0 &&
            problem.leading == 0)
            to[c][at_body(problem, layout, body)] = from[c] + 0.0;
}

SIMD_INLINE void load_kept(const struct whfast_device &problem, const struct whfast_layout layout,
                           struct whfast_planets &p)
{
    load_vectors(problem, layout, problem.kept_position, 0, 1, p.q);
    load_vectors(problem, layout, problem.kept_velocity, 0, 0, p.v);
    load_vectors(problem, layout, problem.lost_position, 0, 0, p.lost_q);
    load_vectors(problem, layout, problem.lost_velocity, 0, 0, p.lost_v);
}

SIMD_INLINE void store_kept(const struct whfast_device &problem, const struct whfast_layout layout,
                            const struct whfast_planets &p)
{
    store_vectors(problem, layout, p.q, 0, problem.kept_position);
    store_vectors(problem, layout, p.v, 0, problem.kept_velocity);
    store_vectors(problem, layout, p.lost_q, 0, problem.lost_position);
    store_vectors(problem, layout, p.lost_v, 0, problem.lost_velocity);
}

/* Makes the state that is kept from positions and velocities. */
static __global__ void __launch_bounds__(block_threads)
    begin_kernel(const __grid_constant__ struct whfast_device problem,
                 const struct whfast_layout layout)
{
    struct whfast_lane lane;
    struct whfast_planets p;
    p.layout = layout;
    p.planets = problem.planets;
    p.is_jacobi = problem.choice.coordinates == whfast_jacobi;
    point_to(lane, p);
    load_masses(problem, layout, p);
    vdouble star[3], star_velocity[3];
    load_vector(problem, layout, problem.position, 0, star);
    load_vector(problem, layout, problem.velocity, 0, star_velocity);
    load_vectors(problem, layout, problem.position, 1, 1, p.q);
    load_vectors(problem, layout, problem.velocity, 1, 0, p.v);
    for (int32_t c = 0; c < 3; c++)
        for (int64_t k = 0; k < layout.slots; k++)
            if (has_planet(problem, layout, k)) {
                p.q[c * layout.slots + k] -= star[c];
                p.v[c * layout.slots + k] -= star_velocity[c];
            }
    begin_planets(&p, star, star_velocity);
    correct(&p, &problem.corrector, problem.h);
    drift_any(&p, first_drift(problem.choice.kernel) * problem.h);
    drift_center(&p, first_drift(problem.choice.kernel) * problem.h);
    store_kept(problem, layout, p);
    store_vector(problem, layout, p.center, problem.center, problem.kept_position);
    store_vector(problem, layout, p.center_velocity, problem.center, problem.kept_velocity);
    store_vector(problem, layout, p.lost_center, problem.center, problem.lost_position);
}

/* Makes positions and velocities from the state that is kept. */
static __global__ void __launch_bounds__(block_threads)
    end_kernel(const __grid_constant__ struct whfast_device problem,
               const struct whfast_layout layout)
{
    struct whfast_lane lane;
    struct whfast_planets p;
    p.layout = layout;
    p.planets = problem.planets;
    p.is_jacobi = problem.choice.coordinates == whfast_jacobi;
    point_to(lane, p);
    load_masses(problem, layout, p);
    load_kept(problem, layout, p);
    load_vector(problem, layout, problem.kept_position, problem.center, p.center);
    load_vector(problem, layout, problem.kept_velocity, problem.center, p.center_velocity);
    load_vector(problem, layout, problem.lost_position, problem.center, p.lost_center);
    vdouble star[3], star_velocity[3];
    drift_any(&p, -first_drift(problem.choice.kernel) * problem.h);
    drift_center(&p, -first_drift(problem.choice.kernel) * problem.h);
    correct_back(&p, &problem.corrector, problem.h);
    end_planets(&p, star, star_velocity);
    store_vectors(problem, layout, p.q, 1, problem.position);
    store_vectors(problem, layout, p.v, 1, problem.velocity);
    store_vector(problem, layout, star, 0, problem.position);
    store_vector(problem, layout, star_velocity, 0, problem.velocity);
}

/* The center of mass of each system, a component in each thread. */
static __global__ void __launch_bounds__(block_threads)
    center_kernel(const __grid_constant__ struct whfast_device problem)
{
    const int64_t system = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int32_t c = (int32_t)blockIdx.y;
    if (system >= problem.systems || !problem.kept_position[c])
        return;
    const int64_t at = problem.center * problem.stride + system;
    vdouble center = problem.kept_position[c][at], lost = problem.lost_position[c][at];
    const vdouble velocity = problem.kept_velocity[c][at];
    for (int64_t step = 0; step < problem.steps; step++)
        center = whfast_add(center, simd_fma(velocity, problem.h, lost), &lost);
    problem.kept_position[c][at] = center + 0.0;
    problem.lost_position[c][at] = lost + 0.0;
}

template <int lanes, int kernel, bool is_jacobi>
static __global__ void __launch_bounds__(block_threads, step_blocks)
    step_kernel(const __grid_constant__ struct whfast_device problem, const struct whfast_layout)
{
    const struct whfast_layout layout = {false, slots, lanes};
    struct whfast_lane lane;
    struct whfast_planets p;
    p.layout = layout;
    p.planets = problem.planets;
    p.is_jacobi = is_jacobi;
    point_to(lane, p);
    load_masses(problem, layout, p);
    load_kept(problem, layout, p);
    /* Two steps in turn need no copies of the state. */
#pragma unroll(kernel == whfast_default && lanes <= 8 ? 2 : 1)
    for (int64_t step = 0; step < problem.steps; step++)
        step_at_once(&p, layout, (enum whfast_kernel)kernel, is_jacobi, problem.h);
    store_kept(problem, layout, p);
}

/* The same by compositions, which are functions for any number of threads. */
static __global__ void __launch_bounds__(block_threads, step_blocks)
    compose_kernel(const __grid_constant__ struct whfast_device problem,
                   const struct whfast_layout layout)
{
    struct whfast_lane lane;
    struct whfast_planets p;
    p.layout = layout;
    p.planets = problem.planets;
    p.is_jacobi = true;
    point_to(lane, p);
    load_masses(problem, layout, p);
    load_kept(problem, layout, p);
    for (int64_t step = 0; step < problem.steps; step++) {
        compose(&p, problem.h);
        drift_any(&p, problem.h);
    }
    store_kept(problem, layout, p);
}

typedef void step_function(const struct whfast_device, const struct whfast_layout);

/* Of the choices that a step has. */
template <int lanes> static step_function *step_function_of(const struct whfast_choice *choice)
{
    if (choice->coordinates != whfast_jacobi)
        return step_kernel<lanes, whfast_default, false>;
    switch (choice->kernel) {
    case whfast_default:
        return step_kernel<lanes, whfast_default, true>;
    case whfast_lazy:
        return step_kernel<lanes, whfast_lazy, true>;
    case whfast_modified_kick:
        return step_kernel<lanes, whfast_modified_kick, true>;
    default:
        return compose_kernel;
    }
}

static struct whfast_device device_of(const struct whfast_problem *problem)
{
    const struct forces_problem *forces = problem->forces;
    struct whfast_device device = {};
    device.mass = (const double *)forces->source_mass;
    for (int32_t c = 0; c < 3; c++) {
        device.position[c] = problem->all.position[c];
        device.velocity[c] = problem->all.velocity[c];
        device.kept_position[c] = problem->all.kept_position[c];
        device.kept_velocity[c] = problem->all.kept_velocity[c];
        device.lost_position[c] = problem->all.lost_position[c];
        device.lost_velocity[c] = problem->all.lost_velocity[c];
    }
    device.systems = forces->system_count > 0 ? forces->system_count : 1;
    device.stride = forces->system_count > 0 ? forces->system_stride : 1;
    device.planets = device.all = device.center = forces->target_count - 1;
    device.steps = problem->steps;
    device.g = forces->gravitational_constant;
    device.h = problem->h;
    device.choice = problem->choice;
    device.choice.corrector = nullptr;
    device.corrector = *problem->choice.corrector;
    return device;
}

/* The threads of a system: a power of two. */
static struct whfast_layout layout_of(int64_t planets)
{
    struct whfast_layout layout = {false, slots, 1};
    while (slots * layout.lanes < planets)
        layout.lanes *= 2;
    return layout;
}

static step_function *choose_steps(const struct whfast_layout layout,
                                   const struct whfast_choice *choice)
{
    switch (layout.lanes) {
    case 1:
        return step_function_of<1>(choice);
    case 2:
        return step_function_of<2>(choice);
    case 4:
        return step_function_of<4>(choice);
    case 8:
        return step_function_of<8>(choice);
    case 16:
        return step_function_of<16>(choice);
    default:
        return step_function_of<32>(choice);
    }
}

/* What is launched together: a system or those of an ensemble; or of one large system first the
 * parts of bodies without mass and then those that lead, which the parts read. */
struct whfast_launch {
    struct whfast_device device[2];
    struct whfast_layout layout;
    int32_t count;
};

static int64_t power_of_two_from(int64_t number)
{
    int64_t power = 1;
    while (power < number)
        power *= 2;
    return power;
}

/* A part leads to half: with more others in a part there were more pairs in which neither has mass.
 */
static struct whfast_launch launch_of(const struct whfast_problem *problem)
{
    struct whfast_launch launch = {};
    struct whfast_device &parts = launch.device[0], &lead = launch.device[1];
    parts = lead = device_of(problem);
    if (problem->forces->system_count > 0 || parts.all < kith_most_bodies_of_system) {
        launch.layout = layout_of(parts.planets);
        launch.count = 1;
        return launch;
    }
    parts.leading = lead.planets = power_of_two_from(problem->last_with_mass);
    parts.planets = 2 * parts.leading;
    parts.systems = (parts.all - 1) / parts.leading; /* those that lead are one part */
    launch.layout = layout_of(parts.planets);
    launch.count = 2;
    return launch;
}

static unsigned blocks_of(const struct whfast_device &device, const struct whfast_layout layout)
{
    const int64_t in_block = block_threads / layout.lanes;
    return (unsigned)((device.systems + in_block - 1) / in_block);
}

static kith_status start(kith_context *context, const struct whfast_launch &launch,
                         step_function *kernel, const char *what)
{
    for (int32_t k = 0; k < launch.count; k++) {
        const struct whfast_device &device = launch.device[k];
        kernel<<<blocks_of(device, launch.layout), block_threads, 0, cuda_stream(context)>>>(
            device, launch.layout);
        KITH_TRY(cuda_check_launch(what));
    }
    return KITH_OK;
}

kith_status whfast_cuda(kith_context *context, const struct whfast_problem *problem)
{
    const struct whfast_launch launch = launch_of(problem);
    const struct whfast_device &last = launch.device[launch.count - 1];
    if (problem->begins)
        KITH_TRY(start(context, launch, begin_kernel,
                       "starting the kernel of the coordinates of planets"));
    if (problem->steps > 0) {
        const dim3 centers((unsigned)((last.systems + block_threads - 1) / block_threads), 3);
        KITH_TRY(start(context, launch, choose_steps(launch.layout, &problem->choice),
                       "starting the kernel of the steps of whfast"));
        center_kernel<<<centers, block_threads, 0, cuda_stream(context)>>>(last);
        KITH_TRY(cuda_check_launch("starting the kernel of centers of mass"));
    }
    if (problem->ends)
        KITH_TRY(
            start(context, launch, end_kernel, "starting the kernel of the positions of planets"));
    return KITH_OK;
}
