#ifndef TESTS_GPU_PEERS_H
#define TESTS_GPU_PEERS_H

/* Contexts that several GPUs share. */

#include "gpu_testing.h"

#include "kith/ranks.h"

enum { most_peers = 8 };

/* A context on the first device with this number of peers: the next ones, and the first again. */
static inline kith_context *context_of(int32_t peers, cudaStream_t stream)
{
    int devices = 0;
    int32_t indices[most_peers];
    kith_context *context = NULL;
    assert_cuda(cudaGetDeviceCount(&devices));
    for (int32_t k = 0; k < peers; k++)
        indices[k] = (k + 1) % devices;
    const kith_context_options options = {.device = {KITH_CUDA, 0}, .stream = stream};
    assert_ok(kith_context_create(&options, &context));
    assert_ok(kith_context_add_peers(context, indices, peers));
    return context;
}

#endif
