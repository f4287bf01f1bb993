/* The setting of a mesh for an error. */

#include <math.h>

#include "mesh/estimates.h"
#include "mesh/pme.h"
#include "mesh/sixth.h"

static const double pi = 3.14159265358979323846;

/* The share of the requested error for each of the two parts. */
static const double share = 0.45;

static double power(double x, int32_t exponent)
{
    double product = 1;
    for (int32_t k = 0; k < exponent; k++)
        product *= x;
    return product;
}

/* The integrals of the header for one axis with x = α times the spacing: of waves of others, over
 * α/(2π²) V, and of its own, likewise. */
static void integrate(bool is_sixth, int32_t order, double x, double *of_others, double *of_itself)
{
    enum { radii = 24, angles = 6 };
    const double most = 9, step = most / radii;
    *of_others = *of_itself = 0;
    for (int r = 0; r < radii; r++) {
        const double s = (r + 0.5) * step, s2 = s * s;
        const double wave = is_sixth ? sixth_wave(s / 2) : exp(-s2 / 4) / s2;
        const double of_1 = wave * s2 * step / angles, of_2 = wave * of_1;
        for (int a = 0; a < angles; a++) {
            const double y = s * ((a + 0.5) / angles) * x / (2 * pi), shift = 2 * pi / x;
            for (int sign = -1; sign <= 1; sign += 2) {
                const double ratio = y < 0.5 ? y / (1 + sign * y) : 1;
                const double amplitude = power(ratio < 1 ? ratio : 1, order);
                *of_others +=
                    of_2 * amplitude * amplitude * (s2 + (y < 0.5 ? s2 + shift * shift : 0));
                *of_itself += of_1 * amplitude * shift / 2;
            }
        }
    }
}

/* The correlation of the waves that have aliases along one axis. Those with a component across it
 * are damped more: where the cell is narrow across, what is left are waves along the axis alone, in
 * which particles on a sheet are in phase. */
static double correlation_along(const struct periodic_system *system, double alpha, int axis)
{
    double sum = 0, weights = 0;
    for (int k = 0; k < periodic_waves; k++) {
        const int digits = 14 + k;
        int index[3] = {digits / 9 - 1, digits / 3 % 3 - 1, digits % 3 - 1};
        double across2 = 0;
        if (index[axis] == 0)
            continue;
        index[axis] = 0;
        for (int c = 0; c < 3; c++) {
            const double *inverse = system->lattice.inverse[c];
            const double wave =
                2 * pi * (inverse[0] * index[0] + inverse[1] * index[1] + inverse[2] * index[2]);
            across2 += wave * wave;
        }
        const double weight = exp(-across2 / (2 * alpha * alpha));
        sum += weight * system->of_wave[k];
        weights += weight;
    }
    return fmax(system->correlation, sum / weights);
}

/* The mean square error of the forces by aliases along one axis. */
static double square_along(const struct periodic_system *system, double correlation, double alpha,
                           double of_others, double of_itself)
{
    const double unit = estimate_unit(system), mean = system->squares / (double)system->count;
    const double self = mean * alpha * alpha * sqrt(2) * 2 / pi * of_itself;
    const double wave = system->is_sixth ? sixth_of_waves(alpha) : 1;
    return wave * wave * correlation *
           (unit * unit * 8 * alpha * of_others + system->crowding * self * self);
}

/* The integrals at spacings a twelfth apart, for the search. */
enum { table_count = 64 };
struct table {
    bool is_sixth;
    int32_t order;
    double x[table_count], of_others[table_count], of_itself[table_count];
};

static const double least_of_table = 0.02, steps_of_table = 8.5; /* to twice the spacing */

static void fill_table(bool is_sixth, int32_t order, struct table *table)
{
    table->is_sixth = is_sixth;
    table->order = order;
    for (int k = 0; k < table_count; k++) {
        table->x[k] = least_of_table * exp2(k / steps_of_table);
        integrate(is_sixth, order, table->x[k], &table->of_others[k], &table->of_itself[k]);
    }
}

