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

// Vectors of one launch, and terms of a vector; as in permutation.rs.
#define PARTS 8
#define TERMS 4

// A row of blocks for each vector.
struct Gathered {
    real* to[PARTS];
    const u32* places[PARTS];
};

struct Scattered {
    const u32* places[PARTS];
    const real* from[PARTS][TERMS];
    double factors[PARTS][TERMS];
    u32 terms[PARTS];
};

// to_i <- from_{places_i}, or 0 where there is no place.
extern "C" __global__ void __launch_bounds__(256) gather(Gathered all, const real* __restrict__ from, u64 n) {
    real* const __restrict__ to = all.to[blockIdx.y];
    const u32* const __restrict__ places = all.places[blockIdx.y];
    FOR_EACH_ENTRY(i, n) {
        const u32 place = places[i];
        to[i] = place == NOWHERE ? real(0) : from[place];
    }
}

// to_{places_i} <- the sum of c_k x_k, entry i, from left to right, where there is a place.
extern "C" __global__ void __launch_bounds__(256) scatter(real* __restrict__ to, Scattered all, u64 n) {
    const u32 part = blockIdx.y;
    const u32* const __restrict__ places = all.places[part];
    FOR_EACH_ENTRY(i, n) {
        const u32 place = places[i];
        if (place == NOWHERE) continue;
        real sum = 0;
#pragma unroll
        for (u32 k = 0; k < TERMS; ++k)
            if (k < all.terms[part]) sum = sum + real(all.factors[part][k]) * all.from[part][k][i];
        to[place] = sum;
    }
}
