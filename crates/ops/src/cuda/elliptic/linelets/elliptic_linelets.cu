// Point Jacobi with linelets: solution of the lines, and sum with the diagonal.
//
// Macros defined by the host: THREADS and LINE_THREADS; MOST (unknowns of an element with dense functions)
// and WIDTH (of any); COUNT and ALONG (systems of a line with nodal functions, and nodes across it); SMALL
// and BATCH; STEPS; NP (rows of an element).
#include "device.cuh"
#include "linelets.cuh"

// Residuals of all unknowns, Rᵀ r: a thread for each of WIDTH places of each element of a line.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_restrict(const Member* __restrict__ members, const Functions f, const real* __restrict__ r,
                      const real* __restrict__ changed, real* __restrict__ unknowns, u64 n_places) {
    const u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (thread >= n_places) return;
    const Member m = members[thread / WIDTH];
    const real* from = ((m.nodes & 0x80000000u) == 0 ? r : changed) + m.row;
    dg_wait_for_kernels_before();
    restricted(m, (u32)(thread % WIDTH), f, unknowns, [&](u32 i) { return from[i]; });
}

// Lines whose elements have the same number of unknowns, at most SMALL: a block of threads for each. Blocks
// of BATCH elements are brought to shared memory at a time, so that a step of the recursion waits for no
// load.
extern "C" __global__ void __launch_bounds__(LINE_THREADS)
    linelets_equal(const Member* __restrict__ members, const u32* __restrict__ lines, const real* __restrict__ factors,
                   real* __restrict__ unknowns) {
    __shared__ real e[BATCH * SMALL * (SMALL | 1)];
    __shared__ real x[BATCH * SMALL];
    __shared__ real y[BATCH * SMALL];
    __shared__ real carry[SMALL];
    const u32 t = threadIdx.x;
    const u32 length = lines[2 * blockIdx.x + 1] - lines[2 * blockIdx.x];
    const Member first = members[lines[2 * blockIdx.x]];
    const u32 n = first.n, stride = n | 1, square = n * n;
    real* own = unknowns + first.start;
    // The blocks of element k: the inverse, then the coupling to the one before, which the first does not
    // have.
    const u64 blocks = first.factor - square;
    dg_wait_for_kernels_before();
    if (t < n) carry[t] = own[t];
    // x_k ← x_k − E_k x_{k−1}
    for (u32 from = 1; from < length; from += BATCH) {
        const u32 batch = length - from < BATCH ? length - from : BATCH;
        for (u32 i = t; i < square; i += LINE_THREADS) {
            const real* of = factors + (blocks + (u64)from * 2 * square + square + i);
            real* to = e + i / n * stride + i % n;
#pragma unroll 8
            for (u32 k = 0; k < batch; ++k) to[k * n * stride] = dg_load(of + (u64)k * 2 * square);
        }
        for (u32 i = t; i < batch * n; i += LINE_THREADS) x[i] = own[(u64)from * n + i];
        __syncthreads();
        // All of this by one warp.
        for (u32 k = 0; t < 32 && k < batch; ++k) {
            const real* before = k == 0 ? carry : x + (k - 1) * n;
            if (t < n) {
                const real* row = e + k * n * stride + t * stride;
                real sum = x[k * n + t], more = 0;
                u32 c = 0;
                for (; c + 1 < n; c += 2) {
                    sum -= row[c] * before[c];
                    more -= row[c + 1] * before[c + 1];
                }
                if (c < n) sum -= row[c] * before[c];
                x[k * n + t] = sum + more;
            }
            dg_warp_sync();
        }
        __syncthreads();
        for (u32 i = t; i < batch * n; i += LINE_THREADS) own[(u64)from * n + i] = x[i];
        if (t < n) carry[t] = x[(batch - 1) * n + t];
        __syncthreads();
    }
    // x_k ← Δ_k⁻¹ x_k − E_{k+1}ᵀ x_{k+1}
    if (t < n) carry[t] = 0;
    for (u32 end = length; end > 0;) {
        const u32 batch = end < BATCH ? end : BATCH, from = end - batch;
        // The last element has no coupling to one after it.
        const u32 coupled = end < length ? batch : batch - 1;
        for (u32 i = t; i < square; i += LINE_THREADS) {
            const real* of = factors + (blocks + (u64)(from + 1) * 2 * square + square + i);
            real* to = e + i / n * stride + i % n;
#pragma unroll 8
            for (u32 k = 0; k < coupled; ++k) to[k * n * stride] = dg_load(of + (u64)k * 2 * square);
            if (coupled < batch) to[coupled * n * stride] = 0;
        }
        for (u32 i = t; i < batch * n; i += LINE_THREADS) x[i] = own[(u64)from * n + i];
        __syncthreads();
        for (u32 i = t; i < batch * n; i += LINE_THREADS) {
            const u32 k = i / n, b = i % n;
            const real* d = factors + (blocks + (u64)(from + k) * 2 * square + (from + k == 0 ? square : 0));
            real sum = 0;
            for (u32 c = 0; c < n; ++c) sum += dg_load(d + (u64)c * n + b) * x[k * n + c];
            y[i] = sum;
        }
        __syncthreads();
        for (u32 k = batch; t < 32 && k-- > 0;) {
            const real* after = k + 1 == batch ? carry : y + (k + 1) * n;
            if (t < n) {
                const real* column = e + k * n * stride + t;
                real sum = y[k * n + t], more = 0;
                u32 a = 0;
                for (; a + 1 < n; a += 2) {
                    sum -= column[a * stride] * after[a];
                    more -= column[(a + 1) * stride] * after[a + 1];
                }
                if (a < n) sum -= column[a * stride] * after[a];
                y[k * n + t] = sum + more;
            }
            dg_warp_sync();
        }
        __syncthreads();
        for (u32 i = t; i < batch * n; i += LINE_THREADS) own[(u64)from * n + i] = y[i];
        if (t < n) carry[t] = y[t];
        __syncthreads();
        end = from;
    }
}

