/* The choice of the device for a computation, by a model of its time on each. */

#include "device/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/arguments.h"
#include "core/processor.h"
#include "device/services.h"

/* Times of a kind of work: of a call, of a row that is copied to the GPU and back, and units per
 * second in double and single precision. The CPU's rates are those of one thread. Measured on a
 * core of an AMD EPYC (Zen 4) and an H200; each row names the tables of docs/performance.md.
 *
 * A body of a call from host arrays takes 12 ns more than on the device: 0.8 ms at 65 536 bodies of
 * 32 bytes in and out, 0.37 ns per byte. Other rows are as many bytes as they have. */
struct cost {
    double cpu_call, cpu_rate[2];
    double gpu_call, gpu_row, gpu_rate[2];
};

static const struct cost costs[] = {
    /* all-pairs forces on a CPU (N = 1000) and on a GPU, host arrays */
    [KITH_WORK_FORCES] = {0.4e-6, {2.4e9, 4.7e9}, 22e-6, 12e-9, {1150e9, 2400e9}},
    /* steps of small systems (6 bodies 0.03 µs, 64 bodies 1.9 µs); on a GPU 1.2 and 1.8 µs at 64 */
    [KITH_WORK_STEPS] = {0.01e-6, {2.1e9, 4.2e9}, 1.5e-6, 0, {1150e9, 2400e9}},
    /* matrix times vector without storage, gaussian */
    [KITH_WORK_PRODUCT] = {0.4e-6, {1.1e9, 2.27e9}, 22e-6, 12e-9, {1275e9, 2550e9}},
    /* matrices of pairs on a CPU; each element comes back to the host */
    [KITH_WORK_MATRIX] = {0.4e-6, {1.1e9, 2.15e9}, 22e-6, 12e-9, {0.33e9, 0.67e9}},
    /* pairs of 10⁶ points; 50 pairs per point, of 16 bytes, come back to the host */
    [KITH_WORK_PAIRS] = {0.4e-6, {1.5e6, 2.1e6}, 70e-6, 300e-9, {0.9e9, 0.9e9}},
    /* lattice collisions, random walk; a bead is 24 bytes */
    [KITH_WORK_COLLISIONS] = {0.1e-6, {0.18e9, 0.18e9}, 22e-6, 9e-9, {60e9, 60e9}},
    /* sparse products, random; an entry is 12 bytes to copy to the GPU */
    [KITH_WORK_SPARSE] = {0.4e-6, {0.6e9, 0.6e9}, 22e-6, 12e-9, {0.22e9, 0.22e9}},
    /* matrix times vector without storage, gaussian; on a GPU forces by a formula */
    [KITH_WORK_SUMS] = {0.4e-6, {1.1e9, 2.27e9}, 22e-6, 12e-9, {700e9, 1400e9}},
    /* sums over 50 neighbors a point, a cell list included (docs/sums.md); calls as those of pairs
     */
    [KITH_WORK_NEAR] = {0.4e-6, {2.0e6, 2.8e6}, 70e-6, 12e-9, {1.06e9, 1.67e9}},
    /* a Lennard-Jones melt within a cutoff (docs/forces.md) */
    [KITH_WORK_NEAR_STEPS] = {0.1e-6, {3.4e6, 3.6e6}, 15e-6, 0, {1.4e9, 1.8e9}},
    /* 10⁵ ions at an error of 1e-4 (docs/periodic.md); a first call on a GPU also makes the plans
     * of the mesh's transforms */
    [KITH_WORK_IMAGES] = {0.4e-6, {1e6, 1e6}, 30e-3, 12e-9, {1.5e8, 1.5e8}},
    [KITH_WORK_IMAGES_STEPS] = {0.1e-6, {1e6, 1e6}, 0.2e-3, 0, {1.5e8, 1.5e8}},
};
enum { kinds = sizeof costs / sizeof costs[0] };

#ifdef KITH_HAS_FFTW
static const bool has_mesh = true;
#else
static const bool has_mesh = false;
#endif

/* A thread more is woken for each 20 µs of work (device/threads.c). */
static const double seconds_a_thread = 20e-6;