/* Powers of x between the spacings of the table. */
static void look_up(const struct table *table, double x, double *of_others, double *of_itself)
{
    const double at = steps_of_table * log2(x / least_of_table);
    if (!(at >= 0 && at < table_count - 1)) {
        integrate(table->is_sixth, table->order, x, of_others, of_itself);
        return;
    }
    const int k = (int)at;
    const double rest = at - k;
    *of_others = table->of_others[k] * pow(table->of_others[k + 1] / table->of_others[k], rest);
    *of_itself = table->of_itself[k] * pow(table->of_itself[k + 1] / table->of_itself[k], rest);
}

static double length_of(const struct periodic_system *system, int k)
{
    const double *a = system->lattice.basis[k];
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* The expected rms error of the forces by the mesh. */
static double mesh_error(const struct periodic_system *system, double alpha,
                         const struct table *table, const double spacing[3])
{
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        double of_others = 0, of_itself = 0;
        look_up(table, alpha * spacing[c], &of_others, &of_itself);
        squares += system->in_phase[c] * square_along(system, correlation_along(system, alpha, c),
                                                      alpha, of_others, of_itself);
    }
    return sqrt(squares);
}

void pme_expect_aliases(const struct periodic_system *system,
                        const struct periodic_setting *setting, double squares[3])
{
    for (int c = 0; c < 3; c++) {
        double of_others = 0, of_itself = 0;
        integrate(system->is_sixth, setting->order,
                  setting->alpha * length_of(system, c) / setting->grid[c], &of_others, &of_itself);
        squares[c] = square_along(system, correlation_along(system, setting->alpha, c),
                                  setting->alpha, of_others, of_itself);
    }
}

/* The largest spacing along an axis with an error. */
static double spacing_for(const struct periodic_system *system, const struct table *table,
                          double alpha, double error, int axis)
{
    const double correlation = system->in_phase[axis] * correlation_along(system, alpha, axis);
    int k = table_count - 1;
    while (k > 0 &&
           3 * square_along(system, correlation, alpha, table->of_others[k], table->of_itself[k]) >
               error * error)
        k--;
    return table->x[k] / alpha;
}

/* The smallest product of factors 2, 3, 5 and 7 that is not below, since FFTs of others are slow,
 * and even: of an odd length FFTW has no vectors for real numbers. From 32 on multiples of 8 have
 * the fastest plans. */
static int32_t smooth(double least)
{
    const int32_t step = least > 24 ? 8 : 2;
    for (int32_t number = (int32_t)ceil(least / step) * step;; number += step) {
        int32_t rest = number;
        for (int32_t factor = 2; factor <= 7; factor++)
            while (rest % factor == 0)
                rest /= factor;
        if (rest == 1)
            return number;
    }
}

/* Within a cluster more pairs lie beyond the cutoff than at the mean density. */
static double near_factor(const struct periodic_system *system)
{
    return sqrt(system->correlation * system->crowding);
}

static double near_reach(const struct periodic_system *system, double alpha, double error)
{
    return system->is_sixth ? sixth_short_reach(system, alpha, error / estimate_unit(system))
                            : estimate_short_reach(system, alpha, error);
}

static double near_error(const struct periodic_system *system, double alpha, double cutoff)
{
    return system->is_sixth ? estimate_unit(system) * sixth_short(system, alpha, cutoff)
                            : estimate_short(system, alpha, cutoff);
}

struct candidate {
    struct periodic_setting setting;
    double cost;
    bool is_good;
};

