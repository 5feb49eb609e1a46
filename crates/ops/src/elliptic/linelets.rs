//! Point Jacobi with linelets: a smoother for stretched elements.
//!
//! On thin elements, point smoothers fail for functions that vary fast along a layer and slowly over many
//! layers. These functions are of low degree across each element, so that a small space suffices: with the
//! functions R of an element that are of degree 1 across the layer,
//!
//! ```text
//! B = W ( D⁻¹ + R (Rᵀ A R)⁻¹ Rᵀ ) W,
//! ```
//!
//! where `RᵀAR` is restricted to the couplings along *linelets*, lines of strongly coupled elements (Soto,
//! Löhner & Camelli 2003 for vertices; Mavriplis 1998), and is block tridiagonal. W is diagonal, `√0.7` on
//! elements in linelets and 1 elsewhere, so that the largest eigenvalue of `B A` grows little. B is symmetric
//! and positive definite.
//!
//! On quadrilaterals, hexahedra and prisms D is the diagonal of the matrix for the Gauss–Lobatto basis, which
//! damps more than that for the operator's nodes. On quadrilaterals and hexahedra R has the functions that
//! are nodal along the layer; couplings between these are left out, so that each node of the layer has its
//! own tridiagonal system, with blocks of 2 × 2. On other shapes the blocks of a linelet are dense.
//!
//! If it is wanted, the diagonal of the continuous functions of elements in no linelet is added
//! ([`conforming`]).

mod conforming;
mod device;
mod factor;
mod find;
mod lobatto;
mod reduced;
mod set_up;
mod shared_nodes;

pub(crate) use conforming::Conforming;

use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::rhs::residual::multiply;
use crate::space::chain::Chain;
use crate::space::layout::Layout;
use dgsuite_basis::Shape;
use dgsuite_gpu::{Buffer, Element, Host, SimdLevel};
use factor::{Size, solve};
use find::Link;
use rayon::prelude::*;
use std::sync::Arc;

/// The factor of the smoother on elements in linelets.
const WEIGHT: f64 = 0.7;

/// An element that is in no linelet.
const NOWHERE: u32 = u32::MAX;

/// Linelets that one task solves.
const LINES: usize = 16;

/// The functions R of an element, for residuals of the smoother's basis.
enum Reduced<T> {
    /// `[node][function]`.
    Dense { n: usize, values: Vec<T> },
    /// For each node the number along the layer, of `count`, and the values of the two linear functions.
    Nodal { count: usize, nodes: Vec<(u16, [T; 2])> },
}

impl<T: PackScalar> Reduced<T> {
    fn size(&self) -> Size {
        match self {
            Self::Dense { n, .. } => Size { n: *n, count: 1 },
            Self::Nodal { count, .. } => Size { n: 2, count: *count },
        }
    }

    /// `x ← Rᵀ r`; `turn` are the systems of the numbers along the layer.
    fn restrict(&self, turn: &[u16], r: impl Iterator<Item = T>, x: &mut [T]) {
        x.fill(T::ZERO);
        match self {
            Self::Dense { n, values } => {
                for (row, r) in values.chunks_exact(*n).zip(r) {
                    x.iter_mut().zip(row).for_each(|(x, v)| *x += *v * r);
                }
            }
            Self::Nodal { count, nodes } => {
                let (low, high) = x.split_at_mut(*count);
                for ((k, [a, b]), r) in nodes.iter().zip(r) {
                    let system = turn[*k as usize] as usize;
                    low[system] += *a * r;
                    high[system] += *b * r;
                }
            }
        }
    }

    /// `z ← z + w R x`.
    fn prolong<'a>(&self, turn: &[u16], weight: T, x: &[T], z: impl Iterator<Item = &'a mut T>)
    where
        T: 'a,
    {
        match self {
            Self::Dense { n, values } => {
                for (row, z) in values.chunks_exact(*n).zip(z) {
                    let mut sum = T::ZERO;
                    row.iter().zip(x).for_each(|(v, x)| sum += *v * *x);
                    *z += weight * sum;
                }
            }
            Self::Nodal { count, nodes } => {
                for ((k, [a, b]), z) in nodes.iter().zip(z) {
                    let system = turn[*k as usize] as usize;
                    *z += weight * (*a * x[system] + *b * x[count + system]);
                }
            }
        }
    }
}

/// An element of a linelet.
#[derive(Clone, Copy)]
struct Member {
    /// Its number in the mesh.
    element: u32,
    group: u8,
    /// The lane of the element, counted over all blocks.
    slot: u32,
    /// Its [`Reduced`].
    reduced: u32,
    /// The systems of its numbers along the layer.
    turn: u16,
}

