// Fused residual and stage on prisms with collocated nodes: one thread per node; see residual_pass.cuh.
//
// Prisms are affine or curved, with the nodes of a triangle times those of a line; operators come from
// prism.rs. The state is [element][field][node] (PLANAR), layer after layer: node (z, t) is z TRIANGLE + t. A
// block processes a few elements.
//
// Macros beside those of common.cuh, with DIRECT = 1, COLLOCATED = 1 and PLANAR = 1, and those of prisms.cuh:
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - NORMALS, REFERENCE_NORMALS: see normals.cuh; as face points are nodes, normals follow from the metric
//   there

#include "passes.cuh"
#include "prisms.cuh"

constexpr int THREADS = ELEMENTS * NP;
constexpr bool PERSISTENT = false;
// Layout of shared memory.
constexpr int FLUX_AT = (ENTRIES + 1) / 2 * 2;                             // [element][direction][field][node]
constexpr int FACE_FLUX_AT = FLUX_AT + ELEMENTS * DIM * FIELDS * NP;       // [element][field][place]

struct Residual : ResidualKind {
    static constexpr bool AHEAD = true;

    real* flux;
    const Own<NP> own;
    const bool reads_register;
    real u[FIELDS], before[FIELDS];

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * NF));
        return shared;
    }

    DG_DEVICE Residual(const Arguments& a, const Parameters& parameters, const Elements& elements, real* work)
        : ResidualKind(a, parameters, elements, work),
          flux(work + FLUX_AT + threadIdx.x / NP * DIM * FIELDS * NP), own(elements), reads_register(STAGE && a.a != 0.0) {
        load_node(a.u + own.at(), u);
    }

    // The register is loaded before the arithmetic.
    DG_DEVICE void load() {
        if (reads_register) load_register(a.reg + own.at(), before);
        for (u32 i = threadIdx.x; i < ENTRIES; i += THREADS) work[i] = __ldg(a.tables + i);
    }

    DG_DEVICE void volume() const {
        real g[DIM * DIM], f[DIM * FIELDS];
        metric_at(a, own.element, own.row, g);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) flux[i * NP + own.row] = f[i];
    }

    DG_DEVICE u32 node_of(const FacePoint& at) const { return __ldg(a.own + at.q); }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond&, real (&um)[FIELDS]) const {
        load_node(a.u + (u64)(elements.slot + at.element) * STATE_BLOCK + node_of(at), um);
    }

    DG_DEVICE real normal(const FacePoint& at, real (&n)[DIM]) const {
        const u32 element = elements.first + at.element;
        if (!NORMALS) return normal_at(a, element, at.face, at.q, n);
        real g[DIM * DIM];
        metric_at(a, element, node_of(at), g);
        return face_normal(a, element, at.face, g, n);
    }

    DG_DEVICE void put(const FacePoint& at, const real (&f)[FIELDS]) const {
        real* y = work + FACE_FLUX_AT + at.element * NF * FIELDS + face_place[at.q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    }

    // Sums over the layer, the line, and their faces.
    DG_DEVICE void finish() const {
        if (!own.exists) return;
        const u32 z = own.row / TRIANGLE, t = own.row % TRIANGLE;
        const real *layer = flux + z * TRIANGLE, *line = flux + 2 * FIELDS * NP + t;
        const real* faces = work + FACE_FLUX_AT + own.local * NF * FIELDS;
        real rate[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
        for (int m = 0; m < TRIANGLE; ++m)
#pragma unroll
            for (int d = 0; d < 2; ++d) {
                const real p = work[d * LAYER + m * TRIANGLE + t];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] += p * layer[(d * FIELDS + k) * NP + m];
            }
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real p = work[LINE_AT + z * NODES + m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += p * line[k * NP + m * TRIANGLE];
        }
#pragma unroll
        for (int side = 0; side < 3; ++side)
#pragma unroll
            for (int m = 0; m < NODES; ++m) {
                const real p = work[SIDES_AT + (side * NODES + m) * TRIANGLE + t];
                const real* f = faces + 2 * TRIANGLE + (side * NODES + z) * NODES + m;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] -= p * f[k * NF];
            }
        if (z == 0 || z == NODES - 1) {
            const u32 end = z == 0 ? 0 : 1;
            const real p = work[ENDS_AT + end];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= p * faces[k * NF + end * TRIANGLE + t];
        }
#ifdef SOURCE
        add_node(a.source + own.at(), rate);
#endif
        apply_inverse_jacobian(a, (u64)own.element * NP + own.row, rate);
        finish_node(a, stage_factors(a, own.slot), reads_register, before, own.at(), u, rate);
    }
};

#include "residual_pass.cuh"
