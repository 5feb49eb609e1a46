// Updates of vectors, entry by entry: the device counterpart of vector/host.rs, with the same operations in
// the same order.
#include "device.cuh"

// Each thread processes UNROLL entries, one block apart, so that several loads are in flight.
#define THREADS 256
#define UNROLL 4
#define FOR_EACH_ENTRY(i, n)                                                                                     \
    _Pragma("unroll") for (unsigned long long step = 0,                                                         \
                           i = blockIdx.x * (unsigned long long)(THREADS * UNROLL) + threadIdx.x;               \
                           step < UNROLL; step++, i += THREADS) if (i < n)

// Largest number of vectors that a launch changes: a row of blocks for each.
#define PARTS 4

struct Vectors {
    real* x[PARTS];
};

// Terms of each vector. Factors are passed in double precision and rounded once.
struct Terms {
    const real* x[8][PARTS];
    double c[8];
    unsigned n;
};

extern "C" __global__ void __launch_bounds__(THREADS) fill(real* x, double value, unsigned long long n) {
    FOR_EACH_ENTRY(i, n) { x[i] = real(value); }
}

// y <- a x + b y; a factor of zero does not read the old value.
extern "C" __global__ void __launch_bounds__(THREADS)
    axpby(Vectors to, double a_, Vectors from, double b_, unsigned long long n) {
    real* const __restrict__ y = to.x[blockIdx.y];
    const real* const __restrict__ x = from.x[blockIdx.y];
    const real a = real(a_), b = real(b_);
    if (b == real(0)) {
        FOR_EACH_ENTRY(i, n) { y[i] = a * x[i]; }
    } else if (b == real(1)) {
        FOR_EACH_ENTRY(i, n) { y[i] = y[i] + a * x[i]; }
    } else {
        FOR_EACH_ENTRY(i, n) { y[i] = b * y[i] + a * x[i]; }
    }
}

// x <- x + a p, then p <- y + b p
extern "C" __global__ void __launch_bounds__(THREADS)
    step_and_turn(real* __restrict__ p, double a_, real* __restrict__ x, double b_, const real* __restrict__ y,
                  unsigned long long n) {
    const real a = real(a_), b = real(b_);
    FOR_EACH_ENTRY(i, n) {
        const real direction = p[i];
        x[i] = x[i] + a * direction;
        p[i] = b == real(0) ? y[i] : b * direction + y[i];
    }
}

// z_i <- a x_i y_i + b z_i
extern "C" __global__ void __launch_bounds__(THREADS)
    add_product(real* __restrict__ z, double a_, const real* x, const real* y, double b_, unsigned long long n) {
    const real a = real(a_), b = real(b_);
    if (b == real(0)) {
        FOR_EACH_ENTRY(i, n) { z[i] = a * x[i] * y[i]; }
    } else {
        FOR_EACH_ENTRY(i, n) { z[i] = b * z[i] + a * x[i] * y[i]; }
    }
}

// y <- b y + sum of c_k x_k, from left to right
extern "C" __global__ void __launch_bounds__(THREADS) lincomb(Vectors to, double b_, Terms terms, unsigned long long n) {
    real* const y = to.x[blockIdx.y];
    const real b = real(b_);
    FOR_EACH_ENTRY(i, n) {
        real sum = b == real(0) ? real(0) : b * y[i];
#pragma unroll
        for (unsigned k = 0; k < 8; k++)
            if (k < terms.n) sum = sum + real(terms.c[k]) * terms.x[k][blockIdx.y][i];
        y[i] = sum;
    }
}
