// A chain of sparse factors for each element, in shared memory.
//
// Macros defined by the host: STAGES, ROWS and WIDTHS of the factors, WIDEST (rows of the widest vector of
// the chain), ROWS_IN, ROWS_OUT, ELEMENTS of a block, CHUNK (elements for which a thread computes a row),
// STRIDE (distance between rows in shared memory: odd, so that rows of one element are in different banks),
// THREADS.
#pragma once
#include "matrix.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

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

// The factors applied one after the other to n ≤ ELEMENTS elements, whose numbers are [row][element] in
// shared memory; `load` gives the number `item` of those of the elements, [element][row].
template <class Load> DG_DEVICE real* chained(const Chain& a, real* shared, u32 n, Load load) {
    real* const to = shared + WIDEST * STRIDE;
    for (u32 item = threadIdx.x; item < ELEMENTS * ROWS_IN; item += THREADS) {
        const u32 e = item / ROWS_IN, i = item % ROWS_IN;
        shared[i * STRIDE + e] = e < n ? load(item) : real(0);
    }
    dg_block_sync();
    return apply<0>(a, shared, to);
}
