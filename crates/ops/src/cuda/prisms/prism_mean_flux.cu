// Second pass of diffusion on prisms with collocated nodes: one thread per node; see mean_flux_pass.cuh.
//
// Prisms are affine or curved. Macros and layouts as in prism_gradient.cu, and STAGE.

#include "viscous.cuh"
#include "prisms.cuh"

constexpr int THREADS = ELEMENTS * NP;
constexpr bool PERSISTENT = false;
constexpr int LIFTS = 3 * NODES * TRIANGLE;
// Layout of shared memory: lifts of the sides, then fluxes times their scale, [element][field][place].
constexpr int FACE_FLUX_AT = (LIFTS + 1) / 2 * 2;

struct MeanFlux : Kind {
    const Own<NP> own;
    const bool reads_register;
    real end_lift;
    real rate[FIELDS], u[FIELDS], before[FIELDS];

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * NF));
        return shared;
    }

    DG_DEVICE MeanFlux(const Arguments& a, const Published& p, const Elements& elements, real* work)
        : Kind(a, elements, work), own(elements), reads_register(STAGE && a.a != 0.0) {
        const u64 at = own.at();
        load_node(p.kept + at, rate);
        if (STAGE) load_node(a.u + at, u);
        if (reads_register) load_register(a.reg + at, before);
        end_lift = __ldg(a.tables + ENDS_AT + end());
        for (u32 i = threadIdx.x; i < LIFTS; i += THREADS) work[i] = __ldg(a.tables + SIDES_AT + i);
    }

    // The face that the node is on, if it is on the lower or the upper one.
    DG_DEVICE u32 end() const { return own.row / TRIANGLE == 0 ? 0 : 1; }

    DG_DEVICE void put(u32 e, u32 q, const real (&f)[FIELDS]) const {
        real* y = work + FACE_FLUX_AT + e * NF * FIELDS + face_place[q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    }

    // Each node sums over the face points of its layer and its line.
    DG_DEVICE void finish() {
        if (!own.exists) return;
        const u32 z = own.row / TRIANGLE, t = own.row % TRIANGLE;
        const real* fluxes = work + FACE_FLUX_AT + own.local * NF * FIELDS;
#pragma unroll
        for (int side = 0; side < 3; ++side) {
            real sum[FIELDS];
            side_sum(work, fluxes, side, z, t, sum);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= sum[k];
        }
        if (z == 0 || z == NODES - 1) {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= end_lift * fluxes[k * NF + end() * TRIANGLE + t];
        }
        apply_inverse_jacobian(a, (u64)own.element * NP + own.row, rate);
        finish_node(a, stage_factors(a, own.slot), reads_register, before, own.at(), u, rate);
    }
};

#include "mean_flux_pass.cuh"
