// A u of the interior penalty method on affine simplices, by tensor cores: one warp per 8 ROWS elements.
//
// Coefficients are piecewise constant. The products use the tensor cores (fragments.cuh) in double precision
// or, with DG_SINGLE, with numbers of 11 bits. The formulas are in elliptic/device/simplices.rs;
// elliptic_step.cuh defines how A u is used at once in a residual or a smoother's step.
//
// A block keeps the matrices in shared memory and iterates over the elements. The reflection of an element
// that exchanges its vertices 0 and 1 permutes the nodes and maps each mode to itself or its negative.
// Products with matrices of the volume can therefore be split into even and odd parts, with half as many rows
// and columns each (cuda/elliptic/halves.rs). Without PAIRS, all nodes and modes count as even. A neighbour's
// row is read in the side's own order, in which the derivatives at the face are one matrix for all sides.
// Only this product, of x = W⁻ u⁻ − W⁺ u⁺, needs nodes that are not on the face.
//
// Macros defined by the host: DIM, NP, FACE_NODES, PAIRS (pairs of nodes that are images of each other),
// OWN_IMAGES (nodes that are their own images), EVEN_MODES and ODD_MODES (of order p − 1), RATIO and REACTION
// (whether such coefficients exist), CODES, WARPS, BLOCKS, ROWS, OWN_EDGES ({ the edges of each side }),
// MASS_TILES ({ for each side, the tiles in which its mass matrix has entries }), ENTRIES (numbers of all
// matrices), CODE_BITS.
#include "device.cuh"

#if defined(DG_STORED_SINGLE) || defined(DG_SINGLE)
typedef float stored;
#else
typedef double stored;
#endif
typedef unsigned u32;
typedef unsigned long long u64;
#define FIELDS ROWS
#include "elliptic_step.cuh"
#include "fragments.cuh"

constexpr int SIDES = DIM + 1, EDGES = DIM * (DIM + 1) / 2, INNER = NP - FACE_NODES;
// Sums over pairs together with the nodes that are their own images, and differences; even and odd modes.
constexpr bool HALVES = PAIRS > 0;
constexpr int WAITING = HALVES ? 2 : 1;
constexpr int EVEN_STEPS = (PAIRS + OWN_IMAGES + 3) / 4, ODD_STEPS = (PAIRS + 3) / 4;
constexpr int EVEN_TILES = (EVEN_STEPS + 1) / 2, ODD_TILES = (ODD_STEPS + 1) / 2, NODE_TILES = EVEN_TILES + ODD_TILES;
constexpr int MODE_TILES = fragment_tiles(EVEN_MODES) + fragment_tiles(ODD_MODES);
constexpr int FACE_STEPS = fragment_steps(FACE_NODES), FACE_TILES = fragment_tiles(FACE_NODES);
constexpr int INNER_STEPS = INNER > 0 ? fragment_steps(INNER) : 0, ROW_STEPS = FACE_STEPS + INNER_STEPS;
// Words that hold four rows each. Words of nodes: those of the first of each pair and of own images, then
// those of the second.
constexpr int ROW_WORDS = (ROW_STEPS + 3) / 4, FIRST_WORDS = (EVEN_STEPS + 3) / 4, NODE_WORDS = FIRST_WORDS + (ODD_STEPS + 3) / 4;
// The words of the codes come first, then the words of the nodes.
constexpr int NODES_AT = CODES * 4 * ROW_WORDS, WORDS = NODES_AT + 4 * NODE_WORDS;

// Number of steps over the even (0) or odd (1) nodes.
DG_DEVICE constexpr int node_steps(int odd) { return odd ? ODD_STEPS : EVEN_STEPS; }
DG_DEVICE constexpr int node_tiles(int odd) { return odd ? ODD_TILES : EVEN_TILES; }
DG_DEVICE constexpr int mode_steps(int odd) { return fragment_steps(odd ? ODD_MODES : EVEN_MODES); }
DG_DEVICE constexpr int mode_tiles(int odd) { return fragment_tiles(odd ? ODD_MODES : EVEN_MODES); }
// With PAIRS, derivative 0 maps even to odd functions and vice versa; the others preserve parity.
DG_DEVICE constexpr int image(int odd, int d) { return HALVES && d == 0 ? 1 - odd : odd; }

