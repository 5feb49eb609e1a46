// Integrals of M integrands over elements, and their largest values over the points.
//
// Same computation as `Discretization::integrate` on the host, always in double precision; states have the
// type STATE_REAL. A block processes a run of elements, a thread one point at a time. Sums have a fixed
// order.
//
// Defined by the host: `real` (double), STATE_REAL, DIM, FIELDS, M, BLOCK, RUN (elements of a block), and the
// traced function integrand(parameters, u, x, t, out).

typedef unsigned int u32;
typedef unsigned long long u64;

// Elements of one group, part and geometry order, with a point rule. Mirrored by `Elements` in measure.rs.
struct Elements {
    const u32* slots;        // [element]
    const double* nodes;     // [element][node][3]
    const double* basis;     // [point][basis function]
    const double* geometry;  // [point][node]
    const double* gradient;  // [direction][point][node]
    const double* weights;   // [point]
    u64 offset;              // offset of the group in the state
    u32 count, lanes, n_basis, n_points, n_nodes;
    u32 row_stride, field_stride, unused;  // in the state
};

// Combines sums, then largest values, of the block's threads; thread 0 has the result. BLOCK is a power of
// two.
static __device__ __forceinline__ void combine(double* tree, double sum, double largest, double* out) {
    tree[threadIdx.x] = sum;
    tree[BLOCK + threadIdx.x] = largest;
    dg_block_sync();
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            tree[threadIdx.x] += tree[threadIdx.x + half];
            const double a = tree[BLOCK + threadIdx.x], b = tree[BLOCK + threadIdx.x + half];
            tree[BLOCK + threadIdx.x] = b > a ? b : a;
        }
        dg_block_sync();
    }
    if (threadIdx.x == 0) {
        out[0] = tree[0];
        out[M] = tree[BLOCK];
    }
    dg_block_sync();
}

// `partial`: [block][2][M], sums and largest values.
extern "C" __global__ void __launch_bounds__(BLOCK)
    measure(const STATE_REAL* state, const Elements a, double t, double* partial, const Parameters parameters) {
    __shared__ double tree[2 * BLOCK];
    const u32 first = blockIdx.x * RUN, left = a.count - first, n = left < RUN ? left : RUN;
    double sum[M], largest[M];
    for (int m = 0; m < M; ++m) sum[m] = largest[m] = 0;
    for (u32 item = threadIdx.x; item < n * a.n_points; item += BLOCK) {
        const u32 e = first + item / a.n_points, q = item % a.n_points, slot = a.slots[e];
        const u64 block = (u64)a.n_basis * FIELDS * a.lanes;
        const STATE_REAL* c = state + a.offset + slot / a.lanes * block + slot % a.lanes;
        double u[FIELDS], x[3], tangent[3][3], out[M];
        for (int k = 0; k < FIELDS; ++k) u[k] = 0;
        for (u32 i = 0; i < a.n_basis; ++i) {
            const double b = a.basis[q * a.n_basis + i];
            for (int k = 0; k < FIELDS; ++k) u[k] += b * (double)c[i * a.row_stride + k * a.field_stride];
        }
        for (int d = 0; d < 3; ++d) {
            x[d] = 0;
            for (int s = 0; s < 3; ++s) tangent[s][d] = 0;
        }
        for (u32 m = 0; m < a.n_nodes; ++m) {
            const double* p = a.nodes + ((u64)e * a.n_nodes + m) * 3;
            for (int d = 0; d < 3; ++d) {
                x[d] += a.geometry[q * a.n_nodes + m] * p[d];
                for (int s = 0; s < DIM; ++s) tangent[s][d] += a.gradient[(s * a.n_points + q) * a.n_nodes + m] * p[d];
            }
        }
        const double(&g)[3][3] = tangent;
        const double jacobian = DIM == 2 ? g[0][0] * g[1][1] - g[1][0] * g[0][1]
                                         : g[0][0] * (g[1][1] * g[2][2] - g[1][2] * g[2][1]) +
                                               g[0][1] * (g[1][2] * g[2][0] - g[1][0] * g[2][2]) +
                                               g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0]);
        integrand(parameters, u, x, t, out);
        for (int m = 0; m < M; ++m) {
            sum[m] += a.weights[q] * jacobian * out[m];
            largest[m] = out[m] > largest[m] ? out[m] : largest[m];
        }
    }
    for (int m = 0; m < M; ++m) combine(tree, sum[m], largest[m], partial + (u64)blockIdx.x * 2 * M + m);
}

// Combines the sums and largest values of `n` blocks.
extern "C" __global__ void __launch_bounds__(BLOCK) gather(const double* partial, u32 n, double* result) {
    __shared__ double tree[2 * BLOCK];
    for (int m = 0; m < M; ++m) {
        double sum = 0, largest = 0;
        for (u32 i = threadIdx.x; i < n; i += BLOCK) {
            const double* p = partial + (u64)i * 2 * M + m;
            sum += p[0];
            largest = p[M] > largest ? p[M] : largest;
        }
        combine(tree, sum, largest, result + m);
    }
}
