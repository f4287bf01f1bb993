/* The kernels of the seeds, for one precision. */

#include "matrix/matrix_cuda_body.h"

#include "matrix/tile_p_cuda_body.h"

#include "matrix/tile_p2_cuda_body.h"
