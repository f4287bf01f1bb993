#include "mesh/transform.h"

#include <complex.h>
#include <fftw3.h>
#include <pthread.h>
#include <string.h>

/* FFTW's planner is not thread-safe; its plans are. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

#define REAL       float
#define FFTW(name) fftwf_##name
#define NAME(name) name##_float
#include "mesh/transform_body.h"
#undef REAL
#undef FFTW
#undef NAME

#define REAL       double
#define FFTW(name) fftw_##name
#define NAME(name) name##_double
#include "mesh/transform_body.h"

kith_status transform_make(struct transform *transform)
{
    memset(transform->plans, 0, sizeof transform->plans);
    pthread_mutex_lock(&planner);
    (transform->dtype == KITH_F32 ? plan_float : plan_double)(transform);
    pthread_mutex_unlock(&planner);
    for (int k = 0; k < 4; k++)
        if (!transform->plans[k]) {
            transform_free(transform);
            return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a transform of %d x %d x %d points",
                             (int)transform->grid[0], (int)transform->grid[1],
                             (int)transform->grid[2]);
        }
    return KITH_OK;
}

void transform_free(struct transform *transform)
{
    pthread_mutex_lock(&planner);
    (transform->dtype == KITH_F32 ? destroy_float : destroy_double)(transform);
    pthread_mutex_unlock(&planner);
}

void transform_plane(const struct transform *transform, int64_t plane, bool back)
{
    (transform->dtype == KITH_F32 ? execute_plane_float : execute_plane_double)(transform, plane,
                                                                                back);
}

void transform_row(const struct transform *transform, int64_t row, bool back)
{
    (transform->dtype == KITH_F32 ? execute_row_float : execute_row_double)(transform, row, back);
}
