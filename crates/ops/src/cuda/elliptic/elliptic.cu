// A u of the interior penalty method for any shape, order and geometry, in two kernels.
//
// The tables come from the host (elliptic/device.rs).
//
// `elliptic_publish` writes what neighbours read: values and conormal derivatives p = κ sJ n·∇u at the face
// points, in pairs. `elliptic_test` computes the gradient, F_d = κ J Σ_e (∇r_d·∇r_e) ∂u/∂r_e, and the face
// terms: with the jump j = u⁻ − u⁺, y = κ sJ τ j − ½ (p⁻ − p⁺) tests the functions and z_m = −½ c_m j tests
// their derivatives along the face's frame.
//
// A block processes ELEMENTS elements, whose numbers are in shared memory as [row][element]. A thread
// computes one row for CHUNK elements, so that an entry of a matrix is loaded once for CHUNK products.
//
// In a mesh of which most elements have a faster kernel, the part has a list of some elements (LISTED); all
// of them publish, and the first ones are tested.
//
// Macros defined by the host: NP, NF (face points), DIM, FACES, POINTS, VALUES (rows of λ u, or 0), ENTRIES
// of the metric, LISTED, PER_POINT, SKEW (whether tangential derivatives contribute), ELEMENTS, CHUNK,
// THREADS, PUBLISH_BYTES and SHARED_BYTES: shared memory of the two kernels.
#include "device.cuh"
#include "elliptic_step.cuh"
#include "matrix.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

constexpr int COLUMNS = DIM * POINTS + VALUES + 2 * NF;
constexpr int ALONG = SKEW ? (DIM - 1) * NF : 0;  // rows of tangential derivatives
constexpr int FACE_ROWS = PER_POINT ? NF : FACES;
constexpr int METRIC_ROWS = PER_POINT ? POINTS : 1;
constexpr u32 GHOST = 1u << 31, NATURAL = 1u << 30;

struct Part {
    const real* metric;
    const real* face;
    const u32* sides;
    const u32* meets;
    const u32* face_of;
    const u32* numbers;
    Matrix publish, tangential, tangential_test, gradient, test;
    u64 first_row, first_point;
    u32 n_elements;
    u32 padding;
    // Rows that are only copied: they belong to no element.
    u64 copied, n_copied;
};

// out ← A in, or out ← out + A in; rows are [row][element].
template <bool ADD> DG_DEVICE void multiply(const Matrix& a, const real* in, real* out) {
    constexpr u32 chunks = ELEMENTS / CHUNK;
    for (u32 item = threadIdx.x; item < a.rows * chunks; item += THREADS) {
        const u32 row = item % a.rows, first = item / a.rows * CHUNK;
        real sum[CHUNK];
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) sum[k] = ADD ? out[row * ELEMENTS + first + k] : real(0);
        for (u32 j = 0; j < a.width; ++j) {
            const real m = dg_load(a.values + j * a.rows + row);
            const real* x = in + dg_load(a.columns + j * a.rows + row) * ELEMENTS + first;
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) sum[k] += m * x[k];
        }
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) out[row * ELEMENTS + first + k] = sum[k];
    }
}

// The number of an element in the vectors.
DG_DEVICE u64 number(const Part& a, u32 e) { return LISTED ? dg_load(a.numbers + e) : e; }

