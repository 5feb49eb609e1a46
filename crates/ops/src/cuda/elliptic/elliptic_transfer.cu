// Transfers between two orders: a chain of sparse factors for each element.
//
// Macros defined by the host: STAGES, ROWS and WIDTHS of the factors, WIDEST (rows of the widest vector of
// the chain), ROWS_IN, ROWS_OUT, ELEMENTS of a block, CHUNK (elements for which a thread computes a row),
// STRIDE (distance between rows in shared memory: odd, so that rows of one element are in different banks),
// THREADS, ADD.
#include "device.cuh"
#include "matrix.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// Number of loads that a thread has outstanding.
#define AHEAD 8

struct Chain {
    Matrix stages[STAGES];
};

// out <- A in for one factor, with rows and width as constants, so that entries are loaded ahead.
template <u32 ROWS_OF, u32 WIDTH_OF> DG_DEVICE void multiply(const Matrix& m, const real* from, real* to) {
    for (u32 item = threadIdx.x; item < ROWS_OF * (ELEMENTS / CHUNK); item += THREADS) {
        const u32 row = item % ROWS_OF, begin = item / ROWS_OF * CHUNK;
        real sum[CHUNK];
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) sum[k] = 0;
#pragma unroll 8
        for (u32 j = 0; j < WIDTH_OF; ++j) {
            const real v = dg_load(m.values + j * ROWS_OF + row);
            const real* x = from + dg_load(m.columns + j * ROWS_OF + row) * STRIDE + begin;
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) sum[k] += v * x[k];
        }
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) to[row * STRIDE + begin + k] = sum[k];
    }
}

constexpr u32 rows_of[STAGES] = ROWS, width_of[STAGES] = WIDTHS;

// The factors from number S on; the result is where the last one has written.
template <int S> DG_DEVICE real* apply(const Chain& a, real* from, real* to) {
    if constexpr (S < STAGES) {
        multiply<rows_of[S], width_of[S]>(a.stages[S], from, to);
        dg_block_sync();
        return apply<S + 1>(a, to, from);
    }
    return from;
}

// out ← A in, or out ← out + A in: applies the factors one after the other to ELEMENTS elements, whose
// numbers are stored as [row][element].
extern "C" __global__ void __launch_bounds__(THREADS)
    transfer(const Chain a, const real* __restrict__ in, real* __restrict__ out, u64 first_in, u64 first_out, u32 n_elements,
             u32 padding) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * 2 * WIDEST * STRIDE);
    real* from = shared;
    real* to = shared + WIDEST * STRIDE;
    const u32 first = blockIdx.x * ELEMENTS, n = min(n_elements - first, (u32)ELEMENTS);
    dg_wait_for_kernels_before();
    for (u32 item = threadIdx.x; item < ELEMENTS * ROWS_IN; item += THREADS) {
        const u32 e = item / ROWS_IN, i = item % ROWS_IN;
        from[i * STRIDE + e] = e < n ? in[first_in + (u64)first * ROWS_IN + item] : real(0);
    }
    dg_block_sync();
    from = apply<0>(a, from, to);
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
