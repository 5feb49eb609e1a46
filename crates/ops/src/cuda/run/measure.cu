// Integrals of M integrands over elements, and their largest values over the points, always in double
// precision; states have the type STATE_REAL. Same computation as `integrals.rs` on the host.
//
// A team of threads processes E elements, a thread one point at a time in all of them. A sum over the points
// of an element has a fixed order; it does not depend on the other elements.
//
// With SLOPES, integrands receive the lifted gradient `∇u + Σ_f r_f` of the conserved variables:
//
//     traces    the state at the face points of all elements
//     picked    those on boundaries, whose jumps the host computes, and those that it sends to other ranks
//     measure   half jumps, lifts, values and gradients at the points, integrands
//
// Defined by the host: `real` (double), STATE_REAL, DIM, FIELDS, M, E, BLOCK, SLOPES and LARGEST (0 or 1),
// and the traced function integrand(parameters, u, [g,] x, t, out), with g as [axis][field].

typedef unsigned int u32;
typedef unsigned long long u64;

// A face point with this bit in `across` lies on a boundary; with both, across is an element of another rank.
constexpr u32 OUTER = 0x80000000u, ABROAD = 0x40000000u;

// Elements of one group, part and geometry order, with a point rule. Mirrored by `Elements` in
// measure_tables.rs.
struct Elements {
    const u32* slots;           // [element]
    const double* nodes;        // [element][node][3]
    const double* basis;        // [basis function][point]
    const double* geometry;     // [node][point]
    const double* gradient;     // [direction][node][point]
    const double* weights;      // [point]
    const double* derivatives;  // [direction][basis function][point]
    const double* lifts;        // [column][point], the columns of one direction after the other
    const u32* columns;         // [column]: face point
    const double* rows;         // [entry][face point]: the state at face points
    const u32* functions;       // [entry][face point]
    u64 offset;                 // offset of the group in the state
    u32 count, lanes, n_basis, n_points, n_nodes;
    u32 row_stride, field_stride;        // in the state
    u32 team;                            // threads of a team
    u32 first;                           // index of the first element among all
    u32 n_face, width, first_trace;      // face points, entries of a row, index of the first face point
    u32 ends[3], unused;                 // ends of the columns of each direction
};

// The coefficients of an element.
static __device__ __forceinline__ const STATE_REAL* coefficients(const STATE_REAL* state, const Elements& a, u32 e) {
    const u32 slot = a.slots[e];
    return state + a.offset + slot / a.lanes * ((u64)a.n_basis * FIELDS * a.lanes) + slot % a.lanes;
}

extern "C" __global__ void __launch_bounds__(BLOCK) traces(const STATE_REAL* state, const Elements a, double* traces) {
    const u64 item = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (item >= (u64)a.count * a.n_face) return;
    const u32 f = item % a.n_face;
    const STATE_REAL* c = coefficients(state, a, item / a.n_face);
    double u[FIELDS];
    for (int k = 0; k < FIELDS; ++k) u[k] = 0;
    for (u32 w = 0; w < a.width; ++w) {
        const double b = a.rows[w * a.n_face + f];
        const STATE_REAL* row = c + a.functions[w * a.n_face + f] * a.row_stride;
        for (int k = 0; k < FIELDS; ++k) u[k] += b * (double)row[k * a.field_stride];
    }
    for (int k = 0; k < FIELDS; ++k) traces[(a.first_trace + item) * FIELDS + k] = u[k];
}

extern "C" __global__ void __launch_bounds__(BLOCK) picked(const double* traces, const u32* list, u32 n, double* out) {
    const u32 item = blockIdx.x * BLOCK + threadIdx.x;
    if (item < n * FIELDS) out[item] = traces[(u64)list[item / FIELDS] * FIELDS + item % FIELDS];
}

