// Metric terms of curved triangles and tetrahedra of geometry order 2, computed from derivatives of the map.
//
// Arithmetic replaces loads of the metric. The host's part is quadratic.rs.
//
// Macros beside those of common.cuh:
// - QUADRATIC: whether the part has such derivatives

#if QUADRATIC
// Number of derivatives: first derivatives [d][x], then second derivatives [d <= e][x].
constexpr int DERIVATIVES = DIM * DIM + DIM * (DIM + 1) / 2 * DIM;
// Numbers of an element: derivatives, then `weighted` of the weight-adjusted rule; padded so that records
// begin at even numbers and those of eight elements are in different banks.
constexpr int RECORD = DERIVATIVES + NP + 1 + (6 - (DERIVATIVES + NP + 1) % 4) % 4;

// Computes J∇r_d at the position `at` relative to the centre of an element whose record is `map`; returns J.
static __device__ __forceinline__ real quadratic_metric(const stored* map, const real* at, real (&g)[DIM * DIM]) {
    real m[DERIVATIVES], t[DIM][DIM], r[DIM];
#pragma unroll
    for (int i = 0; i + 1 < DERIVATIVES; i += 2) {
        const pair y = *reinterpret_cast<const pair*>(map + i);
        m[i] = y.x;
        m[i + 1] = y.y;
    }
    if (DERIVATIVES % 2) m[DERIVATIVES - 1] = map[DERIVATIVES - 1];
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        r[d] = at[d];
#pragma unroll
        for (int x = 0; x < DIM; ++x) t[d][x] = m[d * DIM + x];
    }
    int second = DIM * DIM;
#pragma unroll
    for (int d = 0; d < DIM; ++d)
#pragma unroll
        for (int e = d; e < DIM; ++e) {
#pragma unroll
            for (int x = 0; x < DIM; ++x) {
                t[d][x] += m[second + x] * r[e];
                if (e != d) t[e][x] += m[second + x] * r[d];
            }
            second += DIM;
        }
    if (DIM == 2) {
        g[0] = t[1][1];
        g[1] = -t[1][0];
        g[2] = -t[0][1];
        g[3] = t[0][0];
        return t[0][0] * t[1][1] - t[1][0] * t[0][1];
    }
    constexpr int Y = 1, Z = DIM - 1;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const real (&a)[DIM] = t[(d + 1) % DIM], (&b)[DIM] = t[(d + 2) % DIM];
        g[d * DIM] = a[Y] * b[Z] - a[Z] * b[Y];
        g[d * DIM + Y] = a[Z] * b[0] - a[0] * b[Z];
        if (DIM == 3) g[d * DIM + Z] = a[0] * b[Y] - a[Y] * b[0];
    }
    return t[0][0] * g[0] + t[0][Y] * g[Y] + t[0][Z] * g[Z];
}
#endif