static struct candidate try(const struct periodic_system *system,
                            const struct periodic_request *request, const struct table *table,
                            const struct pme_costs *costs, double alpha, int32_t order,
                            double wanted)
{
    const double most_points = 0x1p28, n = (double)system->count;
    const double near = near_factor(system);
    struct candidate made = {.setting = {.alpha = alpha, .order = order}};
    struct periodic_setting *setting = &made.setting;
    setting->cutoff = request->cutoff > 0
                          ? request->cutoff
                          : near_reach(system, alpha, share * wanted / near) / alpha;
    if (system->is_sixth) /* 1/r¹² ends with it */
        setting->cutoff = fmin(setting->cutoff, short_most_reach / alpha);
    double spacing[3], points = 1;
    for (int c = 0; c < 3; c++) {
        const double wide =
            request->grid[0] > 0 ? 0 : spacing_for(system, table, alpha, share * wanted, c);
        const double least = fmax(order, length_of(system, c) / (wide > 0 ? wide : 1));
        setting->grid[c] = request->grid[c] > 0 ? request->grid[c] : smooth(fmin(least, 0x1p20));
        spacing[c] = length_of(system, c) / setting->grid[c];
        points *= setting->grid[c];
    }
    const double of_mesh = mesh_error(system, alpha, table, spacing);
    setting->force_error = hypot(of_mesh, near * near_error(system, alpha, setting->cutoff));
    const double pairs = n * 4 * pi / 3 * pow(setting->cutoff, 3) / system->volume;
    made.cost =
        n * ((pairs + 60) * costs->pair + power(order, 2) * costs->row) + points * costs->point;
    made.is_good = points <= most_points && setting->force_error <= 2 * share * wanted;
    return made;
}

/* Of those that are good enough the cheapest, of others the one with the smallest error. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->is_good != b->is_good)
        return a->is_good;
    return a->is_good ? a->cost < b->cost : a->setting.force_error < b->setting.force_error;
}

kith_status pme_check_grid(const struct periodic_request *request, int32_t order)
{
    double points = 1;
    for (int c = 0; c < 3 && request->grid[0] > 0; c++) {
        points *= request->grid[c];
        if (request->grid[c] < order)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "grid has %d points along an axis, but splines of order %d need at "
                             "least that many; give a finer grid or a lower order",
                             (int)request->grid[c], (int)order);
    }
    if (points > 0x1p28)
        return kith_fail(KITH_INVALID_ARGUMENT, "grid has %g points; give at most 2^28", points);
    return KITH_OK;
}

kith_status pme_choose(const struct periodic_system *system, const struct periodic_request *request,
                       double force, const struct pme_costs *costs,
                       struct periodic_setting *setting)
{
    const double few = sqrt(1 + 10 / fmax(1, (double)system->count)); /* whose errors scatter */
    const double wanted =
        (request->absolute_error > 0 ? request->absolute_error : request->error * force) / few;
    const double middle = cbrt(fmax(1, (double)system->count) / system->volume);
    struct candidate best = {.cost = INFINITY, .setting.force_error = INFINITY};
    KITH_TRY(pme_check_grid(request, request->order > 0 ? request->order : pme_least_order));
    if (!(system->squares > 0)) {
        *setting = (struct periodic_setting){
            .cutoff = 1 / middle, .alpha = middle, .order = 4, .grid = {8, 8, 8}};
        return KITH_OK;
    }
    for (int32_t order = pme_least_order; order <= pme_most_order; order++) {
        const bool fits =
            request->grid[0] == 0 ||
            (request->grid[0] >= order && request->grid[1] >= order && request->grid[2] >= order);
        if ((request->order > 0 && order != request->order) || !fits)
            continue;
        struct table table;
        fill_table(system->is_sixth, order, &table);
        for (int k = -24; k <= 16; k++) {
            double alpha = request->alpha > 0 ? request->alpha : middle * exp2(k / 8.0);
            if (request->cutoff > 0 && !(request->alpha > 0))
                for (int turn = 0; turn < 20; turn++)
                    alpha = near_reach(system, alpha, share * wanted / near_factor(system)) /
                            request->cutoff;
            const struct candidate made = try(system, request, &table, costs, alpha, order, wanted);
            if (is_better(&made, &best))
                best = made;
            if (request->alpha > 0 || request->cutoff > 0)
                break;
        }
    }
    *setting = best.setting;
    if ((double)setting->grid[0] * setting->grid[1] * setting->grid[2] > 0x1p28)
        return kith_fail(KITH_UNSUPPORTED,
                         "pme needs a grid of %d x %d x %d points; request a larger error, or give "
                         "a larger cutoff",
                         (int)setting->grid[0], (int)setting->grid[1], (int)setting->grid[2]);
    return KITH_OK;
}
