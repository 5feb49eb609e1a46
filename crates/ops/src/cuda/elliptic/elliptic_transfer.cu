// Transfers between two orders: a chain of sparse factors for each element.
//
// Macros defined by the host: those of chain.cuh, and ADD.
#include "device.cuh"
#include "chain.cuh"

// Number of loads that a thread has outstanding.
#define AHEAD 8

// out ← A in, or out ← out + A in: applies the factors to ELEMENTS elements.
extern "C" __global__ void __launch_bounds__(THREADS)
    transfer(const Chain a, const real* __restrict__ in, real* __restrict__ out, u64 first_in, u64 first_out, u32 n_elements,
             u32 padding) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * 2 * WIDEST * STRIDE);
    const u32 first = blockIdx.x * ELEMENTS, n = min(n_elements - first, (u32)ELEMENTS);
    dg_wait_for_kernels_before();
    const real* const given = in + first_in + (u64)first * ROWS_IN;
    const real* const from = chained(a, shared, n, [&](u32 item) { return given[item]; });
    real* const place = out + first_out + (u64)first * ROWS_OUT;
    for (u32 begin = threadIdx.x; begin < n * ROWS_OUT; begin += AHEAD * THREADS) {
        // Several old values are loaded before the first new one is stored.
        real v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const u32 item = begin + k * THREADS;
            v[k] = ADD && item < n * ROWS_OUT ? place[item] : real(0);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const u32 item = begin + k * THREADS;
            if (item < n * ROWS_OUT) place[item] = v[k] + from[item % ROWS_OUT * STRIDE + item / ROWS_OUT];
        }
    }
}
