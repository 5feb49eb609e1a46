// Fused residual and stage on hexahedra with Gauss–Lobatto nodes, unknown by unknown: one thread per node.
//
// It also serves quadrilaterals with an odd number of unknowns (quadrilateral.cu has the even ones). Elements
// are affine or curved, nodes collocated. Same computation as residual.rs on the host; operators come from
// tensor.rs.
//
// The state is [element][field][node] (PLANAR), so that the threads of a warp access consecutive addresses
// for any number of unknowns. Contravariant fluxes are written to shared memory. After one barrier, each node
// sums along its lines, or warps compute these sums with the FP64 tensor cores, one slab of nodes at a time.
// Face points are distributed over all threads, or processed by the threads of the nodes at the ends of
// lines.
//
// Macros beside those of common.cuh, with DIRECT = 1, COLLOCATED = 1 and PLANAR = 1:
// - NODES: nodes along a line
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - DEAL: face points are distributed over all threads (1), or processed at the ends of lines (0)
// - ASK: number of directions in which neighbours' states are loaded before the first flux; for DEAL = 0
// - SLABS: sums by tensor cores (1) or by threads (0); three dimensions, at most 8 nodes along a line
// - NORMALS: read (0), or computed from the metric (1)
// - SPLIT: two-point fluxes along the lines (1); shared memory then holds states, not fluxes; SLABS = 0
// - AHEAD: the register is loaded before the arithmetic (1), before the sums (2), or at the end (0)
// - KEEP: a node's state stays in registers (1), or is loaded again before the sums (0)
// - FACE_AT: [direction][end], number of the face there
// - FACE_POINT: [direction, end][number across the lines], the point of the face at a node, counted within
//   the face
//
// `tables` contains the 1-D matrix P, [node][node], and the lifts at both ends.

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_point[FACES][FACE_POINTS] = FACE_POINT;
constexpr int BUSY = ELEMENTS * NP;                       // number of threads with a node
constexpr int THREADS = SLABS ? (BUSY + 31) / 32 * 32 : BUSY;
// row of P in shared memory, padded against bank conflicts
constexpr int LINE = NODES | 1;

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : d == 1 ? NODES : NODES * NODES; }

// Stride between planes of nodes in shared memory: padded so that eight planes of four nodes are in different
// banks.
static __device__ __forceinline__ constexpr int plane_stride() {
    int n = NODES * NODES;
    if (SLABS)
        while (n % 16 != 4 && n % 16 != 12) ++n;
    return n;
}
constexpr int PLANE = plane_stride();
// number of scalars of one flux component of one element
constexpr int FIELD = DIM == 3 ? NODES * PLANE : NP;
// Layout of shared memory.
constexpr int FLUX_AT = (NODES * LINE + 1) / 2 * 2;       // [element][direction][field][node]
// [element][field][direction, end][number across the lines]
constexpr int ROWS = SPLIT ? FIELDS : DIM * FIELDS;        // states or fluxes of a node
constexpr int FACE_FLUX_AT = FLUX_AT + ELEMENTS * ROWS * FIELD;

static __device__ __forceinline__ u32 place(u32 node) {
    return DIM == 3 ? node / (NODES * NODES) * PLANE + node % (NODES * NODES) : node;
}

static __device__ __forceinline__ constexpr int stride(int d) { return d == 2 ? PLANE : power(d); }

// The number of a node among the nodes with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) {
    return d == 0 ? node / NODES : d == 1 ? node / (NODES * NODES) * NODES + node % NODES : node % (NODES * NODES);
}

// Loads the state across point `point` of a face.
static __device__ __forceinline__ void load_across(const Arguments& a, u32 slot, u32 face, u32 point, real (&x)[FIELDS]) {
    const Across r = across(a, slot, face);
    const bool outside = r.rows == nullptr;
    load_node(r.values + (outside ? point * FIELDS : __ldg(r.rows + point)), x, outside ? 1 : NP);
}

