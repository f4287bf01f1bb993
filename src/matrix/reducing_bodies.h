/* The kernels that keep nothing of the matrix, for one precision. */

#include "matrix/matrix_cuda_body.h"

#include "matrix/reduce_cuda_body.h"

#include "matrix/histogram_cuda_body.h"
