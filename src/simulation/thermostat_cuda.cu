/* Thermostats on a GPU. */

#include "core/philox.h"
#include "device/cuda_state.h"
#include "simulation/thermostat_cuda.h"

enum { threads = 256, most_blocks = 128 };

/* The mass and the momentum, or twice the kinetic energy: of a block, or of all. */
struct sums {
    double value[4];
};

static unsigned blocks_for(int64_t count)
{
    const int64_t blocks = (count + threads - 1) / threads, most = most_blocks;
    return (unsigned)(blocks < most ? blocks : most);
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

template <typename real>
static __global__ void stir_bodies(const struct thermostat_bodies bodies,
                                   const struct cutoff_noise noise)
{
    for (int64_t i = own_number(); i < bodies.count; i += (int64_t)gridDim.x * threads) {
        double normal[4];
        philox_normals(noise.key, bodies.first + i, noise.first_step, normal);
        const double kick = noise.kick / sqrt((double)((const real *)bodies.mass)[i]);
        for (int c = 0; c < bodies.dimensions; c++) {
            real *velocity = (real *)bodies.velocity[c] + i;
            *velocity = (real)fma(noise.keep, (double)*velocity, kick * normal[c]);
        }
    }
}

/* about: of the motion about a center; else mass and momentum. */
template <typename real>
static __global__ void sum_bodies(const struct thermostat_bodies bodies, bool about,
                                  double center_x, double center_y, double center_z,
                                  struct sums *of_blocks)
{
    __shared__ struct sums part[threads];
    const double center[3] = {center_x, center_y, center_z};
    struct sums own = {};
    for (int64_t i = own_number(); i < bodies.count; i += (int64_t)gridDim.x * threads) {
        const double mass = (double)((const real *)bodies.mass)[i];
        own.value[0] += about ? 0 : mass;
        for (int c = 0; c < bodies.dimensions; c++) {
            const double v = (double)((const real *)bodies.velocity[c])[i] - center[c];
            if (about)
                own.value[0] += mass * v * v;
            else
                own.value[1 + c] += mass * v;
        }
    }
    part[threadIdx.x] = own;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            for (int k = 0; k < 4; k++)
                part[threadIdx.x].value[k] += part[threadIdx.x + half].value[k];
    }
    if (threadIdx.x == 0)
        of_blocks[blockIdx.x] = part[0];
}

template <typename real>
static __global__ void rescale_bodies(const struct thermostat_bodies bodies, double center_x,
                                      double center_y, double center_z, double factor)
{
    const double center[3] = {center_x, center_y, center_z};
    for (int64_t i = own_number(); i < bodies.count; i += (int64_t)gridDim.x * threads)
        for (int c = 0; c < bodies.dimensions; c++) {
            real *velocity = (real *)bodies.velocity[c] + i;
            *velocity = (real)fma(factor, (double)*velocity - center[c], center[c]);
        }
}

static kith_status stir(kith_context *context, const struct thermostat_bodies *bodies,
                        const struct cutoff_noise *noise)
{
    if (bodies->count == 0)
        return KITH_OK;
    const unsigned blocks = (unsigned)((bodies->count + threads - 1) / threads);
    if (bodies->dtype == KITH_F64)
        stir_bodies<double><<<blocks, threads, 0, cuda_stream(context)>>>(*bodies, *noise);
    else
        stir_bodies<float><<<blocks, threads, 0, cuda_stream(context)>>>(*bodies, *noise);
    return cuda_check_launch("changing velocities at random");
}

static kith_status sum(kith_context *context, const struct thermostat_bodies *bodies, bool about,
                       const double center[3], struct sums *all)
{
    struct sums of_blocks[most_blocks];
    void *own = NULL;
    const unsigned blocks = blocks_for(bodies->count);
    const cudaStream_t stream = cuda_stream(context);
    KITH_TRY(cuda_scratch(context, sizeof of_blocks, &own));
    if (bodies->dtype == KITH_F64)
        sum_bodies<double><<<blocks, threads, 0, stream>>>(*bodies, about, center[0], center[1],
                                                           center[2], (struct sums *)own);
    else
        sum_bodies<float><<<blocks, threads, 0, stream>>>(*bodies, about, center[0], center[1],
                                                          center[2], (struct sums *)own);
    KITH_TRY(cuda_check_launch("measuring the temperature"));
    KITH_TRY(cuda_copy_out(context, of_blocks, own, blocks * (int64_t)sizeof(struct sums)));
    *all = {};
    for (unsigned block = 0; block < blocks; block++)
        for (int k = 0; k < 4; k++)
            all->value[k] += of_blocks[block].value[k];
    return KITH_OK;
}

static kith_status measure(kith_context *context, const struct thermostat_bodies *bodies,
                           double center[3], double *twice_kinetic)
{
    const double none[3] = {0, 0, 0};
    struct sums all;
    KITH_TRY(sum(context, bodies, false, none, &all));
    for (int c = 0; c < 3; c++)
        center[c] = all.value[1 + c] / all.value[0];
    KITH_TRY(sum(context, bodies, true, center, &all));
    *twice_kinetic = all.value[0];
    return KITH_OK;
}

static kith_status rescale(kith_context *context, const struct thermostat_bodies *bodies,
                           const double center[3], double factor)
{
    const unsigned blocks = (unsigned)((bodies->count + threads - 1) / threads);
    if (bodies->dtype == KITH_F64)
        rescale_bodies<double><<<blocks, threads, 0, cuda_stream(context)>>>(
            *bodies, center[0], center[1], center[2], factor);
    else
        rescale_bodies<float><<<blocks, threads, 0, cuda_stream(context)>>>(
            *bodies, center[0], center[1], center[2], factor);
    return cuda_check_launch("rescaling velocities");
}

const struct thermostat_backend thermostat_cuda = {stir, measure, rescale};
