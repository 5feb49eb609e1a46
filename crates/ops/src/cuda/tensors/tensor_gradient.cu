// First pass of diffusion on quadrilaterals and hexahedra with Gauss–Lobatto nodes: one thread per node.
//
// Elements are affine or curved, nodes collocated. Same computation as `gradient_block` in
// diffusion_passes.rs on the host; operators come from tensor.rs.
//
// A block processes a few elements. Face points, which are nodes, are distributed over all threads, first for
// the numerical fluxes and again for the published fluxes. There are three barriers: states and jumps must be
// in shared memory before derivatives, gradients before the published fluxes, and contravariant fluxes before
// their sums. A fourth is needed if fluxes overwrite gradients. States of hexahedra are
// [element][field][node] (PLANAR), so that the threads of a warp access consecutive addresses; those of
// quadrilaterals, whose unknowns are loaded in pairs, are [element][node][field].
//
// Macros beside those of common.cuh, with DIRECT = 1 and COLLOCATED = 1, and those of lines.cuh:
// - ELEMENTS, BLOCKS: elements of a block, blocks per multiprocessor
// - ETA: weight of the liftings on their own faces
// - SPLIT: two-point fluxes of the convective part along the lines (1); then only its numerical flux is
//   lifted
// - SEPARATE: contravariant fluxes have their own memory (1), or overwrite the gradients (0)
//
// `tables` contains the 1-D matrix P, [node][node], the lifts at both ends, and the 1-D derivative.

#include "lines.cuh"

constexpr int THREADS = ELEMENTS * NP;
// row of a matrix in shared memory, padded against bank conflicts
constexpr int LINE = NODES | 1;
// Sizes in shared memory: of a plane of nodes; of the nodes, the state and the fluxes of an element; of the
// points of a face and of an element. If lines have four nodes, four adjacent lanes read the same number of a
// line. The warp needs one transaction if all lines are in different banks: planes (or elements, in two
// dimensions) are therefore one number further apart, and faces three, for the nodes of opposite faces.
constexpr bool MOVED = NODES == 4 && !SPLIT;
constexpr int PLANE = DIM == 3 ? NODES * NODES + MOVED : 0;
constexpr int FIELD = DIM == 3 ? NODES * PLANE : NP;
constexpr int STATE = FIELDS * FIELD + (MOVED && DIM == 2);
constexpr int FLUX = DIM * FIELDS * FIELD + (MOVED && DIM == 2);
constexpr int FACE = FACE_POINTS + (MOVED && DIM == 3 ? 3 : 0);
constexpr int TRACE = FACES * FACE;
constexpr int ROWS = DIM * FIELDS * NP;                            // scalars of an element's gradients
// Layout of shared memory.
constexpr int DERIVE_AT = NODES * LINE;
constexpr int STATE_AT = 2 * NODES * LINE;                         // [element][field][node]
constexpr int FACES_AT = STATE_AT + ELEMENTS * STATE;              // half jumps and numerical fluxes, [element][2 fields][point]
constexpr int GRADIENT_AT = FACES_AT + ELEMENTS * 2 * FIELDS * TRACE;  // [element][x][field][node]
constexpr int FLUX_AT = GRADIENT_AT + (SEPARATE ? ELEMENTS * ROWS : 0);  // [element][direction][field][node]

#if SPLIT
#include "two_point.cuh"
#endif

// A face point of the block, with the state across.
struct Point {
    u32 element;         // numbered in the block
    u32 q;               // numbered among the face points of the element
    u32 own;             // offset of the element's own trace in its block of the state
    long long boundary;  // offset of the face's boundary points, see `boundary_begin`
    real up[FIELDS];
};

// Position of a node's gradient among those of its element. Lines and planes with an even number of nodes are
// rotated against one another, so that the nodes of a face are in different banks of shared memory for any
// direction of the face.
static __device__ __forceinline__ u32 place(u32 node) {
    if (DIM != 3 || NODES % 2 != 0) return node;
    const u32 i = node % NODES, j = node / NODES % NODES, k = node / (NODES * NODES);
    return (k * NODES + (j + k) % NODES) * NODES + (i + j) % NODES;
}

