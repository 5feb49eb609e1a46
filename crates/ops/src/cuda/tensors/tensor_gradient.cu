// First pass of diffusion on quadrilaterals and hexahedra with Gauss–Lobatto nodes: one thread per node; see
// gradient_pass.cuh.
//
// Elements are affine or curved, nodes collocated; operators come from tensor.rs. A block processes a few
// elements. States of hexahedra are [element][field][node] (PLANAR), so that the threads of a warp access
// consecutive addresses; those of quadrilaterals, whose unknowns are loaded in pairs, are
// [element][node][field].
//
// Macros beside those of common.cuh, with DIRECT = 1 and COLLOCATED = 1, and those of lines.cuh:
// - ELEMENTS, BLOCKS: elements of a block, blocks per multiprocessor
// - ETA: weight of the liftings on their own faces
// - SPLIT: two-point fluxes of the convective part along the lines (1); then only its numerical flux is
//   lifted
// - SEPARATE: contravariant fluxes have their own memory (1), or overwrite the gradients (0)
//
// `tables` contains the 1-D matrix P, [node][node], the lifts at both ends, and the 1-D derivative.

#include "lines.cuh"
#include "viscous.cuh"

constexpr int THREADS = ELEMENTS * NP;
constexpr bool PERSISTENT = false;
// row of a matrix in shared memory, padded against bank conflicts
constexpr int LINE = NODES | 1;
// Sizes in shared memory: of a plane of nodes; of the nodes, the state and the fluxes of an element; of the
// points of a face and of an element. If lines have four nodes, four adjacent lanes read the same number of a
// line. The warp needs one transaction if all lines are in different banks: planes (or elements, in two
// dimensions) are therefore one number further apart, and faces three, for the nodes of opposite faces.
constexpr bool MOVED = NODES == 4 && !SPLIT;
constexpr int PLANE = DIM == 3 ? NODES * NODES + MOVED : 0;
constexpr int FIELD = DIM == 3 ? NODES * PLANE : NP;
constexpr int STATE = FIELDS * FIELD + (MOVED && DIM == 2);
constexpr int FLUX = DIM * FIELDS * FIELD + (MOVED && DIM == 2);
constexpr int FACE = FACE_POINTS + (MOVED && DIM == 3 ? 3 : 0);
constexpr int TRACE = FACES * FACE;
constexpr int ROWS = DIM * FIELDS * NP;                            // scalars of an element's gradients
// Layout of shared memory.
constexpr int DERIVE_AT = NODES * LINE;
constexpr int STATE_AT = 2 * NODES * LINE;                         // [element][field][node]
constexpr int FACES_AT = STATE_AT + ELEMENTS * STATE;              // half jumps and numerical fluxes, [element][2 fields][point]
constexpr int GRADIENT_AT = FACES_AT + ELEMENTS * 2 * FIELDS * TRACE;  // [element][x][field][node]
constexpr int FLUX_AT = GRADIENT_AT + (SEPARATE ? ELEMENTS * ROWS : 0);  // [element][direction][field][node]

#if SPLIT
#include "two_point.cuh"
#endif

// Position of a node's gradient among those of its element. Lines and planes with an even number of nodes are
// rotated against one another, so that the nodes of a face are in different banks of shared memory for any
// direction of the face.
static __device__ __forceinline__ u32 place(u32 node) {
    if (DIM != 3 || NODES % 2 != 0) return node;
    const u32 i = node % NODES, j = node / NODES % NODES, k = node / (NODES * NODES);
    return (k * NODES + (j + k) % NODES) * NODES + (i + j) % NODES;
}

// Position of a node among those of its element.
static __device__ __forceinline__ u32 moved(u32 node) {
    return DIM == 3 && MOVED ? node + node / (NODES * NODES) : node;
}

// Stride between the nodes of a line in direction d.
static __device__ __forceinline__ constexpr int along(int d) { return d == 2 ? PLANE : power(d); }

// Whether sums along a line start at its first node. Otherwise each node first adds its own number, which it
// has in a register, and continues from there, cyclically: fewer numbers are read from shared memory. With
// four nodes this is faster, on an H200, in all directions except the first, where lanes that share a line
// are adjacent and read the same number at once; with other numbers of nodes it is not.
static __device__ __forceinline__ constexpr bool from_beginning(int d) {
    return d == 0 || NODES != 4;
}

// Adds Σ_m row[m] line[m] over the nodes of a line in direction d to `sum`; unless `from_beginning`, the term
// of node i itself is omitted. `at` is the location of node i.
static __device__ __forceinline__ void add_line(const real* row, const real* at, u32 i, int d, real (&sum)[FIELDS]) {
    const real* begin = at - i * along(d);
#pragma unroll
    for (int m = from_beginning(d) ? 0 : 1; m < NODES; ++m) {
        const int next = (int)i + m < NODES ? m : m - NODES;
        const real c = from_beginning(d) ? row[m] : row[(int)i + next];
        const real* from = from_beginning(d) ? begin + m * along(d) : at + next * along(d);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) sum[k] += c * from[k * FIELD];
    }
}

struct Gradient : GradientKind {
    static constexpr Publishes PUBLISHES = SEPARATE ? AFTER_VOLUME : BEFORE_VOLUME;
    static constexpr bool AHEAD = true;

