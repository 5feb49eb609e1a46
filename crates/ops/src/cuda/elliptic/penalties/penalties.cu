// Penalties on the divergence and on jumps of the normal velocity, on affine elements of any shape, in two
// kernels; see penalties.rs.
//
// `penalties_publish` writes what neighbours read: the normal velocity at the face points and the coefficient
// of the jumps, in pairs. `penalties_test` computes with w_e = grad r_e . u
//
//   s = tau J sum_e dw_e/dr_e,   g = sJ (c- + c+)/2 (n- . u- + n+ . u+),
//
// and tests the derivatives along x_d with s, and the functions with g n_d.
//
// A block processes ELEMENTS elements; rows of all are distributed over its threads.
//
// Macros defined by the host: NP, NF (face points), DIM, FACES, POINTS, ELEMENTS, THREADS, SHARED_BYTES, and
// the entries of a row of each matrix: WIDTH, TEST_WIDTH (of the longest direction), TRACE_WIDTH,
// TRACE_TEST_WIDTH.
#include "device.cuh"
#include "matrix.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

constexpr u32 GHOST = 1u << 31, NATURAL = 1u << 30;

struct Part {
    const real* frame;
    const real* normals;
    const u32* sides;
    const u32* meets;
    const u32* face_of;
    Matrix gradient[3], gradient_test[3], trace, trace_test;
    u64 first_row, first_point;
    u32 n_elements;
    u32 padding;
    // Rows that belong to no element, which become zero.
    u64 filled, n_filled;
};

// The components of a field.
struct Field {
    const real* x[3];
};
struct Result {
    real* x[3];
};

// The row of a matrix times x(column).
template <int WIDTH_OF, typename X> DG_DEVICE real row_times(const Matrix& m, u32 rows, u32 row, const X& x) {
    real sum = 0;
#pragma unroll 4
    for (int j = 0; j < WIDTH_OF; ++j) sum += dg_load(m.values + j * rows + row) * x(dg_load(m.columns + j * rows + row));
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    penalties_publish(const Part a, const Field u, const real* __restrict__ jump, real* __restrict__ published) {
    const u32 first = blockIdx.x * ELEMENTS, n = min(a.n_elements - first, (u32)ELEMENTS);
    dg_wait_for_kernels_before();
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF;
        const u64 begin = a.first_row + (u64)(first + e) * NP;
        const real* normal = a.normals + ((u64)(first + e) * FACES + dg_load(a.face_of + q)) * (DIM + 1);
        real c[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) c[d] = dg_load(normal + d);
        real* out = published + 2 * (a.first_point + (u64)(first + e) * NF + q);
        out[0] = row_times<TRACE_WIDTH>(a.trace, NF, q, [&](u32 i) {
            real sum = 0;
#pragma unroll
            for (int d = 0; d < DIM; ++d) sum += c[d] * u.x[d][begin + i];
            return sum;
        });
        out[1] = jump[begin];
    }
    dg_let_next_kernel_start();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    penalties_test(const Part a, const Field u, const real* __restrict__ tau, const real* __restrict__ published,
                   const Result out, const double factor) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * ELEMENTS * (DIM * NP + POINTS + NF));
    real* const w = shared;                              // [direction][element][node]
    real* const s = w + DIM * ELEMENTS * NP;             // [element][point]
    real* const g = s + ELEMENTS * POINTS;               // [element][face point]
    const u32 first = blockIdx.x * ELEMENTS, n = min(a.n_elements - first, (u32)ELEMENTS);
    dg_wait_for_kernels_before();
    for (u64 i = blockIdx.x * THREADS + threadIdx.x; i < a.n_filled; i += gridDim.x * THREADS)
#pragma unroll
        for (int d = 0; d < DIM; ++d) out.x[d][a.filled + i] = 0;
    for (u32 item = threadIdx.x; item < n * NP; item += THREADS) {
        const u32 e = item / NP;
        const real* frame = a.frame + (u64)(first + e) * (DIM * DIM + 1);
        const u64 at = a.first_row + (u64)first * NP + item;
        real x[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) x[d] = u.x[d][at];
#pragma unroll
        for (int r = 0; r < DIM; ++r) {
            real sum = 0;
#pragma unroll
            for (int d = 0; d < DIM; ++d) sum += dg_load(frame + r * DIM + d) * x[d];
            w[r * ELEMENTS * NP + item] = sum;
        }
    }
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF, f = dg_load(a.face_of + q);
        const u32* side = a.sides + 2 * ((first + e) * FACES + f);
        const u32 from = dg_load(side), code = dg_load(side + 1);
        real value = 0;
        if (code != GHOST && code != NATURAL) {
            // The first point of the face has its own place in `meets`.
            u32 i = q;
            while (i > 0 && dg_load(a.face_of + i - 1) == f) --i;
            const real* own = published + 2 * (a.first_point + (u64)(first + e) * NF + q);
            const real* other = published + 2 * (u64)(from + dg_load(a.meets + code + q - i));
            const real scale = dg_load(a.normals + ((u64)(first + e) * FACES + f) * (DIM + 1) + DIM);
            value = scale * (real(0.5) * (own[1] + other[1])) * (own[0] + other[0]);
        }
        g[item] = value;
    }
    dg_block_sync();
    for (u32 item = threadIdx.x; item < n * POINTS; item += THREADS) {
        const u32 e = item / POINTS, q = item % POINTS;
        real divergence = 0;
#pragma unroll
        for (int r = 0; r < DIM; ++r) {
            const real* x = w + (r * ELEMENTS + e) * NP;
            divergence += row_times<WIDTH>(a.gradient[r], POINTS, q, [&](u32 i) { return x[i]; });
        }
        const real j = dg_load(a.frame + (u64)(first + e) * (DIM * DIM + 1) + DIM * DIM);
        s[item] = tau[a.first_row + (u64)(first + e) * NP] * j * divergence;
    }
    dg_block_sync();
    for (u32 item = threadIdx.x; item < n * NP; item += THREADS) {
        const u32 e = item / NP, i = item % NP;
        const real* frame = a.frame + (u64)(first + e) * (DIM * DIM + 1);
        const real* normals = a.normals + (u64)(first + e) * FACES * (DIM + 1);
        real y[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) y[d] = 0;
#pragma unroll
        for (int r = 0; r < DIM; ++r) {
            const real* x = s + e * POINTS;
            const real z = row_times<TEST_WIDTH>(a.gradient_test[r], NP, i, [&](u32 q) { return x[q]; });
#pragma unroll
            for (int d = 0; d < DIM; ++d) y[d] += dg_load(frame + r * DIM + d) * z;
        }
#pragma unroll 2
        for (int j = 0; j < TRACE_TEST_WIDTH; ++j) {
            const u32 q = dg_load(a.trace_test.columns + j * NP + i);
            const real t = dg_load(a.trace_test.values + j * NP + i) * g[e * NF + q];
            const real* normal = normals + dg_load(a.face_of + q) * (DIM + 1);
#pragma unroll
            for (int d = 0; d < DIM; ++d) y[d] += dg_load(normal + d) * t;
        }
        const u64 to = a.first_row + (u64)first * NP + item;
#pragma unroll
        for (int d = 0; d < DIM; ++d) out.x[d][to] = real(factor) * y[d];
    }
    dg_let_next_kernel_start();
}
