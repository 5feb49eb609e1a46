// Traces of other groups' elements into the exterior buffer: one thread a point. The host's twin is
// `Discretization::exchange`.

extern "C" __global__ void exchange(const InnerTrace inner, const u32* to, u32 n, real* exterior) {
    const u32 q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n) return;
    real u[FIELDS];
    inner_trace(inner, q, u);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) exterior[to[q] + k] = u[k];
}

// Published fluxes of other groups' elements, `from` being their places in `fluxes` and `stride` the step
// between unknowns there, into their exterior buffer.
extern "C" __global__ void exchange_fluxes(const real* fluxes, const u64* from, const u32* to, u32 stride, u32 n,
                                           real* exterior) {
    const u32 q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n) return;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) exterior[to[q] + k] = fluxes[from[q] + k * stride];
}
