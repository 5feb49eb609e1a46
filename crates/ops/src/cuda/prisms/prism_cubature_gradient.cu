// First pass of diffusion on prisms integrated by a cubature: one thread per volume point; see
// gradient_pass.cuh.
//
// Prisms are affine or curved, triangles times lines; operators come from prism_cubature.rs and
// prism_cubature_diffusion.rs. The first threads of an element also hold its basis functions; a block
// processes a few elements. Coefficients and their derivatives along the line are computed in the layers and
// at both ends; the triangle's derivatives are applied together with the interpolation to points. The second
// pass receives sums in the layers.
//
// Macros as in prism_cubature.cuh; ETA, the weight of the liftings on their own faces; and SIDE_NORMALS, N̂
// of the sides in the plane of the triangle. `tables` continues with the derivative along the line in the
// layers [layer][function] and at both ends [end][function]; for the triangle both derivatives at points
// [function][point], the lifts of sides there [side, number][point], both derivatives on sides
// [function][side, number] and at the points of ends [function][point], the lifts of a side at its own points
// [side][number][at number] and of an end [point][at point]; and the lifts of both ends at themselves.

#include "viscous.cuh"
#include "prism_cubature.cuh"

constexpr bool PERSISTENT = false;

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

struct Gradient : GradientKind {
    static constexpr Publishes PUBLISHES = BEFORE_VOLUME;
    static constexpr bool AHEAD = true;
    static constexpr u32 ITEMS = NODES * GROUPS;
    static_assert(2 * ITEMS <= NQ, "a thread for each sum");

    const Own<NQ> own;  // point; the first threads of an element also hold its functions
    const bool is_function;
    real *layers, *face;

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (END_AT + ELEMENTS * END));
        return shared;
    }

    DG_DEVICE Gradient(const Arguments& a, const Published& p, const Parameters& parameters, const Elements& elements, real* work)
        : GradientKind(a, p, parameters, elements, work), own(elements), is_function(own.row < NP),
          layers(work + ROOM_AT + own.local * ROOM), face(work + FACE_AT + own.local * FACE) {}

    // Coefficients, and their derivatives along the line, in the layers and at both ends.
    DG_DEVICE void load() const {
        const stored* from = a.u + elements.begin;
        for (u32 i = threadIdx.x; i < elements.n * STATE_BLOCK; i += THREADS)
            work[FACE_AT + i / STATE_BLOCK * FACE + i % STATE_BLOCK] = __ldg(from + i);
        for (u32 i = threadIdx.x; i < MATRICES; i += THREADS)
            work[i] = __ldg(a.tables + (i < FROM_END_LIFT ? i
                                          : i < SLOPES_AT   ? i - FROM_END_LIFT + END_LIFT_AT
                                                            : i - SLOPES_AT + MORE_AT));
        dg_block_sync();
        for (u32 item = threadIdx.x; item < elements.n * ROWS; item += THREADS) {
            const u32 e = item / ROWS, row = item % ROWS, l = row / TRIANGLE;
            const real* value = work + (l < NODES ? VALUES_AT + l * NODES : ENDS_AT + (l - NODES) * NODES);
            const real* slope = work + (l < NODES ? SLOPES_AT + l * NODES : END_SLOPES_AT + (l - NODES) * NODES);
            const real* line = work + FACE_AT + e * FACE + row % TRIANGLE;
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
            real* to = work + ROOM_AT + e * ROOM + row;
            put<ROWS>(to, w);
            put<ROWS>(to + FIELDS * ROWS, s);
        }
        dg_block_sync();
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond&, real (&um)[FIELDS]) const {
        load_row_constant(a.traces + (u64)(elements.slot + at.element) * TRACE_BLOCK + at.q * FIELDS, um);
    }

    DG_DEVICE void keep(const FacePoint& at, const real (&jump)[FIELDS], const real (&f)[FIELDS]) const {
        real* y = work + FACE_AT + at.element * FACE + face_place[at.q];
        put<NF>(y, jump);
        put<NF>(y + FIELDS * NF, f);
    }

    DG_DEVICE void derive() const {
        lift_ends<FACE>(elements.n, work + FROM_END_LIFT, work + FACE_AT, work + END_AT);
    }

    DG_DEVICE void face_gradient(const FacePoint& at, real (&um)[FIELDS], real (&)[FIELDS],
                                                  real (&f)[FIELDS], real (&grad)[DIM * FIELDS]) const {
        constexpr int normals[3][2] = SIDE_NORMALS;
        const u32 place = face_place[at.q];
        const real *there = work + ROOM_AT + at.element * ROOM, *y = work + FACE_AT + at.element * FACE;
        real lift[FIELDS], reference[DIM * FIELDS], g[DIM * DIM];
        clear(lift);
        if (place < 2 * END_POINTS) {
            const u32 end = place / END_POINTS, j = place % END_POINTS;
            const real *value = work + FROM_TRACES + SIDE_POINTS * TRIANGLE + j, *slope = work + DERIVE_END_AT + j;
            slopes_at<END_POINTS, END_POINTS * TRIANGLE>(value, slope, there + (NODES + end) * TRIANGLE, um, reference);
            add_row<END_POINTS, END_POINTS, NF, 1>(work + OWN_END_AT + j, y + end * END_POINTS, lift);
            const real weight = (end == 0 ? -(real)(ETA) : (real)(ETA)) * work[OWN_ENDS_AT + end];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) reference[2 * FIELDS + k] += weight * lift[k];
        } else {
            const u32 row = place - 2 * END_POINTS, edge = row / SQUARE, l = row / NODES % NODES, m = row % NODES;
            const real *value = work + FROM_TRACES + edge * NODES + m, *slope = work + DERIVE_SIDE_AT + edge * NODES + m;
            slopes_at<SIDE_POINTS, SIDE_POINTS * TRIANGLE>(value, slope, there + l * TRIANGLE, um, reference);
            add_row<NODES, NODES, NF, 1>(work + OWN_SIDE_AT + edge * SQUARE + m, y + place - m, lift);
#pragma unroll
            for (int d = 0; d < 2; ++d) {
                real c = 0;
#pragma unroll
                for (int i = 0; i < 3; ++i) c = edge == i ? (real)(ETA) * normals[i][d] : c;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] += c * lift[k];
            }
        }
        face_metric_at(a, p, elements.first + at.element, at.q, g);
        physical_gradient(g, reference, grad);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) f[k] = y[(FIELDS + k) * NF + place];
    }

    DG_DEVICE void volume() const {
        constexpr int normals[3][2] = SIDE_NORMALS;
        if (is_function) {
            const u32 z = own.row / TRIANGLE, t = own.row % TRIANGLE;
            const real low = -work[LIFT_AT + z], high = work[LIFT_AT + NODES + z];
            const real* ends = work + END_AT + own.local * END + t;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                layers[(FIELDS + k) * ROWS + own.row] += low * ends[k * TRIANGLE] + high * ends[(FIELDS + k) * TRIANGLE];
        }
        dg_block_sync();
        const u32 layer = own.row / POINTS, number = own.row % POINTS;
        real u[FIELDS], g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS], flux[DIM * FIELDS];
        slopes_at<POINTS, LAYER>(work + INTERP_AT + number, work + DERIVE_AT + number, layers + layer * TRIANGLE, u, reference);
