// Fused residual and stage on prisms integrated by a cubature: one thread per volume point.
//
// Prisms are affine or curved, triangles times lines. Same computation as residual.rs on the host; operators
// come from prism_cubature.rs, traces from prism_cubature_traces.cu.
//
// The first threads of an element also hold its basis functions; a block processes a few elements.
// Coefficients are transformed to the layers, then to values and fluxes at the points. A thread sums some
// functions of a layer over the layer's points and sides, or over the points of an end. Finally each function
// sums along its line. Macros as in prism_cubature.cuh, and STAGE.

#include "prism_cubature.cuh"

constexpr int MATRICES = (TRACES_AT + (CURVED ? 2 * NP : 0) + 1) / 2 * 2;
// Layout of shared memory. First coefficients in the layers, then contravariant fluxes
// [element][direction][field][point], then sums over the triangle, [element][2 fields][function].
constexpr int ROOM_AT = MATRICES;
constexpr int ROOM = padded(DIM * FIELDS * FLUX, FLUX);
// States, then numerical fluxes, [element][field][place].
constexpr int FACE_AT = ROOM_AT + ELEMENTS * ROOM;
constexpr int FACE = padded(FIELDS * (NF > NP ? NF : NP), FACE_REST);
// Lifts from the points of both ends.
constexpr int END_AT = FACE_AT + ELEMENTS * FACE;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (END_AT + ELEMENTS * END));
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NQ, point = threadIdx.x % NQ;
    const bool is_function = point < NP;
    const u32 element = first + (local < n ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + point;
    const u32 z = point / TRIANGLE, t = point % TRIANGLE;             // of the function
    const u32 layer = point / POINTS, number = point % POINTS;        // of the point
    real *room = shared + ROOM_AT + local * ROOM, *face = shared + FACE_AT + local * FACE;
    const auto ask = [&](u32 item, real (&up)[FIELDS]) {
        const u32 q = item % NF, side = face_of(q), p = q - face_first(side);
        const Across r = across(a, a.first + first + item / NF, side);
        load_row_constant(r.values + (r.rows ? __ldg(r.rows + p) : p * FIELDS), up);
    };
    const auto solve = [&](u32 item, const real (&up)[FIELDS]) {
        const u32 e = item / NF, q = item % NF;
        real um[FIELDS], f[FIELDS];
        load_row_constant(a.traces + (u64)(a.first + first + e) * TRACE_BLOCK + q * FIELDS, um);
        face_flux(a, parameters, first + e, face_of(q), q, um, up, f);
        // Negative, as they are lifted with the opposite sign.
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) f[k] = -f[k];
        put<NF>(shared + FACE_AT + e * FACE + face_place[q], f);
    };

    // 1. Coefficients in the layers.
    real asked[FIELDS];
    {
        real u[FIELDS];
        if (is_function) load_node(a.u + at, u);
        if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
        for (u32 i = threadIdx.x; i < TRACES_AT; i += THREADS) shared[i] = __ldg(a.tables + i);
        if (CURVED)
            for (u32 i = threadIdx.x; i < 2 * NP; i += THREADS) shared[TRACES_AT + i] = __ldg(a.tables + INTEGRAL_AT + i);
        if (is_function) put<NP>((TRANSFORM ? face : room) + point, u);
        dg_block_sync();
        if (TRANSFORM) {
            if (is_function) {
                clear(u);
                add_row<NODES, 1, NP, TRIANGLE>(shared + VALUES_AT + z * NODES, face + t, u);
                put<NP>(room + point, u);
            }
            dg_block_sync();
        }
    }

    // 2. Fluxes at the points and through the faces.
    {
        real value[FIELDS], g[DIM * DIM], f[DIM * FIELDS];
        metric_at(a, element, point, g);
        clear(value);
        if (NODAL) {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) value[k] = room[k * NP + point];
        } else {
            add_row<TRIANGLE, POINTS, NP, 1>(shared + INTERP_AT + number, room + layer * TRIANGLE, value);
        }
        volume_flux(parameters, value, g, f);
        if (threadIdx.x < n * NF) solve(threadIdx.x, asked);
        for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
            ask(item, asked);
            solve(item, asked);
        }
        dg_block_sync();
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) room[i * FLUX + layer * FLUX_LAYER + number] = f[i];
    }
    dg_block_sync();

    // 3. Sums over the triangle: over points and sides of a layer, of the first two fluxes and of the third;
    //    and sums over the points of an end.
    constexpr u32 ITEMS = NODES * GROUPS;
    static_assert(2 * ITEMS <= NQ, "a thread for each sum");
    const bool is_third = threadIdx.x >= n * ITEMS, has_item = threadIdx.x < 2 * n * ITEMS;
    const u32 item = threadIdx.x - (is_third ? n * ITEMS : 0);
    const u32 item_element = item / ITEMS, item_layer = item / GROUPS % NODES, group = item % GROUPS;
    real sum[GROUP][FIELDS];
    clear_rows(sum);
    if (has_item) {
        const real* fluxes = shared + ROOM_AT + item_element * ROOM + item_layer * FLUX_LAYER;
        if (is_third) {
            add_rows<POINTS, FLUX>(shared + TEST_AT + 2 * LAYER, group, fluxes + 2 * FIELDS * FLUX, sum);
        } else {
            const real* sides = shared + FACE_AT + item_element * FACE + 2 * END_POINTS + item_layer * NODES;
#pragma unroll 1
            for (int side = 0; side < 3; ++side)
                add_rows<NODES, NF>(shared + SIDE_LIFT_AT + side * NODES * TRIANGLE, group, sides + side * SQUARE, sum);
#pragma unroll 1
            for (int d = 0; d < 2; ++d)
                add_rows<POINTS, FLUX>(shared + TEST_AT + d * LAYER, group, fluxes + d * FIELDS * FLUX, sum);
        }
    }
    lift_ends<FACE>(n, shared + END_LIFT_AT, shared + FACE_AT, shared + END_AT);
    dg_block_sync();
    if (has_item)
        put_rows<NP>(shared + ROOM_AT + item_element * ROOM + (is_third ? FIELDS * NP : 0) + item_layer * TRIANGLE, group, sum);
