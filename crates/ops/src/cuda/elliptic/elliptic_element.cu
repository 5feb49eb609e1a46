// A u of the interior penalty method on affine simplices of low order: one thread per element.
//
// Coefficients are piecewise constant. The formulas are in elliptic/device/simplices.rs; elliptic_step.cuh
// defines how A u is used at once in a residual or a smoother's step.
//
// Macros defined by the host: DIM, NP, FACE_NODES, MODES (of order p − 1), RATIO and REACTION (whether such
// coefficients exist), CODES, THREADS, BLOCKS, CODE_BITS; and the matrices as lists: GRADIENT
// [d][mode][node], ACROSS [face node][own order], TANGENT [m][face node][face node], FACE_MASS [face
// node][face node], LIFT [side][mode][face node], VOLUME_MASS [node][node], OWN_ROWS [side][own order],
// OWN_EDGES [side][edge].
#include "device.cuh"
#include "elliptic_step.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

constexpr int SIDES = DIM + 1, EDGES = DIM * (DIM + 1) / 2;

struct Arguments {
    // [code]: nodes in the side's own order, four bits each; then the edges of the side, four bits each, and
    // the side.
    const u64* rows;
    const u32* edges;
    const real* weights;
    const real* penalty;
    const real* ratio;
    const real* reaction;
    const u32* sides;
    u32 n_elements, padding;
    u64 copied, n_copied;
};

static __device__ const real gradient[DIM][MODES][NP] = GRADIENT;
static __device__ const real across[FACE_NODES][NP] = ACROSS;
static __device__ const real tangent[DIM - 1][FACE_NODES][FACE_NODES] = TANGENT;
static __device__ const real face_mass[FACE_NODES][FACE_NODES] = FACE_MASS;
static __device__ const real lift[SIDES][MODES][FACE_NODES] = LIFT;
static __device__ const real volume_mass[NP][NP] = VOLUME_MASS;

// The edge between two vertices.
DG_DEVICE constexpr int edge(int a, int b) {
    const int i = a < b ? a : b, j = a < b ? b : a;
    return i * DIM - i * (i - 1) / 2 + j - i - 1;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    elliptic_element(const Arguments a, const real* __restrict__ u, real* __restrict__ au, const double beta,
                     const real* __restrict__ inverse_diagonal, const real* __restrict__ b) {
    constexpr int own_rows[SIDES][NP] = OWN_ROWS;
    constexpr int own_edges[SIDES][DIM] = OWN_EDGES;
    const u32 e = blockIdx.x * THREADS + threadIdx.x;
    u32 packed[SIDES];
    if (e < a.n_elements) {
#pragma unroll
        for (int c = 0; c < SIDES; ++c) packed[c] = dg_load(a.sides + e * SIDES + c);
    }
    dg_wait_for_kernels_before();
    if (e < a.n_copied) {
        const u64 to = a.copied + e;
        au[to] = finish_step(beta, u[to], u, inverse_diagonal, b, to);
    }
    if (e >= a.n_elements) return;
    real x[NP], y[NP], weights[EDGES], h[DIM][MODES], lift0[MODES];
#pragma unroll
    for (int i = 0; i < NP; ++i) {
        x[i] = dg_load(u + (u64)e * NP + i);
        y[i] = 0;
    }
#pragma unroll
    for (int i = 0; i < EDGES; ++i) weights[i] = dg_load(a.weights + e * EDGES + i);
#pragma unroll
    for (int k = 0; k < MODES; ++k) {
        lift0[k] = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            h[d][k] = 0;
#pragma unroll
            for (int i = 0; i < NP; ++i) h[d][k] += gradient[d][k][i] * x[i];
        }
    }
    if (REACTION) {
        const real reaction = dg_load(a.reaction + e);
#pragma unroll
        for (int i = 0; i < NP; ++i) {
            real sum = 0;
#pragma unroll
            for (int k = 0; k < NP; ++k) sum += volume_mass[i][k] * x[k];
            y[i] = reaction * sum;
        }
    }
#pragma unroll
    for (int c = 0; c < SIDES; ++c) {
        const u32 code = packed[c] & 15u, neighbour = packed[c] >> CODE_BITS;
        const real sign = packed[c] & 16u ? real(-1) : real(1), sign_of_penalty = packed[c] & 32u ? real(0) : sign;
        const real penalty = dg_load(a.penalty + e * SIDES + c);
        const u64 rows = dg_load(a.rows + code);
        const u32 edges = dg_load(a.edges + code);
        const real ratio = RATIO ? dg_load(a.ratio + e * SIDES + c) : real(1);
        const real theirs = sign * (RATIO ? dg_load(a.ratio + neighbour * SIDES + (edges >> 24)) : real(1));
        real own[DIM], out[DIM], own_sum = 0, out_sum = 0;
#pragma unroll
        for (int i = 0; i < DIM; ++i) {
            own[i] = ratio * weights[own_edges[c][i]];
            out[i] = theirs * dg_load(a.weights + neighbour * EDGES + (edges >> 8 * i & 255u));
            own_sum += own[i];
            out_sum += out[i];
        }
        real flux[FACE_NODES], jump[FACE_NODES], w[FACE_NODES];
#pragma unroll
        for (int q = 0; q < FACE_NODES; ++q) flux[q] = 0;
#pragma unroll
        for (int k = 0; k < NP; ++k) {
            const real minus = x[own_rows[c][k]], plus = dg_load(u + (u64)neighbour * NP + (rows >> 4 * k & 15u));
            const real z = own_sum * minus - out_sum * plus;
#pragma unroll
            for (int q = 0; q < FACE_NODES; ++q) flux[q] += across[q][k] * z;
            if (k < FACE_NODES) {
                jump[k] = ratio * (minus - sign * plus);
                w[k] = penalty * (minus - sign_of_penalty * plus);
#pragma unroll
                for (int m = 0; m < DIM - 1; ++m) {
                    const real along = own[m] * minus - out[m] * plus;
#pragma unroll
                    for (int q = 0; q < FACE_NODES; ++q) flux[q] += tangent[m][q][k] * along;
                }
            }
        }
#pragma unroll
        for (int k = 0; k < MODES; ++k) {
            real& to = c == 0 ? lift0[k] : h[c == 0 ? 0 : c - 1][k];
#pragma unroll
            for (int q = 0; q < FACE_NODES; ++q) to += lift[c][k][q] * jump[q];
        }
#pragma unroll
        for (int q = 0; q < FACE_NODES; ++q) w[q] += flux[q];
#pragma unroll
        for (int i = 0; i < FACE_NODES; ++i) {
#pragma unroll
            for (int q = 0; q < FACE_NODES; ++q) y[own_rows[c][i]] += face_mass[i][q] * w[q];
        }
    }
#pragma unroll
    for (int k = 0; k < MODES; ++k) {
        real f[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) h[d][k] -= lift0[k];
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            f[d] = weights[edge(0, d + 1)] * h[d][k];
#pragma unroll
            for (int m = 0; m < DIM; ++m)
                if (m != d) f[d] += weights[edge(d + 1, m + 1)] * (h[d][k] - h[m][k]);
        }
#pragma unroll
        for (int i = 0; i < NP; ++i)
#pragma unroll
            for (int d = 0; d < DIM; ++d) y[i] += gradient[d][k][i] * f[d];
    }
#pragma unroll
    for (int i = 0; i < NP; ++i) y[i] = finish_step(beta, y[i], u, inverse_diagonal, b, (u64)e * NP + i);
#pragma unroll
    for (int i = 0; i < NP; ++i) au[(u64)e * NP + i] = y[i];
}
