// Data exchanged between the two passes of diffusion: jumps on boundaries, published fluxes, stored rows.
//
// Same data as in published.rs and diffusion_passes.rs on the host; here an element publishes its part of the
// flux through the face, f* included.

#pragma once
#include "rows.cuh"

// Mirrored by `PublishedArguments` in published.rs.
struct Published {
    const stored* jumps;     // u_b − u⁻ at the points of boundaries, in the order of the exterior buffer
    stored* gradients;       // physical gradients there, [boundary point][x][field]
    stored* fluxes;          // of the group: what an element adds to normal fluxes, [slot][face point][field] or, PLANAR,
                           // [slot][field][face point]
    // published fluxes of other groups and their replacements on boundaries, [face][point][field]
    const stored* exterior;
    const u32* rows;       // [code][point]: offset of the row in a block of `fluxes`
    const stored* metric;    // of the part: ∇r_d at face points, [element][point][d][x]; curved only
    // of the group: rows of the first pass for the second, in the layout of the state; see `Keep`
    stored* kept;
    const stored* source;    // of the group: rows of the source, in the layout of the state, or null
    // of the group: half jumps, in the layout of `fluxes`, if one kernel processes faces and another the
    // volume
    stored* lifted;
    u32 boundary;          // scalars of the exterior buffer that belong to boundaries; they come first
    u32 table_len;         // entries of a table of rows
#if COEFFICIENTS
    const stored* coefficients;  // of the group: the coefficient of the diffusive flux, [slot]
#endif
};

#if COEFFICIENTS
// The parameters of an element's law: those of all, with the element's coefficient.
static __device__ __forceinline__ Parameters own_parameters(const Parameters& parameters, const Published& p, u32 slot) {
    Parameters own = parameters;
    own.mixing = __ldg(p.coefficients + slot);
    return own;
}

#endif
static_assert(LANES == 1, "published fluxes are laid out element by element");
// Strides in `fluxes`: between face points, and between unknowns.
constexpr u32 FLUX_ROW = PLANAR ? 1 : FIELDS, FLUX_FIELD = PLANAR ? NF : 1;

// Offset of a face's state in the arrays of boundary points; −1 if the face is not on a boundary.
static __device__ __forceinline__ long long boundary_begin(const Arguments& a, const Published& p, const Across& r) {
    if (r.rows != nullptr) return -1;
    const long long at = r.values - a.exterior;
    return at < (long long)p.boundary ? at : -1;
}

// The lifted jump at a face point: ½ (u⁺ − u⁻), or u_b − u⁻ on a boundary.
static __device__ __forceinline__ void half_jump(const Published& p, long long boundary, u32 point,
                                                 const real (&um)[FIELDS], const real (&up)[FIELDS],
                                                 real (&jump)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k)
        jump[k] = boundary < 0 ? (real)0.5 * (up[k] - um[k]) : (real)__ldg(p.jumps + boundary + point * FIELDS + k);
}

// Σ_d ∇r_d g_d, `[x][field]`.
static __device__ __forceinline__ void physical_gradient(const real (&metric)[DIM * DIM], const real (&g)[DIM * FIELDS],
                                                         real (&out)[DIM * FIELDS]) {
#pragma unroll
    for (int x = 0; x < DIM; ++x)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            real sum = metric[x] * g[k];
#pragma unroll
            for (int d = 1; d < DIM; ++d) sum += metric[d * DIM + x] * g[d * FIELDS + k];
            out[x * FIELDS + k] = sum;
        }
}

// ∇r_d at a face point.
static __device__ __forceinline__ void face_metric_at(const Arguments& a, const Published& p, u32 element, u32 q,
                                                      real (&metric)[DIM * DIM]) {
    const stored* from = CURVED ? p.metric + ((u64)element * NF + q) * (DIM * DIM) : a.metric + (u64)element * (DIM * DIM);
#pragma unroll
    for (int i = 0; i < DIM * DIM; ++i) metric[i] = __ldg(from + i);
}

