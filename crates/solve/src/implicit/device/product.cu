// Vectors in canonical order, and states in the order of the device: what is beside products with the
// Jacobian. Macros defined by the host: THREADS, STATE (the number type of states).
#include "device.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

#define ENTRY const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x

// state_p <- v_e for pairs of a place p and an entry e, n of them
extern "C" __global__ void __launch_bounds__(THREADS)
    spread(const u32* __restrict__ pairs, const double* __restrict__ v, double* __restrict__ state, u64 n) {
    ENTRY;
    if (i < n) state[pairs[2 * i]] = v[pairs[2 * i + 1]];
}

// state_p <- start_e + share delta_e
extern "C" __global__ void __launch_bounds__(THREADS)
    move_state(const u32* __restrict__ pairs, const double* __restrict__ start, const double* __restrict__ delta,
               double share, STATE* __restrict__ state, u64 n) {
    ENTRY;
    if (i >= n) return;
    const u32 e = pairs[2 * i + 1];
    // Without a share the bits are those of the start, also if the direction is not finite.
    state[pairs[2 * i]] = STATE(share == 0.0 ? start[e] : start[e] + share * delta[e]);
}

// v_i <- f_i state_p; without factors f (0) the state itself
extern "C" __global__ void __launch_bounds__(THREADS)
    collect(const u32* __restrict__ places, const STATE* __restrict__ state, const double* __restrict__ factors,
            double* __restrict__ v, u64 n) {
    ENTRY;
    if (i >= n) return;
    const double x = double(state[places[i]]);
    v[i] = factors ? factors[i] * x : x;
}

// y <- S x/dtau - S R'(u) x, with the product in the order of the device
extern "C" __global__ void __launch_bounds__(THREADS)
    operate(const u32* __restrict__ places, const double* __restrict__ rate, const double* __restrict__ scales,
            const double* __restrict__ shifts, const double* __restrict__ x, double* __restrict__ y, u64 n) {
    ENTRY;
    if (i < n) y[i] = shifts[i] * x[i] - scales[i] * rate[places[i]];
}

// Factors of the fields.
struct Factors {
    double of[5];
};

// y_k <- y_k + a_k x_k for each of the fields k of each element, one element a block; element e begins at
// firsts[e]
extern "C" __global__ void __launch_bounds__(THREADS)
    add_fields(const u32* __restrict__ firsts, u32 fields, const Factors a, const double* __restrict__ x,
               double* __restrict__ y) {
    const u32 first = firsts[blockIdx.x], n = firsts[blockIdx.x + 1] - first;
    for (u32 i = threadIdx.x; i < n; i += THREADS) y[first + i] += a.of[i / (n / fields)] * x[first + i];
}
