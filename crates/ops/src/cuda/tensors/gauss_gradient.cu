// First pass of diffusion on quadrilaterals and hexahedra with Gauss points: lines and points; see
// gradient_pass.cuh.
//
// Elements are affine or curved. Operators come from gauss.rs and gauss_diffusion.rs, the traces of other
// elements from gauss_traces.cu.
//
// A block processes a few elements. Operators along a line are carried out by one thread per line, see
// gauss_lines.cuh; formulas by one thread per face point and per point. The threads are distributed over all
// lines, or points, of the block. Macros as in gauss_lines.cuh, and
// - BLOCKS: blocks per multiprocessor
// - DERIVE: [point][point], the derivative of values at the points
// - OWN: [end], the lifting of the unit jump of an end at this end, times its weight

#include "gauss_lines.cuh"
#include "viscous.cuh"

constexpr bool PERSISTENT = false;
constexpr int SIZE = Points::SIZE;
constexpr int POINTS = NODES * LINES;  // of an element
// Layout of shared memory: lifts from both ends, then by unknown.
constexpr int STATE_AT = 2 * NODES;                             // values, then rates, [element][field][point]
constexpr int GRADIENT_AT = STATE_AT + ELEMENTS * FIELDS * SIZE;  // slopes, then fluxes, [direction][element][field][point]
constexpr int JUMPS_AT = GRADIENT_AT + DIM * ELEMENTS * FIELDS * SIZE;  // half jumps, [element][field][place]
constexpr int LAST = DIM - 1;
__constant__ real derive_matrix[NODES][NODES] = DERIVE;
__constant__ real own_lift[2] = OWN;

// The value at one end of a line, whose numbers are `step` apart from this end on: the points are symmetric.
static __device__ __forceinline__ real at_end(const real* x, int step) {
    real sum = 0;
#pragma unroll
    for (int m = 0; m < NODES; ++m) sum += ends_matrix[0][m] * x[m * step];
    return sum;
}

// Adds the sums of fluxes along the lines of direction d. The last ones are multiplied by the factor of the
// metric rule and converted to coefficients.
template <int d>
static __device__ __forceinline__ void add_sums(const Arguments& a, u32 first, u32 n, bool begins, const real* more,
                                                real* shared) {
    for (u32 item = threadIdx.x; item < n * FIELDS * LINES; item += THREADS) {
        const u32 unknown = item / LINES, line = item % LINES;
        const u32 low = DIM == 3 ? line % NODES : line, high = DIM == 3 ? line / NODES : 0;
        const u32 at = unknown * SIZE + Points::begin(d, low, high);
        real in[NODES], out[NODES];
        load_line<d>(shared + GRADIENT_AT + d * ELEMENTS * FIELDS * SIZE + at, in);
        if (begins) {
#pragma unroll
            for (int i = 0; i < NODES; ++i) out[i] = 0;
        } else {
            load_line<d>(shared + STATE_AT + at, out);
        }
#pragma unroll
        for (int m = 0; m < NODES; ++m)
#pragma unroll
            for (int i = 0; i < NODES; ++i) out[i] += sum_matrix[m][i] * in[m];
        if (d > 0) {
            store_line<d>(shared + STATE_AT + at, out);
            continue;
        }
        if (CURVED) {
            const u64 begin = (u64)(first + unknown / FIELDS) * NQ + low * NODES + high * (NODES * NODES);
#pragma unroll
            for (int i = 0; i < NODES; ++i)
                out[i] = (out[i] + (more ? more[at + i] : (real)0)) * __ldg(a.inverse_jacobian + begin + i);
        }
        if (TRANSFORM) {
            real back[FUNCTIONS];
            multiply(back_matrix, out, back);
            store_line<0>(shared + STATE_AT + at, back);
        } else {
            store_line<0>(shared + STATE_AT + at, out);
        }
    }
    dg_block_sync();
}

struct Gradient : GradientKind {
    static constexpr Publishes PUBLISHES = AT_ONCE;
    static constexpr bool AHEAD = false;