/// The elements of one shape.
struct GroupInverse<T: Element> {
    shape: Shape,
    layout: Layout,
    offset: usize,
    /// From residuals of the operator's nodes to those of the Gauss–Lobatto basis, and from functions of that
    /// basis to the operator's nodes.
    change: Option<[Chain<T>; 2]>,
    /// The factors of `change`, for a device.
    factors: Option<[Vec<Rows>; 2]>,
    /// Entries of `W D⁻¹ W`.
    diagonal: Buffer<T>,
    /// The member of each slot, or [`NOWHERE`].
    members: Vec<u32>,
}

/// The linelets of a mesh.
#[derive(Clone, Debug, Default)]
pub struct Linelets(Vec<Vec<Link>>);

impl Linelets {
    /// The elements of each, in their order, as numbered in the mesh.
    #[must_use]
    pub fn elements(&self) -> Vec<Vec<u32>> {
        self.0.iter().map(|line| line.iter().map(|link| link.element).collect()).collect()
    }

    /// Those whose elements have other numbers, in these.
    pub(super) fn renumbered(&self, number: impl Fn(u32) -> Option<u32>) -> Self {
        let of_line = |line: &Vec<Link>| {
            let link = |link: &Link| Some(Link { element: number(link.element)?, ..*link });
            line.iter().map(link).collect::<Option<Vec<Link>>>()
        };
        Self(self.0.iter().filter_map(of_line).collect())
    }
}

/// A linelet: its members, and where its unknowns and factors start.
struct Line {
    members: std::ops::Range<usize>,
    first_factor: usize,
}

/// What the linelets of a mesh are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineletSummary {
    /// Number of linelets.
    pub lines: usize,
    /// Elements in them.
    pub elements: usize,
    /// Elements of the longest.
    pub longest: usize,
    /// Bytes of their factors.
    pub bytes: usize,
}

/// Point Jacobi with linelets for an operator, `B = W (D⁻¹ + R (RᵀAR)⁻¹ Rᵀ) W`, where R has the functions of
/// degree 1 across thin elements, and if wanted `+ Q diag(QᵀAQ)⁻¹ Qᵀ` with the continuous functions Q.
pub struct LineletInverse<T: Element> {
    host: Arc<Host>,
    level: SimdLevel,
    /// Whether all elements have one shape, on all ranks.
    pub(crate) of_one_shape: bool,
    /// Whether the operator's nodes are those of the smoother on all elements of all ranks.
    pub(crate) keeps_nodes: bool,
    /// Whether any rank has a linelet.
    pub(crate) has_lines: bool,
    groups: Vec<GroupInverse<T>>,
    /// The continuous functions, if they are wanted.
    pub(crate) conforming: Option<Conforming<T>>,
    lines: Vec<Line>,
    members: Vec<Member>,
    /// The first unknown of each member, then the number of all.
    starts: Vec<usize>,
    reduced: Vec<Reduced<T>>,
    turns: Vec<Vec<u16>>,
    factors: Vec<T>,
    unknowns: Vec<T>,
}

impl<T: PackScalar> LineletInverse<T> {
    /// `z ← B r`.
    ///
    /// # Panics
    /// If the length of a vector is not that of the operator's vectors.
    pub fn apply(&mut self, r: &[T], z: &mut [T]) {
        let n: usize = self.groups.iter().map(|g| g.layout.len()).sum();
        assert!(r.len() == n && z.len() == n, "vectors of {n} entries");
        let host = Arc::clone(&self.host);
        host.install(|| {
            self.change_residual(r, z);
            self.solve_lines(z);
            if let Some(conforming) = &mut self.conforming {
                conforming.sum(z);
            }
            self.add_and_change(z);
        });
    }

    /// The residual of the smoother's basis.
    fn change_residual(&self, r: &[T], z: &mut [T]) {
        let mut rest = z;
        for group in &self.groups {
            let (own, others) = rest.split_at_mut(group.layout.len());
            rest = others;
            let (len, r) = (group.layout.block_len(), &r[group.offset..][..group.layout.len()]);
            own.par_chunks_mut(len).zip(r.par_chunks(len)).for_each_init(
                || Work::new(group.change.is_some(), len),
                |work, (z, r)| match (&group.change, work) {
                    (Some([inwards, _]), Some(Work { between, .. })) => {
                        multiply(self.level, 1, inwards, r, between, z);
                    }
                    _ => z.copy_from_slice(r),
                },
            );
        }
    }

