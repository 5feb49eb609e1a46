// Traces of quadrilaterals and hexahedra with Gauss points: from the lines of an element to their ends; see
// traces_pass.cuh.
//
// Coefficients along a line give two numbers at its ends; where coefficients differ from values at the
// points, these are converted to values at the points of the faces. Macros as in gauss_lines.cuh, and BLOCKS
// per multiprocessor.

#include "gauss_lines.cuh"
#include "passes.cuh"

constexpr bool PERSISTENT = false;

typedef Grid<FUNCTIONS> Functions;
constexpr u32 ACROSS = DIM == 3 ? FUNCTIONS * FUNCTIONS : FUNCTIONS;  // lines of coefficients of one direction
// Layout of shared memory.
constexpr int STATE_AT = 0;                                             // [element][field][function]
constexpr int FACE_AT = STATE_AT + ELEMENTS * FIELDS * Functions::SIZE;  // [element][field][direction][end][point]

struct Traces {
    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_AT + ELEMENTS * FIELDS * 2 * DIM * FACE_SIZE));
        return shared;
    }

    static DG_DEVICE u32 state_at(u32 i) {
        return STATE_AT + number_of(i) * Functions::SIZE + Functions::place(function_of(i));
    }

    static DG_DEVICE void load(const Arguments&, real*) {}

    static DG_DEVICE void interpolate(const Arguments&, u32 n, real* shared) {
        real *state = shared + STATE_AT, *faces = shared + FACE_AT;

        // 1. The ends of all lines.
        for (u32 item = threadIdx.x; item < n * FIELDS * DIM * ACROSS; item += THREADS) {
            const u32 unknown = item / (DIM * ACROSS), d = item / ACROSS % DIM, line = item % ACROSS;
            const u32 low = DIM == 3 ? line % FUNCTIONS : line, high = DIM == 3 ? line / FUNCTIONS : 0;
            const real* x = state + unknown * Functions::SIZE + Functions::begin(d, low, high);
            const u32 step = Functions::step(d);
            real end[2] = {0, 0};
#pragma unroll
            for (int m = 0; m < FUNCTIONS; ++m) {
                const real y = x[m * step];
                end[0] += traces_matrix[0][m] * y;
                end[1] += traces_matrix[1][m] * y;
            }
            real* to = faces + (unknown * DIM + d) * 2 * FACE_SIZE + low + high * FACE_ROW;
            to[0] = end[0];
            to[FACE_SIZE] = end[1];
        }
        dg_block_sync();
        if (!TRANSFORM) return;

        // 2. From coefficients on faces to values at their points.
        constexpr u32 ROWS = DIM == 3 ? FUNCTIONS : 1;
        const u32 all = n * FIELDS * 2 * DIM;
        convert(values_matrix, faces, all * ROWS, 1, [](u32 i) { return i / ROWS * FACE_SIZE + i % ROWS * FACE_ROW; });
        dg_block_sync();
        if (DIM == 3) {
            convert(values_matrix, faces, all * NODES, FACE_ROW, [](u32 i) { return i / NODES * FACE_SIZE + i % NODES; });
            dg_block_sync();
        }
    }

    static DG_DEVICE u32 trace_at(u32 i) {
        const u32 e = i / TRACE_BLOCK, k = i % FIELDS, place = face_place[i / FIELDS % NF];
        const u32 side = place / LINES, line = place % LINES;
        const u32 at = DIM == 3 ? line % NODES + line / NODES * FACE_ROW : line;
        return FACE_AT + ((e * FIELDS + k) * 2 * DIM + side) * FACE_SIZE + at;
    }
};

#include "traces_pass.cuh"
