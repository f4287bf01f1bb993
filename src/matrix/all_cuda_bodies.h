/* The kernels of a formula, for one precision. */

#include "matrix/matrix_cuda_body.h"

#include "matrix/reduce_cuda_body.h"

#include "matrix/histogram_cuda_body.h"

#ifdef LAW_CUSTOM_BODY
#include "matrix/custom_cuda_body.h"
#endif