#pragma unroll
        for (int side = 0; side < 3; ++side) {
            real lift[FIELDS];
            clear(lift);
            const real* jumps = face + 2 * END_POINTS + (side * NODES + layer) * NODES;
            add_row<NODES, POINTS, NF, 1>(work + JUMP_AT + side * NODES * POINTS + number, jumps, lift);
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (normals[side][d] != 0) reference[d * FIELDS + k] += normals[side][d] * lift[k];
        }
        metric_at(a, own.element, own.row, g);
        if (CURVED) {
            const real scale = __ldg(a.inverse_jacobian + (u64)own.element * NQ + own.row);
#pragma unroll
            for (int i = 0; i < DIM * FIELDS; ++i) reference[i] *= scale;
        }
        physical_gradient(g, reference, grad);
#if COEFFICIENTS
        const Parameters parameters = own_parameters(this->parameters, p, own.slot);
#endif
        contravariant_flux(parameters, u, g, grad, flux);
        dg_block_sync();
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) layers[i * FLUX + layer * FLUX_LAYER + number] = flux[i];
    }

    DG_DEVICE void store() const {
        // 1. Sums over the triangle, of the first two fluxes and of the third.
        const u32 n = elements.n, z = own.row / TRIANGLE, t = own.row % TRIANGLE;
        const bool is_third = threadIdx.x >= n * ITEMS, has_item = threadIdx.x < 2 * n * ITEMS;
        const u32 item = threadIdx.x - (is_third ? n * ITEMS : 0);
        const u32 item_element = item / ITEMS, item_layer = item / GROUPS % NODES, group = item % GROUPS;
        real sum[GROUP][FIELDS];
        clear_rows(sum);
        if (has_item) {
            const real* fluxes = work + ROOM_AT + item_element * ROOM + item_layer * FLUX_LAYER;
#pragma unroll 1
            for (int d = is_third ? 2 : 0; d < (is_third ? 3 : 2); ++d)
                add_rows<POINTS, FLUX>(work + TEST_AT + d * LAYER, group, fluxes + d * FIELDS * FLUX, sum);
        }
        // The source is loaded into the memory of the states.
        const u64 at = own.at();
        if (p.source && is_function) {
            real source[FIELDS];
            load_node(p.source + at, source);
            put<NP>(face + own.row, source);
        }
        dg_block_sync();
        if (has_item)
            put_rows<NP>(work + ROOM_AT + item_element * ROOM + (is_third ? FIELDS * NP : 0) + item_layer * TRIANGLE, group,
                         sum);
        dg_block_sync();
        if (!is_function || !own.exists) return;

        // 2. Sums along the line, in the layers.
        real rate[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] = layers[k * NP + own.row];
        add_row<NODES, 1, NP, TRIANGLE>(work + SLOPE_AT + z * NODES, layers + FIELDS * NP + t, rate);
        if (p.source) add_row<NODES, 1, NP, TRIANGLE>(work + VALUES_AT + z * NODES, face + t, rate);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
    }
};

#include "gradient_pass.cuh"
