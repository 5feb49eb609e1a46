// First pass of diffusion on prisms integrated by a cubature: one thread per volume point.
//
// Prisms are affine or curved, triangles times lines. Same computation as `gradient_block` in
// diffusion_passes.rs on the host; operators come from prism_cubature.rs and prism_cubature_diffusion.rs.
//
// The first threads of an element also hold its basis functions; a block processes a few elements. Face
// points are distributed over all threads, first for the numerical fluxes and again for the published fluxes.
// Coefficients and their derivatives along the line are computed in the layers and at both ends; the
// triangle's derivatives are applied together with the interpolation to points. The second pass receives sums
// in the layers.
//
// Macros as in prism_cubature.cuh; ETA, the weight of the liftings on their own faces; and SIDE_NORMALS, N̂
// of the sides in the plane of the triangle. `tables` continues with the derivative along the line in the
// layers [layer][function] and at both ends [end][function]; for the triangle both derivatives at points
// [function][point], the lifts of sides there [side, number][point], both derivatives on sides
// [function][side, number] and at the points of ends [function][point], the lifts of a side at its own points
// [side][number][at number] and of an end [point][at point]; and the lifts of both ends at themselves.

#include "prism_cubature.cuh"

// Offsets of the tables in shared memory: without the lifts of sides and the constants of the metric rule.
constexpr int FROM_END_LIFT = SIDE_LIFT_AT;
constexpr int FROM_TRACES = FROM_END_LIFT + END_POINTS * TRIANGLE;
constexpr int SLOPES_AT = FROM_TRACES + (SIDE_POINTS + END_POINTS) * TRIANGLE;
constexpr int END_SLOPES_AT = SLOPES_AT + SQUARE;
constexpr int DERIVE_AT = END_SLOPES_AT + 2 * NODES;
constexpr int JUMP_AT = DERIVE_AT + 2 * LAYER;
constexpr int DERIVE_SIDE_AT = JUMP_AT + SIDE_POINTS * POINTS;
constexpr int DERIVE_END_AT = DERIVE_SIDE_AT + 2 * SIDE_POINTS * TRIANGLE;
constexpr int OWN_SIDE_AT = DERIVE_END_AT + 2 * END_POINTS * TRIANGLE;
constexpr int OWN_END_AT = OWN_SIDE_AT + 3 * SQUARE;
constexpr int OWN_ENDS_AT = OWN_END_AT + END_POINTS * END_POINTS;
constexpr int MATRICES = OWN_ENDS_AT + 2;
constexpr int MORE_AT = ONE_AT + NP;  // offset of the further tables, in global memory

constexpr int ROWS = (NODES + 2) * TRIANGLE;  // rows of the layers, the lower and the upper end
// Layout of shared memory. First coefficients and derivatives along the line, [element][2 fields][row], then
// contravariant fluxes [element][direction][field][point], then sums over the triangle, [element][2
// fields][function].
constexpr int ROOM_AT = MATRICES;
constexpr int ROOM = padded(FIELDS * (DIM * FLUX > 2 * ROWS ? DIM * FLUX : 2 * ROWS), FLUX);
// First states, then half jumps and numerical fluxes, [element][2 fields][place].
constexpr int FACE_AT = ROOM_AT + ELEMENTS * ROOM;
constexpr int FACE = padded(FIELDS * (2 * NF > NP ? 2 * NF : NP), FACE_REST);
// Liftings from the points of both ends.
constexpr int END_AT = FACE_AT + ELEMENTS * FACE;

// A face point of the block, with the state across.
struct Point {
    u32 element;         // numbered in the block
    u32 q;               // numbered among the face points of the element
    u32 side;            // the face
    long long boundary;  // offset of the face's boundary points, see `boundary_begin`
    real up[FIELDS];
};

