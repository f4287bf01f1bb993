#include "mesh/cufft.h"

#include <string.h>

#include "core/library.h"

/* The functions of cufft.h that are used, the same in CUDA 12 and 13; results are 0 for success. */
struct library {
    int (*plan)(int *plan, int nx, int ny, int nz, int type);
    int (*set_stream)(int plan, cudaStream_t stream);
    int (*destroy)(int plan);
    int (*run[2][2])(int plan, void *from, void *to); /* of floats and doubles; forward, back */
};

/* cufftType: R2C, C2R, D2Z, Z2D. */
static const int types[2][2] = {{0x2a, 0x2c}, {0x6a, 0x6c}};

/* Of the toolkit of this build: a driver may be too old for the next one's. */
#if CUDART_VERSION >= 13000
#define OF_BUILD "libcufft.so.12"
#else
#define OF_BUILD "libcufft.so.11"
#endif

static kith_status load(struct library *library)
{
    static const char *const names[] = {OF_BUILD, "libcufft.so.12", "libcufft.so.11",
                                        "libcufft.so"};
    const struct library_function functions[] = {
        {&library->plan, "cufftPlan3d"},       {&library->set_stream, "cufftSetStream"},
        {&library->destroy, "cufftDestroy"},   {&library->run[0][0], "cufftExecR2C"},
        {&library->run[0][1], "cufftExecC2R"}, {&library->run[1][0], "cufftExecD2Z"},
        {&library->run[1][1], "cufftExecZ2D"}};
    void *handle = library_open(names, sizeof names / sizeof names[0], "libcufft.so");
    if (!handle)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver pme on a GPU needs cuFFT, but neither libcufft.so.12 nor .11 was "
                         "found; install it (libcufft), or compute on the CPU");
    const char *missing = library_find(handle, functions, sizeof functions / sizeof functions[0]);
    return missing ? kith_fail(KITH_UNSUPPORTED,
                               "libcufft has no %s; install that of CUDA 12 or 13", missing)
                   : KITH_OK;
}

kith_status cufft_is_there(void)
{
    struct library library;
    return load(&library);
}

/* cufftResult of a plan that needs more memory than there is. */
enum { allocation_failed = 2 };

static kith_status fail_to_plan(const int32_t grid[3], int result)
{
    if (result != allocation_failed)
        return kith_fail(KITH_INTERNAL_ERROR,
                         "cuFFT cannot plan a transform of %d x %d x %d points: its error %d",
                         (int)grid[0], (int)grid[1], (int)grid[2], result);
    return kith_fail(KITH_OUT_OF_MEMORY,
                     "cuFFT has no memory for a transform of %d x %d x %d points; use a coarser "
                     "grid, or free memory of the device",
                     (int)grid[0], (int)grid[1], (int)grid[2]);
}

kith_status cufft_make(cudaStream_t stream, kith_dtype dtype, const int32_t grid[3],
                       struct cufft *cufft)
{
    const int is_double = dtype == KITH_F64;
    struct library library;
    int plan[2] = {0, 0}, made = 0, result = 0;
    if (cufft->is_made && cufft->dtype == dtype &&
        memcmp(cufft->grid, grid, sizeof cufft->grid) == 0)
        return KITH_OK;
    cufft_free(cufft);
    KITH_TRY(load(&library));
    while (made < 2 && result == 0) {
        result = library.plan(&plan[made], grid[0], grid[1], grid[2], types[is_double][made]);
        if (result == 0)
            result = library.set_stream(plan[made++], stream);
    }
    if (result != 0) {
        for (int k = 0; k < made; k++)
            library.destroy(plan[k]);
        return fail_to_plan(grid, result);
    }
    *cufft = (struct cufft){.dtype = dtype,
                            .is_made = true,
                            .forward = plan[0],
                            .back = plan[1],
                            .run_forward = library.run[is_double][0],
                            .run_back = library.run[is_double][1],
                            .destroy = library.destroy};
    memcpy(cufft->grid, grid, sizeof cufft->grid);
    return KITH_OK;
}

void cufft_free(struct cufft *cufft)
{
    if (cufft->is_made) {
        cufft->destroy(cufft->forward);
        cufft->destroy(cufft->back);
    }
    cufft->is_made = false;
}

kith_status cufft_run(const struct cufft *cufft, bool back, void *points)
{
    const int result = back ? cufft->run_back(cufft->back, points, points)
                            : cufft->run_forward(cufft->forward, points, points);
    return result == 0 ? KITH_OK
                       : kith_fail(KITH_INTERNAL_ERROR, "cuFFT fails with its error %d", result);
}