// `terms`: [sums, then largest values][integrand][element of all].
extern "C" __global__ void __launch_bounds__(BLOCK)
    measure(const STATE_REAL* state, const Elements a, double t, u32 all, double* terms, const double* traces,
            const u32* across, const double* outer, const Parameters parameters) {
    __shared__ double tree[BLOCK];
    DG_DYNAMIC_SHARED(double, space);
    const u32 team = threadIdx.x / a.team, l = threadIdx.x % a.team;
    const u32 first = (blockIdx.x * (BLOCK / a.team) + team) * E, last = a.count - 1;
    double* c = space + team * (a.n_basis + (SLOPES ? a.n_face : 0)) * (FIELDS * E);  // [basis function][field][element]
    for (u32 item = l; item < a.n_basis * FIELDS * E; item += a.team) {
        // Contiguous in the state: lanes, or functions.
        const u32 e = a.lanes > 1 ? item % E : item / (a.n_basis * FIELDS);
        const u32 j = a.lanes > 1 ? item / E : item % (a.n_basis * FIELDS);
        const bool rows_first = a.row_stride < a.field_stride;
        const u32 i = rows_first ? j % a.n_basis : j / FIELDS, k = rows_first ? j / a.n_basis : j % FIELDS;
        const u32 at = first + e < last ? first + e : last;
        c[(i * FIELDS + k) * E + e] = (double)coefficients(state, a, at)[i * a.row_stride + k * a.field_stride];
    }
#if SLOPES
    double* jumps = c + a.n_basis * FIELDS * E;  // [face point][field][element]
    for (u32 item = l; item < a.n_face * FIELDS * E; item += a.team) {
        const u32 e = item / (a.n_face * FIELDS), j = item % (a.n_face * FIELDS), f = j / FIELDS, k = j % FIELDS;
        const u32 at = first + e < last ? first + e : last;
        const u64 own = a.first_trace + (u64)at * a.n_face + f;
        const u32 other = across[own];
        const double* there = (other & OUTER ? outer : traces) + (u64)(other & ~(OUTER | ABROAD)) * FIELDS + k;
        jumps[j * E + e] = (other & OUTER) && !(other & ABROAD) ? *there : 0.5 * (*there - traces[own * FIELDS + k]);
    }
#endif
    dg_block_sync();
    double sum[E][M];
#if LARGEST
    double largest[E][M];
#endif
    for (int e = 0; e < E; ++e)
        for (int m = 0; m < M; ++m) {
            sum[e][m] = 0;
#if LARGEST
            largest[e][m] = 0;
#endif
        }
    for (u32 q = l; q < a.n_points; q += a.team) {
        double u[E][FIELDS];
#if SLOPES
        double r[E][DIM * FIELDS];  // ∂u/∂r_d
        for (int e = 0; e < E; ++e)
            for (int k = 0; k < DIM * FIELDS; ++k) r[e][k] = 0;
#endif
        for (int e = 0; e < E; ++e)
            for (int k = 0; k < FIELDS; ++k) u[e][k] = 0;
        for (u32 i = 0; i < a.n_basis; ++i) {
            const double b = a.basis[i * a.n_points + q];
#if SLOPES
            double s[DIM];
            for (int d = 0; d < DIM; ++d) s[d] = a.derivatives[(d * a.n_basis + i) * a.n_points + q];
#endif
            for (int k = 0; k < FIELDS; ++k)
                for (int e = 0; e < E; ++e) {
                    const double v = c[(i * FIELDS + k) * E + e];
                    u[e][k] += b * v;
#if SLOPES
                    for (int d = 0; d < DIM; ++d) r[e][d * FIELDS + k] += s[d] * v;
#endif
                }
        }
#if SLOPES
        u32 column = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d)
            for (; column < a.ends[d]; ++column) {
                const double b = a.lifts[column * a.n_points + q];
                const double* jump = jumps + a.columns[column] * (FIELDS * E);
                for (int k = 0; k < FIELDS; ++k)
                    for (int e = 0; e < E; ++e) r[e][d * FIELDS + k] += b * jump[k * E + e];
            }
#endif
#pragma unroll
        for (int e = 0; e < E; ++e) {
            const u32 at = first + e < last ? first + e : last;
            double x[3], g[3][3], out[M];
            for (int d = 0; d < 3; ++d) {
                x[d] = 0;
                for (int s = 0; s < 3; ++s) g[s][d] = 0;
            }
            for (u32 m = 0; m < a.n_nodes; ++m) {
                const double* p = a.nodes + ((u64)at * a.n_nodes + m) * 3;
                const double b = a.geometry[m * a.n_points + q];
                double s[DIM];
                for (int d = 0; d < DIM; ++d) s[d] = a.gradient[(d * a.n_nodes + m) * a.n_points + q];
                for (int d = 0; d < 3; ++d) {
                    x[d] += b * p[d];
                    for (int o = 0; o < DIM; ++o) g[o][d] += s[o] * p[d];
                }
            }
            const double cofactors[3] = {g[1][1] * g[2][2] - g[1][2] * g[2][1], g[1][2] * g[2][0] - g[1][0] * g[2][2],
                                         g[1][0] * g[2][1] - g[1][1] * g[2][0]};
            const double jacobian = DIM == 2 ? g[0][0] * g[1][1] - g[1][0] * g[0][1]
                                             : g[0][0] * cofactors[0] + g[0][1] * cofactors[1] + g[0][2] * cofactors[2];
#if SLOPES
            double slopes[DIM * FIELDS];  // ∂u/∂x
            for (int k = 0; k < DIM * FIELDS; ++k) slopes[k] = 0;
#pragma unroll
            for (int d = 0; d < DIM; ++d) {
                const int n = DIM == 2 ? 1 - d : (d + 1) % 3, o = (d + 2) % 3;
                double metric[DIM];  // ∇r_d
#pragma unroll
                for (int y = 0; y < DIM; ++y) {
                    const int v = DIM == 2 ? 1 - y : (y + 1) % 3, w = (y + 2) % 3;
                    metric[y] = DIM == 2 ? (d == y ? g[n][v] : -g[n][v]) : g[n][v] * g[o][w] - g[n][w] * g[o][v];
                }
                for (int k = 0; k < FIELDS; ++k) {
                    const double s = r[e][d * FIELDS + k] / jacobian;
                    for (int y = 0; y < DIM; ++y) slopes[y * FIELDS + k] += metric[y] * s;
                }
            }
            integrand(parameters, u[e], slopes, x, t, out);
#else
            integrand(parameters, u[e], x, t, out);
#endif
            for (int m = 0; m < M; ++m) {
                sum[e][m] += a.weights[q] * jacobian * out[m];
#if LARGEST
                largest[e][m] = out[m] > largest[e][m] ? out[m] : largest[e][m];
#endif
            }
        }
    }