// Position of a node among those of its element.
static __device__ __forceinline__ u32 moved(u32 node) {
    return DIM == 3 && MOVED ? node + node / (NODES * NODES) : node;
}

// Stride between the nodes of a line in direction d.
static __device__ __forceinline__ constexpr int along(int d) { return d == 2 ? PLANE : power(d); }

// Whether sums along a line start at its first node. Otherwise each node first adds its own number, which it
// has in a register, and continues from there, cyclically: fewer numbers are read from shared memory. With
// four nodes this is faster, on an H200, in all directions except the first, where lanes that share a line
// are adjacent and read the same number at once; with other numbers of nodes it is not.
static __device__ __forceinline__ constexpr bool from_beginning(int d) {
    return d == 0 || NODES != 4;
}

// Adds Σ_m row[m] line[m] over the nodes of a line in direction d to `sum`; unless `from_beginning`, the term
// of node i itself is omitted. `at` is the location of node i.
static __device__ __forceinline__ void add_line(const real* row, const real* at, u32 i, int d, real (&sum)[FIELDS]) {
    const real* begin = at - i * along(d);
#pragma unroll
    for (int m = from_beginning(d) ? 0 : 1; m < NODES; ++m) {
        const int next = (int)i + m < NODES ? m : m - NODES;
        const real c = from_beginning(d) ? row[m] : row[(int)i + next];
        const real* from = from_beginning(d) ? begin + m * along(d) : at + next * along(d);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) sum[k] += c * from[k * FIELD];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FLUX_AT + ELEMENTS * FLUX));
    real *project = shared, *derive = shared + DERIVE_AT, *faces = shared + FACES_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node * ROW_STRIDE;
    const auto ask = [&](u32 item, Point& point) {
        point.element = item / NF;
        point.q = item % NF;
        point.own = __ldg(a.own + point.q);
        const u32 number = point.q % FACE_POINTS;
        const Across r = across(a, a.first + first + point.element, point.q / FACE_POINTS);
        load_node(r.values + (r.rows ? __ldg(r.rows + number) : number * FIELDS), point.up, r.rows ? FIELD_STRIDE : 1);
        point.boundary = boundary_begin(a, p, r);
    };

    // 1. States at nodes and across face points; half jumps and numerical fluxes.
    const auto solve = [&](const Point& point) {
        real um[FIELDS], jump[FIELDS], f[FIELDS], normal[DIM];
        load_node(a.u + (u64)(a.first + first + point.element) * STATE_BLOCK + point.own, um);
        normal_at(a, first + point.element, point.q / FACE_POINTS, point.q, normal);
        half_jump(p, point.boundary, point.q % FACE_POINTS, um, point.up, jump);
        numerical_flux(parameters, um, point.up, normal, f);
        real* y = faces + point.element * 2 * FIELDS * TRACE + point.q / FACE_POINTS * FACE + point.q % FACE_POINTS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            y[k * TRACE] = jump[k];
            y[(FIELDS + k) * TRACE] = f[k];
        }
    };
    Point asked;
    if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
    real u[FIELDS];
    load_node(a.u + at, u);
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS) {
        project[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);
        derive[i / NODES * LINE + i % NODES] = __ldg(a.tables + NODES * NODES + 2 + i);
    }
    real* state = shared + STATE_AT + local * STATE + moved(node);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) state[k * FIELD] = u[k];
    if (threadIdx.x < n * NF) solve(asked);
    for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
        ask(item, asked);
        solve(asked);
    }
    dg_block_sync();

    // 2. The gradient, without liftings.
    real g[DIM * DIM], grad[DIM * FIELDS];
    metric_at(a, element, node, g);
    const real scale = CURVED ? __ldg(a.inverse_jacobian + (u64)element * NP + node) : (real)1;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        real slope[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) slope[k] = from_beginning(d) ? 0 : derive[i * LINE + i] * u[k];
        add_line(derive + i * LINE, state, i, d, slope);
