// Sums over elements without rounding between them: the same bits for any order of the elements, and so for
// any number of ranks. The terms are sums of squares of an array like the state, or integrals over the
// elements.
//
// The accumulators are those of exact.cuh.
//
// Macros: STATE_REAL; FIELDS, unknowns; BLOCK, threads, a multiple of 32 and at least WORDS.
#include "exact.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 WORDS = EXACT_WORDS;
// Threads of a block that add to accumulators of their own.
constexpr u32 ADDERS = 64;

// The sums of squares in the elements of a part that begins at `x`. Entries are added in a fixed order,
// whatever the layout: one partial sum for every 32nd entry of [row][field], then a tree over the 32 sums.
extern "C" __global__ void __launch_bounds__(BLOCK)
    squares(const STATE_REAL* x, u32 count, u32 rows, u32 lanes, u32 planar, double* out) {
    const u32 len = rows * FIELDS, thread = blockIdx.x * BLOCK + threadIdx.x;
    if (lanes == 1) {
        const u32 e = thread / 32, l = dg_lane();
        if (e >= count) return;
        const STATE_REAL* from = x + (u64)e * len;
        double sum = 0;
        for (u32 i = l; i < len; i += 32) {
            const double v = (double)from[planar ? i % FIELDS * rows + i / FIELDS : i];
            sum += v * v;
        }
        for (u32 m = 16; m > 0; m /= 2) sum += dg_shuffle_xor(sum, m);
        if (l == 0) out[e] = sum;
        return;
    }
    if (thread >= count) return;
    const STATE_REAL* from = x + (u64)(thread / lanes) * len * lanes + thread % lanes;
    double sums[32];
    for (u32 l = 0; l < 32; ++l) {
        sums[l] = 0;
        for (u32 i = l; i < len; i += 32) {
            const double v = (double)from[i * lanes];
            sums[l] += v * v;
        }
    }
    for (u32 m = 16; m > 0; m /= 2)
        for (u32 l = 0; l < m; ++l) sums[l] += sums[l + m];
    out[thread] = sums[0];
}

// Adds `n` terms of each sum, [sum][term], to one accumulator for each block, `partial`, [sum][block][word].
extern "C" __global__ void __launch_bounds__(BLOCK) add_terms(const double* terms, u32 n, i64* partial) {
    DG_PLANNED_SHARED(i64, columns, sizeof(i64) * WORDS * ADDERS);
    const u32 t = threadIdx.x;
    terms += (u64)blockIdx.y * n;
    partial += (u64)blockIdx.y * gridDim.x * WORDS;
    if (t < ADDERS) {
        for (u32 w = 0; w < WORDS; ++w) columns[w * ADDERS + t] = 0;
        for (u32 i = blockIdx.x * ADDERS + t; i < n; i += gridDim.x * ADDERS) add_exactly(columns + t, ADDERS, terms[i]);
    }
    dg_block_sync();
    if (t >= WORDS) return;
    i64 sum = 0;
    for (u32 k = 0; k < ADDERS; ++k) sum += columns[t * ADDERS + k];
    partial[blockIdx.x * WORDS + t] = sum;
}

// Adds the accumulators of `n` blocks of each sum, `words`, [sum][word]. One block for each sum.
extern "C" __global__ void __launch_bounds__(BLOCK) join_terms(const i64* partial, u32 n, i64* words) {
    const u32 t = threadIdx.x;
    if (t >= WORDS) return;
    i64 sum = 0;
    for (u32 b = 0; b < n; ++b) sum += partial[(blockIdx.x * n + b) * WORDS + t];
    words[blockIdx.x * WORDS + t] = sum;
}

// Rounds a sum to the nearest number, ties to even. One thread.
extern "C" __global__ void round_sum(const i64* words, double* result) {
    __shared__ i64 own[WORDS];
    for (u32 w = threadIdx.x; w < WORDS; w += blockDim.x) own[w] = words[w];
    dg_block_sync();
    if (threadIdx.x == 0) *result = exact_value(own);
}
