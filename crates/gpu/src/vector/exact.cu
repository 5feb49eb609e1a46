// Sums of vectors by items, see exact.cuh. The results are accumulators; `exact_round` rounds them.
#include "exact.cuh"

// Vectors of several sums.
struct Pairs {
    const real* x[16];
    const real* y[16];
};

// The sums of x y for each pair, a row of blocks a pair.
extern "C" __global__ void __launch_bounds__(32 * ITEM_WARPS) exact_dots(Pairs pairs, ItemLists lists, long long* words) {
    const real* const x = pairs.x[blockIdx.y];
    const real* const y = pairs.y[blockIdx.y];
    sum_items(lists, words + blockIdx.y * EXACT_WORDS, [&](unsigned long long i) { return double(x[i]) * double(y[i]); });
}

extern "C" __global__ void __launch_bounds__(32 * ITEM_WARPS)
    exact_sums(const real* __restrict__ x, ItemLists lists, long long* words) {
    sum_items(lists, words, [&](unsigned long long i) { return double(x[i]); });
}

// y <- y + a x, and the sum of its squares.
extern "C" __global__ void __launch_bounds__(32 * ITEM_WARPS)
    exact_add_and_square(real* __restrict__ y, double a_, const real* __restrict__ x, ItemLists lists, long long* words) {
    const real a = real(a_);
    sum_items(lists, words, [&](unsigned long long i) {
        const real sum = y[i] + a * x[i];
        y[i] = sum;
        return double(sum) * double(sum);
    });
}

// Rounds `n` accumulators, and empties them. One block.
extern "C" __global__ void exact_round(long long* words, unsigned n, double* results) {
    exact_values<16>(words, n, results);
}

// Replaces a number by its complement: the largest of numbers that are not negative has the smallest one.
extern "C" __global__ void complement(unsigned long long* bits) { *bits = ~*bits; }
