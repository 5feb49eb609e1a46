// First pass of diffusion on prisms with collocated nodes: one thread per node.
//
// Prisms are affine or curved, triangles times lines. Same computation as `gradient_block` in
// diffusion_passes.rs on the host; operators come from prism_diffusion.rs.
//
// The state is [element][field][node] (PLANAR), as in prism.cu: node (z, t) is z TRIANGLE + t. A block
// processes a few elements. Face points, which are nodes, are distributed over all threads, first for the
// numerical fluxes and again for the published fluxes. There are three barriers: states and jumps must be in
// shared memory before derivatives, gradients before the published fluxes, and contravariant fluxes before
// their sums. A fourth is needed if fluxes overwrite gradients.
//
// Macros beside those of common.cuh, with DIRECT = 1, COLLOCATED = 1 and PLANAR = 1, and those of prisms.cuh
// and normals.cuh:
// - ELEMENTS, BLOCKS: elements of a block, blocks per multiprocessor
// - ETA: weight of the liftings on their own faces
// - SEPARATE: contravariant fluxes have their own memory (1), or overwrite the gradients (0)
//
// `tables` contains those of prism.cu, then the layer's derivatives [direction][column][row] and the line's
// [row][column].

#include "prisms.cuh"

constexpr int THREADS = ELEMENTS * NP;
// scalars of an element's gradients, or fluxes
constexpr int ROWS = DIM * FIELDS * NP;
constexpr int SLOPES_AT = ENTRIES;                                 // derivatives in a layer
constexpr int SLOPE_AT = SLOPES_AT + 2 * LAYER;                    // along a line
constexpr int ALL_ENTRIES = SLOPE_AT + NODES * NODES;
// Layout of shared memory.
constexpr int STATE_AT = (ALL_ENTRIES + 1) / 2 * 2;                // [element][field][node]
constexpr int FACES_AT = STATE_AT + ELEMENTS * FIELDS * NP;        // half jumps and numerical fluxes, [element][2 fields][place]
constexpr int GRADIENT_AT = FACES_AT + ELEMENTS * 2 * FIELDS * NF; // [element][x][field][node]
constexpr int FLUX_AT = GRADIENT_AT + (SEPARATE ? ELEMENTS * ROWS : 0);  // [element][direction][field][node]

// A face point of the block, with the state across.
struct Point {
    u32 element;         // numbered in the block
    u32 q;               // numbered among the face points of the element
    u32 face;
    u32 own;             // the node of the element's own trace
    long long boundary;  // offset of the face's boundary points, see `boundary_begin`
    real up[FIELDS];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FLUX_AT + ELEMENTS * ROWS));
    real* faces = shared + FACES_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 mine = exists ? local : n - 1, element = first + mine, slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node;

    // 1. States at nodes and across face points; half jumps and numerical fluxes.
    const auto ask = [&](u32 item, Point& point) {
        point.element = item / NF;
        point.q = item % NF;
        point.face = face_of(point.q);
        point.own = __ldg(a.own + point.q);
        const u32 number = point.q - face_first(point.face);
        const Across r = across(a, a.first + first + point.element, point.face);
        load_node(r.values + (r.rows ? __ldg(r.rows + number) : number * FIELDS), point.up, r.rows ? NP : 1);
        point.boundary = boundary_begin(a, p, r);
    };
    // Unit normal and scale at a face point; from the metric of the node if curved.
    const auto face_direction = [&](u32 e, u32 face, u32 own, real (&normal)[DIM]) {
        real g[DIM * DIM];
        if (CURVED) metric_at(a, first + e, own, g);
        return face_normal(a, first + e, face, g, normal);
    };
    const auto solve = [&](const Point& point) {
        real um[FIELDS], jump[FIELDS], f[FIELDS], normal[DIM];
        load_node(a.u + (u64)(a.first + first + point.element) * STATE_BLOCK + point.own, um);
        face_direction(point.element, point.face, point.own, normal);
        half_jump(p, point.boundary, point.q - face_first(point.face), um, point.up, jump);
        numerical_flux(parameters, um, point.up, normal, f);
        real* y = faces + point.element * 2 * FIELDS * NF + face_place[point.q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            y[k * NF] = jump[k];
            y[(FIELDS + k) * NF] = f[k];
        }
    };
    Point asked;
    if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
    real u[FIELDS];
    load_node(a.u + at, u);
    for (u32 i = threadIdx.x; i < ALL_ENTRIES; i += THREADS) shared[i] = __ldg(a.tables + i);
    real* state = shared + STATE_AT + local * FIELDS * NP + node;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) state[k * NP] = u[k];
    if (threadIdx.x < n * NF) solve(asked);
    for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
        ask(item, asked);
        solve(asked);
    }
    dg_block_sync();

    // 2. The gradient, without liftings.
    const u32 z = node / TRIANGLE, t = node % TRIANGLE;
    real g[DIM * DIM], grad[DIM * FIELDS];
    metric_at(a, element, node, g);
    const real scale = CURVED ? __ldg(a.inverse_jacobian + (u64)element * NP + node) : (real)1;
    {
        real slope[DIM * FIELDS];
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) slope[i] = 0;
        const real *layer = state - t, *line = state - z * TRIANGLE;
