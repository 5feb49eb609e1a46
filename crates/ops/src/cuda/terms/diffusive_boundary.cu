// Boundary faces of one condition under diffusion: the lifted jump, and the diffusive flux.
//
// One thread per point. The first kernel computes the jump `u_b − u⁻` before the first pass; the second
// computes the diffusive flux out of the domain after it. Same computation as `BoundarySet::face_states` and
// `Discretization::boundary_fluxes` on the host.
//
// Macros and functions beside those of common.cuh: BLOCK threads; the traced functions `face_state` (u_b from
// u⁻, the normal and prescribed data) and `boundary_flux`.

extern "C" __global__ void __launch_bounds__(BLOCK)
    face_jumps(const InnerTrace inner, const real* normal, const real* data, u32 n, real* jumps,
               const Parameters parameters) {
    const u32 q = blockIdx.x * BLOCK + threadIdx.x;
    if (q >= n) return;
    real um[FIELDS], prescribed[FIELDS], ub[FIELDS], direction[DIM];
    inner_trace(inner, q, um);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) prescribed[k] = data[(u64)q * FIELDS + k];
#pragma unroll
    for (int x = 0; x < DIM; ++x) direction[x] = normal[(u64)q * DIM + x];
    face_state(parameters, um, direction, prescribed, ub);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) jumps[(u64)q * FIELDS + k] = ub[k] - um[k];
}

// Writes the diffusive flux to `exterior`. The second pass subtracts it from the numerical flux that the
// first pass has published, as it does for neighbours. Adds to the time integrals of boundary.cu.
extern "C" __global__ void __launch_bounds__(BLOCK)
    face_fluxes(const InnerTrace inner, const real* normal, const real* weight, const real* data,
                const real* gradients, u32 n, real* exterior, const Clock* clock, double share,
#if COEFFICIENTS
                double* sums, double* corrections, const Parameters of_all, const real* coefficients) {
#else
                double* sums, double* corrections, const Parameters parameters) {
#endif
    const u32 q = blockIdx.x * BLOCK + threadIdx.x;
    if (q >= n) return;
#if COEFFICIENTS
    // Of the point's element.
    Parameters parameters = of_all;
    parameters.mixing = __ldg(coefficients + q);
#endif
    real um[FIELDS], prescribed[FIELDS], ub[FIELDS], direction[DIM], gradient[DIM * FIELDS], f[FIELDS];
    inner_trace(inner, q, um);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) prescribed[k] = data[(u64)q * FIELDS + k];
#pragma unroll
    for (int x = 0; x < DIM; ++x) direction[x] = normal[(u64)q * DIM + x];
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) gradient[i] = gradients[(u64)q * DIM * FIELDS + i];
    face_state(parameters, um, direction, prescribed, ub);
    boundary_flux(parameters, um, ub, gradient, direction, prescribed, f);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) exterior[(u64)q * FIELDS + k] = f[k];
    if (!clock) return;
    const double factor = share * clock->dt;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        const u64 at = (u64)q * FIELDS + k;
        const double add = factor * (double)(weight[q] * f[k]), old = sums[at], total = old + add;
        corrections[at] += fabs(old) >= fabs(add) ? (old - total) + add : (add - total) + old;
        sums[at] = total;
    }
}
