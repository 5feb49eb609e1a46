// The geometry of curved triangles and tetrahedra at volume and face points, for both passes of diffusion.
//
// Macros beside those of published.cuh:
//   QUADRATIC          read (0), or computed from derivatives of the map (1), which needs fewer loads
//   PLACES_AT          offset in `tables` of the places of volume and face points; QUADRATIC
//   REFERENCE_NORMALS  { N̂ of each face }, of entries −1, 0 and 1

#include "quadratic.cuh"

// The first direction in which a face's normal has a component, in two bits for each face, and the faces
// whose normal has a component in all directions.
static __device__ constexpr u32 directions_across() {
    constexpr int normal[FACES][DIM] = REFERENCE_NORMALS;
    u32 bits = 0;
    for (int f = 0; f < FACES; ++f) {
        int d = 0;
        while (normal[f][d] == 0) ++d;
        bits |= d << 2 * f;
    }
    return bits;
}
static __device__ constexpr u32 slanted_faces() {
    constexpr int normal[FACES][DIM] = REFERENCE_NORMALS;
    u32 bits = 0;
    for (int f = 0; f < FACES; ++f) {
        bool all = true;
        for (int d = 0; d < DIM; ++d) all = all && normal[f][d] != 0;
        bits |= (u32)all << f;
    }
    return bits;
}
static __device__ __forceinline__ u32 across_direction(int face) {
    constexpr u32 bits = directions_across();
    return bits >> 2 * face & 3;
}
static __device__ __forceinline__ bool is_slanted(int face) {
    constexpr u32 bits = slanted_faces();
    return bits >> face & 1;
}

#if CURVED
// J∇r_d at a volume point; returns 1/J.
static __device__ __forceinline__ real volume_geometry(const Arguments& a, u32 element, u32 q, real (&g)[DIM * DIM]) {
#if QUADRATIC
    return reciprocal(quadratic_metric(a.map + (u64)element * RECORD, a.tables + PLACES_AT + q * DIM, g));
#else
    metric_at(a, element, q, g);
    return __ldg(a.inverse_jacobian + (u64)element * NQ + q);
#endif
}

// The duals of the directions across a face, which is Σ_d N̂_d J∇r_d but for its sign, and along it, at its
// point `q` of the element's; returns J. Read from memory they are divided by J, and J is 1.
static __device__ __forceinline__ real face_duals(const Arguments& a, const Published& p, u32 element, int face, u32 q,
                                                  real (&duals)[DIM * DIM]) {
    const u32 across = across_direction(face);
    real g[DIM * DIM], jacobian = 1;
#if QUADRATIC
    jacobian = quadratic_metric(a.map + (u64)element * RECORD, a.tables + PLACES_AT + (NQ + q) * DIM, g);
#else
    face_metric_at(a, p, element, q, g);
#endif
#pragma unroll
    for (int x = 0; x < DIM; ++x) {
        duals[x] = g[x];
#pragma unroll
        for (int d = 1; d < DIM; ++d) {
            duals[x] = across == d ? g[d * DIM + x] : duals[x];
            duals[d * DIM + x] = (u32)d <= across ? g[(d - 1) * DIM + x] : g[d * DIM + x];
        }
    }
    if (is_slanted(face)) {
#pragma unroll
        for (int d = 1; d < DIM; ++d)
#pragma unroll
            for (int x = 0; x < DIM; ++x) duals[x] += duals[d * DIM + x];
    }
    return jacobian;
}

// The length of Σ_d N̂_d J∇r_d, `across` but for its sign, and the normal.
static __device__ __forceinline__ real dual_normal(int face, const real (&duals)[DIM * DIM], real (&n)[DIM]) {
    real square = 0;
#pragma unroll
    for (int x = 0; x < DIM; ++x) square += duals[x] * duals[x];
    const real size = square_root(square), inverse = is_slanted(face) ? reciprocal(size) : -reciprocal(size);
#pragma unroll
    for (int x = 0; x < DIM; ++x) n[x] = inverse * duals[x];
    return size;
}

// The normal at point `q` of the element's face points; returns sJ.
static __device__ __forceinline__ real curved_normal(const Arguments& a, const Published& p, u32 element, int face, u32 q,
                                                     real (&n)[DIM]) {
    if (!QUADRATIC) return normal_at(a, element, face, q, n);
    real duals[DIM * DIM];
    face_duals(a, p, element, face, q, duals);
    return dual_normal(face, duals, n);
}

// The normal there, and the duals of the directions across and along the face: ∇r_d and a sum of them.
static __device__ __forceinline__ void face_directions(const Arguments& a, const Published& p, u32 element, int face, u32 q,
                                                       real (&n)[DIM], real (&along)[DIM * DIM]) {
    const real jacobian = face_duals(a, p, element, face, q, along);
    if (!QUADRATIC) {
        normal_at(a, element, face, q, n);
        return;
    }
    dual_normal(face, along, n);
    const real inverse = reciprocal(jacobian);
#pragma unroll
    for (int i = 0; i < DIM * DIM; ++i) along[i] *= inverse;
}
#endif