#ifdef SOURCE
    // The source of curved elements, whose rule takes the layers, where the numerical fluxes were.
    real more[FIELDS];
    clear(more);
    if (is_function) load_node(a.source + at, more);
    if (CURVED && is_function) put<NP>(face + point, more);
#endif
    // Loads for the stage are issued before the last sums.
    real u[FIELDS], before[FIELDS], rate[FIELDS];
    if (STAGE && is_function) load_node(a.u + at, u);
    if (reads_register && is_function) load_register(a.reg + at, before);
    dg_block_sync();

    // 4. Sums along the line: coefficients or, if curved, coefficients in the layers.
    clear(rate);
    if (is_function) {
        constexpr bool BACK = TRANSFORM && !CURVED;
        const real* ends = shared + END_AT + local * END + t;
        add_row<NODES, 1, NP, TRIANGLE>(shared + (BACK ? SLOPE_BACK_AT : SLOPE_AT) + z * NODES, room + FIELDS * NP + t, rate);
        if (BACK) {
            add_row<NODES, 1, NP, TRIANGLE>(shared + BACK_AT + z * NODES, room + t, rate);
        } else {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += room[k * NP + point];
        }
#pragma unroll
        for (int end = 0; end < 2; ++end) {
            const real lift = shared[(BACK ? LIFT_BACK_AT : LIFT_AT) + end * NODES + z];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += lift * ends[(end * FIELDS + k) * TRIANGLE];
        }
    }
#ifdef SOURCE
    if (CURVED) {
        if (is_function) add_row<NODES, 1, NP, TRIANGLE>(shared + VALUES_AT + z * NODES, face + t, rate);
        dg_block_sync();
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] += more[k];
    }
#endif
    if (CURVED)
        metric_rule<FACE, ROOM>(a, first, n, shared + BACK_AT, shared + INTERP_AT, shared + TEST_AT + 2 * LAYER,
                                shared + TRACES_AT, shared + FACE_AT, shared + ROOM_AT, shared + END_AT, rate);

    // 5. The stage; see `finish`.
    if (!is_function || local >= n) return;
    finish_node(a, stage_factors(a, slot), reads_register, before, at, u, rate);
}
