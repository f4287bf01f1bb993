/* Forces of close and far pairs, down to where lengths are denormal and up to where they nearly
 * overflow, for each instruction set: the table of bench/results/errors-roots.json. */

#include "forces_system.h"

#include <float.h>

enum { pairs = 200, range_count = 5 };

struct range {
    const char *name;
    double least, most; /* exponents of two, of r² */
};

/* 1/r² must be a number too. */
static const struct range ranges_of_double[range_count] = {{"denormal r²", -1074, -1022},
                                                           {"tiny r²", -1022, -700},
                                                           {"r² about 1", -20, 20},
                                                           {"huge r²", 700, 1020},
                                                           {"any", -1020, 1020}};
static const struct range ranges_of_float[range_count] = {{"denormal r²", -149, -126},
                                                          {"tiny r²", -126, -90},
                                                          {"r² about 1", -20, 20},
                                                          {"huge r²", 90, 125},
                                                          {"any", -125, 125}};

/* The relative errors of the acceleration and the potential of body 0, which has the only other
 * one with a mass at a distance r. */
struct errors {
    double acceleration, potential;
};

static void note(struct errors *worst, const struct system *s, long double r, long double m)
{
    const long double acceleration = m / (r * r), potential = -m / r;
    const long double ax = get(s->a, 0), ay = get(s->a, 1), a = sqrtl(ax * ax + ay * ay);
    if (acceleration < (s->dtype == KITH_F64 ? DBL_MAX : FLT_MAX))
        worst->acceleration =
            worse_of(worst->acceleration, (double)(fabsl(a - acceleration) / acceleration));
    worst->potential = worse_of(
        worst->potential, (double)fabsl(((long double)get(s->phi, 0) - potential) / potential));
}

/* n bodies: with many, blocks meet; all but the first and the last have no mass and are there. */
static struct errors worst_of(kith_context *context, struct random_numbers *random,
                              kith_dtype dtype, int64_t n, struct range range)
{
    struct errors worst = {0, 0};
    struct system s = system_create(dtype, n, 3);
    for (int turn = 0; turn < pairs; turn++) {
        const double r = exp2(0.5 * random_uniform(random, range.least, range.most));
        const double cosine = random_uniform(random, 0.3, 0.9);
        put(s.x, 3 * (n - 1), r * cosine);
        put(s.x, 3 * (n - 1) + 1, r * sqrt(1 - cosine * cosine));
        put(s.m, n - 1, random_uniform(random, 0.5, 2));
        put(s.m, 0, 1);
        const long double x = get(s.x, 3 * (n - 1)), y = get(s.x, 3 * (n - 1) + 1);
        system_compute(context, NULL, &s);
        note(&worst, &s, sqrtl(x * x + y * y), get(s.m, n - 1));
    }
    system_free(&s);
    return worst;
}

static void check(const kith_isa *isa, struct random_numbers *random, kith_dtype dtype, int64_t n)
{
    const struct range *ranges = dtype == KITH_F64 ? ranges_of_double : ranges_of_float;
    const double epsilon = dtype == KITH_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    kith_context *context = new_context(isa->name, 1);
    for (int k = 0; k < range_count; k++) {
        const struct errors worst = worst_of(context, random, dtype, n, ranges[k]);
        printf("  %-4s %-6s %3d bodies, %-12s: acceleration %.2f ε, potential %.2f ε\n", isa->name,
               dtype == KITH_F64 ? "double" : "single", (int)n, ranges[k].name,
               worst.acceleration / epsilon, worst.potential / epsilon);
        assert_true(worst.acceleration < 6 * epsilon);
        assert_true(worst.potential < 6 * epsilon);
    }
    kith_context_free(context);
}

static void test_a_pair_is_right_at_every_distance(void **state)
{
    int64_t count = 0;
    const kith_isa *isas = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++)
        for (kith_dtype dtype = KITH_F64; isas[k].supported && dtype <= KITH_F32; dtype++) {
            check(&isas[k], *state, dtype, 2);
            check(&isas[k], *state, dtype, 300);
        }
}

/* Without softening a pair at the same position is left out, wherever that is. */
static void test_a_pair_at_distance_zero_adds_nothing(void **state)
{
    int64_t count = 0;
    const kith_isa *isas = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++)
        for (kith_dtype dtype = KITH_F64; isas[k].supported && dtype <= KITH_F32; dtype++) {
            kith_context *context = new_context(isas[k].name, 1);
            for (int64_t n = 2; n <= 300; n += 298) {
                struct system s = system_random(*state, dtype, n, 3);
                for (int64_t i = 0; i < 3 * n; i++)
                    put(s.x, i, 0.7);
                system_compute(context, NULL, &s);
                for (int64_t i = 0; i < 3 * n; i++)
                    assert_true(get(s.a, i) == 0);
                for (int64_t i = 0; i < n; i++)
                    assert_true(get(s.phi, i) == 0);
                system_free(&s);
            }
            kith_context_free(context);
        }
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_range");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_a_pair_is_right_at_every_distance, &random),
        cmocka_unit_test_prestate(test_a_pair_at_distance_zero_adds_nothing, &random),
    };
    return cmocka_run_group_tests_name("forces_range", tests, NULL, NULL);
}