// Loads the values of the block's elements; zeros beyond the last.
DG_DEVICE void load(const Part& a, const real* u, u32 first, u32 n, real* to) {
    for (u32 item = threadIdx.x; item < ELEMENTS * NP; item += THREADS) {
        const u32 e = item / NP, i = item % NP;
        to[i * ELEMENTS + e] = e < n ? u[a.first_row + number(a, first + e) * NP + i] : real(0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    elliptic_publish(const Part a, const real* __restrict__ u, real* __restrict__ published) {
    constexpr int BYTES = sizeof(real) * ELEMENTS * (NP + 2 * NF + ALONG);
    static_assert(BYTES == PUBLISH_BYTES, "the host plans another size of shared memory");
    DG_DYNAMIC_SHARED(real, shared);
    real* const values = shared;
    real* const traces = values + NP * ELEMENTS;
    real* const along = traces + 2 * NF * ELEMENTS;
    const u32 first = blockIdx.x * ELEMENTS, n = min(a.n_elements - first, (u32)ELEMENTS);
    dg_wait_for_kernels_before();
    load(a, u, first, n, values);
    dg_block_sync();
    multiply<false>(a.publish, values, traces);
    dg_block_sync();
    if (SKEW) {
        multiply<false>(a.tangential, traces, along);
        dg_block_sync();
    }
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF;
        const u32 row = PER_POINT ? q : dg_load(a.face_of + q);
        const real* c = a.face + ((u64)(first + e) * FACE_ROWS + row) * (DIM + 1);
        real p = dg_load(c) * traces[(NF + q) * ELEMENTS + e];
        if (SKEW) {
#pragma unroll
            for (int m = 1; m < DIM; ++m) p += dg_load(c + m) * along[((m - 1) * NF + q) * ELEMENTS + e];
        }
        real* out = published + 2 * (a.first_point + number(a, first + e) * NF + q);
        out[0] = traces[q * ELEMENTS + e];
        out[1] = p;
    }
    dg_let_next_kernel_start();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    elliptic_test(const Part a, const real* __restrict__ u, const real* __restrict__ published, real* __restrict__ au,
                  const double beta, const real* __restrict__ inverse_diagonal, const real* __restrict__ b) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * ELEMENTS * (NP + COLUMNS + ALONG));
    real* const values = shared;
    real* const columns = values + NP * ELEMENTS;
    real* const along = columns + COLUMNS * ELEMENTS;
    const u32 first = blockIdx.x * ELEMENTS, n = min(a.n_elements - first, (u32)ELEMENTS);
    dg_wait_for_kernels_before();
    load(a, u, first, n, values);
    for (u64 i = blockIdx.x * THREADS + threadIdx.x; i < a.n_copied; i += gridDim.x * THREADS)
        au[a.copied + i] = finish_step(beta, u[a.copied + i], u, inverse_diagonal, b, a.copied + i);
    dg_block_sync();
    multiply<false>(a.gradient, values, columns);
    real* const y = columns + (DIM * POINTS + VALUES) * ELEMENTS;
    real* const z = y + NF * ELEMENTS;
    for (u32 item = threadIdx.x; item < ELEMENTS * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF;
        real c[DIM + 1], jump = 0, mean = 0;
#pragma unroll
        for (int m = 0; m <= DIM; ++m) c[m] = 0;
        if (e < n) {
            const u32 f = dg_load(a.face_of + q);
            const real* coefficients = a.face + ((u64)(first + e) * FACE_ROWS + (PER_POINT ? q : f)) * (DIM + 1);
#pragma unroll
            for (int m = 0; m <= DIM; ++m) c[m] = dg_load(coefficients + m);
            const u32* side = a.sides + 2 * ((first + e) * FACES + f);
            const u32 from = dg_load(side), code = dg_load(side + 1);
            const real* own = published + 2 * (a.first_point + number(a, first + e) * NF + q);
            const real minus = own[0], p = own[1];
            if (code == GHOST) {
                jump = 2 * minus;
                mean = p;
            } else if (code == NATURAL) {
                jump = minus;
            } else {
                // The first point of the face has its own place in `meets`.
                u32 i = q;
                while (i > 0 && dg_load(a.face_of + i - 1) == f) --i;
                const real* other = published + 2 * (u64)(from + dg_load(a.meets + code + q - i));
                jump = minus - other[0];
                mean = real(0.5) * (p - other[1]);
            }
        }
        y[q * ELEMENTS + e] = c[DIM] * jump - mean;
        z[q * ELEMENTS + e] = real(-0.5) * c[0] * jump;
        if (SKEW) {
#pragma unroll
            for (int m = 1; m < DIM; ++m) along[((m - 1) * NF + q) * ELEMENTS + e] = real(-0.5) * c[m] * jump;
        }
    }
    dg_block_sync();
    for (u32 item = threadIdx.x; item < ELEMENTS * POINTS; item += THREADS) {
        const u32 e = item / POINTS, q = item % POINTS;
        const real* g = a.metric + ((u64)(first + min(e, n - 1)) * METRIC_ROWS + (PER_POINT ? q : 0)) * ENTRIES;
        real x[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) x[d] = columns[(d * POINTS + q) * ELEMENTS + e];
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            real sum = 0;
#pragma unroll
            for (int k = 0; k < DIM; ++k) {
                const int low = d < k ? d : k, high = d < k ? k : d;
                sum += dg_load(g + low * DIM - low * (low - 1) / 2 + high - low) * x[k];
            }
            columns[(d * POINTS + q) * ELEMENTS + e] = sum;
        }
    }
    for (u32 item = threadIdx.x; item < ELEMENTS * VALUES; item += THREADS) {
        const u32 e = item % ELEMENTS, q = item / ELEMENTS;
        const real* g = a.metric + ((u64)(first + min(e, n - 1)) * METRIC_ROWS + (PER_POINT ? q : 0)) * ENTRIES;
        columns[DIM * POINTS * ELEMENTS + item] *= dg_load(g + ENTRIES - 1);
    }
    if (SKEW) multiply<true>(a.tangential_test, along, y);
    dg_block_sync();
    // The values are not needed any more.
    multiply<false>(a.test, columns, values);
    dg_block_sync();
    for (u32 item = threadIdx.x; item < n * NP; item += THREADS) {
        const u32 e = item / NP, k = item % NP;
        const u64 to = a.first_row + number(a, first + e) * NP + k;
        au[to] = finish_step(beta, values[k * ELEMENTS + e], u, inverse_diagonal, b, to);
    }
    dg_let_next_kernel_start();
}
