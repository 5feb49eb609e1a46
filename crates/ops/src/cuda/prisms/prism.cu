// Fused residual and stage on prisms with collocated nodes: one thread per node.
//
// Prisms are affine or curved, with the nodes of a triangle times those of a line. Same computation as
// residual.rs on the host; operators come from prism.rs.
//
// The state is [element][field][node] (PLANAR), layer after layer: node (z, t) is z TRIANGLE + t. A block
// processes a few elements. Face points are distributed over all threads, and fluxes are written to shared
// memory. After one barrier, each node sums over its layer, over its line, and over the face points of both.
// The register is loaded before the arithmetic.
//
// Macros beside those of common.cuh, with DIRECT = 1, COLLOCATED = 1 and PLANAR = 1, and those of prisms.cuh:
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - NORMALS, REFERENCE_NORMALS: see normals.cuh; as face points are nodes, normals follow from the metric
//   there

#include "prisms.cuh"

constexpr int THREADS = ELEMENTS * NP;
// Layout of shared memory.
constexpr int FLUX_AT = (ENTRIES + 1) / 2 * 2;                             // [element][direction][field][node]
constexpr int FACE_FLUX_AT = FLUX_AT + ELEMENTS * DIM * FIELDS * NP;       // [element][field][place]

// A face point of the block, with the state across.
struct Point {
    u32 element;  // numbered in the block
    u32 q;        // numbered among the face points of the element
    real up[FIELDS];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * NF));
    real *flux = shared + FLUX_AT, *face_flux_at = shared + FACE_FLUX_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node;
    const auto ask = [&](u32 item, Point& p) {
        p.element = item / NF;
        p.q = item % NF;
        const u32 face = face_of(p.q), point = p.q - face_first(face);
        const Across r = across(a, a.first + first + p.element, face);
        const bool outside = r.rows == nullptr;
        load_node(r.values + (outside ? point * FIELDS : __ldg(r.rows + point)), p.up, outside ? 1 : NP);
    };
    const auto solve = [&](const Point& p) {
        const u32 own = __ldg(a.own + p.q);  // the node
        real um[FIELDS], f[FIELDS];
        load_node(a.u + (u64)(a.first + first + p.element) * STATE_BLOCK + own, um);
        const u32 face = face_of(p.q);
        if (NORMALS) {
            real g[DIM * DIM], normal[DIM];
            metric_at(a, first + p.element, own, g);
            const real scale = face_normal(a, first + p.element, face, g, normal);
            numerical_flux(parameters, um, p.up, normal, f);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) f[k] *= scale;
        } else {
            face_flux(a, parameters, first + p.element, face, p.q, um, p.up, f);
        }
        real* y = face_flux_at + p.element * NF * FIELDS + face_place[p.q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    };

    real u[FIELDS], before[FIELDS], rate[FIELDS];
    load_node(a.u + at, u);
    Point asked;
    if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
    if (reads_register) load_register(a.reg + at, before);
    for (u32 i = threadIdx.x; i < ENTRIES; i += THREADS) shared[i] = __ldg(a.tables + i);

    // 1. Contravariant fluxes.
    {
        real g[DIM * DIM], f[DIM * FIELDS];
        metric_at(a, element, node, g);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) flux[(local * DIM * FIELDS + i) * NP + node] = f[i];
    }

    // 2. Numerical fluxes.
    if (threadIdx.x < n * NF) solve(asked);
    for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
        ask(item, asked);
        solve(asked);
    }
    dg_block_sync();
    if (!exists) return;

    // 3. Sums over the layer, the line, and their faces.
    const u32 z = node / TRIANGLE, t = node % TRIANGLE;
    const real* layer = flux + local * DIM * FIELDS * NP + z * TRIANGLE;
    const real* line = flux + (local * DIM + 2) * FIELDS * NP + t;
    const real* faces = face_flux_at + local * NF * FIELDS;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int m = 0; m < TRIANGLE; ++m)
#pragma unroll
        for (int d = 0; d < 2; ++d) {
            const real p = shared[d * LAYER + m * TRIANGLE + t];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += p * layer[(d * FIELDS + k) * NP + m];
        }
#pragma unroll
    for (int m = 0; m < NODES; ++m) {
        const real p = shared[LINE_AT + z * NODES + m];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] += p * line[k * NP + m * TRIANGLE];
    }
#pragma unroll
    for (int side = 0; side < 3; ++side)
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real p = shared[SIDES_AT + (side * NODES + m) * TRIANGLE + t];
            const real* f = faces + 2 * TRIANGLE + (side * NODES + z) * NODES + m;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= p * f[k * NF];
        }
    if (z == 0 || z == NODES - 1) {
        const u32 end = z == 0 ? 0 : 1;
        const real p = shared[ENDS_AT + end];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] -= p * faces[k * NF + end * TRIANGLE + t];
    }
#ifdef SOURCE
    add_node(a.source + at, rate);
#endif
    apply_inverse_jacobian(a, (u64)element * NP + node, rate);

    // 4. The stage; see `finish`.
    finish_node(a, stage_factors(a, slot), reads_register, before, at, u, rate);
}