// Unit normal at point `q` of the element's faces, which is a node, at `end` of direction d; returns the
// scale of the flux.
static __device__ __forceinline__ real normal_of(const Arguments& a, u32 element, u32 face, u32 q, u32 node, u32 d,
                                                 u32 end, real (&n)[DIM]) {
    if (!NORMALS) return normal_at(a, element, face, q, n);
    // n sJ/J = ± ∇r_d, or n sJ = ± J∇r_d.
    const real* g = a.metric + (CURVED ? (u64)element * NP + node : element) * DIM * DIM + d * DIM;
    real square = 0;
#pragma unroll
    for (int x = 0; x < DIM; ++x) {
        n[x] = __ldg(g + x);
        square += n[x] * n[x];
    }
    const real scale = square_root(square), inverse = reciprocal(scale);
#pragma unroll
    for (int x = 0; x < DIM; ++x) n[x] *= end ? inverse : -inverse;
    return scale;
}

#if SPLIT
#include "two_point.cuh"
#endif

// A node at the end of a line, with the state across.
struct End {
    bool is;    // whether the node is at an end
    u32 face;   // number of the face
    u32 point;  // number of the point within it
    real up[FIELDS];
};

// A face point of the block, with the state across.
struct Point {
    u32 element;  // numbered in the block
    u32 q;        // numbered among the face points of the element
    u32 node;     // the node of the element's own trace
    real up[FIELDS];
};

#if SLABS
// Computes the sums along the lines of a slab, eight rows and columns at a time. Slab `s` of an element
// consists of the nodes with the same second coordinate, for the first and third direction, and of those with
// the same third coordinate, for the second direction. The sums replace the fluxes of the first direction
// (first and third direction together) and of the second.
static __device__ __forceinline__ void sum_slab(real* flux, const real* matrix, u32 slab, u32 lane) {
    constexpr int STEPS = (NODES + 3) / 4;
    const u32 r = lane / 4, j = lane % 4, row = r < NODES ? r : NODES - 1;
    real p[STEPS], sum[FIELDS][2];
    u32 m[STEPS];
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        m[s] = 4 * s + j < NODES ? 4 * s + j : NODES - 1;
        p[s] = 4 * s + j < NODES && r < NODES ? matrix[r * LINE + 4 * s + j] : 0;
    }
    const auto store = [&](real* to, int step) {
        dg_warp_sync();
        if (r >= NODES) return;
#pragma unroll
        for (int i = 0; i < 2; ++i)
            if (2 * j + i < NODES)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) to[k * FIELD + r * step + 2 * j + i] = sum[k][i];
    };
    real *x = flux + slab * NODES, *z = x + 2 * FIELDS * FIELD, *y = flux + FIELDS * FIELD + slab * PLANE;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) sum[k][0] = sum[k][1] = 0;
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k)
            dg_mma_f64_8x8x4(sum[k][0], sum[k][1], x[k * FIELD + row * PLANE + m[s]], p[s]);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k)
            dg_mma_f64_8x8x4(sum[k][0], sum[k][1], p[s], z[k * FIELD + m[s] * PLANE + row]);
    }
    store(x, PLANE);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) sum[k][0] = sum[k][1] = 0;
