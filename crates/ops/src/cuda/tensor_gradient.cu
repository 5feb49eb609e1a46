// The first pass of diffusion on quadrilaterals and hexahedra with collocated Gauss–Lobatto nodes, affine or curved. The
// host's twin is `gradient_block` in viscous.rs; operators come from tensor.rs.
//
// One thread a node, a few elements a block, as in tensor.cu. A face point is a node, so the gradient there is the node's
// own derivative with the lifting of the one face: the thread that has it publishes the flux. Two barriers: states are in
// shared memory before derivatives, contravariant fluxes before their sums.
//
// Beside the macros of common.cuh, with DIRECT = 1 and COLLOCATED = 1, and those of lines.cuh:
//   ELEMENTS BLOCKS   elements of a block, blocks of a multiprocessor
//   ETA               weight of the liftings on their own faces
// `tables` has the 1-D matrix P, [node][node], the lifts at both ends, the 1-D derivative.

#include "lines.cuh"

constexpr int THREADS = ELEMENTS * NP;
constexpr bool STAGED = FIELDS % 2 != 0;   // rows are read and written along memory
constexpr bool PARKED = DIM == 3;          // what is lifted waits in shared memory: registers are short
constexpr int LINE = NODES | 1;            // row of a matrix in shared memory, against bank conflicts
constexpr int BLOCK_STATE = ELEMENTS * NP * FIELDS;
constexpr bool PAIRS = BLOCK_STATE % 2 == 0;  // every block begins at a multiple of 16 bytes
// The plan of shared memory.
constexpr int DERIVE_AT = NODES * LINE;
constexpr int STATE_AT = (2 * NODES * LINE + 1) / 2 * 2;           // [element][node][field], or [element][field][node]
constexpr int FLUX_AT = STATE_AT + (BLOCK_STATE + 1) / 2 * 2;      // [element][direction][field][node]

// Starts to copy two numbers, or one, from global to shared memory.
static __device__ __forceinline__ void copy_pair_async(real* to, const real* from) {
    if (sizeof(real) == 8) dg_cp_async16(to, from);
    else dg_cp_async8(to, from);
}

static __device__ __forceinline__ void copy_one_async(real* to, const real* from) {
    if (sizeof(real) == 8) dg_cp_async8(to, from);
    else *to = *from;  // less than the hardware copies; seen after the barrier that follows the wait
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    real *project = shared, *derive = shared + DERIVE_AT, *state = shared + STATE_AT, *flux = shared + FLUX_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // of the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const u64 begin = (u64)(a.first + first) * STATE_BLOCK;
    if (STAGED) {
        for (u32 i = 2 * threadIdx.x; PAIRS && i + 1 < n * STATE_BLOCK; i += 2 * THREADS)
            copy_pair_async(state + i, a.u + begin + i);
        if (PAIRS && n * STATE_BLOCK % 2 && threadIdx.x == 0) state[n * STATE_BLOCK - 1] = a.u[begin + n * STATE_BLOCK - 1];
        for (u32 i = threadIdx.x; !PAIRS && i < n * STATE_BLOCK; i += THREADS) copy_one_async(state + i, a.u + begin + i);
        dg_cp_async_commit();
    }
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS) {
        project[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);
        derive[i / NODES * LINE + i % NODES] = __ldg(a.tables + NODES * NODES + 2 + i);
    }

    // A thread beyond the last element computes that one again, and stores nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 source = exists ? local : n - 1, element = first + source, slot = a.first + element;

    // 1. States here and across the ends of lines; numerical fluxes; what is lifted, times its lift. That waits in
    //    registers, or where the thread's contravariant fluxes will be.
    real u[FIELDS], rate[FIELDS], up[DIM][FIELDS];
    real kept[PARKED ? 1 : DIM][FIELDS];
    real* parked = flux + local * DIM * FIELDS * NP + node;  // [direction][field], NP apart
    const auto lifted = [&](int d, int k) -> real& {
        return PARKED ? parked[(d * FIELDS + k) * NP] : kept[PARKED ? 0 : d][k];
    };
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const LineEnd end = line_end(node, d);
        if (!end.is) continue;
        const Across r = across(a, slot, end.face);
        load_row_constant(r.source + (r.rows ? __ldg(r.rows + end.point) : end.point * FIELDS), up[d]);
    }
    if (STAGED) {
        dg_cp_async_wait<0>();
        dg_block_sync();
        load_row(state + source * STATE_BLOCK + node * FIELDS, u);
    } else {
        load_row_constant(a.u + (u64)slot * STATE_BLOCK + node * FIELDS, u);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[(local * FIELDS + k) * NP + node] = u[k];
    }
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const LineEnd end = line_end(node, d);
        if (!end.is) continue;
        real f[FIELDS], jump[FIELDS];
        face_flux(a, parameters, element, end.face, end.face * FACE_POINTS + end.point, u, up[d], f);
        half_jump(p, boundary_begin(a, p, across(a, slot, end.face)), end.point, u, up[d], jump);
        const real lift = __ldg(a.tables + NODES * NODES + end.end);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            rate[k] -= lift * f[k];
            lifted(d, k) = (end.end == 0 ? -lift : lift) * jump[k];
        }
    }
    if (!STAGED) dg_block_sync();

    // 2. The gradient, without liftings.
    real g[DIM * DIM], grad[DIM * FIELDS];
    metric_at(a, element, node, g);
    const real scale = CURVED ? __ldg(a.inverse_jacobian + (u64)element * NP + node) : (real)1;
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) grad[i] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        const real* row = derive + i * LINE;
        real slope[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) slope[k] = 0;
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real c = row[m];
            const u32 at = node + m * power(d) - i * power(d);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                slope[k] += c * (STAGED ? state[source * STATE_BLOCK + at * FIELDS + k]
                                        : state[(local * FIELDS + k) * NP + at]);
        }
