//! The set-up of linelets: members, tables and factors.

use super::conforming::Conforming;
use super::factor::{Size, factor_len, factorise};
use super::find::{Across, Link, directions};
use super::lobatto::Lobatto;
use super::{GroupInverse, Line, LineletInverse, Linelets, Member, NOWHERE, Reduced, WEIGHT, reduced};
use crate::elliptic::assemble::{Diagonals, add_coupling};
use crate::elliptic::functions::Functions;
use crate::elliptic::space::ElementTerms;
use crate::elliptic::tables::{Tables, clean, node_set};
use crate::elliptic::transfer::along;
use crate::elliptic::{Beyond, Sipdg, Space};
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use crate::space::chain::Chain;
use dgsuite_basis::{LagrangeBasis, Matrix, NodeSet, Shape, nodes};
use dgsuite_gpu::{Buffer, SimdLevel};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the factors of a member are computed from.
struct OfMember<'a> {
    functions: &'a Functions<'static>,
    size: Size,
    turn: &'a [u16],
}

/// What determines the functions R of most elements: group, part, direction, and whether they are nodal along
/// the layer.
type Key = (usize, usize, u8, bool);

impl<T: PackScalar> Sipdg<T> {
    /// Finds the linelets without setting them up; on several ranks, returns those of own elements.
    #[must_use]
    pub fn linelets(&self) -> &Linelets {
        self.space.linelets(self.level)
    }

    /// Sets up point Jacobi with linelets, and with the diagonal of the continuous functions if they are
    /// wanted.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] if a linelet is not positive definite, [`OpsError::Machine`] if memory runs
    /// out, [`OpsError::Basis`].
    pub fn linelet_inverse(&self, continuous: bool) -> Result<LineletInverse<T>, OpsError> {
        let refresh = |vector: &mut [T]| self.refresh(vector);
        self.space.linelet_inverse(self.level, continuous.then_some(&refresh))
    }

    /// Sets up point Jacobi with linelets for the operator with the constant `lambda` instead of its own λ,
    /// without setting up that operator.
    ///
    /// # Errors
    /// As for [`linelet_inverse`](Self::linelet_inverse) and [`with_reaction`](Self::with_reaction).
    pub fn linelet_inverse_with_reaction(&self, lambda: f64) -> Result<LineletInverse<T>, OpsError> {
        let problem = Arc::new(self.space.problem.with_reaction(lambda)?);
        let mut space = Space::<T>::new(problem, self.space.order, self.level)?;
        space.trace.clone_from(&self.space.trace);
        space.linelet_inverse(self.level, None)
    }
}

