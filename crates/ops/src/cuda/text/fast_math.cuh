// Reciprocal and square root without division: hardware approximation and one third-order correction.
//
// The approximation has about 20 bits. The functions replace the templates of the same names in the prelude
// of `physics`.
//
// Both are within one unit in the last place of the exact value if argument and result are normal numbers.
// The reciprocal of zero, of infinity or of a subnormal number is NaN. The root of a number below the
// smallest normal one is zero; that of a negative number is NaN, as usual. So the residual of an inadmissible
// state is not finite, which ends the run.

// 1/a: with e = 1 − a r, 1/a = r / (1 − e) = r (1 + e + e² + O(e³)).
static __device__ __forceinline__ double reciprocal(double a) {
    const double r = dg_rcp_approx(a);
    const double e = fma(-a, r, 1.0);
    return fma(r, fma(e, e, e), r);
}

// √a: with t = a r and e = 1 − t r, √a = t / √(1 − e) = t (1 + e/2 + 3e²/8 + O(e³)).
static __device__ __forceinline__ double square_root(double a) {
    const double r = dg_rsqrt_approx(a);
    const double t = a * r;
    const double e = fma(-t, r, 1.0);
    const double s = fma(fma(e, 0.375, 0.5), t * e, t);
    return fabs(a) < 2.2250738585072014e-308 ? 0.0 : s;
}

// In single precision the hardware's approximations are sufficient: within one unit in the last place, and
// two for the root.
static __device__ __forceinline__ float reciprocal(float a) { return dg_rcp_approx(a); }
static __device__ __forceinline__ float square_root(float a) { return dg_sqrt_approx(a); }
