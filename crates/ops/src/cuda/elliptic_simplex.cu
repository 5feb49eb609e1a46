// A u of the interior penalty method on affine simplices with piecewise constant coefficients, in one kernel: a warp works on
// eight elements with the FP64 tensor cores (fragments.cuh). What is calculated is written in elliptic/device/simplices.rs.
//
// A block keeps the matrices in shared memory and goes over the elements. A neighbour's row is read in the side's own order, in
// which the derivatives at the face are one matrix for all sides; of the products only that one, from x = W⁻ u⁻ − W⁺ u⁺, needs
// nodes off the face.
//
// Defined by the host: DIM, NP, FACE_NODES, MODES (of order p − 1), RATIO and REACTION (whether there are such numbers), CODES,
// WARPS, BLOCKS, OWN_EDGES ({ the edges of each side }), MASS_TILES
// ({ of each side the tiles that its mass matrix has entries in }), ENTRIES (numbers of all matrices), CODE_BITS.
#include "device.cuh"

#ifdef DG_STORED_SINGLE
typedef float stored;
#else
typedef double stored;
#endif
typedef unsigned u32;
typedef unsigned long long u64;
#define FIELDS 1
#include "fragments.cuh"

constexpr int SIDES = DIM + 1, EDGES = DIM * (DIM + 1) / 2, INNER = NP - FACE_NODES;
constexpr int NODE_STEPS = fragment_steps(NP), NODE_TILES = fragment_tiles(NP);
constexpr int MODE_STEPS = fragment_steps(MODES), MODE_TILES = fragment_tiles(MODES);
constexpr int FACE_STEPS = fragment_steps(FACE_NODES), FACE_TILES = fragment_tiles(FACE_NODES);
constexpr int INNER_STEPS = INNER > 0 ? fragment_steps(INNER) : 0, ROW_STEPS = FACE_STEPS + INNER_STEPS;
// Words of four rows each.
constexpr int ROW_WORDS = (ROW_STEPS + 3) / 4, NODE_WORDS = (NODE_STEPS + 3) / 4;
// Of the words: those of the codes, then those of the nodes.
constexpr int NODES_AT = CODES * 4 * ROW_WORDS, WORDS = NODES_AT + 4 * NODE_WORDS;
// Where the matrices begin, in fragments.
constexpr int GRADIENT = 0;
constexpr int ACROSS = GRADIENT + DIM * MODE_TILES * NODE_STEPS;
constexpr int TANGENT = ACROSS + ROW_STEPS * FACE_TILES;
constexpr int MASS = TANGENT + (DIM - 1) * FACE_STEPS * FACE_TILES;
constexpr int LIFT = MASS + SIDES * FACE_STEPS * NODE_TILES;
constexpr int TEST = LIFT + SIDES * FACE_STEPS * MODE_TILES;
constexpr int VOLUME_MASS = TEST + DIM * MODE_STEPS * NODE_TILES;

struct Arguments {
    const double* matrices;
    // [code][lane of four][word]: rows in the side's own order, four to a word; then [lane of four][word] of the nodes as the
    // matrices number them.
    const u32* rows;
    // [code]: the edges of the side, a byte each, then the side.
    const u32* edges;
    const stored* weights;
    const stored* penalty;
    const stored* ratio;
    const stored* reaction;
    const u32* sides;
    u32 n_elements, padding;
    u64 copied, n_copied;
};

