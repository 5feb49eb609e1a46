// What passes between the two passes of diffusion: jumps on boundaries, one-sided normal fluxes, finished rows. The
// host's twins are published.rs and viscous.rs.

// Mirrored by `PublishedArguments` in published.rs.
struct Published {
    const real* jumps;     // u_b − u⁻ at the points of boundaries, as the exterior buffer
    real* gradients;       // physical gradients there, [boundary point][x][field]
    real* fluxes;          // of the group: one-sided normal fluxes, [slot][face point][field]
    const real* exterior;  // those of other groups and what stands for them on boundaries, [face][point][field]
    const u32* rows;       // [code][point]: first scalar of the row in a block of `fluxes`
    const real* metric;    // of the part: ∇r_d at face points, [element][point][d][x]; curved only
    real* kept;            // of the group: rows before the metric rule, as the state
    const real* source;    // of the group: rows of the source, as the state, or null
    u32 boundary;          // scalars of the exterior buffer that belong to boundaries; they come first
    u32 table_len;         // entries of a table of rows
};

static_assert(LANES == 1, "published fluxes are laid out element by element");

// Where a face's state lies in the arrays of boundary points; −1 if it is not on a boundary.
static __device__ __forceinline__ long long boundary_begin(const Arguments& a, const Published& p, const Across& r) {
    if (r.rows != nullptr) return -1;
    const long long at = r.source - a.exterior;
    return at < (long long)p.boundary ? at : -1;
}

// What is lifted at a face point: ½ (u⁺ − u⁻), or u_b − u⁻ on a boundary.
static __device__ __forceinline__ void half_jump(const Published& p, long long boundary, u32 point,
                                                 const real (&um)[FIELDS], const real (&up)[FIELDS],
                                                 real (&jump)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k)
        jump[k] = boundary < 0 ? (real)0.5 * (up[k] - um[k]) : __ldg(p.jumps + boundary + point * FIELDS + k);
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
    const real* from = CURVED ? p.metric + ((u64)element * NF + q) * (DIM * DIM) : a.metric + (u64)element * (DIM * DIM);
#pragma unroll
    for (int i = 0; i < DIM * DIM; ++i) metric[i] = __ldg(from + i);
}

// Publishes the one-sided normal flux at a face point; `gradient` is physical. On a boundary the gradient is kept too.
static __device__ __forceinline__ void publish(const Parameters& parameters, const Published& p, u32 slot, u32 q,
                                               long long boundary, u32 point, const real (&um)[FIELDS],
                                               const real (&gradient)[DIM * FIELDS], const real (&n)[DIM]) {
    real f[FIELDS];
    normal_diffusive_flux(parameters, um, gradient, n, f);
    real* to = p.fluxes + (u64)slot * TRACE_BLOCK + q * FIELDS;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) to[k] = f[k];
    if (boundary < 0) return;
    real* kept = p.gradients + (u64)(boundary + point * FIELDS) * DIM;
#pragma unroll
    for (int i = 0; i < DIM * FIELDS; ++i) kept[i] = gradient[i];
}

// Where the published fluxes across a face lie.
static __device__ __forceinline__ Across fluxes_across(const Arguments& a, const Published& p, u32 slot, u32 face) {
    const u32 to = __ldg(a.across + (u64)slot * FACES + face);
    const u32 code = __ldg(a.code + (u64)slot * FACES + face);
    Across r;
    r.source = code == EXTERIOR ? p.exterior + to : p.fluxes + (u64)to * TRACE_BLOCK;
    r.rows = code == EXTERIOR ? nullptr : p.rows + code * p.table_len;
    return r;
}

// The mean diffusive flux through a face point, outward, times `scale`: ½ (F⁻ − F⁺), as each side's flux points out of it.
static __device__ __forceinline__ void mean_flux(const Published& p, const Across& r, u32 slot, u32 q, u32 point, real scale,
                                                 real (&f)[FIELDS]) {
    const real* own = p.fluxes + (u64)slot * TRACE_BLOCK + q * FIELDS;
    const real* other = r.source + (r.rows ? __ldg(r.rows + point) : point * FIELDS);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) f[k] = (real)0.5 * scale * (__ldg(own + k) - __ldg(other + k));
}
