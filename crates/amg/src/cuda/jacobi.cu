// Steps of polynomial smoothers with the diagonal, for operators that are not stored.
#include "rows.cuh"

// Entries per thread of the first kernel, one block apart; as in jacobi.rs.
#define UNROLL 4

// x <- beta D^-1 b
extern "C" __global__ void __launch_bounds__(THREADS)
    relax_from_zero(const real* __restrict__ inverse_diagonal, const real* __restrict__ b, real* __restrict__ x,
                    double beta_, u64 n) {
    begin();
    const u64 first = blockIdx.x * (u64)(UNROLL * THREADS) + threadIdx.x;
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++) {
        const u64 i = first + k * THREADS;
        if (i < n) x[i] = real(beta_) * (inverse_diagonal[i] * b[i]);
    }
}

// y <- x + beta D^-1 (b - ax)
extern "C" __global__ void __launch_bounds__(THREADS)
    relax(const real* __restrict__ inverse_diagonal, const real* __restrict__ b, const real* __restrict__ ax,
          const real* __restrict__ x, real* __restrict__ y, double beta_, u64 n) {
    begin();
    const u64 i = THREAD_OF_GRID;
    if (i >= n) return;
    y[i] = x[i] + real(beta_) * (inverse_diagonal[i] * (b[i] - ax[i]));
}
