// Fused residual and stage on quadrilaterals and hexahedra with Gauss points: one thread per node; see
// residual_pass.cuh.
//
// Elements are affine or curved; the basis is nodal at these points. Operators come from gauss.rs, the traces
// of other elements from gauss_traces.cu. Bases that are only integrated by these points have gauss_lines.cu.
//
// A block processes a few elements. Values at the points are written to shared memory. From these, face
// points, which are distributed over all threads, compute their own traces. Contravariant fluxes follow.
// After a barrier, each node sums along its lines and adds the lifts from their ends.
//
// Macros beside those of common.cuh, with DIRECT = 0:
// - NODES along a line
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - PLACE: [face point], (2 direction + end) FACE_POINTS + number of its line across the lines of that
//   direction
// - STAGE

#define EQUAL_FACES 1
#include "passes.cuh"

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_place[NF] = PLACE;
constexpr int POINTS = DIM == 3 ? NODES * NODES * NODES : NODES * NODES;  // number of points of an element
constexpr int THREADS = ELEMENTS * POINTS;
constexpr bool PERSISTENT = false;
constexpr int LINE = NODES | 1;  // row of a matrix in shared memory, padded against bank conflicts
// Offsets of matrices in shared memory: ends, lifts, then P.
constexpr int ENDS_AT = 0;
constexpr int LIFT_AT = 2 * NODES;
constexpr int PROJECT_AT = 4 * NODES;
constexpr int MATRICES = (PROJECT_AT + NODES * LINE + 3) / 4 * 4;

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : d == 1 ? NODES : NODES * NODES; }

// The number of a node among the nodes with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) {
    return d == 0 ? node / NODES : d == 1 ? node / (NODES * NODES) * NODES + node % NODES : node % (NODES * NODES);
}

// The line that ends at a face point.
struct FaceLine {
    u32 place;  // see PLACE
    u32 end;    // 0 at −1, 1 at +1
    u32 begin;  // its first node
    u32 step;   // stride between its nodes
};

static __device__ __forceinline__ FaceLine face_line(u32 q) {
    FaceLine r;
    r.place = face_place[q];
    const u32 d = r.place / (2 * FACE_POINTS), number = r.place % FACE_POINTS;
    r.end = r.place / FACE_POINTS % 2;
    r.begin = d == 0 ? number * NODES : d == 1 ? number / NODES * (NODES * NODES) + number % NODES : number;
    r.step = d == 0 ? 1 : d == 1 ? NODES : NODES * NODES;
    return r;
}

// Loads the matrices; a barrier is needed before they are read. See `GaussTables` for their order.
static __device__ __forceinline__ void load_matrices(const Arguments& a, real* to) {
    for (u32 i = threadIdx.x; i < 4 * NODES; i += THREADS) to[i] = __ldg(a.tables + 3 * NODES * NODES + i);
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS)
        to[PROJECT_AT + i / NODES * LINE + i % NODES] = __ldg(a.tables + i);
}

// x += Σ_m row[m] times node m of a line; `line` is its first node in shared memory, [field][node], with the
// stride `FIELD` between fields.
template <int FIELD>
static __device__ __forceinline__ void add_line(const real* row, const real* line, int step, real (&x)[FIELDS]) {
#pragma unroll
    for (int m = 0; m < NODES; ++m) {
        const real c = row[m];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] += c * line[k * FIELD + m * step];
    }
}

// Layout of shared memory.
constexpr int VALUE_AT = MATRICES;                          // [element][field][node]
constexpr int FLUX_AT = VALUE_AT + ELEMENTS * FIELDS * POINTS;  // [element][direction][field][node]
// [element][field][direction, end][number across the lines]
constexpr int FACE_FLUX_AT = FLUX_AT + ELEMENTS * DIM * FIELDS * POINTS;

struct Residual : ResidualKind {
    static constexpr bool AHEAD = true;

    real *values, *fluxes;
    const Own<POINTS> own;
    const bool reads_register;
    real u[FIELDS], before[FIELDS];

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * NF));
        return shared;
    }

    DG_DEVICE Residual(const Arguments& a, const Parameters& parameters, const Elements& elements, real* work)
        : ResidualKind(a, parameters, elements, work), own(elements), reads_register(STAGE && a.a != 0.0) {
        values = work + VALUE_AT + own.local * FIELDS * POINTS + own.row;
        fluxes = work + FLUX_AT + own.local * DIM * FIELDS * POINTS + own.row;
        load_node(a.u + own.at(), u);
    }

    DG_DEVICE void load() {
        load_matrices(a, work);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) values[k * POINTS] = u[k];
        dg_block_sync();
    }

    DG_DEVICE void volume() const {
        real g[DIM * DIM], f[DIM * FIELDS];
        metric_at(a, own.element, own.row, g);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) fluxes[i * POINTS] = f[i];
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond&, real (&um)[FIELDS]) const {
        const FaceLine line = face_line(at.q);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) um[k] = 0;
        const real* from = work + VALUE_AT + at.element * FIELDS * POINTS + line.begin;
        add_line<POINTS>(work + ENDS_AT + line.end * NODES, from, line.step, um);
    }

    DG_DEVICE void put(const FacePoint& at, const real (&f)[FIELDS]) const {
        real* y = work + FACE_FLUX_AT + at.element * FIELDS * NF + face_place[at.q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    }

    DG_DEVICE void expect() {
        if (reads_register) load_register(a.reg + own.at(), before);
    }

    // Sums along the lines, and lifts from their ends.
    DG_DEVICE void finish() const {
        real rate[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = own.row / power(d) % NODES;
            add_line<POINTS>(work + PROJECT_AT + i * LINE, fluxes + d * FIELDS * POINTS - i * power(d), power(d), rate);
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const real lift = work[LIFT_AT + e * NODES + i];
                const real* y = work + FACE_FLUX_AT + own.local * FIELDS * NF + (2 * d + e) * FACE_POINTS + across_line(own.row, d);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * y[k * NF];
            }
        }
#ifdef SOURCE
        add_node(a.source + own.at(), rate);
#endif
        apply_inverse_jacobian(a, (u64)own.element * NQ + own.row, rate);
        if (!own.exists) return;
        finish_node(a, stage_factors(a, own.slot), reads_register, before, own.at(), u, rate);
    }
};

#include "residual_pass.cuh"