    static DG_DEVICE real* room(const Arguments&) {
        DG_PLANNED_SHARED(real, shared, sizeof(real) * (JUMPS_AT + ELEMENTS * FIELDS * NF));
        return shared;
    }

    DG_DEVICE Gradient(const Arguments& a, const Published& p, const Parameters& parameters, const Elements& elements, real* work)
        : GradientKind(a, p, parameters, elements, work) {}

    // The slopes of direction d: those of the first element.
    DG_DEVICE real* slopes(u32 d) const { return work + GRADIENT_AT + d * ELEMENTS * FIELDS * SIZE; }

    // Values at the points, and derivatives in reference coordinates without liftings.
    DG_DEVICE void load() const {
        for (u32 i = threadIdx.x; i < 2 * NODES; i += THREADS) work[i] = lift_matrix[i / NODES][i % NODES];
        load_values(a.u + elements.begin, elements.n, work + STATE_AT);
        for (u32 item = threadIdx.x; item < elements.n * FIELDS * DIM * LINES; item += THREADS) {
            const u32 unknown = item / (DIM * LINES), d = item / LINES % DIM, line = item % LINES;
            const u32 low = DIM == 3 ? line % NODES : line, high = DIM == 3 ? line / NODES : 0;
            const u32 at = unknown * SIZE + Points::begin(d, low, high), step = Points::step(d);
            real in[NODES], out[NODES];
#pragma unroll
            for (int m = 0; m < NODES; ++m) in[m] = work[STATE_AT + at + m * step];
            multiply(derive_matrix, in, out);
            real* to = slopes(d) + at;
#pragma unroll
            for (int i = 0; i < NODES; ++i) to[i * step] = out[i];
        }
        dg_block_sync();
    }

    // Face points in the order of the lines that end there.
    DG_DEVICE FacePoint point(u32 item) const {
        return FacePoint(item / NF, point_at[item % NF], item % NF);
    }

    // The line that ends at a face point: its direction, end, the place of the point next to the face in
    // work memory, and the distance of the others.
    struct FaceLine {
        u32 d, end, at;
        int step;
        DG_DEVICE explicit FaceLine(const FacePoint& point)
            : d(point.place / (2 * LINES)), end(point.place / LINES % 2) {
            const u32 line = point.place % LINES;
            const u32 low = DIM == 3 ? line % NODES : line, high = DIM == 3 ? line / NODES : 0;
            step = end == 0 ? (int)Points::step(d) : -(int)Points::step(d);
            at = point.element * FIELDS * SIZE + Points::begin(d, low, high) + (end == 0 ? 0 : (NODES - 1) * Points::step(d));
        }
    };

