// First pass of diffusion for any shape, order, basis and metric rule.
//
// It computes lifted gradients, stores the volume terms as rows before the metric rule, and publishes the
// element's part of normal fluxes. A block processes ELEMENTS elements at a time. Same computation as
// `gradient_block` in diffusion_passes.rs on the host.
//
// Macros beside those of common.cuh: BLOCK threads, ELEMENTS elements, the chains GRADIENT, FACE_GRADIENT and
// RESIDUAL, and the layout of the work space: JOINED_AT, GRADIENTS_AT, FLUXES_AT, EVEN_AT, ODD_AT and its
// size WORK; it is in shared memory if SHARED_WORK.

// Numbers of rows of an element: states and half jumps; states at volume points and gradients; fluxes.
constexpr u32 JOINED = NP + NF, GRADIENTS = (COLLOCATED ? 0 : NQ) + DIM * NQ, FLUXES = DIM * NQ + NF;

static_assert(!PLANAR, "groups that these kernels work on are laid out row by row");

extern "C" __global__ void __launch_bounds__(BLOCK)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    real* work = work_space(a);
    real* joined = work + JOINED_AT;        // states beside half jumps; at the end, the finished rows
    real* gradients = work + GRADIENTS_AT;  // at volume points, then at face points
    real* fluxes = work + FLUXES_AT;        // F̂_0, …, f̂*
    real *even = work + EVEN_AT, *odd = work + ODD_AT;  // intermediate results of chains
    const auto own_trace = [&](u32 e, u32 q, u32 slot, real (&um)[FIELDS]) {
        const real* own = DIRECT ? joined + e * JOINED * FIELDS + __ldg(a.own + q)
                                 : a.traces + (u64)slot * TRACE_BLOCK + q * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) um[k] = own[k];
    };
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;  // numbered in the part
        const u32 n = a.count - element < ELEMENTS ? a.count - element : ELEMENTS;
        const u64 begin = (u64)(a.first + element) * STATE_BLOCK;
        for (u32 i = threadIdx.x; i < n * STATE_BLOCK; i += BLOCK)
            joined[i / STATE_BLOCK * JOINED * FIELDS + i % STATE_BLOCK] = __ldg(a.u + begin + i);
        dg_block_sync();

        // 1. Faces: both traces, half jumps, numerical fluxes.
        for (u32 item = threadIdx.x; item < n * NF; item += BLOCK) {
            const u32 e = item / NF, q = item % NF, face = face_of(q), slot = a.first + element + e;
            const u32 point = q - face_first(face);
            real um[FIELDS], up[FIELDS], jump[FIELDS], f[FIELDS];
            own_trace(e, q, slot, um);
            const Across r = across(a, slot, face);
            state_across(r, point, up);
            half_jump(p, boundary_begin(a, p, r), point, um, up, jump);
            real direction[DIM];
            normal_at(a, element + e, face, q, direction);
            numerical_flux(parameters, um, up, direction, f);
            real* x = joined + (e * JOINED + NP + q) * FIELDS;
            real* y = fluxes + (e * FLUXES + DIM * NQ + q) * FIELDS;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                x[k] = jump[k];
                y[k] = f[k];
            }
        }
        dg_block_sync();

        // 2. Volume: lifted gradients, contravariant fluxes.
        multiply_chain(a, GRADIENT, n, joined, even, odd, gradients);
        for (u32 item = threadIdx.x; item < n * NQ; item += BLOCK) {
            const u32 e = item / NQ, q = item % NQ;
            const real* x = COLLOCATED ? joined + (e * JOINED + q) * FIELDS : gradients + (e * GRADIENTS + q) * FIELDS;
            const real* slope = gradients + (e * GRADIENTS + (COLLOCATED ? 0 : NQ) + q) * FIELDS;
            real state[FIELDS], g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS];
            real f[DIM * FIELDS], diffusive[DIM * FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) state[k] = x[k];
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d * NQ * FIELDS + k];
            metric_at(a, element + e, q, g);
            physical_gradient(g, reference, grad);
            if (CURVED) {
                const real s = __ldg(a.inverse_jacobian + (u64)(element + e) * NQ + q);
#pragma unroll
                for (int i = 0; i < DIM * FIELDS; ++i) grad[i] *= s;
            }
            volume_flux(parameters, state, g, f);
            diffusive_flux(parameters, state, grad, diffusive);
            real* y = fluxes + (e * FLUXES + q) * FIELDS;
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) {
                    real sum = f[d * FIELDS + k];
#pragma unroll
                    for (int x = 0; x < DIM; ++x) sum -= g[d * DIM + x] * diffusive[x * FIELDS + k];
                    y[d * NQ * FIELDS + k] = sum;
                }
        }
        dg_block_sync();

        // 3. Faces: gradients with the faces' own liftings, one-sided fluxes.
        multiply_chain(a, FACE_GRADIENT, n, joined, even, odd, gradients);
        for (u32 item = threadIdx.x; item < n * NF; item += BLOCK) {
            const u32 e = item / NF, q = item % NF, face = face_of(q), slot = a.first + element + e;
            real um[FIELDS], g[DIM * DIM], direction[DIM], reference[DIM * FIELDS], grad[DIM * FIELDS];
            own_trace(e, q, slot, um);
            const real* slope = gradients + (e * DIM * NF + q) * FIELDS;
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d * NF * FIELDS + k];
            face_metric_at(a, p, element + e, q, g);
            physical_gradient(g, reference, grad);
            normal_at(a, element + e, face, q, direction);
            real* y = fluxes + (e * FLUXES + DIM * NQ + q) * FIELDS;
            real f[FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                f[k] = y[k];
                y[k] = 0;
            }
            publish(parameters, p, slot, q, boundary_begin(a, p, across(a, slot, face)), q - face_first(face), um, grad,
                    direction, f);
        }
        dg_block_sync();

        // 4. One product, stored for the second pass.
        multiply_chain(a, RESIDUAL, n, fluxes, even, odd, joined);
        for (u32 i = threadIdx.x; i < n * STATE_BLOCK; i += BLOCK) {
            const real r = joined[i];
            p.kept[begin + i] = p.source ? r + __ldg(p.source + begin + i) : r;
        }
        dg_block_sync();
    }
}
