// First pass of diffusion on prisms with collocated nodes: one thread per node; see gradient_pass.cuh.
//
// Prisms are affine or curved, triangles times lines; operators come from prism_diffusion.rs. The state is
// [element][field][node] (PLANAR), as in prism.cu: node (z, t) is z TRIANGLE + t. A block processes a few
// elements.
//
// Macros beside those of common.cuh, with DIRECT = 1, COLLOCATED = 1 and PLANAR = 1, and those of prisms.cuh
// and normals.cuh:
// - ELEMENTS, BLOCKS: elements of a block, blocks per multiprocessor
// - ETA: weight of the liftings on their own faces
// - SEPARATE: contravariant fluxes have their own memory (1), or overwrite the gradients (0)
//
// `tables` contains those of prism.cu, then the layer's derivatives [direction][column][row] and the line's
// [row][column].

#include "viscous.cuh"
#include "prisms.cuh"

constexpr int THREADS = ELEMENTS * NP;
constexpr bool PERSISTENT = false;
// scalars of an element's gradients, or fluxes
constexpr int ROWS = DIM * FIELDS * NP;
constexpr int SLOPES_AT = ENTRIES;                                 // derivatives in a layer
constexpr int SLOPE_AT = SLOPES_AT + 2 * LAYER;                    // along a line
constexpr int ALL_ENTRIES = SLOPE_AT + NODES * NODES;
// Layout of shared memory.
constexpr int STATE_AT = (ALL_ENTRIES + 1) / 2 * 2;                // [element][field][node]
constexpr int FACES_AT = STATE_AT + ELEMENTS * FIELDS * NP;        // half jumps and numerical fluxes, [element][2 fields][place]
constexpr int GRADIENT_AT = FACES_AT + ELEMENTS * 2 * FIELDS * NF; // [element][x][field][node]
constexpr int FLUX_AT = GRADIENT_AT + (SEPARATE ? ELEMENTS * ROWS : 0);  // [element][direction][field][node]

struct Gradient : GradientKind {
    static constexpr Publishes PUBLISHES = SEPARATE ? AFTER_VOLUME : BEFORE_VOLUME;
    static constexpr bool AHEAD = true;

    real *faces, *state, *flux;
    const Own<NP> own;
    u32 z, t;  // layer and number of the node
    real u[FIELDS], g[DIM * DIM], grad[DIM * FIELDS], scale;

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (FLUX_AT + ELEMENTS * ROWS));
        return shared;
    }

    DG_DEVICE Gradient(const Arguments& a, const Published& p, const Parameters& parameters, const Elements& elements, real* work)
        : GradientKind(a, p, parameters, elements, work), faces(work + FACES_AT), own(elements),
          z(own.row / TRIANGLE), t(own.row % TRIANGLE) {
        state = work + STATE_AT + own.local * FIELDS * NP + own.row;
        flux = work + FLUX_AT + own.local * ROWS + own.row;
    }

    DG_DEVICE void load() {
        load_node(a.u + own.at(), u);
        for (u32 i = threadIdx.x; i < ALL_ENTRIES; i += THREADS) work[i] = __ldg(a.tables + i);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[k * NP] = u[k];
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond& beyond, real (&um)[FIELDS]) const {
        load_node(a.u + (u64)(elements.slot + at.element) * STATE_BLOCK + beyond.own, um);
    }

    // The unit normal, from the metric of the node if curved; returns the scale of the flux.
    DG_DEVICE real normal(const FacePoint& at, real (&n)[DIM]) const {
        real metric[DIM * DIM];
        if (CURVED) metric_at(a, elements.first + at.element, __ldg(a.own + at.q), metric);
        return face_normal(a, elements.first + at.element, at.face, metric, n);
    }

    DG_DEVICE void keep(const FacePoint& at, const real (&jump)[FIELDS], const real (&f)[FIELDS]) const {
        real* y = faces + at.element * 2 * FIELDS * NF + face_place[at.q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            y[k * NF] = jump[k];
            y[(FIELDS + k) * NF] = f[k];
        }
    }

    DG_DEVICE void derive() {
        metric_at(a, own.element, own.row, g);
        scale = CURVED ? __ldg(a.inverse_jacobian + (u64)own.element * NP + own.row) : (real)1;
        real slope[DIM * FIELDS];
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) slope[i] = 0;
        const real *layer = state - t, *line = state - z * TRIANGLE;
