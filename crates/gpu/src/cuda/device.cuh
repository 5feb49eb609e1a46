// Wrappers of hardware features that C++ lacks: lanes, barriers, shuffles, tensor cores, asynchronous copies,
// lists, approximate reciprocals. Each has a body for the device and, with DGSUITE_SHIM, one for the host,
// where fibres play the threads of a block (shim.hpp). Kernels that use only these run on both from one text.
//
// Collectives (warp_sync, shuffles, votes, mma) must be called by all 32 lanes of a warp together, pair_sync
// by both warps, block_sync by all threads of a block. A block that uses collectives of warps must have a
// multiple of 32 threads.
#pragma once

#ifdef DGSUITE_SHIM
#include "shim.hpp"
#endif

// The number type of states and operators.
#ifdef DG_SINGLE
typedef float real;
#else
typedef double real;
#endif

#define DG_DEVICE __device__ __forceinline__

// `DG_DYNAMIC_SHARED(double, s);` declares `double* s`: the block's dynamic shared memory, aligned to 16
// bytes.
#ifdef DGSUITE_SHIM
#define DG_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(shim::dynamic_shared())
#else
extern __shared__ __align__(16) unsigned char dg_dynamic_shared[];
#define DG_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(dg_dynamic_shared)
#endif
// As `DG_DYNAMIC_SHARED`, for a kernel that uses `bytes`; the host's macro SHARED_BYTES must be the same.
#define DG_PLANNED_SHARED(type, name, bytes)                                                \
    static_assert((bytes) == SHARED_BYTES, "the host plans another size of shared memory"); \
    DG_DYNAMIC_SHARED(type, name)

// ---- lanes and barriers ------------------------------------------------------------------------

// Number of this thread in its warp, 0 to 31.
DG_DEVICE unsigned dg_lane() {
#ifdef DGSUITE_SHIM
    return shim::lane();
#else
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
#endif
}

// Waits for the lanes of the warp; their earlier writes are visible afterwards.
DG_DEVICE void dg_warp_sync() {
#ifdef DGSUITE_SHIM
    shim::meet_warp("dg_warp_sync");
#else
    __syncwarp();
#endif
}

// Waits for the lanes of two warps, 2 i and 2 i + 1, in a one-dimensional block of up to 30 warps; their
// earlier writes are visible afterwards.
DG_DEVICE void dg_pair_sync() {
#ifdef DGSUITE_SHIM
    shim::meet_pair("dg_pair_sync");
#else
    // Barrier 0 belongs to the block.
    asm volatile("bar.sync %0, 64;" ::"r"(1 + (threadIdx.x >> 6)) : "memory");
#endif
}

// Waits for the threads of the block; their earlier writes are visible afterwards.
DG_DEVICE void dg_block_sync() {
#ifdef DGSUITE_SHIM
    shim::meet_block("dg_block_sync");
#else
    __syncthreads();
#endif
}

// ---- consecutive kernels -----------------------------------------------------------------------

// A kernel with an early launch (`LaunchConfig::early`) may start before the previous kernels of the stream
// end; it waits for them here. Before this call it must read only data that none of them writes, and write
// nothing. Returns at once in other launches.
DG_DEVICE void dg_wait_for_kernels_before() {
#if !defined(DGSUITE_SHIM) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Allows the next kernel with an early launch to start, once all blocks have called this or have ended.
DG_DEVICE void dg_let_next_kernel_start() {
#if !defined(DGSUITE_SHIM) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// ---- exchange between lanes --------------------------------------------------------------------

// The value of lane `from` (modulo 32).
template <class T> DG_DEVICE T dg_shuffle(T value, unsigned from) {
#ifdef DGSUITE_SHIM
    return shim::exchange("dg_shuffle", value, from % 32);
#else
    return __shfl_sync(0xffffffffu, value, from);
#endif
}

// The value of lane `lane ^ mask`.
template <class T> DG_DEVICE T dg_shuffle_xor(T value, unsigned mask) {
#ifdef DGSUITE_SHIM
    return shim::exchange("dg_shuffle_xor", value, (dg_lane() ^ mask) % 32);
#else
    return __shfl_xor_sync(0xffffffffu, value, mask);
#endif
}

// The value of lane `lane + n`; this lane's own value if there is no such lane.
template <class T> DG_DEVICE T dg_shuffle_down(T value, unsigned n) {
#ifdef DGSUITE_SHIM
    const unsigned from = dg_lane() + n;
    return shim::exchange("dg_shuffle_down", value, from < 32 ? from : dg_lane());
#else
    return __shfl_down_sync(0xffffffffu, value, n);
#endif
}

// Bit l is set if `yes` is true on lane l.
DG_DEVICE unsigned dg_ballot(bool yes) {
#ifdef DGSUITE_SHIM
    return shim::ballot("dg_ballot", yes);
#else
    return __ballot_sync(0xffffffffu, yes);
#endif
}

DG_DEVICE bool dg_any(bool yes) { return dg_ballot(yes) != 0; }
DG_DEVICE bool dg_all(bool yes) { return dg_ballot(yes) == 0xffffffffu; }

// ---- tensor cores ------------------------------------------------------------------------------

// C += A B with A of 8 x 4, B of 4 x 8, C of 8 x 8 numbers, distributed over the warp (PTX ISA, mma.m8n8k4
// for .f64): lane l holds A[l/4][l%4], B[l%4][l/4], C[l/4][2 (l%4)] and C[l/4][2 (l%4) + 1].
DG_DEVICE void dg_mma_f64_8x8x4(double& c0, double& c1, double a, double b) {
#ifdef DGSUITE_SHIM
    shim::mma_f64_8x8x4(c0, c1, a, b);
#else
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(a), "d"(b));
#endif
}

// Two such products with the same B: C += A B and D += E B. Devices of compute capability 9 compute both in
// one instruction (mma.m16n8k4), at twice the rate.
DG_DEVICE void dg_mma_f64_16x8x4(double& c0, double& c1, double& d0, double& d1, double a, double e, double b) {
#if !defined(DGSUITE_SHIM) && __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(c0), "+d"(c1), "+d"(d0), "+d"(d1)
                 : "d"(a), "d"(e), "d"(b));
#else
    dg_mma_f64_8x8x4(c0, c1, a, b);
    dg_mma_f64_8x8x4(d0, d1, e, b);
#endif
}

