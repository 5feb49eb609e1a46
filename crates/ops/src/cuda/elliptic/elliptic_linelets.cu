// Point Jacobi with linelets: solution of the lines, and sum with the diagonal.
//
// Macros defined by the host: THREADS, MOST (unknowns of an element), MOST_NODES, COUNT and ALONG (systems of
// a line with nodal functions, and nodes across it), NP (rows of an element).
#include "device.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// An element of a line.
struct Member {
    u64 factor;   // first entry of its factors
    u32 row;      // its first row in vectors
    u32 nodes;    // number of its rows; with the highest bit if its basis changes
    u32 start;    // its first unknown
    u32 n;        // number of its unknowns, of each system
    u32 reduced;  // first entry of its functions: values, or numbers of nodes
    u32 turn;     // first entry of the systems of its numbers along the layer
};

// Lines with dense blocks: a block of threads for each.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_dense(const Member* __restrict__ members, const u32* __restrict__ lines, const real* __restrict__ values,
                   const real* __restrict__ factors, const real* __restrict__ r, const real* __restrict__ changed,
                   real* __restrict__ unknowns) {
    __shared__ real residual[MOST_NODES];
    __shared__ real before[MOST];
    __shared__ real here[MOST];
    const u32 first = lines[2 * blockIdx.x], end = lines[2 * blockIdx.x + 1];
    dg_wait_for_kernels_before();
    for (u32 k = first; k < end; ++k) {
        const Member m = members[k];
        const u32 nodes = m.nodes & 0x7fffffffu;
        const real* from = m.nodes == nodes ? r : changed;
        for (u32 i = threadIdx.x; i < nodes; i += THREADS) residual[i] = from[m.row + i];
        __syncthreads();
        const u32 n_before = k > first ? members[k - 1].n : 0;
        const real* e = factors + m.factor + (u64)m.n * m.n;
        for (u32 b = threadIdx.x; b < m.n; b += THREADS) {
            real sum = 0;
            for (u32 i = 0; i < nodes; ++i) sum += dg_load(values + m.reduced + i * m.n + b) * residual[i];
            for (u32 c = 0; c < n_before; ++c) sum -= dg_load(e + (u64)b * n_before + c) * before[c];
            here[b] = sum;
        }
        __syncthreads();
        for (u32 b = threadIdx.x; b < m.n; b += THREADS) {
            before[b] = here[b];
            unknowns[m.start + b] = here[b];
        }
        __syncthreads();
    }
    for (u32 k = end; k-- > first;) {
        const Member m = members[k];
        for (u32 b = threadIdx.x; b < m.n; b += THREADS) here[b] = unknowns[m.start + b];
        __syncthreads();
        const real* d = factors + m.factor;
        const u32 n_after = k + 1 < end ? members[k + 1].n : 0;
        const real* e = n_after > 0 ? factors + members[k + 1].factor + (u64)n_after * n_after : d;
        for (u32 b = threadIdx.x; b < m.n; b += THREADS) {
            real sum = 0;
            for (u32 c = 0; c < m.n; ++c) sum += dg_load(d + (u64)c * m.n + b) * here[c];
            for (u32 a = 0; a < n_after; ++a) sum -= dg_load(e + (u64)a * m.n + b) * before[a];
            unknowns[m.start + b] = sum;
        }
        __syncthreads();
        for (u32 b = threadIdx.x; b < m.n; b += THREADS) before[b] = unknowns[m.start + b];
        __syncthreads();
    }
}

// Lines with nodal functions along the layer: a thread for each system of each line.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_nodal(const Member* __restrict__ members, const u32* __restrict__ lines, const u32* __restrict__ nodes,
                   const u32* __restrict__ numbers, const real* __restrict__ linear, const real* __restrict__ factors,
                   const real* __restrict__ r, real* __restrict__ unknowns, u32 n_lines, u32 unused) {
    const u32 thread = blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    if (thread >= n_lines * COUNT) return;
    const u32 system = thread % COUNT;
    const u32 first = lines[2 * (thread / COUNT)], end = lines[2 * (thread / COUNT) + 1];
    real low = 0, high = 0;
    for (u32 k = first; k < end; ++k) {
        const Member m = members[k];
        const u32* of = nodes + m.reduced + numbers[m.turn + system] * ALONG;
        real a = 0, b = 0;
        for (int i = 0; i < ALONG; ++i) {
            const real value = r[m.row + of[i]];
            a += dg_load(linear + 2 * i) * value;
            b += dg_load(linear + 2 * i + 1) * value;
        }
        if (k > first) {
            const real* e = factors + m.factor + 4 * COUNT + system;
            a -= dg_load(e) * low + dg_load(e + COUNT) * high;
            b -= dg_load(e + 2 * COUNT) * low + dg_load(e + 3 * COUNT) * high;
        }
        low = a;
        high = b;
        unknowns[m.start + system] = a;
        unknowns[m.start + COUNT + system] = b;
    }
    for (u32 k = end; k-- > first;) {
        const Member m = members[k];
        const real* d = factors + m.factor + system;
        const real a = unknowns[m.start + system], b = unknowns[m.start + COUNT + system];
        real x = dg_load(d) * a + dg_load(d + COUNT) * b;
        real y = dg_load(d + 2 * COUNT) * a + dg_load(d + 3 * COUNT) * b;
        if (k + 1 < end) {
            const real* e = factors + members[k + 1].factor + 4 * COUNT + system;
            x -= dg_load(e) * low + dg_load(e + 2 * COUNT) * high;
            y -= dg_load(e + COUNT) * low + dg_load(e + 3 * COUNT) * high;
        }
        low = x;
        high = y;
        unknowns[m.start + system] = x;
        unknowns[m.start + COUNT + system] = y;
    }
}

// z ← D⁻¹ r + w R x for the elements of one shape. `member` is that of each element, or the largest number;
// r and z may be the same vector. Rows that fill up the host's blocks are copied between the whole vectors.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_add(const Member* __restrict__ members, const u32* __restrict__ member, const real* __restrict__ values,
                 const u32* __restrict__ places, const u32* __restrict__ systems, const real* __restrict__ linear,
                 const real* __restrict__ unknowns, const real* __restrict__ diagonal, const real* r, real* z,
                 const real* whole_r, real* whole_z, u64 first_row, u64 rows, u64 copied, u64 n_copied, real weight) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    if (i < n_copied) whole_z[copied + i] = whole_r[copied + i];
    if (i >= rows) return;
    const u32 node = (u32)(i % NP), at = member[i / NP];
    real sum = dg_load(diagonal + first_row + i) * r[first_row + i];
    if (at != 0xffffffffu) {
        const Member m = members[at];
        const real* x = unknowns + m.start;
        real more = 0;
        if (m.turn != 0xffffffffu) {
            const u32 place = places[m.reduced + node];
            const u32 system = systems[m.turn + (place >> 8)], along = place & 255u;
            more = dg_load(linear + 2 * along) * x[system] + dg_load(linear + 2 * along + 1) * x[COUNT + system];
        } else {
            const real* row = values + m.reduced + (u64)node * m.n;
            for (u32 b = 0; b < m.n; ++b) more += dg_load(row + b) * x[b];
        }
        sum += weight * more;
    }
    z[first_row + i] = sum;
}