static double seconds_on_cpu(const kith_work *work, int32_t threads)
{
    const struct cost *cost = &costs[work->kind];
    const double alone = work->units / cost->cpu_rate[work->dtype];
    const double awake = fmin(threads, 1 + floor(alone / seconds_a_thread));
    return cost->cpu_call + alone / awake;
}

static double seconds_on_gpu(const kith_work *work)
{
    const struct cost *cost = &costs[work->kind];
    return cost->gpu_call + cost->gpu_row * work->rows + work->units / cost->gpu_rate[work->dtype];
}

/* In two digits: "3.2 us". */
static void print_seconds(double seconds, char text[16])
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    double value = seconds * 1e9;
    int k = 0;
    for (; value >= 999.5 && k < 3; k++)
        value /= 1000;
    const double step = value >= 99.5 ? pow(10, floor(log10(value)) - 1) : 0;
    if (step > 0)
        snprintf(text, 16, "%.6g %s", fmin(round(value / step) * step, 9e5), unit[k]);
    else
        snprintf(text, 16, "%.2g %s", value, unit[k]);
}

static bool is_of_steps(kith_work_kind kind)
{
    return kind == KITH_WORK_STEPS || kind == KITH_WORK_NEAR_STEPS ||
           kind == KITH_WORK_IMAGES_STEPS;
}

static bool is_of_images(kith_work_kind kind)
{
    return kind == KITH_WORK_IMAGES || kind == KITH_WORK_IMAGES_STEPS;
}

void device_choose_among(const kith_work *work, struct device_choices choices, kith_device *device,
                         char *reason)
{
    char cpu[16], gpu[16], unused[KITH_REASON_BYTES];
    char *to = reason ? reason : unused;
    if (work->data.kind == KITH_CUDA) {
        *device = work->data;
        snprintf(to, KITH_REASON_BYTES, "the arrays are there");
        return;
    }
    *device = (kith_device){KITH_CPU, 0};
    if (!choices.has_gpu) {
        snprintf(to, KITH_REASON_BYTES, "no GPU was found");
        return;
    }
    if (is_of_images(work->kind) && !choices.has_mesh) {
        *device = (kith_device){KITH_CUDA, 0};
        snprintf(to, KITH_REASON_BYTES, "this build has no FFTW for the CPU");
        return;
    }
    const double on_cpu = seconds_on_cpu(work, choices.threads), on_gpu = seconds_on_gpu(work);
    if (on_gpu < on_cpu)
        *device = (kith_device){KITH_CUDA, 0};
    print_seconds(on_cpu, cpu);
    print_seconds(on_gpu, gpu);
    snprintf(to, KITH_REASON_BYTES, "an estimated %s%s on the CPU, %s on cuda:0", cpu,
             is_of_steps(work->kind) ? " a step" : "", gpu);
}

static bool has_gpu(void)
{
    struct device_kind kind;
    for (int32_t k = 0; (kind = device_kind_at(k)).services; k++) {
        const char *note = NULL;
        if (kind.services->kind == KITH_CUDA)
            return kind.services->device_count(&note) > 0;
    }
    return false;
}

static kith_status check(const kith_work *work)
{
    if ((unsigned)work->kind >= kinds)
        return kith_fail(KITH_INVALID_ARGUMENT, "work.kind is %d; give a kith_work_kind",
                         (int)work->kind);
    if (work->dtype != KITH_F64 && work->dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "work.dtype is %d; give float64 or float32",
                         (int)work->dtype);
    if (!isfinite(work->units) || work->units < 0 || !isfinite(work->rows) || work->rows < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "work has %g units and %g rows; give finite numbers of at least 0",
                         work->units, work->rows);
    if (work->threads < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "work.threads is %d; give at least 1, or 0 for one per core",
                         (int)work->threads);
    return KITH_OK;
}

kith_status kith_device_choose(const kith_work *work, kith_device *device, char *reason)
{
    KITH_TRY(kith_check_pointer(work, "work"));
    KITH_TRY(kith_check_pointer(device, "device"));
    KITH_TRY(check(work));
    bool is_asked = false;
    const struct device_choices choices = {
        .threads = work->threads > 0 ? work->threads : processor_threads(&is_asked),
        .has_gpu = has_gpu(),
        .has_mesh = has_mesh,
    };
    device_choose_among(work, choices, device, reason);
    return KITH_OK;
}
