//! The kernel of the step bound of a part.

use crate::cuda::text::kernel_text::{KernelText, Plan, SHARED_LIMIT, Universal, planned};
use crate::cuda::text::operators::{Packed, widest_between};
use crate::cuda::text::published::PassFactors;
use crate::cuda::text::sections::of_direction;
use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::space::chain::Factors;

const BLOCK: usize = 128;

/// Bytes of the states of the elements of a block: blocks of this size fill a multiprocessor.
const STATE_BYTES: usize = 28 * 1024;

/// Largest number of points that a thread computes at once.
const AT_ONCE: usize = 8;

/// A dense product is as fast as a chain of sparse factors with this many times fewer terms: a thread reads
/// each entry of the state once for all its points.
const DENSE_GAIN: usize = 4;

/// Adds the interpolation to the volume points as a dense table `[node][point]`, and returns its offset;
/// `None` if the points are the nodes or if the chain of sparse factors takes fewer operations.
pub(crate) fn add_dense<T: PackScalar>(
    packed: &mut Packed<T>,
    factors: &Factors,
    collocated: bool,
) -> Option<usize> {
    if collocated {
        return None;
    }
    let chain = &factors.interp;
    let (first, last) = (&chain.first()?.0, &chain.last()?.0);
    let terms: usize = chain.iter().map(|(m, _)| m.rows.iter().map(Vec::len).sum::<usize>()).sum();
    if chain.len() > 1 && first.cols * last.rows.len() > DENSE_GAIN * terms {
        return None;
    }
    let columns: Vec<Vec<f64>> = (0..first.cols).map(|j| column(chain, j)).collect();
    let at = packed.entries.len();
    packed.entries.extend(columns.into_iter().flatten().map(T::from_f64));
    Some(at)
}

/// Column `j` of the product of a chain.
fn column(chain: &[(Rows, usize)], j: usize) -> Vec<f64> {
    let mut x = vec![0.0; chain.first().map_or(0, |(m, _)| m.cols)];
    if let Some(x) = x.get_mut(j) {
        *x = 1.0;
    }
    for (m, _) in chain {
        x = m.rows.iter().map(|row| row.iter().map(|&(c, v)| v * x[c]).sum()).collect();
    }
    x
}

/// Builds the kernel of the step bound; `dense`: the offset of the table of [`add_dense`], `lifts`: the
/// operators of diffusion, if there is any.
pub(crate) fn speed<T: PackScalar>(
    of: &Universal<'_, T>,
    dense: Option<usize>,
    lifts: Option<&PassFactors>,
) -> KernelText {
    if let Some(lifts) = lifts.filter(|_| of.of.law.coefficients) {
        return speed_with_gradients(of, lifts);
    }
    let (s, interp) = (of.of.sizes(), &of.factors.interp);
    let diffusion = of.of.law.lifts.is_some();
    let by_lanes = s.collocated || dense.is_some();
    let found = BLOCK * (1 + usize::from(diffusion || of.of.part.directions.is_some()));
    let (plan, stride) = if by_lanes {
        let len = s.np * s.fields;
        let fits = |n: &usize| len * (n + 1) * T::BYTES <= STATE_BYTES;
        // The points that the threads of an element compute, of which `nq` are of use.
        let computed = |&n: &usize| s.nq.next_multiple_of(BLOCK / n);
        let elements = [32, 16, 8, 4, 2].into_iter().filter(fits).min_by_key(computed).unwrap_or(1);
        // An odd stride: threads that store the rows of one element use different banks.
        let stride = if elements == 1 { 1 } else { elements + 1 };
        (
            Plan::of_block(elements, BLOCK, &[("STATE_AT", len * stride), ("FOUND_AT", found)], T::BYTES),
            stride,
        )
    } else {
        let between = widest_between(interp);
        let odd = if interp.len() > 2 { between } else { 0 };
        let rows = [s.np, s.nq, between, odd];
        let per_element = rows.iter().sum::<usize>() * s.fields;
        let fit = SHARED_LIMIT / 2 / (per_element * T::BYTES).max(1);
        let elements = (BLOCK * 3 / 2).div_ceil(s.np.max(s.nq)).min(fit).clamp(1, BLOCK);
        let [state, points, even, odd] = rows.map(|rows| rows * s.fields * elements);
        let regions = [
            ("STATE_AT", state),
            ("POINTS_AT", points),
            ("EVEN_AT", even),
            ("ODD_AT", odd),
            ("FOUND_AT", found),
        ];
        (Plan::of_block(elements, BLOCK, &regions, T::BYTES), 1)
    };
    let team = BLOCK / plan.elements;
    let rate = of.of.part.directions.as_ref().and_then(|directions| of.of.law.rate(directions));
    let source =
        rate.unwrap_or_default().to_owned() + &of_direction(include_str!("speed.cu"), rate.is_some());
    let mut text = planned("speed.cu", &source, of, 0, &plan);
    text.source = text
        .source
        .define("DIFFUSION", u8::from(diffusion))
        .define("BY_LANES", u8::from(by_lanes))
        .define("STRIDE", stride)
        .define("TEAM", team)
        .define("AT_ONCE", s.nq.div_ceil(team).min(AT_ONCE))
        .define("DENSE_AT", dense.unwrap_or(0));
    text
}

/// The kernel for diffusive fluxes with a coefficient of each element, which computes gradients.
fn speed_with_gradients<T: PackScalar>(of: &Universal<'_, T>, lifts: &PassFactors) -> KernelText {
    let s = of.of.sizes();
    let between = widest_between(&lifts.gradient);
    let odd = if lifts.gradient.len() > 2 { between } else { 0 };
    let gradients = s.dim * s.nq + if s.collocated { 0 } else { s.nq };
    let rows = [s.np + s.nf, gradients, between, odd];
    let per_element = rows.iter().sum::<usize>() * s.fields;
    let fit = SHARED_LIMIT / 2 / (per_element * T::BYTES).max(1);
    let elements = (BLOCK * 3 / 2).div_ceil(s.np.max(s.nq)).min(fit).clamp(1, BLOCK);
    let [joined, gradients, even, odd] = rows.map(|rows| rows * s.fields * elements);
    let regions = [
        ("JOINED_AT", joined),
        ("GRADIENTS_AT", gradients),
        ("EVEN_AT", even),
        ("ODD_AT", odd),
        ("FOUND_AT", 2 * BLOCK),
    ];
    let plan = Plan::of_block(elements, BLOCK, &regions, T::BYTES);
    let mut text = planned("speed.cu", &of_direction(include_str!("speed.cu"), false), of, 0, &plan);
    text.source = text
        .source
        .define("DIFFUSION", 1)
        .define("BY_LANES", 0)
        .define("STRIDE", 1)
        .define("TEAM", BLOCK / elements)
        .define("AT_ONCE", 1);
    text
}
