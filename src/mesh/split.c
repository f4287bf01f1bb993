#include "mesh/split.h"

#include <math.h>
#include <string.h>

static const long double pi = 3.141592653589793238462643383279502884L;

/* f, and −f'. */
static void evaluate(long double u, long double *f, long double *slope)
{
    const long double two_over_root_pi = 2 / sqrtl(pi);
    if (u >= 1) {
        *f = erfl(sqrtl(u)) / sqrtl(u);
        *slope = (*f - two_over_root_pi * expl(-u)) / (2 * u);
        return;
    }
    long double term = 1; /* (−u)^n / n! */
    *f = *slope = 0;
    for (int n = 0; n < 30; n++) {
        *f += two_over_root_pi * term / (2 * n + 1);
        *slope += two_over_root_pi * term / (2 * n + 3);
        term *= -u / (n + 1);
    }
}

/* The same of 1/r⁶. */
static void evaluate_sixth(long double u, long double *f, long double *slope)
{
    if (u >= 1) {
        *f = (1 - (1 + u + u * u / 2) * expl(-u)) / (u * u * u);
        *slope = (3 * *f - expl(-u) / 2) / u;
        return;
    }
    long double term = 0.5L; /* (−u)^n / 2 n! */
    *f = *slope = 0;
    for (int n = 0; n < 30; n++) {
        *f += term / (n + 3);
        *slope += term / (n + 4);
        term *= -u / (n + 1);
    }
}

/* cos(π j / 2n) of a whole turn. */
enum { turn = 4 * split_most_terms };
static void make_cosines(long double cosine[turn])
{
    for (int j = 0; j < turn; j++)
        cosine[j] = cosl(2 * pi * j / turn);
}

/* Chebyshev coefficients from values at the nodes cos(π (k + ½) / n). */
static void transform(const long double cosine[turn], const long double *at_nodes,
                      long double *coefficient)
{
    const int n = split_most_terms;
    for (int k = 0; k < n; k++) {
        long double sum = 0;
        for (int node = 0; node < n; node++)
            sum += at_nodes[node] * cosine[k * (2 * node + 1) % turn];
        coefficient[k] = (k == 0 ? 1.0L : 2.0L) * sum / n;
    }
}

/* How many coefficients are worth keeping. */
static int32_t count_terms(const long double *coefficient, double error)
{
    long double rest = 0;
    int32_t terms = split_most_terms;
    while (terms > 2 && rest + fabsl(coefficient[terms - 1]) < error)
        rest += fabsl(coefficient[--terms]);
    return terms;
}

/* Powers of z from Chebyshev's polynomials. */
static void to_powers(const long double *coefficient, int32_t terms, double *power)
{
    long double sum[split_most_terms] = {0};
    long double before[split_most_terms] = {1}, now[split_most_terms] = {0, 1};
    for (int32_t k = 0; k < terms; k++) {
        for (int32_t n = 0; n <= k; n++)
            sum[n] += coefficient[k] * (k == 0 ? before[n] : now[n]);
        if (k == 0)
            continue;
        long double next[split_most_terms] = {0};
        for (int32_t n = 0; n + 1 < split_most_terms; n++)
            next[n + 1] = 2 * now[n];
        for (int32_t n = 0; n < split_most_terms; n++)
            next[n] -= before[n];
        memcpy(before, now, sizeof now);
        memcpy(now, next, sizeof next);
    }
    for (int32_t n = 0; n < split_most_terms; n++)
        power[n] = n < terms ? (double)sum[n] : 0;
}

/* Of an f and α to its power, the value's. */
typedef void split_function(long double u, long double *f, long double *slope);
static void make(split_function *evaluate_it, int power, double alpha, double error,
                 struct split *split)
{
    long double value[split_most_terms], factor[split_most_terms];
    long double of_value[split_most_terms], of_factor[split_most_terms];
    const long double a = alpha, of_power = powl(a, power);
    long double cosine[turn];
    make_cosines(cosine);
    for (int node = 0; node < split_most_terms; node++) {
        const long double z = cosine[2 * node + 1];
        long double f = 0, slope = 0;
        evaluate_it(a * a * (z + 1) / 2, &f, &slope);
        value[node] = of_power * f;
        factor[node] = 2 * of_power * a * a * slope;
    }
    transform(cosine, value, of_value);
    transform(cosine, factor, of_factor);
    const int32_t of_1 = count_terms(of_value, error), of_2 = count_terms(of_factor, error);
    split->terms = of_1 > of_2 ? of_1 : of_2;
    to_powers(of_value, split->terms, split->value);
    to_powers(of_factor, split->terms, split->factor);
}

void split_make(double alpha, double error, struct split *split)
{
    make(evaluate, 1, alpha, error, split);
}

void split_make_sixth(double alpha, double error, struct split *split)
{
    make(evaluate_sixth, 6, alpha, error, split);
}
