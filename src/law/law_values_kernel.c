/* The values of pairs by a formula: law_values_kernel_body.h. */

#include "law/law_values_problem.h"

#define KERNEL_BODY "law/law_values_kernel_body.h"
#define LAW_MEETS_SUBNORMAL
#include "law/for_each_real.h"
