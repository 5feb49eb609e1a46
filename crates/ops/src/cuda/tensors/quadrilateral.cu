// Fused residual and stage on quadrilaterals with Gauss–Lobatto nodes: one thread per node.
//
// The number of unknowns is even (hexahedron.cu has the other cases); elements are affine or curved, nodes
// collocated. Same computation as residual.rs on the host; operators come from tensor.rs.
//
// A block processes a few elements. Face points are distributed over all threads; or a thread at the end of a
// line computes the numerical flux there itself, so that its own trace and the flux stay in registers.
// Contravariant fluxes are written to shared memory; after one barrier, each node sums along its lines. If a
// warp processes whole elements, no barrier with other warps is needed; with two nodes per line, threads
// exchange fluxes by shuffles, without shared memory. The state is [element][node][field] (LANES = 1), read
// and written in packs, see rows.cuh.
//
// Macros beside those of common.cuh, with DIRECT = 1 and COLLOCATED = 1:
// - NODES: nodes along a line
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - AHEAD: the register is loaded before the arithmetic (1) or after it (0)
// - DEAL: face points are distributed over all threads (1), or processed at the ends of lines (0)
// - ASK: number of directions in which neighbours' states are loaded before the first flux; for DEAL = 0
// - SPLIT: two-point fluxes along the lines (1); shared memory then holds states, not fluxes
// - FACE_AT: [direction][end], number of the face there
// - FACE_POINT: [direction, end][number across the lines], the point of the face at a node, counted within
//   the face
//
// `tables` contains the 1-D matrix P, [node][node], and the lifts at both ends. `u`, `reg`, `start` and `out`
// are aligned to 16 bytes.

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_point[FACES][FACE_POINTS] = FACE_POINT;
constexpr int THREADS = ELEMENTS * NP;
// row of P in shared memory, padded against bank conflicts
constexpr int LINE = NODES | 1;
// Layout of shared memory.
constexpr int WIDTH = IN_FOURS ? PACK : 1;               // numbers that are moved together
constexpr int FLUX_AT = (NODES * LINE + 3) / 4 * 4;      // [element][direction][field by WIDTH][node][of WIDTH]
// [element][field by WIDTH][direction, end][number across the lines][of WIDTH]
constexpr int FACE_FLUX_AT = FLUX_AT + ELEMENTS * (SPLIT ? 1 : DIM) * FIELDS * NP;
// Whether each warp processes whole elements and all their face points. The matrix is then not in shared
// memory.
constexpr bool ALONE = DEAL && !SPLIT && NF == NP && 32 % NP == 0;
// Whether the nodes of a line are adjacent threads of one warp, which exchange fluxes by shuffles.
constexpr bool PASSED = NODES == 2 && !SPLIT && THREADS % 32 == 0;
constexpr int MATRIX_ROW = ALONE || PASSED ? NODES : LINE;

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : NODES; }

// The number of a node among the nodes with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) { return d == 0 ? node / NODES : node % NODES; }

// Stores the unknowns of one of `n` places in shared memory.
static __device__ __forceinline__ void store_shared(real* p, u32 n, const real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS / WIDTH; ++k) {
        if (IN_FOURS) {
            pack y;
#pragma unroll
            for (int i = 0; i < PACK; ++i) reinterpret_cast<real*>(&y)[i] = x[PACK * k + i];
            reinterpret_cast<pack*>(p)[k * n] = y;
        } else {
            p[k * n] = x[k];
        }
    }
}

// x += w times the unknowns of one of `n` places in shared memory.
static __device__ __forceinline__ void add_shared(const real* p, u32 n, real w, real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS / WIDTH; ++k) {
        if (IN_FOURS) {
            const pack y = reinterpret_cast<const pack*>(p)[k * n];
#pragma unroll
            for (int i = 0; i < PACK; ++i) x[PACK * k + i] += w * entry(y, i);
        } else {
            x[k] += w * p[k * n];
        }
    }
}

static __device__ __forceinline__ void meet() {
    if (ALONE) dg_warp_sync();
    else dg_block_sync();
}

// Computes the numerical flux times its scale at a node at `end` of direction d. `g` is ∇r_d or J∇r_d; as
// face points are nodes, n sJ/J = ± ∇r_d, or n sJ = ± J∇r_d.
static __device__ __forceinline__ void end_flux(const Parameters& parameters, const real (&um)[FIELDS],
                                                const real (&up)[FIELDS], real g0, real g1, u32 end,
                                                real (&f)[FIELDS]) {
    const real scale = square_root(g0 * g0 + g1 * g1), inverse = end ? reciprocal(scale) : -reciprocal(scale);
    const real normal[DIM] = {inverse * g0, inverse * g1};
    numerical_flux(parameters, um, up, normal, f);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) f[k] *= scale;
}

#if SPLIT
#include "two_point.cuh"
#endif

