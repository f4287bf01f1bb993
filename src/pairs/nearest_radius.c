#include "pairs/nearest_radius.h"

#include <math.h>

#include "pairs/arguments.h"
#include "sort/sort.h"

/* Targets inspected, and the largest rank; beyond it, volume is taken to grow with k. */
enum { most_samples = 7, most_ranks = 64 };

/* More than the volume that the median needs, as counts scatter. */
static const double volume_over_median = 1.6;

/* The square of the k-th smallest distance, or of the largest if there are fewer than k. */
static double sample_r2(const struct pairs_problem *problem, const struct pairs_system *system,
                        int64_t i, int64_t k)
{
    double least[most_ranks] = {0}; /* ascending */
    int64_t count = 0;
    for (int64_t j = system->first_point; j < system->first_point + system->point_count; j++) {
        double r2 = 0;
        for (int32_t c = 0; c < problem->dimensions; c++) {
            const double d = pairs_get(problem->points, j, c) - pairs_get(problem->targets, i, c);
            r2 += d * d;
        }
        if ((!problem->two_sets && j == i) || (count == k && r2 >= least[k - 1]))
            continue;
        int64_t at = count < k ? count++ : k - 1;
        for (; at > 0 && least[at - 1] > r2; at--)
            least[at] = least[at - 1];
        least[at] = r2;
    }
    return count > 0 ? least[count - 1] : 0;
}

static const struct pairs_system *system_of(const struct pairs_problem *problem, int64_t i)
{
    int64_t s = 0;
    while (i >= problem->systems[s].first_target + problem->systems[s].target_count)
        s++;
    return &problem->systems[s];
}

static double widest_cell(const struct pairs_problem *problem)
{
    double widest = 0;
    for (int64_t s = 0; s < problem->system_count; s++)
        for (int k = 0; k < 3; k++)
            if (problem->systems[s].lattice.periodic[k])
                widest = fmax(widest, problem->systems[s].lattice.height[k] * problem->unit);
    return widest;
}

double pairs_guess_radius(const struct pairs_problem *problem, int64_t k)
{
    const int64_t targets = problem->targets.shape[0];
    const int64_t samples = targets < most_samples ? targets : most_samples;
    const int64_t rank = k < most_ranks ? k : most_ranks;
    double values[most_samples] = {0};
    for (int64_t sample = 0; sample < samples; sample++) {
        const int64_t i = (2 * sample + 1) * targets / (2 * samples);
        values[sample] = sample_r2(problem, system_of(problem, i), i, rank);
    }
    sort_reals(samples, values);
    double r2 = values[samples / 2];
    if (!(r2 > 0) || !isfinite(r2))
        r2 = values[samples - 1];
    const double radius =
        sqrt(r2) * pow(volume_over_median * (double)k / (double)rank, 1.0 / problem->dimensions);
    if (radius > 0 && isfinite(radius))
        return radius;
    return widest_cell(problem) > 0 ? widest_cell(problem) : 1;
}
