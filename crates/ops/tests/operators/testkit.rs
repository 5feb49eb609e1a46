//! Meshes, exact states and discretisations shared by the tests.

use dgsuite_basis::Shape;
use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_mesh::{Mesh, generate};
use dgsuite_ops::{
    BoundKernels, BoundaryBinding, BoundaryOf, BoundsOf, Discretization, Equation, Form, Pointwise, Scheme,
    TwoPoint, TwoPointKernels,
};
use dgsuite_physics::two_point::Ranocha;
use dgsuite_physics::{Euler, Exact, Prescribed, Rusanov};
use std::sync::Arc;

pub(crate) const GAS: Euler = Euler { gamma: 1.4 };

/// A state as a function of position and time, in primitive variables.
pub(crate) struct State<F>(pub(crate) usize, pub(crate) F);

impl<F: Fn([f64; 3], f64) -> Vec<f64> + Send + Sync> Exact for State<F> {
    fn n_fields(&self) -> usize {
        self.0
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(Vec::clear);
        for &x in x {
            let w = (self.1)(x, t);
            let n = w.len();
            let kinetic: f64 = w[1..n - 1].iter().map(|v| 0.5 * w[0] * v * v).sum();
            out[0].push(w[0]);
            for k in 1..n - 1 {
                out[k].push(w[0] * w[k]);
            }
            out[n - 1].push(w[n - 1] / 0.4 + kinetic);
        }
    }
}

/// A smooth state without symmetry, of period 2 in each direction.
pub(crate) fn wavy(dim: usize) -> impl Exact {
    State(dim + 2, move |x: [f64; 3], _| {
        let s = |a: f64, b: f64, c: f64, p: f64| {
            (std::f64::consts::PI * (a * x[0] + b * x[1] + c * x[2]) + p).sin()
        };
        let mut w = vec![
            1.0 + 0.2 * s(1.0, 0.0, 1.0, 0.3),
            0.4 + 0.1 * s(0.0, 1.0, 0.0, 1.0),
            -0.3 + 0.1 * s(1.0, 1.0, 0.0, 0.2),
        ];
        if dim == 3 {
            w.push(0.2 + 0.1 * s(0.0, 1.0, 1.0, 0.5));
        }
        w.push(1.0 + 0.1 * s(1.0, 0.0, 0.0, 2.0));
        w
    })
}

/// The kinds of meshes on which properties are tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cells {
    Of(Shape),
    Mixed2,
    Mixed3,
    /// Prisms with tetrahedra above them.
    Stacked,
}

pub(crate) const PLANE: [Cells; 3] =
    [Cells::Of(Shape::Triangle), Cells::Of(Shape::Quadrilateral), Cells::Mixed2];
pub(crate) const SPACE: [Cells; 5] = [
    Cells::Of(Shape::Tetrahedron),
    Cells::Of(Shape::Hexahedron),
    Cells::Of(Shape::Prism),
    Cells::Of(Shape::Pyramid),
    Cells::Mixed3,
];

impl Cells {
    pub(crate) fn dim(self) -> usize {
        match self {
            Self::Of(shape) => shape.dim(),
            Self::Mixed2 => 2,
            Self::Mixed3 | Self::Stacked => 3,
        }
    }

    pub(crate) fn has_pyramids(self) -> bool {
        matches!(self, Self::Of(Shape::Pyramid) | Self::Mixed3)
    }
}

