/* The kernels of the seeds, for float and for double. */

#define KERNEL_BODY "matrix/tile_body.h"
#include "law/for_each_real_cuda.h"