// Other lines with dense blocks: a block of threads for each.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_dense(const Member* __restrict__ members, const u32* __restrict__ lines, const real* __restrict__ factors,
                   real* __restrict__ unknowns) {
    __shared__ real before[MOST];
    __shared__ real here[MOST];
    const u32 first = lines[2 * blockIdx.x], end = lines[2 * blockIdx.x + 1];
    dg_wait_for_kernels_before();
    for (u32 k = first; k < end; ++k) {
        const Member m = members[k];
        const u32 n_before = k > first ? members[k - 1].n : 0;
        const real* e = factors + m.factor + (u64)m.n * m.n;
        for (u32 b = threadIdx.x; b < m.n; b += THREADS) {
            real sum = unknowns[m.start + b];
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

// Lines with nodal functions along the layer: a thread for each system of each line. The numbers of STEPS
// elements are loaded at a time, so that a step of the recursion waits for no load.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_nodal(const Member* __restrict__ members, const u32* __restrict__ lines, const real* __restrict__ factors,
                   real* __restrict__ unknowns, u32 n_lines, u32 unused) {
    const u32 thread = blockIdx.x * THREADS + threadIdx.x;
    if (thread >= n_lines * COUNT) return;
    const u32 system = thread % COUNT;
    const u32 first = lines[2 * (thread / COUNT)], length = lines[2 * (thread / COUNT) + 1] - first;
    const Member m = members[first];
    real* own = unknowns + m.start + system;
    // The blocks of element k: the inverse, then the coupling to the one before, which the first does not
    // have.
    const u64 blocks = m.factor + system - 4 * COUNT;
    dg_wait_for_kernels_before();
    real low = own[0], high = own[COUNT];
    for (u32 from = 1; from < length; from += STEPS) {
        real e[STEPS][4], x[STEPS][2];
#pragma unroll
        for (u32 k = 0; k < STEPS; ++k) {
            if (from + k >= length) continue;
            const real* at = factors + (blocks + (u64)(from + k) * 8 * COUNT + 4 * COUNT);
            for (int i = 0; i < 4; ++i) e[k][i] = dg_load(at + i * COUNT);
            for (int i = 0; i < 2; ++i) x[k][i] = own[(u64)(from + k) * 2 * COUNT + i * COUNT];
        }
#pragma unroll
        for (u32 k = 0; k < STEPS; ++k) {
            if (from + k >= length) continue;
            const real a = x[k][0] - (e[k][0] * low + e[k][1] * high);
            const real b = x[k][1] - (e[k][2] * low + e[k][3] * high);
            low = a;
            high = b;
            own[(u64)(from + k) * 2 * COUNT] = a;
            own[(u64)(from + k) * 2 * COUNT + COUNT] = b;
        }
    }
    low = 0;
    high = 0;
    for (u32 done = 0; done < length; done += STEPS) {
        real d[STEPS][4], e[STEPS][4], x[STEPS][2];
#pragma unroll
        for (u32 s = 0; s < STEPS; ++s) {
            if (done + s >= length) continue;
            const u32 k = length - 1 - done - s;
            const real* at = factors + (blocks + (u64)k * 8 * COUNT + (k == 0 ? 4 * COUNT : 0));
            const u64 next = blocks + (u64)(k + 1) * 8 * COUNT + 4 * COUNT;
            for (int i = 0; i < 4; ++i) d[s][i] = dg_load(at + i * COUNT);
            for (int i = 0; i < 4; ++i) e[s][i] = k + 1 < length ? dg_load(factors + next + i * COUNT) : (real)0;
            for (int i = 0; i < 2; ++i) x[s][i] = own[(u64)k * 2 * COUNT + i * COUNT];
        }
#pragma unroll
        for (u32 s = 0; s < STEPS; ++s) {
            if (done + s >= length) continue;
            const u32 k = length - 1 - done - s;
            const real a = d[s][0] * x[s][0] + d[s][1] * x[s][1] - (e[s][0] * low + e[s][2] * high);
            const real b = d[s][2] * x[s][0] + d[s][3] * x[s][1] - (e[s][1] * low + e[s][3] * high);
            low = a;
            high = b;
            own[(u64)k * 2 * COUNT] = a;
            own[(u64)k * 2 * COUNT + COUNT] = b;
        }
    }
}

// z ← D⁻¹ r + w R x + Q sums for the elements of one shape. `member` is that of each element, or the largest
// number; r and z may be the same vector. `function` is that of each row, or the largest number; it may be
// missing. Rows that fill up the host's blocks are copied between the whole vectors.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_add(const Member* __restrict__ members, const u32* __restrict__ member, const Functions f,
                 const real* __restrict__ unknowns, const real* __restrict__ diagonal, const real* r, real* z,
                 const real* whole_r, real* whole_z, u64 first_row, u64 rows, u64 copied, u64 n_copied, const u32* function, const real* sums, real weight) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    if (i < n_copied) whole_z[copied + i] = whole_r[copied + i];
    if (i >= rows) return;
    const u32 at = member[i / NP];
    real sum = dg_load(diagonal + first_row + i) * r[first_row + i];
    if (at != NONE) sum += weight * prolongated(members[at], (u32)(i % NP), f, unknowns);
    if (function) {
        const u32 of = function[first_row + i];
        if (of != NONE) sum += sums[of];
    }
    z[first_row + i] = sum;
}
