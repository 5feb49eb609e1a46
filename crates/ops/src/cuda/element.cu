// The fused residual and Runge–Kutta stage on small affine elements, nodal or constant: one thread an
// element, everything in registers, operators as literals. The host's twin is residual.rs; operators come
// from element.rs.
//
// Lanes are elements: state is [block][node][field][lane], so that the threads of a warp read along memory.
// Slots that fill the last block hold copies of its last element, and stay such.
//
// Beside the macros of common.cuh, with DIRECT = 1 (rows are rows of face nodes, in the face's frame):
//   FACE_NODES FACE_POINTS  of one face
//   BLOCK BLOCKS            threads of a block, blocks of a multiprocessor
//   AHEAD                   registers of the stage are read before the arithmetic (1) or after it (0)
//   NORMALS                 read (0), or computed from the metric (1)
//   REFERENCE_NORMALS       { N̂ of each face }
//   FACE_NODE               [face][node]: the element's nodes on each face
//   INTERP PROJECT LIFT     [point][node], [direction][node][point], [face][node][point]
//   FACE_INTERP             [point][node]: face nodes to face points
// Zeros of the operators cost nothing: loops are unrolled, and terms with a factor of zero are left out.

// An empty sum: −0 + x is x, to the last bit.
#define EMPTY (real(-0.0))

// sum + c x, with a literal for c. A choice of values, not of paths: thousands of branches, all known, are
// what the compiler would spend its time on.
static __device__ __forceinline__ real add(real sum, real c, real x) { return c == 0 ? sum : sum + c * x; }

// Rows of the neighbour's face nodes.
struct Neighbour {
    bool outside;
    Across at;
    real u[FACE_NODES][FIELDS];
};

static __device__ __forceinline__ void ask(const Arguments& a, u32 slot, u32 face, Neighbour& x) {
    x.at = across(a, slot, face);
    x.outside = x.at.rows == nullptr;
#pragma unroll
    for (int j = 0; j < FACE_NODES; ++j)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x.u[j][k] = 0;
    if (x.outside) return;
#pragma unroll
    for (int j = 0; j < FACE_NODES; ++j) {
        const real* p = x.at.values + __ldg(x.at.rows + j);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x.u[j][k] = __ldg(p + k * LANES);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    constexpr int face_node[FACES][FACE_NODES] = FACE_NODE;
    constexpr real interp[NQ][NP] = INTERP, project[DIM][NP][NQ] = PROJECT;
    constexpr real lift[FACES][NP][FACE_POINTS] = LIFT, face_interp[FACE_POINTS][FACE_NODES] = FACE_INTERP;
    const u32 element = blockIdx.x * BLOCK + threadIdx.x;
    if (element >= (a.count + LANES - 1) / LANES * LANES) return;
    const u32 slot = a.first + element;
    const u64 begin = slot_begin(slot, STATE_BLOCK);
    const bool reads_register = STAGE && a.a != 0.0;

    real u[NP][FIELDS], before[AHEAD ? NP : 1][FIELDS];
    real rate[NP][FIELDS];
#pragma unroll
    for (int i = 0; i < NP; ++i)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            u[i][k] = __ldg(a.u + begin + (i * FIELDS + k) * LANES);
            rate[i][k] = EMPTY;
        }
    if (AHEAD && reads_register) {
#pragma unroll
        for (int i = 0; i < NP; ++i)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) before[AHEAD ? i : 0][k] = a.reg[begin + (i * FIELDS + k) * LANES];
    }
    real g[DIM * DIM];
    metric_at(a, element, 0, g);

    // 1. Faces.
#pragma unroll
    for (int face = 0; face < FACES; ++face) {
        Neighbour neighbour;
        ask(a, slot, face, neighbour);
        real n[DIM];
        const real scale = face_normal(a, element, face, g, n);
#pragma unroll
        for (int q = 0; q < FACE_POINTS; ++q) {
            real um[FIELDS], up[FIELDS], f[FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) um[k] = up[k] = EMPTY;
#pragma unroll
            for (int j = 0; j < FACE_NODES; ++j)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) {
                    um[k] = add(um[k], face_interp[q][j], u[face_node[face][j]][k]);
                    up[k] = add(up[k], face_interp[q][j], neighbour.u[j][k]);
                }
            if (neighbour.outside) {
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) up[k] = __ldg(neighbour.at.values + q * FIELDS + k);
            }
            numerical_flux(parameters, um, up, n, f);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) f[k] *= scale;
#pragma unroll
            for (int i = 0; i < NP; ++i)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[i][k] = add(rate[i][k], -lift[face][i][q], f[k]);
        }
    }

    // 2. Volume.
#pragma unroll
    for (int q = 0; q < NQ; ++q) {
        bool idle = true;  // constants have no volume term
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int i = 0; i < NP; ++i) idle = idle && project[d][i][q] == 0;
        if (idle) continue;
        real x[FIELDS], f[DIM * FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            x[k] = EMPTY;
#pragma unroll
            for (int i = 0; i < NP; ++i) x[k] = add(x[k], interp[q][i], u[i][k]);
        }
        volume_flux(parameters, x, g, f);
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int i = 0; i < NP; ++i)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    rate[i][k] = add(rate[i][k], project[d][i][q], f[d * FIELDS + k]);
    }

    // 3. The stage.
    const StageFactors s = stage_factors(a, slot);
#pragma unroll
    for (int i = 0; i < NP; ++i)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            const u64 at = begin + (i * FIELDS + k) * LANES;
            if (AHEAD) finish_with(a, s, at, reads_register, before[AHEAD ? i : 0][k], u[i][k], rate[i][k]);
            else finish(a, s, at, u[i][k], rate[i][k]);
        }
}
