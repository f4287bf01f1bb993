/* Ewald's plain sums on the CPU, in double precision. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/estimates.h"
#include "mesh/ewald_kernel.h"
#include "mesh/periodic.h"
#include "mesh/short.h"

static const double pi = 3.14159265358979323846;

/* Particles whose powers are in the cache together; parts of the structure factors' sums, which
 * depend on nothing but the number of particles; and the waves of a part at most. */
enum { particles_at_once = 8, most_parts = 32, particles_of_part = 256 };
static const double most_waves = 0x1p28;

/* Work of a thread per second; decides how many threads to wake, and what the parts
 * cost: of a pair that may be within the cutoff, of a particle in a wave. */
static const double waves_a_second = 1e9, seconds_of_pair = 8e-9, seconds_of_wave = 1.2e-9;

struct waves {
    int32_t most[3];
    int64_t column_count, count, parts;
    struct ewald_column *columns;
    double *real, *imaginary; /* of each part */
    double (*virial)[6];
};

struct job {
    const kith_context *context;
    struct periodic_state *state;
    const struct ewald_kernels *kernels;
    struct waves waves;
    double inverse[3][3]; /* component c of a wave: 2π Σ_k inverse[c][k] (h, k, l)_k */
};

static double cost_of(const struct periodic_system *system, const struct periodic_setting *setting)
{
    const double n = (double)system->count;
    const double pairs = n * 4 * pi / 3 * pow(setting->cutoff, 3) / system->volume;
    const double waves = system->volume * pow(setting->wave_limit, 3) / (12 * pi * pi);
    return n * (seconds_of_pair * pairs + seconds_of_wave * waves);
}

static struct periodic_setting setting_for(const struct periodic_system *system,
                                           const struct periodic_request *request, double alpha,
                                           double error)
{
    struct periodic_setting setting = {.alpha = alpha, .cutoff = request->cutoff};
    if (!(setting.cutoff > 0))
        setting.cutoff = estimate_short_reach(system, alpha, error) / alpha;
    setting.wave_limit = 2 * alpha * estimate_wave_reach(system, alpha, error);
    setting.force_error = hypot(estimate_short(system, alpha, setting.cutoff),
                                estimate_waves(system, alpha, setting.wave_limit));
    return setting;
}

/* The cheapest α of powers of 2^{1/8} around that of cells of one particle, or what is given. */
static struct periodic_setting choose(const struct periodic_system *system,
                                      const struct periodic_request *request)
{
    const double least = periodic_least_force(system);
    const double wanted =
        request->absolute_error > 0 ? request->absolute_error : request->error * least;
    const double part = 0.25 * wanted;
    const double n = (double)(system->count > 0 ? system->count : 1);
    const double middle = cbrt(n / system->volume);
    struct periodic_setting best = {0};
    if (!(system->squares > 0))
        return (struct periodic_setting){.alpha = middle, .cutoff = 1 / middle, .wave_limit = 0};
    if (request->alpha > 0)
        return setting_for(system, request, request->alpha, part);
    if (request->cutoff > 0) {
        double alpha = 1 / request->cutoff;
        for (int k = 0; k < 20; k++)
            alpha = estimate_short_reach(system, alpha, part) / request->cutoff;
        return setting_for(system, request, alpha, part);
    }
    for (int k = -64; k <= 24; k++) {
        const struct periodic_setting setting =
            setting_for(system, request, middle * exp2(k / 8.0), part);
        if (k == -64 || cost_of(system, &setting) < cost_of(system, &best))
            best = setting;
    }
    return best;
}

static void wave_of(const struct job *job, double h, double k, double l, double wave[3])
{
    for (int c = 0; c < 3; c++)
        wave[c] =
            2 * pi * (job->inverse[c][0] * h + job->inverse[c][1] * k + job->inverse[c][2] * l);
}

/* The l of waves within the limit, in the half space. */
static struct ewald_column column_of(const struct job *job, int32_t h, int32_t k)
{
    double wave[3], along[3], dots[3] = {0};
    wave_of(job, h, k, 0, wave);
    wave_of(job, 0, 0, 1, along);
    for (int c = 0; c < 3; c++) {
        dots[0] += wave[c] * wave[c];
        dots[1] += wave[c] * along[c];
        dots[2] += along[c] * along[c];
    }
    const double limit = job->state->setting.wave_limit;
    const double middle = -dots[1] / dots[2];
    const double rest = limit * limit - dots[0] + middle * middle * dots[2];
    struct ewald_column column = {.h = h, .k = k};
    if (!(rest >= 0))
        return column;
    const double reach = sqrt(rest / dots[2]);
    const double first = ceil(middle - reach), last = floor(middle + reach);
    column.first = h == 0 && k == 0 ? 1 : (int32_t)first;
    column.count = last >= column.first ? (int32_t)last - column.first + 1 : 0;
    return column;
}

