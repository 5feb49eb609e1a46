// Face normals computed from metric terms.
//
// Macros beside those of common.cuh:
// - NORMALS: read (0; affine only), or computed from the metric (1), which replaces loads by arithmetic
// - REFERENCE_NORMALS: { N̂ of each face }

// Computes the unit normal of a face; returns the scale of its flux, sJ/J or, if curved, sJ. `g` holds the
// metric terms of the element or point.
static __device__ __forceinline__ real face_normal(const Arguments& a, u32 element, u32 face,
                                                   const real (&g)[DIM * DIM], real (&n)[DIM]) {
    if (!NORMALS) return normal_at(a, element, face, 0, n);
    // n sJ/J = Σ_d N̂_d ∇r_d, n sJ = Σ_d N̂_d J∇r_d.
    constexpr int reference[FACES][DIM] = REFERENCE_NORMALS;
    real square = 0;
#pragma unroll
    for (int x = 0; x < DIM; ++x) {
        n[x] = 0;
#pragma unroll
        for (int f = 0; f < FACES; ++f) {
            real s = 0;
#pragma unroll
            for (int d = 0; d < DIM; ++d) s += reference[f][d] * g[d * DIM + x];
            n[x] = face == f ? s : n[x];
        }
        square += n[x] * n[x];
    }
    const real scale = square_root(square), inverse = reciprocal(scale);
#pragma unroll
    for (int x = 0; x < DIM; ++x) n[x] *= inverse;
    return scale;
}
