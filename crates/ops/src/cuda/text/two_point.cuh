// Two-point fluxes of split forms between the Gauss–Lobatto nodes of each line.
//
// For quadrilaterals and hexahedra. Same computation as two_point.rs on the host.
//
// Macros and functions beside those of common.cuh, with SPLIT = 1: NODES of a line, `power`, and LINE, the
// row of the 1-D matrix in shared memory.

// Adds −Σ_d Σ_{m ≠ i} 2 D_im f#(u_i, u_m, ½ (G_i + G_m)_d) to `rate`, where m runs over the other nodes of
// the line of `node` in direction d. `matrix` is that of the strong form, which is −D except for the two
// entries at its corners; `states` are those of the element, [field][node]; `u` and `g` are state and metric
// of the node. Each pair is computed twice, once from either end, so that no thread waits for another.
static __device__ __forceinline__ void add_two_point_fluxes(const Arguments& a, const Parameters& parameters, u32 element,
                                                            u32 node, const real* matrix, const real* states,
                                                            const real (&u)[FIELDS], const real (&g)[DIM * DIM],
                                                            real (&rate)[FIELDS]) {
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES, begin = node - i * power(d);
        const real* row = matrix + i * LINE;
#pragma unroll 1
        for (u32 s = 1; s < NODES; ++s) {
            const u32 m = i + s < NODES ? i + s : i + s - NODES, other = begin + m * power(d);
            real across[FIELDS], twice[DIM], f[FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) across[k] = states[k * NP + other];
            // Twice the mean, as fluxes are linear in the normal.
#pragma unroll
            for (int x = 0; x < DIM; ++x)
                twice[x] = g[d * DIM + x] + (CURVED ? (real)__ldg(a.metric + ((u64)element * NP + other) * (DIM * DIM) + d * DIM + x)
                                                    : g[d * DIM + x]);
            two_point_flux(parameters, u, across, twice, f);
            const real c = row[m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += c * f[k];
        }
    }
}
