// Formulas of fields, of place and of time at the nodes of vectors.
//
// Macros: FIELDS, fields that the formulas read; OUTPUTS, formulas; BLOCK, threads; the traced function
// `formulas`.

typedef unsigned u32;
typedef unsigned long long u64;

struct Fields {
    const double* at[FIELDS];
};

struct Outputs {
    double* at[OUTPUTS];
};

// Entries of which `inside` is zero are no nodes: they become zero. `place` is [axis][entry].
extern "C" __global__ void __launch_bounds__(BLOCK)
    at_nodes(const Fields fields, const Outputs outputs, const double* __restrict__ place,
             const double* __restrict__ inside, const double t, const u64 n, const Parameters parameters) {
    const u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const bool is_node = inside[i] != 0;
    real w[FIELDS], out[OUTPUTS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) w[k] = fields.at[k][i];
    const real x[3] = {place[i], place[n + i], place[2 * n + i]};
    formulas(parameters, w, x, t, out);
#pragma unroll
    for (int k = 0; k < OUTPUTS; ++k) outputs.at[k][i] = is_node ? out[k] : 0;
}