#pragma unroll
    for (int s = 0; s < STEPS; ++s)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k)
            dg_mma_f64_8x8x4(sum[k][0], sum[k][1], p[s], y[k * FIELD + m[s] * NODES + row]);
    store(y, NODES);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * (DEAL ? NF : 0)));
    real *matrix = shared, *flux = shared + FLUX_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const bool busy = THREADS == BUSY || threadIdx.x < BUSY;
    const u32 local = busy ? threadIdx.x / NP : 0, node = busy ? threadIdx.x % NP : 0;
    const bool exists = busy && local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node;
    constexpr u32 face_at[DIM][2] = FACE_AT;
    const auto ask = [&](int d, End& end) {
        const u32 i = node / power(d) % NODES;
        end.is = i == 0 || i == NODES - 1;
        if (!end.is) return;
        end.face = i == 0 ? face_at[d][0] : face_at[d][1];
        end.point = face_point[2 * d + (i == 0 ? 0 : 1)][across_line(node, d)];
        load_across(a, slot, end.face, end.point, end.up);
    };
    const auto ask_item = [&](u32 item, Point& p) {
        p.element = item / NF;
        p.q = item % NF;
        p.node = __ldg(a.own + p.q);
        load_across(a, a.first + first + p.element, p.q / FACE_POINTS, p.q % FACE_POINTS, p.up);
    };
    const auto solve_item = [&](const Point& p) {
        real um[FIELDS], f[FIELDS], normal[DIM];
        load_node(a.u + (u64)(a.first + first + p.element) * STATE_BLOCK + p.node, um);
        const u32 face = p.q / FACE_POINTS;
        u32 direction = 0, end = 0, number = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (face == face_at[d][e]) {
                    direction = d;
                    end = e;
                    number = across_line(p.node, d);
                }
        const real scale = normal_of(a, first + p.element, face, p.q, p.node, direction, end, normal);
        numerical_flux(parameters, um, p.up, normal, f);
        real* y = shared + FACE_FLUX_AT + p.element * NF * FIELDS + (2 * direction + end) * FACE_POINTS + number;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k] * scale;
    };

    real u[FIELDS], before[FIELDS], rate[FIELDS];
    load_node(a.u + at, u);
    End ends[DIM];
    Point asked;
    if (DEAL) {
        if (threadIdx.x < n * NF) ask_item(threadIdx.x, asked);
    } else {
#pragma unroll
        for (int d = 0; d < ASK; ++d) ask(d, ends[d]);
    }
    const auto ask_register = [&]() {
        if (reads_register) load_register(a.reg + at, before);
    };
    if (AHEAD == 1) ask_register();
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS)
        matrix[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);

    // 1. Contravariant fluxes.
    real* own_flux = flux + local * ROWS * FIELD + place(node);
    real g[DIM * DIM];
#if SPLIT
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) own_flux[k * FIELD] = u[k];
#else
    if (busy) {
        real f[DIM * FIELDS];
        metric_at(a, element, node, g);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) own_flux[i * FIELD] = f[i];
    }
#endif

    // 2. Numerical fluxes.
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
    if (DEAL) {
        if (threadIdx.x < n * NF) solve_item(asked);
        for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
            ask_item(item, asked);
            solve_item(asked);
        }
    } else {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            End& end = ends[d];
            if (d >= ASK) ask(d, end);
            if (!end.is) continue;
            real f[FIELDS], normal[DIM];
            const u32 e = node / power(d) % NODES == 0 ? 0 : 1, q = end.face * FACE_POINTS + end.point;
            const real scale = normal_of(a, element, end.face, q, node, d, e, normal);
            numerical_flux(parameters, u, end.up, normal, f);
            const real lift = scale * __ldg(a.tables + NODES * NODES + e);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * f[k];
        }
    }
    if (AHEAD == 2) ask_register();
    if (!KEEP) {
        // Volatile; otherwise the compiler would keep the values read before.
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) u[k] = static_cast<const volatile real*>(a.u)[at + k * NP];
    }
    dg_block_sync();

    // 3. Sums along the lines.
#if SPLIT
    metric_at(a, element, node, g);
    add_two_point_fluxes(a, parameters, element, node, matrix, own_flux - node, u, g, rate);
#elif SLABS
    for (u32 s = threadIdx.x / 32; s < ELEMENTS * NODES; s += THREADS / 32)
        sum_slab(flux + s / NODES * DIM * FIELDS * FIELD, matrix, s % NODES, threadIdx.x % 32);
    dg_block_sync();
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] += own_flux[k * FIELD] + own_flux[(FIELDS + k) * FIELD];
#else
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        const real* row = matrix + i * LINE;
        const real* f = own_flux + d * FIELDS * FIELD - i * stride(d);
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real p = row[m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += p * f[k * FIELD + m * stride(d)];
        }
    }
#endif
    if (!exists) return;
    if (DEAL) {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = node / power(d) % NODES;
            if (i != 0 && i != NODES - 1) continue;
            const u32 e = i == 0 ? 0 : 1;
            const real lift = __ldg(a.tables + NODES * NODES + e);
            const real* y = shared + FACE_FLUX_AT + local * NF * FIELDS + (2 * d + e) * FACE_POINTS + across_line(node, d);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * y[k * NF];
        }
    }
#ifdef SOURCE
    add_node(a.source + at, rate);
#endif
    apply_inverse_jacobian(a, (u64)element * NP + node, rate);

    // 4. The stage; see `finish`.
    if (AHEAD == 0) ask_register();
    finish_node(a, stage_factors(a, slot), reads_register, before, at, u, rate);
}
