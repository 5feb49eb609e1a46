// Conjugate gradients without waits: the scalars of the method stay in device memory (`SLOTS` of pcg.rs), and
// the updates of vectors read their factors there. Sums have the bits of reduce.cu.
#include "reduce.cuh"
#include "exact.cuh"

#define PAIRS 12
#define PARTS 4
#define UNROLL 4

// Slots, as in pcg.rs.
#define TARGET 0
#define FIRST 1
#define RHO 2
#define ALPHA 3
#define MINUS_ALPHA 4
#define BETA 5
#define STATUS 6
#define VALUE 7
#define COUNT 8
#define TRUE_RESIDUAL 9
#define REMOVED 10
#define SUMS 12
#define HISTORY 24
#define HISTORY_LENGTH 256

// Values of STATUS.
#define ALIVE 0.0
#define CONVERGED 1.0
#define NOT_POSITIVE 2.0
#define CURVATURE_NOT_FINITE 3.0
#define RESIDUAL_NOT_FINITE 4.0
#define DIVERGED 5.0
#define PRODUCT_NOT_FINITE 6.0
#define PRODUCT_NOT_POSITIVE 7.0
#define FIRST_REFUSED 8.0

struct Pairs {
    const double* x[PAIRS];
    const double* y[PAIRS];
};

struct Vectors {
    double* x[PARTS];
};

// Partial sums of x y for each pair, a row of blocks a pair.
extern "C" __global__ void __launch_bounds__(THREADS) pcg_dots(Pairs pairs, double* partial, unsigned long long n) {
    const double* const x = pairs.x[blockIdx.y];
    const double* const y = pairs.y[blockIdx.y];
    leaf<Dot>(
        0.0, partial + (unsigned long long)blockIdx.y * gridDim.x, n,
        [&](unsigned long long i) { return x[i] * y[i]; }, [](double lane, double entry) { return lane + entry; });
}

// y <- y + a x for each part, and partial sums of the squares.
extern "C" __global__ void __launch_bounds__(THREADS)
    pcg_add_and_square(Vectors to, Pairs from, const double* slots, double* partial, unsigned long long n) {
    double* const y = to.x[blockIdx.y];
    const double* const x = from.x[blockIdx.y];
    const double a = slots[MINUS_ALPHA];
    leaf<Dot>(
        0.0, partial + (unsigned long long)blockIdx.y * gridDim.x, n,
        [&](unsigned long long i) {
            const double sum = a == 0.0 ? y[i] : y[i] + a * x[i];
            y[i] = sum;
            return sum * sum;
        },
        [](double lane, double entry) { return lane + entry; });
}

// As pcg_dots and pcg_add_and_square for sums by items: the accumulators of each pair follow each other.
extern "C" __global__ void __launch_bounds__(32 * ITEM_WARPS) pcg_exact_dots(Pairs pairs, ItemLists lists, long long* words) {
    const double* const x = pairs.x[blockIdx.y];
    const double* const y = pairs.y[blockIdx.y];
    sum_items(lists, words + blockIdx.y * EXACT_WORDS, [&](unsigned long long i) { return x[i] * y[i]; });
}

extern "C" __global__ void __launch_bounds__(32 * ITEM_WARPS)
    pcg_exact_add_and_square(Vectors to, Pairs from, const double* slots, ItemLists lists, long long* words) {
    double* const y = to.x[blockIdx.y];
    const double* const x = from.x[blockIdx.y];
    const double a = slots[MINUS_ALPHA];
    sum_items(lists, words + blockIdx.y * EXACT_WORDS, [&](unsigned long long i) {
        const double sum = a == 0.0 ? y[i] : y[i] + a * x[i];
        y[i] = sum;
        return sum * sum;
    });
}

#define FOR_EACH_ENTRY(i, n)                                                                                     \
    _Pragma("unroll") for (unsigned long long step = 0,                                                         \
                           i = blockIdx.x * (unsigned long long)(THREADS * UNROLL) + threadIdx.x;               \
                           step < UNROLL; step++, i += THREADS) if (i < n)

// y <- y - s x with the sum s in slot REMOVED.
extern "C" __global__ void __launch_bounds__(THREADS)
    pcg_remove(Vectors to, Pairs from, const double* slots, unsigned long long n) {
    double* const y = to.x[blockIdx.y];
    const double* const x = from.x[blockIdx.y];
    const double a = -slots[REMOVED];
    FOR_EACH_ENTRY(i, n) { y[i] = y[i] + a * x[i]; }
}

// x <- x + alpha p, then p <- z + beta p, for each part; nothing after the end of the iteration.
extern "C" __global__ void __launch_bounds__(THREADS)
    pcg_step_and_turn(Vectors of_p, Vectors of_x, Pairs of_z, const double* slots, unsigned long long n) {
    double* const p = of_p.x[blockIdx.y];
    double* const x = of_x.x[blockIdx.y];
    const double* const z = of_z.x[blockIdx.y];
    const double a = slots[ALPHA], b = slots[BETA];
    if (a == 0.0) return;
    FOR_EACH_ENTRY(i, n) {
        const double direction = p[i];
        x[i] = x[i] + a * direction;
        p[i] = b == 0.0 ? z[i] : b * direction + z[i];
    }
}

DG_DEVICE bool is_finite(double x) { return fabs(x) <= 1.7976931348623157e308; }

// The sum over parts of the joined sums, in order.
DG_DEVICE double of_parts(const double* sums, unsigned parts) {
    double sum = sums[0];
    for (unsigned k = 1; k < parts; k++) sum += sums[k];
    return sum;
}

