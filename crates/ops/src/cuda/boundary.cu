// Boundary faces of one condition: the outer state from the inner one, and the flux that leaves. The host's twin is
// `Discretization::boundary`. One thread a point; the points of a face lie together.
//
// Beside the macros of common.cuh: BLOCK threads; the traced functions `outer` (u⁺ from u⁻, the normal and prescribed
// data) and `numerical_flux`.

extern "C" __global__ void __launch_bounds__(BLOCK)
    boundary(const InnerTrace inner, const real* normal, const real* weight, const real* data, u32 n, real* exterior,
             double* flux, const Parameters parameters) {
    const u32 q = blockIdx.x * BLOCK + threadIdx.x;
    if (q >= n) return;
    real um[FIELDS], outside[FIELDS], up[FIELDS], f[FIELDS], direction[DIM];
    inner_trace(inner, q, um);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) outside[k] = data[(u64)q * FIELDS + k];
#pragma unroll
    for (int x = 0; x < DIM; ++x) direction[x] = normal[(u64)q * DIM + x];
    outer(parameters, um, direction, outside, up);
    numerical_flux(parameters, um, up, direction, f);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        exterior[(u64)q * FIELDS + k] = up[k];
        flux[(u64)q * FIELDS + k] = (double)(weight[q] * f[k]);
    }
}