// Offsets of the matrices, in fragments: the derivatives of even and odd functions, and their tests.
DG_DEVICE constexpr int derivatives(int odd, int d) {
    return odd * EVEN_STEPS * (mode_tiles(image(0, 0)) + (DIM - 1) * mode_tiles(0)) +
           (d > 0 ? node_steps(odd) * (mode_tiles(image(odd, 0)) + (d - 1) * mode_tiles(odd)) : 0);
}
constexpr int ACROSS = derivatives(1, 0) + ODD_STEPS * (mode_tiles(image(1, 0)) + (DIM - 1) * mode_tiles(1));
constexpr int TANGENT = ACROSS + ROW_STEPS * FACE_TILES;
constexpr int MASS = TANGENT + (DIM - 1) * FACE_STEPS * FACE_TILES;
constexpr int LIFT = MASS + SIDES * FACE_STEPS * NODE_TILES;
constexpr int TEST = LIFT + SIDES * FACE_STEPS * MODE_TILES;
DG_DEVICE constexpr int tests(int odd, int d) {
    return TEST + odd * mode_steps(0) * (node_tiles(image(0, 0)) + (DIM - 1) * EVEN_TILES) +
           (d > 0 ? mode_steps(odd) * (node_tiles(image(odd, 0)) + (d - 1) * node_tiles(odd)) : 0);
}
constexpr int VOLUME_MASS = tests(1, 0) + mode_steps(1) * (node_tiles(image(1, 0)) + (DIM - 1) * ODD_TILES);

struct Arguments {
    const real* matrices;
    // [code][lane of four][word]: rows in the side's own order, four per word; then [lane of four][word] for
    // the nodes in the numbering of the matrices.
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

// Numbers of 11 bits hold differences: derivatives are computed from u minus its value at one node of the
// element, so that rounding is relative to slopes and jumps, not to u.
constexpr bool ROUNDED = sizeof(real) == 4;

DG_DEVICE real less(real value, real at_node) { return ROUNDED ? value - at_node : value; }

// The edge between two vertices.
DG_DEVICE constexpr int edge(int a, int b) {
    const int i = a < b ? a : b, j = a < b ? b : a;
    return i * DIM - i * (i - 1) / 2 + j - i - 1;
}

// Node `half` of the pair that the lane holds in a step.
DG_DEVICE u32 node_of(const u32 (&nodes)[NODE_WORDS], int half, int s) {
    return nodes[half * FIRST_WORDS + s / 4] >> 8 * (s % 4) & 255u;
}

// Replaces the two halves by sums and differences, in steps that have both: from even and odd parts to nodes,
// or (applied to halves) the reverse.
DG_DEVICE void exchange(real (&y)[NODE_TILES][ROWS][2]) {
#pragma unroll
    for (int s = 0; s < ODD_STEPS; ++s)
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            const real x = y[s / 2][k][s % 2], z = y[EVEN_TILES + s / 2][k][s % 2];
            y[s / 2][k][s % 2] = x + z;
            y[EVEN_TILES + s / 2][k][s % 2] = x - z;
        }
}