#pragma unroll
        for (int x = 0; x < DIM; ++x)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) grad[x * FIELDS + k] += scale * g[d * DIM + x] * slope[k];
    }

    // 3. Faces: the gradient with their own lifting, one-sided fluxes. A thread without an element stores what the last
    //    element's thread stores.
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const LineEnd end = line_end(node, d);
        if (!end.is || !exists) continue;
        real own[DIM * FIELDS], direction[DIM];
        const u32 q = end.face * FACE_POINTS + end.point;
#pragma unroll
        for (int x = 0; x < DIM; ++x)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                own[x * FIELDS + k] = grad[x * FIELDS + k] + (real)(ETA) * scale * g[d * DIM + x] * lifted(d, k);
        normal_at(a, element, end.face, q, direction);
        publish(parameters, p, slot, q, boundary_begin(a, p, across(a, slot, end.face)), end.point, u, own, direction);
    }

    // 4. Volume: contravariant fluxes, their sums along lines.
    {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            if (!line_end(node, d).is) continue;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real more = scale * lifted(d, k);
#pragma unroll
                for (int x = 0; x < DIM; ++x) grad[x * FIELDS + k] += g[d * DIM + x] * more;
            }
        }
        real f[DIM * FIELDS], diffusive[DIM * FIELDS];
        diffusive_flux(parameters, u, grad, diffusive);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                real sum = f[d * FIELDS + k];
#pragma unroll
                for (int x = 0; x < DIM; ++x) sum -= g[d * DIM + x] * diffusive[x * FIELDS + k];
                flux[(local * DIM * FIELDS + d * FIELDS + k) * NP + node] = sum;
            }
    }
    dg_block_sync();
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        const real* row = project + i * LINE;
        const real* f = flux + (local * DIM + d) * FIELDS * NP + node - i * power(d);
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real c = row[m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += c * f[k * NP + m * power(d)];
        }
    }

    // 5. The rows, kept for the second pass.
    if (STAGED) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[threadIdx.x * FIELDS + k] = rate[k];
        dg_block_sync();
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            const u32 i = threadIdx.x + k * THREADS;
            if (i < n * STATE_BLOCK) p.kept[begin + i] = p.source ? state[i] + __ldg(p.source + begin + i) : state[i];
        }
    } else if (exists) {
        const u64 at = (u64)slot * STATE_BLOCK + node * FIELDS;
        if (p.source) {
            real more[FIELDS];
            load_row_constant(p.source + at, more);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += more[k];
        }
        store_row(p.kept + at, rate);
    }
}
