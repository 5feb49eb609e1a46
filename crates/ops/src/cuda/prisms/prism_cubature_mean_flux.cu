// Second pass of diffusion on prisms integrated by a cubature: one thread per volume point; see
// mean_flux_pass.cuh.
//
// Prisms are affine or curved. The first threads of an element also hold its basis functions; a block
// processes a few elements. Macros as in prism_cubature.cuh, and STAGE.

#include "viscous.cuh"
#include "prism_cubature.cuh"

constexpr bool PERSISTENT = false;

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

struct MeanFlux : Kind {
    static constexpr u32 ITEMS = NODES * GROUPS;
    static_assert(ITEMS <= NQ, "a thread for each sum");

    const Own<NQ> own;  // point; the first threads of an element also hold its functions
    const bool is_function, reads_register;
    // Its sum over points of faces: element, layer, and rows.
    bool has_item;
    u32 item_element, item_layer, group;
    real sum[GROUP][FIELDS];

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (END_AT + ELEMENTS * END));
        return shared;
    }

    DG_DEVICE MeanFlux(const Arguments& a, const Published& p, const Elements& elements, real* work)
        : Kind(a, elements, work), own(elements), is_function(own.row < NP),
          reads_register(STAGE && a.a != 0.0), has_item(threadIdx.x < elements.n * ITEMS), item_element(threadIdx.x / ITEMS),
          item_layer(threadIdx.x / GROUPS % NODES), group(threadIdx.x % GROUPS) {
        if (has_item) {
            const stored* kept = p.kept + (u64)(elements.slot + item_element) * STATE_BLOCK + item_layer * TRIANGLE;
#pragma unroll
            for (u32 r = 0; r < GROUP; ++r) load_node(kept + row_of(group, r), sum[r]);
        }
        for (u32 i = threadIdx.x; i < FROM_INTERP; i += THREADS)
            work[i] = __ldg(a.tables + (i < LINES ? i : i - LINES + SIDE_LIFT_AT));
        if (CURVED) {
            for (u32 i = threadIdx.x; i < LAYER; i += THREADS) {
                work[FROM_INTERP + i] = __ldg(a.tables + INTERP_AT + i);
                work[FROM_PROJECT + i] = __ldg(a.tables + TEST_AT + 2 * LAYER + i);
            }
            for (u32 i = threadIdx.x; i < 2 * NP; i += THREADS) work[FROM_INTEGRAL + i] = __ldg(a.tables + INTEGRAL_AT + i);
        }
    }

    // Negative, as they are lifted with the opposite sign.
    DG_DEVICE void put(u32 e, u32 q, const real (&f)[FIELDS]) const {
        real* y = work + FACE_AT + e * FACE + face_place[q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = -f[k];
    }

    DG_DEVICE void finish() {
        // 1. Lifts of the fluxes, for some functions of a layer, and from the points of the ends.
        if (has_item) {
            const real* sides = work + FACE_AT + item_element * FACE + 2 * END_POINTS + item_layer * NODES;
#pragma unroll 1
            for (int side = 0; side < 3; ++side)
                add_rows<NODES, NF>(work + FROM_LIFTS + side * NODES * TRIANGLE, group, sides + side * SQUARE, sum);
            put_rows<NP>(work + ROOM_AT + item_element * ROOM + item_layer * TRIANGLE, group, sum);
        }
        lift_ends<FACE>(elements.n, work + FROM_LIFTS + SIDE_POINTS * TRIANGLE, work + FACE_AT, work + END_AT);
        const u64 at = own.at();
        real u[FIELDS], before[FIELDS], rate[FIELDS];
        if (STAGE && is_function) load_node(a.u + at, u);
        if (reads_register && is_function) load_register(a.reg + at, before);
        dg_block_sync();

        // 2. Coefficients or, if curved, rows in the layers.
        const u32 z = own.row / TRIANGLE, t = own.row % TRIANGLE;
        clear(rate);
        if (is_function) {
            constexpr bool BACK = TRANSFORM && !CURVED;
            const real *room = work + ROOM_AT + own.local * ROOM, *ends = work + END_AT + own.local * END + t;
            if (BACK) {
                add_row<NODES, 1, NP, TRIANGLE>(work + BACK_AT + z * NODES, room + t, rate);
            } else {
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] = room[k * NP + own.row];
            }
#pragma unroll
            for (int end = 0; end < 2; ++end) {
                const real lift = work[(BACK ? LIFT_BACK_AT : LIFT_AT) + end * NODES + z];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] += lift * ends[(end * FIELDS + k) * TRIANGLE];
            }
        }
        if (CURVED)
            metric_rule<FACE, ROOM>(a, elements.first, elements.n, work + BACK_AT, work + FROM_INTERP,
                                    work + FROM_PROJECT, work + FROM_INTEGRAL, work + FACE_AT, work + ROOM_AT,
                                    work + END_AT, rate);

        // 3. The stage; see `finish`.
        if (!is_function || !own.exists) return;
        finish_node(a, stage_factors(a, own.slot), reads_register, before, at, u, rate);
    }
};

#include "mean_flux_pass.cuh"