DG_DEVICE void stop(double* slots, double status, double value) {
    slots[STATUS] = status;
    slots[VALUE] = value;
}

// What follows a sum.
#define BEGIN 0
#define START 1
#define STEP 2
#define TURN 3
#define CONFIRM 4
#define REMOVE 5

// The first residual is in the sums, and then the squares of the right-hand side, if `relative` refers to it.
DG_DEVICE void begin(double* slots, unsigned parts, double relative, double absolute, double smallest, bool to_rhs) {
    const double residual = sqrt(of_parts(slots + SUMS, parts));
    const double reference = to_rhs ? sqrt(of_parts(slots + SUMS + parts, parts)) : residual;
    const double scaled = relative * reference;
    // As f64::max, which drops a NaN.
    const double target = scaled > absolute ? scaled : absolute;
    slots[TARGET] = target;
    slots[FIRST] = residual;
    slots[COUNT] = 0.0;
    slots[ALPHA] = slots[MINUS_ALPHA] = slots[BETA] = 0.0;
    const bool usual = is_finite(residual) && (residual > target ? residual : target) >= smallest;
    stop(slots, !usual ? FIRST_REFUSED : residual <= target ? CONVERGED : ALIVE, residual);
}

DG_DEVICE bool refuse_product(double* slots, double product) {
    if (!is_finite(product)) stop(slots, PRODUCT_NOT_FINITE, product);
    else if (product <= 0.0) stop(slots, PRODUCT_NOT_POSITIVE, product);
    else return false;
    return true;
}

// The sums are r z.
DG_DEVICE void start(double* slots, unsigned parts) {
    if (slots[STATUS] != ALIVE) return;
    const double product = of_parts(slots + SUMS, parts);
    if (!refuse_product(slots, product)) slots[RHO] = product;
}

// The sums are p A p.
DG_DEVICE void step(double* slots, unsigned parts) {
    slots[ALPHA] = slots[MINUS_ALPHA] = slots[BETA] = 0.0;
    if (slots[STATUS] != ALIVE) return;
    const double curvature = of_parts(slots + SUMS, parts);
    if (!is_finite(curvature)) return stop(slots, CURVATURE_NOT_FINITE, curvature);
    slots[VALUE] = curvature;
    if (curvature <= 0.0) return stop(slots, NOT_POSITIVE, curvature);
    const double alpha = slots[RHO] / curvature;
    slots[ALPHA] = alpha;
    slots[MINUS_ALPHA] = -alpha;
}

// The sums are r r, r z and, in the flexible method, z A p.
DG_DEVICE void turn(double* slots, unsigned parts, double divergence, bool flexible) {
    if (slots[STATUS] != ALIVE) return;
    const double residual = sqrt(of_parts(slots + SUMS, parts));
    const unsigned count = unsigned(slots[COUNT]);
    if (count < HISTORY_LENGTH) slots[HISTORY + count] = residual;
    slots[COUNT] = double(count + 1);
    if (!is_finite(residual)) return stop(slots, RESIDUAL_NOT_FINITE, residual);
    if (residual > divergence * slots[FIRST]) return stop(slots, DIVERGED, residual);
    if (residual <= slots[TARGET]) return stop(slots, CONVERGED, residual);
    const double next = of_parts(slots + SUMS + parts, parts);
    if (refuse_product(slots, next)) return;
    slots[BETA] = flexible ? -of_parts(slots + SUMS + 2 * parts, parts) / slots[VALUE] : next / slots[RHO];
    slots[RHO] = next;
}

// What follows the sums in the slots.
DG_DEVICE void go_on(double* slots, unsigned what, unsigned parts, double relative, double absolute, double limit,
                     unsigned flag) {
    switch (what) {
    case BEGIN: return begin(slots, parts, relative, absolute, limit, flag != 0);
    case START: return start(slots, parts);
    case STEP: return step(slots, parts);
    case TURN: return turn(slots, parts, limit, flag != 0);
    case CONFIRM: slots[TRUE_RESIDUAL] = sqrt(of_parts(slots + SUMS, parts)); return;
    default: slots[REMOVED] = of_parts(slots + SUMS, parts);
    }
}

// Joins the partial sums of each pair, and then computes the scalars that follow from them. One block.
extern "C" __global__ void __launch_bounds__(JOINED)
    pcg_join(const double* partial, unsigned count, unsigned pairs, double* slots, unsigned what, unsigned parts,
             double relative, double absolute, double limit, unsigned flag) {
    for (unsigned k = 0; k < pairs; k++) join<Dot>(partial + (unsigned long long)k * count, count, slots + SUMS + k);
    if (threadIdx.x == 0) go_on(slots, what, parts, relative, absolute, limit, flag);
}

// As pcg_join for sums by items; empties the accumulators. One block, with a thread for each pair.
extern "C" __global__ void pcg_exact_join(long long* words, unsigned pairs, double* slots, unsigned what, unsigned parts,
                                          double relative, double absolute, double limit, unsigned flag) {
    exact_values<PAIRS>(words, pairs, slots + SUMS);
    dg_block_sync();
    if (threadIdx.x == 0) go_on(slots, what, parts, relative, absolute, limit, flag);
}

// Begins a batch of iterations: the history is empty. `revive` continues after a residual that was computed
// anew.
extern "C" __global__ void pcg_rewind(double* slots, unsigned revive) {
    slots[COUNT] = 0.0;
    if (revive != 0) stop(slots, ALIVE, 0.0);
}