    /// Restricts the residual to the linelets and solves them.
    fn solve_lines(&mut self, r: &[T]) {
        let Self { lines, members, starts, reduced, turns, factors, unknowns, groups, .. } = self;
        let mut tasks = Vec::with_capacity(lines.len().div_ceil(LINES));
        let mut rest = &mut unknowns[..];
        for lines in lines.chunks(LINES) {
            let range = lines[0].members.start..lines[lines.len() - 1].members.end;
            let (own, others) = rest.split_at_mut(starts[range.end] - starts[range.start]);
            rest = others;
            tasks.push((lines, own));
        }
        tasks.into_par_iter().for_each(|(lines, mut x)| {
            let (mut sizes, mut work) = (Vec::new(), Vec::new());
            for line in lines {
                let first = starts[line.members.start];
                let (own, others) = x.split_at_mut(starts[line.members.end] - first);
                x = others;
                sizes.clear();
                for k in line.members.clone() {
                    let member = &members[k];
                    let (group, of) = (&groups[member.group as usize], &reduced[member.reduced as usize]);
                    sizes.push(of.size());
                    let at = group.offset + group.layout.index(member.slot as usize, 0, 0);
                    let values = r[at..].iter().copied().step_by(group.layout.row_stride());
                    let x = &mut own[starts[k] - first..starts[k + 1] - first];
                    of.restrict(&turns[member.turn as usize], values, x);
                }
                solve(&sizes, &factors[line.first_factor..], own, &mut work);
            }
        });
    }

    /// Multiplies by the diagonal, adds the linelets, and returns to the operator's nodes.
    fn add_and_change(&self, z: &mut [T]) {
        let weight = T::from_f64(WEIGHT);
        let mut rest = z;
        for group in &self.groups {
            let (own, others) = rest.split_at_mut(group.layout.len());
            rest = others;
            let (len, lanes) = (group.layout.block_len(), group.layout.lanes);
            own.par_chunks_mut(len).enumerate().for_each_init(
                || Work::new(group.change.is_some(), len),
                |work, (b, z)| {
                    let d = &group.diagonal[b * len..(b + 1) * len];
                    z.iter_mut().zip(d).for_each(|(z, d)| *z *= *d);
                    for lane in 0..lanes {
                        let member = group.members[b * lanes + lane];
                        if member == NOWHERE {
                            continue;
                        }
                        let (k, member) = (member as usize, &self.members[member as usize]);
                        let of = &self.reduced[member.reduced as usize];
                        let x = &self.unknowns[self.starts[k]..self.starts[k + 1]];
                        let values = z[lane..].iter_mut().step_by(lanes);
                        of.prolong(&self.turns[member.turn as usize], weight, x, values);
                    }
                    if let Some(conforming) = &self.conforming {
                        conforming.add(group.offset + b * len, z);
                    }
                    if let (Some([_, outwards]), Some(Work { between, copy })) = (&group.change, work) {
                        copy.copy_from_slice(z);
                        multiply(self.level, 1, outwards, copy, between, z);
                    }
                },
            );
        }
    }

    /// The elements of each linelet, in their order, as numbered in the mesh.
    #[must_use]
    pub fn elements(&self) -> Vec<Vec<u32>> {
        let of = |line: &Line| self.members[line.members.clone()].iter().map(|member| member.element);
        self.lines.iter().map(|line| of(line).collect()).collect()
    }

    /// What the linelets are.
    #[must_use]
    pub fn summary(&self) -> LineletSummary {
        LineletSummary {
            lines: self.lines.len(),
            elements: self.members.len(),
            longest: self.lines.iter().map(|line| line.members.len()).max().unwrap_or(0),
            bytes: (self.factors.len() + self.unknowns.len()) * size_of::<T>(),
        }
    }

    /// Memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let conforming = self.conforming.as_ref().map_or(0, Conforming::bytes);
        conforming
            + self.summary().bytes
            + self.groups.iter().map(|g| g.diagonal.len() * size_of::<T>()).sum::<usize>()
    }
}

/// Work space of a thread for the change between bases.
struct Work<T: Element> {
    between: [Buffer<T>; 2],
    copy: Buffer<T>,
}

impl<T: PackScalar> Work<T> {
    /// Space for a block; `None` if it is not wanted or memory is exhausted.
    fn new(wanted: bool, len: usize) -> Option<Self> {
        let room = || Buffer::zeros(if wanted { len } else { 0 }).ok();
        Some(Self { between: [room()?, room()?], copy: room()? }).filter(|_| wanted)
    }
}