    DG_DEVICE void own_trace(const FacePoint& at, const Beyond&, real (&um)[FIELDS]) const {
        const FaceLine line(at);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) um[k] = at_end(work + STATE_AT + line.at + k * SIZE, line.step);
    }

    DG_DEVICE void keep(const FacePoint& at, const real (&jump)[FIELDS], const real (&)[FIELDS]) const {
        real* y = work + JUMPS_AT + at.element * FIELDS * NF + at.place;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = jump[k];
    }

    DG_DEVICE void face_gradient(const FacePoint& at, real (&)[FIELDS], real (&jump)[FIELDS],
                                                  real (&)[FIELDS], real (&grad)[DIM * FIELDS]) const {
        const FaceLine line(at);
        real reference[DIM * FIELDS], g[DIM * DIM];
        const real own = line.end == 0 ? own_lift[0] : own_lift[1];
#pragma unroll
        for (int x = 0; x < DIM; ++x)
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                reference[x * FIELDS + k] =
                    at_end(slopes(x) + line.at + k * SIZE, line.step) + (x == line.d ? own * jump[k] : (real)0);
        face_metric_at(a, p, elements.first + at.element, at.q, g);
        physical_gradient(g, reference, grad);
    }

    DG_DEVICE void derive() const {}
    DG_DEVICE void volume() const {
#pragma unroll 1
        for (u32 item = threadIdx.x; item < elements.n * POINTS; item += THREADS) {
            const u32 e = item / POINTS, node = item % POINTS, at = e * FIELDS * SIZE + Points::place(node);
            real u[FIELDS], flux[DIM * FIELDS], g[DIM * DIM], reference[DIM * FIELDS], grad[DIM * FIELDS];
            const real scale = CURVED ? __ldg(a.inverse_jacobian + (u64)(elements.first + e) * NQ + node) : (real)1;
            metric_at(a, elements.first + e, node, g);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) u[k] = work[STATE_AT + at + k * SIZE];
#pragma unroll
            for (int d = 0; d < DIM; ++d) {
                const u32 i = node / stride<NODES>(d) % NODES;
                const u32 line = d == 0   ? node / NODES
                                 : d == 1 ? node / (NODES * NODES) * NODES + node % NODES
                                          : node % (NODES * NODES);
                const real* jump = work + JUMPS_AT + e * FIELDS * NF + 2 * d * LINES + line;
                const real low = -work[i], high = work[NODES + i];
                const real* slope = slopes(d) + at;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    reference[d * FIELDS + k] =
                        scale * (slope[k * SIZE] + low * jump[k * NF] + high * jump[k * NF + LINES]);
            }
            physical_gradient(g, reference, grad);
#if COEFFICIENTS
            const Parameters parameters = own_parameters(this->parameters, p, elements.slot + e);
#endif
            contravariant_flux(parameters, u, g, grad, flux);
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) slopes(d)[at + k * SIZE] = flux[d * FIELDS + k];
        }
    }

    // Sums along lines, in the place of the values. The register is loaded meanwhile.
    DG_DEVICE void store() const {
        const u32 first = elements.first, n = elements.n;
        const real* more = nullptr;  // the source at the points, where there were fluxes
        add_sums<LAST>(a, first, n, true, more, work);
        if (CURVED && p.source) {
            load_values(p.source + elements.begin, n, slopes(LAST));
            more = slopes(LAST);
        }
        constexpr int ROUNDS = (ELEMENTS * FIELDS * Line<LAST>::ALL + THREADS - 1) / THREADS;
        const bool reads_register = a.step != nullptr && a.a != 0.0;
        real before[ROUNDS][FUNCTIONS];
        if (reads_register)
#pragma unroll
            for (int round = 0; round < ROUNDS; ++round) {
                const u32 item = threadIdx.x + round * THREADS;
                if (item >= n * FIELDS * Line<LAST>::ALL) continue;
                const Line<LAST> line(item);
#pragma unroll
                for (int i = 0; i < FUNCTIONS; ++i) before[round][i] = a.reg[elements.begin + line.first() + i * line.APART];
            }
        if (DIM == 3) add_sums<1>(a, first, n, false, more, work);
        add_sums<0>(a, first, n, false, more, work);
        if (TRANSFORM && DIM == 3) {
            along<1>(back_matrix, work + STATE_AT, n * FIELDS);
            dg_block_sync();
        }

        // Rows for the second pass.
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            const u32 item = threadIdx.x + round * THREADS;
            if (item >= n * FIELDS * Line<LAST>::ALL) continue;
            const Line<LAST> line(item);
            const Keep keep = keep_factors(a, elements.slot + line.unknown / FIELDS);
            real in[NODES], out[FUNCTIONS];
            load_line<LAST>(work + STATE_AT + line.place(), in);
            if (TRANSFORM) multiply(back_matrix, in, out);
#pragma unroll
            for (int i = 0; i < FUNCTIONS; ++i) {
                const u64 at = elements.begin + line.first() + i * line.APART;
                real rate = TRANSFORM ? out[i] : in[i];
                if (!CURVED && p.source) rate += __ldg(p.source + at);
                rate *= keep.dt;
                if (reads_register) rate += keep.a * before[round][i];
                p.kept[at] = rate;
            }
        }
    }
};

#include "gradient_pass.cuh"