#pragma unroll
        for (int x = 0; x < DIM; ++x) {
            const real c = scale * g[d * DIM + x];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) grad[x * FIELDS + k] = (d == 0 ? (real)0 : grad[x * FIELDS + k]) + c * slope[k];
        }
    }
    real* kept = shared + GRADIENT_AT + local * ROWS + place(node);
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) kept[i * NP] = grad[i];
    dg_block_sync();

    // 3. Faces: the gradient with the face's own lifting, and the published flux.
    const auto publish_all = [&] {
        constexpr u32 face_at[DIM][2] = FACE_AT;
        for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
            const u32 e = item / NF, q = item % NF, face = q / FACE_POINTS, own = __ldg(a.own + q) / ROW_STRIDE;
            u32 direction = 0, end = 0;
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    if (face == face_at[d][i]) {
                        direction = d;
                        end = i;
                    }
            const u64 row = CURVED ? (u64)(first + e) * NP + own : first + e;
            real lift = (real)(ETA) * __ldg(a.tables + NODES * NODES + end);
            if (end == 0) lift = -lift;
            if (CURVED) lift *= __ldg(a.inverse_jacobian + row);
            const real* y = faces + e * 2 * FIELDS * TRACE + face * FACE + q % FACE_POINTS;
            const real* from = shared + GRADIENT_AT + e * ROWS + place(own);
            real um[FIELDS], lifted[DIM * FIELDS], normal[DIM], f[FIELDS];
#pragma unroll
            for (int x = 0; x < DIM; ++x) {
                const real c = lift * __ldg(a.metric + row * (DIM * DIM) + direction * DIM + x);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    lifted[x * FIELDS + k] = from[(x * FIELDS + k) * NP] + c * y[k * TRACE];
            }
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                um[k] = shared[STATE_AT + e * STATE + k * FIELD + moved(own)];
                f[k] = y[(FIELDS + k) * TRACE];
            }
            normal_at(a, first + e, face, q, normal);
            const u32 there = a.first + first + e;
            publish(parameters, p, there, q, boundary_begin(a, p, across(a, there, face)), q % FACE_POINTS, um, lifted,
                    normal, f);
        }
    };
    if (!SEPARATE) {
        publish_all();
        dg_block_sync();
    }

    // 4. Volume: contravariant fluxes, their sums along lines.
    real* flux = shared + FLUX_AT + local * FLUX + moved(node);
    real rate[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
    {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const LineEnd end = line_end(node, d);
            if (!end.is) continue;
            const real lift = __ldg(a.tables + NODES * NODES + end.end) * (end.end == 0 ? -scale : scale);
            const real* jump = faces + (exists ? local : n - 1) * 2 * FIELDS * TRACE + end.face * FACE + end.point;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real more = lift * jump[k * TRACE];
#pragma unroll
                for (int x = 0; x < DIM; ++x) grad[x * FIELDS + k] += g[d * DIM + x] * more;
            }
        }
        real f[DIM * FIELDS], diffusive[DIM * FIELDS];
        diffusive_flux(parameters, u, grad, diffusive);
        if (!SPLIT) volume_flux(parameters, u, g, f);
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = node / power(d) % NODES;
            const real own = from_beginning(d) ? 0 : project[i * LINE + i];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                real sum = SPLIT ? (real)0 : f[d * FIELDS + k];
#pragma unroll
                for (int x = 0; x < DIM; ++x) sum -= g[d * DIM + x] * diffusive[x * FIELDS + k];
                flux[(d * FIELDS + k) * FIELD] = sum;
                if (!from_beginning(d)) rate[k] += own * sum;
            }
        }
    }
    if (SEPARATE) publish_all();
    dg_block_sync();
    const Keep keep = keep_factors(a, slot);
    real before[FIELDS];
    if (keep.reads_register) load_node(a.reg + at, before);
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        add_line(project + i * LINE, flux + d * FIELDS * FIELD, i, d, rate);
    }
#if SPLIT
    add_two_point_fluxes(a, parameters, element, node, project, state - node, u, g, rate);
#endif

    // 5. Stores the rows for the second pass.
    if (!exists) return;
    if (p.source) add_node(p.source + at, rate);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        rate[k] *= CURVED ? keep.dt * scale : keep.dt;
        if (keep.reads_register) rate[k] += keep.a * before[k];
    }
    if (!PLANAR) return store_row(p.kept + at, rate);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
}
