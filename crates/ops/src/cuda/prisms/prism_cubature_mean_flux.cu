// Second pass of diffusion on prisms integrated by a cubature: one thread per volume point.
//
// It computes the fluxes through face points, lifts them, adds them to the sums in the layers of the first
// pass, and applies the metric rule and the stage. Same computation as `mean_flux_blocks` in
// diffusion_passes.rs on the host.
//
// Prisms are affine or curved. The first threads of an element also hold its basis functions; a block
// processes a few elements. Face points are distributed over all threads. Macros as in prism_cubature.cuh,
// and STAGE.

#include "prism_cubature.cuh"

// Offsets of the tables in shared memory: those of the line, lifts and, if curved, those of the metric rule.
constexpr int FROM_LIFTS = LINES;
constexpr int LIFTS = (SIDE_POINTS + END_POINTS) * TRIANGLE;
constexpr int FROM_INTERP = FROM_LIFTS + LIFTS;
constexpr int FROM_PROJECT = FROM_INTERP + LAYER;
constexpr int FROM_INTEGRAL = FROM_PROJECT + LAYER;
constexpr int MATRICES = CURVED ? FROM_INTEGRAL + 2 * NP : FROM_INTERP;
// Layout of shared memory. Sums over the triangle, [element][field][function], and work space of the metric
// rule.
constexpr int ROOM_AT = MATRICES;
constexpr int ROOM = FIELDS * (CURVED ? DIM * NQ : NP);
// First fluxes, [element][field][place], then rows of the metric rule.
constexpr int FACE_AT = ROOM_AT + ELEMENTS * ROOM;
constexpr int FACE = padded(FIELDS * (NF > NP ? NF : NP), FACE_REST);
// Lifts from the points of both ends.
constexpr int END_AT = FACE_AT + ELEMENTS * FACE;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (END_AT + ELEMENTS * END));
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NQ, point = threadIdx.x % NQ;
    const bool is_function = point < NP;
    const u32 element = first + (local < n ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + point;
    const u32 z = point / TRIANGLE, t = point % TRIANGLE;
    constexpr u32 ITEMS = NODES * GROUPS;
    static_assert(ITEMS <= NQ, "a thread for each sum");
    const bool has_item = threadIdx.x < n * ITEMS;
    const u32 item_element = threadIdx.x / ITEMS, item_layer = threadIdx.x / GROUPS % NODES, group = threadIdx.x % GROUPS;

    // 1. Fluxes.
    real sum[GROUP][FIELDS];
    if (has_item) {
        const stored* kept = p.kept + (u64)(a.first + first + item_element) * STATE_BLOCK + item_layer * TRIANGLE;
#pragma unroll
        for (u32 r = 0; r < GROUP; ++r) load_node(kept + row_of(group, r), sum[r]);
    }
    for (u32 i = threadIdx.x; i < FROM_INTERP; i += THREADS)
        shared[i] = __ldg(a.tables + (i < LINES ? i : i - LINES + SIDE_LIFT_AT));
    if (CURVED) {
        for (u32 i = threadIdx.x; i < LAYER; i += THREADS) {
            shared[FROM_INTERP + i] = __ldg(a.tables + INTERP_AT + i);
            shared[FROM_PROJECT + i] = __ldg(a.tables + TEST_AT + 2 * LAYER + i);
        }
        for (u32 i = threadIdx.x; i < 2 * NP; i += THREADS) shared[FROM_INTEGRAL + i] = __ldg(a.tables + INTEGRAL_AT + i);
    }
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF, side = face_of(q), there = a.first + first + e;
        real normal[DIM], f[FIELDS];
        const real scale = normal_at(a, first + e, side, q, normal);
        common_flux(p, fluxes_across(a, p, there, side), there, q, q - face_first(side), -scale, f);
        put<NF>(shared + FACE_AT + e * FACE + face_place[q], f);
    }
    dg_block_sync();

    // 2. Lifts of the fluxes, for some functions of a layer, and from the points of the ends.
    if (has_item) {
        const real* sides = shared + FACE_AT + item_element * FACE + 2 * END_POINTS + item_layer * NODES;
#pragma unroll 1
        for (int side = 0; side < 3; ++side)
            add_rows<NODES, NF>(shared + FROM_LIFTS + side * NODES * TRIANGLE, group, sides + side * SQUARE, sum);
        put_rows<NP>(shared + ROOM_AT + item_element * ROOM + item_layer * TRIANGLE, group, sum);
    }
    lift_ends<FACE>(n, shared + FROM_LIFTS + SIDE_POINTS * TRIANGLE, shared + FACE_AT, shared + END_AT);
    real u[FIELDS], before[FIELDS], rate[FIELDS];
    if (STAGE && is_function) load_node(a.u + at, u);
    if (reads_register && is_function) load_register(a.reg + at, before);
    dg_block_sync();

    // 3. Coefficients or, if curved, rows in the layers.
    clear(rate);
    if (is_function) {
        constexpr bool BACK = TRANSFORM && !CURVED;
        const real *room = shared + ROOM_AT + local * ROOM, *ends = shared + END_AT + local * END + t;
        if (BACK) {
            add_row<NODES, 1, NP, TRIANGLE>(shared + BACK_AT + z * NODES, room + t, rate);
        } else {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] = room[k * NP + point];
        }
#pragma unroll
        for (int end = 0; end < 2; ++end) {
            const real lift = shared[(BACK ? LIFT_BACK_AT : LIFT_AT) + end * NODES + z];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += lift * ends[(end * FIELDS + k) * TRIANGLE];
        }
    }
    if (CURVED)
        metric_rule<FACE, ROOM>(a, first, n, shared + BACK_AT, shared + FROM_INTERP, shared + FROM_PROJECT,
                                shared + FROM_INTEGRAL, shared + FACE_AT, shared + ROOM_AT, shared + END_AT, rate);

    // 4. The stage; see `finish`.
    if (!is_function || local >= n) return;
    finish_node(a, stage_factors(a, slot), reads_register, before, at, u, rate);
}
