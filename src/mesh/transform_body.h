/* Transforms in one precision. Included by transform.c for each, with REAL, FFTW(name) and
 * NAME(name). */

static void NAME(plan)(struct transform *transform)
{
    const int *n = transform->grid;
    const int pitch = (int)transform->pitch, half = n[2] / 2 + 1;
    const int stride = (int)(transform->plane / 2);
    const int rows[2] = {n[1], pitch}, waves[2] = {n[1], pitch / 2};
    void *points = transform->points;
    transform->plans[0] = FFTW(plan_many_dft_r2c)(2, n + 1, 1, points, rows, 1, 0, points, waves, 1,
                                                  0, FFTW_ESTIMATE);
    transform->plans[1] = FFTW(plan_many_dft_c2r)(2, n + 1, 1, points, waves, 1, 0, points, rows, 1,
                                                  0, FFTW_ESTIMATE);
    for (int k = 0; k < 2; k++)
        transform->plans[2 + k] =
            FFTW(plan_many_dft)(1, n, half, points, NULL, stride, 1, points, NULL, stride, 1,
                                k == 0 ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
}

static void NAME(destroy)(struct transform *transform)
{
    for (int k = 0; k < 4; k++)
        if (transform->plans[k])
            FFTW(destroy_plan)(transform->plans[k]);
}

static void NAME(execute_plane)(const struct transform *transform, int64_t plane, bool back)
{
    REAL *points = (REAL *)transform->points + plane * transform->plane;
    if (back)
        FFTW(execute_dft_c2r)(transform->plans[1], (FFTW(complex) *)points, points);
    else
        FFTW(execute_dft_r2c)(transform->plans[0], points, (FFTW(complex) *)points);
}

static void NAME(execute_row)(const struct transform *transform, int64_t row, bool back)
{
    FFTW(complex) *waves = (FFTW(complex) *)((REAL *)transform->points + row * transform->pitch);
    FFTW(execute_dft)(transform->plans[back ? 3 : 2], waves, waves);
}