// Two such products of TF32 numbers (8 bits of exponent, 11 of mantissa), summed in single precision. The
// entries of A and E are rounded to the nearest here; the entries of B must be TF32 numbers, otherwise their
// last 13 bits are truncated.
DG_DEVICE void dg_mma_tf32_16x8x4(float& c0, float& c1, float& d0, float& d1, float a, float e, float b) {
#ifdef DGSUITE_SHIM
    shim::mma_tf32_8x8x4(c0, c1, a, b);
    shim::mma_tf32_8x8x4(d0, d1, e, b);
#else
    // The tensor cores truncate.
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(c0), "+f"(c1), "+f"(d0), "+f"(d1)
                 : "r"(__float_as_uint(a) + 0x1000u), "r"(__float_as_uint(e) + 0x1000u), "r"(__float_as_uint(b)));
#endif
}

// ---- asynchronous copies -----------------------------------------------------------------------

// Starts a copy of 16 bytes from global to shared memory; both addresses are multiples of 16.
DG_DEVICE void dg_cp_async16(void* shared, const void* global) {
#ifdef DGSUITE_SHIM
    shim::cp_async(shared, global, 16);
#else
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
#endif
}

// As dg_cp_async16, for 8 bytes.
DG_DEVICE void dg_cp_async8(void* shared, const void* global) {
#ifdef DGSUITE_SHIM
    shim::cp_async(shared, global, 8);
#else
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(global) : "memory");
#endif
}

// Closes a group: the copies of this thread since the last one.
DG_DEVICE void dg_cp_async_commit() {
#ifdef DGSUITE_SHIM
    shim::cp_async_commit();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most N groups of this thread are in flight. Other threads see the copies after a barrier.
template <int N> DG_DEVICE void dg_cp_async_wait() {
#ifdef DGSUITE_SHIM
    shim::cp_async_wait(N);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// ---- memory ------------------------------------------------------------------------------------

// Reads data that no thread writes during the kernel.
template <class T> DG_DEVICE T dg_load(const T* address) { return __ldg(address); }

// Reads, and writes, data that is not used again soon.
template <class T> DG_DEVICE T dg_load_once(const T* address) { return __ldcs(address); }
template <class T> DG_DEVICE void dg_store_once(T* address, T value) { __stcs(address, value); }

// Prefetches the cache line of an address, for a read some hundred instructions later. The address need not
// be valid.
DG_DEVICE void dg_prefetch(const void* address) {
#ifdef DGSUITE_SHIM
    (void)address;
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// Appends a number to a list of the length `*count`. The order of the list is not defined; on the host it is
// ascending, whatever the order of the threads.
DG_DEVICE void dg_append(unsigned* list, unsigned* count, unsigned value) {
#ifdef DGSUITE_SHIM
    unsigned i = (*count)++;
    for (; i > 0 && list[i - 1] > value; --i) list[i] = list[i - 1];
    list[i] = value;
#else
    list[atomicAdd(count, 1u)] = value;
#endif
}

// ---- reciprocals -------------------------------------------------------------------------------

// 1 / x and 1 / sqrt(x) to about 20 bits, for x of normal size.
DG_DEVICE double dg_rcp_approx(double x) {
#ifdef DGSUITE_SHIM
    return shim::coarse(1.0 / x);
#else
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
#endif
}

DG_DEVICE double dg_rsqrt_approx(double x) {
#ifdef DGSUITE_SHIM
    return shim::coarse(1.0 / sqrt(x));
#else
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
#endif
}

// 1 / x within one unit in the last place, and sqrt(x) within two, for x of normal size.
DG_DEVICE float dg_rcp_approx(float x) {
#ifdef DGSUITE_SHIM
    return 1.0f / x;
#else
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

DG_DEVICE float dg_sqrt_approx(float x) {
#ifdef DGSUITE_SHIM
    return sqrtf(x);
#else
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

// 1 / x by Newton's method: relative error below 2 units in the last place, for x of normal size. NaN for
// NaN.
DG_DEVICE double dg_reciprocal(double x) {
    double y = dg_rcp_approx(x);
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
}

// 1 / sqrt(x) by Newton's method: relative error below 2 units in the last place, for x of normal size. NaN
// for x < 0.
DG_DEVICE double dg_rsqrt(double x) {
    double y = dg_rsqrt_approx(x);
    double h = 0.5 * x;
    y = fma(y, fma(-h * y, y, 0.5), y);
    return fma(y, fma(-h * y, y, 0.5), y);
}

// sqrt(x) for x of normal size.
DG_DEVICE double dg_sqrt(double x) {
    const double y = dg_rsqrt(x);
    const double root = x * y;
    return fma(fma(-root, root, x), 0.5 * y, root);
}

DG_DEVICE float dg_reciprocal(float x) { return 1.0f / x; }
DG_DEVICE float dg_rsqrt(float x) { return rsqrtf(x); }
DG_DEVICE float dg_sqrt(float x) { return sqrtf(x); }
