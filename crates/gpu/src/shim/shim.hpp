// A block of threads on the host: the same kernel text, compiled as C++17, run by fibres.
//
// Each thread of a block is a fibre with its own stack. It runs until a collective operation (a barrier, an
// exchange between lanes), where it yields. When all lanes of its warp, or all threads of its block, have
// arrived at the same operation, they continue. Threads that can never meet (one has ended, or waits
// elsewhere) end the program with a message. Blocks run one after the other. Fibres run in ascending or in
// descending order: a kernel whose result depends on the order lacks a barrier.
//
// The sanitizers check every access to global memory (each buffer has its exact size), to static and dynamic
// shared memory and to local arrays; alignment of vector types; integer overflow.
//
// This is the part that a kernel's text includes. The fibres are in machine.cpp, which is compiled once: when
// they were part of each text, the compiler spent three quarters of its time on them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

// ---- types -------------------------------------------------------------------------------------

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) double4 { double x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

// ---- device functions that C++ lacks -----------------------------------------------------------

template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
template <class T> T __ldg(const T* address) { return *address; }
template <class T> T __ldcs(const T* address) { return *address; }
template <class T> void __stcs(T* address, T value) { *address = value; }
template <class To, class From> To shim_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "one size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
inline long long __double_as_longlong(double x) { return shim_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return shim_bits<double>(x); }
inline int __float_as_int(float x) { return shim_bits<int>(x); }
inline float __int_as_float(int x) { return shim_bits<float>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }

namespace shim {

constexpr unsigned WARP = 32;

[[noreturn]] void fail(const char* why);

// ---- collective operations ---------------------------------------------------------------------

void meet_warp(const char* operation);
void meet_pair(const char* operation);
void meet_block(const char* operation);

// The number of the thread in its warp.
unsigned lane();

constexpr std::size_t SLOT = 16;

// Publishes some bytes to the warp and returns the set of slots that all lanes have written.
const unsigned char* show(const char* operation, const void* value, std::size_t bytes);
// The bytes that a lane has published.
const unsigned char* shown(const unsigned char* set, unsigned from);

template <class T> T exchange(const char* operation, T value, unsigned from) {
    static_assert(sizeof(T) <= SLOT && std::is_trivially_copyable<T>::value, "at most 16 plain bytes");
    std::memcpy(&value, shown(show(operation, &value, sizeof value), from), sizeof value);
    return value;
}

unsigned ballot(const char* operation, bool yes);
void mma_f64_8x8x4(double& c0, double& c1, double a, double b);
// The same for numbers with 11 bits of mantissa: entries of A are rounded, entries of B truncated.
void mma_tf32_8x8x4(float& c0, float& c1, float a, float b);

// ---- asynchronous copies -----------------------------------------------------------------------

// Copies are done when they are waited for; until then the target contains NaN, so that reading it too early,
// or copying to memory that is still read, shows.
void cp_async(void* to, const void* from, std::size_t bytes);
void cp_async_commit();
void cp_async_wait(unsigned under_way);

// ---- memory and numbers ------------------------------------------------------------------------

unsigned char* dynamic_shared();

// A thread waits for another device: lets other processes go on. In vain for half a minute at most.
void pause();

// The upper 20 bits of a mantissa, as in the device's approximations.
double coarse(double x);

// ---- launches ----------------------------------------------------------------------------------

// Runs `kernel(arguments)` as every thread of every block.
void launch(dim3 grid, dim3 block, std::size_t shared, bool descending, void (*kernel)(const void*), const void* arguments);

} // namespace shim

// ---- CUDA names of the collectives -------------------------------------------------------------

inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __nanosleep(unsigned) { shim::pause(); }
inline void __syncthreads() { shim::meet_block("__syncthreads"); }
inline void __syncwarp(unsigned = 0xffffffffu) { shim::meet_warp("__syncwarp"); }
template <class T> T __shfl_sync(unsigned, T value, unsigned from) {
    return shim::exchange("__shfl_sync", value, from % 32);
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
    return shim::exchange("__shfl_xor_sync", value, (shim::lane() ^ mask) % 32);
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned n) {
    const unsigned from = shim::lane() + n;
    return shim::exchange("__shfl_down_sync", value, from < 32 ? from : shim::lane());
}
inline unsigned __ballot_sync(unsigned, bool yes) { return shim::ballot("__ballot_sync", yes); }
