// Reductions over the tree of vector/reduce.rs: leaves of LEAF entries with LANES running sums, joined in
// pairs. A tree that splits at the largest power of two equals the tree that joins neighbours level by level
// and passes an odd last one up. So each block reduces a leaf, and a second kernel joins the results of the
// blocks. All threads of a block load entries to shared memory; 16 of them then sum one lane each, in order.
// All results have the bits of the host.
#pragma once
#include "device.cuh"

#define LEAF 4096ull
#define LANES 16u
#define THREADS 256u
// Threads of the second kernel, and partial results that it joins at a time.
#define JOINED 1024u

// A sum and its rounding error (Knuth's two-sum).
struct Compensated {
    double sum, error;
};

struct Dot {
    typedef double Value;
    static DG_DEVICE double join(double a, double b) { return a + b; }
    static DG_DEVICE double down(double a, unsigned n) { return dg_shuffle_down(a, n); }
    static DG_DEVICE double result(double a) { return a; }
};

struct Sum {
    typedef Compensated Value;
    static DG_DEVICE Compensated add(Compensated a, double x) {
        const double sum = a.sum + x;
        const double seen = sum - a.sum;
        const double error = (a.sum - (sum - seen)) + (x - seen);
        return {sum, a.error + error};
    }
    static DG_DEVICE Compensated join(Compensated a, Compensated b) {
        const Compensated joined = add(a, b.sum);
        return {joined.sum, joined.error + b.error};
    }
    static DG_DEVICE Compensated down(Compensated a, unsigned n) {
        return {dg_shuffle_down(a.sum, n), dg_shuffle_down(a.error, n)};
    }
    // The error of an infinite sum is meaningless.
    static DG_DEVICE double result(Compensated a) { return fabs(a.sum) <= 1.7976931348623157e308 ? a.sum + a.error : a.sum; }
};

// The larger magnitude, or NaN if one is NaN.
struct Largest {
    typedef double Value;
    static DG_DEVICE double join(double a, double b) { return a != a || a > b ? a : b; }
    static DG_DEVICE double down(double a, unsigned n) { return dg_shuffle_down(a, n); }
    // A single NaN pattern, as on the host.
    static DG_DEVICE double result(double a) { return a != a ? __longlong_as_double(0x7ff8000000000000ll) : a; }
};

// Joins values[0 .. count) to values[0]. All threads of the block call it; there must be at least count / 2
// of them.
template <class R> DG_DEVICE void tree(typename R::Value* values, unsigned count) {
    const unsigned t = threadIdx.x;
    dg_block_sync();
    while (count > 1) {
        const unsigned next = (count + 1) / 2;
        typename R::Value joined;
        if (t < next) joined = 2 * t + 1 < count ? R::join(values[2 * t], values[2 * t + 1]) : values[2 * t];
        dg_block_sync();
        if (t < next) values[t] = joined;
        dg_block_sync();
        count = next;
    }
}

// The partial result of a leaf from the entries in shared memory, `add`ed in order for each lane; then the
// lanes are joined.
template <class R, class Add>
DG_DEVICE void leaf_sum(typename R::Value zero, typename R::Value* partial, const double* entries, unsigned count, Add add) {
    dg_block_sync();
    typename R::Value lane = zero;
    if (threadIdx.x < LANES) {
#pragma unroll 16
        for (unsigned i = threadIdx.x; i < count; i += LANES) lane = add(lane, entries[i]);
    }
    for (unsigned width = LANES / 2; width > 0; width /= 2) lane = R::join(lane, R::down(lane, width));
    if (threadIdx.x == 0) partial[blockIdx.x] = lane;
}

// Number of entries in the block's leaf of n entries.
DG_DEVICE unsigned leaf_count(unsigned long long n) {
    const unsigned long long left = n - blockIdx.x * LEAF;
    return left < LEAF ? unsigned(left) : unsigned(LEAF);
}

// The partial result of a leaf, with `make(i)` for each entry.
template <class R, class Make, class Add>
DG_DEVICE void leaf(typename R::Value zero, typename R::Value* partial, unsigned long long n, Make make, Add add) {
    __shared__ double entries[LEAF];
    const unsigned count = leaf_count(n);
#pragma unroll
    for (unsigned k = 0; k < unsigned(LEAF) / THREADS; k++) {
        const unsigned i = threadIdx.x + k * THREADS;
        if (i < count) entries[i] = make(blockIdx.x * LEAF + i);
    }
    leaf_sum<R>(zero, partial, entries, count, add);
}

// Joins the partial results of `count` blocks, at most JOINED^2; for several sums each block joins one.
template <class R> DG_DEVICE void join(const typename R::Value* partials, unsigned count, double* results) {
    const typename R::Value* const partial = partials + (unsigned long long)blockIdx.x * count;
    double* const result = results + blockIdx.x;
    __shared__ typename R::Value some[JOINED];
    __shared__ typename R::Value all[JOINED];
    const unsigned t = threadIdx.x, chunks = (count + JOINED - 1) / JOINED;
    for (unsigned c = 0; c < chunks; c++) {
        const unsigned here = count - c * JOINED < JOINED ? count - c * JOINED : JOINED;
        if (t < here) some[t] = partial[c * JOINED + t];
        tree<R>(some, here);
        if (t == 0) all[c] = some[0];
        dg_block_sync();
    }
    tree<R>(all, chunks);
    if (t == 0) *result = R::result(all[0]);
}