// Computes the derivatives in reference coordinates of the function with the coefficients `layer`, which are
// followed by the coefficients of its derivative along the line. `value` and `derive` are columns with the
// stride `STEP` between functions; the two derivatives are `NEXT` apart.
template <int STEP, int NEXT>
static __device__ __forceinline__ void slopes_at(const real* value, const real* derive, const real* layer, real (&u)[FIELDS],
                                                 real (&slope)[DIM * FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) u[k] = 0;
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) slope[i] = 0;
#pragma unroll 4
    for (int b = 0; b < TRIANGLE; ++b) {
        const real c = value[b * STEP], r = derive[b * STEP], s = derive[NEXT + b * STEP];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            const real w = layer[k * ROWS + b];
            u[k] += c * w;
            slope[k] += r * w;
            slope[FIELDS + k] += s * w;
            slope[2 * FIELDS + k] += c * layer[(FIELDS + k) * ROWS + b];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (END_AT + ELEMENTS * END));
    constexpr int normals[3][2] = SIDE_NORMALS;
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NQ, point = threadIdx.x % NQ;
    const bool is_function = point < NP;
    const u32 element = first + (local < n ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + point;
    const u32 z = point / TRIANGLE, t = point % TRIANGLE;       // of the function
    const u32 layer = point / POINTS, number = point % POINTS;  // of the point
    real *room = shared + ROOM_AT + local * ROOM, *face = shared + FACE_AT + local * FACE;
    const auto ask = [&](u32 item, Point& point) {
        point.element = item / NF;
        point.q = item % NF;
        point.side = face_of(point.q);
        const u32 number = point.q - face_first(point.side);
        const Across r = across(a, a.first + first + point.element, point.side);
        load_row_constant(r.values + (r.rows ? __ldg(r.rows + number) : number * FIELDS), point.up);
        point.boundary = boundary_begin(a, p, r);
    };
    const auto own_trace = [&](u32 e, u32 q, real (&um)[FIELDS]) {
        load_row_constant(a.traces + (u64)(a.first + first + e) * TRACE_BLOCK + q * FIELDS, um);
    };
    const auto solve = [&](const Point& point) {
        real um[FIELDS], jump[FIELDS], f[FIELDS], normal[DIM];
        own_trace(point.element, point.q, um);
        normal_at(a, first + point.element, point.side, point.q, normal);
        half_jump(p, point.boundary, point.q - face_first(point.side), um, point.up, jump);
        numerical_flux(parameters, um, point.up, normal, f);
        real* y = shared + FACE_AT + point.element * FACE + face_place[point.q];
        put<NF>(y, jump);
        put<NF>(y + FIELDS * NF, f);
    };

    // 1. Coefficients, and their derivatives along the line, in the layers and at both ends.
    Point asked;
    if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
    {
        const stored* from = a.u + (u64)(a.first + first) * STATE_BLOCK;
        for (u32 i = threadIdx.x; i < n * STATE_BLOCK; i += THREADS)
            shared[FACE_AT + i / STATE_BLOCK * FACE + i % STATE_BLOCK] = __ldg(from + i);
        for (u32 i = threadIdx.x; i < MATRICES; i += THREADS)
            shared[i] = __ldg(a.tables + (i < FROM_END_LIFT ? i
                                          : i < SLOPES_AT   ? i - FROM_END_LIFT + END_LIFT_AT
                                                            : i - SLOPES_AT + MORE_AT));
    }
    dg_block_sync();
    for (u32 item = threadIdx.x; item < n * ROWS; item += THREADS) {
        const u32 e = item / ROWS, row = item % ROWS, l = row / TRIANGLE;
        const real* value = shared + (l < NODES ? VALUES_AT + l * NODES : ENDS_AT + (l - NODES) * NODES);
        const real* slope = shared + (l < NODES ? SLOPES_AT + l * NODES : END_SLOPES_AT + (l - NODES) * NODES);
        const real* line = shared + FACE_AT + e * FACE + row % TRIANGLE;
        real w[FIELDS], s[FIELDS];
        clear(w);
        clear(s);
#pragma unroll
        for (int m = 0; m < NODES; ++m)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real x = line[k * NP + m * TRIANGLE];
                w[k] += value[m] * x;
                s[k] += slope[m] * x;
            }
        real* to = shared + ROOM_AT + e * ROOM + row;
        put<ROWS>(to, w);
        put<ROWS>(to + FIELDS * ROWS, s);
    }
    dg_block_sync();

    // 2. Half jumps and numerical fluxes.
    if (threadIdx.x < n * NF) solve(asked);
    for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
        ask(item, asked);
        solve(asked);
    }
    dg_block_sync();

    // 3. Faces: the gradient with the face's own lifting, the published flux; liftings of the ends.
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF, side = face_of(q), place = face_place[q];
        const real *layers = shared + ROOM_AT + e * ROOM, *y = shared + FACE_AT + e * FACE;
        real um[FIELDS], lift[FIELDS], f[FIELDS], reference[DIM * FIELDS], g[DIM * DIM], grad[DIM * FIELDS], normal[DIM];
        clear(lift);
        if (place < 2 * END_POINTS) {
            const u32 end = place / END_POINTS, j = place % END_POINTS;
            const real *value = shared + FROM_TRACES + SIDE_POINTS * TRIANGLE + j, *derive = shared + DERIVE_END_AT + j;
            slopes_at<END_POINTS, END_POINTS * TRIANGLE>(value, derive, layers + (NODES + end) * TRIANGLE, um, reference);
            add_row<END_POINTS, END_POINTS, NF, 1>(shared + OWN_END_AT + j, y + end * END_POINTS, lift);
            const real own = (end == 0 ? -(real)(ETA) : (real)(ETA)) * shared[OWN_ENDS_AT + end];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) reference[2 * FIELDS + k] += own * lift[k];
        } else {
            const u32 row = place - 2 * END_POINTS, edge = row / SQUARE, l = row / NODES % NODES, m = row % NODES;
            const real *value = shared + FROM_TRACES + edge * NODES + m, *derive = shared + DERIVE_SIDE_AT + edge * NODES + m;
            slopes_at<SIDE_POINTS, SIDE_POINTS * TRIANGLE>(value, derive, layers + l * TRIANGLE, um, reference);
            add_row<NODES, NODES, NF, 1>(shared + OWN_SIDE_AT + edge * SQUARE + m, y + place - m, lift);
#pragma unroll
            for (int d = 0; d < 2; ++d) {
                real c = 0;
#pragma unroll
                for (int i = 0; i < 3; ++i) c = edge == i ? (real)(ETA) * normals[i][d] : c;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] += c * lift[k];
            }
        }
        face_metric_at(a, p, first + e, q, g);
        physical_gradient(g, reference, grad);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) f[k] = y[(FIELDS + k) * NF + place];
        normal_at(a, first + e, side, q, normal);
        const u32 there = a.first + first + e;
        publish(parameters, p, there, q, boundary_begin(a, p, across(a, there, side)), q - face_first(side), um, grad, normal,
                f);
    }
    lift_ends<FACE>(n, shared + FROM_END_LIFT, shared + FACE_AT, shared + END_AT);
    dg_block_sync();
    if (is_function) {
        const real low = -shared[LIFT_AT + z], high = shared[LIFT_AT + NODES + z];
        const real* ends = shared + END_AT + local * END + t;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k)
            room[(FIELDS + k) * ROWS + point] += low * ends[k * TRIANGLE] + high * ends[(FIELDS + k) * TRIANGLE];
    }
    dg_block_sync();

    // 4. Volume: gradients, contravariant fluxes.
    {
        real u[FIELDS], g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS], flux[DIM * FIELDS], diffusive[DIM * FIELDS];
        slopes_at<POINTS, LAYER>(shared + INTERP_AT + number, shared + DERIVE_AT + number, room + layer * TRIANGLE, u, reference);
