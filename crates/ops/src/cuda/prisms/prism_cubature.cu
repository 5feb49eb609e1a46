// Fused residual and stage on prisms integrated by a cubature: one thread per volume point; see
// residual_pass.cuh.
//
// Prisms are affine or curved, triangles times lines; operators come from prism_cubature.rs, traces from
// prism_cubature_traces.cu. The first threads of an element also hold its basis functions; a block processes
// a few elements. Coefficients are transformed to the layers, then to values and fluxes at the points. A
// thread sums some functions of a layer over the layer's points and sides, or over the points of an end.
// Finally each function sums along its line. Macros as in prism_cubature.cuh, and STAGE.

#include "passes.cuh"
#include "prism_cubature.cuh"

constexpr bool PERSISTENT = false;

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

struct Residual : ResidualKind {
    static constexpr bool AHEAD = true;

    const Own<NQ> own;  // point; the first threads of an element also hold its functions
    const bool is_function, reads_register;
    real *layers, *face;
    u32 z, t;           // layer and number of the function
    u32 layer, number;  // of the point
    real coefficients[FIELDS], flux[DIM * FIELDS];

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (END_AT + ELEMENTS * END));
        return shared;
    }

    DG_DEVICE Residual(const Arguments& a, const Parameters& parameters, const Elements& elements, real* work)
        : ResidualKind(a, parameters, elements, work), own(elements), is_function(own.row < NP),
          reads_register(STAGE && a.a != 0.0), layers(work + ROOM_AT + own.local * ROOM),
          face(work + FACE_AT + own.local * FACE), z(own.row / TRIANGLE), t(own.row % TRIANGLE), layer(own.row / POINTS),
          number(own.row % POINTS) {
        if (is_function) load_node(a.u + own.at(), coefficients);
    }

    // Coefficients in the layers.
    DG_DEVICE void load() {
        for (u32 i = threadIdx.x; i < TRACES_AT; i += THREADS) work[i] = __ldg(a.tables + i);
        if (CURVED)
            for (u32 i = threadIdx.x; i < 2 * NP; i += THREADS) work[TRACES_AT + i] = __ldg(a.tables + INTEGRAL_AT + i);
        if (is_function) ::put<NP>((TRANSFORM ? face : layers) + own.row, coefficients);
        dg_block_sync();
        if (TRANSFORM) {
            if (is_function) {
                real x[FIELDS];
                clear(x);
                add_row<NODES, 1, NP, TRIANGLE>(work + VALUES_AT + z * NODES, face + t, x);
                ::put<NP>(layers + own.row, x);
            }
            dg_block_sync();
        }
    }

    // The fluxes stay in registers, as their place holds the values of other points.
    DG_DEVICE void volume() {
        real value[FIELDS], g[DIM * DIM];
        metric_at(a, own.element, own.row, g);
        clear(value);
        if (NODAL) {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) value[k] = layers[k * NP + own.row];
        } else {
            add_row<TRIANGLE, POINTS, NP, 1>(work + INTERP_AT + number, layers + layer * TRIANGLE, value);
        }
        volume_flux(parameters, value, g, flux);
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond&, real (&um)[FIELDS]) const {
        load_row_constant(a.traces + (u64)(elements.slot + at.element) * TRACE_BLOCK + at.q * FIELDS, um);
    }

    // Negative, as they are lifted with the opposite sign.
    DG_DEVICE void put(const FacePoint& at, const real (&f)[FIELDS]) const {
        real* y = work + FACE_AT + at.element * FACE + face_place[at.q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = -f[k];
    }

    DG_DEVICE void finish() {
        const u32 n = elements.n;
        const u64 at = own.at();
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) layers[i * FLUX + layer * FLUX_LAYER + number] = flux[i];
        dg_block_sync();

        // 1. Sums over the triangle: over points and sides of a layer, of the first two fluxes and of the
        //    third; and sums over the points of an end.
        constexpr u32 ITEMS = NODES * GROUPS;
        static_assert(2 * ITEMS <= NQ, "a thread for each sum");
        const bool is_third = threadIdx.x >= n * ITEMS, has_item = threadIdx.x < 2 * n * ITEMS;
        const u32 item = threadIdx.x - (is_third ? n * ITEMS : 0);
        const u32 item_element = item / ITEMS, item_layer = item / GROUPS % NODES, group = item % GROUPS;
        real sum[GROUP][FIELDS];
        clear_rows(sum);
        if (has_item) {
            const real* fluxes = work + ROOM_AT + item_element * ROOM + item_layer * FLUX_LAYER;
            if (is_third) {
                add_rows<POINTS, FLUX>(work + TEST_AT + 2 * LAYER, group, fluxes + 2 * FIELDS * FLUX, sum);
            } else {
                const real* sides = work + FACE_AT + item_element * FACE + 2 * END_POINTS + item_layer * NODES;
#pragma unroll 1
                for (int side = 0; side < 3; ++side)
                    add_rows<NODES, NF>(work + SIDE_LIFT_AT + side * NODES * TRIANGLE, group, sides + side * SQUARE, sum);
#pragma unroll 1
                for (int d = 0; d < 2; ++d)
                    add_rows<POINTS, FLUX>(work + TEST_AT + d * LAYER, group, fluxes + d * FIELDS * FLUX, sum);
            }
        }
        lift_ends<FACE>(n, work + END_LIFT_AT, work + FACE_AT, work + END_AT);
        dg_block_sync();
        if (has_item)
            put_rows<NP>(work + ROOM_AT + item_element * ROOM + (is_third ? FIELDS * NP : 0) + item_layer * TRIANGLE, group,
                         sum);
#ifdef SOURCE
        // The source of curved elements, whose rule takes the layers, where the numerical fluxes were.
        real more[FIELDS];
        clear(more);
        if (is_function) load_node(a.source + at, more);
        if (CURVED && is_function) ::put<NP>(face + own.row, more);
#endif
        // Loads for the stage are issued before the last sums.
        real u[FIELDS], before[FIELDS], rate[FIELDS];
        if (STAGE && is_function) load_node(a.u + at, u);
        if (reads_register && is_function) load_register(a.reg + at, before);
        dg_block_sync();

        // 2. Sums along the line: coefficients or, if curved, coefficients in the layers.
        clear(rate);
        if (is_function) {
            constexpr bool BACK = TRANSFORM && !CURVED;
            const real* ends = work + END_AT + own.local * END + t;
            add_row<NODES, 1, NP, TRIANGLE>(work + (BACK ? SLOPE_BACK_AT : SLOPE_AT) + z * NODES, layers + FIELDS * NP + t,
                                            rate);
            if (BACK) {
                add_row<NODES, 1, NP, TRIANGLE>(work + BACK_AT + z * NODES, layers + t, rate);
            } else {
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] += layers[k * NP + own.row];
            }
#pragma unroll
            for (int end = 0; end < 2; ++end) {
                const real lift = work[(BACK ? LIFT_BACK_AT : LIFT_AT) + end * NODES + z];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] += lift * ends[(end * FIELDS + k) * TRIANGLE];
            }
        }
#ifdef SOURCE
        if (CURVED) {
            if (is_function) add_row<NODES, 1, NP, TRIANGLE>(work + VALUES_AT + z * NODES, face + t, rate);
            dg_block_sync();
        } else {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += more[k];
        }
#endif
        if (CURVED)
            metric_rule<FACE, ROOM>(a, elements.first, n, work + BACK_AT, work + INTERP_AT, work + TEST_AT + 2 * LAYER,
                                    work + TRACES_AT, work + FACE_AT, work + ROOM_AT, work + END_AT, rate);

        // 3. The stage; see `finish`.
        if (!is_function || !own.exists) return;
        finish_node(a, stage_factors(a, own.slot), reads_register, before, at, u, rate);
    }
};

#include "residual_pass.cuh"
