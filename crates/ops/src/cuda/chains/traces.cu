// Traces of any element; see traces_pass.cuh.
//
// Macros beside those of passes.cuh: BLOCK threads, the chain TRACE, the layout of the work space EVEN_AT,
// ODD_AT, OUT_AT and its size WORK; it is in shared memory if SHARED_WORK.

#include "passes.cuh"

constexpr int THREADS = BLOCK;
constexpr bool PERSISTENT = true;

struct Traces {
    static DG_DEVICE real* room(const Arguments& a) { return work_space(a); }
    static DG_DEVICE u32 state_at(u32 i) { return by_rows(i); }
    static DG_DEVICE void load(const Arguments&, real*) {}
    static DG_DEVICE void interpolate(const Arguments& a, u32 n, real* work) {
        multiply_chain(a, TRACE, n, work, work + EVEN_AT, work + ODD_AT, work + OUT_AT);
    }
    static DG_DEVICE u32 trace_at(u32 i) { return OUT_AT + i; }
};

#include "traces_pass.cuh"