// The edge between two vertices.
DG_DEVICE constexpr int edge(int a, int b) {
    const int i = a < b ? a : b, j = a < b ? b : a;
    return i * DIM - i * (i - 1) / 2 + j - i - 1;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    elliptic_simplex(const Arguments a, const stored* __restrict__ u, stored* __restrict__ au) {
    DG_DYNAMIC_SHARED(double, shared);
    u32* const rows = reinterpret_cast<u32*>(shared + ENTRIES);
    u32* const code_edges = rows + WORDS;
    constexpr int own_edges[SIDES][DIM] = OWN_EDGES;
    for (int i = threadIdx.x; i < ENTRIES; i += 32 * WARPS) shared[i] = dg_load(a.matrices + i);
    for (int i = threadIdx.x; i < WORDS; i += 32 * WARPS) rows[i] = dg_load(a.rows + i);
    for (int i = threadIdx.x; i < CODES; i += 32 * WARPS) code_edges[i] = dg_load(a.edges + i);
    dg_block_sync();
    dg_wait_for_kernels_before();
    for (u64 i = blockIdx.x * 32 * WARPS + threadIdx.x; i < a.n_copied; i += (u64)gridDim.x * 32 * WARPS)
        au[a.copied + i] = u[a.copied + i];

    const u32 lane = dg_lane(), j = lane % 4;
    const double* const table = shared + lane;
    constexpr u32 mass_tiles[SIDES] = MASS_TILES;
    u32 nodes[NODE_WORDS];
#pragma unroll
    for (int w = 0; w < NODE_WORDS; ++w) nodes[w] = rows[NODES_AT + j * NODE_WORDS + w];
    const u32 groups = (a.n_elements + 7) / 8;
    for (u32 group = blockIdx.x * WARPS + threadIdx.x / 32; group < groups; group += gridDim.x * WARPS) {
        const u32 element = group * 8 + lane / 4, e = min(element, a.n_elements - 1);
        const stored* const row = u + (u64)e * NP;
        u32 packed[SIDES];
#pragma unroll
        for (int c = 0; c < SIDES; ++c) packed[c] = dg_load(a.sides + e * SIDES + c);
        double weights[EDGES];
#pragma unroll
        for (int i = 0; i < EDGES; ++i) weights[i] = dg_load(a.weights + e * EDGES + i);

        // Derivatives along the edges from vertex 0, and the reaction.
        double g[DIM][MODE_TILES][2], lift0[MODE_TILES][2], y[NODE_TILES][2];
#pragma unroll
        for (int t = 0; t < NODE_TILES; ++t) y[t][0] = y[t][1] = 0;
#pragma unroll
        for (int t = 0; t < MODE_TILES; ++t) {
            lift0[t][0] = lift0[t][1] = 0;
#pragma unroll
            for (int d = 0; d < DIM; ++d) g[d][t][0] = g[d][t][1] = 0;
        }
        const double reaction = REACTION ? (double)dg_load(a.reaction + e) : 0.0;
#pragma unroll
        for (int s = 0; s < NODE_STEPS; ++s) {
            const double x = row[nodes[s / 4] >> 8 * (s % 4) & 255u];
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int t = 0; t < MODE_TILES; ++t)
                    dg_mma_f64_8x8x4(g[d][t][0], g[d][t][1], x, table[32 * (GRADIENT + (d * MODE_TILES + t) * NODE_STEPS + s)]);
            if (REACTION) {
#pragma unroll
                for (int t = 0; t < NODE_TILES; ++t)
                    dg_mma_f64_8x8x4(y[t][0], y[t][1], reaction * x, table[32 * (VOLUME_MASS + s * NODE_TILES + t)]);
            }
        }

#pragma unroll
        for (int c = 0; c < SIDES; ++c) {
            const u32 code = packed[c] & 15u, neighbour = packed[c] >> CODE_BITS;
            const double sign = packed[c] & 16u ? -1.0 : 1.0, sign_of_penalty = packed[c] & 32u ? 0.0 : sign;
            const stored* const other = u + (u64)neighbour * NP;
            const double penalty = dg_load(a.penalty + e * SIDES + c);
            const u32 edges = code_edges[code];
            const double ratio = RATIO ? (double)dg_load(a.ratio + e * SIDES + c) : 1.0;
            const double theirs = sign * (RATIO ? (double)dg_load(a.ratio + neighbour * SIDES + (edges >> 24)) : 1.0);
            double own[DIM], out[DIM];
            own[0] = out[0] = 0;
#pragma unroll
            for (int i = 0; i < DIM; ++i) {
                const int k = (i + 1) % DIM;
                own[k] = ratio * weights[own_edges[c][i]];
                out[k] = theirs * (double)dg_load(a.weights + neighbour * EDGES + (edges >> 8 * i & 255u));
            }
            // own[0] has the weight of the last vertex; the derivative along its edge has the sum of all.
#pragma unroll
            for (int i = 1; i < DIM; ++i) {
                own[0] += own[i];
                out[0] += out[i];
            }
            double flux[FACE_TILES][2], jumps[FACE_STEPS];
#pragma unroll
            for (int t = 0; t < FACE_TILES; ++t) flux[t][0] = flux[t][1] = 0;
            const u32* const own_rows = rows + ((CODES - SIDES + c) * 4 + j) * ROW_WORDS;
            const u32* const other_rows = rows + (code * 4 + j) * ROW_WORDS;
            u32 own_word = 0, other_word = 0;
#pragma unroll
            for (int s = 0; s < ROW_STEPS; ++s) {
                if (s % 4 == 0) {
                    own_word = own_rows[s / 4];
                    other_word = other_rows[s / 4];
                }
                const double minus = row[own_word >> 8 * (s % 4) & 255u];
                const double plus = dg_load(other + (other_word >> 8 * (s % 4) & 255u));
                const double x = own[0] * minus - out[0] * plus;
#pragma unroll
                for (int t = 0; t < FACE_TILES; ++t)
                    dg_mma_f64_8x8x4(flux[t][0], flux[t][1], x, table[32 * (ACROSS + s * FACE_TILES + t)]);
                if (s < FACE_STEPS) {
                    jumps[s] = penalty * (minus - sign_of_penalty * plus);
#pragma unroll
                    for (int m = 1; m < DIM; ++m) {
                        const double along = own[m] * minus - out[m] * plus;
#pragma unroll
                        for (int t = 0; t < FACE_TILES; ++t)
                            dg_mma_f64_8x8x4(flux[t][0], flux[t][1], along,
                                             table[32 * (TANGENT + ((m - 1) * FACE_STEPS + s) * FACE_TILES + t)]);
                    }
                    const double jump = ratio * (minus - sign * plus);
#pragma unroll
                    for (int t = 0; t < MODE_TILES; ++t) {
                        double(&to)[2] = c == 0 ? lift0[t] : g[c == 0 ? 0 : c - 1][t];
                        dg_mma_f64_8x8x4(to[0], to[1], jump, table[32 * (LIFT + (c * FACE_STEPS + s) * MODE_TILES + t)]);
                    }
                }
            }
#pragma unroll
            for (int s = 0; s < FACE_STEPS; ++s) {
                const double w = jumps[s] + flux[s / 2][s % 2];
#pragma unroll
                for (int t = 0; t < NODE_TILES; ++t)
                    if (mass_tiles[c] >> t & 1u)
                        dg_mma_f64_8x8x4(y[t][0], y[t][1], w, table[32 * (MASS + (c * FACE_STEPS + s) * NODE_TILES + t)]);
            }
        }

        // Fluxes along the edges.
#pragma unroll
        for (int s = 0; s < MODE_STEPS; ++s) {
            double h[DIM];
#pragma unroll
            for (int d = 0; d < DIM; ++d) h[d] = g[d][s / 2][s % 2] - lift0[s / 2][s % 2];
#pragma unroll
            for (int d = 0; d < DIM; ++d) {
                double f = weights[edge(0, d + 1)] * h[d];
#pragma unroll
                for (int k = 0; k < DIM; ++k)
                    if (k != d) f += weights[edge(d + 1, k + 1)] * (h[d] - h[k]);
#pragma unroll
                for (int t = 0; t < NODE_TILES; ++t)
                    dg_mma_f64_8x8x4(y[t][0], y[t][1], f, table[32 * (TEST + (d * MODE_STEPS + s) * NODE_TILES + t)]);
            }
        }
        if (element < a.n_elements) {
#pragma unroll
            for (int s = 0; s < NODE_STEPS; ++s) {
                if (fragment_row_or_none(NP, s, j) >= 0)
                    au[(u64)e * NP + (nodes[s / 4] >> 8 * (s % 4) & 255u)] = y[s / 2][s % 2];
            }
        }
    }
}
