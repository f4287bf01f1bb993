/* The values of pairs on a GPU, for one precision (law/for_each_real_cuda.h): a thread per pair. */

LAW_INLINE void NAME(values)(const struct law_form form, const struct law_values_problem *problem)
{
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= problem->count)
        return;
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    struct NAME(law_pair) pair = {(REAL)problem->softening2};
    for (int c = 0; c < 3; c++) {
        pair.d[c] = ((const REAL *)problem->d[c])[k];
        pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
    }
    pair.w_i = ((const REAL *)problem->w_i)[k];
    pair.w_j = ((const REAL *)problem->w_j)[k];
    if (form.kind == law_custom) {
        pair.q_i = ((const REAL *)problem->q_i)[k];
        pair.q_j = ((const REAL *)problem->q_j)[k];
    }
    REAL force[3];
    ((REAL *)problem->value)[k] = NAME(law_value)(form, &law, &pair);
    NAME(law_force)(form, &law, &pair, force);
    for (int c = 0; c < 3; c++)
        ((REAL *)problem->force[c])[k] = force[c];
}

#ifdef LAW_CUSTOM_BODY
extern "C" __global__ void NAME(law_values_custom)(const struct law_values_problem problem)
{
    NAME(values)(law_form{law_custom, law_unweighted}, &problem);
}
#endif