// Publishes the element's part of the normal flux at a face point: ½ (f* − F·n), with the numerical flux `f`
// and the element's own diffusive flux; `gradient` is physical. Each side uses its outward normal, so that
// the flux through the point is this value minus that of the other side: f* − ½ (F·n − F'·n'). On a boundary
// the published value is f*, and the gradient is stored: the diffusive flux is computed by the boundary
// condition.
static __device__ __forceinline__ void publish(const Parameters& parameters, const Published& p, u32 slot, u32 q,
                                               long long boundary, u32 point, const real (&um)[FIELDS],
                                               const real (&gradient)[DIM * FIELDS], const real (&n)[DIM],
                                               const real (&f)[FIELDS]) {
    real diffusive[FIELDS];
#if COEFFICIENTS
    normal_diffusive_flux(own_parameters(parameters, p, slot), um, gradient, n, diffusive);
#else
    normal_diffusive_flux(parameters, um, gradient, n, diffusive);
#endif
    stored* to = p.fluxes + (u64)slot * TRACE_BLOCK + q * FLUX_ROW;
    real own[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) own[k] = boundary < 0 ? (real)0.5 * (f[k] - diffusive[k]) : f[k];
    if (!PLANAR) store_row(to, own);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k)
        if (PLANAR) to[k * FLUX_FIELD] = own[k];
    if (boundary < 0) return;
    stored* kept = p.gradients + (u64)(boundary + point * FIELDS) * DIM;
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) kept[i] = gradient[i];
}

// Location of the published fluxes across a face.
static __device__ __forceinline__ Across fluxes_across(const Arguments& a, const Published& p, u32 slot, u32 face) {
    const u32 to = __ldg(a.across + (u64)slot * FACES + face);
    const u32 code = __ldg(a.code + (u64)slot * FACES + face);
    Across r;
    r.values = code == EXTERIOR ? p.exterior + to : p.fluxes + (u64)to * TRACE_BLOCK;
    r.rows = code == EXTERIOR ? nullptr : p.rows + code * p.table_len;
    return r;
}

// Stores the rows `R` of the first pass. The fast kernels store `R` or, if a stage follows, `a reg + dt R`,
// so that the second pass, which is limited by memory bandwidth, need not read the register.
struct Keep {
    real a, dt;
    bool reads_register;
};

static __device__ __forceinline__ Keep keep_factors(const Arguments& a, u32 slot) {
    Keep k;
    k.reads_register = a.step != nullptr && a.a != 0.0;
    k.a = (real)a.a;
    k.dt = (real)(a.step != nullptr ? *a.step : 1.0);
    if (a.step != nullptr && a.local) k.dt *= __ldg(a.local + slot);
    return k;
}

// The coefficients of the second pass's stage, if the first pass has stored `a reg + dt R`.
static __device__ __forceinline__ StageFactors kept_factors(const Arguments& a, u32 slot) {
    StageFactors s = stage_factors(a, slot);
    s.a = 1;
    return s;
}

// The flux through a face point, outward, times `scale`.
static __device__ __forceinline__ void common_flux(const Published& p, const Across& r, u32 slot, u32 q, u32 point,
                                                   real scale, real (&f)[FIELDS]) {
    const stored* own = p.fluxes + (u64)slot * TRACE_BLOCK + q * FLUX_ROW;
    const stored* other = r.values + (r.rows ? __ldg(r.rows + point) : point * FIELDS);
    const u32 stride = r.rows ? FLUX_FIELD : 1;
    real mine[FIELDS], theirs[FIELDS];
    if (!PLANAR) {
        load_row_constant(own, mine);
        load_row_constant(other, theirs);
    }
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        if (PLANAR) {
            mine[k] = __ldg(own + k * FLUX_FIELD);
            theirs[k] = __ldg(other + k * stride);
        }
        f[k] = scale * (mine[k] - theirs[k]);
    }
}

// The flux through point `q` of element `element` of the part, outward, times its scale and `lift`; the point
// is number `number` of face `face`.
static __device__ __forceinline__ void flux_through(const Arguments& a, const Published& p, u32 element, u32 face,
                                                    u32 number, u32 q, real lift, real (&f)[FIELDS]) {
    real normal[DIM];
    const real scale = normal_at(a, element, face, q, normal) * lift;
    const u32 slot = a.first + element;
    common_flux(p, fluxes_across(a, p, slot, face), slot, q, number, scale, f);
}

// Finishes the stage at a node, where the first pass has stored `kept`; `r` is the residual of the common
// fluxes.
static __device__ __forceinline__ void finish_kept(const Arguments& a, u32 slot, u64 at, const real (&kept)[FIELDS],
                                                   const real (&u)[FIELDS], real (&r)[FIELDS]) {
    const StageFactors s = kept_factors(a, slot);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) r[k] += STAGE ? (real)0 : kept[k];
    finish_node(a, s, STAGE, kept, at, u, r);
}
