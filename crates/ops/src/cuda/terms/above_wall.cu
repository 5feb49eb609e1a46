// Data of a boundary from the states at a height above it, before the kernels of diffusive_boundary.cu, whose
// macros and functions it has, and the traced function `wall_data`.
//
// One thread per point; `state` computes the state at the height. Same computation as
// `BoundarySet::update_from_above` on the host.

extern "C" __global__ void __launch_bounds__(BLOCK)
    data_above(const InnerTrace state, const u32* points, const real* normal, const real* heights, u32 n, real* data,
               const Parameters parameters) {
    const u32 q = blockIdx.x * BLOCK + threadIdx.x;
    if (q >= n) return;
    real above[FIELDS], direction[DIM], height[1], found[FIELDS];
    inner_trace(state, q, above);
#pragma unroll
    for (int x = 0; x < DIM; ++x) direction[x] = normal[(u64)q * DIM + x];
    height[0] = heights[q];
    wall_data(parameters, above, direction, height, found);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) data[(u64)points[q] * FIELDS + k] = found[k];
}
