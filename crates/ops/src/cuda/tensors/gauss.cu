// Fused residual and stage on quadrilaterals and hexahedra with Gauss points: one thread per node.
//
// Elements are affine or curved; the basis is nodal at these points. Same computation as residual.rs on the
// host; operators come from gauss.rs, the traces of other elements from gauss_traces.cu. Bases that are only
// integrated by these points have gauss_lines.cu.
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

#include "rows.cuh"

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_place[NF] = PLACE;
constexpr int POINTS = DIM == 3 ? NODES * NODES * NODES : NODES * NODES;  // number of points of an element
constexpr int THREADS = ELEMENTS * POINTS;
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * NF));
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / POINTS, node = threadIdx.x % POINTS;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node * ROW_STRIDE;
    const auto ask = [&](u32 item, real (&up)[FIELDS]) {
        const u32 q = item % NF, point = q % FACE_POINTS;
        const Across r = across(a, a.first + first + item / NF, q / FACE_POINTS);
        load_row_constant(r.values + (r.rows ? __ldg(r.rows + point) : point * FIELDS), up);
    };
    const auto solve = [&](u32 item, const real (&up)[FIELDS]) {
        const u32 e = item / NF, q = item % NF;
        const FaceLine line = face_line(q);
        real um[FIELDS], f[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) um[k] = 0;
        const real* values = shared + VALUE_AT + e * FIELDS * POINTS + line.begin;
        add_line<POINTS>(shared + ENDS_AT + line.end * NODES, values, line.step, um);
        face_flux(a, parameters, first + e, q / FACE_POINTS, q, um, up, f);
        real* y = shared + FACE_FLUX_AT + e * FIELDS * NF + line.place;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    };

    // 1. Values at the points, and contravariant fluxes.
    real u[FIELDS], rate[FIELDS], before[FIELDS], asked[FIELDS];
    load_node(a.u + at, u);
    if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
    load_matrices(a, shared);
    real *values = shared + VALUE_AT + local * FIELDS * POINTS, *fluxes = shared + FLUX_AT + local * DIM * FIELDS * POINTS;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) values[k * POINTS + node] = u[k];
    dg_block_sync();
    {
        real g[DIM * DIM], f[DIM * FIELDS];
        metric_at(a, element, node, g);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) fluxes[i * POINTS + node] = f[i];
    }

    // 2. Numerical fluxes.
    if (threadIdx.x < n * NF) solve(threadIdx.x, asked);
    for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
        ask(item, asked);
        solve(item, asked);
    }
    // Loads for the stage are issued before the sums.
    if (reads_register) load_register(a.reg + at, before);
    dg_block_sync();

    // 3. Sums along the lines, and lifts from their ends.
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        add_line<POINTS>(shared + PROJECT_AT + i * LINE, fluxes + d * FIELDS * POINTS + node - i * power(d), power(d), rate);
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const real lift = shared[LIFT_AT + e * NODES + i];
            const real* y = shared + FACE_FLUX_AT + local * FIELDS * NF + (2 * d + e) * FACE_POINTS + across_line(node, d);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * y[k * NF];
        }
    }
#ifdef SOURCE
    add_node(a.source + at, rate);
#endif
    apply_inverse_jacobian(a, (u64)element * NQ + node, rate);

    // 4. The stage; see `finish`.
    if (!exists) return;
    finish_node(a, stage_factors(a, slot), reads_register, before, at, u, rate);
}
