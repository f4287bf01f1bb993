/* A surface through scattered points, without the matrix of all pairs: kriging, or Gaussian-process
 * regression.
 *
 *     kriging [POINTS] [OUTPUT.csv]
 *
 * Of heights h_i at n random places, the surface is Σ_j w_j k(x, x_j) with (K + σ² 1) w = h and
 * K_ij = k(x_i, x_j) = e^{−r²/(2S²)}: n² numbers, 80 GB for 100 000 points. Conjugate gradients
 * want K times a vector only, and kith_matrix_multiply computes that without K. The heights are
 * Franke's function (1979, Naval Postgraduate School NPS-53-79-003); kriging.gp draws what comes of
 * them. */

#include <math.h>

#include "conjugate_gradients.h"

enum { grid = 101, places = grid * grid };

static const char kernel[] = "gaussian:0.1";
static const double sigma2 = 1e-2, tolerance = 1e-4;

static double franke(const double x[2])
{
    const double u = 9 * x[0], v = 9 * x[1];
    return 0.75 * exp(-((u - 2) * (u - 2) + (v - 2) * (v - 2)) / 4) +
           0.75 * exp(-(u + 1) * (u + 1) / 49 - (v + 1) / 10) +
           0.5 * exp(-((u - 7) * (u - 7) + (v - 3) * (v - 3)) / 4) -
           0.2 * exp(-(u - 4) * (u - 4) - (v - 7) * (v - 7));
}

/* What K is made of. */
struct covariance {
    kith_context *context;
    kith_law *law;
    kith_particles points;
};

/* out = (K + σ² 1) in. The product leaves i = j out, where k is 1. */
static void multiply(void *matrix, double *in, double *out, int64_t n)
{
    const struct covariance *k = matrix;
    must(kith_matrix_multiply(k->context, k->law, NULL, &k->points, NULL,
                              kith_array_vector(in, KITH_F64, n),
                              kith_array_vector(out, KITH_F64, n)));
    for (int64_t i = 0; i < n; i++)
        out[i] += (1 + sigma2) * in[i];
}

int main(int argc, char **argv)
{
    const kith_initial_options square = {.count = argc > 1 ? atoll(argv[1]) : 2000,
                                         .dimensions = 2};
    static double at[places][2], surface[places];
    struct covariance k = {0};
    kith_bodies *bodies = NULL;
    must(kith_context_create(NULL, &k.context));
    must(kith_law_parse(kernel, 0, NULL, &k.law));
    must(kith_initial_make("uniform-cube", &square, &bodies));
    const int64_t n = bodies->count;
    k.points.positions = kith_array_matrix(bodies->position, KITH_F64, n, 2);

    double *w = room_for(2 * n, sizeof *w), *h = w + n;
    for (int64_t i = 0; i < n; i++)
        h[i] = franke(bodies->position + 2 * i);
    const double goal = tolerance * tolerance * dot(h, h, n);
    const int64_t products = conjugate_gradients(multiply, &k, h, w, n, goal); /* from w = 0 */

    for (int p = 0; p < places; p++) {
        const int column = p % grid, row = p / grid;
        at[p][0] = (double)column / (grid - 1);
        at[p][1] = (double)row / (grid - 1);
    }
    const kith_particles looked_at = {.positions = kith_array_matrix(at, KITH_F64, places, 2)};
    const kith_array height = kith_array_vector(surface, KITH_F64, places);
    must(kith_matrix_multiply(k.context, k.law, NULL, &looked_at, &k.points,
                              kith_array_vector(w, KITH_F64, n), height));

    double error2 = 0;
    for (int p = 0; p < places; p++)
        error2 += pow(surface[p] - franke(at[p]), 2) / places;
    printf("%lld points, a matrix of %.3g GB: %lld products; error of the surface %.1e\n",
           (long long)n, 8e-9 * (double)n * (double)n, (long long)products, sqrt(error2));
    const kith_array x = {at[0], {KITH_CPU, 0}, 1, KITH_F64, {places}, {2}};
    const kith_array y = {at[0] + 1, {KITH_CPU, 0}, 1, KITH_F64, {places}, {2}};
    const kith_table_column columns[] = {{"x", x}, {"y", y}, {"height", height}};
    if (argc > 2)
        must(kith_table_write(argv[2], NULL, 3, columns));
    free(w);
    kith_law_free(k.law);
    kith_bodies_free(bodies);
    kith_context_free(k.context);
    return 0;
}
