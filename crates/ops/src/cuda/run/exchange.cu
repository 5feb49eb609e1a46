// Copies traces of other groups' elements into the exterior buffer: one thread per point.
//
// Same operation as `Discretization::exchange` on the host.

extern "C" __global__ void exchange(const InnerTrace inner, const u32* to, u32 n, real* exterior) {
    const u32 q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n) return;
    real u[FIELDS];
    inner_trace(inner, q, u);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) exterior[to[q] + k] = u[k];
}

// Copies published fluxes of other groups' elements into the exterior buffer of fluxes; `from` are offsets in
// `fluxes`, and `stride` is the stride between unknowns there.
extern "C" __global__ void exchange_fluxes(const real* fluxes, const u64* from, const u32* to, u32 stride, u32 n,
                                           real* exterior) {
    const u32 q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n) return;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) exterior[to[q] + k] = fluxes[from[q] + k * stride];
}
