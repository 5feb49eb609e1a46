//! Rules finer than the operator's, for functions that are not polynomials.

use crate::elliptic::Space;
use crate::fields::evaluation;
use crate::lanes::simd::PackScalar;
use crate::space::geometry::{gradients, volume_factors};
use crate::space::positions::{image, inside};
use dgsuite_basis::{Evaluation, LagrangeBasis, Matrix, PointMap, Quadrature, ReferenceElement, Shape};

/// Elements whose loads are computed together.
pub(super) const BATCH: usize = 8;

/// A rule finer than the operator's, for the elements of one shape and geometry order.
pub(super) struct Fine {
    pub(super) shape: Shape,
    order: usize,
    pub(super) rule: Quadrature,
    position: Matrix,
    /// As `position`, at the nodes of the functions.
    pub(super) node_position: Matrix,
    pub(super) tangent: [Matrix; 3],
    /// Values and derivatives of the functions at the points.
    functions: Evaluation,
    /// From numbers at the points to their sums with each function there.
    sums: PointMap,
    pub(super) kappa: Matrix,
    pub(super) lambda: Matrix,
}

impl Fine {
    /// Positions, `w J` and `∇r_d` at the points.
    pub(super) fn geometry(
        &self,
        dim: usize,
        nodes: &[[f64; 3]],
    ) -> (Vec<[f64; 3]>, Vec<f64>, Vec<[[f64; 3]; 3]>) {
        let x = image(&self.position, nodes);
        let tangents = [0, 1, 2].map(|d| image(&self.tangent[d], nodes));
        let (mut jw, mut metric) = (Vec::with_capacity(x.len()), Vec::with_capacity(x.len()));
        for q in 0..x.len() {
            let (j, a) = volume_factors(dim, &[tangents[0][q], tangents[1][q], tangents[2][q]]);
            jw.push(j * self.rule.weights[q]);
            metric.push(gradients(a, j));
        }
        (x, jw, metric)
    }

    /// Values at the points, from those at the nodes.
    pub(super) fn at_points(&self, coefficients: &[f64]) -> Vec<f64> {
        self.functions.values.apply(coefficients)
    }

    /// Derivatives in the three reference directions at the points, from values at the nodes; zero beyond the
    /// dimension.
    pub(super) fn slopes(&self, coefficients: &[f64]) -> [Vec<f64>; 3] {
        let along = &self.functions.derivatives;
        let zeros = || vec![0.0; self.rule.points.len()];
        [0, 1, 2].map(|d| along.get(d).map_or_else(zeros, |along| along.apply(coefficients)))
    }

    /// The loads of functions with these values times `w J` at the points, `[function][basis function]`. All
    /// functions of a batch pass once over the tables, which may not fit into a cache in space.
    pub(super) fn tested(&self, weighted: &[&[f64]]) -> Vec<f64> {
        self.sums.apply(&weighted.concat())
    }
}

impl<T: PackScalar> Space<T> {
    pub(super) fn reference(&self, shape: Shape) -> Option<&ReferenceElement> {
        self.groups.iter().find(|g| g.shape == shape).map(|g| &*g.parts[0].reference)
    }

    pub(super) fn fine_rules(&self, degree: usize) -> Vec<Fine> {
        let sets = &self.problem.mesh.sets;
        let of_set = |set: &dgsuite_mesh::ElementSet| {
            let rule = Quadrature::new(set.shape, degree);
            let geometry = LagrangeBasis::new(set.shape, set.order);
            let reference = self.reference(set.shape)?;
            let nodes = inside(set.shape, reference.nodes.clone().unwrap_or_default());
            let functions = evaluation(reference, |shape| Quadrature::new(shape, degree).points);
            Some(Fine {
                shape: set.shape,
                order: set.order,
                position: geometry.eval(&rule.points),
                node_position: geometry.eval(&nodes),
                tangent: geometry.grad(&rule.points),
                sums: functions.values.transpose(),
                functions,
                kappa: self.problem.kappa.table(set.shape, &rule.points),
                lambda: self.problem.lambda.table(set.shape, &rule.points),
                rule,
            })
        };
        sets.iter().filter_map(of_set).collect()
    }

    /// The rule of an element.
    pub(super) fn fine_of<'a>(&self, rules: &'a [Fine], element: usize) -> &'a Fine {
        let mesh = &self.problem.mesh;
        let (set, _) = mesh.locate(element);
        let (shape, order) = (mesh.sets[set].shape, mesh.sets[set].order);
        &rules[rules.iter().position(|r| (r.shape, r.order) == (shape, order)).unwrap_or(0)]
    }
}
