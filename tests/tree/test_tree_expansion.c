/* Multipole and local expansions (tree/expansion.h): operators against direct sums and against the
 * reference. */

#include "expansion_scene.h"
#include "tree/expansion_angles.h"

/* Which operators take the field from the sources to the targets. */
enum path {
    multipole_at_bodies, /* P2M, M2P */
    shifted_multipole,   /* P2M, M2M, M2P */
    local_of_children,   /* P2M, M2L, L2P */
    shifted_local,       /* P2M, M2L, L2L, L2P */
    whole_path,          /* P2M, M2M, M2L, L2L, L2P */
    paths
};

static void evaluate(const struct operators *operators, const struct scene *scene, enum path path,
                     struct typed *typed)
{
    const struct expansion_operators *table = operators->table;
    const struct expansion *expansion = &scene->expansion;
    const bool plane = expansion->basis == expansion_plane;
    const struct expansion_bodies from = {
        {typed->source[0], typed->source[1], plane ? NULL : typed->source[2]}, typed->source[3]};
    const struct expansion_bodies to = {
        {typed->target[0], typed->target[1], plane ? NULL : typed->target[2]}, NULL};
    const struct expansion_field field = {
        typed->field[3], {typed->field[0], typed->field[1], plane ? NULL : typed->field[2]}};
    const int32_t children[2] = {source_child, source_child + 1}, parent[1] = {source_parent};

    for (int32_t child = 0; child < 2; child++)
        table->p2m(expansion, &from, child * bodies_a_cell, bodies_a_cell, typed->multipoles,
                   source_child + child);
    table->m2m(expansion, typed->multipoles, source_parent, source_child, 2);
    if (path == multipole_at_bodies)
        table->m2p(expansion, typed->multipoles, children, 2, &to, 0, targets, &field);
    if (path == shifted_multipole)
        table->m2p(expansion, typed->multipoles, parent, 1, &to, 0, targets, &field);
    if (path <= shifted_multipole)
        return;
    if (path == local_of_children)
        for (int32_t child = 0; child < 2; child++)
            table->m2l(expansion, typed->multipoles, typed->locals, target_child + child, children,
                       2);
    else
        table->m2l(expansion, typed->multipoles, typed->locals, target_parent,
                   path == whole_path ? parent : children, path == whole_path ? 1 : 2);
    if (path != local_of_children)
        table->l2l(expansion, typed->multipoles, typed->locals, target_parent, target_child, 2);
    for (int32_t child = 0; child < 2; child++)
        table->l2p(expansion, typed->multipoles, typed->locals, target_child + child, &to,
                   child * bodies_a_cell, bodies_a_cell, &field);
}

/* The largest errors, relative to the largest sum of absolute terms. */
struct errors {
    double potential, gradient;
};

static struct errors errors_of(const struct scene *scene, bool single, const struct typed *typed)
{
    struct errors errors = {0, 0};
    for (int64_t i = 0; i < targets; i++) {
        const double difference = fabs(real_at(single, typed->field[3], i) - scene->potential[i]);
        assert_true(isfinite(difference));
        errors.potential = worse_of(errors.potential, difference / scene->absolute_potential);
        double norm2 = 0;
        for (int32_t axis = 0; axis < 3; axis++) {
            const double d = (real_at(single, typed->field[axis], i) - scene->gradient[axis][i]) /
                             scene->absolute_gradient;
            assert_true(isfinite(d));
            norm2 += d * d;
        }
        errors.gradient = worse_of(errors.gradient, sqrt(norm2));
    }
    return errors;
}

static struct errors errors_on(const struct operators *operators, const struct scene *scene,
                               enum path path)
{
    struct typed typed = make_typed(scene, operators->single);
    evaluate(operators, scene, path, &typed);
    const struct errors errors = errors_of(scene, operators->single, &typed);
    free_typed(&typed);
    return errors;
}

/* With parents at twice the sum of their radii, a path's error falls by half an order at least. */
static void check_convergence(const struct operators *operators, struct random_numbers *random)
{
    const double floor = operators->single ? 4e-6 : 1e-14;
    for (int32_t b = 0; b < 4; b++)
        for (enum path path = 0; path < paths; path++) {
            const int32_t most = bases[b] == expansion_harmonic || operators->single ? 12 : 10;
            for (int32_t order = 1; order <= most; order++) {
                struct scene *scene =
                    make_scene(random, operators->single,
                               (struct expansion){bases[b], order, bases[b] ? 0.3 : 0, laws[b],
                                                  NULL, NULL, false, NULL},
                               (struct geometry){1, 1, 2, 1, order % 2 == 0});
                const struct errors errors = errors_on(operators, scene, path);
                const double bound = pow(0.5, order + 1) + floor;
                if (errors.potential > bound || errors.gradient > 2 * (order + 1) * bound)
                    fail_msg("basis %d, path %d, order %d: errors %g, %g, expected %g", bases[b],
                             path, order, errors.potential, errors.gradient, bound);
                free(scene);
            }
        }
}

static void test_errors_fall_geometrically_with_the_order(void **state)
{
    (void)state;
    for_each_operators(check_convergence, __func__);
}

