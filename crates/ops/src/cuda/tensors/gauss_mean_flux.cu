// Second pass of diffusion on quadrilaterals and hexahedra with Gauss points; see mean_flux_pass.cuh.
//
// The fluxes are lifted along the lines that end at their points.
//
// A block processes a few elements, affine or curved. Where coefficients differ from values at the points,
// affine elements convert the fluxes on faces before the lift, curved elements the result after the metric
// rule. Macros as in gauss_lines.cuh, and
// - BLOCKS: blocks per multiprocessor
// - LIFT_BACK: [end][function], the lifts as coefficients
// - STAGE

#include "gauss_lines.cuh"
#include "viscous.cuh"

constexpr bool PERSISTENT = false;
__constant__ real lift_back[2][FUNCTIONS] = LIFT_BACK;
constexpr bool TO_FUNCTIONS = !CURVED;  // whether lifts lead to coefficients
constexpr int ALONG = TO_FUNCTIONS ? FUNCTIONS : NODES;
constexpr int TARGETS = DIM == 3 ? ALONG * ALONG * ALONG : ALONG * ALONG;
// Functions of an element for each thread.
constexpr int ROUNDS = (ELEMENTS * NP + THREADS - 1) / THREADS;
constexpr int LAST = DIM - 1;
// Layout of shared memory: lifts, [end][function or point].
constexpr int FACES_AT = 2 * NODES;                                           // fluxes, [element][field][direction][end][point]
constexpr int RATE_AT = FACES_AT + ELEMENTS * FIELDS * 2 * DIM * FACE_SIZE;  // curved: [element][field][point]

// The lifts of the fluxes through the six faces, or four, at function or point `i` of an element.
static __device__ __forceinline__ void lift_faces(const real* shared, u32 e, u32 i, real (&rate)[FIELDS]) {
    const u32 at[3] = {i % ALONG, i / ALONG % ALONG, i / (ALONG * ALONG)};
    const real* faces = shared + FACES_AT + e * FIELDS * 2 * DIM * FACE_SIZE;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 low = d == 0 ? at[1] : at[0], high = DIM == 2 ? 0 : d == 2 ? at[1] : at[2];
        const real first = shared[at[d]], second = shared[NODES + at[d]];
        const real* y = faces + 2 * d * FACE_SIZE + low + high * FACE_ROW;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k)
            rate[k] -= first * y[k * 2 * DIM * FACE_SIZE] + second * y[k * 2 * DIM * FACE_SIZE + FACE_SIZE];
    }
}

struct MeanFlux : Kind {
    real kept[ROUNDS][FIELDS], u[ROUNDS][FIELDS];  // what the stage reads

    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (RATE_AT + (TRANSFORM && CURVED ? ELEMENTS * FIELDS * Points::SIZE : 0)));
        return shared;
    }

    DG_DEVICE u64 place_of(u32 item) const {
        return elements.begin + (u64)(item / NP) * STATE_BLOCK + item % NP * ROW_STRIDE;
    }

    DG_DEVICE MeanFlux(const Arguments& a, const Published& p, const Elements& elements, real* work)
        : Kind(a, elements, work) {
        for (u32 i = threadIdx.x; i < 2 * ALONG; i += THREADS)
            work[i / ALONG * NODES + i % ALONG] = TO_FUNCTIONS ? lift_back[i / ALONG][i % ALONG] : lift_matrix[i / ALONG][i % ALONG];
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            const u32 item = threadIdx.x + round * THREADS;
            if (item >= elements.n * NP) continue;
            load_node(p.kept + place_of(item), kept[round]);
            if (STAGE) load_node(a.u + place_of(item), u[round]);
        }
    }

    DG_DEVICE void put(u32 e, u32 q, const real (&f)[FIELDS]) const {
        const u32 place = face_place[q], line = place % LINES, at = DIM == 3 ? line % NODES + line / NODES * FACE_ROW : line;
        real* y = work + FACES_AT + (e * FIELDS * 2 * DIM + place / LINES) * FACE_SIZE + at;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * 2 * DIM * FACE_SIZE] = f[k];
    }

    // Converts the fluxes on faces to coefficients.
    DG_DEVICE void convert_faces() const {
        const u32 all = elements.n * FIELDS * 2 * DIM;
        real* faces = work + FACES_AT;
        if (DIM == 3) {
            convert(back_matrix, faces, all * NODES, FACE_ROW, [](u32 i) { return i / NODES * FACE_SIZE + i % NODES; });
            dg_block_sync();
        }
        constexpr u32 ROWS = DIM == 3 ? FUNCTIONS : 1;
        convert(back_matrix, faces, all * ROWS, 1, [](u32 i) { return i / ROWS * FACE_SIZE + i % ROWS * FACE_ROW; });
        dg_block_sync();
    }

    // Computes the rates at the points, and converts them to coefficients.
    DG_DEVICE void convert_rates() const {
        const u32 n = elements.n;
        for (u32 item = threadIdx.x; item < n * TARGETS; item += THREADS) {
            const u32 e = item / TARGETS, node = item % TARGETS;
            real rate[FIELDS];
            lift_faces(work, e, node, rate);
            apply_inverse_jacobian(a, (u64)(elements.first + e) * NQ + node, rate);
            real* y = work + RATE_AT + e * FIELDS * Points::SIZE + Points::place(node);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) y[k * Points::SIZE] = rate[k];
        }
        dg_block_sync();
        along<0>(back_matrix, work + RATE_AT, n * FIELDS);
        dg_block_sync();
        along<1>(back_matrix, work + RATE_AT, n * FIELDS);
        dg_block_sync();
        if (DIM == 3) {
            along<LAST>(back_matrix, work + RATE_AT, n * FIELDS);
            dg_block_sync();
        }
    }

    DG_DEVICE void finish() {
        if (TRANSFORM && !CURVED) convert_faces();
        if (TRANSFORM && CURVED) convert_rates();
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            const u32 item = threadIdx.x + round * THREADS;
            if (item >= elements.n * NP) continue;
            const u32 e = item / NP, function = item % NP;
            real rate[FIELDS];
            if (TRANSFORM && CURVED) {
                const real* y = work + RATE_AT + e * FIELDS * Points::SIZE + Points::place(function);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[k] = y[k * Points::SIZE];
            } else {
                lift_faces(work, e, function, rate);
                apply_inverse_jacobian(a, (u64)(elements.first + e) * NQ + function, rate);
            }
            finish_kept(a, elements.slot + e, place_of(item), kept[round], u[round], rate);
        }
    }
};

#include "mean_flux_pass.cuh"