/* Counts the columns, or lists them. */
static void list_columns(const struct job *job, struct waves *waves)
{
    waves->column_count = waves->count = 0;
    for (int32_t h = 0; h <= waves->most[0]; h++)
        for (int32_t k = h == 0 ? 0 : -waves->most[1]; k <= waves->most[1]; k++) {
            struct ewald_column column = column_of(job, h, k);
            if (column.count == 0)
                continue;
            column.at = waves->count;
            if (waves->columns)
                waves->columns[waves->column_count] = column;
            waves->column_count++;
            waves->count += column.count;
        }
}

static kith_status list_waves(struct job *job)
{
    const struct periodic_system *system = &job->state->system;
    struct waves *waves = &job->waves;
    const double limit = job->state->setting.wave_limit;
    const double expected = system->volume * limit * limit * limit / (12 * pi * pi);
    memcpy(job->inverse, system->lattice.inverse, sizeof job->inverse);
    if (expected > most_waves)
        return kith_fail(KITH_UNSUPPORTED,
                         "ewald needs about %.2g waves at alpha %g; give a smaller alpha, a larger "
                         "error, or use the solver pme",
                         expected, job->state->setting.alpha);
    for (int k = 0; k < 3; k++) {
        const double *a = system->lattice.basis[k];
        const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        waves->most[k] = (int32_t)(limit * length / (2 * pi)) + 1;
    }
    list_columns(job, waves);
    const int64_t n = system->count, parts = (n + particles_of_part - 1) / particles_of_part;
    waves->parts = parts < most_parts ? parts : most_parts;
    const int64_t room = kith_padded(waves->count);
    const int64_t of_columns =
        kith_padded(waves->column_count * (int64_t)sizeof(struct ewald_column));
    KITH_TRY(cpu_memory_grow(&job->state->memory[2],
                             of_columns + 2 * waves->parts * room * (int64_t)sizeof(double)));
    waves->columns = job->state->memory[2].memory;
    waves->real = (double *)(void *)((char *)job->state->memory[2].memory + of_columns);
    waves->imaginary = waves->real + waves->parts * room;
    list_columns(job, waves);
    return KITH_OK;
}

/* Powers of e^{2πi f} of some particles. */
struct powers_memory {
    double *memory;
    struct ewald_powers powers;
};

static kith_status make_powers(const struct job *job, struct powers_memory *made)
{
    const int32_t *most = job->waves.most;
    int32_t longest = 0;
    for (int k = 0; k < 3; k++)
        longest = most[k] > longest ? most[k] : longest;
    const int64_t stride = kith_padded(2 * (int64_t)longest + 1);
    *made = (struct powers_memory){.powers = {.stride = stride}};
    KITH_TRY(kith_allocate(6 * stride * particles_at_once, sizeof(double), "waves of particles",
                           &made->memory));
    for (int k = 0; k < 3; k++) {
        made->powers.most[k] = most[k];
        made->powers.real[k] = made->memory + 2 * k * stride * particles_at_once;
        made->powers.imaginary[k] = made->powers.real[k] + stride * particles_at_once;
    }
    return KITH_OK;
}

static void fill_powers(const struct job *job, int64_t begin, int64_t end,
                        struct ewald_powers *powers)
{
    const struct periodic_state *state = job->state;
    powers->count = end - begin;
    powers->weight = state->weight + begin;
    for (int64_t p = begin; p < end; p++) {
        const double x[3] = {state->position[0][p], state->position[1][p], state->position[2][p]};
        for (int k = 0; k < 3; k++) {
            const double angle = 2 * pi * pairs_fraction(&state->system.lattice, x, k);
            const double c = cos(angle), s = sin(angle);
            double *real = (double *)powers->real[k] + (p - begin) * powers->stride;
            double *imaginary = (double *)powers->imaginary[k] + (p - begin) * powers->stride;
            const int32_t zero = powers->most[k];
            real[zero] = 1;
            imaginary[zero] = 0;
            for (int32_t m = 1; m <= zero; m++) {
                real[zero + m] = real[zero + m - 1] * c - imaginary[zero + m - 1] * s;
                imaginary[zero + m] = real[zero + m - 1] * s + imaginary[zero + m - 1] * c;
                real[zero - m] = real[zero + m];
                imaginary[zero - m] = -imaginary[zero + m];
            }
        }
    }
}

