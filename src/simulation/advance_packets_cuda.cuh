#ifndef SIMULATION_ADVANCE_PACKETS_CUDA_CUH
#define SIMULATION_ADVANCE_PACKETS_CUDA_CUH

/* How blocks hand each other numbers without a barrier: a number travels in packets of 8 bytes,
 * half of them the number's bits and half a tag that says which round it belongs to. A reader waits
 * until the tag is that of the round it wants. 8 bytes are written and read as one, so that the tag
 * needs no fence, and one passage through the second-level cache is the whole latency. (NCCL's
 * LL protocol has the same idea.)
 *
 * Two rounds lie side by side: whoever writes round r + 2 has read all of r + 1, whose writers had
 * read all of r. */

#include <stdint.h>

typedef unsigned long long packet;

/* What is stored for one number. */
template <typename real> struct packets_of {
    static constexpr int count = sizeof(real) / 4;
};

/* As many consecutive numbers as two packets hold. */
template <typename real> struct packet_pair {
    static constexpr int numbers = 2 / packets_of<real>::count;
    packet first, second;
};

__device__ inline packet make_packet(uint32_t bits, uint32_t tag)
{
    return (packet)tag << 32 | bits;
}

__device__ inline void send(packet *to, float number, uint32_t tag)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to),
                 "l"(make_packet(__float_as_uint(number), tag))
                 : "memory");
}

__device__ inline void send(packet *to, double number, uint32_t tag)
{
    const packet bits = (packet)__double_as_longlong(number);
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to),
                 "l"(make_packet((uint32_t)bits, tag)), "l"(make_packet(bits >> 32, tag))
                 : "memory");
}

/* As they are now; aligned to 16 bytes. */
template <typename real> __device__ inline struct packet_pair<real> look_at(const packet *from) {
    struct packet_pair<real> pair;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pair.first), "=l"(pair.second)
                 : "l"(from)
                 : "memory");
    return pair;
}

template <typename real>
__device__ inline bool is_of_round(const struct packet_pair<real> &pair, uint32_t tag)
{
    return pair.first >> 32 == tag && pair.second >> 32 == tag;
}

__device__ inline void unpack(const struct packet_pair<float> &pair, float *to)
{
    *(float2 *)to =
        make_float2(__uint_as_float((uint32_t)pair.first), __uint_as_float((uint32_t)pair.second));
}

__device__ inline void unpack(const struct packet_pair<double> &pair, double *to)
{
    *to = __longlong_as_double((long long)(pair.second << 32 | (uint32_t)pair.first));
}

#endif