#pragma unroll
        for (int m = 0; m < TRIANGLE; ++m) {
            const real r = shared[SLOPES_AT + m * TRIANGLE + t], s = shared[SLOPES_AT + LAYER + m * TRIANGLE + t];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real v = layer[k * NP + m];
                slope[k] += r * v;
                slope[FIELDS + k] += s * v;
            }
        }
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real c = shared[SLOPE_AT + z * NODES + m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) slope[2 * FIELDS + k] += c * line[k * NP + m * TRIANGLE];
        }
        physical_gradient(g, slope, grad);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) grad[i] *= scale;
    }
    real* kept = shared + GRADIENT_AT + local * ROWS + node;
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) kept[i * NP] = grad[i];
    dg_block_sync();

    // 3. Faces: the gradient with the face's own lifting, and the published flux.
    const auto publish_all = [&] {
        for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
            const u32 e = item / NF, q = item % NF, face = face_of(q), own = __ldg(a.own + q), place = face_place[q];
            const real* y = faces + e * 2 * FIELDS * NF;
            const real* from = shared + GRADIENT_AT + e * ROWS + own;
            real lift[FIELDS], um[FIELDS], lifted[DIM * FIELDS], normal[DIM], f[FIELDS];
            if (place < 2 * TRIANGLE) {
                const real c = shared[ENDS_AT + place / TRIANGLE];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) lift[k] = c * y[k * NF + place];
            } else {
                const u32 row = (place - 2 * TRIANGLE) / NODES;  // [side][layer]
                const real* c = shared + SIDES_AT + row / NODES * NODES * TRIANGLE + own % TRIANGLE;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) lift[k] = 0;
#pragma unroll
                for (int m = 0; m < NODES; ++m)
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k)
                        lift[k] += c[m * TRIANGLE] * y[k * NF + 2 * TRIANGLE + row * NODES + m];
            }
            // Σ_d N̂_d ∇r_d is the normal times sJ/J.
            real weight = (real)(ETA) * face_direction(e, face, own, normal);
            if (CURVED) weight *= __ldg(a.inverse_jacobian + (u64)(first + e) * NP + own);
#pragma unroll
            for (int x = 0; x < DIM; ++x) {
                const real c = weight * normal[x];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) lifted[x * FIELDS + k] = from[(x * FIELDS + k) * NP] + c * lift[k];
            }
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                um[k] = shared[STATE_AT + (e * FIELDS + k) * NP + own];
                f[k] = y[(FIELDS + k) * NF + place];
            }
            const u32 there = a.first + first + e;
            publish(parameters, p, there, q, boundary_begin(a, p, across(a, there, face)), q - face_first(face), um, lifted,
                    normal, f);
        }
    };
    if (!SEPARATE) {
        publish_all();
        dg_block_sync();
    }

    // 4. Volume: liftings of all faces, contravariant fluxes.
    real* flux = shared + FLUX_AT + local * ROWS + node;
    {
        const real* jumps = faces + mine * 2 * FIELDS * NF;
        constexpr int normals[3][2] = SIDE_NORMALS;
        real lift[2 * FIELDS];
#pragma unroll
        for (int i = 0; i < 2 * FIELDS; ++i) lift[i] = 0;
#pragma unroll
        for (int side = 0; side < 3; ++side) {
            real sum[FIELDS];
            side_sum(shared + SIDES_AT, jumps, side, z, t, sum);
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (normals[side][d] != 0) lift[d * FIELDS + k] += normals[side][d] * sum[k];
        }
#pragma unroll
        for (int x = 0; x < DIM; ++x)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                grad[x * FIELDS + k] += scale * (g[x] * lift[k] + g[DIM + x] * lift[FIELDS + k]);
        if (z == 0 || z == NODES - 1) {
            const u32 end = z == 0 ? 0 : 1;
            const real c = shared[ENDS_AT + end] * (end == 0 ? -scale : scale);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real more = c * jumps[k * NF + end * TRIANGLE + t];
#pragma unroll
                for (int x = 0; x < DIM; ++x) grad[x * FIELDS + k] += g[2 * DIM + x] * more;
            }
        }
        real f[DIM * FIELDS], diffusive[DIM * FIELDS];
        diffusive_flux(parameters, u, grad, diffusive);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                real sum = f[d * FIELDS + k];
#pragma unroll
                for (int x = 0; x < DIM; ++x) sum -= g[d * DIM + x] * diffusive[x * FIELDS + k];
                flux[(d * FIELDS + k) * NP] = sum;
            }
    }
    if (SEPARATE) publish_all();
    dg_block_sync();
    if (!exists) return;

    // 5. Sums over the layer and the line, stored for the second pass.
    real rate[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = p.source ? (real)__ldg(p.source + at + k * NP) : (real)0;
    const real *layer = flux - t, *line = flux + 2 * FIELDS * NP - z * TRIANGLE;
#pragma unroll
    for (int m = 0; m < TRIANGLE; ++m)
#pragma unroll
        for (int d = 0; d < 2; ++d) {
            const real c = shared[d * LAYER + m * TRIANGLE + t];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += c * layer[(d * FIELDS + k) * NP + m];
        }
#pragma unroll
    for (int m = 0; m < NODES; ++m) {
        const real c = shared[LINE_AT + z * NODES + m];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] += c * line[k * NP + m * TRIANGLE];
    }
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
}