    real *project, *derivative, *faces, *state, *flux;
    const Own<NP> own;
    real u[FIELDS], g[DIM * DIM], grad[DIM * FIELDS], rate[FIELDS], scale;

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (FLUX_AT + ELEMENTS * FLUX));
        return shared;
    }

    DG_DEVICE Gradient(const Arguments& a, const Published& p, const Parameters& parameters, const Elements& elements, real* work)
        : GradientKind(a, p, parameters, elements, work), project(work),
          derivative(work + DERIVE_AT), faces(work + FACES_AT), own(elements) {
        state = work + STATE_AT + own.local * STATE + moved(own.row);
        flux = work + FLUX_AT + own.local * FLUX + moved(own.row);
    }

    DG_DEVICE void load() {
        load_node(a.u + own.at(), u);
        for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS) {
            project[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);
            derivative[i / NODES * LINE + i % NODES] = __ldg(a.tables + NODES * NODES + 2 + i);
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[k * FIELD] = u[k];
    }

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond& beyond, real (&um)[FIELDS]) const {
        load_node(a.u + (u64)(elements.slot + at.element) * STATE_BLOCK + beyond.own, um);
    }

    DG_DEVICE real* kept_at(const FacePoint& at) const {
        return faces + at.element * 2 * FIELDS * TRACE + at.face * FACE + at.number;
    }

    DG_DEVICE void keep(const FacePoint& at, const real (&jump)[FIELDS], const real (&f)[FIELDS]) const {
        real* y = kept_at(at);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            y[k * TRACE] = jump[k];
            y[(FIELDS + k) * TRACE] = f[k];
        }
    }

    DG_DEVICE void derive() {
        metric_at(a, own.element, own.row, g);
        scale = CURVED ? __ldg(a.inverse_jacobian + (u64)own.element * NP + own.row) : (real)1;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = own.row / power(d) % NODES;
            real slope[FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) slope[k] = from_beginning(d) ? 0 : derivative[i * LINE + i] * u[k];
            add_line(derivative + i * LINE, state, i, d, slope);
#pragma unroll
            for (int x = 0; x < DIM; ++x) {
                const real c = scale * g[d * DIM + x];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) grad[x * FIELDS + k] = (d == 0 ? (real)0 : grad[x * FIELDS + k]) + c * slope[k];
            }
        }
        real* kept = work + GRADIENT_AT + own.local * ROWS + place(own.row);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) kept[i * NP] = grad[i];
        dg_block_sync();
    }

    DG_DEVICE void face_gradient(const FacePoint& at, real (&um)[FIELDS], real (&)[FIELDS],
                                                  real (&f)[FIELDS], real (&lifted)[DIM * FIELDS]) const {
        constexpr u32 face_at[DIM][2] = FACE_AT;
        const u32 node = __ldg(a.own + at.q) / ROW_STRIDE;
        u32 direction = 0, end = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                if (at.face == face_at[d][i]) {
                    direction = d;
                    end = i;
                }
        const u64 row = CURVED ? (u64)(elements.first + at.element) * NP + node : elements.first + at.element;
        real lift = (real)(ETA) * __ldg(a.tables + NODES * NODES + end);
        if (end == 0) lift = -lift;
        if (CURVED) lift *= __ldg(a.inverse_jacobian + row);
        const real *y = kept_at(at), *from = work + GRADIENT_AT + at.element * ROWS + place(node);
#pragma unroll
        for (int x = 0; x < DIM; ++x) {
            const real c = lift * __ldg(a.metric + row * (DIM * DIM) + direction * DIM + x);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) lifted[x * FIELDS + k] = from[(x * FIELDS + k) * NP] + c * y[k * TRACE];
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            um[k] = work[STATE_AT + at.element * STATE + k * FIELD + moved(node)];
            f[k] = y[(FIELDS + k) * TRACE];
        }
    }

    DG_DEVICE void volume() {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const LineEnd end = line_end(own.row, d);
            if (!end.is) continue;
            const real lift = __ldg(a.tables + NODES * NODES + end.end) * (end.end == 0 ? -scale : scale);
            const real* jump = faces + own.mine * 2 * FIELDS * TRACE + end.face * FACE + end.point;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real more = lift * jump[k * TRACE];
#pragma unroll
                for (int x = 0; x < DIM; ++x) grad[x * FIELDS + k] += g[d * DIM + x] * more;
            }
        }
        real f[DIM * FIELDS];
#if COEFFICIENTS
        const Parameters parameters = own_parameters(this->parameters, p, own.slot);
#endif
        contravariant_flux<!SPLIT>(parameters, u, g, grad, f);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = own.row / power(d) % NODES;
            const real c = from_beginning(d) ? 0 : project[i * LINE + i];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                flux[(d * FIELDS + k) * FIELD] = f[d * FIELDS + k];
                if (!from_beginning(d)) rate[k] += c * f[d * FIELDS + k];
            }
        }
    }

    DG_DEVICE void store() {
        const u64 at = own.at();
        const Keep keep = keep_factors(a, own.slot);
        real before[FIELDS];
        if (keep.reads_register) load_node(a.reg + at, before);
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 i = own.row / power(d) % NODES;
            add_line(project + i * LINE, flux + d * FIELDS * FIELD, i, d, rate);
        }
#if SPLIT
        add_two_point_fluxes(a, parameters, own.element, own.row, project, state - own.row, u, g, rate);
#endif
        if (!own.exists) return;
        if (p.source) add_node(p.source + at, rate);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            rate[k] *= CURVED ? keep.dt * scale : keep.dt;
            if (keep.reads_register) rate[k] += keep.a * before[k];
        }
        if (!PLANAR) return store_row(p.kept + at, rate);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) p.kept[at + k * NP] = rate[k];
    }
};

#include "gradient_pass.cuh"
