// Second pass of diffusion for any shape, order, basis and metric rule; see mean_flux_pass.cuh.
//
// Macros beside those of passes.cuh: BLOCK threads, the chain LIFT, the macros of metric_rule.cuh, and the
// layout of the work space: FLUXES_AT, RATE_AT, POINTS_AT, EVEN_AT, ODD_AT, GAIN_AT and its size WORK; it is
// in shared memory if SHARED_WORK.

#include "metric_rule.cuh"
#include "viscous.cuh"

static_assert(!PLANAR, "groups that these kernels work on are laid out row by row");
constexpr int THREADS = BLOCK;
constexpr bool PERSISTENT = true;

struct MeanFlux : Kind {
    const Published& p;

    static DG_DEVICE real* room(const Arguments& a) { return work_space(a); }

    DG_DEVICE MeanFlux(const Arguments& a, const Published& p, const Elements& elements, real* work)
        : Kind(a, elements, work), p(p) {}

    // Negative, as they are lifted with the opposite sign; [element][face point][field].
    DG_DEVICE void put(u32 e, u32 q, const real (&f)[FIELDS]) const {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) work[FLUXES_AT + (e * NF + q) * FIELDS + k] = -f[k];
    }

    DG_DEVICE void finish() const {
        const u32 n = elements.n;
        real *rate = work + RATE_AT, *even = work + EVEN_AT, *odd = work + ODD_AT;
        multiply_chain(a, LIFT, n, work + FLUXES_AT, even, odd, rate);
        for (u32 i = threadIdx.x; i < n * STATE_BLOCK; i += BLOCK) rate[i] += p.kept[elements.begin + i];
        dg_block_sync();
        finish_elements(a, elements.first, n, a.u + elements.begin, rate, work + POINTS_AT, even, odd, work + GAIN_AT);
        dg_block_sync();
    }
};

#include "mean_flux_pass.cuh"
