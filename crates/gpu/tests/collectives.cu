// Kernels that use each wrapper of device.cuh, for the host (shim.rs) and the device (device.rs).
#include "device.cuh"
struct Scale { const double* x; double a; int n; };
__constant__ double shift[2] = {1.0, 2.0};

// Sums of rows of 64 numbers: shuffles within a warp, shared memory between two.
extern "C" __global__ void __launch_bounds__(64) row_sums(Scale s, double* out) {
    __shared__ double half[2];
    const int i = blockIdx.x * 64 + threadIdx.x;
    double v = i < s.n ? s.a * dg_load(s.x + i) + shift[threadIdx.x / 32] : 0.0;
    for (unsigned m = 16; m > 0; m /= 2) v += dg_shuffle_xor(v, m);
    if (dg_lane() == 0) half[threadIdx.x / 32] = v;
    dg_block_sync();
    if (threadIdx.x == 0) out[blockIdx.x] = half[0] + half[1];
}

// C (8 x 8) = A (8 x 8) B (8 x 8), in two steps of four.
extern "C" __global__ void product(const double* a, const double* b, double* c) {
    const unsigned l = dg_lane();
    double c0 = 0.0, c1 = 0.0;
    for (unsigned k = 0; k < 8; k += 4)
        dg_mma_f64_8x8x4(c0, c1, a[l / 4 * 8 + k + l % 4], b[(k + l % 4) * 8 + l / 4]);
    *reinterpret_cast<double2*>(c + l / 4 * 8 + 2 * (l % 4)) = make_double2(c0, c1);
}

// C (16 x 8) = A (16 x 4) B (4 x 8) for numbers with 11 bits of mantissa: entries of A are rounded, entries
// of B truncated.
extern "C" __global__ void product_of_few_bits(const float* a, const float* b, float* c) {
    const unsigned l = dg_lane();
    float c0 = 0, c1 = 0, d0 = 0, d1 = 0;
    dg_mma_tf32_16x8x4(c0, c1, d0, d1, a[l / 4 * 4 + l % 4], a[32 + l / 4 * 4 + l % 4], b[l % 4 * 8 + l / 4]);
    float* const to = c + l / 4 * 8 + 2 * (l % 4);
    to[0] = c0;
    to[1] = c1;
    to[64] = d0;
    to[65] = d1;
}

// Each thread copies two numbers, reversed within a block in dynamic shared memory, with two groups in
// flight.
extern "C" __global__ void reversed(const double* x, double* y, int rounds) {
    DG_DYNAMIC_SHARED(double, ring);
    const int t = threadIdx.x, width = 2 * blockDim.x;
    dg_cp_async16(ring + 2 * t, x + 2 * t);
    dg_cp_async_commit();
    for (int r = 0; r < rounds; r++) {
        if (r + 1 < rounds) dg_cp_async16(ring + (r + 1) % 2 * width + 2 * t, x + (r + 1) * width + 2 * t);
        dg_cp_async_commit();
        dg_cp_async_wait<1>();
        dg_block_sync();
        for (int i = t; i < width; i += blockDim.x) y[r * width + i] = ring[r % 2 * width + width - 1 - i];
        dg_block_sync();
    }
}

extern "C" __global__ void votes(const unsigned* x, unsigned* out) {
    const unsigned bits = dg_ballot(x[dg_lane()] > 2), from = dg_shuffle(x[dg_lane()], 35u);
    const unsigned down = dg_shuffle_down(x[dg_lane()], 30u);
    out[dg_lane()] = bits + 1000 * from + 100000 * down + (dg_all(true) && !dg_any(false) ? 0 : 1);
}

extern "C" __global__ void roots(const double* x, double* out) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[3 * t] = dg_reciprocal(x[t]);
    out[3 * t + 1] = dg_rsqrt(x[t]);
    out[3 * t + 2] = dg_sqrt(x[t]);
}