#pragma unroll
        for (int side = 0; side < 3; ++side) {
            real lift[FIELDS];
            clear(lift);
            const real* jumps = face + 2 * END_POINTS + (side * NODES + layer) * NODES;
            add_row<NODES, POINTS, NF, 1>(shared + JUMP_AT + side * NODES * POINTS + number, jumps, lift);
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (normals[side][d] != 0) reference[d * FIELDS + k] += normals[side][d] * lift[k];
        }
        metric_at(a, element, point, g);
        if (CURVED) {
            const real scale = __ldg(a.inverse_jacobian + (u64)element * NQ + point);
#pragma unroll
            for (int i = 0; i < DIM * FIELDS; ++i) reference[i] *= scale;
        }
        physical_gradient(g, reference, grad);
        diffusive_flux(parameters, u, grad, diffusive);
        volume_flux(parameters, u, g, flux);
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
#pragma unroll
                for (int x = 0; x < DIM; ++x) flux[d * FIELDS + k] -= g[d * DIM + x] * diffusive[x * FIELDS + k];
        dg_block_sync();
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) room[i * FLUX + layer * FLUX_LAYER + number] = flux[i];
    }
    dg_block_sync();

    // 5. Sums over the triangle, of the first two fluxes and of the third.
    constexpr u32 ITEMS = NODES * GROUPS;
    static_assert(2 * ITEMS <= NQ, "a thread for each sum");
    const bool is_third = threadIdx.x >= n * ITEMS, has_item = threadIdx.x < 2 * n * ITEMS;
    const u32 item = threadIdx.x - (is_third ? n * ITEMS : 0);
    const u32 item_element = item / ITEMS, item_layer = item / GROUPS % NODES, group = item % GROUPS;
    real sum[GROUP][FIELDS];
    clear_rows(sum);
    if (has_item) {
        const real* fluxes = shared + ROOM_AT + item_element * ROOM + item_layer * FLUX_LAYER;
#pragma unroll 1
        for (int d = is_third ? 2 : 0; d < (is_third ? 3 : 2); ++d)
            add_rows<POINTS, FLUX>(shared + TEST_AT + d * LAYER, group, fluxes + d * FIELDS * FLUX, sum);
    }
    // The source is loaded into the memory of the states.
    if (p.source && is_function) {
        real source[FIELDS];
        load_node(p.source + at, source);
        put<NP>(face + point, source);
    }
    dg_block_sync();
    if (has_item)
        put_rows<NP>(shared + ROOM_AT + item_element * ROOM + (is_third ? FIELDS * NP : 0) + item_layer * TRIANGLE, group, sum);
    dg_block_sync();
    if (!is_function || local >= n) return;

    // 6. Sums along the line, in the layers; stored for the second pass.
    real rate[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = room[k * NP + point];
    add_row<NODES, 1, NP, TRIANGLE>(shared + SLOPE_AT + z * NODES, room + FIELDS * NP + t, rate);
    if (p.source) add_row<NODES, 1, NP, TRIANGLE>(shared + VALUES_AT + z * NODES, face + t, rate);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
}