/* Without memory for its powers a part is left out: make_powers is tried before. */
static void gather_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct waves *waves = &job->waves;
    const int64_t n = job->state->system.count, room = kith_padded(waves->count);
    const int64_t begin = n * part / waves->parts, end = n * (part + 1) / waves->parts;
    const struct ewald_waves of_kernel = {waves->column_count, waves->columns,
                                          waves->real + part * room,
                                          waves->imaginary + part * room};
    struct powers_memory made;
    memset(of_kernel.real, 0, (size_t)waves->count * sizeof(double));
    memset(of_kernel.imaginary, 0, (size_t)waves->count * sizeof(double));
    if (make_powers(job, &made) != KITH_OK)
        return;
    for (int64_t p = begin; p < end && !kith_context_stops(job->context); p += particles_at_once) {
        fill_powers(job, p, p + particles_at_once < end ? p + particles_at_once : end,
                    &made.powers);
        job->kernels->gather(&made.powers, &of_kernel);
    }
    free(made.memory);
}

/* S(k) of all parts becomes A(k) = 8π/V e^{−k²/4α²}/k² S(k), for the waves of the half space; the
 * energy's derivatives by strains go to the virial. */
static void weigh(const struct job *job)
{
    struct periodic_state *state = job->state;
    const struct waves *waves = &job->waves;
    const int64_t room = kith_padded(waves->count);
    const double alpha = state->setting.alpha, volume = state->system.volume;
    for (int64_t at = 0; at < waves->column_count; at++) {
        const struct ewald_column *column = &waves->columns[at];
        for (int32_t l = 0; l < column->count; l++) {
            const int64_t k = column->at + l;
            double wave[3], re = 0, im = 0;
            for (int64_t part = 0; part < waves->parts; part++) {
                re += waves->real[part * room + k];
                im += waves->imaginary[part * room + k];
            }
            wave_of(job, column->h, column->k, column->first + l, wave);
            const double k2 = wave[0] * wave[0] + wave[1] * wave[1] + wave[2] * wave[2];
            const double factor = 8 * pi / volume * exp(-k2 / (4 * alpha * alpha)) / k2;
            const double energy = 0.5 * factor * (re * re + im * im);
            const double bend = 2 * (1 / k2 + 1 / (4 * alpha * alpha));
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    state->virial[a][b] += energy * ((a == b) - bend * wave[a] * wave[b]);
            waves->real[k] = factor * re;
            waves->imaginary[k] = factor * im;
        }
    }
}

static void spread_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct waves *waves = &job->waves;
    struct periodic_state *state = job->state;
    const int64_t n = state->system.count;
    const int64_t begin = n * part / waves->parts, end = n * (part + 1) / waves->parts;
    const struct ewald_waves of_kernel = {waves->column_count, waves->columns, waves->real,
                                          waves->imaginary};
    struct powers_memory made;
    if (make_powers(job, &made) != KITH_OK)
        return;
    for (int64_t p = begin; p < end && !kith_context_stops(job->context); p += particles_at_once) {
        double sums[particles_at_once][4] = {{0}};
        const int64_t last = p + particles_at_once < end ? p + particles_at_once : end;
        fill_powers(job, p, last, &made.powers);
        job->kernels->spread(&made.powers, &of_kernel, sums);
        for (int64_t i = p; i < last; i++) {
            double slope[3];
            wave_of(job, sums[i - p][1], sums[i - p][2], sums[i - p][3], slope);
            state->potential[i] += sums[i - p][0];
            for (int c = 0; c < 3; c++)
                state->gradient[c][i] += slope[c];
        }
    }
    free(made.memory);
}

static kith_status sum_waves(kith_context *context, struct job *job)
{
    struct powers_memory tried;
    KITH_TRY(list_waves(job));
    KITH_TRY(make_powers(job, &tried));
    free(tried.memory);
    const double seconds =
        (double)job->state->system.count * (double)job->waves.count / waves_a_second;
    const int32_t threads = kith_threads_for(context, seconds);
    KITH_TRY(kith_for_each(context, threads, job->waves.parts, gather_part, job));
    weigh(job);
    return kith_for_each(context, threads, job->waves.parts, spread_part, job);
}

kith_status ewald_cpu(kith_context *context, const kith_cell *cell,
                      const struct periodic_particles *particles,
                      const struct periodic_request *request, struct periodic_state *state)
{
#define ADDRESS(isa) &mesh_ewald_##isa,
    static const struct ewald_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    static const double of_images = 1e-14, of_polynomials = 1e-16;
    struct job job = {.context = context, .state = state, .kernels = each_isa[context->isa]};
    KITH_TRY(periodic_load(context, cell, of_images, particles, state));
    if (!state->keeps || !state->is_chosen)
        state->setting = choose(&state->system, request);
    state->is_chosen = true;
    periodic_clear(state);
    if (particles->count > 0) {
        if (request->part != periodic_far)
            KITH_TRY(short_cpu(context, KITH_F64, state->setting.cutoff, state->setting.alpha,
                               of_polynomials, 1, state));
        if (request->part != periodic_near)
            KITH_TRY(sum_waves(context, &job));
        KITH_TRY(kith_context_check_cancelled(context));
    }
    return periodic_finish(context, particles, request, state);
}
