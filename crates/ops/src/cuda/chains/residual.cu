// Fused residual and stage for any shape, order, basis and metric rule, with operators as sparse factors; see
// residual_pass.cuh.
//
// The threads of a block share the rows of each product and the points of each flux. All intermediate results
// are in work space.
//
// Macros beside those of passes.cuh: BLOCK threads; RULE (0 affine, 1 collocated, 2 weight-adjusted, 3
// stored); the chains INTERP, RESIDUAL, PROJECT; and the layout of the work space: FLUXES_AT, RATE_AT,
// POINTS_AT, EVEN_AT, ODD_AT, GAIN_AT and its size WORK; it is in shared memory if SHARED_WORK.

#include "metric_rule.cuh"
#include "passes.cuh"

constexpr int THREADS = BLOCK;
constexpr bool PERSISTENT = true;
constexpr u32 FLUXES = DIM * NQ + NF;  // rows of an element

struct Residual : ResidualKind {
    static constexpr bool AHEAD = false;

    real* u;            // states
    real* fluxes;       // F̂_0, …, f̂*; the rows of each element are contiguous
    real* rate;         // residual
    real* points;       // states at volume points
    real *even, *odd;   // intermediate results of chains
    real* gain;

    static DG_DEVICE real* room(const Arguments& a) { return work_space(a); }

    DG_DEVICE Residual(const Arguments& a, const Parameters& parameters, const Elements& elements, real* work)
        : ResidualKind(a, parameters, elements, work), u(work + STATE_AT), fluxes(work + FLUXES_AT),
          rate(work + RATE_AT), points(work + POINTS_AT), even(work + EVEN_AT), odd(work + ODD_AT), gain(work + GAIN_AT) {}

    DG_DEVICE void load() const {
        load_states(a, elements.slot, elements.n, u);
        dg_block_sync();
        if (!COLLOCATED) multiply_chain(a, INTERP, elements.n, u, even, odd, points);
    }

    DG_DEVICE void volume() const {
        for (u32 item = threadIdx.x; item < elements.n * NQ; item += BLOCK) {
            const u32 e = item / NQ, q = item % NQ;
            const real* x = (COLLOCATED ? u : points) + item * FIELDS;
            real state[FIELDS], g[DIM * DIM], f[DIM * FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) state[k] = x[k];
            metric_at(a, elements.first + e, q, g);
            volume_flux(parameters, state, g, f);
            real* y = fluxes + (e * FLUXES + q) * FIELDS;
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) y[d * NQ * FIELDS + k] = f[d * FIELDS + k];
        }
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond& beyond, real (&um)[FIELDS]) const {
        const real* from = DIRECT ? u + at.element * (NP * FIELDS) + beyond.own / ROW_STRIDE * FIELDS
                                  : a.traces + (u64)(elements.slot + at.element) * TRACE_BLOCK + at.q * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) um[k] = from[k];
    }

    DG_DEVICE void put(const FacePoint& at, const real (&f)[FIELDS]) const {
        real* y = fluxes + (at.element * FLUXES + DIM * NQ + at.q) * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k] = f[k];
    }

    // One product, then the metric rule and the stage.
    DG_DEVICE void finish() const {
        const u32 n = elements.n;
        multiply_chain(a, RESIDUAL, n, fluxes, even, odd, rate);
        if (a.source) {
            for (u32 item = threadIdx.x; item < n * NP; item += BLOCK) {
                const stored* s = a.source + (u64)(elements.slot + item / NP) * STATE_BLOCK + item % NP * ROW_STRIDE;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[item * FIELDS + k] += __ldg(s + k * FIELD_STRIDE);
            }
            dg_block_sync();
        }
        finish_elements(a, elements.first, n, u, rate, points, even, odd, gain);
        dg_block_sync();
    }
};

#include "residual_pass.cuh"
