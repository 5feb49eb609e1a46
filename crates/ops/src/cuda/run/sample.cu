// Primitive states on the lattices of elements, for writers: one thread per point.
//
// Same computation as `Discretization::sample` on the host, always in double precision; states have the type
// STATE_REAL.
//
// Defined by the host: `real` (double), STATE_REAL, FIELDS, BLOCK, and the traced function
// primitive(parameters, u, w).

typedef unsigned int u32;
typedef unsigned long long u64;

// Elements of one group. Mirrored by the words of `SampledGroup` in sample.rs.
struct Sampled {
    const u32* slots;      // [element]
    const double* basis;   // [point][basis function]
    double* out;           // [unknown][element][point]
    u64 offset;            // offset of the group in the state
    u32 count, lanes, n_basis, n_points;
    u32 row_stride, field_stride;  // in the state
};

extern "C" __global__ void __launch_bounds__(BLOCK)
    sample(const STATE_REAL* state, const Sampled a, const Parameters parameters) {
    const u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x, n = (u64)a.count * a.n_points;
    if (i >= n) return;
    const u32 slot = a.slots[i / a.n_points], q = (u32)(i % a.n_points);
    const u64 block = (u64)a.n_basis * FIELDS * a.lanes;
    const STATE_REAL* c = state + a.offset + slot / a.lanes * block + slot % a.lanes;
    double u[FIELDS], w[FIELDS];
    for (int k = 0; k < FIELDS; ++k) u[k] = 0;
    for (u32 m = 0; m < a.n_basis; ++m) {
        const double b = a.basis[q * a.n_basis + m];
        for (int k = 0; k < FIELDS; ++k) u[k] += b * (double)c[m * a.row_stride + k * a.field_stride];
    }
    primitive(parameters, u, w);
    for (int k = 0; k < FIELDS; ++k) a.out[k * n + i] = w[k];
}