// Computes the fluxes from the derivatives, with the weights W of the edges. With PAIRS the derivatives are
// h_0 = ∂_01 and h_d = ∂_0d + ∂_1d, otherwise h_d = ∂_0d.
DG_DEVICE void fluxes(const real (&weights)[EDGES], const real (&h)[DIM], real (&f)[DIM]) {
#pragma unroll
    for (int d = 0; d < DIM; ++d) f[d] = HALVES && d > 0 ? real(0) : weights[edge(0, d + 1)] * h[d];
#pragma unroll
    for (int d = 1; d < DIM; ++d) {
        if (HALVES) {
            const real from0 = real(0.25) * weights[edge(0, d + 1)] * (h[d] + h[0]);
            const real from1 = real(0.25) * weights[edge(1, d + 1)] * (h[d] - h[0]);
            f[0] += from0 - from1;
            f[d] += from0 + from1;
        }
#pragma unroll
        for (int m = HALVES; m < d; ++m) {
            const real between = (HALVES ? real(0.25) : real(1)) * weights[edge(d + 1, m + 1)] * (h[d] - h[m]);
            f[d] += between;
            f[m] -= between;
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    elliptic_simplex(const Arguments a, const stored* __restrict__ u, stored* __restrict__ au, const double beta,
                     const stored* __restrict__ inverse_diagonal, const stored* __restrict__ b) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * ENTRIES + sizeof(u32) * (WORDS + CODES));
    u32* const words = reinterpret_cast<u32*>(shared + ENTRIES);
    u32* const code_edges = words + WORDS;
    constexpr int own_edges[SIDES][DIM] = OWN_EDGES;
    for (int i = threadIdx.x; i < ENTRIES; i += 32 * WARPS) shared[i] = dg_load(a.matrices + i);
    for (int i = threadIdx.x; i < WORDS; i += 32 * WARPS) words[i] = dg_load(a.rows + i);
    for (int i = threadIdx.x; i < CODES; i += 32 * WARPS) code_edges[i] = dg_load(a.edges + i);
    dg_block_sync();
    dg_wait_for_kernels_before();
    for (u64 i = blockIdx.x * 32 * WARPS + threadIdx.x; i < a.n_copied; i += (u64)gridDim.x * 32 * WARPS) {
        const u64 to = a.copied + i;
        au[to] = finish_step(beta, u[to], u, inverse_diagonal, b, to);
    }

    const u32 lane = dg_lane(), j = lane % 4;
    const real* const table = shared + lane;
    constexpr u32 mass_tiles[SIDES] = MASS_TILES;
    u32 nodes[NODE_WORDS];
#pragma unroll
    for (int w = 0; w < NODE_WORDS; ++w) nodes[w] = words[NODES_AT + j * NODE_WORDS + w];
    const u32 groups = (a.n_elements + 8 * ROWS - 1) / (8 * ROWS);
    for (u32 group = blockIdx.x * WARPS + threadIdx.x / 32; group < groups; group += gridDim.x * WARPS) {
        const u32 first = group * 8 * ROWS + lane / 4;
        u32 e[ROWS], packed[ROWS][SIDES];
        const stored* row[ROWS];
        real weights[ROWS][EDGES], at_node[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            e[k] = min(first + 8 * k, a.n_elements - 1);
            row[k] = u + (u64)e[k] * NP;
            at_node[k] = ROUNDED ? row[k][0] : stored(0);
#pragma unroll
            for (int c = 0; c < SIDES; ++c) packed[k][c] = dg_load(a.sides + e[k] * SIDES + c);
#pragma unroll
            for (int i = 0; i < EDGES; ++i) weights[k][i] = dg_load(a.weights + e[k] * EDGES + i);
        }

        // Derivatives along the edge from vertex 0 to vertex 1, and sums of the derivatives from both
        // vertices to each other vertex; the reaction. Even modes and nodes come first, then odd ones.
        real g[DIM][MODE_TILES][ROWS][2], y[NODE_TILES][ROWS][2];
#pragma unroll
        for (int t = 0; t < NODE_TILES; ++t) fragment_zero(y[t]);
#pragma unroll
        for (int t = 0; t < MODE_TILES; ++t)
#pragma unroll
            for (int d = 0; d < DIM; ++d) fragment_zero(g[d][t]);
        real reaction[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; ++k) reaction[k] = REACTION ? (real)dg_load(a.reaction + e[k]) : real(0);
#pragma unroll
        for (int s = 0; s < EVEN_STEPS; ++s) {
            real value[2][ROWS], x[2][ROWS];
#pragma unroll
            for (int k = 0; k < ROWS; ++k) {
                value[0][k] = row[k][node_of(nodes, 0, s)];
                x[0][k] = less(value[0][k], at_node[k]);
                if (s < ODD_STEPS) {
                    const real there = row[k][node_of(nodes, 1, s)];
                    x[1][k] = value[1][k] = value[0][k] - there;
                    value[0][k] += there;
                    x[0][k] += less(there, at_node[k]);
                }
            }
#pragma unroll
            for (int odd = 0; odd < (s < ODD_STEPS ? 2 : 1); ++odd) {
#pragma unroll
                for (int d = 0; d < DIM; ++d)
#pragma unroll
                    for (int t = 0; t < mode_tiles(image(odd, d)); ++t)
                        fragment_multiply(g[d][image(odd, d) * mode_tiles(0) + t], x[odd],
                                          table[32 * (derivatives(odd, d) + s * mode_tiles(image(odd, d)) + t)]);
                if (REACTION) {
#pragma unroll
                    for (int k = 0; k < ROWS; ++k) value[odd][k] *= reaction[k];
#pragma unroll
                    for (int t = 0; t < node_tiles(odd); ++t)
                        fragment_multiply(y[odd * EVEN_TILES + t], value[odd],
                                          table[32 * (VOLUME_MASS + odd * EVEN_STEPS * EVEN_TILES + s * node_tiles(odd) + t)]);
                }
            }
        }
        // From sums and differences to nodes; nodes in pairs get half.
        if (REACTION) exchange(y);

        // Jumps on sides that contribute to all derivatives are kept until they are needed.
        real waiting[WAITING][FACE_STEPS][ROWS];
#pragma unroll
        for (int c = SIDES - 1; c >= 0; --c) {
            real sign[ROWS], sign_of_penalty[ROWS], penalty[ROWS], ratio[ROWS], own[ROWS][DIM], out[ROWS][DIM],
                their_node[ROWS];
            const stored* other[ROWS];
            const u32* other_words[ROWS];
#pragma unroll
            for (int k = 0; k < ROWS; ++k) {
                const u32 code = packed[k][c] & 15u, neighbour = packed[k][c] >> CODE_BITS;
                sign[k] = packed[k][c] & 16u ? real(-1) : real(1);
                sign_of_penalty[k] = packed[k][c] & 32u ? real(0) : sign[k];
                other[k] = u + (u64)neighbour * NP;
                their_node[k] = ROUNDED ? dg_load(other[k]) : stored(0);
                other_words[k] = words + (code * 4 + j) * ROW_WORDS;
                penalty[k] = dg_load(a.penalty + e[k] * SIDES + c);
                const u32 edges = code_edges[code];
                ratio[k] = RATIO ? (real)dg_load(a.ratio + e[k] * SIDES + c) : real(1);
                const real theirs =
                    sign[k] * (RATIO ? (real)dg_load(a.ratio + neighbour * SIDES + (edges >> 24)) : real(1));
                own[k][0] = out[k][0] = 0;
#pragma unroll
                for (int i = 0; i < DIM; ++i) {
                    const int m = (i + 1) % DIM;
                    own[k][m] = ratio[k] * weights[k][own_edges[c][i]];
                    out[k][m] = theirs * (real)dg_load(a.weights + neighbour * EDGES + (edges >> 8 * i & 255u));
                }
                // own[0] has the weight of the last vertex; the derivative along its edge has the sum of all
                // weights.
#pragma unroll
                for (int i = 1; i < DIM; ++i) {
                    own[k][0] += own[k][i];
                    out[k][0] += out[k][i];
                }
            }
            real flux[FACE_TILES][ROWS][2], jumps[FACE_STEPS][ROWS];
#pragma unroll
            for (int t = 0; t < FACE_TILES; ++t) fragment_zero(flux[t]);
            const u32* const own_words = words + ((CODES - SIDES + c) * 4 + j) * ROW_WORDS;
            u32 own_word = 0, other_word[ROWS];
#pragma unroll
            for (int s = 0; s < ROW_STEPS; ++s) {
                if (s % 4 == 0) own_word = own_words[s / 4];
                real minus[ROWS], plus[ROWS], x[ROWS];
#pragma unroll
                for (int k = 0; k < ROWS; ++k) {
                    if (s % 4 == 0) other_word[k] = other_words[k][s / 4];
                    minus[k] = row[k][own_word >> 8 * (s % 4) & 255u];
                    plus[k] = dg_load(other[k] + (other_word[k] >> 8 * (s % 4) & 255u));
                    x[k] = own[k][0] * less(minus[k], at_node[k]) - out[k][0] * less(plus[k], their_node[k]);
                }
#pragma unroll
                for (int t = 0; t < FACE_TILES; ++t)
                    fragment_multiply(flux[t], x, table[32 * (ACROSS + s * FACE_TILES + t)]);
                if (s < FACE_STEPS) {
#pragma unroll
                    for (int m = 1; m < DIM; ++m) {
#pragma unroll
                        for (int k = 0; k < ROWS; ++k)
                            x[k] = own[k][m] * less(minus[k], at_node[k]) - out[k][m] * less(plus[k], their_node[k]);
#pragma unroll
                        for (int t = 0; t < FACE_TILES; ++t)
                            fragment_multiply(flux[t], x,
                                              table[32 * (TANGENT + ((m - 1) * FACE_STEPS + s) * FACE_TILES + t)]);
                    }
#pragma unroll
                    for (int k = 0; k < ROWS; ++k) {
                        jumps[s][k] = penalty[k] * (minus[k] - sign_of_penalty[k] * plus[k]);
                        x[k] = ratio[k] * (minus[k] - sign[k] * plus[k]);
                        if (c < WAITING) waiting[c < WAITING ? c : 0][s][k] = x[k];
                    }
#pragma unroll
                    for (int t = 0; t < MODE_TILES; ++t)
                        if (c >= WAITING)
                            fragment_multiply(g[c >= WAITING ? c - 1 : 0][t], x,
                                              table[32 * (LIFT + (c * FACE_STEPS + s) * MODE_TILES + t)]);
                }
            }
#pragma unroll
            for (int s = 0; s < FACE_STEPS; ++s) {
                real w[ROWS];
#pragma unroll
                for (int k = 0; k < ROWS; ++k) w[k] = jumps[s][k] + flux[s / 2][k][s % 2];
#pragma unroll
                for (int t = 0; t < NODE_TILES; ++t)
                    if (mass_tiles[c] >> t & 1u)
                        fragment_multiply(y[t], w, table[32 * (MASS + (c * FACE_STEPS + s) * NODE_TILES + t)]);
            }
        }

        // Fluxes along the edges, of even and odd modes.
        exchange(y);
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
            real lifted[WAITING][ROWS][2];
#pragma unroll
            for (int s = 0; s < mode_steps(odd); ++s) {
                const int tile = odd * mode_tiles(0) + s / 2;
                if (s % 2 == 0) {
#pragma unroll
                    for (int c = 0; c < WAITING; ++c) {
                        fragment_zero(lifted[c]);
#pragma unroll
                        for (int i = 0; i < FACE_STEPS; ++i)
                            fragment_multiply(lifted[c], waiting[c][i], table[32 * (LIFT + (c * FACE_STEPS + i) * MODE_TILES + tile)]);
                    }
                }
                real f[DIM][ROWS];
#pragma unroll
                for (int k = 0; k < ROWS; ++k) {
                    real of_entry[DIM], flux[DIM];
#pragma unroll
                    for (int d = 0; d < DIM; ++d) of_entry[d] = g[d][tile][k][s % 2] - lifted[0][k][s % 2];
                    if (HALVES) {
#pragma unroll
                        for (int d = 0; d < DIM; ++d) {
                            const real l1 = lifted[WAITING - 1][k][s % 2];
                            of_entry[d] += d == 0 ? l1 : -l1;
                        }
                    }
                    fluxes(weights[k], of_entry, flux);
#pragma unroll
                    for (int d = 0; d < DIM; ++d) f[d][k] = flux[d];
                }
#pragma unroll
                for (int d = 0; d < DIM; ++d)
#pragma unroll
                    for (int t = 0; t < node_tiles(image(odd, d)); ++t)
                        fragment_multiply(y[image(odd, d) * EVEN_TILES + t], f[d],
                                          table[32 * (tests(odd, d) + s * node_tiles(image(odd, d)) + t)]);
            }
        }
        exchange(y);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            if (first + 8 * k >= a.n_elements) continue;
            stored result[2][EVEN_STEPS];
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int s = 0; s < node_steps(half); ++s) {
                    if (4 * s + j >= (half ? PAIRS : PAIRS + OWN_IMAGES)) continue;
                    const u64 i = (u64)e[k] * NP + node_of(nodes, half, s);
                    result[half][s] = finish_step(beta, stored(y[half * EVEN_TILES + s / 2][k][s % 2]), u, inverse_diagonal, b, i);
                }
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int s = 0; s < node_steps(half); ++s) {
                    if (4 * s + j < (half ? PAIRS : PAIRS + OWN_IMAGES))
                        au[(u64)e[k] * NP + node_of(nodes, half, s)] = result[half][s];
                }
        }
    }
}
