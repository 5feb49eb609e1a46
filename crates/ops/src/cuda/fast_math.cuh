// Reciprocal and square root without division: the hardware's approximation to about 20 bits, then one
// correction of third order. They take the place of the two functions of that name in physics' prelude, whose
// templates give way to them where both are there.
//
// Both are within one unit in the last place of the exact value where argument and result are normal numbers.
// A reciprocal of zero, of infinity or of a subnormal number is not a number; the root of a number below the
// smallest normal one is zero, of a negative one not a number, as usual. So the residual of a state that is
// no longer admissible is not finite, which ends the run.

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

// In single precision the hardware's approximations are as good: within one unit in the last place, and two
// for the root.
static __device__ __forceinline__ float reciprocal(float a) { return dg_rcp_approx(a); }
static __device__ __forceinline__ float square_root(float a) { return dg_sqrt_approx(a); }
