// Traces of prisms integrated by a cubature; see traces_pass.cuh. Macros as in prism_cubature.cuh.

#include "passes.cuh"
#include "prism_cubature.cuh"

constexpr bool PERSISTENT = false;

constexpr int ROWS = (NODES + 2) * TRIANGLE;  // rows of the layers, the lower and the upper end
// Layout of shared memory.
constexpr int TRACE_AT = LINES;                                            // like `tables` from TRACES_AT on
constexpr int LAYERS_AT = TRACE_AT + (SIDE_POINTS + END_POINTS) * TRIANGLE;  // [element][field][row]
// [element][face point][field]; before that, states
constexpr int OUT_AT = LAYERS_AT + ELEMENTS * FIELDS * ROWS;
constexpr int OUT = FIELDS * (NF > NP ? NF : NP);

struct Traces {
    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (OUT_AT + ELEMENTS * OUT));
        return shared;
    }

    static DG_DEVICE u32 state_at(u32 i) { return OUT_AT + i / STATE_BLOCK * OUT + i % STATE_BLOCK; }

    static DG_DEVICE void load(const Arguments& a, real* shared) {
        for (u32 i = threadIdx.x; i < LINES; i += THREADS) shared[i] = __ldg(a.tables + i);
        for (u32 i = threadIdx.x; i < (SIDE_POINTS + END_POINTS) * TRIANGLE; i += THREADS)
            shared[TRACE_AT + i] = __ldg(a.tables + TRACES_AT + i);
    }

    // First one thread per function computes coefficients in the layers and at both ends, then all threads
    // the values at face points.
    static DG_DEVICE void interpolate(const Arguments&, u32 n, real* shared) {
        for (u32 item = threadIdx.x; item < n * ROWS; item += THREADS) {
            const u32 e = item / ROWS, row = item % ROWS, z = row / TRIANGLE;
            const real* line = shared + (z < NODES ? VALUES_AT + z * NODES : ENDS_AT + (z - NODES) * NODES);
            real x[FIELDS];
            clear(x);
            add_row<NODES, 1, NP, TRIANGLE>(line, shared + OUT_AT + e * OUT + row % TRIANGLE, x);
            put<ROWS>(shared + LAYERS_AT + e * FIELDS * ROWS + row, x);
        }
        dg_block_sync();
        for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
            const u32 e = item / NF, place = face_place[item % NF];
            const real* layers = shared + LAYERS_AT + e * FIELDS * ROWS;
            real x[FIELDS];
            clear(x);
            if (place < 2 * END_POINTS) {
                const real* row = shared + TRACE_AT + SIDE_POINTS * TRIANGLE + place % END_POINTS;
                const u32 end = NODES + place / END_POINTS;
                add_row<TRIANGLE, END_POINTS, ROWS, 1>(row, layers + end * TRIANGLE, x);
            } else {
                const u32 r = place - 2 * END_POINTS, side = r / SQUARE;
                const real* row = shared + TRACE_AT + side * NODES + r % NODES;
                add_row<TRIANGLE, SIDE_POINTS, ROWS, 1>(row, layers + r / NODES % NODES * TRIANGLE, x);
            }
            put<1>(shared + OUT_AT + e * OUT + item % NF * FIELDS, x);
        }
        dg_block_sync();
    }

    static DG_DEVICE u32 trace_at(u32 i) { return OUT_AT + i / TRACE_BLOCK * OUT + i % TRACE_BLOCK; }
};

#include "traces_pass.cuh"
