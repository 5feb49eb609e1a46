// Reductions of vectors, with the tree and the bits of vector/reduce.rs.
#include "reduce.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    dot_blocks(const real* __restrict__ x, const real* __restrict__ y, double* partial, unsigned long long n) {
    leaf<Dot>(
        0.0, partial, n, [&](unsigned long long i) { return double(x[i]) * double(y[i]); },
        [](double lane, double entry) { return lane + entry; });
}

// Vectors of several sums.
struct Pairs {
    const real* x[16];
    const real* y[16];
};

// The sums of x y for each pair, a row of blocks a pair.
extern "C" __global__ void __launch_bounds__(THREADS) dots_blocks(Pairs pairs, double* partial, unsigned long long n) {
    const real* const x = pairs.x[blockIdx.y];
    const real* const y = pairs.y[blockIdx.y];
    leaf<Dot>(
        0.0, partial + (unsigned long long)blockIdx.y * gridDim.x, n,
        [&](unsigned long long i) { return double(x[i]) * double(y[i]); },
        [](double lane, double entry) { return lane + entry; });
}

// The sums of x y and x z; the results of the second follow those of all blocks of the first.
extern "C" __global__ void __launch_bounds__(THREADS)
    dot_two_blocks(const real* __restrict__ x, const real* __restrict__ y, const real* __restrict__ z, double* partial,
                   unsigned long long n) {
    __shared__ double entries[LEAF];
    constexpr unsigned EACH = unsigned(LEAF) / THREADS;
    const auto add = [](double lane, double entry) { return lane + entry; };
    const unsigned count = leaf_count(n);
    const unsigned long long begin = blockIdx.x * LEAF;
    double second[EACH];
#pragma unroll
    for (unsigned k = 0; k < EACH; k++) {
        const unsigned i = threadIdx.x + k * THREADS;
        if (i >= count) continue;
        const double factor = double(x[begin + i]);
        entries[i] = factor * double(y[begin + i]);
        second[k] = factor * double(z[begin + i]);
    }
    leaf_sum<Dot>(0.0, partial, entries, count, add);
    dg_block_sync();
#pragma unroll
    for (unsigned k = 0; k < EACH; k++) {
        const unsigned i = threadIdx.x + k * THREADS;
        if (i < count) entries[i] = second[k];
    }
    leaf_sum<Dot>(0.0, partial + gridDim.x, entries, count, add);
}

// y <- y + a x, and the sum of its squares.
extern "C" __global__ void __launch_bounds__(THREADS)
    add_and_square_blocks(real* __restrict__ y, double a_, const real* __restrict__ x, double* partial, unsigned long long n) {
    const real a = real(a_);
    leaf<Dot>(
        0.0, partial, n,
        [&](unsigned long long i) {
            const real sum = y[i] + a * x[i];
            y[i] = sum;
            return double(sum) * double(sum);
        },
        [](double lane, double entry) { return lane + entry; });
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sum_blocks(const real* __restrict__ x, Compensated* partial, unsigned long long n) {
    leaf<Sum>({0.0, 0.0}, partial, n, [&](unsigned long long i) { return double(x[i]); }, Sum::add);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    max_blocks(const real* __restrict__ x, double* partial, unsigned long long n) {
    leaf<Largest>(0.0, partial, n, [&](unsigned long long i) { return fabs(double(x[i])); }, Largest::join);
}

extern "C" __global__ void __launch_bounds__(JOINED) dot_join(const double* partial, unsigned count, double* result) {
    join<Dot>(partial, count, result);
}

extern "C" __global__ void __launch_bounds__(JOINED)
    sum_join(const Compensated* partial, unsigned count, double* result) {
    join<Sum>(partial, count, result);
}

extern "C" __global__ void __launch_bounds__(JOINED) max_join(const double* partial, unsigned count, double* result) {
    join<Largest>(partial, count, result);
}
