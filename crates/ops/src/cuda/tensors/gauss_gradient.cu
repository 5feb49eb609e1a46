// First pass of diffusion on quadrilaterals and hexahedra with Gauss points: one thread per node.
//
// Elements are affine or curved. Same computation as `gradient_block` in diffusion_passes.rs on the host;
// operators come from gauss.rs and gauss_diffusion.rs.
//
// A block processes a few elements. Face points are distributed over all threads, first for the numerical
// fluxes and again for the published fluxes; they compute states and gradients along the lines that end
// there. Macros as in gauss.cuh, and ETA, the weight of the liftings on their own faces. `tables` continues
// with the 1-D derivative of values at the points.

#include "gauss.cuh"

// Layout of shared memory.
constexpr int DERIVE_AT = MATRICES;
constexpr int STATE_AT = DERIVE_AT + (NODES * LINE + 3) / 4 * 4;       // values at the points, [element][field][node]
constexpr int FACES_AT = STATE_AT + ELEMENTS * FIELDS * POINTS;            // half jumps and numerical fluxes, [element][2 fields][place]
constexpr int GRADIENT_AT = FACES_AT + ELEMENTS * 2 * FIELDS * NF;     // [element][direction][field][node]; then fluxes
constexpr int ROWS = DIM * FIELDS * POINTS;

// A face point of the block, with the state across.
struct Point {
    u32 element;         // numbered in the block
    u32 q;               // numbered among the face points of the element
    long long boundary;  // offset of the face's boundary points, see `boundary_begin`
    real up[FIELDS];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / POINTS, node = threadIdx.x % POINTS;
    const Function function = function_of(node);
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + function.number * ROW_STRIDE;
    const auto ask = [&](u32 item, Point& point) {
        point.element = item / NF;
        point.q = item % NF;
        const u32 number = point.q % FACE_POINTS;
        const Across r = across(a, a.first + first + point.element, point.q / FACE_POINTS);
        load_row_constant(r.values + (r.rows ? __ldg(r.rows + number) : number * FIELDS), point.up);
        point.boundary = boundary_begin(a, p, r);
    };
    // The value at the end of a line.
    const auto at_end = [&](const real* from, const FaceLine& line, real (&x)[FIELDS]) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = 0;
        add_line<POINTS>(shared + ENDS_AT + line.end * NODES, from + line.begin, line.step, x);
    };
    const auto solve = [&](const Point& point) {
        const FaceLine line = face_line(point.q);
        real um[FIELDS], jump[FIELDS], f[FIELDS], normal[DIM];
        at_end(shared + STATE_AT + point.element * FIELDS * POINTS, line, um);
        normal_at(a, first + point.element, point.q / FACE_POINTS, point.q, normal);
        half_jump(p, point.boundary, point.q % FACE_POINTS, um, point.up, jump);
        numerical_flux(parameters, um, point.up, normal, f);
        real* y = shared + FACES_AT + point.element * 2 * FIELDS * NF + line.place;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            y[k * NF] = jump[k];
            y[(FIELDS + k) * NF] = f[k];
        }
    };

    // 1. Values at the points.
    Point asked;
    if (threadIdx.x < n * NF) ask(threadIdx.x, asked);
    real u[FIELDS];
    load_node(a.u + at, u);
    load_matrices(a, shared);
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS)
        shared[DERIVE_AT + i / NODES * LINE + i % NODES] = __ldg(a.tables + 3 * NODES * NODES + 4 * NODES + i);
    real *state = shared + STATE_AT + local * FIELDS * POINTS, *slopes = shared + GRADIENT_AT + local * ROWS;
    if (TRANSFORM) {
        dg_block_sync();
        // Not the array that is read last.
        transform<POINTS>(shared + VALUES_AT, DIM == 3 ? slopes : state, DIM == 3 ? state : slopes, node, u);
    }
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) state[k * POINTS + node] = u[k];
    dg_block_sync();

    // 2. Half jumps and numerical fluxes; derivatives in reference coordinates, without liftings.
    if (threadIdx.x < n * NF) solve(asked);
    for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
        ask(item, asked);
        solve(asked);
    }
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        real slope[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) slope[k] = 0;
        add_line<POINTS>(shared + DERIVE_AT + i * LINE, state + node - i * power(d), power(d), slope);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) slopes[(d * FIELDS + k) * POINTS + node] = slope[k];
    }
    dg_block_sync();

    // 3. Faces: the gradient with the face's own lifting, and the published flux.
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF, face = q / FACE_POINTS;
        const FaceLine line = face_line(q);
        const u32 direction = line.place / (2 * FACE_POINTS);
        real own = 0;  // the lifting of 1 at the end