impl<T: PackScalar> Space<T> {
    /// With continuous functions if `refresh` brings the entries of the layer.
    fn linelet_inverse(
        &self,
        level: SimdLevel,
        refresh: Option<&dyn Fn(&mut [T])>,
    ) -> Result<LineletInverse<T>, OpsError> {
        let space = self;
        let found = &space.linelets(level).0;
        let host = Arc::clone(&space.problem.host);
        let mut groups = Vec::new();
        // The nodes of the smoother's basis, and the values of its functions at the operator's nodes.
        let mut bases: Vec<(Vec<[f64; 3]>, Option<Matrix>)> = Vec::new();
        for group in &space.groups {
            let reference = &group.parts[0].reference;
            let nodes = reference.nodes.clone().unwrap_or_default();
            let (lanes, rows) = (group.state.lanes, T::panel_rows(level, 1));
            let tensor = matches!(group.shape, Shape::Quadrilateral | Shape::Hexahedron);
            let prism = group.shape == Shape::Prism;
            let change = if prism {
                let lobatto = LagrangeBasis::with_nodes(group.shape, space.order, NodeSet::GaussLobatto)?;
                let m = clean(&lobatto.eval(&nodes));
                Some([of_prism(&m.transpose(), space.order), of_prism(&m, space.order)])
            } else if tensor {
                let line = |set: NodeSet| LagrangeBasis::with_nodes(Shape::Line, space.order, set);
                let lobatto = line(NodeSet::GaussLobatto)?;
                let m = clean(&lobatto.eval(line(NodeSet::GaussLegendre)?.nodes()));
                let (dim, n) = (group.shape.dim(), space.order + 1);
                Some([along(&m.transpose(), dim, n, n), along(&m, dim, n, n)])
            } else {
                None
            };
            let chain = |stages: &Vec<(Rows, usize)>| Chain::new(stages, rows, lanes);
            bases.push(if tensor || prism {
                let basis = LagrangeBasis::with_nodes(group.shape, space.order, NodeSet::GaussLobatto)?;
                (basis.nodes().to_vec(), Some(clean(&basis.eval(&nodes))))
            } else {
                (nodes, None)
            });
            groups.push(GroupInverse {
                shape: group.shape,
                layout: group.state,
                offset: group.offset,
                change: change.as_ref().map(|both| both.each_ref().map(chain)),
                factors: change.map(|both| both.map(|stages| stages.into_iter().map(|(m, _)| m).collect())),
                diagonal: Buffer::zeros_on(&host, group.state.len())?,
                members: vec![NOWHERE; group.state.blocks * lanes],
            });
        }
        // Members, their tables, and the systems of their numbers along the layer.
        let (mut lines, mut members, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        let (mut reduced, mut turns): (Vec<Reduced<T>>, Vec<Vec<u16>>) = (Vec::new(), vec![Vec::new()]);
        let mut tables: BTreeMap<Key, (u32, Functions<'static>)> = BTreeMap::new();
        let mut keys: Vec<Option<Key>> = Vec::new();
        let mut n_factors = 0;
        for line in found {
            let is_tensor = |link: &Link| {
                matches!(
                    space.problem.mesh.shape(link.element as usize),
                    Shape::Quadrilateral | Shape::Hexahedron
                )
            };
            let nodal = line.iter().all(is_tensor);
            let first_member = members.len();
            let first_factor = n_factors;
            let mut before: Option<Size> = None;
            for link in line {
                let e = link.element as usize;
                let (g, p) = space.part_of(e);
                let (key, along) = match link.across {
                    Across::Edge(d) => {
                        (Some((g, p, d, nodal)), directions(space.groups[g].shape)[d as usize].along)
                    }
                    Across::Vector(v) => (None, v),
                };
                let table = match key.and_then(|key| tables.get(&key)) {
                    Some((table, _)) => *table,
                    None => {
                        let (functions, of) = self.reduced_functions([g, p], along, nodal, &bases[g]);
                        reduced.push(of);
                        let table = reduced.len() as u32 - 1;
                        if let Some(key) = key {
                            tables.insert(key, (table, functions));
                        }
                        table
                    }
                };
                let size = reduced[table as usize].size();
                let turn = match (nodal, link.face) {
                    (false, _) => Vec::new(),
                    (true, None) => (0..size.count as u16).collect(),
                    (true, Some(face)) => {
                        let last: &Member = &members[members.len() - 1];
                        space.turned(link, face, &turns[last.turn as usize])
                    }
                };
                let known = turns.iter().position(|known| *known == turn);
                let turn = known.unwrap_or_else(|| {
                    turns.push(turn);
                    turns.len() - 1
                });
                let (group, slot) = space.place[e];
                groups[g].members[slot as usize] = members.len() as u32;
                members.push(Member {
                    element: link.element,
                    group,
                    slot,
                    reduced: table,
                    turn: turn as u16,
                });
                keys.push(key);
                starts.push(starts[starts.len() - 1] + size.len());
                n_factors += factor_len(size, before);
                before = Some(size);
            }
            lines.push(Line { members: first_member..members.len(), first_factor });
        }
        let diagonals = (0..groups.len())
            .map(|g| Diagonal::new(space, g, bases[g].1.as_ref()))
            .collect::<Result<Vec<_>, OpsError>>()?;
        let mut own = vec![T::ZERO; refresh.map_or(0, |_| space.len())];
        let mut rest = &mut own[..];
        for (g, inverse) in groups.iter_mut().enumerate() {
            let here;
            (here, rest) = rest.split_at_mut(rest.len().min(inverse.layout.len()));
            self.fill_diagonal(g, inverse, &diagonals[g], here)?;
        }
        let conforming = match refresh {
            None => None,
            Some(refresh) => {
                let whole = space.problem.ranks.as_ref().map_or(&space.problem.mesh, |ranks| ranks.whole());
                let shapes = Shape::ALL.into_iter().filter(|s| whole.sets.iter().any(|set| set.shape == *s));
                let nodes = shapes
                    .map(|shape| Ok((shape, nodes(shape, space.order, smoother_nodes(shape))?)))
                    .collect::<Result<Vec<_>, OpsError>>()?;
                refresh(&mut own);
                let thin = |element: u32| match &space.problem.ranks {
                    Some(ranks) => ranks.is_thin(element),
                    None => {
                        let (group, slot) = space.place[element as usize];
                        groups[usize::from(group)].members[slot as usize] != NOWHERE
                    }
                };
                Some(Conforming::new(space, &nodes, &own, &thin)?)
            }
        };
        let mut factors = vec![T::ZERO; n_factors];
        let mut tasks = Vec::with_capacity(lines.len());
        let mut rest = &mut factors[..];
        for (k, line) in lines.iter().enumerate() {
            let end = lines.get(k + 1).map_or(n_factors, |next| next.first_factor);
            let (own, others) = rest.split_at_mut(end - line.first_factor);
            rest = others;
            tasks.push((line, &found[k], own));
        }
        host.install(|| {
            tasks.into_par_iter().try_for_each(|(line, links, out)| {
                // Those of elements with a direction of their own are not kept.
                let own: Vec<Option<Functions<'static>>> = links
                    .iter()
                    .map(|link| match link.across {
                        Across::Edge(_) => None,
                        Across::Vector(v) => {
                            let (g, p) = space.part_of(link.element as usize);
                            Some(self.reduced_functions([g, p], v, false, &bases[g]).0)
                        }
                    })
                    .collect();
                let of: Vec<OfMember<'_>> = own
                    .iter()
                    .zip(line.members.clone())
                    .filter_map(|(own, k)| {
                        let known = || Some(&tables.get(&keys[k]?)?.1);
                        let member = &members[k];
                        Some(OfMember {
                            functions: own.as_ref().or_else(known)?,
                            size: reduced[member.reduced as usize].size(),
                            turn: &turns[member.turn as usize],
                        })
                    })
                    .collect();
                space.factors_of_line(links, &of, out)
            })
        })?;
        let unknowns = vec![T::ZERO; starts[starts.len() - 1]];
        let of_one_shape = space.any_curved_of_one_shape().is_some();
        Ok(LineletInverse {
            host,
            level,
            of_one_shape,
            keeps_nodes: space.is_of_simplices(),
            has_lines: match &space.problem.ranks {
                Some(ranks) => ranks.has_lines(),
                None => !found.is_empty(),
            },
            conforming,
            groups,
            lines,
            members,
            starts,
            reduced,
            turns,
            factors,
            unknowns,
        })
    }

    /// The functions R of elements, at cubature points and for residuals of the smoother's basis.
    fn reduced_functions(
        &self,
        [g, p]: [usize; 2],
        along: [f64; 3],
        nodal: bool,
        (nodes, at_nodes): &(Vec<[f64; 3]>, Option<Matrix>),
    ) -> (Functions<'static>, Reduced<T>) {
        let space = self;
        let (shape, order) = (space.groups[g].shape, space.order);
        let (values, of) = if nodal {
            let nodes = reduced::nodal(shape, order, reduced::axis(along));
            let count = (order + 1).pow(shape.dim() as u32 - 1);
            let mut values = Matrix::zeros(nodes.len(), 2 * count);
            for (i, (k, linear)) in nodes.iter().enumerate() {
                values[(i, *k)] = linear[0];
                values[(i, count + k)] = linear[1];
            }
            let nodes = nodes.iter().map(|(k, linear)| (*k as u16, linear.map(T::from_f64))).collect();
            (values, Reduced::Nodal { count, nodes })
        } else {
            let values = reduced::dense(shape, order, along, nodes);
            let numbers = values.as_slice().iter().map(|v| T::from_f64(*v)).collect();
            let n = values.cols();
            (values, Reduced::Dense { n, values: numbers })
        };
        let values = at_nodes.as_ref().map_or_else(|| values.clone(), |m| m.mul(&values));
        (Functions::nodal(&space.tables[g][p]).combined(&values), of)
    }

    /// The entries of `W D⁻¹ W`, and in `conforming`, unless it is empty, those of the diagonal for functions
    /// that do not jump.
    fn fill_diagonal(
        &self,
        g: usize,
        inverse: &mut GroupInverse<T>,
        of: &Diagonal,
        conforming: &mut [T],
    ) -> Result<(), OpsError> {
        let space = self;
        let group = &space.groups[g];
        let (layout, members) = (inverse.layout, &inverse.members);
        space.problem.host.install(|| {
            let blocks = inverse.diagonal.par_chunks_mut(layout.block_len()).enumerate();
            let mut rest: Vec<&mut [T]> = conforming.chunks_mut(layout.block_len()).collect();
            rest.resize_with(layout.blocks, Default::default);
            blocks.zip(rest).try_for_each(|((block, out), conforming)| {
                let part = group.part_of(block);
                let end = part.first_block * layout.lanes + part.n_elements;
                out.fill(T::ONE);
                for slot in block * layout.lanes..((block + 1) * layout.lanes).min(end) {
                    let element = group.elements[slot] as usize;
                    let terms = space.terms(element);
                    let diagonal = of.of(space, element, &terms);
                    let weight = if members[slot] == NOWHERE { 1.0 } else { WEIGHT };
                    let lane = slot % layout.lanes;
                    let lanes = conforming.iter_mut().skip(lane).step_by(layout.lanes);
                    lanes.zip(diagonal.conforming).for_each(|(out, d)| *out = T::from_f64(d));
                    for (out, d) in out[lane..].iter_mut().step_by(layout.lanes).zip(diagonal.all) {
                        if !(d > 0.0 && d.is_finite()) {
                            return Err(not_positive(space.problem.mesh.tag(element)));
                        }
                        *out = T::from_f64(weight / d);
                    }
                }
                Ok(())
            })
        })
    }
}

/// The nodes of the smoother's basis.
fn smoother_nodes(shape: Shape) -> NodeSet {
    match shape {
        Shape::Line | Shape::Quadrilateral | Shape::Hexahedron | Shape::Prism => NodeSet::GaussLobatto,
        Shape::Triangle | Shape::Tetrahedron | Shape::Pyramid => node_set(shape),
    }
}

/// How the diagonal of an element is computed in the smoother's basis.
enum Diagonal {
    /// That of the operator's nodes.
    Nodal,
    Lobatto(Lobatto),
    /// By part, the functions at cubature points.
    Dense(Vec<Functions<'static>>),
}

impl Diagonal {
    /// For a group; `at_nodes` are the functions of the smoother's basis at the operator's nodes, if these
    /// are others.
    fn new<T: PackScalar>(space: &Space<T>, g: usize, at_nodes: Option<&Matrix>) -> Result<Self, OpsError> {
        Ok(match at_nodes {
            None => Self::Nodal,
            Some(at_nodes) if space.groups[g].shape == Shape::Prism => {
                let of = |tables: &Tables| Functions::nodal(tables).combined(at_nodes);
                Self::Dense(space.tables[g].iter().map(of).collect())
            }
            Some(_) => Self::Lobatto(Lobatto::new(space, g)?),
        })
    }

    fn of<T: PackScalar>(&self, space: &Space<T>, element: usize, terms: &ElementTerms) -> Diagonals {
        match self {
            Self::Nodal => space.own_diagonal(element, terms),
            Self::Lobatto(lobatto) => lobatto.diagonal(space, element, terms),
            Self::Dense(functions) => space.diagonal_of(element, terms, &functions[space.part_of(element).1]),
        }
    }
}

/// The factors of a matrix between nodes of prisms, products of nodes of a triangle, which run fastest, with
/// nodes of a line.
fn of_prism(m: &Matrix, order: usize) -> Vec<(Rows, usize)> {
    let n = m.rows() / (order + 1);
    // Both factors of M = L ⊗ T, up to a number that L has and T has not.
    let largest = (0..n * n).map(|k| (k / n, k % n)).max_by(|a, b| m[*a].abs().total_cmp(&m[*b].abs()));
    let (i, j) = largest.unwrap_or_default();
    let line = Matrix::from_fn(order + 1, order + 1, |a, b| m[(a * n + i, b * n + j)] / m[(i, j)]);
    let triangle = Matrix::from_fn(n, n, |i, j| m[(i, j)]);
    vec![
        (Rows::identity(order + 1).kron(&Rows::dense(&triangle)), n),
        (Rows::dense(&line).kron(&Rows::identity(n)), n),
    ]
}

fn not_positive(element: u64) -> OpsError {
    let reason = format!(
        "the smoother is not positive definite at element {element}: its coefficients or the penalty are out of range"
    );
    OpsError::Elliptic { reason }
}

impl<T: PackScalar> Space<T> {
    /// The systems of an element's numbers along the layer, from those of the element before it in the line.
    fn turned(&self, link: &Link, face: u8, before: &[u16]) -> Vec<u16> {
        let (element, face) = (link.element as usize, face as usize);
        let Beyond::Element { side, .. } = self.across(element, face) else { return before.to_vec() };
        let numbers = |element: usize, face: usize| {
            let reference = &self.tables_of(element).reference;
            let shape = reference.spec.shape;
            let normal = shape.face_tangents(face);
            let axis = (0..shape.dim()).find(|&d| normal.iter().all(|t| t[d] == 0.0)).unwrap_or(0);
            let points =
                &reference.face_points[reference.face_offsets[face]..reference.face_offsets[face + 1]];
            reduced::along_face(self.order, axis, shape.dim(), points)
        };
        let ours = numbers(element, face);
        let theirs = numbers(side.element as usize, side.face as usize);
        let mut out = vec![0; before.len()];
        for (q, &m) in self.meeting_points(element, face).iter().enumerate() {
            out[ours[q]] = before[theirs[m]];
        }
        out
    }

    /// The factors of a linelet.
    fn factors_of_line(&self, links: &[Link], of: &[OfMember<'_>], out: &mut [T]) -> Result<(), OpsError> {
        let mut blocks: Vec<(Size, Vec<f64>, Vec<f64>)> = Vec::with_capacity(links.len());
        for (k, (link, OfMember { functions, size, turn })) in links.iter().zip(of).enumerate() {
            let Size { n, count } = *size;
            let element = link.element as usize;
            let terms = self.terms(element);
            let own = self.own_blocks(element, &terms, functions, count);
            let own = match turn.is_empty() {
                true => own,
                false => {
                    let mut turned = vec![0.0; own.len()];
                    for (to, from) in turned.chunks_exact_mut(count).zip(own.chunks_exact(count)) {
                        for (v, system) in from.iter().zip(*turn) {
                            to[*system as usize] = *v;
                        }
                    }
                    turned
                }
            };
            let mut coupling = Vec::new();
            if let (Some(face), Some(before)) = (link.face, k.checked_sub(1)) {
                let before = &of[before];
                let sizes = [n, before.size.n, count];
                coupling = vec![0.0; n * before.size.n * count];
                let [ours, theirs] = [inverted(turn, count), inverted(before.turn, count)];
                let row = |i: usize, k: usize| i * count + ours[k];
                let column = |j: usize, k: usize| j * count + theirs[k];
                let functions = [*functions, before.functions];
                self.coupled(element, face as usize, &terms, functions, |ours, theirs| {
                    add_coupling(&mut coupling, sizes, [ours, theirs], [&row, &column]);
                });
            }
            blocks.push((*size, own, coupling));
        }
        if !factorise(&mut blocks) {
            return Err(not_positive(self.problem.mesh.tag(links[0].element as usize)));
        }
        let numbers = blocks.iter().flat_map(|(_, own, coupling)| own.iter().chain(coupling));
        out.iter_mut().zip(numbers).for_each(|(out, v)| *out = T::from_f64(*v));
        Ok(())
    }
}

/// The number along the layer of each system.
pub(super) fn inverted(turn: &[u16], count: usize) -> Vec<usize> {
    let mut out: Vec<usize> = (0..count).collect();
    turn.iter().enumerate().for_each(|(k, system)| out[*system as usize] = k);
    out
}
