// The diagonal of the functions that are continuous over all elements, Q diag(QᵀAQ)⁻¹ Qᵀ, for the nodes that
// elements share.
//
// Macros defined by the host: THREADS.
#include "device.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// An entry that belongs to no function.
#define NOWHERE 0xffffffffu

// sums ← diag(QᵀAQ)⁻¹ Qᵀ (b − ax), or of b without `ax`: a thread for each function. Entries from `len` on
// are those that other ranks have sent.
extern "C" __global__ void __launch_bounds__(THREADS)
    conforming_sum(const u32* __restrict__ starts, const u32* __restrict__ entries, const real* __restrict__ inverse,
                   const real* b, const real* ax, const real* received, real* __restrict__ sums, u64 n, u32 len,
                   u32 padding) {
    const u64 k = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const u32 first = starts[k], end = starts[k + 1];
    const real factor = dg_load(inverse + k);
    dg_wait_for_kernels_before();
    real sum = 0;
    for (u32 i = first; i < end; ++i) {
        const u32 at = entries[i];
        sum += at >= len ? received[at - len] : ax ? b[at] - ax[at] : b[at];
    }
    sums[k] = factor * sum;
}

// y ← x + β (D⁻¹ (b − ax) + Q sums), or of b without `ax`, and without x the second term. Rows that fill up
// the host's blocks, from `n_rows` on, have the residual itself.
extern "C" __global__ void __launch_bounds__(THREADS)
    conforming_add(const u32* __restrict__ function, const real* sums, const real* __restrict__ diagonal, const real* b,
                   const real* ax, const real* x, real* y, u64 len, u64 n_rows, double beta) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= len) return;
    const u32 of = function[i];
    const real d = i < n_rows ? dg_load(diagonal + i) : real(1);
    dg_wait_for_kernels_before();
    const real r = ax ? b[i] - ax[i] : b[i];
    real z = d * r;
    if (of != NOWHERE) z += sums[of];
    y[i] = (x ? x[i] : real(0)) + real(beta) * z;
}

// r ← b − ax
extern "C" __global__ void __launch_bounds__(THREADS)
    conforming_difference(const real* b, const real* ax, real* r, u64 n) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    dg_wait_for_kernels_before();
    r[i] = b[i] - ax[i];
}