/// `[-1, 1]^d` with `n` cells per side, curved by one smooth periodic map if `order > 1`.
pub(crate) fn mesh(cells: Cells, n: usize, order: usize, periodic: bool) -> Arc<Mesh> {
    let (min, max) = ([-1.0; 3], [1.0; 3]);
    let mut mesh = match cells {
        Cells::Of(shape) => {
            generate::Box { shape, min, max, cells: [n; 3], diagonal: generate::Diagonal::Alternate }.build()
        }
        Cells::Mixed2 => generate::MixedBox { dim: 2, min, max, cells: [n.max(2); 3] }.build(),
        Cells::Mixed3 => generate::MixedBox { dim: 3, min, max, cells: [5 * n.div_ceil(2), n, n] }.build(),
        Cells::Stacked => {
            let shapes = [Shape::Prism, Shape::Tetrahedron];
            generate::Stack { shapes, min, max, cells: [n; 3], lower: n / 2 }.build()
        }
    }
    .expect("the box is made");
    if periodic {
        for pair in [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]].iter().take(cells.dim()) {
            mesh.make_periodic(pair[0], pair[1]).expect("the box is periodic");
        }
    }
    if order > 1 {
        mesh.elevate(order).expect("the order is raised");
        let pi = std::f64::consts::PI;
        mesh.map(|[x, y, z]| {
            let size = if cells.dim() == 3 { 0.03 } else { 0.08 };
            let bump =
                size * (pi * x).sin() * (pi * y).sin() * if cells.dim() == 3 { (pi * z).cos() } else { 1.0 };
            let lift = if cells.dim() == 3 { 0.5 * bump } else { 0.0 };
            [x + bump, y - 0.7 * bump, z + lift]
        })
        .expect("the mesh is moved");
    }
    Arc::new(mesh)
}

/// A discretisation of the Euler equations with the outer states `data` on all boundaries.
pub(crate) fn euler<T>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    data: Option<&Arc<dyn Exact>>,
    threads: usize,
) -> Discretization<T>
where
    T: dgsuite_ops::PackScalar + dgsuite_physics::Real,
    Pointwise<Euler, Rusanov, 2, 4>: dgsuite_ops::PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: dgsuite_ops::PointKernels<T>,
{
    at_level(mesh, scheme, data, threads, SimdLevel::detect())
}

pub(crate) fn at_level<T>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    data: Option<&Arc<dyn Exact>>,
    threads: usize,
    level: SimdLevel,
) -> Discretization<T>
where
    T: dgsuite_ops::PackScalar + dgsuite_physics::Real,
    Pointwise<Euler, Rusanov, 2, 4>: dgsuite_ops::PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: dgsuite_ops::PointKernels<T>,
{
    let host = Arc::new(Host::with_simd(threads, level).expect("a machine"));
    let (equation, bindings) = problem(mesh, scheme, data);
    Discretization::new(Arc::clone(mesh), scheme, equation, bindings, host)
        .expect("the discretisation is made")
}

/// The Euler equations with the outer states `data` on all boundaries.
pub(crate) fn problem<T>(
    mesh: &Mesh,
    scheme: &Scheme,
    data: Option<&Arc<dyn Exact>>,
) -> (Equation<T>, Vec<BoundaryBinding<T>>)
where
    T: dgsuite_ops::PackScalar + dgsuite_physics::Real,
    Pointwise<Euler, Rusanov, 2, 4>: dgsuite_ops::PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: dgsuite_ops::PointKernels<T>,
{
    let flux = Rusanov;
    let bindings = mesh
        .boundary_names()
        .into_iter()
        .map(|name| BoundaryBinding {
            name: name.to_owned(),
            kernel: if mesh.dim == 2 {
                Box::new(BoundaryOf::<_, _, 2, 4> { law: GAS, condition: Prescribed })
            } else {
                Box::new(BoundaryOf::<_, _, 3, 5> { law: GAS, condition: Prescribed })
            },
            data: data.cloned(),
        })
        .collect();
    let physics: Box<dyn dgsuite_ops::PointKernels<T>> = if mesh.dim == 2 {
        Box::new(Pointwise::<_, _, 2, 4> { law: GAS, flux })
    } else {
        Box::new(Pointwise::<_, _, 3, 5> { law: GAS, flux })
    };
    let mut equation = Equation::<T>::from(physics);
    equation.two_point = two_point(mesh.dim, scheme);
    (equation, bindings)
}

/// The quantities of the gas that limiters bound.
pub(crate) fn bounds<T>(dim: usize) -> Box<dyn BoundKernels<T>>
where
    BoundsOf<Euler, 2, 4>: BoundKernels<T>,
    BoundsOf<Euler, 3, 5>: BoundKernels<T>,
{
    if dim == 2 {
        Box::new(BoundsOf::<_, 2, 4> { law: GAS })
    } else {
        Box::new(BoundsOf::<_, 3, 5> { law: GAS })
    }
}