/* Far apart, high orders give the direct sum's digits. */
static void check_digits(const struct operators *operators, struct random_numbers *random)
{
    for (int32_t b = 0; b < 4; b++)
        for (enum path path = 0; path < paths; path++) {
            const int32_t order = operators->single ? 8 : 20;
            struct scene *scene = make_scene(random, operators->single,
                                             (struct expansion){bases[b], order, bases[b] ? 0.5 : 0,
                                                                laws[b], NULL, NULL, false, NULL},
                                             (struct geometry){1, 1, 3, 1, true});
            const struct errors errors = errors_on(operators, scene, path);
            const double bound = operators->single ? 2e-5 : 1e-12;
            if (errors.potential > bound || errors.gradient > 2 * (order + 1) * bound)
                fail_msg("basis %d, path %d: errors %g, %g", bases[b], path, errors.potential,
                         errors.gradient);
            free(scene);
        }
}

static void test_high_orders_reach_the_digits_of_direct_sums(void **state)
{
    (void)state;
    for_each_operators(check_digits, __func__);
}

/* Problems of any scale, and cells of unequal sizes in one problem. */
static void check_scales(const struct operators *operators, struct random_numbers *random)
{
    const double units[2][3] = {{1e-30, 1, 1e30}, {1e-12, 1, 1e12}};
    const double lengths[][2] = {{1, 1}, {1e-6, 1}, {1, 1e-6}, {1e-3, 1}, {1, 1e-3}};
    for (int32_t b = 0; b < 4; b++)
        for (enum path path = 0; path < paths; path++)
            for (int32_t unit = 0; unit < 3; unit++)
                for (int32_t k = 0; k < 5; k++) {
                    const int32_t order = 8;
                    struct scene *scene =
                        make_scene(random, operators->single,
                                   (struct expansion){bases[b], order, bases[b] ? 1e-3 : 0, laws[b],
                                                      NULL, NULL, false, NULL},
                                   (struct geometry){lengths[k][0], lengths[k][1], 4,
                                                     units[operators->single][unit], false});
                    const struct errors errors = errors_on(operators, scene, path);
                    const double bound = pow(0.25, order + 1) + (operators->single ? 4e-6 : 0);
                    if (errors.potential > bound || errors.gradient > 2 * (order + 1) * bound)
                        fail_msg("basis %d, path %d, unit %g, lengths %g, %g: errors %g, %g",
                                 bases[b], path, units[operators->single][unit], lengths[k][0],
                                 lengths[k][1], errors.potential, errors.gradient);
                    free(scene);
                }
}

static void test_cells_of_any_size_stay_in_range(void **state)
{
    (void)state;
    for_each_operators(check_scales, __func__);
}

static struct expansion_angles angles;

/* A cell of one point has powers |q| d^n, in any direction. */
static void check_powers(const struct operators *operators, struct random_numbers *random)
{
    for (int32_t b = 0; b < 4; b++) {
        const struct expansion expansion = {
            bases[b], operators->single ? 8 : 12, 0, laws[b], NULL, NULL, false, &angles};
        const bool single = operators->single, plane = bases[b] == expansion_plane;
        void *record = new_reals(single, expansion_record_length(&expansion));
        void *x[4], *result = new_reals(single, expansion.order + 1);
        double distance2 = 0;
        for (int32_t axis = 0; axis < 4; axis++) {
            x[axis] = new_reals(single, 1);
            set_real(single, x[axis], 0, random_uniform(random, -4, 4));
            set_real(single, record, axis, axis < 3 ? 1.5 : 4);
            if (axis < (plane ? 2 : 3))
                distance2 += pow(real_at(single, x[axis], 0) - 1.5, 2);
        }
        operators->table->p2m(&expansion,
                              &(struct expansion_bodies){{x[0], x[1], plane ? NULL : x[2]}, x[3]},
                              0, 1, record, 0);
        operators->table->powers(&expansion, record, 0, 1, result);
        for (int32_t n = 0; n <= expansion.order; n++) {
            const double expected = fabs(real_at(single, x[3], 0)) * pow(sqrt(distance2) / 4, n);
            const double error = fabs(real_at(single, result, n) - expected);
            if (!(error <= (single ? 1e-5 : 1e-13) * expected))
                fail_msg("basis %d, n = %d: %g, expected %g", bases[b], n,
                         real_at(single, result, n), expected);
        }
        for (int32_t axis = 0; axis < 4; axis++)
            free(x[axis]);
        free(record);
        free(result);
    }
}

static void test_powers_of_a_point_are_powers_of_its_distance(void **state)
{
    (void)state;
    for_each_operators(check_powers, __func__);
}

static void test_sizes_are_powers_of_two(void **state)
{
    (void)state;
    assert_true(expansion_size(1, 0) == 1 && expansion_size(1.1, 0) == 2);
    assert_true(expansion_size(0.3, 1e3) == 0.5 && expansion_size(0, 1) == 0x1p-20);
    assert_true(expansion_size(0, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_fall_geometrically_with_the_order),
        cmocka_unit_test(test_high_orders_reach_the_digits_of_direct_sums),
        cmocka_unit_test(test_cells_of_any_size_stay_in_range),
        cmocka_unit_test(test_powers_of_a_point_are_powers_of_its_distance),
        cmocka_unit_test(test_sizes_are_powers_of_two),
    };
    expansion_make_angles(expansion_max_order, &angles);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