// A node at the end of a line, with the state across.
struct End {
    bool is;  // whether the node is at an end
    real up[FIELDS];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * (DEAL ? NF : 0)));
    real *matrix = shared, *flux = shared + FLUX_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node * FIELDS;
    constexpr u32 face_at[DIM][2] = FACE_AT;
    const auto load_across = [&](u32 slot, u32 face, u32 point, real (&up)[FIELDS]) {
        const Across r = across(a, slot, face);
        load_row_constant(r.values + (r.rows ? __ldg(r.rows + point) : point * FIELDS), up);
    };
    const auto ask = [&](int d, End& end) {
        const u32 i = node / power(d) % NODES, e = i == 0 ? 0 : 1;
        end.is = i == 0 || i == NODES - 1;
        if (!end.is) return;
        load_across(slot, e == 0 ? face_at[d][0] : face_at[d][1], face_point[2 * d + e][across_line(node, d)], end.up);
    };
    // Face points of the block are numbered [element][side][number across the lines].
    const auto ask_item = [&](u32 item, real (&up)[FIELDS]) {
        const u32 side = item % NF / FACE_POINTS;
        const u32 low = side == 0 ? face_at[0][0] : face_at[1][0], high = side == 1 ? face_at[0][1] : face_at[1][1];
        load_across(a.first + first + item / NF, side % 2 == 0 ? low : high, face_point[side][item % FACE_POINTS], up);
    };
    const auto solve_item = [&](u32 item, const real (&up)[FIELDS]) {
        const u32 e = item / NF, d = item % NF / (2 * FACE_POINTS), end = item / FACE_POINTS % 2, m = item % FACE_POINTS;
        const u32 own = (d == 0 ? m * NODES : m) + end * (NODES - 1) * (d == 0 ? 1 : NODES);
        real um[FIELDS], f[FIELDS];
        load_row_constant(a.u + (u64)(a.first + first + e) * STATE_BLOCK + own * FIELDS, um);
        const real* g = a.metric + (CURVED ? (u64)(first + e) * NP + own : first + e) * DIM * DIM + d * DIM;
        end_flux(parameters, um, up, __ldg(g), __ldg(g + 1), end, f);
        store_shared(shared + FACE_FLUX_AT + e * FIELDS * NF + item % NF * WIDTH, NF, f);
    };
    real u[FIELDS], before[FIELDS], rate[FIELDS], g[DIM * DIM];
    load_row_constant(a.u + at, u);
    End ends[DIM];
    real asked[FIELDS];
    if (DEAL) {
        if (threadIdx.x < n * NF) ask_item(threadIdx.x, asked);
    } else {
#pragma unroll
        for (int d = 0; d < ASK; ++d) ask(d, ends[d]);
    }
    if (AHEAD && reads_register) load_row(a.reg + at, before);
    for (u32 i = threadIdx.x; !ALONE && !PASSED && i < NODES * NODES; i += THREADS)
        matrix[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);

    // 1. Contravariant fluxes.
    metric_at(a, element, node, g);
    real own[DIM * FIELDS];
#if SPLIT
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) flux[(local * FIELDS + k) * NP + node] = u[k];
#else
    volume_flux(parameters, u, g, own);
#pragma unroll
    for (int d = 0; d < DIM && !PASSED; ++d) {
        real x[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = own[d * FIELDS + k];
        store_shared(flux + (local * DIM + d) * FIELDS * NP + node * WIDTH, NP, x);
    }
#endif

    // 2. Numerical fluxes.
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
    if (DEAL) {
        if (threadIdx.x < n * NF) solve_item(threadIdx.x, asked);
        for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
            ask_item(item, asked);
            solve_item(item, asked);
        }
    } else {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            End& end = ends[d];
            if (d >= ASK) ask(d, end);
            if (!end.is) continue;
            real f[FIELDS];
            const u32 e = node / power(d) % NODES == 0 ? 0 : 1;
            end_flux(parameters, u, end.up, g[d * DIM], g[d * DIM + 1], e, f);
            const real lift = __ldg(a.tables + NODES * NODES + e);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * f[k];
        }
    }
    if (!PASSED || DEAL) meet();

    // 3. Sums along the lines.
#if SPLIT
    add_two_point_fluxes(a, parameters, element, node, matrix, flux + local * FIELDS * NP, u, g, rate);
#endif
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
#if !SPLIT
        const real* row = (ALONE || PASSED ? a.tables : matrix) + i * MATRIX_ROW;
        const real* f = flux + (local * DIM + d) * FIELDS * NP + (node - i * power(d)) * WIDTH;
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            if (!PASSED) {
                add_shared(f + m * power(d) * WIDTH, NP, row[m], rate);
                continue;
            }
            // The other node of the line.
            const real p = __ldg(row + (i ^ m));
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                rate[k] += p * (m == 0 ? own[d * FIELDS + k] : dg_shuffle_xor(own[d * FIELDS + k], m * power(d)));
        }
#endif
        if (!DEAL || (i != 0 && i != NODES - 1)) continue;
        const u32 e = i == 0 ? 0 : 1;
        add_shared(shared + FACE_FLUX_AT + local * FIELDS * NF + ((2 * d + e) * FACE_POINTS + across_line(node, d)) * WIDTH,
                  NF, -__ldg(a.tables + NODES * NODES + e), rate);
    }
#ifdef SOURCE
    add_node(a.source + at, rate);
#endif
    apply_inverse_jacobian(a, (u64)element * NP + node, rate);

    // 4. The stage.
    if (!exists) return;
    const StageFactors factors = stage_factors(a, slot);
    if (AHEAD) finish_row_with(a, factors, reads_register, before, at, u, rate);
    else finish_row(a, factors, reads_register ? a.reg + at : nullptr, at, u, rate);
}