#pragma unroll
    for (int e = 0; e < E; ++e)
        for (int m = 0; m < M; ++m) {
            double* term = terms + (u64)m * all + a.first + first + e;
            tree[threadIdx.x] = sum[e][m];
            dg_block_sync();
            for (u32 half = a.team / 2; half > 0; half /= 2) {
                if (l < half) tree[threadIdx.x] += tree[threadIdx.x + half];
                dg_block_sync();
            }
            if (l == 0 && first + e < a.count) term[0] = tree[threadIdx.x];
            dg_block_sync();
#if LARGEST
            tree[threadIdx.x] = largest[e][m];
            dg_block_sync();
            for (u32 half = a.team / 2; half > 0; half /= 2) {
                if (l < half) {
                    const double x = tree[threadIdx.x], y = tree[threadIdx.x + half];
                    tree[threadIdx.x] = y > x ? y : x;
                }
                dg_block_sync();
            }
            if (l == 0 && first + e < a.count) term[(u64)M * all] = tree[threadIdx.x];
            dg_block_sync();
#endif
        }
}

// The largest of `n` terms of each integrand. One block for each of them.
extern "C" __global__ void __launch_bounds__(BLOCK) largest_term(const double* terms, u32 n, double* result) {
    __shared__ double tree[BLOCK];
    double largest = 0;
    for (u32 i = threadIdx.x; i < n; i += BLOCK) {
        const double x = terms[(u64)blockIdx.x * n + i];
        largest = x > largest ? x : largest;
    }
    tree[threadIdx.x] = largest;
    dg_block_sync();
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const double x = tree[threadIdx.x], y = tree[threadIdx.x + half];
            tree[threadIdx.x] = y > x ? y : x;
        }
        dg_block_sync();
    }
    if (threadIdx.x == 0) result[blockIdx.x] = tree[0];
}
