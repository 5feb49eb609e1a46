// First pass of diffusion for any shape, order, basis and metric rule; see gradient_pass.cuh.
//
// Macros beside those of passes.cuh: BLOCK threads, the chains GRADIENT, FACE_GRADIENT and RESIDUAL, and the
// layout of the work space: JOINED_AT, GRADIENTS_AT, FLUXES_AT, EVEN_AT, ODD_AT and its size WORK; it is in
// shared memory if SHARED_WORK.

#include "viscous.cuh"

// Numbers of rows of an element: states and half jumps; states at volume points and gradients; fluxes.
constexpr u32 JOINED = NP + NF, GRADIENTS = (COLLOCATED ? 0 : NQ) + DIM * NQ, FLUXES = DIM * NQ + NF;
constexpr int THREADS = BLOCK;
constexpr bool PERSISTENT = true;

static_assert(!PLANAR, "groups that these kernels work on are laid out row by row");

struct Gradient : GradientKind {
    static constexpr Publishes PUBLISHES = AFTER_VOLUME;
    static constexpr bool AHEAD = false;

    real* joined;         // states beside half jumps; at the end, the finished rows
    real* gradients;      // at volume points, then at face points
    real* fluxes;         // F̂_0, …, f̂*
    real *even, *odd;     // intermediate results of chains

    static DG_DEVICE real* room(const Arguments& a) { return work_space(a); }

    DG_DEVICE Gradient(const Arguments& a, const Published& p, const Parameters& parameters, const Elements& elements, real* work)
        : GradientKind(a, p, parameters, elements, work), joined(work + JOINED_AT), gradients(work + GRADIENTS_AT),
          fluxes(work + FLUXES_AT), even(work + EVEN_AT), odd(work + ODD_AT) {}

    DG_DEVICE void load() const {
        for (u32 i = threadIdx.x; i < elements.n * STATE_BLOCK; i += BLOCK)
            joined[i / STATE_BLOCK * JOINED * FIELDS + i % STATE_BLOCK] = __ldg(a.u + elements.begin + i);
        dg_block_sync();
    }

    DG_DEVICE void own_trace(const FacePoint& at, u32 own, real (&um)[FIELDS]) const {
        const real* from = DIRECT ? joined + at.element * JOINED * FIELDS + own
                                  : a.traces + (u64)(elements.slot + at.element) * TRACE_BLOCK + at.q * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) um[k] = from[k];
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond& beyond, real (&um)[FIELDS]) const {
        own_trace(at, beyond.own, um);
    }

    DG_DEVICE void keep(const FacePoint& at, const real (&jump)[FIELDS], const real (&f)[FIELDS]) const {
        real* x = joined + (at.element * JOINED + NP + at.q) * FIELDS;
        real* y = fluxes + (at.element * FLUXES + DIM * NQ + at.q) * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            x[k] = jump[k];
            y[k] = f[k];
        }
    }

    DG_DEVICE void derive() const {
        multiply_chain(a, GRADIENT, elements.n, joined, even, odd, gradients);
    }

    DG_DEVICE void volume() const {
        for (u32 item = threadIdx.x; item < elements.n * NQ; item += BLOCK) {
            const u32 e = item / NQ, q = item % NQ;
            const real* x = COLLOCATED ? joined + (e * JOINED + q) * FIELDS : gradients + (e * GRADIENTS + q) * FIELDS;
            const real* slope = gradients + (e * GRADIENTS + (COLLOCATED ? 0 : NQ) + q) * FIELDS;
            real state[FIELDS], g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS], f[DIM * FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) state[k] = x[k];
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d * NQ * FIELDS + k];
            metric_at(a, elements.first + e, q, g);
            physical_gradient(g, reference, grad);
            if (CURVED) {
                const real s = __ldg(a.inverse_jacobian + (u64)(elements.first + e) * NQ + q);
#pragma unroll
                for (int i = 0; i < DIM * FIELDS; ++i) grad[i] *= s;
            }
#if COEFFICIENTS
            const Parameters parameters = own_parameters(this->parameters, p, elements.slot + e);
#endif
            contravariant_flux(parameters, state, g, grad, f);
            real* y = fluxes + (e * FLUXES + q) * FIELDS;
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) y[d * NQ * FIELDS + k] = f[d * FIELDS + k];
        }
    }

    DG_DEVICE void derive_faces() const {
        dg_block_sync();
        multiply_chain(a, FACE_GRADIENT, elements.n, joined, even, odd, gradients);
    }

    DG_DEVICE void face_gradient(const FacePoint& at, real (&um)[FIELDS], real (&)[FIELDS],
                                                  real (&f)[FIELDS], real (&grad)[DIM * FIELDS]) const {
        own_trace(at, DIRECT ? __ldg(a.own + at.q) : 0, um);
        real g[DIM * DIM], reference[DIM * FIELDS];
        const real* slope = gradients + (at.element * DIM * NF + at.q) * FIELDS;
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d * NF * FIELDS + k];
        face_metric_at(a, p, elements.first + at.element, at.q, g);
        physical_gradient(g, reference, grad);
        // The second pass lifts the flux.
        real* y = fluxes + (at.element * FLUXES + DIM * NQ + at.q) * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            f[k] = y[k];
            y[k] = 0;
        }
    }

    DG_DEVICE void store() const {
        multiply_chain(a, RESIDUAL, elements.n, fluxes, even, odd, joined);
        for (u32 i = threadIdx.x; i < elements.n * STATE_BLOCK; i += BLOCK) {
            const real r = joined[i];
            p.kept[elements.begin + i] = p.source ? r + __ldg(p.source + elements.begin + i) : r;
        }
        dg_block_sync();
    }
};

#include "gradient_pass.cuh"
