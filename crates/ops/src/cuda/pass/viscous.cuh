// Both passes of diffusion: what the kinds of elements have in common.
#pragma once
#include "passes.cuh"
#include "published.cuh"

// When an element's part of the flux through a face point is published: with the numerical flux, or after it,
// before or after the fluxes at volume points.
enum Publishes { AT_ONCE, BEFORE_VOLUME, AFTER_VOLUME };

// The contravariant fluxes of both kinds at a volume point with the state `u`, the metric terms `g` and the
// physical gradient `grad`: F̂_d − Σ_x g_dx F_v,x, `[d][field]`. Without `convects` F̂ is omitted.
template <bool convects = true>
static __device__ __forceinline__ void contravariant_flux(const Parameters& parameters, const real (&u)[FIELDS],
                                                          const real (&g)[DIM * DIM], const real (&grad)[DIM * FIELDS],
                                                          real (&flux)[DIM * FIELDS]) {
    real diffusive[DIM * FIELDS];
    diffusive_flux(parameters, u, grad, diffusive);
    if (convects) volume_flux(parameters, u, g, flux);
#pragma unroll
    for (int i = 0; i < DIM * FIELDS && !convects; ++i) flux[i] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k)
#pragma unroll
            for (int x = 0; x < DIM; ++x) flux[d * FIELDS + k] -= g[d * DIM + x] * diffusive[x * FIELDS + k];
}

// The base of `Gradient`.
struct GradientKind : Kind {
    const Published& p;
    const Parameters& parameters;

    DG_DEVICE GradientKind(const Arguments& a, const Published& p, const Parameters& parameters, const Elements& elements,
                           real* work)
        : Kind(a, elements, work), p(p), parameters(parameters) {}

    DG_DEVICE void derive() const {}
    DG_DEVICE void derive_faces() const {}
};