/// The two-point flux of a split form; `None` for other forms.
pub(crate) fn two_point<T: dgsuite_ops::PackScalar>(
    dim: usize,
    scheme: &Scheme,
) -> Option<Box<dyn TwoPointKernels<T>>> {
    if scheme.form != Form::Split {
        return None;
    }
    Some(if dim == 2 {
        Box::new(TwoPoint::<_, _, 2, 4> { law: GAS, flux: Ranocha })
    } else {
        Box::new(TwoPoint::<_, _, 3, 5> { law: GAS, flux: Ranocha })
    })
}

/// `[element][field][basis function]`.
pub(crate) fn nested<T: dgsuite_ops::PackScalar>(
    d: &Discretization<T>,
    u: &[T],
    mesh: &Mesh,
) -> Vec<Vec<Vec<f64>>> {
    let flat = d.to_canonical(u);
    let rows: std::collections::HashMap<_, _> =
        d.layouts().map(|(shape, l, _)| (shape, (l.rows, l.fields))).collect();
    let mut at = 0;
    (0..mesh.n_elements())
        .map(|e| {
            let (np, fields) = rows[&mesh.shape(e)];
            (0..fields)
                .map(|_| {
                    at += np;
                    flat[at - np..at].to_vec()
                })
                .collect()
        })
        .collect()
}

/// Adds jumps of some percent between elements to a smooth state. Nodal values of a smooth state have no
/// jumps if nodes lie on faces, and without jumps errors in lifts go unnoticed.
pub(crate) fn shake<T: dgsuite_ops::PackScalar>(d: &Discretization<T>, u: &mut [T]) {
    let shaken: Vec<f64> =
        d.to_canonical(u).iter().enumerate().map(|(i, x)| x * (1.0 + 0.02 * (i as f64).sin())).collect();
    d.from_canonical(&shaken, u).expect("it fits");
}

/// All schemes that `cells` supports at order `p`.
pub(crate) fn schemes(cells: Cells, p: usize) -> Vec<(&'static str, Scheme)> {
    use dgsuite_basis::{Cubature, NodeSet, Representation};
    use dgsuite_ops::MetricRule;
    let modal = Scheme::modal(p);
    let nodal = Scheme { representation: Representation::Nodal(NodeSet::GaussLobatto), ..modal };
    let mut out = vec![
        ("modal", modal),
        ("modal strong", Scheme { form: Form::Strong, ..modal }),
        ("modal stored", Scheme { metric: Some(MetricRule::Stored), ..modal }),
        ("nodal", nodal),
        ("Taylor", Scheme { representation: Representation::Taylor, ..modal }),
        (
            "Taylor stored",
            Scheme { representation: Representation::Taylor, metric: Some(MetricRule::Stored), ..modal },
        ),
    ];
    if !cells.has_pyramids() {
        use dgsuite_basis::correction::Parameter::{Huynh, SpectralDifference};
        let collocated = Scheme::collocated(p);
        out.push(("FR Gauss", Scheme::flux_reconstruction(p, NodeSet::GaussLegendre, SpectralDifference)));
        out.push(("FR Lobatto", Scheme::flux_reconstruction(p, NodeSet::GaussLobatto, Huynh)));
        out.push(("collocated", collocated));
        out.push(("collocated strong", Scheme { form: Form::Strong, ..collocated }));
        if matches!(cells, Cells::Of(Shape::Quadrilateral | Shape::Hexahedron)) {
            let gauss = Representation::Nodal(NodeSet::GaussLegendre);
            let face = Some(Cubature::Collocated);
            out.push(("collocated split", Scheme::split(p)));
            out.push(("collocated Gauss", Scheme { representation: gauss, volume: face, face, ..modal }));
            // One point per direction more than functions.
            let more = Some(Cubature::Degree(2 * p + 3));
            out.push(("over-integrated", Scheme { volume: more, face: more, ..modal }));
        }
    }
    out
}
