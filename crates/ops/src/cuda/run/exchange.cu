// Copies traces of other groups' elements into the exterior buffer, of this device or of another: one thread
// per point.
//
// Same operation as `Discretization::exchange` on the host.

// Writes the unknowns of a block's points. Neighbouring threads write neighbouring numbers, because links
// between devices are slow with single ones.
__device__ inline void write_points(const real* rows, const u32* to, u32 n, real* exterior) {
    const u32 first = blockIdx.x * BLOCK;
    const u32 count = (n - first < BLOCK ? n - first : BLOCK) * FIELDS;
    __syncthreads();
    for (u32 i = threadIdx.x; i < count; i += BLOCK) exterior[to[first + i / FIELDS] + i % FIELDS] = rows[i];
}

extern "C" __global__ void exchange(const InnerTrace inner, const u32* to, u32 n, real* exterior) {
    __shared__ real rows[BLOCK * FIELDS];
    const u32 q = blockIdx.x * BLOCK + threadIdx.x;
    if (q < n) {
        real u[FIELDS];
        inner_trace(inner, q, u);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rows[threadIdx.x * FIELDS + k] = u[k];
    }
    write_points(rows, to, n, exterior);
}

// Copies published fluxes of other groups' elements into the exterior buffer of fluxes; `from` are offsets in
// `fluxes`, and `stride` is the stride between unknowns there.
extern "C" __global__ void exchange_fluxes(const real* fluxes, const u64* from, const u32* to, u32 stride, u32 n,
                                           real* exterior) {
    __shared__ real rows[BLOCK * FIELDS];
    const u32 q = blockIdx.x * BLOCK + threadIdx.x;
    if (q < n) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rows[threadIdx.x * FIELDS + k] = fluxes[from[q] + k * stride];
    }
    write_points(rows, to, n, exterior);
}