#pragma unroll
        for (int m = 0; m < NODES; ++m)
            own += shared[ENDS_AT + line.end * NODES + m] * shared[LIFT_AT + line.end * NODES + m];
        own *= line.end == 0 ? -(real)(ETA) : (real)(ETA);
        const real* y = shared + FACES_AT + e * 2 * FIELDS * NF + line.place;
        real um[FIELDS], f[FIELDS], g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS], normal[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            real slope[FIELDS];
            at_end(shared + GRADIENT_AT + e * ROWS + d * FIELDS * POINTS, line, slope);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                reference[d * FIELDS + k] = slope[k] + (d == direction ? own * y[k * NF] : (real)0);
        }
        face_metric_at(a, p, first + e, q, g);
        physical_gradient(g, reference, grad);
        at_end(shared + STATE_AT + e * FIELDS * POINTS, line, um);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) f[k] = y[(FIELDS + k) * NF];
        normal_at(a, first + e, face, q, normal);
        const u32 there = a.first + first + e;
        publish(parameters, p, there, q, boundary_begin(a, p, across(a, there, face)), q % FACE_POINTS, um, grad, normal, f);
    }

    // 4. Volume: contravariant fluxes, their sums along lines.
    const real scale = CURVED ? __ldg(a.inverse_jacobian + (u64)element * NQ + node) : (real)1;
    real flux[DIM * FIELDS];
    {
        real g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS], diffusive[DIM * FIELDS];
        metric_at(a, element, node, g);
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = node / power(d) % NODES;
            const real* jump =
                shared + FACES_AT + local * 2 * FIELDS * NF + 2 * d * FACE_POINTS + across_line(node, d);
            const real low = -shared[LIFT_AT + i], high = shared[LIFT_AT + NODES + i];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                reference[d * FIELDS + k] = scale * (slopes[(d * FIELDS + k) * POINTS + node] + low * jump[k * NF] +
                                                     high * jump[k * NF + FACE_POINTS]);
        }
        physical_gradient(g, reference, grad);
        volume_flux(parameters, u, g, flux);
        diffusive_flux(parameters, u, grad, diffusive);
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
#pragma unroll
                for (int x = 0; x < DIM; ++x) flux[d * FIELDS + k] -= g[d * DIM + x] * diffusive[x * FIELDS + k];
    }
    dg_block_sync();
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) slopes[i * POINTS + node] = flux[i];
    dg_block_sync();
    const Keep keep = keep_factors(a, slot);
    real before[FIELDS], rate[FIELDS];
    if (keep.reads_register) load_node(a.reg + at, before);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        add_line<POINTS>(shared + PROJECT_AT + i * LINE, slopes + d * FIELDS * POINTS + node - i * power(d), power(d), rate);
    }

    // 5. Stores the rows for the second pass.
    if (p.source) {
        real more[FIELDS];
        load_node(p.source + at, more);
        if (TRANSFORM) {
            dg_block_sync();
            transform<POINTS>(shared + VALUES_AT, state, slopes, node, more);
            dg_block_sync();
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] += more[k];
    }
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] *= CURVED ? keep.dt * scale : keep.dt;
    if (TRANSFORM) transform<POINTS>(shared + BACK_AT, state, slopes, node, rate);
    if (!exists || !function.exists) return;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k)
        if (keep.reads_register) rate[k] += keep.a * before[k];
    if (!PLANAR) return store_row(p.kept + at, rate);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
}