#pragma unroll
        for (int m = 0; m < TRIANGLE; ++m) {
            const real r = work[SLOPES_AT + m * TRIANGLE + t], s = work[SLOPES_AT + LAYER + m * TRIANGLE + t];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real v = layer[k * NP + m];
                slope[k] += r * v;
                slope[FIELDS + k] += s * v;
            }
        }
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real c = work[SLOPE_AT + z * NODES + m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) slope[2 * FIELDS + k] += c * line[k * NP + m * TRIANGLE];
        }
        physical_gradient(g, slope, grad);
        real* kept = work + GRADIENT_AT + own.local * ROWS + own.row;
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) kept[i * NP] = grad[i] *= scale;
        dg_block_sync();
    }

    DG_DEVICE void face_gradient(const FacePoint& at, real (&um)[FIELDS], real (&)[FIELDS],
                                                  real (&f)[FIELDS], real (&lifted)[DIM * FIELDS]) const {
        const u32 node = __ldg(a.own + at.q), place = face_place[at.q];
        const real* y = faces + at.element * 2 * FIELDS * NF;
        const real* from = work + GRADIENT_AT + at.element * ROWS + node;
        real lift[FIELDS], n[DIM];
        if (place < 2 * TRIANGLE) {
            const real c = work[ENDS_AT + place / TRIANGLE];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) lift[k] = c * y[k * NF + place];
        } else {
            const u32 row = (place - 2 * TRIANGLE) / NODES;  // [side][layer]
            const real* c = work + SIDES_AT + row / NODES * NODES * TRIANGLE + node % TRIANGLE;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) lift[k] = 0;
#pragma unroll
            for (int m = 0; m < NODES; ++m)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) lift[k] += c[m * TRIANGLE] * y[k * NF + 2 * TRIANGLE + row * NODES + m];
        }
        // Σ_d N̂_d ∇r_d is the normal times sJ/J.
        real weight = (real)(ETA) * normal(at, n);
        if (CURVED) weight *= __ldg(a.inverse_jacobian + (u64)(elements.first + at.element) * NP + node);
#pragma unroll
        for (int x = 0; x < DIM; ++x) {
            const real c = weight * n[x];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) lifted[x * FIELDS + k] = from[(x * FIELDS + k) * NP] + c * lift[k];
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            um[k] = work[STATE_AT + (at.element * FIELDS + k) * NP + node];
            f[k] = y[(FIELDS + k) * NF + place];
        }
    }

    DG_DEVICE void volume() {
        const real* jumps = faces + own.mine * 2 * FIELDS * NF;
        constexpr int normals[3][2] = SIDE_NORMALS;
        real lift[2 * FIELDS];
#pragma unroll
        for (int i = 0; i < 2 * FIELDS; ++i) lift[i] = 0;
#pragma unroll
        for (int side = 0; side < 3; ++side) {
            real sum[FIELDS];
            side_sum(work + SIDES_AT, jumps, side, z, t, sum);
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (normals[side][d] != 0) lift[d * FIELDS + k] += normals[side][d] * sum[k];
        }
#pragma unroll
        for (int x = 0; x < DIM; ++x)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                grad[x * FIELDS + k] += scale * (g[x] * lift[k] + g[DIM + x] * lift[FIELDS + k]);
        if (z == 0 || z == NODES - 1) {
            const u32 end = z == 0 ? 0 : 1;
            const real c = work[ENDS_AT + end] * (end == 0 ? -scale : scale);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real more = c * jumps[k * NF + end * TRIANGLE + t];
#pragma unroll
                for (int x = 0; x < DIM; ++x) grad[x * FIELDS + k] += g[2 * DIM + x] * more;
            }
        }
        real f[DIM * FIELDS];
#if COEFFICIENTS
        const Parameters parameters = own_parameters(this->parameters, p, own.slot);
#endif
        contravariant_flux(parameters, u, g, grad, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) flux[i * NP] = f[i];
    }

    // Sums over the layer and the line.
    DG_DEVICE void store() const {
        if (!own.exists) return;
        const u64 at = own.at();
        real rate[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] = p.source ? (real)__ldg(p.source + at + k * NP) : (real)0;
        const real *layer = flux - t, *line = flux + 2 * FIELDS * NP - z * TRIANGLE;
#pragma unroll
        for (int m = 0; m < TRIANGLE; ++m)
#pragma unroll
            for (int d = 0; d < 2; ++d) {
                const real c = work[d * LAYER + m * TRIANGLE + t];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] += c * layer[(d * FIELDS + k) * NP + m];
            }
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real c = work[LINE_AT + z * NODES + m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += c * line[k * NP + m * TRIANGLE];
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
    }
};

#include "gradient_pass.cuh"
