// The fused residual and Runge–Kutta stage on quadrilaterals with collocated Gauss–Lobatto nodes and an even number of
// unknowns, affine or curved. The host's twin is residual.rs; operators come from tensor.rs; planar.cu has the other
// cases.
//
// One thread a node, a few elements a block. A thread at the end of a line forms the numerical flux there itself, so
// that its own trace and the flux never leave its registers. Contravariant fluxes go to shared memory; after one barrier
// each node sums along its lines. State is [element][node][field] (LANES = 1), read and written in pairs.
//
// Beside the macros of common.cuh, with DIRECT = 1 and COLLOCATED = 1:
//   NODES             nodes along a line
//   ELEMENTS          of a block
//   BLOCKS            blocks of a multiprocessor
//   AHEAD             the register is asked for before the arithmetic (1) or after (0)
//   ASK               directions in which neighbours' states are asked for before the first flux
//   NORMALS           read (0), or computed from the metric (1)
//   SPLIT             two-point fluxes along the lines (1); states are in shared memory then, not fluxes
//   FACE_AT           [direction][end]: number of the face there
//   FACE_POINT        [direction, end][number across the lines]: point of the face, counted within it, at a node
// `tables` has the 1-D matrix P, [node][node], and the lifts at both ends.
// `u`, `reg`, `start` and `out` begin at multiples of 16 bytes.

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_point[FACES][FACE_POINTS] = FACE_POINT;
constexpr int THREADS = ELEMENTS * NP;
constexpr int LINE = NODES | 1;                          // row of P in shared memory, against bank conflicts
// The plan of shared memory.
constexpr int FLUX_AT = (NODES * LINE + 1) / 2 * 2;      // [element][direction][field][node]

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : NODES; }

// The number of a node among those with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) { return d == 0 ? node / NODES : node % NODES; }

#if SPLIT
#include "two_point.cuh"
#endif

// A node at the end of a line, and the state on the other side.
struct End {
    bool is;    // whether the node is one
    u32 face;   // number of the face
    u32 point;  // number of the point within it
    real up[FIELDS];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    real *matrix = shared, *flux = shared + FLUX_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // of the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // A thread beyond the last element computes that one again, and stores nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node * FIELDS;
    constexpr u32 face_at[DIM][2] = FACE_AT;
    const auto ask = [&](int d, End& end) {
        const u32 i = node / power(d) % NODES;
        end.is = i == 0 || i == NODES - 1;
        if (!end.is) return;
        end.face = i == 0 ? face_at[d][0] : face_at[d][1];
        end.point = face_point[2 * d + (i == 0 ? 0 : 1)][across_line(node, d)];
        const Across r = across(a, slot, end.face);
        load_row_constant(r.source + (r.rows ? __ldg(r.rows + end.point) : end.point * FIELDS), end.up);
    };
    real u[FIELDS], before[FIELDS], rate[FIELDS], g[DIM * DIM];
    load_row_constant(a.u + at, u);
    End ends[DIM];
#pragma unroll
    for (int d = 0; d < ASK; ++d) ask(d, ends[d]);
    if (AHEAD && reads_register) load_row(a.reg + at, before);
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS)
        matrix[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);

    // 1. Contravariant fluxes.
    metric_at(a, element, node, g);
#if SPLIT
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) flux[(local * FIELDS + k) * NP + node] = u[k];
#else
    {
        real f[DIM * FIELDS];
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) flux[(local * DIM * FIELDS + i) * NP + node] = f[i];
    }
#endif

    // 2. Numerical fluxes.
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        End& end = ends[d];
        if (d >= ASK) ask(d, end);
        if (!end.is) continue;
        real f[FIELDS], normal[DIM], scale;
        const u32 e = node / power(d) % NODES == 0 ? 0 : 1;
        if (NORMALS) {
            // n sJ/J = ± ∇r_d, or n sJ = ± J∇r_d: face points are nodes.
            scale = square_root(g[d * DIM] * g[d * DIM] + g[d * DIM + 1] * g[d * DIM + 1]);
            const real inverse = e == 0 ? -reciprocal(scale) : reciprocal(scale);
#pragma unroll
            for (int x = 0; x < DIM; ++x) normal[x] = inverse * g[d * DIM + x];
        } else {
            scale = normal_at(a, element, end.face, end.face * FACE_POINTS + end.point, normal);
        }
        numerical_flux(parameters, u, end.up, normal, f);
        const real lift = scale * __ldg(a.tables + NODES * NODES + e);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * f[k];
    }
    dg_block_sync();

    // 3. Sums along the lines.
#if SPLIT
    add_two_point_fluxes(a, parameters, element, node, matrix, flux + local * FIELDS * NP, u, g, rate);
#else
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        const real* row = matrix + i * LINE;
        const real* f = flux + (local * DIM + d) * FIELDS * NP + node - i * power(d);
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real p = row[m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += p * f[k * NP + m * power(d)];
        }
    }
#endif
    if (CURVED) {
        const real scale = __ldg(a.inverse_jacobian + (u64)element * NP + node);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] *= scale;
    }

    // 4. The stage.
    if (!exists) return;
    const StageFactors factors = stage_factors(a, slot);
    if (AHEAD) finish_row_with(a, factors, reads_register, before, at, u, rate);
    else finish_row(a, factors, reads_register ? a.reg + at : nullptr, at, u, rate);
}
