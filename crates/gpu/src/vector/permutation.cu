// Copies between a vector and another array that has the same numbers at other places.
#include "device.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

// Entries per thread, one block apart; as in permutation.rs.
#define UNROLL 4
#define FOR_EACH_ENTRY(i, n)                                                                                     \
    _Pragma("unroll") for (u64 step = 0, i = blockIdx.x * (u64)(UNROLL * blockDim.x) + threadIdx.x;             \
                           step < UNROLL; step++, i += blockDim.x) if (i < n)

// Marks an entry without a counterpart.
#define NOWHERE 0xffffffffu

// to_i <- from_{places_i}, or 0 where there is no place.
extern "C" __global__ void __launch_bounds__(256)
    gather(real* __restrict__ to, const real* __restrict__ from, const u32* __restrict__ places, u64 n) {
    FOR_EACH_ENTRY(i, n) {
        const u32 place = places[i];
        to[i] = place == NOWHERE ? real(0) : from[place];
    }
}

// to_{places_i} <- from_i where there is a place.
extern "C" __global__ void __launch_bounds__(256)
    scatter(real* __restrict__ to, const real* __restrict__ from, const u32* __restrict__ places, u64 n) {
    FOR_EACH_ENTRY(i, n) {
        const u32 place = places[i];
        if (place != NOWHERE) to[place] = from[i];
    }
}
