// Products with the FP64 tensor cores, one warp for eight elements.
//
// In C (8 × 8) += A (8 × 4) B (4 × 8), the rows of A and C are eight elements; lane l holds A[l/4][l%4],
// B[l%4][l/4] and C[l/4][2(l%4) + {0, 1}]. Rows of an operator's input and output are numbered so that an
// entry of C, where it is, is an entry of A in the next product: lane l has entries (tile, i), i = 0, 1, of
// its element, which are the rows `fragment_row(n, tile, l%4, i)` of n. A product consists of steps s = 2
// tile + i; a last tile with at most four rows takes one step. The host writes operators in this order, see
// fragments.rs.

static __device__ __forceinline__ constexpr int fragment_tiles(int n) { return (n + 7) / 8; }
static __device__ __forceinline__ constexpr bool fragment_half(int n) { return n % 8 != 0 && n % 8 <= 4; }
static __device__ __forceinline__ constexpr int fragment_steps(int n) { return 2 * fragment_tiles(n) - fragment_half(n); }

// The row of entry (step/2, step%2) of lane j of four; −1 if there is none.
static __device__ __forceinline__ constexpr int fragment_row_or_none(int n, int step, int j) {
    const int first = step / 2 * 8;
    const bool half = n - first <= 4;
    const int row = first + (half ? j : 2 * j + step % 2);
    return row < n && !(half && step % 2) ? row : -1;
}

// As `fragment_row_or_none`, with the first row if there is none: its state is finite, and its coefficients
// are zero.
static __device__ __forceinline__ constexpr int fragment_row(int n, int step, int j) {
    const int row = fragment_row_or_none(n, step, j);
    return row < 0 ? 0 : row;
}

static __device__ __forceinline__ void fragment_two(double (&c)[2], double (&d)[2], double a, double e, double b) {
    dg_mma_f64_16x8x4(c[0], c[1], d[0], d[1], a, e, b);
}
static __device__ __forceinline__ void fragment_two(float (&c)[2], float (&d)[2], float a, float e, float b) {
    dg_mma_tf32_16x8x4(c[0], c[1], d[0], d[1], a, e, b);
}
static __device__ __forceinline__ void fragment_one(double (&c)[2], double a, double b) { dg_mma_f64_8x8x4(c[0], c[1], a, b); }
static __device__ __forceinline__ void fragment_one(float (&c)[2], float a, float b) {
    float none[2] = {0, 0};
    fragment_two(c, none, a, 0, b);
}

// c[k] += a[k] B for all unknowns k.
static __device__ __forceinline__ void fragment_multiply(real (&c)[FIELDS][2], const real (&a)[FIELDS], real b) {
#pragma unroll
    for (int k = 0; k + 1 < FIELDS; k += 2) fragment_two(c[k], c[k + 1], a[k], a[k + 1], b);
    if (FIELDS % 2) fragment_one(c[FIELDS - 1], a[FIELDS - 1], b);
}

static __device__ __forceinline__ void fragment_zero(real (&c)[FIELDS][2]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) c[k][0] = c[k][1] = 0;
}
